//! Putting a store's text in order, as far as that needs no judgement.

use super::lines::{BOM, Lines};
use super::record::Record;

/// The text with its lines in order, each key once and an end to each line; `None` if a line cannot be read.
///
/// Of several lines with one key the one that counts in reading stays, byte for byte. A text that is in order is given back as
/// it is, blank lines included.
#[must_use]
pub(crate) fn tidy(text: &[u8]) -> Option<Vec<u8>> {
    let lines = Lines::new(text);
    let was_sorted = lines.is_sorted;
    let mut records = Vec::with_capacity(lines.entries.len());
    for entry in &lines.entries {
        records.push((Record::parse(entry.line).ok()?, entry.line));
    }
    // Stable, so of equals the last line counts.
    records.sort_by(|a, b| a.0.key.as_bytes().cmp(b.0.key.as_bytes()));
    let mut kept: Vec<(Record<'_>, &[u8])> = Vec::with_capacity(records.len());
    for (record, line) in records {
        match kept.last_mut() {
            Some(last) if last.0.key == record.key => {
                if record.precedence(&last.0).is_ge() {
                    *last = (record, line);
                }
            }
            _ => kept.push((record, line)),
        }
    }
    if was_sorted && kept.len() == lines.entries.len() && (text.is_empty() || text.ends_with(b"\n")) {
        return Some(text.to_vec());
    }
    // The last line of a text may have come without its end; then it gets that of the first.
    let is_crlf = lines.entries.first().is_some_and(|entry| entry.line.ends_with(b"\r"));
    let unended = lines.entries.last().filter(|_| !text.ends_with(b"\n")).map(|entry| entry.line.as_ptr());
    let mut tidy = if lines.has_bom { BOM.to_vec() } else { Vec::new() };
    for (_, line) in kept {
        tidy.extend(line);
        let wants_return = is_crlf && unended == Some(line.as_ptr()) && !line.ends_with(b"\r");
        tidy.extend(if wants_return { &b"\r\n"[..] } else { b"\n" });
    }
    Some(tidy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(key: &str, value: &str, hour: u32) -> String {
        format!("{{\"key\":\"{key}\",\"value\":\"{value}\",\"updated_at\":\"2025-01-01T{hour:02}:00:00Z\"}}")
    }

    #[test]
    fn lines_are_sorted_once_and_ended() {
        let (a, b, newer) = (line("a", "1", 0), line("b", "1", 0), line("b", "2", 1));
        for (text, expected) in [
            (format!("{b}\n{a}"), Some(format!("{a}\n{b}\n"))),
            (format!("{newer}\n{b}\n{a}\n"), Some(format!("{a}\n{newer}\n"))),
            (format!("{b}\r\n{a}"), Some(format!("{a}\r\n{b}\r\n"))),
            (format!("{a}\n\n{b}\n"), Some(format!("{a}\n\n{b}\n"))),
            (format!("{a}\nrubbish\n"), None),
            (String::new(), Some(String::new())),
        ] {
            let tidied = tidy(text.as_bytes()).map(|tidy| String::from_utf8(tidy).unwrap());
            assert_eq!(tidied, expected, "{text}");
        }
    }
}
