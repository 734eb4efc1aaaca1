//! Text from a file with arbitrary content, made fit for item headers and refs.

/// Human-readable text as one line of at most `max` characters, control characters as U+FFFD; `None` if it is empty.
pub(crate) fn one_line(text: &str, max: usize) -> Option<String> {
    let line: String = text.chars().take(max).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    (!line.is_empty()).then_some(line)
}

/// An id as one line. An id with control characters, or longer than any real one, is replaced by its hash, so that different
/// ids stay different.
pub(crate) fn id(text: &str) -> Option<String> {
    if text.is_empty() {
        None
    } else if text.len() <= 256 && !text.chars().any(char::is_control) {
        Some(text.to_owned())
    } else {
        Some(format!("blake3:{}", &blake3::hash(text.as_bytes()).to_hex()[..32]))
    }
}

/// The name of a thread: the text itself if it is a plain word, else the start of its hash.
pub(crate) fn thread(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
        text.to_owned()
    } else {
        blake3::hash(text.as_bytes()).to_hex()[..12].to_owned()
    }
}

/// A commit subject of at most 72 characters: `prefix` and the words of the text.
pub(crate) fn subject(prefix: &str, text: &str) -> String {
    const MAX: usize = 72;
    let line = format!("{prefix}: {text:.400}");
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let line = words.join(" ");
    if line.chars().count() <= MAX {
        line
    } else {
        let kept: String = line.chars().take(MAX - 1).collect();
        format!("{}…", kept.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_becomes_harmless() {
        assert_eq!(one_line("a\nid: 0", 80).as_deref(), Some("a\u{fffd}id: 0"));
        assert_eq!(one_line("", 80), None);
        assert_eq!(one_line("äöü", 2).as_deref(), Some("äö"));
        assert_eq!(id("toolu_01").as_deref(), Some("toolu_01"));
        assert_ne!(id("a\n"), id("a\r"));
        assert_eq!(thread("a1b2c3"), "a1b2c3");
        assert_eq!(thread("../../x").len(), 12);
        assert_eq!(subject("call Bash", " a\n\n b\u{1b}[31m"), "call Bash: a b [31m");
        assert_eq!(subject("x", &"é".repeat(500)).chars().count(), 72);
    }
}
