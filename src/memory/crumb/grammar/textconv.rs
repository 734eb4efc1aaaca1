//! A crumb file as `git diff` shows it: one line per entry, with its section.

use std::fmt::Write as _;

use crate::base::finding::Plain;
use crate::memory::crumb::grammar::document::{CrumbFile, LineKind, parse_section};

/// The text that git compares. The input may be any bytes; control characters are escaped.
///
/// The counter of a failure is on a separate line, so that an increment does not look like a changed text.
pub(crate) fn textconv(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let Ok(crumb) = CrumbFile::parse(lossy.as_bytes()) else { return lossy.into_owned() };
    let mut text = String::new();
    let mut section = "";
    for line in &crumb.lines {
        // Writing to a String cannot fail.
        let _ = match line.kind {
            LineKind::Blank => Ok(()),
            LineKind::Header => match crumb.header() {
                Some(header) => {
                    writeln!(text, "CRUMB{} {}, session {}", header.version, Plain(header.identity), header.session)
                }
                None => Ok(()),
            },
            LineKind::Section => {
                section = parse_section(&line.text).map_or("", |(_, name)| name);
                writeln!(text, "{}", Plain(&line.text))
            }
            LineKind::Entry => entry(&mut text, section, line),
            LineKind::Unknown => writeln!(text, "{}: {}", Plain(section), Plain(&line.text)),
        };
    }
    text
}

fn entry(text: &mut String, section: &str, line: &crate::memory::crumb::Line<'_>) -> std::fmt::Result {
    let Some(entry) = line.entry() else { return Ok(()) };
    let Some((counter, key)) = entry.counter.zip(entry.key()) else {
        return writeln!(text, "{}: {}", Plain(section), Plain(&line.text));
    };
    let words = crate::memory::crumb::Entry { counter: None, ..entry };
    writeln!(text, "{}: {}", Plain(section), Plain(&words.render()))?;
    writeln!(text, "{}: {} happened {counter}", Plain(section), Plain(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_names_are_escaped() {
        let text = "∴CRUMB2 A s1\n§a\u{1b}[2J\n. fact\n~a:b [2x @1] words\nx\n";
        assert!(!textconv(text.as_bytes()).contains('\u{1b}'));
    }
}
