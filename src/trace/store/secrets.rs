//! Detection of secrets in items before they are committed.
//!
//! Scans the body, the subject, and the strings in `meta`. The setting `trace.secrets` decides what happens to a secret; without
//! it, the caller's default applies.

use std::cell::OnceCell;
use std::fmt;

use serde_json::Value;

use super::settings::{allowed_secrets, secrets_policy};
use crate::git::{GitError, Repo};
use crate::secrets::{self, Allowed, Fingerprint, Policy, Secret};
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
    /// Scans what a user commits. Without a setting, secrets only cause warnings.
    pub(crate) fn scan_for_secrets(
        &self,
        fields: &mut Fields,
        body: &mut Vec<u8>,
        subject: Option<&mut String>,
    ) -> Result<(), TraceError> {
        for found in SecretScanner::new(self.repo(), Policy::Warn).scan(fields, body, subject)? {
            self.warn(&found.to_string());
        }
        Ok(())
    }

    /// As [`Self::scan_for_secrets`], for a text that is no item.
    pub(crate) fn scan_text_for_secrets(&self, text: &mut String) -> Result<(), TraceError> {
        for found in SecretScanner::new(self.repo(), Policy::Warn).scan_text(text)? {
            self.warn(&found.to_string());
        }
        Ok(())
    }
}

impl<'r> SecretScanner<'r> {
    pub(crate) fn new(repo: &'r Repo, default: Policy) -> Self {
        Self { repo, default, settings: OnceCell::new() }
    }

    /// Scans an item, and removes its secrets if that is the policy, with a signature of the removed text. Secrets of the subject
    /// are not reported, since it usually repeats the body.
    pub(crate) fn scan(
        &self,
        fields: &mut Fields,
        body: &mut Vec<u8>,
        subject: Option<&mut String>,
    ) -> Result<Vec<Found>, TraceError> {
        let mut found = Vec::new();
        if let Some(clean) = self.redacted(body, &mut found)? {
            *body = clean;
            fields.signature = None;
        }
        for value in fields.meta.values_mut() {
            self.scan_value(value, &mut found)?;
        }
        if let Some(subject) = subject {
            self.scan_string(subject, &mut Vec::new())?;
        }
        Ok(found)
    }

    fn scan_value(&self, value: &mut Value, found: &mut Vec<Found>) -> Result<(), TraceError> {
        match value {
            Value::String(text) => self.scan_string(text, found),
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.scan_value(value, found)),
            Value::Object(members) => members.values_mut().try_for_each(|value| self.scan_value(value, found)),
            _ => Ok(()),
        }
    }

    /// Scans a text that is no item, such as the reason for a change.
    pub(crate) fn scan_text(&self, text: &mut String) -> Result<Vec<Found>, TraceError> {
        let mut found = Vec::new();
        self.scan_string(text, &mut found)?;
        Ok(found)
    }

    fn scan_string(&self, text: &mut String, found: &mut Vec<Found>) -> Result<(), TraceError> {
        if let Some(clean) = self.redacted(text.as_bytes(), found)? {
            *text = String::from_utf8_lossy(&clean).into_owned();
        }
        Ok(())
    }

    fn redacted(&self, text: &[u8], found: &mut Vec<Found>) -> Result<Option<Vec<u8>>, TraceError> {
        let secrets = secrets::find(text);
        if secrets.is_empty() {
            return Ok(None);
        }
        let (policy, allowed) = self.settings()?;
        if *policy == Policy::Off {
            return Ok(None);
        }
        let secrets = allowed.others(text, secrets);
        let fingerprint = |secret: &Secret| secret.fingerprint(text);
        if let (Policy::Refuse, Some(first)) = (policy, secrets.first()) {
            return Err(TraceError::Secret { what: first.what, fingerprint: fingerprint(first) });
        }
        found.extend(secrets.iter().map(|secret| Found {
            what: secret.what,
            fingerprint: fingerprint(secret),
            policy: *policy,
        }));
        Ok((*policy == Policy::Redact && !secrets.is_empty()).then(|| secrets::redact(text, &secrets)))
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
