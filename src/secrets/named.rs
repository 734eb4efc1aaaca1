//! Secrets without a known form, recognized by what precedes them.

use std::ops::Range;

use super::Secret;
use super::rules::is_word;

/// Words in the name of a secret, in any case.
pub(super) const NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "accesskey",
    "accountkey",
    "private_key",
    "credential",
];

/// The maximum length of the rest of a name after such a word.
const MAX_REST: usize = 24;
/// The shortest value that is judged, and the minimum of its longest piece without a dash or dot.
const MIN_VALUE: usize = 16;
const MAX_VALUE: usize = 512;
/// Bits per character. Values below are words or sequences.
const MIN_ENTROPY: f64 = 3.3;

/// `…token = "<value>"`, `"…token": "<value>"`; the name ends at or soon after `end`.
pub(super) fn after_name(text: &[u8], end: usize, known: &mut Range<usize>) -> Option<Secret> {
    let rest = text.get(end..)?;
    let mut at = rest.iter().take(MAX_REST).take_while(|b| is_word(**b)).count();
    at += skip_quote(&rest[at..]);
    let value_member = b",\"value\":";
    let spaces = rest[at..].iter().take(4).take_while(|b| **b == b' ').count();
    if rest[at..].starts_with(value_member) {
        // A line of a breadcrumb store: the key is the name.
        at += value_member.len();
    } else {
        at += spaces;
        let sign = [&b":="[..], b"=>", b"=", b":"].into_iter().find(|sign| rest[at..].starts_with(sign))?;
        at += sign.len();
    }
    at += rest[at..].iter().take(4).take_while(|b| **b == b' ').count();
    at += skip_quote(&rest[at..]);
    value(text, end + at, "a secret by its name", known)
}

pub(super) fn after_bearer(text: &[u8], end: usize, known: &mut Range<usize>) -> Option<Secret> {
    value(text, end, "a bearer token", known)
}

pub(super) fn in_url(text: &[u8], end: usize) -> Option<Secret> {
    let authority = text.get(end..)?;
    let ends =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'#' | b'?');
    let authority = &authority[..authority.iter().take(300).position(ends).unwrap_or(authority.len().min(300))];
    let host = memchr::memrchr(b'@', authority)?;
    let user = memchr::memchr(b':', &authority[..host])?;
    let (name, password) = (&authority[..user], &authority[user + 1..host]);
    let is_variable = password.iter().any(|b| matches!(b, b'$' | b'{' | b'}' | b'*' | b'[' | b']' | b'(' | b')'));
    let is_usual = name.eq_ignore_ascii_case(password)
        || [&b"password"[..], b"passwd", b"pass", b"pwd", b"secret", b"token", b"pw", b"...", b"xxx"]
            .iter()
            .any(|word| password.eq_ignore_ascii_case(word));
    if password.len() < 3 || host + 1 == authority.len() || is_variable || is_usual || is_placeholder(password) {
        return None;
    }
    Some(Secret { what: "a password in a URL", span: end + user + 1..end + host })
}

fn skip_quote(rest: &[u8]) -> usize {
    match rest {
        [b'\\', b'"' | b'\'', ..] => 2,
        [b'"' | b'\'' | b'`', ..] => 1,
        _ => 0,
    }
}

/// `known` is the last run of bytes of values: another start in it must not read the rest of it again.
fn value(text: &[u8], start: usize, what: &'static str, known: &mut Range<usize>) -> Option<Secret> {
    let rest = text.get(start..)?;
    if !known.contains(&start) {
        let belongs = |b: &&u8| is_word(**b) || matches!(**b, b'+' | b'/' | b'=' | b'.' | b'~');
        *known = start..start + rest.iter().take_while(belongs).count();
    }
    let len = known.end - start;
    if len > MAX_VALUE {
        return None;
    }
    let value = &rest[..len];
    // A call, an index, or a path of names is code.
    let is_code = matches!(rest.get(len), Some(b'(' | b'[' | b'{' | b'<' | b':' | b'$'));
    if len < MIN_VALUE || is_code || !is_random(value) || is_placeholder(value) {
        return None;
    }
    Some(Secret { what, span: start..start + len })
}

/// Whether a value has a long piece that mixes letters and digits, unlike words, paths, versions, and UUIDs.
fn is_random(value: &[u8]) -> bool {
    let pieces = value.split(|b| matches!(b, b'.' | b'-' | b'_' | b'/' | b'~' | b'='));
    let longest = pieces.max_by_key(|piece| piece.len()).unwrap_or_default();
    let digits = longest.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = longest.iter().filter(|b| b.is_ascii_alphabetic()).count();
    longest.len() >= MIN_VALUE && digits >= 2 && letters >= 2 && entropy(longest) >= MIN_ENTROPY
}

/// Whether a value is a placeholder: from documentation, masked, or a repeated character.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    for b in value {
        seen[usize::from(*b)] = true;
    }
    if seen.iter().filter(|seen| **seen).count() < 4 {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    [&b"example"[..], b"placeholder", b"redacted", b"your-", b"your_", b"xxxx", b"changeme", b"dummy", b"1234567890"]
        .iter()
        .any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// Bits per byte. Source: Shannon, "A Mathematical Theory of Communication".
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for b in value {
        counts[usize::from(*b)] += 1;
    }
    let total = f64::from(counts.iter().sum::<u32>());
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
#[path = "../../tests/unit/secrets/named.rs"]
mod tests;
