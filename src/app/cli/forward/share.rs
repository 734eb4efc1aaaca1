//! `git trace forward push`, `fetch` and `pull`: the agent's forward crumbs, by their name.

use super::{ForwardContext, did_you_mean};
use crate::app::cli::{ExitStatus, Result, Values, bail, escaped, json, remote};
use crate::git::Direction;
use crate::memory::forward::query::{similar, similar_agent};
use crate::trace::TraceName;
use crate::trace::model::name::FORWARD_CRUMBS;
use crate::trace::sync::fetched_private;

/// Push the agent's forward crumbs, which no other push includes
#[derive(clap::Args, Debug)]
pub(crate) struct PushArgs {
    #[command(flatten)]
    share: ShareArgs,
}

/// Fetch the agent's forward crumbs without changing local ones
#[derive(clap::Args, Debug)]
pub(crate) struct FetchArgs {
    #[command(flatten)]
    share: ShareArgs,
}

/// Fetch the agent's forward crumbs and merge them into the local ones
///
/// Those of both sides are kept, sorted by time. Of two changes of one forward crumb, the later wins.
#[derive(clap::Args, Debug)]
pub(crate) struct PullArgs {
    #[command(flatten)]
    share: ShareArgs,
}

#[derive(clap::Args, Debug)]
struct ShareArgs {
    /// Remote [default: as in `git trace fetch` and `git trace push`]
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ShareArgs {
    fn refname(context: &ForwardContext<'_>) -> Result<String> {
        Ok(TraceName::of_agent(context.agent()?).refname())
    }

    /// Whether the remote has forward crumbs of the agent; reports it if not. Git is only asked before the first fetch, because it
    /// takes a connection.
    fn is_there(&self, context: &ForwardContext<'_>) -> Result<bool> {
        let (repo, agent) = (context.repo()?, context.agent()?);
        let remote = remote::remote_of(context, self.remote.as_deref(), Direction::Fetch)?;
        let refname = Self::refname(context)?;
        if fetched_private(repo, &remote, &refname)?.is_some() {
            return Ok(true);
        }
        let there = repo.list_remote(&remote, &[&format!("{FORWARD_CRUMBS}*")])?;
        if there.iter().any(|(known, _)| *known == refname) {
            return Ok(true);
        }
        let meant = did_you_mean(similar(agent, &there));
        context.ui.note(format!("`{}` has no forward crumbs of agent `{agent}`{meant}", escaped(&remote)));
        if self.json {
            context.ui.json(&json!({ "remote": remote, "traces": [], "skipped": [] }))?;
        }
        Ok(false)
    }
}

impl PushArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<ExitStatus> {
        let (repo, agent) = (context.repo()?, context.agent()?);
        let refname = ShareArgs::refname(context)?;
        if repo.find_ref(&refname)?.is_none() {
            bail!("agent `{agent}` has no forward crumbs{}", did_you_mean(similar_agent(repo, agent)?));
        }
        remote::PushArgs::of_ref(self.share.remote.clone(), refname, self.share.json).run(context)
    }
}

impl FetchArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<ExitStatus> {
        if !self.share.is_there(context)? {
            return Ok(ExitStatus::Success);
        }
        let refname = ShareArgs::refname(context)?;
        remote::FetchArgs::of_ref(self.share.remote.clone(), refname, self.share.json).run(context)
    }
}

impl PullArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<ExitStatus> {
        if !self.share.is_there(context)? {
            return Ok(ExitStatus::Success);
        }
        let refname = ShareArgs::refname(context)?;
        remote::PullArgs::of_ref(self.share.remote.clone(), refname, self.share.json).run(context)
    }
}
