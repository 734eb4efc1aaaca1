//! The work of a recorded session: its prompts, and its calls that wrote lines.

use std::collections::HashSet;

use super::edit::{Edit, Files};
use crate::git::Repo;
use crate::trace::model::item::Status;
use crate::trace::model::tree::Change;
use crate::trace::store::total::read_item;
use crate::trace::store::turns::is_prompt;
use crate::trace::store::walk::{Parents, Walk, changes_of};
use crate::trace::{Item, ItemId, Op, Time, Tip, TraceError, TraceName};

/// An item of a session, as an answer names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cited {
    pub id: ItemId,
    pub seq: u32,
    /// The text of a prompt; the name of a tool.
    pub text: String,
    pub at: Time,
}

/// A call that wrote lines.
pub(super) struct Call {
    pub cited: Cited,
    /// The commit of the code at that time, if it was recorded.
    pub code: Option<String>,
    /// The number of its prompt.
    pub prompt: Option<usize>,
    pub model: Option<String>,
    pub edits: Vec<Edit>,
}

/// The part of a trace that was recorded in a span of time.
pub(super) struct Work {
    pub name: TraceName,
    /// Oldest first, with the commit of the code at that time.
    pub prompts: Vec<(Cited, Option<String>)>,
    pub calls: Vec<Call>,
}

impl Work {
    /// Reads the trace back to `since`, and on to the prompt before it. Items in `known` are those of other traces.
    pub(super) fn read(
        repo: &Repo,
        name: &TraceName,
        tip: Tip,
        (since, until): (i64, i64),
        known: &mut HashSet<ItemId>,
    ) -> Result<Self, TraceError> {
        let mut read: Vec<(Item, u32, Time, Option<String>)> = Vec::new();
        for tip in Walk::new(repo, tip, Parents::First) {
            let tip = tip?;
            let at = tip.time();
            let is_wanted = at.as_second() > since;
            let is_of_item =
                matches!(tip.trailers.op, Some(Op::Append | Op::Import | Op::Pick)) && tip.item().is_some();
            if at.as_second() > until || !is_of_item {
                continue;
            }
            if !is_wanted && read.last().is_none_or(|(item, ..)| is_prompt(item)) {
                break;
            }
            for change in changes_of(repo, &tip)? {
                let Change::Added(entry) = change else { continue };
                let may_count = match entry.item_type.as_str() {
                    "tool_io" => is_wanted,
                    "dialogue" => true,
                    _ => false,
                };
                if !may_count {
                    continue;
                }
                let item = read_item(repo, &entry)?;
                if is_prompt(&item) || item.fields.item_type.as_str() == "tool_io" && known.insert(item.id) {
                    let code = tip.trailers.code.clone().filter(|_| tip.is_ours());
                    read.push((item, entry.seq, at, code));
                }
            }
        }
        let failed: HashSet<ItemId> = read
            .iter()
            .filter(|(item, ..)| item.fields.is_result() && item.fields.status == Some(Status::Error))
            .filter_map(|(item, ..)| item.fields.reply_to)
            .collect();
        let mut work = Self { name: name.clone(), prompts: Vec::new(), calls: Vec::new() };
        let mut files = Files::default();
        for (item, seq, at, code) in read.into_iter().rev() {
            let cited = |text: String| Cited { id: item.id, seq, text, at };
            if is_prompt(&item) {
                work.prompts.push((cited(String::from_utf8_lossy(&item.body).into_owned()), code));
            } else if item.fields.is_call() && !failed.contains(&item.id) {
                let edits = files.edits_of(&item);
                if !edits.is_empty() {
                    let model = item.fields.meta.get("model").and_then(|model| Some(model.as_str()?.to_owned()));
                    let prompt = work.prompts.len().checked_sub(1);
                    let cited = cited(item.fields.name.clone().unwrap_or_default());
                    work.calls.push(Call { cited, code, prompt, model, edits });
                }
            }
        }
        Ok(work)
    }
}
