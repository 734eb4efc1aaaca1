//! The hooks of agents: each event brings the session's trace up to its transcript.

use std::env::{current_dir, current_exe};
use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::app::cli::ExitStatus;
use crate::app::cli::ui::Ui;
use crate::base::error::Result;
use crate::git::{Env, Repo};
use crate::memory::brief;
use crate::memory::forward::read::moment;
use crate::trace::Time;
use crate::trace::store::write::{Signature, encoding};
use crate::transcript::format::Format;
use crate::transcript::hook::{self, Call, Duty};
use crate::transcript::import::{Seen, Writing};

/// What agents tell a hook is short; more is read from no one.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// With more than this to import, a process of its own does it, and the agent does not wait.
const MAX_WAIT: u64 = 8 * 1024 * 1024;

#[derive(clap::Args, Debug)]
pub(crate) struct AgentArgs {
    /// Import however much there is before returning
    #[arg(long)]
    wait: bool,
}

pub(crate) fn run(args: &AgentArgs, format: Format, env: Env, ui: &mut Ui) -> ExitStatus {
    // Outside of a repository there is nothing to record, and nowhere to say so.
    let Ok(repo) = Repo::open_from_env(env) else { return ExitStatus::Success };
    if let Err(error) = act(args, format, &repo, ui) {
        let cause = format!("{error:#}");
        // Where the log cannot be written either, nobody can be told.
        let _ = hook::log(repo.common_dir(), Time::now(), format.as_str(), &cause);
    }
    ExitStatus::Success
}

fn act(args: &AgentArgs, format: Format, repo: &Repo, ui: &mut Ui) -> Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().take(MAX_INPUT).read_to_end(&mut input)?;
    let call = Call::parse(&input)?;
    match call.duty() {
        Duty::Greet => greet(repo, ui),
        Duty::Record if !args.wait && hook::backlog(repo, format, &call)? > MAX_WAIT => leave(format, &input),
        Duty::Record => {
            let signature = Signature::take(repo, Time::now())?;
            let (encoding, seen) = (encoding(repo)?, Seen::of_settings(repo)?);
            hook::record(Writing { repo, signature: &signature, encoding, seen }, format, &call)?;
            Ok(())
        }
    }
}

/// Hands the session that begins its brief, in the form that all of these agents take. Where there is nothing to tell,
/// nothing is said.
fn greet(repo: &Repo, ui: &mut Ui) -> Result<()> {
    let folder = repo.worktree().map_or_else(current_dir, Ok)?;
    let brief = brief::of_repository(repo, &folder, moment(repo, Time::now())?)?.text;
    if !brief.trim().is_empty() {
        let output = json!({ "hookEventName": "SessionStart", "additionalContext": brief });
        ui.json_line(&json!({ "hookSpecificOutput": output }))?;
    }
    Ok(())
}

/// Leaves the work to a process that nobody waits for.
fn leave(format: Format, input: &[u8]) -> Result<()> {
    let mut command = Command::new(current_exe()?);
    command.args(["hook", format.as_str(), "--wait"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    Ok(())
}
