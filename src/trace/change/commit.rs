//! Committing an item together with its priority and the usage that a provider reported.

use serde_json::{Map, Value};

use super::append::{AppendOptions, Committed};
use super::edit;
use crate::git::Oid;
use crate::tokens::{TokenUsage, UsageReader};
use crate::trace::model::json::{BadField, draft_from, parsed_field, text_field};
use crate::trace::model::types::{Types, level_in_meta};
use crate::trace::store::priority::{self, Level, Request};
use crate::trace::store::resolve::Resolver;
use crate::trace::{Draft, Trace, TraceError};

#[derive(Clone, Debug)]
pub(crate) struct NewItem {
    pub draft: Draft,
    /// The subject of the commit; `None`: a preview of the item.
    pub subject: Option<String>,
    /// The item that it replies to, as the user names it.
    pub reply_to: Option<String>,
    /// `None`: the priority of its type.
    pub priority: Option<Level>,
    pub reason: Option<String>,
    pub usage: Option<TokenUsage>,
}

impl NewItem {
    /// Reads a JSON object: the fields of an item, and `subject`, `reply_to`, `priority`, `reason`, and `usage`.
    pub(crate) fn from_json(object: &Map<String, Value>, reader: &UsageReader) -> Result<Self, TraceError> {
        const OTHER_FIELDS: [&str; 5] = ["reply_to", "priority", "reason", "subject", "usage"];
        let usage = object.get("usage").filter(|usage| !usage.is_null());
        let usage = usage.map(|usage| reader.read(usage)).transpose();
        Ok(Self {
            draft: draft_from(object, &OTHER_FIELDS)?,
            subject: text_field(object, "subject")?,
            reply_to: text_field(object, "reply_to")?,
            priority: parsed_field(object, "priority")?,
            reason: text_field(object, "reason")?,
            usage: usage.map_err(|error| BadField::bad("usage", with_sources(&error)))?,
        })
    }
}

/// An error with everything that caused it, on one line.
fn with_sources(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Refuses a subject that was given and cannot be one.
pub(super) fn validate_subject(subject: Option<&str>) -> Result<(), TraceError> {
    let is_bad = |subject: &str| subject.trim().is_empty() || subject.chars().any(char::is_control);
    if subject.is_some_and(is_bad) { Err(TraceError::BadSubject) } else { Ok(()) }
}

impl Trace<'_> {
    /// Appends an item and sets its priority.
    ///
    /// Secrets are handled as the setting `trace.secrets` says; without it they only cause a warning.
    pub(crate) fn commit(&self, mut item: NewItem) -> Result<Committed, TraceError> {
        let repo = self.repo();
        if let Some(spec) = &item.reply_to {
            let replied = Resolver::new(repo, self.name(), &self.tip()?)?.item(spec);
            item.draft.fields.reply_to = Some(replied.map_err(|error| TraceError::NoReply(Box::new(error)))?);
        }
        validate_subject(item.subject.as_deref())?;
        if let Some(usage) = item.usage {
            usage.store(&mut item.draft.fields.meta);
        }
        let NewItem { draft: Draft { fields, body }, subject, reason, .. } = &mut item;
        self.scan_for_secrets(fields, body, subject.iter_mut().chain(reason))?;
        let fields = &item.draft.fields;
        let level = item.priority.or_else(|| level_in_meta(fields));
        let in_force = match level {
            Some(level) => level,
            None => Types::read(repo)?.rules(&fields.item_type).priority,
        };
        let options = AppendOptions {
            subject: item.subject.as_deref(),
            skipped: in_force == Level::Skip,
            reported_tokens: item.usage.map(|usage| usage.context_tokens()),
        };
        if level.is_some() {
            priority::tags::prefix(repo)?;
        }
        let committed = self.append_with(&item.draft, options)?;
        if let Some(level) = level {
            let introduced = self.introduction(&committed)?;
            let request = Request {
                reason: item.reason,
                seq: Some(committed.seq),
                ..Request::now(committed.item.id, level, committed.at, introduced)
            };
            let signature = self.signature()?;
            priority::set(repo, &signature, &[request])?;
        }
        Ok(committed)
    }

    /// The commit that added the item: this one, unless it replaced an instruction.
    fn introduction(&self, committed: &Committed) -> Result<Oid, TraceError> {
        if let Some(commit) = committed.commit.filter(|_| committed.item.revision == 1) {
            return Ok(commit);
        }
        let tip = self.tip()?;
        Ok(priority::tags::introduction(self.repo(), &tip, committed.item.id)?.unwrap_or(tip.commit.oid))
    }
}

/// As [`edit::to_json`], without null values.
pub(crate) fn to_json(committed: &Committed) -> Value {
    let mut answer = edit::to_json(committed);
    if let Some(object) = answer.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    answer
}
