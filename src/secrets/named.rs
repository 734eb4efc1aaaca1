//! Secrets without a known form, recognized by what precedes them.

use super::Secret;
use super::blocks;
use super::random::{is_password, is_placeholder, is_punctuated, is_random, is_uuid, stands_for_a_value};
use super::runs::{Class, Runs, is_word};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Random values.
    Random,
    /// Random values, and UUIDs.
    Key,
    /// Random values, and short ones with digits or signs.
    Password,
    /// `user:password` in base64.
    Login,
}

pub(super) struct Name {
    pub(super) word: &'static str,
    kind: Kind,
    /// Whether it is a secret's name only as a complete word, in which case may separate words: `dbPass`.
    is_word: bool,
}

const fn part(word: &'static str, kind: Kind) -> Name {
    Name { word, kind, is_word: false }
}

const fn word(word: &'static str, kind: Kind) -> Name {
    Name { word, kind, is_word: true }
}

/// Words in the name of a secret, in any case.
pub(super) const NAMES: &[Name] = &[
    part("password", Kind::Password),
    part("passwd", Kind::Password),
    part("passphrase", Kind::Password),
    word("pwd", Kind::Password),
    word("pass", Kind::Password),
    part("identified by", Kind::Password),
    part("storepass", Kind::Password),
    part("convertto-securestring", Kind::Password),
    part("secret", Kind::Key),
    part("token", Kind::Random),
    part("authtoken", Kind::Key),
    part("snyk_token", Kind::Key),
    part("codecov_token", Kind::Key),
    part("railway_token", Kind::Key),
    part("apikey", Kind::Key),
    part("api_key", Kind::Key),
    part("api-key", Kind::Key),
    part("auth-key", Kind::Random),
    part("subscription-key", Kind::Key),
    part("access_key", Kind::Key),
    part("accesskey", Kind::Key),
    part("accountkey", Kind::Random),
    part("account_key", Kind::Random),
    part("storage_key", Kind::Random),
    part("private_key", Kind::Random),
    part("privatekey", Kind::Random),
    part("presharedkey", Kind::Random),
    part("encryption_key", Kind::Random),
    part("signing_key", Kind::Random),
    part("master_key", Kind::Random),
    part("credential", Kind::Random),
    part("authorization", Kind::Random),
    word("sig", Kind::Random),
    word("auth", Kind::Login),
];

/// Words in a name after which the value is no secret: `secret_name`, `token_count`, `password_hash`.
const REST_OF_OTHERS: [&str; 49] = [
    "id",
    "ids",
    "name",
    "names",
    "path",
    "file",
    "stdin",
    "url",
    "uri",
    "arn",
    "ref",
    "count",
    "counts",
    "type",
    "kind",
    "len",
    "length",
    "size",
    "limit",
    "budget",
    "usage",
    "ttl",
    "expiry",
    "expires",
    "version",
    "hash",
    "digest",
    "fingerprint",
    "checksum",
    "field",
    "header",
    "label",
    "prefix",
    "endpoint",
    "policy",
    "encryption",
    "algorithm",
    "index",
    "position",
    "min",
    "max",
    "at",
    "in",
    "error",
    "code",
    "last",
    "ciphertext",
    "signature",
    // `secretsmanager`
    "smanager",
];

/// Words before `token` that make it a mark of a place or a public value.
const START_OF_OTHERS: [&str; 13] = [
    "page",
    "next",
    "continuation",
    "starting",
    "cursor",
    "csrf",
    "xsrf",
    "public",
    "sync",
    "cancellation",
    "special",
    "pad",
    "per",
];

/// The maximum length of the rest of a name after such a word.
const MAX_REST: usize = 24;
/// The shortest value that is judged by its randomness.
const MIN_VALUE: usize = 16;
const MAX_VALUE: usize = 512;
/// Longer ones are encrypted.
const MAX_PASSWORD: usize = 128;

/// `…token = "<value>"`, `"…token": "<value>"`, `<token>value<`, `--token value`; the word is at `at`.
pub(super) fn after_name(runs: &mut Runs<'_>, name: &Name, at: usize) -> Option<Secret> {
    let text = runs.text;
    let end = at + name.word.len();
    let before = before(text, at);
    let rest = &text[end..end + text[end..].iter().take(MAX_REST).take_while(|b| is_word(**b)).count()];
    if name.is_word && (continues(text, at) || rest.iter().any(|b| !matches!(b, b'_' | b'0'..=b'9'))) {
        return None;
    }
    if words_of(rest).any(|word| REST_OF_OTHERS.contains(&&*word))
        || words_of(before).last().is_some_and(|word| START_OF_OTHERS.contains(&&*word))
    {
        return None;
    }
    if text[..at - before.len()].ends_with(b"::") && matches!(text.get(end + rest.len()), Some(b'"' | b'\'')) {
        // `"AWS::AppSync::ApiKey": "…"`
        return None;
    }
    let sign = Sign::read(text, end + rest.len(), name, before)?;
    if name.kind == Kind::Login {
        return blocks::login(runs, sign.value);
    }
    // In code, a value without quotes that has the name is another variable.
    let has_name =
        |value: &[u8]| value.windows(name.word.len()).any(|part| part.eq_ignore_ascii_case(name.word.as_bytes()));
    value(runs, name.kind, &sign)
        .filter(|secret| !(sign.is_loose && sign.quote.is_none() && has_name(&text[secret.span.clone()])))
}

pub(super) fn after_bearer(runs: &mut Runs<'_>, at: usize) -> Option<Secret> {
    let sign = Sign { value: at, quote: None, is_loose: false, is_element: false, is_list: false };
    value(runs, Kind::Random, &sign).map(|secret| Secret { what: "a bearer token", ..secret })
}

/// The part of the name before the word.
fn before(text: &[u8], at: usize) -> &[u8] {
    let len = text[..at].iter().rev().take(MAX_REST).take_while(|b| is_word(**b)).count();
    &text[at - len..at]
}

/// Whether a word continues at `at`.
fn continues(text: &[u8], at: usize) -> bool {
    let is_hump = |last: u8| text[at].is_ascii_uppercase() && !last.is_ascii_uppercase();
    at.checked_sub(1).is_some_and(|last| text[last].is_ascii_alphanumeric() && !is_hump(text[last]))
}

/// The words of a name, in lower case: `nextPage_token` has three.
fn words_of(name: &[u8]) -> impl Iterator<Item = String> {
    let chunks = name.chunk_by(|last, next| {
        let is_separator = |b: &u8| matches!(b, b'_' | b'-');
        is_separator(last) == is_separator(next) && !(last.is_ascii_lowercase() && next.is_ascii_uppercase())
    });
    let word = |chunk: &[u8]| String::from_utf8_lossy(chunk).to_ascii_lowercase();
    chunks.map(word).filter(|word| !word.starts_with(['_', '-']))
}

/// The characters between a name and its value.
struct Sign {
    /// Where the value starts.
    value: usize,
    quote: Option<u8>,
    /// Spaces around `=`: code, where a value without quotes is a variable.
    is_loose: bool,
    /// `<name>value</name>`
    is_element: bool,
    /// `"name", "value"`, which may also be two values.
    is_list: bool,
}

impl Sign {
    fn read(text: &[u8], mut at: usize, name: &Name, before: &[u8]) -> Option<Self> {
        let start = at;
        let spaces = |at: usize| text[at..].iter().take(4).take_while(|b| **b == b' ').count();
        let closing = text[at..].iter().take(2).take_while(|b| matches!(b, b'"' | b'\'' | b'`' | b']')).count();
        let ends_quote = closing > 0;
        at += closing;
        let gap = spaces(at);
        let rest = &text[at + gap..];
        let starts = |sign: &str| rest.starts_with(sign.as_bytes());
        let mut is_loose = false;
        let mut is_element = false;
        let mut is_list = false;
        let mut needs_quote = false;
        if ends_quote && (starts(",") || starts("value=")) {
            // An argument after the name, a member after it, as in the lines of a breadcrumb store, or an attribute.
            at += gap + if starts(",") { 1 } else { 6 };
            at += spaces(at);
            let is_member = text[at..].starts_with(b"\"value\":");
            at += if is_member { 8 } else { 0 };
            is_list = rest[0] == b',' && !is_member && !is_definition(text, start);
            needs_quote = true;
        } else if !ends_quote && gap == 0 && starts(">") {
            (at, is_element) = (at + 1, true);
        } else if !ends_quote && gap == 0 && starts("(") && !name.is_word {
            (at, needs_quote) = (at + 1, true);
        } else if let Some(sign) = [":=", "=>", "=", "?:", ":"].into_iter().find(|sign| starts(sign)) {
            at += gap + sign.len();
            is_loose = gap > 0 && sign != ":";
            if sign.ends_with(':') {
                at += annotation(&text[at..]);
            }
        } else if gap > 0 && !ends_quote && is_sql(name) && matches!(rest.first(), Some(b'\'' | b'"')) {
            // `ALTER ROLE app PASSWORD '…'`
            at += gap;
        } else if gap > 0 && is_option(before, name) || is_netrc(text, at, name) {
            at += text[at..].iter().take(8).take_while(|b| b.is_ascii_whitespace()).count();
        } else {
            return None;
        }
        at += spaces(at);
        if name.word == "authorization" {
            // `Authorization: Token <value>`
            let scheme = text[at..].iter().take(16).take_while(|b| b.is_ascii_alphabetic()).count();
            at += if scheme > 0 && text.get(at + scheme) == Some(&b' ') { scheme + 1 } else { 0 };
        }
        // `b"…"`, `@"…"`
        let is_quote = |at: usize| text.get(at).is_some_and(|b| matches!(b, b'"' | b'\'' | b'`'));
        if text.get(at).is_some_and(|b| matches!(b, b'b' | b'r' | b'f' | b'@')) && is_quote(at + 1) {
            at += 1;
        }
        let quote = is_quote(at).then(|| text[at]);
        at += usize::from(quote.is_some());
        (quote.is_some() || !needs_quote).then_some(Self { value: at, quote, is_loose, is_element, is_list })
    }
}

/// The length of ` str =` before a value in quotes.
fn annotation(rest: &[u8]) -> usize {
    let is_type = |b: &&u8| {
        b.is_ascii_alphanumeric() || matches!(b, b' ' | b'_' | b'.' | b'&' | b'[' | b']' | b'<' | b'>' | b'|')
    };
    let len = rest.iter().take(40).take_while(is_type).count();
    let is_type = rest[..len].ends_with(b" ") && matches!(&rest[len..], [b'=', b' ', b'"' | b'\'', ..]);
    if is_type { len + 1 } else { 0 }
}

/// `define('DB_PASSWORD', 'VALUE')`; the name ends at `end`.
fn is_definition(text: &[u8], end: usize) -> bool {
    let name = &text[end.saturating_sub(2 * MAX_REST)..end];
    let len = name.iter().rev().take_while(|b| is_word(**b)).count();
    let before = &name[..name.len() - len];
    before
        .strip_suffix(b"'")
        .or(before.strip_suffix(b"\""))
        .is_some_and(|before| before.trim_ascii_end().ends_with(b"define("))
}

/// Whether a value in quotes may follow without a sign.
fn is_sql(name: &Name) -> bool {
    name.kind == Kind::Password && !name.is_word
}

/// `--token VALUE`, `-storepass VALUE`, `aws configure set aws_secret_access_key VALUE`, `ngrok config add-authtoken VALUE`
fn is_option(before: &[u8], name: &Name) -> bool {
    let dashes = if name.kind == Kind::Password { &b"-"[..] } else { b"--" };
    before.starts_with(dashes) || before == b"aws_secret_" || before == b"add-"
}

/// `login NAME password VALUE`
fn is_netrc(text: &[u8], at: usize, name: &Name) -> bool {
    let before = &text[at.saturating_sub(96)..at];
    name.word == "password"
        && text.get(at).is_some_and(u8::is_ascii_whitespace)
        && memchr::memmem::find(before, b"login ").is_some()
        && memchr::memmem::find(before, b"machine ").is_some()
}

fn value(runs: &mut Runs<'_>, kind: Kind, sign: &Sign) -> Option<Secret> {
    let text = runs.text;
    let start = sign.value;
    let quoted = sign.quote.and_then(|quote| {
        let line = &text[start..text.len().min(start + MAX_VALUE)];
        let end = memchr::memchr2(quote, b'\n', line)?;
        (line[end] == quote).then(|| &line[..end])
    });
    let run = runs.run(Class::Path, start);
    let secret = |what, len: usize| Some(Secret { what, span: start..start + len });
    let max = if kind == Kind::Password { MAX_PASSWORD } else { MAX_VALUE };
    // A call, an index, or a path of names is code.
    let next = text.get(start + run.len());
    let is_code = match next {
        Some(b':') => text.get(start + run.len() + 1) == Some(&b':'),
        Some(b'<') => !sign.is_element,
        _ => matches!(next, Some(b'(' | b'[' | b'{' | b'$')),
    };
    if (MIN_VALUE..=max).contains(&run.len()) && !is_code {
        let is_id = kind == Kind::Key && is_uuid(run) && next != Some(&b':');
        if (is_random(run) || is_id) && !is_placeholder(run) && !run.ends_with(b"...") {
            return secret("a secret by its name", run.len());
        }
    }
    if let Some(value) =
        quoted.filter(|value| is_punctuated(value) && !is_placeholder(value) && !stands_for_a_value(value))
    {
        return secret("a secret by its name", value.len());
    }
    if kind != Kind::Password || sign.is_list {
        return None;
    }
    if sign.is_element {
        let value = &text[start..text.len().min(start + MAX_PASSWORD)];
        let value = &value[..memchr::memmem::find(value, b"</")?];
        return is_password(value, true).then(|| secret("a password by its name", value.len()))?;
    }
    let password = match quoted {
        Some(value) => value,
        None => {
            let run = runs.run(Class::Password, start);
            let next = text.get(start + run.len());
            let is_argument = run.ends_with(b")") || next == Some(&b',') && run.iter().all(u8::is_ascii_alphanumeric);
            if sign.is_loose && run.iter().all(|b| is_word(*b)) || is_argument {
                return None;
            }
            run
        }
    };
    is_password(password, quoted.is_some()).then(|| secret("a password by its name", password.len()))?
}

pub(super) fn in_url(text: &[u8], end: usize) -> Option<Secret> {
    let authority = text.get(end..)?;
    let ends =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'#' | b'?');
    let authority = &authority[..authority.iter().take(300).position(ends).unwrap_or(authority.len().min(300))];
    let host = memchr::memrchr(b'@', authority)?;
    let user = memchr::memchr(b':', &authority[..host])?;
    let (name, password) = (&authority[..user], &authority[user + 1..host]);
    (host + 1 < authority.len() && is_login(name, password))
        .then(|| Secret { what: "a password in a URL", span: end + user + 1..end + host })
}

/// Whether the password beside a user's name is one, not a variable or a usual word.
pub(super) fn is_login(name: &[u8], password: &[u8]) -> bool {
    let is_variable = stands_for_a_value(password)
        || password.iter().any(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'"'));
    let is_usual = name.eq_ignore_ascii_case(password)
        || [&b"password"[..], b"passwd", b"pass", b"pwd", b"secret", b"token", b"pw", b"...", b"xxx"]
            .iter()
            .any(|word| password.eq_ignore_ascii_case(word));
    password.len() >= 3 && !is_variable && !is_usual && !is_placeholder(password)
}

#[cfg(test)]
#[path = "../../tests/unit/secrets/named.rs"]
mod tests;
