//! Detection of secrets in items before they are committed.
//!
//! Scans the body, all fields that hold free text, the keys and strings in `meta`, and the subject and reason of the commit. The
//! setting `trace.secrets` decides what happens to a secret; without it, the caller's default applies.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use super::settings::{allowed_secrets, secrets_policy};
use crate::git::{GitError, Repo};
use crate::secrets::{self, Allowed, Fingerprint, Policy, Secret};
use crate::trace::model::source::Source;
use crate::trace::{Fields, Trace, TraceError};

/// Scans items; reads the settings when it finds the first secret.
pub(crate) struct SecretScanner<'r> {
    repo: &'r Repo,
    default: Policy,
    settings: OnceCell<(Policy, Allowed)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// The kind, with an article: `a GitHub token`.
    pub what: &'static str,
    pub fingerprint: Fingerprint,
    /// [`Policy::Redact`] if it was removed, or [`Policy::Warn`].
    pub policy: Policy,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, fingerprint, policy } = self;
        match policy {
            Policy::Redact => write!(f, "{what} was taken out"),
            _ => write!(
                f,
                "warning: the text holds what looks like {what}; to remove it: git trace purge --text -; if this is a false alarm: \
                 git config --add trace.allowSecret {fingerprint}"
            ),
        }
    }
}

impl Trace<'_> {
    /// Scans what a user commits: the fields and the body of an item, and the lines about it, such as the subject. Without a setting,
    /// secrets only cause warnings.
    pub(crate) fn scan_for_secrets<'l>(
        &self,
        fields: &mut Fields,
        body: &mut Vec<u8>,
        lines: impl IntoIterator<Item = &'l mut String>,
    ) -> Result<(), TraceError> {
        self.warn_of(&SecretScanner::new(self.repo(), Policy::Warn).scan(fields, body, lines)?);
        Ok(())
    }

    /// As [`Self::scan_for_secrets`], for what a user edits: new values of fields, as in JSON.
    pub(crate) fn scan_edit_for_secrets<'l>(
        &self,
        fields: &mut [(String, Value)],
        body: &mut Vec<u8>,
        lines: impl IntoIterator<Item = &'l mut String>,
    ) -> Result<(), TraceError> {
        let scanner = SecretScanner::new(self.repo(), Policy::Warn);
        let mut scan = Scan::new(&scanner);
        let is_unsigned = scan.body(body)?;
        for (field, value) in fields {
            match value {
                Value::String(text) if field == "signature" => {
                    if is_unsigned | scan.redacted(text.as_bytes())?.is_some() {
                        *value = Value::Null;
                    }
                }
                Value::String(text) => scan.named_field(field, text)?,
                value => scan.value(value)?,
            }
        }
        self.warn_of(&scan.finish(lines)?);
        Ok(())
    }

    /// As [`Self::scan_for_secrets`], for a text that is no item.
    pub(crate) fn scan_text_for_secrets(&self, text: &mut String) -> Result<(), TraceError> {
        self.warn_of(&SecretScanner::new(self.repo(), Policy::Warn).scan_texts([text])?);
        Ok(())
    }

    fn warn_of(&self, found: &[Found]) {
        for found in found {
            self.warn(&found.to_string());
        }
    }
}

impl<'r> SecretScanner<'r> {
    pub(crate) fn new(repo: &'r Repo, default: Policy) -> Self {
        Self { repo, default, settings: OnceCell::new() }
    }

    /// Scans an item and the lines about it, such as the subject and the reason of its commit, and removes the secrets if that is
    /// the policy. A subject usually repeats the body, so a secret of a line is only reported if the item does not have it.
    pub(crate) fn scan<'l>(
        &self,
        fields: &mut Fields,
        body: &mut Vec<u8>,
        lines: impl IntoIterator<Item = &'l mut String>,
    ) -> Result<Vec<Found>, TraceError> {
        let mut scan = Scan::new(self);
        if scan.body(body)? {
            fields.signature = None;
        }
        scan.fields(fields)?;
        scan.finish(lines)
    }

    /// Scans texts that are no items, such as the reason for a change.
    pub(crate) fn scan_texts<'l>(
        &self,
        texts: impl IntoIterator<Item = &'l mut String>,
    ) -> Result<Vec<Found>, TraceError> {
        Scan::new(self).finish(texts)
    }

    fn settings(&self) -> Result<&(Policy, Allowed), GitError> {
        if let Some(settings) = self.settings.get() {
            return Ok(settings);
        }
        let policy = secrets_policy(self.repo)?.unwrap_or(self.default);
        let allowed = allowed_secrets(self.repo)?;
        Ok(self.settings.get_or_init(|| (policy, allowed)))
    }
}

/// The scan of one item, or of texts.
struct Scan<'s> {
    scanner: &'s SecretScanner<'s>,
    found: Vec<Found>,
}

impl<'s> Scan<'s> {
    fn new(scanner: &'s SecretScanner<'s>) -> Self {
        Self { scanner, found: Vec::new() }
    }

    fn finish<'l>(mut self, lines: impl IntoIterator<Item = &'l mut String>) -> Result<Vec<Found>, TraceError> {
        let mut found = std::mem::take(&mut self.found);
        for line in lines {
            self.text(line)?;
            let known: HashSet<_> = found.iter().map(|found| &found.fingerprint).cloned().collect();
            found.extend(self.found.drain(..).filter(|found| !known.contains(&found.fingerprint)));
        }
        Ok(found)
    }

    /// Whether something was removed.
    fn body(&mut self, body: &mut Vec<u8>) -> Result<bool, TraceError> {
        let Some(clean) = self.redacted(body)? else { return Ok(false) };
        *body = clean;
        Ok(true)
    }

    fn fields(&mut self, fields: &mut Fields) -> Result<(), TraceError> {
        // Without `..`, so that a new field does not compile until it is decided whether it is scanned.
        let Fields {
            item_type: _,
            role: _,
            direction: _,
            status: _,
            reply_to: _,
            created: _,
            name,
            call_id,
            signature,
            kind,
            path,
            language,
            media_type,
            format,
            turn,
            source,
            meta,
            unknown,
        } = fields;
        for field in [name, call_id, kind, path, language, media_type, format, turn].into_iter().flatten() {
            self.field(field)?;
        }
        if let Some(known) = signature
            && self.redacted(known.as_bytes())?.is_some()
        {
            *signature = None;
        }
        if let Some(known) = source {
            let (mut format, mut record) = (known.format().to_owned(), known.record().to_owned());
            if self.field(&mut format)? | self.field(&mut record)? {
                *known = Source::new(&format, &record, known.block());
            }
        }
        self.members(meta)?;
        for (key, value) in unknown {
            self.named_field(key, value)?;
        }
        Ok(())
    }

    /// Scans a value of one line. One with a secret is replaced completely, and equal ones by equal ones, because calls and results
    /// have the same id, and keys differ. Returns whether it was.
    fn field(&mut self, text: &mut String) -> Result<bool, TraceError> {
        let is_changed = self.redacted(text.as_bytes())?.is_some();
        if is_changed {
            *text = replacement(text);
        }
        Ok(is_changed)
    }

    /// Scans a field that this version does not know, and its name.
    fn named_field(&mut self, name: &mut String, text: &mut String) -> Result<(), TraceError> {
        if self.redacted_named(name, text)?.is_some() {
            *text = replacement(text);
        }
        self.field(name).map(drop)
    }

    fn value(&mut self, value: &mut Value) -> Result<(), TraceError> {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.value(value)),
            Value::Object(members) => self.members(members),
            _ => Ok(()),
        }
    }

    fn members(&mut self, members: &mut Map<String, Value>) -> Result<(), TraceError> {
        for (key, value) in members.iter_mut() {
            match value {
                Value::String(text) => *text = self.redacted_named(key, text)?.unwrap_or_else(|| std::mem::take(text)),
                value => self.value(value)?,
            }
        }
        let mut renamed = Vec::new();
        for key in members.keys() {
            let mut new = key.clone();
            if self.field(&mut new)? {
                renamed.push((key.clone(), new));
            }
        }
        for (old, new) in renamed {
            let value = members.remove(&old).unwrap_or_default();
            let mut free = new;
            while members.contains_key(&free) {
                free.push_str("-2");
            }
            members.insert(free, value);
        }
        Ok(())
    }

    /// As [`Self::redacted`], for the value of a key, which may show what it is.
    fn redacted_named(&mut self, key: &str, text: &str) -> Result<Option<String>, TraceError> {
        let found_before = self.found.len();
        let clean = self.redacted(text.as_bytes())?;
        if self.found.len() > found_before {
            return Ok(clean.map(|clean| String::from_utf8_lossy(&clean).into_owned()));
        }
        let [key, value] = [key, text].map(|text| Value::from(text).to_string());
        let pair = format!("{key}: {value}");
        let start = pair.len() - value.len();
        // The key is scanned apart.
        let clean = self.redacted_from(start, pair.as_bytes())?;
        let value = clean.as_ref().map(|clean| clean.get(start..).unwrap_or_default());
        Ok(value.map(|value| serde_json::from_slice(value).unwrap_or_else(|_| String::from_utf8_lossy(value).into())))
    }

    fn text(&mut self, text: &mut String) -> Result<(), TraceError> {
        if let Some(clean) = self.redacted(text.as_bytes())? {
            *text = String::from_utf8_lossy(&clean).into_owned();
        }
        Ok(())
    }

    /// The text without its secrets, if the policy is to remove them and it has some.
    fn redacted(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, TraceError> {
        self.redacted_from(0, text)
    }

    /// The same, for secrets that start at `start` or later.
    fn redacted_from(&mut self, start: usize, text: &[u8]) -> Result<Option<Vec<u8>>, TraceError> {
        let mut secrets = secrets::find(text);
        secrets.retain(|secret| secret.span.start >= start);
        if secrets.is_empty() {
            return Ok(None);
        }
        let (policy, allowed) = self.scanner.settings()?;
        if *policy == Policy::Off {
            return Ok(None);
        }
        let secrets = allowed.others(text, secrets);
        let fingerprint = |secret: &Secret| secret.fingerprint(text);
        if let (Policy::Refuse, Some(first)) = (policy, secrets.first()) {
            return Err(TraceError::Secret { what: first.what, fingerprint: fingerprint(first) });
        }
        self.found.extend(secrets.iter().map(|secret| Found {
            what: secret.what,
            fingerprint: fingerprint(secret),
            policy: *policy,
        }));
        Ok((*policy == Policy::Redact && !secrets.is_empty()).then(|| secrets::redact(text, &secrets)))
    }
}

/// What replaces a field or a key with a secret.
fn replacement(text: &str) -> String {
    format!("redacted-{}", Fingerprint::of(text.as_bytes()))
}
