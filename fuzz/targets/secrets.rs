//! Any bytes, scanned for secrets: findings are inside the text and do not overlap, and redacted JSON stays JSON.

use crate::secrets::{find, redact};

pub(super) fn run(bytes: &[u8]) {
    let found = find(bytes);
    assert!(found.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start));
    assert!(found.iter().all(|secret| secret.span.start < secret.span.end && secret.span.end <= bytes.len()));
    let redacted = redact(bytes, &found);
    for secret in &found {
        let span = &bytes[secret.span.clone()];
        assert!(span.len() < 24 || count(&redacted, span) < count(bytes, span), "it still stands there");
    }
    let within: usize = found.iter().map(|secret| line_ends(&bytes[secret.span.clone()])).sum();
    assert_eq!(line_ends(&redacted) + within, line_ends(bytes), "only those within secrets go");
    if let Ok(text) = std::str::from_utf8(bytes) {
        let redacted = std::str::from_utf8(&redacted).expect("what was text stays text");
        if serde_json::from_str::<serde_json::Value>(text).is_ok() {
            serde_json::from_str::<serde_json::Value>(redacted).expect("what was JSON stays JSON");
        }
    }
}

fn count(text: &[u8], part: &[u8]) -> usize {
    text.windows(part.len()).filter(|window| *window == part).count()
}

/// Number of line endings; a private key has many.
fn line_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}
