//! Texts that fit a number of columns of a terminal.
//!
//! A wide character has two columns, a combining one none. Texts are cut between characters as people see them.

use ratatui::crossterm::terminal::size;
use ratatui::style::Style;
use ratatui::text::Line;

use super::ui::escaped;

/// The columns of the terminal; 80 if it does not know.
pub(crate) fn terminal_columns() -> usize {
    size().ok().map(|(columns, _)| usize::from(columns)).filter(|columns| *columns > 0).unwrap_or(80)
}

/// The columns that a text without control characters takes.
pub(crate) fn columns(text: &str) -> usize {
    // ASCII is counted without looking up each character: a table may have half a million cells.
    if text.is_ascii() { text.len() } else { Line::raw(text).width() }
}

/// The text with spaces after it, up to this width.
pub(crate) fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(columns(text)))
}

/// A text from outside on one line of at most `width` columns; a longer one ends with `…`.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&escaped(&line), width)
}

/// A text of at most this many columns; a longer one ends with `…`.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    match width {
        _ if columns(text) <= width => text.to_owned(),
        0 => String::new(),
        width => start(text, width - 1) + "…",
    }
}

/// A text of at most this many columns; a longer one has `…` in place of its middle.
pub(crate) fn without_middle(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let tail = end(text, width / 2);
    let head = start(text, width.saturating_sub(columns(&tail) + 1));
    head + "…" + &tail
}

/// The beginning of a text, as far as it fits; each tab becomes a space.
pub(crate) fn start(text: &str, width: usize) -> String {
    let text = text.replace('\t', " ");
    let line = Line::raw(text);
    fitting(line.styled_graphemes(Style::new()).map(|grapheme| grapheme.symbol), width).concat()
}

/// The end of a text, as far as it fits; each tab becomes a space.
pub(crate) fn end(text: &str, width: usize) -> String {
    // More bytes than any character that people see has.
    let mut from = text.len().saturating_sub(width.saturating_mul(64));
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let text = text[from..].replace('\t', " ");
    let line = Line::raw(text);
    let graphemes: Vec<_> = line.styled_graphemes(Style::new()).map(|grapheme| grapheme.symbol).collect();
    let mut last = fitting(graphemes.into_iter().rev(), width);
    last.reverse();
    last.concat()
}

fn fitting<'g>(graphemes: impl Iterator<Item = &'g str>, width: usize) -> Vec<&'g str> {
    let mut left = width;
    let fits = |grapheme: &&str| {
        let columns = columns(grapheme);
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    };
    graphemes.take_while(fits).collect()
}

/// A text in lines of at most `width` columns, broken at spaces; all but the first begin with `indent` spaces.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let (mut lines, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let needed = columns(word);
        if used > indent && used + needed > width {
            lines.extend(["\n", &" ".repeat(indent)]);
            used = indent;
        }
        lines.extend([word, " "]);
        used += needed + 1;
    }
    lines.split('\n').map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The surroundings of the first match in a line: as many columns, a third of the others before it. The line is given in
/// parts; `true` marks those that match. Also returns how many matches are not shown.
pub(crate) fn surroundings(parts: Vec<(bool, String)>, width: usize) -> (Vec<(bool, String)>, usize) {
    let total: usize = parts.iter().map(|(_, part)| columns(part)).sum();
    let Some(first) = parts.iter().position(|(matches, _)| *matches).filter(|_| total > width) else {
        return (parts, 0);
    };
    let before: String = parts[..first].iter().map(|(_, part)| part.as_str()).collect();
    let matched = shortened(&parts[first].1, width);
    let room = width - columns(&matched);
    let after: usize = parts[first + 1..].iter().map(|(_, part)| columns(part)).sum();
    // What the end does not need is for the beginning.
    let lead = (room / 3).max(room.saturating_sub(after));
    let before = match lead {
        _ if columns(&before) <= lead => before,
        0 => String::new(),
        lead => format!("…{}", end(&before, lead - 1)),
    };
    let mut room = room.saturating_sub(columns(&before));
    let (mut shown, mut hidden) = (vec![(false, before), (true, matched)], 0);
    let mut is_cut = false;
    for (matches, part) in parts.into_iter().skip(first + 1) {
        if is_cut {
            hidden += usize::from(matches);
            continue;
        }
        // A line that ends here needs no mark.
        is_cut = columns(&part) > room;
        let part = if is_cut { shortened(&part, room) } else { part };
        room = room.saturating_sub(columns(&part));
        shown.push((matches, part));
    }
    (shown, hidden)
}

/// The surroundings of the first match in a line, and a note on the matches that are not shown; both fit the width.
pub(crate) fn with_note(parts: Vec<(bool, String)>, width: usize) -> (Vec<(bool, String)>, String) {
    let (shown, hidden) = surroundings(parts.clone(), width);
    if hidden == 0 {
        return (shown, String::new());
    }
    let note = format!(" ({hidden} more in this line)");
    (surroundings(parts, width.saturating_sub(note.len()).max(1)).0, note)
}

#[cfg(test)]
#[path = "../../tests/unit/width.rs"]
mod tests;
