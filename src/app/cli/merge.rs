//! `git trace merge`: another line of context comes in.

use super::settle::{SettleArgs, print_conflicts};
use super::ui::ID;
use super::{ExitStatus, Session, pick};
use crate::base::error::{Result, bail};
use crate::base::merge::Side;
use crate::git::short_oid;
use crate::trace::Tip;
use crate::trace::change::merge::json::outcome_to_json;
use crate::trace::change::merge::{FastForward, Options, Outcome, merge};
use crate::trace::store::write::{Signature, encoding};

/// Merge another trace into the current one
///
/// The list is then what both have, what this trace has, and what the other has, each item once. An item that both edited is
/// merged by lines. Where that clashes, or one edited what the other took out, nothing is changed, and both versions are shown.
#[derive(clap::Args, Debug)]
pub(crate) struct MergeArgs {
    /// Trace to merge: a name, a remote's trace such as origin/main, or a commit of one
    #[arg(value_name = "TRACE")]
    other: String,

    /// Bring in these items only, as cherry-pick does
    #[arg(long, value_name = "ITEM", num_args = 1.., conflicts_with_all = ["no_ff", "ff_only"])]
    items: Vec<String>,

    #[command(flatten)]
    settle: SettleArgs,

    /// Make a commit even where this trace could simply move on
    #[arg(long, conflicts_with = "ff_only")]
    no_ff: bool,

    /// Refuse if this trace has commits of its own
    #[arg(long)]
    ff_only: bool,

    /// First line of the commit
    #[arg(short = 's', long, value_name = "TEXT")]
    subject: Option<String>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(session: &mut Session, args: &MergeArgs) -> Result<ExitStatus> {
    let name = session.trace(None)?;
    let theirs = session.other_tip(&name, &args.other)?;
    if !args.items.is_empty() {
        return pick::bring_in(session, &name, &args.other, &args.items, &args.settle, None, args.json);
    }
    let repo = &session.repo;
    let signature = Signature::take(repo, session.now())?;
    let ours = Tip::find(repo, &name)?;
    let settlement = args.settle.read(session, &name, [ours.as_ref().unwrap_or(&theirs), &theirs])?;
    let fast_forward = match (args.no_ff, args.ff_only) {
        (true, _) => FastForward::Never,
        (_, true) => FastForward::Only,
        _ => FastForward::Allowed,
    };
    let subject = args.subject.clone().unwrap_or_else(|| format!("merge {}", args.other));
    let options = Options { settlement, fast_forward, first: Side::Ours, subject: &subject };
    let outcome = merge(repo, &name, &signature, encoding(repo)?, &theirs, &options)?;
    match &outcome {
        Outcome::Conflicts(conflicts) => return print_conflicts(session, conflicts, args.json),
        Outcome::Diverged => bail!("trace `{name}` has commits that `{}` does not have", args.other),
        outcome if args.json => session.ui.json_line(&outcome_to_json(repo, &name, outcome)?)?,
        Outcome::UpToDate => writeln!(session.ui.out(), "Already up to date")?,
        Outcome::FastForward(commit) => {
            session.ui.settle_colour(repo)?;
            let oid = session.ui.styled(ID, &short_oid(*commit));
            writeln!(session.ui.out(), "[{name}] moved on to {} {oid}", args.other)?;
        }
        Outcome::Merged(commit, merged) => {
            session.ui.settle_colour(repo)?;
            let oid = session.ui.styled(ID, &short_oid(*commit));
            let [added, edited, removed] = [merged.added.len(), merged.edited.len(), merged.removed.len()];
            let out = session.ui.out();
            writeln!(out, "[{name}] {subject}: {added} items came in, {edited} edited, {removed} taken out {oid}")?;
        }
    }
    Ok(ExitStatus::Success)
}
