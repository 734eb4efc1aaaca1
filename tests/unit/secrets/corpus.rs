//! Secrets of more than a hundred kinds, and texts that look like secrets. `tests/secrets` has the patterns; the texts are made
//! here, so that no file of the repository contains one.
//!
//! In a pattern, `{A20}` is 20 random characters of a class, `{n}` for a line end, `{e}` for ESC, `{u}` for a UUID,
//! `{p12}` for a password, and `{B:…}` for the base64 of a pattern. `«…»` marks the secret.
//!
//! With `SECRETS_CORPUS=FILE`, the texts are written as JSON lines, for `tests/secrets/compare`.

use std::fmt::Write as _;

use base64::Engine as _;

use crate::secrets::find;

const KINDS: &str = include_str!("../../secrets/kinds.txt");
const LOOKALIKES: &str = include_str!("../../secrets/lookalikes.txt");
/// Number of texts of each pattern.
const EACH: usize = 3;

/// Where a token is found that needs no name.
const CONTEXTS: [&str; 6] = [
    "the value is @ and more",
    "{\"text\": \"@\"}",
    "\x1b[32m@\x1b[0m",
    "https://example.com/?v=@&page=2",
    r#"{\"output\":\"v: @\n\"}"#,
    "$ ./run @\n",
];

struct Sample {
    kind: String,
    text: String,
    /// Without the mark; empty for a lookalike.
    secret: String,
}

struct Random(u64);

impl Random {
    /// Source: Marsaglia, "Xorshift RNGs", 2003.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn of(&mut self, class: &str, len: usize) -> String {
        let class = class.as_bytes();
        (0..len).map(|_| char::from(class[self.below(class.len())])).collect()
    }

    fn expand(&mut self, pattern: &str) -> String {
        let mut text = String::new();
        let mut rest = pattern;
        while let Some(open) = rest.find('{') {
            let (before, inner) = rest.split_at(open);
            text += before;
            let len = length(inner).unwrap_or(1);
            let made = inner.get(1..len - 1).and_then(|placeholder| self.made(placeholder));
            text += made.as_deref().unwrap_or("{");
            rest = &inner[if made.is_some() { len } else { 1 }..];
        }
        text + rest
    }

    /// `None` if the braces are of the text.
    fn made(&mut self, placeholder: &str) -> Option<String> {
        const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
        const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const DIGITS: &str = "0123456789";
        const SIGNS: &str = "!@#*?+=";
        if let Some(inner) = placeholder.strip_prefix("B:") {
            return Some(base64::engine::general_purpose::STANDARD.encode(self.expand(inner)));
        }
        let len = placeholder.get(1..)?.parse().ok();
        Some(match (placeholder.as_bytes()[0], len) {
            (b'n', None) if placeholder.len() == 1 => "\n".to_owned(),
            (b'e', None) if placeholder.len() == 1 => "\x1b".to_owned(),
            (b'u', None) if placeholder.len() == 1 => {
                [8, 4, 4, 4, 12].map(|len| self.of("0123456789abcdef", len)).join("-")
            }
            (b'A', Some(len)) => self.of(&[LOWER, UPPER, DIGITS].concat(), len),
            (b'a', Some(len)) => self.of(&[LOWER, DIGITS].concat(), len),
            (b'b', Some(len)) => self.of(&[LOWER, UPPER, DIGITS, "+/"].concat(), len),
            (b'd', Some(len)) => self.of("123456789", 1) + &self.of(DIGITS, len - 1),
            (b'h', Some(len)) => self.of("0123456789abcdef", len),
            (b'H', Some(len)) => self.of("0123456789ABCDEF", len),
            (b'l', Some(len)) => self.of(LOWER, len),
            (b'L', Some(len)) => self.of(&[LOWER, UPPER].concat(), len),
            // The digits of Bech32.
            (b'g', Some(len)) => self.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", len),
            (b'U', Some(len)) => self.of(&[UPPER, "234567"].concat(), len),
            (b'w', Some(len)) => self.of(&[LOWER, UPPER, DIGITS, "_-"].concat(), len - 1) + &self.of(LOWER, 1),
            (b'p', Some(len)) => {
                let of_each = [UPPER, LOWER, DIGITS, SIGNS].map(|class| self.of(class, 1)).concat();
                of_each + &self.of(&[LOWER, UPPER, DIGITS, SIGNS].concat(), len - 4)
            }
            _ => return None,
        })
    }
}

/// The length of a placeholder with its braces.
fn length(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn samples(patterns: &str) -> Vec<Sample> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut samples = Vec::new();
    for line in patterns.lines().filter(|line| !line.starts_with('#')) {
        let (kind, pattern) = line.split_once(" | ").unwrap_or_else(|| panic!("no pattern: {line}"));
        for n in 0..EACH {
            let made = random.expand(pattern);
            let marked = if pattern.contains('«') || patterns == LOOKALIKES {
                made
            } else {
                CONTEXTS[(samples.len() / EACH + n * 2) % CONTEXTS.len()].replace('@', &format!("«{made}»"))
            };
            let secret =
                marked.split_once('«').and_then(|(_, rest)| rest.split_once('»')).map_or("", |(secret, _)| secret);
            let (kind, secret) = (kind.to_owned(), secret.to_owned());
            samples.push(Sample { kind, secret, text: marked.replace(['«', '»'], "") });
        }
    }
    samples
}

/// Whether a finding covers the secret, except for a few characters around its random part.
fn is_found(sample: &Sample) -> bool {
    let at = sample.text.find(&sample.secret).unwrap();
    find(sample.text.as_bytes()).iter().any(|found| {
        let covered = found.span.end.min(at + sample.secret.len()).saturating_sub(found.span.start.max(at));
        covered * 10 >= sample.secret.len() * 8 || covered >= sample.secret.len().saturating_sub(40) && covered > 0
    })
}

#[test]
fn nine_of_ten_kinds_of_secrets_are_found_and_few_lookalikes() {
    let (kinds, lookalikes) = (samples(KINDS), samples(LOOKALIKES));
    if let Some(file) = std::env::var_os("SECRETS_CORPUS") {
        let mut lines = String::new();
        for sample in kinds.iter().chain(&lookalikes) {
            let line = serde_json::json!({"kind": sample.kind, "text": sample.text, "secret": sample.secret});
            writeln!(lines, "{line}").unwrap();
        }
        std::fs::write(file, lines).unwrap();
    }
    let missed: Vec<_> = kinds.chunks(EACH).filter(|all| !all.iter().all(is_found)).collect();
    let alarms: Vec<_> = lookalikes.iter().filter(|sample| !find(sample.text.as_bytes()).is_empty()).collect();
    let number = kinds.len() / EACH;
    let names: Vec<_> = missed.iter().map(|all| all[0].kind.as_str()).collect();
    let texts = kinds.iter().filter(|sample| is_found(sample)).count();
    println!("{} of {number} kinds found in all texts, {texts} of {} texts", number - missed.len(), kinds.len());
    for sample in missed.iter().filter_map(|all| all.iter().find(|sample| !is_found(sample))) {
        println!("missed: {}: {}", sample.kind, sample.text);
    }
    println!("{} false alarms among {} lookalikes", alarms.len(), lookalikes.len());
    for sample in &alarms {
        let what: Vec<_> =
            find(sample.text.as_bytes()).into_iter().map(|secret| (secret.what, &sample.text[secret.span])).collect();
        println!("false alarm: {}: {} {what:?}", sample.kind, sample.text);
    }
    assert!(number >= 100 && lookalikes.len() >= 400);
    assert!(missed.len() * 100 <= number * 8, "{names:?}");
    assert!(alarms.len() <= 3);
}
