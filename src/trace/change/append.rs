//! Committing: an item comes in at the end of a trace.

use super::edit::{self, Revised};
use crate::base::time::Time;
use crate::git::{Oid, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Draft, Item, ItemType};
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Op, preview};
use crate::trace::model::tree::{self, ItemEntry, item_path};
use crate::trace::model::types::Types;
use crate::trace::model::{file, schema};
use crate::trace::store::priority::Record;
use crate::trace::store::tip::Tip;
use crate::trace::store::total;
use crate::trace::store::write::{Accounting, Ground, Signature, Step, record};

/// What became of a draft.
#[derive(Debug)]
pub struct Committed {
    /// The item, as it now stands.
    pub item: Item,
    /// Its position.
    pub seq: u32,
    /// The moment it got.
    pub at: Time,
    /// The commit; `None` where it was there already, word for word.
    pub commit: Option<Oid>,
    /// Whether it came in or, an instruction under a name that was live, replaced another.
    pub op: Op,
}

/// What is to be committed.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The item.
    pub draft: &'a Draft,
    /// The commit's first line, in place of a preview.
    pub subject: Option<&'a str>,
    /// Whether the caller will skip it; then it is not charged to the budget.
    pub skipped: bool,
    /// What a provider reported the whole context to take, this item included.
    pub reported_tokens: Option<u64>,
}

/// Commits a draft at the end of a trace.
///
/// An instruction under a name that is live in this trace is an edit of that item. A result that replies to a call takes
/// the call's id and tool name where it has none of its own.
///
/// # Errors
///
/// [`TraceError::Schema`] if the draft is not what its type asks for, [`TraceError::Type`] for a rule that cannot be used, [`TraceError::Full`],
/// [`TraceError::OverBudget`]; the trace is as it was then.
pub fn append(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    accounting: Accounting,
    request: &Request<'_>,
) -> Result<Committed, TraceError> {
    let subject = request.subject;
    let types = Types::read(repo)?;
    let (commit, (item, seq, op, at)) = record(repo, name, signature, accounting, |ground| {
        let mut draft = request.draft.clone();
        schema::complete(&mut draft.fields);
        if let Some(call) = replied_call(repo, ground, &draft)? {
            draft.fields.call_id = draft.fields.call_id.or(call.fields.call_id);
            draft.fields.name = draft.fields.name.or(call.fields.name);
        }
        types.judge(repo, &draft)?;
        if let Some((slot, old)) = live_instruction(repo, ground.tip, &draft)? {
            let Revised { mut step, item } = edit::revise(repo, ground, &slot, &old, draft, subject)?;
            if let Some(step) = &mut step {
                step.reported_tokens = request.reported_tokens;
            }
            return Ok((step, (item, slot.seq, Op::Edit, ground.at)));
        }
        let (mut step, item, seq) = step_of(repo, ground, signature, draft, subject)?;
        step.charged = !request.skipped;
        step.reported_tokens = request.reported_tokens;
        Ok((Some(step), (item, seq, Op::Append, ground.at)))
    })?;
    Ok(Committed { item, seq, at, commit, op })
}

/// Makes the step that puts `draft` at the end, and the item and position it gets.
pub(crate) fn step_of(
    repo: &Repo,
    ground: &Ground<'_>,
    signature: &Signature,
    draft: Draft,
    subject: Option<&str>,
) -> Result<(Step, Item, u32), TraceError> {
    let seq = ground.free_seq(repo)?;
    let item = new_item(ground, signature, draft);
    let blob = repo.write_blob(&file::render(&item))?;
    let step = Step {
        op: Op::Append,
        item: item.id,
        subject: subject.map_or_else(|| preview(&item), str::to_owned),
        reason: None,
        files: vec![(item_path(seq, &item.fields.item_type, item.id), Some(blob))],
        cost_in: total::item_cost(&item, ground.encoding),
        cost_out: 0,
        next_seq: seq + 1,
        charged: true,
        reported_tokens: None,
    };
    Ok((step, item, seq))
}

/// A draft as an item of its own, with the id that author and moment give it.
pub(crate) fn new_item(ground: &Ground<'_>, signature: &Signature, draft: Draft) -> Item {
    let placeholder = "0000000000000000".parse().expect("16 digits are an id");
    let mut item = Item { id: placeholder, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
    let parent = ground.tip.map(|tip| tip.commit.oid.as_bytes());
    item.id = ItemId::derive(parent, &file::render_without_id(&item), &signature.author.person(), ground.at);
    item.keep_token_count(ground.encoding);
    item
}

/// The call that a result replies to, where the result leaves something to be taken from it.
fn replied_call(repo: &Repo, ground: &Ground<'_>, draft: &Draft) -> Result<Option<Item>, TraceError> {
    let fields = &draft.fields;
    let (Some(call_id), Some(tip)) = (fields.reply_to, ground.tip) else { return Ok(None) };
    if !fields.is_result() || (fields.call_id.is_some() && fields.name.is_some()) {
        return Ok(None);
    }
    let slots = tree::list(repo, tip.commit.tree)?;
    let Some(slot) = slots.iter().find(|slot| slot.id == call_id) else { return Ok(None) };
    Ok(Some(total::read_item(repo, slot)?).filter(|item| item.fields.is_call()))
}

/// The live instruction of the draft's name, where the draft is an instruction with one.
fn live_instruction(repo: &Repo, tip: Option<&Tip>, draft: &Draft) -> Result<Option<(ItemEntry, Item)>, TraceError> {
    let (Some(name), Some(tip)) = (&draft.fields.name, tip) else { return Ok(None) };
    if draft.fields.item_type != ItemType::instruction() {
        return Ok(None);
    }
    let mut slots = tree::list(repo, tip.commit.tree)?;
    slots.retain(|slot| slot.item_type == ItemType::instruction());
    // One that is skipped does not speak, and would keep what replaces it from speaking.
    let levels = Record::open(repo)?.levels(repo, &slots, None)?;
    slots.retain(|slot| !levels.is_skipped(slot.id, &slot.item_type));
    // The last of a name speaks, so it is looked for from the end.
    for slot in slots.into_iter().rev() {
        let item = total::read_item(repo, &slot)?;
        if item.fields.name.as_ref() == Some(name) {
            return Ok(Some((slot, item)));
        }
    }
    Ok(None)
}
