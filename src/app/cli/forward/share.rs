//! `git trace forward push`, `fetch` and `pull`: the agent's forward crumbs, by their name.

use super::ForwardContext;
use crate::app::cli::{ExitStatus, Result, Values, remote};
use crate::trace::TraceName;

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
    /// Remote [default: trace.contextRemote, the remote of the checked-out branch, or origin]
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ShareArgs {
    /// The remote, the ref of the agent, and whether to print JSON.
    fn read(&self, context: &ForwardContext<'_>) -> Result<(Option<String>, String, bool)> {
        Ok((self.remote.clone(), TraceName::of_agent(context.agent()?).refname(), self.json))
    }
}

impl PushArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<ExitStatus> {
        let (remote, refname, json) = self.share.read(context)?;
        remote::PushArgs::of_ref(remote, refname, json).run(context)
    }
}

impl FetchArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<ExitStatus> {
        let (remote, refname, json) = self.share.read(context)?;
        remote::FetchArgs::of_ref(remote, refname, json).run(context)
    }
}

impl PullArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<ExitStatus> {
        let (remote, refname, json) = self.share.read(context)?;
        remote::PullArgs::of_ref(remote, refname, json).run(context)
    }
}
