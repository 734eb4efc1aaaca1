//! The customary spacing of a crumb file.

use crate::memory::crumb::grammar::document::{BOM, CrumbFile, Header, Line, LineEnding, section_start};

/// The file with its customary spacing: no byte order mark, line feeds, single spaces in the header, one blank line before
/// each section and none elsewhere, no space at the end of a line, an end to the last one. Words stay as they are, and
/// doing it again changes nothing.
pub(crate) fn format(crumb: &CrumbFile<'_>) -> Vec<u8> {
    let mut formatted = CrumbFile::default();
    for line in &crumb.lines {
        let text = line.text.trim_end();
        let text = if formatted.lines.is_empty() {
            // What stands at its end may be all that kept it from being a header.
            let text = text.trim_start_matches(BOM);
            Header::parse(text).map_or_else(|_| text.to_owned(), |header| header.to_string())
        } else {
            text.to_owned()
        };
        if text.is_empty() {
            continue;
        }
        if section_start(&text).is_some() && !formatted.lines.is_empty() {
            formatted.lines.push(Line::new("", LineEnding::Lf));
        }
        formatted.lines.push(Line::new(text, LineEnding::Lf));
    }
    formatted.print()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_only_the_spacing_made_one_is_written_as_one() {
        let once = format(&CrumbFile::parse(" ∴CRUMB2  ADA s15\u{b}\n\n§core\n. x\n".as_bytes()).unwrap());
        assert_eq!(String::from_utf8(once.clone()).unwrap(), "∴CRUMB2 ADA s15\n\n§core\n. x\n");
        assert_eq!(format(&CrumbFile::parse(&once).unwrap()), once);
    }
}
