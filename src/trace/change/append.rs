//! Appending an item to a trace.

use serde_json::{Value, json};

use super::pending::PendingChange;
use super::running_total::Usage;
use crate::base::time::Time;
use crate::git::Oid;
use crate::trace::model::schema;
use crate::trace::model::trailers::preview;
use crate::trace::model::types::Types;
use crate::trace::store::priority::Record;
use crate::trace::store::total;
use crate::trace::{Draft, Fields, Item, ItemEntry, ItemType, Op, Trace, TraceError};

/// An item after a change of it.
#[derive(Debug)]
pub struct Committed {
    /// The item as it is now.
    pub item: Item,
    /// Its position.
    pub seq: u32,
    /// The time of the change.
    pub at: Time,
    pub(crate) op: Op,
    /// The commit; `None` if there was nothing to change.
    pub commit: Option<Oid>,
}

impl Committed {
    /// The id, position, operation, revision, and commit; the latter is `null` if there was nothing to change.
    pub(crate) fn to_json(&self) -> Value {
        let Self { item, seq, op, commit, .. } = self;
        json!({ "id": item.id.to_string(), "seq": seq, "op": op.as_str(), "revision": item.revision,
            "commit": commit.map(|oid| oid.to_string()) })
    }
}

/// How an item is appended.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppendOptions<'a> {
    /// The subject of the commit; `None`: a preview of the item.
    pub subject: Option<&'a str>,
    /// Whether the caller skips the item afterwards, so that it does not count toward the budget.
    pub skipped: bool,
    /// The size of the complete context, this item included, as a provider reported it.
    pub reported_tokens: Option<u64>,
}

impl Trace<'_> {
    /// Appends an item to the end of the trace.
    ///
    /// An instruction with the name of a live instruction replaces the content of that item. A result that replies to a call
    /// takes the call's id and tool name unless it has them. The id of a call without one is that of its item.
    ///
    /// # Errors
    ///
    /// [`TraceError::Schema`] if the draft lacks what its type requires, [`TraceError::Type`] for a rule that cannot be used,
    /// [`TraceError::Full`], [`TraceError::OverBudget`]. The trace is unchanged then.
    #[expect(clippy::needless_pass_by_value, reason = "a draft is used up by appending it")]
    pub fn append(&self, draft: Draft) -> Result<Committed, TraceError> {
        self.append_with(&draft, AppendOptions::default())
    }

    /// As [`Self::append`], with options.
    pub fn append_with(&self, draft: &Draft, options: AppendOptions<'_>) -> Result<Committed, TraceError> {
        let types = Types::read(self.repo())?;
        types.warnings().iter().for_each(|warning| self.warn(warning));
        self.change_item(|change| {
            let mut draft = draft.clone();
            schema::complete(&mut draft.fields);
            complete_result(change, &mut draft.fields)?;
            types.judge(change.repo(), &draft)?;
            change.usage = Usage::reported(options.reported_tokens.unwrap_or_default());
            if let Some((slot, old)) = live_instruction(change, &draft)? {
                let revised = change.revise(&slot, &old, draft)?;
                if let Some(item) = &revised {
                    let subject = options.subject.map_or_else(|| preview(item), str::to_owned);
                    change.commit_item(Op::Edit, item.id, &subject, None)?;
                }
                return Ok((Op::Edit, revised.unwrap_or(old), slot.seq));
            }
            change.is_charged = !options.skipped;
            let (item, seq) = change.append(draft, options.subject)?;
            Ok((Op::Append, item, seq))
        })
    }

    /// Changes one item as `build` describes it, which returns the operation, the item, and its position.
    pub(crate) fn change_item(
        &self,
        mut build: impl FnMut(&mut PendingChange<'_>) -> Result<(Op, Item, u32), TraceError>,
    ) -> Result<Committed, TraceError> {
        let changed = self.change_items(|change| build(change).map(|(op, item, seq)| (op, vec![(item, seq)])))?;
        Ok(changed.into_iter().next().expect("one item was changed"))
    }

    /// As [`Self::change_item`], for several items.
    pub(crate) fn change_items(
        &self,
        mut build: impl FnMut(&mut PendingChange<'_>) -> Result<(Op, Vec<(Item, u32)>), TraceError>,
    ) -> Result<Vec<Committed>, TraceError> {
        let (commit, (at, (op, items))) = self.change(|change| Ok((change.at(), build(change)?)))?;
        Ok(items.into_iter().map(|(item, seq)| Committed { item, seq, at, op, commit }).collect())
    }
}

impl PendingChange<'_> {
    /// Commits a draft as a new item at the end. Returns the item and its position.
    pub(crate) fn append(&mut self, draft: Draft, subject: Option<&str>) -> Result<(Item, u32), TraceError> {
        let seq = self.free_seq()?;
        let item = self.new_item(draft);
        self.put_item(seq, &item)?;
        let subject = subject.map_or_else(|| preview(&item), str::to_owned);
        self.commit_item(Op::Append, item.id, &subject, None)?;
        Ok((item, seq))
    }
}

/// Gives a result that replies to an item what it lacks: the id and the tool name of that call. A call without an id has that of
/// its item, as in requests.
fn complete_result(change: &PendingChange<'_>, fields: &mut Fields) -> Result<(), TraceError> {
    let Some(replied) = fields.reply_to.filter(|_| fields.is_result()) else { return Ok(()) };
    if fields.call_id.is_some() && fields.name.is_some() {
        return Ok(());
    }
    let slot = change.slots()?.into_iter().find(|slot| slot.id == replied);
    let call = slot.map(|slot| total::read_item(change.repo(), &slot)).transpose()?;
    if let Some(call) = call.map(|item| item.fields).filter(Fields::is_call) {
        fields.call_id = fields.call_id.take().or(call.call_id);
        fields.name = fields.name.take().or(call.name);
    }
    fields.call_id.get_or_insert_with(|| replied.to_string());
    Ok(())
}

/// The live instruction with the draft's name, if the draft is an instruction with a name.
fn live_instruction(change: &PendingChange<'_>, draft: &Draft) -> Result<Option<(ItemEntry, Item)>, TraceError> {
    let Some(name) = &draft.fields.name else { return Ok(None) };
    if draft.fields.item_type != ItemType::instruction() {
        return Ok(None);
    }
    let mut slots = change.slots()?;
    slots.retain(|slot| slot.item_type == ItemType::instruction());
    // A skipped instruction is not in the prompt, and would keep its replacement out of it.
    let levels = Record::open(change.repo())?.levels(change.repo(), &slots, None)?;
    slots.retain(|slot| !levels.is_skipped(slot.id, &slot.item_type));
    // Of several with one name the last is in force.
    for slot in slots.into_iter().rev() {
        let item = total::read_item(change.repo(), &slot)?;
        if item.fields.name.as_ref() == Some(name) {
            return Ok(Some((slot, item)));
        }
    }
    Ok(None)
}
