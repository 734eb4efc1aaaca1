//! Makes room for a budget: cuts in place what presets select.

use super::plan::{Action, Plan};
use super::preset::{Choice, Parameters};
use super::session::Session;
use crate::base::string_enum::UnknownVariant;
use crate::git::short_oid;
use crate::tokens::CleanAction;
use crate::trace::store::budget_policy::{Cut, Need};
use crate::trace::{Trace, TraceError};

/// Cuts what the presets select, if that saves as much as is needed.
pub(crate) fn make_room(trace: &Trace<'_>, how: &CleanAction, need: Need) -> Result<Cut, TraceError> {
    let names = how.presets.iter().flat_map(|names| names.split(','));
    let choices: Result<Vec<Choice>, UnknownVariant> = names.map(str::parse).collect();
    let choices = choices.map_err(|unknown| TraceError::BadPreset { cause: unknown.to_string() })?;
    let session = Session::read(trace.repo(), &trace.view()?, trace.counter()?)?;
    let mut plan = Plan::new(session, Parameters::new(&choices, how.keep));
    if let Some(spared) = plan.rows.iter().position(|row| Some(row.entry.slot.id) == need.spared) {
        plan.mark(spared, Action::Keep);
    }
    let saved = plan.saved();
    if saved == 0 || saved < need.tokens {
        return Ok(Cut::TooLittle(saved));
    }
    let unlimited = trace.clone().with_budget(None);
    let Some(done) = plan.apply(&unlimited, None)? else { return Ok(Cut::TooLittle(0)) };
    trace.warn(&format!(
        "cut {} items of trace `{}` for its budget: {} → {} tokens; `git trace revert {}` restores them",
        plan.changed().count(),
        trace.name(),
        plan.before,
        plan.after(),
        short_oid(done.commit),
    ));
    Ok(Cut::Done(saved))
}
