//! Finds secrets in text: keys, tokens, and passwords.
//!
//! Secrets in a form of their issuer (`ghp_…`, a private key, a JSON web token) are found anywhere. Other values are found if they
//! look random and follow a telling name (`api_key = "…"`, `Bearer …`, `https://user:…@host`). Nothing else is reported: a false
//! alarm costs more than it saves.
//!
//! - A finding never holds the secret, only its position and a [`Fingerprint`], by which it can be allowed.
//! - One pass over the text finds prefixes and names; all rules look only there.

mod allow;
mod named;
mod rules;

use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

pub(crate) use allow::{Allowed, Fingerprint};
pub(crate) use rules::find;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Secret {
    /// Its kind: `a GitHub token`.
    pub(crate) what: &'static str,
    /// Its bytes; in a URL or a setting only the value.
    pub(crate) span: Range<usize>,
}

impl Secret {
    pub(crate) fn fingerprint(&self, text: &[u8]) -> Fingerprint {
        Fingerprint::of(text.get(self.span.clone()).unwrap_or_default())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    Off,
    Warn,
    Redact,
    Refuse,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("`warn`, `refuse`, `redact` or `off` is expected")]
pub(crate) struct BadPolicy;

impl FromStr for Policy {
    type Err = BadPolicy;

    fn from_str(text: &str) -> Result<Self, BadPolicy> {
        Ok(match text {
            "warn" => Self::Warn,
            "refuse" => Self::Refuse,
            "redact" => Self::Redact,
            // Git's short forms of no.
            "off" | "false" | "no" | "0" => Self::Off,
            _ => return Err(BadPolicy),
        })
    }
}

/// Replaces each of `secrets` by a note without a quote, backslash, or line end, so that JSON remains valid.
pub(crate) fn redact(text: &[u8], secrets: &[Secret]) -> Vec<u8> {
    let mut redacted = Vec::with_capacity(text.len());
    let mut rest = 0;
    for Secret { what, span } in secrets {
        redacted.extend(text.get(rest..span.start).unwrap_or_default());
        redacted.extend(format!("[redacted: {what}]").bytes());
        rest = span.end;
    }
    redacted.extend(text.get(rest..).unwrap_or_default());
    redacted
}
