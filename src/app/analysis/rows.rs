//! The rows of a family of traces.
//!
//! An item that several traces of a family share is one row, of the first of them. Items that were deleted or compacted since are rows
//! too, so totals over time do not shrink.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use crate::clean::Call;
use crate::git::Repo;
use crate::message::Status;
use crate::tokens::TokenUsage;
use crate::trace::model::item::{Direction, Role};
use crate::trace::model::tree;
use crate::trace::model::types::own_role;
use crate::trace::store::settings;
use crate::trace::store::total::read_item;
use crate::trace::store::trace_index::{Group, ListedTrace};
use crate::trace::store::turns::Turns;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{Item, ItemEntry, ItemId, Op, Time, Tip, TraceError, View};
use crate::transcript::continuation::recorded_by;
use crate::transcript::title::title;

/// What the rows of one trace have in common. Its fields are the first of each row.
#[derive(Clone, Serialize, Debug)]
pub(super) struct Origin<'t> {
    pub family: &'t str,
    pub trace: &'t str,
}

#[derive(Serialize, Debug)]
pub(super) struct TraceRow<'t> {
    #[serde(flatten)]
    origin: Origin<'t>,
    title: Option<String>,
    /// Name and address of the last author.
    author: &'t str,
    /// The model that answered last.
    model: Option<String>,
    began_at: String,
    ended_at: String,
    turns: usize,
    steps: usize,
    /// The rows of this trace in the other tables.
    items: usize,
    calls: usize,
    /// Items of the context now, those of other traces included, and their tokens.
    live_items: usize,
    live_tokens: u64,
    /// The commit at which it was exported.
    tip: String,
}

#[derive(Serialize, Debug)]
pub(super) struct ItemRow<'t> {
    #[serde(flatten)]
    origin: Origin<'t>,
    item: ItemId,
    seq: u32,
    turn: usize,
    step: usize,
    #[serde(rename = "type")]
    item_type: &'t str,
    role: Option<&'static str>,
    direction: Option<&'static str>,
    name: Option<&'t str>,
    status: Option<&'static str>,
    model: Option<String>,
    created_at: String,
    tokens: u64,
    bytes: usize,
    revision: u32,
    live: bool,
    input_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    output_tokens: Option<u64>,
    /// `None` if the content is not text.
    text: Option<&'t str>,
}

#[derive(Serialize, Debug)]
pub(super) struct CallRow<'t> {
    #[serde(flatten)]
    origin: Origin<'t>,
    item: ItemId,
    result: Option<ItemId>,
    turn: usize,
    step: usize,
    tool: String,
    /// What the tool does, such as `read`.
    kind: &'static str,
    /// The files that it reads or writes.
    paths: Vec<String>,
    /// The command, the path, or the query, in one line.
    target: String,
    status: Option<&'static str>,
    called_at: String,
    answered_at: Option<String>,
    call_tokens: u64,
    result_tokens: u64,
}

/// An item that a trace has or had.
pub(crate) struct Recorded {
    pub entry: ItemEntry,
    is_live: bool,
    /// When the commit was made that added it.
    pub at: Time,
}

/// Every item of a trace's history with its newest text, in reading order.
pub(crate) fn recorded(repo: &Repo, tip: &Tip) -> Result<Vec<Recorded>, TraceError> {
    let live = tree::list(repo, tip.commit.tree)?.into_iter();
    let live = live.map(|entry| (entry.id, Recorded { entry, is_live: true, at: tip.time() }));
    let mut found: HashMap<ItemId, Recorded> = live.collect();
    for earlier in Walk::new(repo, tip.clone(), Parents::First) {
        let earlier = earlier?;
        let at = earlier.time();
        // Most commits give an item its content, and name it. Then the trees need not be compared.
        if let Some(Op::Append | Op::Edit | Op::Import) = earlier.trailers.op
            && let Some(known) = earlier.item().and_then(|item| found.get_mut(&item))
        {
            known.at = at;
            continue;
        }
        for change in changes_of(repo, &earlier)? {
            let is_live = change.sides().1.is_some();
            let entry = change.entry();
            found.entry(entry.id).or_insert_with(|| Recorded { entry: entry.clone(), is_live, at }).at = at;
        }
    }
    let mut items: Vec<Recorded> = found.into_values().collect();
    items.sort_by_key(|recorded| (recorded.entry.seq, recorded.entry.id));
    Ok(items)
}

/// The usage of each request, by the index of the item with the last report. Agents report a message several times while it grows.
pub(crate) fn usages(items: &[(Item, Recorded)]) -> HashMap<usize, TokenUsage> {
    let mut last: HashMap<&str, usize> = HashMap::new();
    let mut usages = HashMap::new();
    for (index, (item, _)) in items.iter().enumerate() {
        let Some(usage) = item.reported_usage() else { continue };
        usages.insert(index, usage);
        let earlier = item.fields.turn.as_deref().and_then(|message| last.insert(message, index));
        earlier.map(|earlier| usages.remove(&earlier));
    }
    usages
}

/// The family's partition: its agent, else `none`, and the month in which its first item was made.
pub(super) fn partition(repo: &Repo, group: &Group) -> Result<String, TraceError> {
    let first = group.traces.iter().find(|trace| trace.name == group.name).unwrap_or(&group.traces[0]);
    let view = View::at(repo, Tip::read(repo, first.tip)?, None)?;
    let agent = recorded_by(repo, &first.name, &view)?;
    let mut at = view.tip.time();
    if let Some(slot) = view.slots.first() {
        at = read_item(repo, slot)?.fields.created.unwrap_or(at);
    }
    let agent = agent.map_or("none", |format| format.as_str());
    Ok(format!("agent={agent}/month={}", &at.to_string()[..7]))
}

/// The rows of a family, as lines of JSON: traces, items, and calls.
#[derive(Default, Debug)]
pub(super) struct Lines {
    pub tables: [Vec<u8>; 3],
}

impl Lines {
    pub(super) fn of(repo: &Repo, group: &Group) -> Result<Self, TraceError> {
        let mut traces: Vec<&ListedTrace> = group.traces.iter().collect();
        traces.sort_by_key(|trace| (trace.name != group.name, &trace.name));
        let (mut lines, mut seen) = (Self::default(), HashSet::new());
        for trace in traces {
            lines.add_trace(repo, group, trace, &mut seen)?;
        }
        Ok(lines)
    }

    fn add_trace<'t>(
        &mut self,
        repo: &Repo,
        group: &'t Group,
        trace: &'t ListedTrace,
        seen: &mut HashSet<ItemId>,
    ) -> Result<(), TraceError> {
        let origin = Origin { family: group.name.as_str(), trace: trace.name.as_str() };
        let view = View::at(repo, Tip::read(repo, trace.tip)?, None)?;
        let counter = settings::counter(repo, Some(&trace.name))?;
        let (mut turns, mut calls) = (Turns::default(), Vec::new());
        let mut by_number: HashMap<usize, usize> = HashMap::new();
        let mut row = TraceRow {
            title: title(repo, &trace.name, &view),
            author: &trace.author,
            model: None,
            began_at: String::new(),
            ended_at: String::new(),
            turns: 0,
            steps: 0,
            items: 0,
            calls: 0,
            live_items: 0,
            live_tokens: 0,
            tip: trace.tip.to_string(),
            origin: origin.clone(),
        };
        let mut items = Vec::new();
        for recorded in recorded(repo, &view.tip)? {
            items.push((read_item(repo, &recorded.entry)?, recorded));
        }
        let usages = usages(&items);
        for (index, (item, recorded)) in items.iter().enumerate() {
            let Recorded { entry, is_live, at } = recorded;
            turns.add(item, false);
            let place = turns.place(index);
            let tokens = item.token_count(counter);
            let at = item.fields.created.unwrap_or(*at).to_string();
            row.live_items += usize::from(*is_live);
            row.live_tokens += if *is_live { tokens } else { 0 };
            if !seen.insert(item.id) {
                continue;
            }
            let model = item.fields.meta.get("model").and_then(Value::as_str).map(str::to_owned);
            row.model = model.clone().or(row.model);
            row.began_at = Some(row.began_at).filter(|began| !began.is_empty()).unwrap_or_else(|| at.clone());
            row.ended_at = at.clone().max(row.ended_at);
            row.items += 1;
            if item.fields.is_call() {
                let Call { role, files, label, name, .. } = Call::of(item);
                by_number.extend(place.call.map(|number| (number, calls.len())));
                calls.push(CallRow {
                    origin: origin.clone(),
                    item: item.id,
                    result: None,
                    turn: place.turn,
                    step: place.step,
                    tool: name,
                    kind: role.as_str(),
                    paths: files.into_iter().map(|(path, _)| path).collect(),
                    target: label,
                    status: None,
                    called_at: at.clone(),
                    answered_at: None,
                    call_tokens: tokens,
                    result_tokens: 0,
                });
            } else if let Some(call) = place.call.and_then(|number| by_number.get(&number)) {
                let call = &mut calls[*call];
                call.result = Some(item.id);
                call.status = item.fields.status.map(Status::as_str);
                call.answered_at = Some(at.clone());
                call.result_tokens += tokens;
            }
            let usage = usages.get(&index);
            let row = ItemRow {
                origin: origin.clone(),
                item: item.id,
                seq: entry.seq,
                turn: place.turn,
                step: place.step,
                item_type: item.fields.item_type.as_str(),
                role: own_role(&item.fields).or(item.fields.role).map(Role::as_str),
                direction: item.fields.direction.map(Direction::as_str),
                name: item.fields.name.as_deref(),
                status: item.fields.status.map(Status::as_str),
                model,
                created_at: at,
                tokens,
                bytes: item.body.len(),
                revision: item.revision,
                live: *is_live,
                input_tokens: usage.map(|usage| usage.input_tokens),
                cache_read_tokens: usage.map(|usage| usage.cache_read_tokens),
                cache_write_tokens: usage.map(|usage| usage.cache_write_tokens),
                output_tokens: usage.map(|usage| usage.output_tokens),
                text: item.text(),
            };
            push(&mut self.tables[1], &row)?;
        }
        (row.turns, row.steps, row.calls) = (turns.count(), turns.steps(), calls.len());
        push(&mut self.tables[0], &row)?;
        calls.iter().try_for_each(|call| push(&mut self.tables[2], call))
    }
}

fn push(lines: &mut Vec<u8>, row: &impl Serialize) -> Result<(), TraceError> {
    serde_json::to_writer(&mut *lines, row)
        .map_err(|error| TraceError::Stream { action: "write a row", source: error.into() })?;
    lines.push(b'\n');
    Ok(())
}
