//! `git trace enable` and `disable`: whether hooks record the sessions of a repository.

use super::agents::recorders;
use crate::app::cli::{Context, Error, Result};
use crate::git::Repo;
use crate::trace::store::settings::{RECORD, Recording, recording};
use crate::transcript::format::Format;
use crate::transcript::import::seen::SeenFiles;

/// Record the sessions of agents in this repository
///
/// Sets `trace.record` in the settings of this repository. The hooks that `git trace install --agent NAME` adds record each session.
/// A session that continues is recorded from its start.
#[derive(clap::Args, Debug)]
pub(crate) struct EnableArgs {}

/// Stop recording the sessions of agents in this repository
///
/// Sets `trace.record` in the settings of this repository. Recorded sessions stay, and hooks record in other repositories.
#[derive(clap::Args, Debug)]
pub(crate) struct DisableArgs {}

impl EnableArgs {
    #[expect(clippy::unused_self, reason = "commands are run by their arguments")]
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        set(context, Recording::Wanted, "true")?;
        let agents = recorders(context)?;
        let by = if agents.is_empty() { String::new() } else { format!(", by the hooks of {}", agents.join(" and ")) };
        writeln!(context.ui, "Sessions in this repository are recorded{by}")?;
        if agents.is_empty() {
            context.ui.note(
                "hint: no agent has hooks: `git trace install --agent claude-code --global` adds them; `git trace help install` lists other agents",
            );
        }
        Ok(())
    }
}

impl DisableArgs {
    #[expect(clippy::unused_self, reason = "commands are run by their arguments")]
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        set(context, Recording::Unwanted, "false")?;
        writeln!(context.ui, "Sessions in this repository are not recorded; `git trace enable` records them")
    }
}

fn set(context: &Context, wanted: Recording, value: &str) -> Result<()> {
    // A handle reads the settings once.
    let before = recording(&Repo::open_from_env(context.env.clone())?);
    let repo = context.repo()?;
    repo.set_setting(RECORD, value)?;
    if recording(repo)? != wanted {
        // That of a worktree or of the environment.
        let message = format!("another value of `{RECORD}` overrides that of the repository");
        return Err(Error::with_hint(
            message,
            format!("`git config --show-origin --get-all {RECORD}` lists the values"),
        ));
    }
    let is_off = wanted == Recording::Unwanted;
    if is_off || !matches!(before, Ok(Recording::Unsaid | Recording::Wanted)) {
        // Sessions that agents write while it is off are not caught up with.
        for git_dir in repo.worktree_git_dirs()? {
            Format::all().for_each(|format| SeenFiles::restart(&git_dir, format, is_off));
        }
    }
    Ok(())
}
