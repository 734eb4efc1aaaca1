//! Secrets in texts: keys, tokens and passwords that should not be where others read them.
//!
//! Two sorts are told. What its issuer gave a form of its own (`ghp_…`, a private key, a JSON web token) is told wherever
//! it stands. A value without a form is told where it looks random and what stands before it gives it away
//! (`api_key = "…"`, `Bearer …`, `https://user:…@host`). All else is left alone: a false alarm costs more than it saves.
//!
//! - A finding never holds the secret, only where it is and a [`Fingerprint`], by which it can be allowed.
//! - One pass over the text finds what starts or names a secret; all rules look only there.

mod allow;
mod named;
mod rules;

use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

pub(crate) use allow::{Allowed, Fingerprint};
pub(crate) use rules::find;

/// A secret in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Secret {
    /// What it looks like, as people call it: `a GitHub token`.
    pub(crate) what: &'static str,
    /// Where it stands, in bytes; of a URL or a setting only the value.
    pub(crate) span: Range<usize>,
}

impl Secret {
    /// What it is known by in the list of those that are allowed.
    pub(crate) fn fingerprint(&self, text: &[u8]) -> Fingerprint {
        Fingerprint::of(text.get(self.span.clone()).unwrap_or_default())
    }
}

/// What is done about a secret: the setting `trace.secrets`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    /// Nothing; it is not looked for.
    Off,
    /// It is said.
    Warn,
    /// It is taken out, and that is said.
    Redact,
    /// What holds it is refused.
    Refuse,
}

/// A text that is no policy.
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

/// `text` with a note in the place of each of `secrets`, which are those that were found in it.
///
/// The note has no quote, backslash or line end, so JSON stays JSON and a line one line.
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
