//! The normal spacing of a crumb file.

use crate::memory::crumb::grammar::document::{BOM, CrumbFile, Header, Line, LineEnding, parse_section};

/// Normalizes spacing: no byte order mark, line feeds only, single spaces in the header, one blank line before each section
/// and none elsewhere, no trailing spaces, and a line feed at the end. Text does not change. The function is idempotent.
pub(crate) fn format(crumb: &CrumbFile<'_>) -> Vec<u8> {
    let mut formatted = CrumbFile::default();
    for line in &crumb.lines {
        let text = line.text.trim_end();
        let text = if formatted.lines.is_empty() {
            // Without its trailing characters, the line may parse as a header.
            let text = text.trim_start_matches(BOM);
            Header::parse(text).map_or_else(|_| text.to_owned(), |header| header.to_string())
        } else {
            text.to_owned()
        };
        if text.is_empty() {
            continue;
        }
        if parse_section(&text).is_some() && !formatted.lines.is_empty() {
            formatted.lines.push(Line::new("", LineEnding::Lf));
        }
        formatted.lines.push(Line::new(text, LineEnding::Lf));
    }
    formatted.print()
}
