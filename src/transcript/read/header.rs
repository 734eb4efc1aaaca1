//! Text from a file with arbitrary content, made fit for item headers and refs.

/// Human-readable text as one line of at most `max` characters, control characters as U+FFFD; `None` if it is empty.
pub(crate) fn one_line(text: &str, max: usize) -> Option<String> {
    let line: String = text.chars().take(max).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    (!line.is_empty()).then_some(line)
}

/// Whether a kind is one of a list with spaces between them.
pub(crate) fn is_listed(kind: &str, kinds: &str) -> bool {
    kinds.split(' ').any(|listed| listed == kind)
}

/// An id as one line. An id with control characters, or longer than any real one, is replaced by its hash, so that different
/// ids stay different.
pub(crate) fn id(text: &str) -> Option<String> {
    let is_plain = text.len() <= 256 && !text.chars().any(char::is_control);
    let hashed = || format!("blake3:{}", &blake3::hash(text.as_bytes()).to_hex()[..32]);
    (!text.is_empty()).then(|| if is_plain { text.to_owned() } else { hashed() })
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

pub(crate) fn subject(prefix: &str, text: &str) -> String {
    const MAX: usize = 72;
    let line = format!("{prefix}: {text:.400}");
    let words = line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX {
        return line;
    }
    let kept: String = line.chars().take(MAX - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
#[path = "../../../tests/unit/transcript/read/header.rs"]
mod tests;
