//! A crumb file as `git diff` shows it: one line per entry, with its section.

use crate::base::finding::Plain;
use crate::memory::crumb::Entry;
use crate::memory::crumb::grammar::document::{CrumbFile, Header, LineKind, parse_section};

/// The text that git compares. The input may be any bytes; control characters are escaped.
///
/// The counter of a failure is on a separate line, so that an increment does not look like a changed text.
pub(crate) fn textconv(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let Ok(crumb) = CrumbFile::parse(lossy.as_bytes()) else { return lossy.into_owned() };
    let mut text = String::new();
    let mut section = "";
    for line in &crumb.lines {
        let content = &line.text;
        match line.kind {
            LineKind::Blank => {}
            LineKind::Header => {
                let shown = |header: Header<'_>| {
                    format!("CRUMB{} {}, session {}\n", header.version, Plain(header.identity), header.session)
                };
                text.extend(crumb.header().map(shown));
            }
            LineKind::Section => {
                section = parse_section(content).map_or("", |(_, name)| name);
                text += &format!("{}\n", Plain(content));
            }
            LineKind::Entry | LineKind::Unknown => {
                let section = Plain(section);
                let counted = line.entry().and_then(|entry| Some((entry.counter?, entry.key()?, entry)));
                let Some((counter, key, entry)) = counted else {
                    text += &format!("{section}: {}\n", Plain(content));
                    continue;
                };
                let words = Entry { counter: None, ..entry }.render();
                text += &format!("{section}: {}\n{section}: {} happened {counter}\n", Plain(&words), Plain(key));
            }
        }
    }
    text
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
