//! The server of the Model Context Protocol: the operations of the command line as tools for agents, over stdio.
//!
//! Both lifecycles are served: requests that carry their own metadata (2026-07-28, `server/discover`) and the older
//! `initialize` handshake; the crate `rmcp` knows the messages. stdout carries the protocol and nothing else.
//!
//! - Requests are handled one at a time and can be canceled, see `transport`. Each has its own [`Context`], so that it sees what others changed.
//! - A wrong or missing argument is a tool error that names the argument. An unknown tool is a protocol error.
//! - Content of the repository is data: it is in values and never in descriptions.
//! - Nothing outside the repository that the server was started in is read as content or written.

mod answer;
mod arguments;
mod envelope;
mod inbox;
mod page;
mod prompts;
mod resources;
mod server;
mod tool;
mod tools;
mod transport;

use std::path::PathBuf;

use rmcp::service::{ServerInitializeError, serve_server};

use crate::app::context::Context;
use crate::base::cancel::end_programs;
use crate::base::error::{Context as _, Diagnostic, Result};
use crate::base::terminal;
use crate::base::worktree_path::resolve;

pub(crate) use tool::Groups;

impl Diagnostic for ServerInitializeError {}
impl Diagnostic for tokio::task::JoinError {}

pub(crate) fn serve(context: &Context, groups: Groups) -> Result<()> {
    context.repo()?;
    let server = server::Server { env: context.env.clone(), trace: context.named_trace()?, groups };
    // A program that asks there would be stopped by the system.
    terminal::leave();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().context("cannot start the server")?;
    end_programs();
    let lines = transport::Lines::of_process().context("cannot read from the client")?;
    runtime.block_on(async {
        match serve_server(server, lines).await {
            Ok(running) => running.waiting().await.map(drop).context("the server ended early"),
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error).context("cannot serve the client"),
        }
    })
}

/// A file of the working tree, named from its root.
fn file(context: &Context, argument: &str, path: &str) -> Result<PathBuf> {
    resolve(&context.root()?, path).with_context(|| format!("argument `{argument}`: cannot open `{path}`"))
}
