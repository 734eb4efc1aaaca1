//! Removing possible secrets from a page.

use std::borrow::Cow;
use std::cell::Cell;

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
}
