//! `git trace hook`: what git and agents call, one file per kind of caller.

pub(super) mod agent;
mod consent;
mod deadline;
mod full;
mod pre_commit;

use std::ffi::OsString;

use clap::Subcommand;

use crate::app::cli::{Context, ExitStatus, Result};
use crate::transcript::format::Format;

/// Run a hook; agents and git call this
#[derive(clap::Args, Debug)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    hook: Hook,
}

#[derive(Subcommand, Debug)]
enum Hook {
    /// Record the Claude Code session that stdin describes
    ClaudeCode(agent::AgentArgs),
    /// Record the Codex session that stdin describes
    Codex(agent::AgentArgs),
    /// Record the Gemini CLI session that stdin describes
    GeminiCli(agent::AgentArgs),
    /// Record the Qwen Code session that stdin describes
    QwenCode(agent::AgentArgs),
    /// Record the opencode session that stdin contains
    Opencode(agent::AgentArgs),
    /// Record the GitHub Copilot CLI session that stdin describes
    CopilotCli(agent::AgentArgs),
    /// Record the Factory Droid session that stdin describes
    Droid(agent::AgentArgs),
    /// Record the Cursor session that stdin describes
    Cursor(agent::AgentArgs),
    /// Check staged breadcrumbs, crumb files and checkpoints, and search them for secrets
    PreCommit(pre_commit::PreCommitArgs),
    /// Check the result of a merge in the same way, before git commits it
    PreMergeCommit(pre_commit::PreCommitArgs),
}

impl HookArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        match &self.hook {
            Hook::ClaudeCode(args) => args.run(context, Format::ClaudeCode),
            Hook::Codex(args) => args.run(context, Format::Codex),
            Hook::GeminiCli(args) => args.run(context, Format::GeminiCli),
            Hook::QwenCode(args) => args.run(context, Format::QwenCode),
            Hook::Opencode(args) => args.run(context, Format::Opencode),
            Hook::CopilotCli(args) => args.run(context, Format::CopilotCli),
            Hook::Droid(args) => args.run(context, Format::Droid),
            Hook::Cursor(args) => args.run(context, Format::Cursor),
            Hook::PreCommit(args) | Hook::PreMergeCommit(args) => return args.run(context),
        }
        Ok(ExitStatus::Success)
    }
}

/// Whether this command line is the hook of an agent. An agent takes exit status 2 as a veto, so not even a wrong argument
/// or a panic may cause it.
pub(crate) fn is_agent_hook(args: &[OsString]) -> bool {
    let word = |at: usize| args.get(at).and_then(|word| word.to_str());
    word(1) == Some("hook") && word(2).is_some_and(|agent| agent.parse::<Format>().is_ok())
}
