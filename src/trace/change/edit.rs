//! Editing: an item's content is replaced in full; its id and position stay.

use serde_json::{Value, json};

use crate::base::error::Result as AnyResult;
use crate::git::{Oid, Repo};
use crate::secrets::Policy;
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Draft, Fields, Item, ItemType};
use crate::trace::model::json::set_field;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Op, preview};
use crate::trace::model::tree::{self, ItemEntry, item_path};
use crate::trace::model::types::Types;
use crate::trace::model::{file, schema};
use crate::trace::store::budget::BudgetPolicy;
use crate::trace::store::priority;
use crate::trace::store::secrets::{Found, SecretScanner};
use crate::trace::store::total;
use crate::trace::store::write::{Accounting, Ground, Signature, Step, record};

/// What is to be replaced in an item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Patch {
    /// The new body; `None` keeps the old one.
    pub body: Option<Vec<u8>>,
    /// Fields to set, as in JSON. Those not given are kept, the signature excepted: it signed what was there before.
    pub fields: Vec<(String, Value)>,
    /// The commit's first line in place of the preview.
    pub subject: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

impl Patch {
    /// Looks for secrets in the new body and the subject; what the setting `trace.secrets` says is done about them, and nothing
    /// where it says nothing.
    ///
    /// # Errors
    ///
    /// Those of [`SecretScanner::look`].
    fn screen(&mut self, repo: &Repo) -> Result<Vec<Found>, TraceError> {
        let mut none = Fields::new(ItemType::freeform());
        let body = self.body.as_mut();
        SecretScanner::new(repo, Policy::Warn).look(&mut none, body.unwrap_or(&mut Vec::new()), self.subject.as_mut())
    }
}

/// An item as an edit left it.
#[derive(Debug)]
pub(crate) struct Edited {
    /// The item, as it now stands.
    pub item: Item,
    /// Its position.
    pub seq: u32,
    /// The commit; `None` where nothing differed.
    pub commit: Option<Oid>,
}

/// Edits an item under the budget of `guard`, and sets the priority that the new `meta` asks for.
///
/// `warn` is told which secrets the new text holds, and where the budget is gone over all the same.
///
/// # Errors
///
/// Those of [`edit`], and a secret that cannot be let in.
pub(crate) fn apply(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    guard: &BudgetPolicy,
    mut warn: impl FnMut(&str),
    (id, mut patch): (ItemId, Patch),
) -> AnyResult<Edited> {
    for found in patch.screen(repo)? {
        warn(&found.to_string());
    }
    let edited = guard.run(warn, |accounting| edit(repo, name, signature, accounting, id, &patch))?;
    if edited.commit.is_some() && patch.fields.iter().any(|(field, _)| field == "meta") {
        priority::follow_meta(repo, name, signature, &edited.item, edited.seq)?;
    }
    Ok(edited)
}

/// What is told of an edit, as JSON; `commit` is `null` where nothing differed.
#[must_use]
pub(crate) fn to_json(edited: &Edited) -> Value {
    let Edited { item, seq, commit } = edited;
    let tokens = item.tokens.map(|tokens| tokens.count);
    json!({ "id": item.id.to_string(), "seq": seq, "op": "edit", "revision": item.revision,
        "commit": commit.map(|oid| oid.to_string()), "tokens": tokens })
}

/// Edits an item that is live in the trace.
///
/// # Errors
///
/// [`TraceError::NotLive`] if it is not in this trace, [`TraceError::Schema`] or [`TraceError::Field`] if the result is
/// not what its type asks for; nothing was written then.
pub(crate) fn edit(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    accounting: Accounting,
    id: ItemId,
    patch: &Patch,
) -> Result<Edited, TraceError> {
    let types = Types::read(repo)?;
    let (commit, (item, seq)) = record(repo, name, signature, accounting, |ground| {
        let (slot, old) = live_item(repo, ground, id)?;
        let mut draft =
            Draft { fields: old.fields.clone(), body: patch.body.clone().unwrap_or_else(|| old.body.clone()) };
        draft.fields.signature = None;
        for (field, value) in &patch.fields {
            set_field(&mut draft.fields, field, value)?;
        }
        schema::complete(&mut draft.fields);
        types.judge(repo, &draft)?;
        let Revised { mut step, item } = revise(repo, ground, &slot, &old, draft, patch.subject.as_deref())?;
        if let Some(step) = &mut step {
            step.reason.clone_from(&patch.reason);
        }
        Ok((step, (item, slot.seq)))
    })?;
    Ok(Edited { item, seq, commit })
}

/// The live item of this id, as it stands now.
pub(crate) fn live_item(repo: &Repo, ground: &Ground<'_>, id: ItemId) -> Result<(ItemEntry, Item), TraceError> {
    let slots = tree::list(repo, ground.require_tip()?.commit.tree)?;
    let slot = slots.into_iter().find(|slot| slot.id == id);
    let slot = slot.ok_or_else(|| TraceError::NotLive { item: id, trace: ground.name.clone() })?;
    let item = total::read_item(repo, &slot)?;
    Ok((slot, item))
}

/// A step that replaces an item's content, and the item as it then is.
pub(crate) struct Revised {
    /// `None` where nothing differs.
    pub(crate) step: Option<Step>,
    pub(crate) item: Item,
}

/// Makes the step that puts `draft` in the place of `old`, which stands in `slot`.
pub(crate) fn revise(
    repo: &Repo,
    ground: &Ground<'_>,
    slot: &ItemEntry,
    old: &Item,
    mut draft: Draft,
    subject: Option<&str>,
) -> Result<Revised, TraceError> {
    // Where an item came from stays true of it, whatever it says now.
    draft.fields.source.clone_from(&old.fields.source);
    let mut same = old.fields.clone();
    same.signature.clone_from(&draft.fields.signature);
    if same == draft.fields && draft.body == old.body {
        return Ok(Revised { step: None, item: old.clone() });
    }
    let revision = old.revision.saturating_add(1);
    let mut item = Item { id: old.id, fields: draft.fields, revision, tokens: None, body: draft.body };
    item.keep_token_count(ground.encoding);
    let blob = repo.write_blob(&file::render(&item))?;
    let path = item_path(slot.seq, &item.fields.item_type, item.id);
    let mut files = vec![(path.clone(), Some(blob))];
    if path != slot.path {
        files.insert(0, (slot.path.clone(), None));
    }
    let step = Step {
        op: Op::Edit,
        item: item.id,
        subject: subject.map_or_else(|| preview(&item), str::to_owned),
        reason: None,
        files,
        cost_in: total::item_cost(&item, ground.encoding),
        cost_out: total::item_cost(old, ground.encoding),
        next_seq: ground.require_tip()?.next_seq(repo)?,
        charged: true,
        reported_tokens: None,
    };
    Ok(Revised { step: Some(step), item })
}
