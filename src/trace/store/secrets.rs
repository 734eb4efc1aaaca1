//! Looking for secrets in what comes into a trace.
//!
//! The text, the subject and the strings of `meta` are looked through. What the setting `trace.secrets` says is done about
//! them; where it says nothing, what the caller does by default.

use std::cell::OnceCell;
use std::fmt;

use serde_json::Value;

use super::settings::{allowed_secrets, secrets_policy};
use crate::git::{GitError, Repo};
use crate::secrets::{self, Allowed, Fingerprint, Policy, Secret};
use crate::trace::error::TraceError;
use crate::trace::model::item::Fields;

/// Looks through items; settings are read when the first secret is found.
pub(crate) struct SecretScanner<'r> {
    repo: &'r Repo,
    default: Policy,
    settings: OnceCell<(Policy, Allowed)>,
}

/// A secret that was found in an item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// What it looks like: `a GitHub token`.
    pub what: &'static str,
    pub fingerprint: Fingerprint,
    /// What was done about it: [`Policy::Warn`], that is nothing, or [`Policy::Redact`].
    pub policy: Policy,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, fingerprint, policy } = self;
        match policy {
            Policy::Redact => write!(f, "{what} was taken out"),
            _ => write!(
                f,
                "warning: the item holds what looks like {what}; if it is none: \
                 git config --add trace.allowSecret {fingerprint}"
            ),
        }
    }
}

impl<'r> SecretScanner<'r> {
    /// A screen with what is done where `trace.secrets` says nothing.
    #[must_use]
    pub(crate) fn new(repo: &'r Repo, default: Policy) -> Self {
        Self { repo, default, settings: OnceCell::new() }
    }

    /// Looks through an item, and takes secrets out where that is the policy. A signature of what is not there any more goes
    /// as well, and so does the subject's own secret.
    pub(crate) fn look(
        &self,
        fields: &mut Fields,
        body: &mut Vec<u8>,
        subject: Option<&mut String>,
    ) -> Result<Vec<Found>, TraceError> {
        let mut found = Vec::new();
        if let Some(clean) = self.text(body, &mut found)? {
            *body = clean;
            fields.signature = None;
        }
        for value in fields.meta.values_mut() {
            self.value(value, &mut found)?;
        }
        if let Some(subject) = subject
            && let Some(clean) = self.text(subject.as_bytes(), &mut Vec::new())?
        {
            *subject = String::from_utf8_lossy(&clean).into_owned();
        }
        Ok(found)
    }

    fn value(&self, value: &mut Value, found: &mut Vec<Found>) -> Result<(), TraceError> {
        match value {
            Value::String(text) => {
                if let Some(clean) = self.text(text.as_bytes(), found)? {
                    *text = String::from_utf8_lossy(&clean).into_owned();
                }
                Ok(())
            }
            Value::Array(values) => values.iter_mut().try_for_each(|value| self.value(value, found)),
            Value::Object(members) => members.values_mut().try_for_each(|value| self.value(value, found)),
            _ => Ok(()),
        }
    }

    /// Looks through a text; gives it without its secrets where these are taken out.
    fn text(&self, text: &[u8], found: &mut Vec<Found>) -> Result<Option<Vec<u8>>, TraceError> {
        let secrets = secrets::find(text);
        if secrets.is_empty() {
            return Ok(None);
        }
        let (policy, allowed) = self.settings()?;
        if *policy == Policy::Off {
            return Ok(None);
        }
        let secrets = allowed.others(text, secrets);
        let described =
            |secret: &Secret| Found { what: secret.what, fingerprint: secret.fingerprint(text), policy: *policy };
        if let (Policy::Refuse, Some(first)) = (policy, secrets.first()) {
            let Found { what, fingerprint, .. } = described(first);
            return Err(TraceError::Secret { what, fingerprint });
        }
        found.extend(secrets.iter().map(described));
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
