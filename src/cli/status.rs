//! `git trace status`: the trace at a glance.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::json;

use super::ui::{BOLD, DIM, ID, escaped};
use super::{ExitStatus, Session};
use crate::trace::item::ItemType;
use crate::trace::message::Total;
use crate::trace::priority::Level;
use crate::trace::view::View;
use crate::trace::write::encoding;
use crate::trace::{Tip, TraceName};

/// Show what a trace holds and what it counts for
#[derive(clap::Args, Debug)]
pub(super) struct StatusArgs {
    /// Trace to look at [default: the current one]
    name: Option<TraceName>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// How many live items there are of each type and level.
struct Counts {
    by_type: BTreeMap<String, usize>,
    by_level: BTreeMap<Level, usize>,
}

pub(super) fn run(session: &mut Session, args: &StatusArgs) -> Result<ExitStatus> {
    let repo = &session.repo;
    let name = session.trace(args.name.as_ref())?;
    session.ui.settle_colour(repo)?;
    if args.name.is_none() && Tip::find(repo, &name)?.is_none() {
        return nothing_yet(session, &name, args.json);
    }
    let view = View::open(repo, &name, None)?;
    let total = view.total(repo, encoding(repo)?)?;
    let mut counts = Counts { by_type: BTreeMap::new(), by_level: BTreeMap::new() };
    for slot in &view.slots {
        *counts.by_type.entry(slot.item_type.to_string()).or_default() += 1;
        *counts.by_level.entry(view.level(slot).level()).or_default() += 1;
    }
    if args.json {
        print_json(session, &name, &view, total, &counts)
    } else {
        print(session, &name, &view, total, &counts)
    }
}

fn nothing_yet(session: &mut Session, name: &TraceName, json: bool) -> Result<ExitStatus> {
    if json {
        session.ui.json_line(&json!({ "trace": name.as_str(), "items": 0 }))?;
    } else {
        writeln!(session.ui.out(), "On trace {name}\n  nothing yet: `git trace commit -m TEXT` makes the first item")?;
    }
    Ok(ExitStatus::Success)
}

fn print_json(
    session: &mut Session,
    name: &TraceName,
    view: &View,
    total: Total,
    counts: &Counts,
) -> Result<ExitStatus> {
    let by_level = Level::WORDS.iter().map(|word| {
        let count = word.parse().ok().and_then(|level: Level| counts.by_level.get(&level).copied()).unwrap_or(0);
        (*word, count)
    });
    let answer = json!({
        "trace": name.as_str(),
        "commit": view.tip.commit.oid.to_string(),
        "at": view.tip.time().to_string(),
        "items": view.slots.len(),
        "by_type": counts.by_type,
        "by_priority": by_level.collect::<BTreeMap<_, _>>(),
        "tokens": { "total": total.tokens, "source": "counted", "encoding": total.encoding.to_string() },
    });
    session.ui.json_line(&answer)?;
    Ok(ExitStatus::Success)
}

fn print(session: &mut Session, name: &TraceName, view: &View, total: Total, counts: &Counts) -> Result<ExitStatus> {
    let tip = &view.tip;
    let heading = session.ui.styled(BOLD, &format!("On trace {name}"));
    let oid = session.ui.styled(ID, &crate::git::short_oid(tip.commit.oid));
    let encoding = session.ui.styled(DIM, &format!("({})", total.encoding));
    let subject = escaped(tip.commit.subject()).into_owned();
    let items = view.slots.len();
    let out = session.ui.out();
    writeln!(out, "{heading}")?;
    writeln!(out, "  {items} items, {} tokens {encoding}", total.tokens)?;
    writeln!(out, "  last: {subject} {oid}\n")?;
    let known = ItemType::BUILT_IN.iter().filter_map(|word| Some((*word, counts.by_type.get(*word)?)));
    let others = counts.by_type.iter().filter(|(word, _)| !ItemType::BUILT_IN.contains(&word.as_str()));
    for (word, count) in known.chain(others.map(|(word, count)| (word.as_str(), count))) {
        writeln!(out, "  {word:<12}{count:>7}")?;
    }
    let level = |level| counts.by_level.get(&level).copied().unwrap_or(0);
    writeln!(out, "\n  pinned {}, normal {}, skip {}", level(Level::Pinned), level(Level::Normal), level(Level::Skip))?;
    Ok(ExitStatus::Success)
}
