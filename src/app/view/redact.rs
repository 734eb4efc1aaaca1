//! Removing possible secrets from a page.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::Value;

use crate::git::{GitError, Repo};
use crate::secrets::{self, Allowed, Policy};
use crate::trace::store::settings::{allowed_secrets, secrets_policy};

#[derive(Debug)]
pub(crate) struct Redactor {
    allowed: Option<Allowed>,
    pub(crate) count: Cell<usize>,
}

impl Redactor {
    /// Reads `trace.secrets` and `trace.allowSecret`. Every policy but `off` removes secrets, because the page leaves the repository.
    pub(crate) fn of_settings(repo: &Repo) -> Result<Self, GitError> {
        let off = secrets_policy(repo)? == Some(Policy::Off);
        let allowed = if off { None } else { Some(allowed_secrets(repo)?) };
        Ok(Self { allowed, count: Cell::new(0) })
    }

    pub(crate) fn bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let found = self.allowed.as_ref()?.others(bytes, secrets::find(bytes));
        if found.is_empty() {
            return None;
        }
        self.count.set(self.count.get() + 1);
        Some(secrets::redact(bytes, &found))
    }

    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.bytes(text.as_bytes()) {
            Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
            None => Cow::Borrowed(text),
        }
    }

    /// Redacts JSON, in which escapes may hide a secret: each string is examined as it will be shown.
    pub(crate) fn decoded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains("\\u") {
            return Cow::Borrowed(text);
        }
        let Ok(mut value) = serde_json::from_str::<Value>(text) else { return Cow::Borrowed(text) };
        if self.strings(&mut value) { Cow::Owned(value.to_string()) } else { Cow::Borrowed(text) }
    }

    /// Redacts the strings of a value. Returns whether any changed.
    fn strings(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Owned(clean) => {
                    *text = clean;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(values) => values.iter_mut().filter_map(|value| self.strings(value).then_some(())).count() > 0,
            Value::Object(members) => {
                members.values_mut().filter_map(|value| self.strings(value).then_some(())).count() > 0
            }
            _ => false,
        }
    }
}
