//! `git trace hook`: what others call when something happens; one file a sort of caller.

mod agent;
mod pre_commit;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Subcommand;

use super::ExitStatus;
use super::ui::Ui;
use crate::base::error::Result;
use crate::git::Env;
use crate::transcript::format::Format;

/// Do what a hook is for; agents and git call this
#[derive(clap::Args, Debug)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    hook: Hook,
}

#[derive(Subcommand, Debug)]
enum Hook {
    /// Record the session that Claude Code tells of on stdin
    ClaudeCode(agent::AgentArgs),
    /// Record the session that Codex tells of on stdin
    Codex(agent::AgentArgs),
    /// Record the session that Gemini CLI tells of on stdin
    GeminiCli(agent::AgentArgs),
    /// Judge what is about to be committed: breadcrumbs, crumb files, checkpoints, and the secrets in them
    PreCommit(pre_commit::PreCommitArgs),
    /// The same of a merge that git is about to commit
    PreMergeCommit(pre_commit::PreCommitArgs),
}

pub(crate) fn run(args: &HookArgs, env: Env, ui: &mut Ui) -> Result<ExitStatus> {
    Ok(match &args.hook {
        Hook::ClaudeCode(args) => agent::run(args, Format::ClaudeCode, env, ui),
        Hook::Codex(args) => agent::run(args, Format::Codex, env, ui),
        Hook::GeminiCli(args) => agent::run(args, Format::GeminiCli, env, ui),
        Hook::PreCommit(args) | Hook::PreMergeCommit(args) => pre_commit::run(args, env, ui)?,
    })
}

/// Whether these words call an agent's hook. Of those even a wrong word or a panic must not stop the agent, which takes an
/// exit status of 2 as a veto.
pub(crate) fn is_agents(args: &[OsString]) -> bool {
    let word = |at: usize| args.get(at).and_then(|word| word.to_str());
    word(1) == Some("hook") && word(2).is_some_and(|agent| agent.parse::<Format>().is_ok())
}

/// Runs an agent's hook: whatever happens, it went well.
pub(crate) fn guarded(run: impl FnOnce() -> u8) -> u8 {
    std::panic::set_hook(Box::new(|_| ()));
    let _ = catch_unwind(AssertUnwindSafe(run));
    0
}
