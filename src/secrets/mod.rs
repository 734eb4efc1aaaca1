//! Finds secrets in text: keys, tokens, and passwords.
//!
//! Secrets in a form of their issuer (`ghp_…`, a private key, a JSON web token) are found anywhere. Other values are found if they
//! follow a telling name (`api_key = "…"`, `Bearer …`, `https://user:…@host`) and look random, or like a password if that is the
//! name. Nothing else is reported: a false alarm costs more than it saves.
//!
//! - A finding never holds the secret, only its position and a [`Fingerprint`], by which it can be allowed.
//! - Color codes and escapes are decoded first ([`plain`]).
//! - The text is read once to find prefixes and names; all rules look only there.

mod allow;
mod blocks;
mod command;
mod forms;
mod named;
mod plain;
mod random;
mod rules;
mod runs;

use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

pub(crate) use allow::{Allowed, Fingerprint};
use plain::plain;

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

/// The number of bytes that are read at once, which bounds the memory of a scan.
const PIECE: usize = 1 << 20;
/// The distance from a name to the end of its value; and the bytes that are read in addition so that no secret is cut off.
const REACH: usize = 1024;
const OVERLAP: usize = REACH + 2 * blocks::MAX_KEY_LEN;

/// Finds the secrets of a text, in order and without overlaps. Takes linear time.
///
/// Examples and placeholders (`<token>`, `${TOKEN}`, `xxxx`) are not secrets.
pub(crate) fn find(text: &[u8]) -> Vec<Secret> {
    find_by_pieces(text, PIECE)
}

fn find_by_pieces(text: &[u8], piece: usize) -> Vec<Secret> {
    let mut found: Vec<Secret> = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = &text[start..];
        let window = &rest[..rest.len().min(piece + OVERLAP)];
        let plain = plain(window);
        for Secret { what, span } in rules::find(plain.as_ref().map_or(window, |plain| &plain.text)) {
            let span = plain.as_ref().map_or_else(|| span.clone(), |plain| plain.in_source(&span));
            let (from, to) = (start + span.start, start + span.end);
            let is_new = found.last().is_none_or(|last| last.span.end <= from);
            if is_new && (span.start < piece + REACH || window.len() == rest.len()) {
                found.push(Secret { what, span: from..to });
            }
        }
        if window.len() == rest.len() {
            break;
        }
        // A line belongs to one piece, unless it is long.
        start += memchr::memrchr(b'\n', &window[..piece]).filter(|end| end * 2 > piece).map_or(piece, |end| end + 1);
    }
    found
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

#[cfg(test)]
#[path = "../../tests/unit/secrets/pieces.rs"]
mod tests;
