//! `git trace mcp`: start the server of the Model Context Protocol.

use crate::app::cli::{Context, Result};
use crate::app::mcp::{Groups, serve};
use crate::tokens::counter;

/// Serve this repository's memory to an agent over MCP
///
/// `git trace install --mcp CLIENT` configures a client to start the server.
#[derive(clap::Args, Debug)]
pub(crate) struct McpArgs {
    /// Tools to offer: default, all, or a comma-separated list of groups: breadcrumb, forward, trace, crumb, checkpoint, brief
    #[arg(long, value_name = "GROUPS", default_value = "default")]
    tools: Groups,
}

impl McpArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let served = serve(context, self.tools.clone());
        // A failed count was the answer of its request.
        counter::clear();
        served
    }
}
