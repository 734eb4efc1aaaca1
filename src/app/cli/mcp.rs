//! `git trace mcp`: starts the server of the Model Context Protocol.

use super::ExitStatus;
use crate::app::mcp::{Groups, serve};
use crate::base::error::Result;
use crate::git::Env;
use crate::trace::TraceName;

/// Serve this repository's memory to an agent, over stdin and stdout, by the Model Context Protocol
///
/// `git trace install --mcp CLIENT` writes the entry that makes a client start it.
#[derive(clap::Args, Debug)]
pub(crate) struct McpArgs {
    /// Tools to offer: default, all, or groups with commas between: breadcrumb, forward, trace, crumb, checkpoint, brief
    #[arg(long, value_name = "GROUPS", default_value = "default")]
    tools: Groups,
}

pub(crate) fn run(args: &McpArgs, trace: Option<TraceName>, env: Env) -> Result<ExitStatus> {
    serve(env, trace, args.tools.clone())?;
    Ok(ExitStatus::Success)
}
