//! Editing: an item's content is replaced completely; its id and position stay.

use serde_json::{Value, json};

use super::append::Committed;
use super::commit::validate_subject;
use crate::git::Oid;
use crate::trace::model::json::set_field;
use crate::trace::model::schema;
use crate::trace::model::trailers::preview;
use crate::trace::model::types::{Types, level_in_meta};
use crate::trace::store::priority;
use crate::trace::{Draft, ItemId, Op, Trace, TraceError};

/// The changes of an edit.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// The new content; `None`: it stays.
    pub body: Option<Vec<u8>>,
    /// Fields to set, as in JSON. All others are kept, except a provider's signature: it signed the old content.
    pub fields: Vec<(String, Value)>,
    /// The subject of the commit; `None`: a preview of the item.
    pub subject: Option<String>,
    /// Why, for the history.
    pub reason: Option<String>,
    /// The item's file from which the new content was made, if it was.
    pub(crate) made_of: Option<Oid>,
}

impl Trace<'_> {
    /// Edits a live item, and sets the priority that new `meta` asks for.
    ///
    /// Secrets in the new content are handled as the setting `trace.secrets` says; without it they only cause a warning.
    ///
    /// # Errors
    ///
    /// [`TraceError::NotLive`] if the item is not in this trace, [`TraceError::Changed`] if it changed meanwhile,
    /// [`TraceError::Schema`] or [`TraceError::Field`] if the result lacks what its type requires, [`TraceError::Secret`],
    /// [`TraceError::OverBudget`]. The trace is unchanged then.
    pub fn edit(&self, id: ItemId, mut patch: Patch) -> Result<Committed, TraceError> {
        validate_subject(patch.subject.as_deref())?;
        let Patch { body, fields, subject, reason, made_of: _ } = &mut patch;
        self.scan_edit_for_secrets(fields, body.as_mut().unwrap_or(&mut Vec::new()), subject.iter_mut().chain(reason))?;
        let types = Types::read(self.repo())?;
        types.warnings().iter().for_each(|warning| self.warn(warning));
        let mut earlier_level = None;
        let edited = self.change_item(|change| {
            let (slot, old) = change.live_item(id)?;
            earlier_level = level_in_meta(&old.fields);
            if patch.made_of.is_some_and(|file| file != slot.blob) {
                return Err(TraceError::Changed { item: id, trace: self.name().clone() });
            }
            let mut draft =
                Draft { fields: old.fields.clone(), body: patch.body.clone().unwrap_or_else(|| old.body.clone()) };
            draft.fields.signature = None;
            for (field, value) in &patch.fields {
                set_field(&mut draft.fields, field, value)?;
            }
            schema::complete(&mut draft.fields);
            types.judge(change.repo(), &draft)?;
            let revised = change.revise(&slot, &old, draft)?;
            if let Some(item) = &revised {
                let subject = patch.subject.clone().unwrap_or_else(|| preview(item));
                change.commit_item(Op::Edit, id, &subject, patch.reason.as_deref())?;
            }
            Ok((Op::Edit, revised.unwrap_or(old), slot.seq))
        })?;
        if level_in_meta(&edited.item.fields) != earlier_level {
            priority::follow_meta(self, &edited.item, edited.seq)?;
        }
        Ok(edited)
    }
}

/// [`Committed::to_json`] with the number of tokens.
pub(crate) fn to_json(edited: &Committed) -> Value {
    let mut answer = edited.to_json();
    answer["tokens"] = json!(edited.item.tokens.map(|tokens| tokens.count));
    answer
}
