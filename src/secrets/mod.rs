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

use std::io::{self, Read};
use std::ops::Range;
use std::str::FromStr;

use thiserror::Error;

pub(crate) use allow::{Allowed, Fingerprint};
use plain::{plain, separated};

use crate::base::decoded::Decoded;

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
    loop {
        let rest = &text[start..];
        let window =
            Window { text: &rest[..rest.len().min(piece + OVERLAP)], piece, is_last: rest.len() <= piece + OVERLAP };
        let known = found.last().map_or(0, |last| last.span.end.saturating_sub(start));
        let in_text = |Secret { what, span }| Secret { what, span: start + span.start..start + span.end };
        found.extend(window.secrets(known).into_iter().map(in_text));
        if window.is_last {
            return found;
        }
        start += window.next();
    }
}

/// Finds the secrets of a text of any length in bounded memory. Passes each part of the text to `visit` with the secrets that start in it,
/// by their place in the part, and the number of bytes after which the next part starts.
pub(crate) fn find_in(mut text: impl Read, mut visit: impl FnMut(&[u8], Vec<Secret>, usize)) -> io::Result<()> {
    let mut buffer = Vec::new();
    let mut known = 0;
    loop {
        // One more byte shows that the text continues.
        let missing = PIECE + OVERLAP + 1 - buffer.len();
        text.by_ref().take(missing as u64).read_to_end(&mut buffer)?;
        let is_last = buffer.len() <= PIECE + OVERLAP;
        let window = Window { text: &buffer[..buffer.len().min(PIECE + OVERLAP)], piece: PIECE, is_last };
        let (secrets, next) = (window.secrets(known), window.next());
        known = secrets.last().map_or(known, |last| last.span.end).saturating_sub(next);
        visit(window.text, secrets, next);
        if is_last {
            return Ok(());
        }
        buffer.drain(..next);
    }
}

/// A part of a text: a piece, and what follows it so that no secret is cut off.
struct Window<'t> {
    text: &'t [u8],
    piece: usize,
    is_last: bool,
}

impl Window<'_> {
    /// Those that start in the piece, behind the `known` bytes of the last secret.
    fn secrets(&self, mut known: usize) -> Vec<Secret> {
        let mut secrets = find_escaped(self.text);
        secrets.retain(|secret| {
            let is_new = known <= secret.span.start && (secret.span.start < self.piece + REACH || self.is_last);
            known = if is_new { secret.span.end } else { known };
            is_new
        });
        secrets
    }

    /// Where the next one starts. A line belongs to one piece, unless it is long.
    fn next(&self) -> usize {
        let own = &self.text[..self.text.len().min(self.piece)];
        if self.is_last {
            return self.text.len();
        }
        let end_of_line = memchr::memrchr(b'\n', own).filter(|end| end * 2 > self.piece);
        // A character belongs to one piece, too.
        let starts = |at: &usize| !matches!(self.text[*at], 0x80..0xc0);
        let character = || (self.piece - 3..=self.piece).rev().find(starts).unwrap_or(self.piece);
        end_of_line.map_or_else(character, |end| end + 1)
    }
}

/// Finds the secrets of a text with escapes, in order and without overlaps.
fn find_escaped(text: &[u8]) -> Vec<Secret> {
    let Some(plain) = plain(text) else { return rules::find(text) };
    let find = |plain: &Decoded| {
        let in_text = |Secret { what, span }| Secret { what, span: plain.in_source(&span) };
        rules::find(&plain.text).into_iter().map(in_text).collect()
    };
    let mut secrets: Vec<_> = find(&plain);
    if let Some(separated) = separated(text, &plain) {
        secrets.extend(find(&separated));
        secrets.sort_by_key(|secret| secret.span.start);
        secrets.dedup_by(|next, last| {
            let overlaps = next.span.start < last.span.end;
            last.span.end = if overlaps { last.span.end.max(next.span.end) } else { last.span.end };
            overlaps
        });
    }
    secrets
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
