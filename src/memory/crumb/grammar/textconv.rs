//! A crumb file as `git diff` shows it: one line per entry, with its section.

use crate::base::escape::Plain;
use crate::memory::crumb::Entry;
use crate::memory::crumb::grammar::document::{CrumbFile, Header, LineKind, parse_section};

/// The text that git compares. The input may be any bytes; control characters are escaped.
///
/// The counter of a failure is on a separate line, so that an increment does not look like a changed text.
pub(crate) fn textconv(bytes: &[u8]) -> String {
    let lossy = String::from_utf8_lossy(bytes);
    let Ok(crumb) = CrumbFile::parse(lossy.as_bytes()) else { return lossy.into_owned() };
    let mut lines = Vec::new();
    let mut section = "";
    for line in &crumb.lines {
        let content = &line.text;
        match line.kind {
            LineKind::Blank => {}
            LineKind::Header => {
                let shown = |Header { version, identity, session }: Header<'_>| {
                    format!("CRUMB{version} {}, session {session}", Plain(identity))
                };
                lines.extend(crumb.header().map(shown));
            }
            LineKind::Section => {
                section = parse_section(content).map_or("", |(_, name)| name);
                lines.push(Plain(content).to_string());
            }
            LineKind::Entry | LineKind::Unknown => {
                let section = Plain(section);
                let counted = line.entry().and_then(|entry| Some((entry.counter?, entry.key()?, entry)));
                let Some((counter, key, entry)) = counted else {
                    lines.push(format!("{section}: {}", Plain(content)));
                    continue;
                };
                let words = Entry { counter: None, ..entry }.render();
                lines.push(format!("{section}: {}", Plain(&words)));
                lines.push(format!("{section}: {} happened {counter}", Plain(key)));
            }
        }
    }
    // The last line has an ending too.
    lines.push(String::new());
    lines.join("\n")
}
