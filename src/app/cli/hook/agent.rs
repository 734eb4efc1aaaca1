//! The hooks of agents: each event imports what is new in the session's transcript.

use crate::base::error::Result;
use std::env::{current_dir, current_exe};
use std::io::{self, Read as _};

use serde_json::json;

use crate::app::context::Context;
use crate::base::process::Process;
use crate::memory::brief;
use crate::memory::forward::query_time;
use crate::transcript::format::Format;
use crate::transcript::import::hook::{self, HookAction, HookInput};
use crate::transcript::import::{CompactionMode, ImportContext};

/// The input of a hook is short; more than this is not read.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// If more than this is to be imported, a background process does it, so that the agent does not wait.
const MAX_WAIT: u64 = 8 * 1024 * 1024;

#[derive(clap::Args, Debug)]
pub(crate) struct AgentArgs {
    /// Finish the import before returning, however long it takes
    #[arg(long)]
    wait: bool,
}

impl AgentArgs {
    pub(crate) fn run(&self, context: &Context, format: Format) {
        // Outside of a repository, nothing is recorded, and there is no log to write to.
        let Ok(repo) = context.repo() else { return };
        if let Err(error) = self.act(context, format) {
            // If the log cannot be written either, nobody can be told.
            let _ = hook::log(repo.common_dir(), context.now(), format.as_str(), &format!("{error:#}"));
        }
    }

    fn act(&self, context: &Context, format: Format) -> Result<()> {
        let repo = context.repo()?;
        let mut input = Vec::new();
        io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input)?;
        let call = HookInput::parse(&input)?;
        match call.action() {
            HookAction::PrintBrief => greet(context),
            HookAction::Import if !self.wait && hook::backlog(repo, format, &call)? > MAX_WAIT => {
                detach(format, &input)
            }
            HookAction::Import => {
                let (signature, encoding) = (context.signature()?, context.encoding()?);
                let writing = ImportContext {
                    repo,
                    signature: &signature,
                    encoding,
                    compactions: CompactionMode::from_settings(repo)?,
                };
                hook::import(writing, format, &call)?;
                Ok(())
            }
        }
    }
}

/// Prints the brief for a new session in the form that all of these agents take, or nothing if the brief is empty.
fn greet(context: &Context) -> Result<()> {
    let repo = context.repo()?;
    let folder = repo.worktree().map_or_else(current_dir, Ok)?;
    let brief = brief::compile_configured(repo, &folder, query_time(repo, context.now())?)?.text;
    if brief.trim().is_empty() {
        return Ok(());
    }
    let output = json!({ "hookEventName": "SessionStart", "additionalContext": brief });
    context.ui.json(&json!({ "hookSpecificOutput": output }))
}

/// Leaves the work to a process that nobody waits for.
fn detach(format: Format, input: &[u8]) -> Result<()> {
    let mut command = Process::new(current_exe()?);
    Ok(command.args(["hook", format.as_str(), "--wait"]).input(input).detach()?)
}
