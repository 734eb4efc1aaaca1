//! The server of the Model Context Protocol: what the command line does, offered to agents as tools, over stdio.
//!
//! Both lifecycles are served: requests that carry their own metadata (2026-07-28, `server/discover`) and the older
//! `initialize` handshake; the crate `rmcp` knows the messages. stdout carries the protocol and nothing else.
//!
//! - One request is worked on at a time, see `transport`; nothing of the repository is kept between two of them.
//! - A wrong or missing argument is a tool's error that names it. An unknown tool is the protocol's error.
//! - What comes from the repository is data: it stands in values and never in descriptions.
//! - Nothing outside of the repository that the server was started in is read as content or written.

mod arguments;
mod place;
mod prompts;
mod resources;
mod server;
mod tool;
mod tools;
mod transport;

use rmcp::service::{ServerInitializeError, serve_server};

use crate::base::error::{Context as _, Diagnostic, Result};
use crate::git::Env;
use crate::trace::TraceName;

pub(crate) use tool::Groups;

impl Diagnostic for ServerInitializeError {}
impl Diagnostic for tokio::task::JoinError {}

/// Serves one client on stdin and stdout, until stdin ends.
pub(crate) fn serve(env: Env, trace: Option<TraceName>, groups: Groups) -> Result<()> {
    let server = server::Server::new(place::Place::here(env, trace)?, groups);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().context("cannot start the server")?;
    runtime.block_on(async {
        match serve_server(server, transport::Lines::of_process()).await {
            Ok(running) => running.waiting().await.map(drop).context("the server ended early"),
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error).context("cannot serve the client"),
        }
    })
}
