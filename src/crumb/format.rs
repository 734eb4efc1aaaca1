//! The customary spacing of a crumb file.

use super::document::{BOM, Crumb, Ending, Header, Line, Role};

/// The file with its customary spacing: no byte order mark, line feeds, single spaces in the header, one blank line before
/// each section and none elsewhere, no space at the end of a line, an end to the last one. Words stay as they are, and
/// doing it again changes nothing.
#[must_use]
pub fn format(crumb: &Crumb<'_>) -> Vec<u8> {
    let mut formatted = Crumb::default();
    for line in crumb.lines.iter().filter(|line| line.role != Role::Blank) {
        let text = match (line.role, Header::parse(&line.text)) {
            (Role::Header, Ok(header)) => header.to_string(),
            _ if formatted.lines.is_empty() => line.text.trim_end().trim_start_matches(BOM).to_owned(),
            _ => line.text.trim_end().to_owned(),
        };
        if text.is_empty() {
            continue;
        }
        if line.role == Role::Section && !formatted.lines.is_empty() {
            formatted.lines.push(Line::new("", Ending::Lf));
        }
        formatted.lines.push(Line::new(text, Ending::Lf));
    }
    formatted.print()
}
