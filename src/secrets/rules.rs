//! The pass that finds where the rules look.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

use super::Secret;
use super::blocks::{self, PEM, PUTTY};
use super::command::{self, PROGRAMS, Program};
use super::forms::{FORMS, Form, of_form};
use super::named::{self, NAMES, Name};
use super::runs::Runs;

/// A word from which a rule starts.
struct Start {
    word: String,
    rule: Rule,
}

enum Rule {
    Form(&'static Form, &'static str),
    Encoded(Option<(&'static Form, &'static str)>),
    PrivateKey,
    PuttyKey,
    WebToken,
    DiscordToken,
    Url,
    Bearer,
    Login,
    Sudo,
    Program(&'static Program),
    Name(&'static Name),
}

/// In order of precedence.
static STARTS: LazyLock<Vec<Start>> = LazyLock::new(|| {
    let start = |word: &str, rule| Start { word: word.to_owned(), rule };
    let words = || FORMS.iter().flat_map(|form| form.words.iter().map(move |word| (form, *word)));
    let mut starts: Vec<_> = words().map(|(form, word)| start(word, Rule::Form(form, word))).collect();
    // Shorter ones in base64 start too many texts.
    let encoded = words().filter(|(form, word)| form.is_prefix() && word.len() >= 4);
    starts.extend(encoded.map(|(form, word)| start(&blocks::encoded(word), Rule::Encoded(Some((form, word))))));
    starts.extend([
        start(&blocks::encoded(PEM), Rule::Encoded(None)),
        start(PEM, Rule::PrivateKey),
        start(PUTTY, Rule::PuttyKey),
        start("eyJ", Rule::WebToken),
        start(".", Rule::DiscordToken),
        start("://", Rule::Url),
        start("bearer ", Rule::Bearer),
        start("basic ", Rule::Login),
        start("sudo -s", Rule::Sudo),
    ]);
    starts.extend(PROGRAMS.iter().map(|program| start(program.word, Rule::Program(program))));
    starts.extend(NAMES.iter().map(|name| start(name.word, Rule::Name(name))));
    starts
});

/// Up to this number of bytes, in all texts together, the words are searched one by one: building the automaton takes longer than a
/// commit.
const FEW: usize = 1 << 13;

static SEARCHED: AtomicUsize = AtomicUsize::new(0);

/// Ignores case, since names do.
static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        // Skipping ahead costs more than it saves.
        .prefilter(false)
        .kind(Some(aho_corasick::AhoCorasickKind::ContiguousNFA))
        .build(STARTS.iter().map(|start| &start.word))
        .expect("a few hundred short words fit into an automaton")
});

/// The words by their first byte in lower case.
static BY_FIRST_BYTE: LazyLock<[Vec<usize>; 256]> = LazyLock::new(|| {
    let mut rules = std::array::from_fn(|_| Vec::new());
    for (rule, start) in STARTS.iter().enumerate() {
        let first: &mut Vec<usize> = &mut rules[usize::from(start.word.as_bytes()[0].to_ascii_lowercase())];
        first.push(rule);
    }
    rules
});

/// Finds the secrets of a plain text, in order and without overlaps.
pub(super) fn find(text: &[u8]) -> Vec<Secret> {
    let mut found: Vec<(usize, Secret)> = Vec::new();
    let mut runs = Runs::new(text);
    let mut judge = |rule: usize, at: usize| {
        let start = &STARTS[rule];
        let end = at + start.word.len();
        let secret = match start.rule {
            Rule::Form(form, word) => of_form(&mut runs, form, word, at),
            Rule::Encoded(form) => blocks::in_base64(&mut runs, at, form),
            Rule::PrivateKey => blocks::private_key(text, at),
            Rule::PuttyKey => blocks::putty_key(text, end),
            Rule::WebToken => blocks::web_token(text, at),
            Rule::DiscordToken => blocks::discord_token(&mut runs, at),
            Rule::Url => named::in_url(text, end),
            Rule::Bearer => named::after_bearer(&mut runs, end),
            Rule::Login => blocks::login(&mut runs, end),
            Rule::Sudo => command::piped(text, at),
            Rule::Program(program) => command::password(text, program, end),
            Rule::Name(name) => named::after_name(&mut runs, name, at),
        };
        found.extend(secret.map(|secret| (rule, secret)));
    };
    if SEARCHED.fetch_add(text.len(), Ordering::Relaxed) + text.len() <= FEW {
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

fn starts_at_once(text: &[u8], judge: &mut impl FnMut(usize, usize)) {
    for start in AUTOMATON.find_overlapping_iter(text) {
        judge(start.pattern().as_usize(), start.start());
    }
}

/// The same in another order, without the automaton.
fn starts_one_by_one(text: &[u8], judge: &mut impl FnMut(usize, usize)) {
    for (at, first) in text.iter().enumerate() {
        for rule in &BY_FIRST_BYTE[usize::from(first.to_ascii_lowercase())] {
            let word = STARTS[*rule].word.as_bytes();
            if text.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word)) {
                judge(*rule, at);
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/secrets/rules.rs"]
mod tests;
