//! Secrets with a known form, and the pass that finds where the rules look.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

use super::Secret;
use super::named::{self, NAMES};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// Letters, digits, `_` and `-`.
    Word,
    Alnum,
    Capitals,
    /// As `Word`, with dots.
    Dotted,
}

impl Tail {
    fn has(self, b: u8) -> bool {
        match self {
            Self::Word => is_word(b),
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Capitals => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Dotted => is_word(b) || b == b'.',
        }
    }
}

/// The kind, the prefix, what follows, and its minimum length.
const FORMS: [(&str, &str, Tail, usize); 42] = [
    ("an AWS access key", "AKIA", Tail::Capitals, 16),
    ("an AWS access key", "ASIA", Tail::Capitals, 16),
    ("an Anthropic key", "sk-ant-", Tail::Word, 20),
    ("an OpenAI key", "sk-proj-", Tail::Word, 20),
    ("an OpenAI key", "sk-svcacct-", Tail::Word, 20),
    ("an OpenAI key", "sk-admin-", Tail::Word, 20),
    ("an OpenAI key", "sk-", Tail::Alnum, 48),
    ("an OpenRouter key", "sk-or-v1-", Tail::Word, 32),
    ("a GitHub token", "ghp_", Tail::Alnum, 36),
    ("a GitHub token", "gho_", Tail::Alnum, 36),
    ("a GitHub token", "ghs_", Tail::Alnum, 36),
    ("a GitHub token", "ghu_", Tail::Alnum, 36),
    ("a GitHub token", "ghr_", Tail::Alnum, 36),
    ("a GitHub token", "github_pat_", Tail::Word, 40),
    ("a GitLab token", "glpat-", Tail::Word, 20),
    ("a Google key", "AIza", Tail::Word, 35),
    ("a Google token", "ya29.", Tail::Word, 40),
    ("a Slack token", "xoxb-", Tail::Word, 20),
    ("a Slack token", "xoxp-", Tail::Word, 20),
    ("a Slack token", "xoxa-", Tail::Word, 20),
    ("a Slack token", "xapp-", Tail::Word, 20),
    ("a Stripe key", "sk_live_", Tail::Alnum, 20),
    ("a Stripe key", "rk_live_", Tail::Alnum, 20),
    ("an npm token", "npm_", Tail::Alnum, 36),
    ("a PyPI token", "pypi-AgEIcHlwaS5vcmc", Tail::Word, 20),
    ("a Hugging Face token", "hf_", Tail::Alnum, 34),
    ("a SendGrid key", "SG.", Tail::Dotted, 60),
    ("a Groq key", "gsk_", Tail::Alnum, 48),
    ("an xAI key", "xai-", Tail::Alnum, 70),
    ("a Perplexity key", "pplx-", Tail::Alnum, 40),
    ("a Replicate token", "r8_", Tail::Alnum, 37),
    ("a DigitalOcean token", "dop_v1_", Tail::Alnum, 60),
    ("a Shopify token", "shpat_", Tail::Alnum, 32),
    ("a Docker token", "dckr_pat_", Tail::Word, 27),
    ("a Vault token", "hvs.", Tail::Word, 24),
    ("a Linear key", "lin_api_", Tail::Alnum, 40),
    ("a Databricks token", "dapi", Tail::Alnum, 32),
    ("a Postman key", "PMAK-", Tail::Word, 50),
    ("a Sentry token", "sntrys_", Tail::Word, 40),
    ("a PlanetScale token", "pscale_tkn_", Tail::Word, 32),
    ("a Tailscale key", "tskey-", Tail::Word, 20),
    ("an age key", "AGE-SECRET-KEY-1", Tail::Alnum, 58),
];

/// What else is at the start or in the middle of a secret.
const SIGNS: [&str; 4] = ["-----BEGIN ", "eyJ", "://", "bearer "];

const MAX_KEY_LEN: usize = 16 * 1024;

/// Up to this length, each word is searched separately: building the automaton takes a fifth of a commit's instructions.
const SHORT: usize = 512;

/// The words that rules start from, in order of precedence.
fn words() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|(_, prefix, ..)| *prefix).chain(SIGNS).chain(NAMES)
}

/// Ignores case, since names do.
static STARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        // Skipping ahead costs more than it saves.
        .prefilter(false)
        .kind(Some(aho_corasick::AhoCorasickKind::ContiguousNFA))
        .build(words())
        .expect("a few dozen short words fit into an automaton")
});

/// Finds the secrets of a text, in order and without overlaps. Takes linear time.
///
/// Examples and placeholders (`<token>`, `${TOKEN}`, `xxxx`) are not secrets.
pub(crate) fn find(text: &[u8]) -> Vec<Secret> {
    let mut found: Vec<(usize, Secret)> = Vec::new();
    // The end of the last run of dotted words that was judged.
    let mut dotted = 0;
    let mut known = 0..0;
    let mut judge = |rule: usize, at: Range<usize>| {
        let secret = match rule.checked_sub(FORMS.len()) {
            None if FORMS[rule].2 == Tail::Dotted => {
                // A later start in the same run would read the rest of the run again.
                if at.start < dotted {
                    return;
                }
                dotted = at.end + run(text, at.end, |b| Tail::Dotted.has(b));
                of_form(text, rule, at)
            }
            None => of_form(text, rule, at),
            Some(0) => private_key(text, at),
            Some(1) => web_token(text, at),
            Some(2) => named::in_url(text, at.end),
            Some(3) => named::after_bearer(text, at.end, &mut known),
            Some(_) => named::after_name(text, at.end, &mut known),
        };
        found.extend(secret.map(|secret| (rule, secret)));
    };
    if text.len() <= SHORT {
        starts_one_by_one(text, &mut judge);
    } else {
        starts_at_once(text, &mut judge);
    }
    // Of two that overlap, the more specific rule counts: forms come before names.
    found.sort_by_key(|(rule, secret)| (secret.span.start, *rule));
    let mut apart: Vec<(usize, Secret)> = Vec::new();
    for (rule, secret) in found {
        match apart.last_mut() {
            Some(last) if secret.span.start < last.1.span.end => {
                if rule < last.0 {
                    *last = (rule, secret);
                }
            }
            _ => apart.push((rule, secret)),
        }
    }
    apart.into_iter().map(|(_, secret)| secret).collect()
}

fn starts_at_once(text: &[u8], judge: &mut impl FnMut(usize, Range<usize>)) {
    for start in STARTS.find_overlapping_iter(text) {
        judge(start.pattern().as_usize(), start.start()..start.end());
    }
}

/// The same in another order, without the automaton.
fn starts_one_by_one(text: &[u8], judge: &mut impl FnMut(usize, Range<usize>)) {
    for (rule, word) in words().enumerate() {
        for (at, part) in text.windows(word.len()).enumerate() {
            if part.eq_ignore_ascii_case(word.as_bytes()) {
                judge(rule, at..at + word.len());
            }
        }
    }
}

pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

/// Whether a word starts at `at`; an escape in JSON before it is not part of it.
pub(super) fn starts_a_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    let is_escape = before > 0 && text[before - 1] == b'\\' && matches!(text[before], b'n' | b't' | b'r');
    !is_word(text[before]) || is_escape
}

fn run(text: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    text[from..].iter().take_while(|b| belongs(**b)).count()
}

fn of_form(text: &[u8], rule: usize, at: Range<usize>) -> Option<Secret> {
    let (what, prefix, tail, min_len) = FORMS[rule];
    if &text[at.clone()] != prefix.as_bytes() || !starts_a_word(text, at.start) {
        return None;
    }
    let len = run(text, at.end, |b| tail.has(b));
    let end = at.end + len;
    let is_whole = match tail {
        Tail::Capitals => len == min_len && !text.get(end).is_some_and(|b| is_word(*b)),
        _ => len >= min_len,
    };
    (is_whole && !named::is_placeholder(&text[at.end..end])).then_some(Secret { what, span: at.start..end })
}

/// The first line alone, as in documentation, is not a key.
fn private_key(text: &[u8], at: Range<usize>) -> Option<Secret> {
    if text[at.clone()] != *SIGNS[0].as_bytes() {
        return None;
    }
    let window = &text[at.start..text.len().min(at.start + MAX_KEY_LEN)];
    let head = &window[..window.len().min(64)];
    let head_len = memchr::memmem::find(head, b"PRIVATE KEY")? + b"PRIVATE KEY".len();
    let body = &window[head_len..];
    // No key contains the start of another one, which is judged for itself. So each byte belongs to one body.
    let body = &body[..memchr::memmem::find(body, SIGNS[0].as_bytes()).unwrap_or(body.len())];
    let end = memchr::memmem::find(body, b"-----END ");
    let is_body = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\\' | b'\n' | b'\r');
    let inside = &body[..end.unwrap_or(body.len())];
    let longest = inside.split(|b| !is_body(*b)).map(<[u8]>::len).max().unwrap_or(0);
    if longest < 40 || named::is_placeholder(inside) {
        return None;
    }
    let len = match end {
        Some(end) => {
            let last = &body[end..];
            let line = memchr::memmem::find(&last[..last.len().min(80)], b"KEY-----").map(|at| at + 8);
            end + line.or_else(|| memchr::memmem::find(last, b" BLOCK-----").map(|at| at + 11)).unwrap_or(9)
        }
        // Cut off: what looks like the key belongs to it.
        None => body.iter().take_while(|b| is_body(**b) || matches!(**b, b'-' | b' ' | b':')).count(),
    };
    Some(Secret { what: "a private key", span: at.start..at.start + head_len + len })
}

/// Three parts. The first two are JSON in base64.
fn web_token(text: &[u8], at: Range<usize>) -> Option<Secret> {
    if text[at.clone()] != *b"eyJ" || !starts_a_word(text, at.start) {
        return None;
    }
    let first = at.start + run(text, at.start, is_word);
    let second = text.get(first..first + 4).filter(|next| *next == b".eyJ").map(|_| first + 1)?;
    let second_end = second + run(text, second, is_word);
    text.get(second_end).filter(|b| **b == b'.')?;
    let end = second_end + 1 + run(text, second_end + 1, is_word);
    let is_token = first - at.start >= 12 && second_end - second >= 12 && end - second_end > 16;
    is_token.then_some(Secret { what: "a JSON web token", span: at.start..end })
}

#[cfg(test)]
#[path = "../../tests/unit/secrets/rules.rs"]
mod tests;
