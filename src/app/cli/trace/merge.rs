//! `git trace merge`: merges another trace.

use std::collections::HashSet;

use super::pick;
use crate::app::cli::flags::QuietArgs;
use crate::app::cli::flags::conflicts::{ConflictArgs, note_unrelated, print_conflicts, resolved};
use crate::app::cli::remote::{Changed, touched};
use crate::app::cli::{Context, ExitStatus, Result, Value, Values, bail};
use crate::base::merge::Side;
use crate::git::Repo;
use crate::trace::change::merge::json::outcome_to_json;
use crate::trace::change::merge::{FastForward, Options, Outcome};
use crate::trace::query::select::{Among, ItemFilter, select};
use crate::trace::store::foreign::require_signed_if_foreign;
use crate::trace::store::priority::Before;
use crate::trace::sync::refuse_unapplied;
use crate::trace::{ItemId, Tip, TraceName};

/// Merge another trace into the current one
///
/// The result contains each item once: common items, then those of this trace, then those of the other. An item edited on
/// both sides is merged by lines. If that conflicts, or one side deleted it, nothing changes and both versions are shown. Items that were
/// here and changed are listed, and new ones that do not follow them.
#[derive(clap::Args, Debug)]
pub(crate) struct MergeArgs {
    /// Trace to merge: a name, a remote's trace such as origin/main, or a commit of a trace
    #[arg(value_name = "TRACE", add = Values::Traces)]
    other: String,
    /// Merge only these items, as cherry-pick does
    #[arg(long, value_name = "ITEM", num_args = 1.., conflicts_with_all = ["no_ff", "ff_only"], add = Values::Items)]
    items: Vec<String>,
    #[command(flatten)]
    conflicts: ConflictArgs,
    /// Resolve conflicts with TOOL, as `git mergetool` does [default: `merge.tool`]
    #[arg(long, value_name = "TOOL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with = "items")]
    mergetool: Option<String>,
    /// Create a merge commit even if a fast-forward is possible
    #[arg(long, conflicts_with = "ff_only")]
    no_ff: bool,
    /// Refuse to merge unless a fast-forward is possible
    #[arg(long)]
    ff_only: bool,
    /// First line of the commit message
    #[arg(short = 's', long, value_name = "TEXT")]
    subject: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl MergeArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.quiet.apply(context);
        let name = context.trace_name(None)?;
        let theirs = context.tip(&name, &self.other)?;
        if !self.items.is_empty() {
            let select = |name: &TraceName, tip: &Tip| {
                Ok(select(context.repo()?, name, tip, &self.items, &ItemFilter::default(), Among::Live)?)
            };
            return pick::bring_in(context, &name, (&self.other, "merge"), &self.conflicts, None, self.json, select);
        }
        let repo = context.repo()?;
        require_signed_if_foreign(repo, || format!("`{}`", self.other), theirs.commit.oid)?;
        refuse_unapplied(repo, &name, theirs.commit.oid)?;
        let ours = Tip::find(repo, &name)?;
        let settlement = self.conflicts.read(context, &name, [ours.as_ref().unwrap_or(&theirs), &theirs])?;
        let fast_forward = match (self.no_ff, self.ff_only) {
            (true, _) => FastForward::Never,
            (_, true) => FastForward::Only,
            _ => FastForward::Allowed,
        };
        let warn = |warning: &str| context.ui.note(warning);
        let trace = context.open(&name)?.with_warnings(&warn);
        let mut subject = self.subject.clone().unwrap_or_else(|| format!("merge {}", self.other));
        trace.scan_text_for_secrets(&mut subject)?;
        let mut options = Options { settlement, fast_forward, first: Side::Ours, arrange: None, subject: &subject };
        let before = Before::read(repo)?;
        let mut outcome = trace.merge(&theirs, &options)?;
        if let (Some(tool), Outcome::Conflicts(conflicts)) = (&self.mergetool, &outcome)
            && let Some(choices) = resolved(context, tool, conflicts)?
        {
            // While the tool ran, somebody may have changed these items.
            let mut now = trace.merge(&theirs, &options)?;
            if matches!(&now, Outcome::Conflicts(now) if now == conflicts) {
                options.settlement.by_item.extend(choices);
                now = trace.merge(&theirs, &options)?;
            }
            outcome = now;
        }
        let effects = Effects::of(repo, name.clone(), &before)?;
        match &outcome {
            Outcome::Conflicts(conflicts) => return print_conflicts(context, &name, conflicts, self.json),
            Outcome::Diverged => bail!("trace `{name}` has commits that `{}` does not have", self.other),
            outcome if self.json => {
                let answer = effects.add_to(outcome_to_json(repo, &name, outcome)?);
                return context.ui.json(&answer).map(|()| ExitStatus::Success);
            }
            Outcome::UpToDate => writeln!(context.ui, "Already up to date")?,
            Outcome::FastForward(commit) => {
                writeln!(context.ui, "[{name}] fast-forwarded to {} {}", self.other, context.ui.oid(*commit))?;
            }
            Outcome::Merged(commit, merged) => {
                let oid = context.ui.oid(*commit);
                let [added, edited, removed] = [merged.added.len(), merged.edited.len(), merged.removed.len()];
                let out = &context.ui;
                writeln!(out, "[{name}] {subject}: {added} items added, {edited} edited, {removed} removed {oid}")?;
                note_unrelated(context, &name, *commit)?;
            }
        }
        effects.print(context, "merge")?;
        Ok(ExitStatus::Success)
    }
}

/// The changes that a merge, a rebase, or a pick made in requests.
pub(crate) struct Effects {
    name: TraceName,
    changed: Changed,
}

impl Effects {
    pub(crate) fn of(repo: &Repo, name: TraceName, before: &Before) -> Result<Self> {
        Self::without(repo, name, before, &HashSet::new())
    }

    /// Without new items before `own`, which follow those of others by intent.
    pub(super) fn without(repo: &Repo, name: TraceName, before: &Before, own: &HashSet<ItemId>) -> Result<Self> {
        let changed = match touched(repo, before)?.into_iter().find(|touched| touched.name == name) {
            Some(touched) => Changed::between(repo, touched, before, &[], own)?,
            None => Changed::default(),
        };
        Ok(Self { name, changed })
    }

    pub(super) fn print(&self, context: &Context, act: &str) -> Result<()> {
        self.changed.print(context, &self.name, act)
    }

    pub(crate) fn add_to(&self, mut answer: Value) -> Value {
        let changed = (!self.changed.is_empty()).then(|| self.changed.to_json(&self.name));
        answer["changed"] = changed.into_iter().collect();
        answer
    }
}
