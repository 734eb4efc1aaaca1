//! Tells the user once that a recorded session fills the context window, and what cleaning would save.

use crate::app::cli::{Context, Result};
use crate::app::ui::grouped;
use crate::base::escape::shell_word;
use crate::clean::{Parameters, Plan, Session, branch_name};
use crate::trace::change::bulk::Report;
use crate::trace::model::tree;
use crate::trace::query::size::{ContextSize, SEARCHED};
use crate::trace::store::settings;
use crate::trace::{Tip, TraceName, View};
use crate::transcript::import::told::{self, Message};

/// The message, if the session has passed `trace.cleanAt` percent of the window since the last one.
///
/// Usually reads a few items. Only at the crossing, it reads all of them, to plan what `clean` would cut. `report` is that of the
/// import.
pub(super) fn announce(context: &Context, name: &TraceName, report: &Report) -> Result<Option<String>> {
    let repo = context.repo()?;
    let limit = settings::clean_at(repo)?;
    if limit == 0 {
        return Ok(None);
    }
    let counter = settings::counter(repo, Some(name))?;
    let view = || View::open(repo, name, None);
    let size = match (report.tip, report.left_out) {
        (Some(tip), Some(left_out)) => {
            let tip = Tip::read(repo, tip)?;
            let slots = tree::newest(repo, tip.commit.tree, SEARCHED)?;
            ContextSize::with_left_out(repo, &View::of_slots(repo, tip, slots, None)?, left_out, counter, None)?
        }
        _ => ContextSize::of(repo, &view()?, counter, None)?,
    };
    let Some(percent) = size.percent(size.size.tokens) else { return Ok(None) };
    if percent < limit {
        told::forget(repo, Message::Full(name))?;
        return Ok(None);
    }
    if !told::remember(repo, Message::Full(name)) {
        return Ok(None);
    }
    let plan = Plan::new(Session::read(repo, &view()?, counter)?, Parameters::new(&[], None));
    Ok(Some(message(name, &branch_name(repo, name)?, &plan, &size)))
}

fn message(name: &TraceName, cleaned: &TraceName, plan: &Plan, size: &ContextSize) -> String {
    let percent = |tokens| size.percent_text(tokens).unwrap_or_default();
    let (before, after) = (size.size.tokens, plan.size_after(size));
    let (saved, full, left) = (before - after, percent(before), percent(after));
    let full = format!("git-trace: this session fills {full} of the context window{}", size.omission());
    if plan.is_worthwhile() {
        let thousands = (saved + 500) / 1_000;
        let (name, cleaned) = (shell_word(name), shell_word(cleaned));
        format!(
            "{full}. `git trace clean {name} --yes` would save ≈ {thousands}k tokens, which leaves {left}; \
             `git trace resume {cleaned}` continues there."
        )
    } else {
        let saved = grouped(saved);
        format!(
            "{full}. `git trace clean` would save only ≈ {saved} tokens, which is not worth losing the prompt cache."
        )
    }
}
