//! Secrets by their form: tokens whose issuers gave them a prefix of their own, and private keys.
//!
//! Only forms that nothing else has are told, so that a finding is worth stopping for; a random password looks like any
//! other word.

use std::ops::Range;

/// A secret in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Secret {
    /// Whose, as people call it.
    pub what: &'static str,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

/// What it is, how it starts, and how many letters, digits, `_` and `-` follow at least.
const FORMS: [(&str, &str, usize); 20] = [
    ("an AWS access key", "AKIA", 16),
    ("an AWS access key", "ASIA", 16),
    ("an Anthropic key", "sk-ant-", 20),
    ("an OpenAI key", "sk-proj-", 20),
    ("an OpenAI key", "sk-svcacct-", 20),
    ("an OpenRouter key", "sk-or-v1-", 32),
    ("a GitHub token", "ghp_", 36),
    ("a GitHub token", "gho_", 36),
    ("a GitHub token", "ghs_", 36),
    ("a GitHub token", "ghu_", 36),
    ("a GitHub token", "github_pat_", 40),
    ("a GitLab token", "glpat-", 20),
    ("a Google key", "AIza", 35),
    ("a Slack token", "xoxb-", 20),
    ("a Slack token", "xoxp-", 20),
    ("a Stripe key", "sk_live_", 20),
    ("an npm token", "npm_", 36),
    ("a PyPI token", "pypi-AgEIcHlwaS5vcmc", 20),
    ("a Hugging Face token", "hf_", 34),
    ("a SendGrid key", "SG.", 22),
];

/// Finds the secrets of a text, in order. What says `EXAMPLE` is one of documentation.
#[must_use]
pub fn find(text: &[u8]) -> Vec<Secret> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let mut found = Vec::new();
    for (what, prefix, min_len) in FORMS {
        for start in memchr::memmem::find_iter(text, prefix) {
            let starts_a_word = !start.checked_sub(1).is_some_and(|before| is_word(&text[before]));
            let rest = &text[start + prefix.len()..];
            let len = rest.iter().take_while(|b| is_word(b)).count();
            if starts_a_word && len >= min_len && memchr::memmem::find(&rest[..len], b"EXAMPLE").is_none() {
                found.push(Secret { what, span: start..start + prefix.len() + len });
            }
        }
    }
    for start in memchr::memmem::find_iter(text, "-----BEGIN ") {
        let line = &text[start..text.len().min(start + 64)];
        if let Some(end) = memchr::memmem::find(line, b"PRIVATE KEY-----") {
            found.push(Secret { what: "a private key", span: start..start + end + "PRIVATE KEY-----".len() });
        }
    }
    found.sort_by_key(|secret| secret.span.start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_their_form() {
        let tail = "a1B2".repeat(12);
        for (what, prefix, _) in FORMS {
            let text = format!("x \"{prefix}{tail}\" y");
            let found = find(text.as_bytes());
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!((found[0].what, &text[found[0].span.clone()]), (what, &text[3..text.len() - 3]));
        }
        assert_eq!(find(b"-----BEGIN OPENSSH PRIVATE KEY-----\\nabc")[0].span, 0..35);
        for harmless in ["AKIAIOSFODNN7EXAMPLE", "ghp_short", "task-sk-ant-nothing", "-----BEGIN CERTIFICATE-----", ""]
        {
            assert_eq!(find(harmless.as_bytes()), [], "{harmless}");
        }
    }
}
