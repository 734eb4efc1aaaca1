//! Secrets with a distinct form: private keys, web tokens, and secrets encoded in base64.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::Secret;
use super::forms::{Form, of_form};
use super::random;
use super::runs::{Class, Runs, is_word, starts_a_word};

pub(super) const PEM: &str = "-----BEGIN ";
pub(super) const PUTTY: &str = "Private-Lines: ";

pub(super) const MAX_KEY_LEN: usize = 16 * 1024;
/// The part of a text in base64 that is decoded.
const MAX_ENCODED: usize = 512;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The first line alone, as in documentation, is not a key.
pub(super) fn private_key(text: &[u8], at: usize) -> Option<Secret> {
    let window = text.get(at..text.len().min(at + MAX_KEY_LEN))?;
    if !window.starts_with(PEM.as_bytes()) {
        return None;
    }
    let head = &window[..window.len().min(64)];
    let head_len = memchr::memmem::find(head, b"PRIVATE KEY")? + b"PRIVATE KEY".len();
    let body = &window[head_len..];
    // No key contains the start of another one, which is judged for itself. So each byte belongs to one body.
    let body = &body[..memchr::memmem::find(body, PEM.as_bytes()).unwrap_or(body.len())];
    let end = memchr::memmem::find(body, b"-----END ");
    let inside = &body[..end.unwrap_or(body.len())];
    let longest = inside.split(|b| !is_key(*b)).map(<[u8]>::len).max().unwrap_or(0);
    if longest < 40 || random::is_placeholder(inside) {
        return None;
    }
    let len = match end {
        Some(end) => {
            let last = &body[end..];
            let line = memchr::memmem::find(&last[..last.len().min(80)], b"KEY-----").map(|at| at + 8);
            end + line.or_else(|| memchr::memmem::find(last, b" BLOCK-----").map(|at| at + 11)).unwrap_or(9)
        }
        // Cut off: what looks like the key belongs to it.
        None => body.iter().take_while(|b| is_key(**b) || matches!(**b, b'-' | b' ' | b':')).count(),
    };
    Some(Secret { what: "a private key", span: at..at + head_len + len })
}

fn is_key(b: u8) -> bool {
    Class::Base64.has(b) || matches!(b, b'\\' | b'\n' | b'\r')
}

/// The private lines of a key of `PuTTY`: their number, then base64.
pub(super) fn putty_key(text: &[u8], at: usize) -> Option<Secret> {
    let digits = text[at..].iter().take(4).take_while(|b| b.is_ascii_digit()).count();
    let start = at + digits + text[at + digits..].iter().take(2).take_while(|b| matches!(b, b'\r' | b'\n')).count();
    let lines = &text[start..text.len().min(start + MAX_KEY_LEN)];
    let len = lines.iter().take_while(|b| is_key(**b)).count();
    let len = lines[..len].iter().rposition(|b| *b == b'\n').unwrap_or(len);
    (digits > 0 && len >= 40).then_some(Secret { what: "a private key", span: start..start + len })
}

/// Three parts. The first two are JSON in base64.
pub(super) fn web_token(text: &[u8], at: usize) -> Option<Secret> {
    let run = |from: usize| text[from..].iter().take_while(|b| is_word(**b)).count();
    if !text[at..].starts_with(b"eyJ") || !starts_a_word(text, at) {
        return None;
    }
    let first = at + run(at);
    let second = text.get(first..first + 4).filter(|next| *next == b".eyJ").map(|_| first + 1)?;
    let second_end = second + run(second);
    text.get(second_end).filter(|b| **b == b'.')?;
    let end = second_end + 1 + run(second_end + 1);
    let is_token = first - at >= 12 && second_end - second >= 12 && end - second_end > 16;
    is_token.then_some(Secret { what: "a JSON web token", span: at..end })
}

/// The first part of Discord's tokens is a number in base64, the second has six characters.
pub(super) fn discord_token(runs: &mut Runs<'_>, dot: usize) -> Option<Secret> {
    let text = runs.text;
    text.get(dot + 7).filter(|b| **b == b'.')?;
    let len = text[..dot].iter().rev().take(30).take_while(|b| is_word(**b)).count();
    let (start, last) = (dot - len, runs.run(Class::Word, dot + 8));
    let is_number = |id: Vec<u8>| id.len() >= 17 && id.iter().all(u8::is_ascii_digit);
    let is_token = (24..=28).contains(&len)
        && (27..=40).contains(&last.len())
        && text[dot + 1..dot + 7].iter().all(|b| is_word(*b))
        && LENIENT.decode(&text[start..dot]).is_ok_and(is_number);
    is_token.then(|| Secret { what: "a Discord token", span: start..dot + 8 + last.len() })
}

/// The beginning of `word` in base64, as far as the rest of the text does not change it.
pub(super) fn encoded(word: &str) -> String {
    let mut encoded = LENIENT.encode(word);
    encoded.truncate(word.len() * 8 / 6);
    encoded
}

/// A token or private key in base64, as in secrets of Kubernetes.
pub(super) fn in_base64(runs: &mut Runs<'_>, at: usize, form: Option<(&Form, &str)>) -> Option<Secret> {
    let text = runs.text;
    if at.checked_sub(1).is_some_and(|before| Class::Base64.has(text[before]) && text[before] != b'=') {
        return None;
    }
    let run = runs.run(Class::Base64, at);
    let plain = decode(run)?;
    let inner = match form {
        Some((form, word)) => of_form(&mut Runs::new(&plain), form, word, 0)?,
        None => private_key(&plain, 0)?,
    };
    Some(Secret { what: inner.what, span: at..at + run.len() })
}

/// `user:password` in base64, as in headers and in Docker's settings.
pub(super) fn login(runs: &mut Runs<'_>, at: usize) -> Option<Secret> {
    let run = runs.run(Class::Base64, at);
    let plain = decode(run)?;
    let colon = memchr::memchr(b':', &plain)?;
    let password = plain[colon + 1..].trim_ascii_end();
    let is_login =
        password.len() >= 4 && plain.iter().all(|b| matches!(b, b' '..=b'~' | b'\n')) && run.len() <= MAX_ENCODED;
    (is_login && !random::stands_for_a_value(password))
        .then(|| Secret { what: "a login in base64", span: at..at + run.len() })
}

fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let run = &run[..run.len().min(MAX_ENCODED)];
    let run = &run[..memchr::memchr(b'=', run).unwrap_or(run.len())];
    LENIENT.decode(run).ok().filter(|plain| plain.len() >= 6)
}
