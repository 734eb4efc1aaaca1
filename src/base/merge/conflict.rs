//! Conflicts as git writes them: writing and parsing.
//!
//! ```text
//! <<<<<<< ours
//! our lines
//! ||||||| base          only in the styles diff3 and zdiff3
//! lines of the base
//! =======
//! their lines
//! >>>>>>> theirs
//! ```
//!
//! Git chooses the length of the markers; the default is seven. A base that was itself merged from several bases contains
//! longer ones.

use std::borrow::Cow;
use std::io::{self, Write};

use thiserror::Error;

use super::merged::ConflictText;
use crate::base::finding::Plain;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Markers {
    /// Length of a marker, git's `%L`.
    pub(crate) size: usize,
    pub(crate) style: Style,
    pub(crate) labels: Labels,
}

/// Git's `merge.conflictStyle`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Style {
    #[default]
    Merge,
    Diff3,
    /// As diff3, but lines that both sides have at the start or at the end are outside the markers.
    Zdiff3,
}

/// Names of the three versions, written after the markers; an empty one is omitted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Labels {
    /// Git's `%S`.
    pub base: String,
    /// Git's `%X`.
    pub ours: String,
    /// Git's `%Y`.
    pub theirs: String,
}

impl Default for Markers {
    fn default() -> Self {
        let labels = Labels { base: "base".to_owned(), ours: "ours".to_owned(), theirs: "theirs".to_owned() };
        Self { size: Self::DEFAULT_SIZE, style: Style::Merge, labels }
    }
}

impl Markers {
    pub(crate) const DEFAULT_SIZE: usize = 7;

    /// Writes one conflict. The markers end with `\r\n` if all lines of both sides do.
    pub(crate) fn write(&self, out: &mut impl Write, conflict: &ConflictText<'_>) -> io::Result<()> {
        let (mut ours, mut theirs) = (lines(&conflict.ours), lines(&conflict.theirs));
        let ending = if ours.iter().chain(&theirs).all(|line| line.ends_with(b"\r\n")) { "\r\n" } else { "\n" };
        let mut after = Vec::new();
        if self.style == Style::Zdiff3 {
            let same = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
            write_lines(out, &ours[..same])?;
            ours.drain(..same);
            theirs.drain(..same);
            let same = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
            after = ours.split_off(ours.len() - same);
            theirs.truncate(theirs.len() - same);
        }
        self.write_marker(out, '<', &self.labels.ours, ending)?;
        write_lines(out, &ours)?;
        if self.style != Style::Merge {
            self.write_marker(out, '|', &self.labels.base, ending)?;
            write_lines(out, &lines(&conflict.base))?;
        }
        self.write_marker(out, '=', "", ending)?;
        write_lines(out, &theirs)?;
        self.write_marker(out, '>', &self.labels.theirs, ending)?;
        write_lines(out, &after)
    }

    fn write_marker(&self, out: &mut impl Write, sign: char, label: &str, ending: &str) -> io::Result<()> {
        let marker = sign.to_string().repeat(self.size);
        let space = if label.is_empty() { "" } else { " " };
        write!(out, "{marker}{space}{}{ending}", Plain(label))
    }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|b| *b == b'\n').collect()
}

fn write_lines(out: &mut impl Write, lines: &[&[u8]]) -> io::Result<()> {
    for line in lines {
        out.write_all(line)?;
        if !line.ends_with(b"\n") {
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Segment<'a> {
    Text(&'a [u8]),
    /// The base is `None` in the style `merge`.
    Conflict {
        ours: &'a [u8],
        base: Option<&'a [u8]>,
        theirs: &'a [u8],
    },
}

/// Lines count from 1.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub(crate) enum MarkerError {
    #[error("the conflict that starts on line {line} has no end")]
    Unclosed { line: usize },
    #[error("unexpected conflict marker on line {line}")]
    OutOfPlace { line: usize },
}

/// Parses the conflicts in a text. Markers have at least `min_size` signs, and the same length within one conflict.
///
/// Outside of conflicts only `<<<<<<<` is a marker, because Markdown uses the others.
pub(crate) fn parse(text: &[u8], min_size: usize) -> Result<Vec<Segment<'_>>, MarkerError> {
    let mut segments = Vec::new();
    let mut text_start = 0;
    let mut open: Option<OpenConflict> = None;
    let mut line_end = 0;
    for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        let line_start = line_end;
        line_end += line.len();
        let Some((sign, size)) = marker(line) else { continue };
        let Some(conflict) = open.as_mut() else {
            if sign == b'<' && size >= min_size {
                if text_start < line_start {
                    segments.push(Segment::Text(&text[text_start..line_start]));
                }
                open = Some(OpenConflict { line: number + 1, size, ours_start: line_end, base: None, theirs: None });
            }
            continue;
        };
        if size != conflict.size {
            continue;
        }
        match (sign, conflict.base, conflict.theirs) {
            (b'|', None, None) => conflict.base = Some((line_start, line_end)),
            (b'=', _, None) => conflict.theirs = Some((line_start, line_end)),
            (b'>', base, Some((separator, theirs_start))) => {
                let ours_end = base.map_or(separator, |(marker, _)| marker);
                segments.push(Segment::Conflict {
                    ours: &text[conflict.ours_start..ours_end],
                    base: base.map(|(_, start)| &text[start..separator]),
                    theirs: &text[theirs_start..line_start],
                });
                text_start = line_end;
                open = None;
            }
            _ => return Err(MarkerError::OutOfPlace { line: number + 1 }),
        }
    }
    if let Some(conflict) = open {
        return Err(MarkerError::Unclosed { line: conflict.line });
    }
    if text_start < text.len() {
        segments.push(Segment::Text(&text[text_start..]));
    }
    Ok(segments)
}

/// A conflict whose end is not reached yet. For the base and theirs: start of the marker line, and start of the text after it.
struct OpenConflict {
    line: usize,
    size: usize,
    ours_start: usize,
    base: Option<(usize, usize)>,
    theirs: Option<(usize, usize)>,
}

/// Sign and length of a line that is a marker: one sign repeated, followed by nothing or by a space and a label.
pub(crate) fn marker(line: &[u8]) -> Option<(u8, usize)> {
    let sign = *line.first().filter(|b| matches!(b, b'<' | b'|' | b'=' | b'>'))?;
    let size = line.iter().take_while(|b| **b == sign).count();
    matches!(line[size..], [] | [b' ' | b'\n', ..] | [b'\r', b'\n'] | [b'\r']).then_some((sign, size))
}

pub(crate) fn is_marker(line: &[u8]) -> bool {
    marker(line).is_some_and(|(_, size)| size >= Markers::DEFAULT_SIZE)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Versions<'a> {
    /// What the markers show of the base, and all text outside of conflicts.
    pub base: Cow<'a, [u8]>,
    pub ours: Cow<'a, [u8]>,
    pub theirs: Cow<'a, [u8]>,
    pub conflict_count: usize,
}

pub(crate) fn versions(text: &[u8], min_size: usize) -> Result<Versions<'_>, MarkerError> {
    let segments = parse(text, min_size)?;
    let conflict_count = segments.iter().filter(|segment| matches!(segment, Segment::Conflict { .. })).count();
    if conflict_count == 0 {
        let text = Cow::Borrowed(text);
        return Ok(Versions { base: text.clone(), ours: text.clone(), theirs: text, conflict_count });
    }
    let (mut base_text, mut our_text, mut their_text) = (Vec::new(), Vec::new(), Vec::new());
    for segment in segments {
        let (base, ours, theirs) = match segment {
            Segment::Text(lines) => (lines, lines, lines),
            Segment::Conflict { ours, base, theirs } => (base.unwrap_or_default(), ours, theirs),
        };
        base_text.extend_from_slice(base);
        our_text.extend_from_slice(ours);
        their_text.extend_from_slice(theirs);
    }
    Ok(Versions { base: base_text.into(), ours: our_text.into(), theirs: their_text.into(), conflict_count })
}

/// Replaces each conflict in a merge base by that conflict's own base; returns other texts unchanged.
///
/// Git merges several merge bases into one first, and that text may contain conflicts. If the lines of one of its sides were
/// kept, the merge would conclude that the other side deleted them. Text whose markers do not parse is used unchanged.
pub(crate) fn flatten_base(text: &[u8]) -> Cow<'_, [u8]> {
    let mut flat = Cow::Borrowed(text);
    // Conflicts nest as deep as merges of the history cross; each round removes one level.
    for _ in 0..16 {
        let Ok(Versions { base, conflict_count: 1.., .. }) = versions(&flat, Markers::DEFAULT_SIZE) else { break };
        flat = Cow::Owned(base.into_owned());
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflict() -> ConflictText<'static> {
        ConflictText {
            base: b"one\nold\n".as_slice().into(),
            ours: b"one\nours\nend\n".as_slice().into(),
            theirs: b"one\ntheirs\nend".as_slice().into(),
        }
    }

    fn render(markers: &Markers) -> String {
        let mut out = Vec::new();
        markers.write(&mut out, &conflict()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn conflicts_are_written_in_the_three_styles() {
        let mut markers = Markers::default();
        assert_eq!(render(&markers), "<<<<<<< ours\none\nours\nend\n=======\none\ntheirs\nend\n>>>>>>> theirs\n");
        markers.style = Style::Diff3;
        markers.size = 9;
        assert_eq!(
            render(&markers),
            "<<<<<<<<< ours\none\nours\nend\n||||||||| base\none\nold\n=========\none\ntheirs\nend\n>>>>>>>>> theirs\n"
        );
        markers = Markers { size: 7, style: Style::Zdiff3, labels: Labels::default() };
        assert_eq!(render(&markers), "one\n<<<<<<<\nours\nend\n|||||||\none\nold\n=======\ntheirs\nend\n>>>>>>>\n");
    }

    #[test]
    fn markers_have_the_line_endings_of_the_lines_between_them() {
        let conflict = ConflictText {
            base: b"".as_slice().into(),
            ours: b"a\r\n".as_slice().into(),
            theirs: b"".as_slice().into(),
        };
        let mut out = Vec::new();
        Markers::default().write(&mut out, &conflict).unwrap();
        assert_eq!(out, b"<<<<<<< ours\r\na\r\n=======\r\n>>>>>>> theirs\r\n");
    }

    #[test]
    fn conflicts_parse_as_they_were_written() {
        for (style, size) in [(Style::Merge, 7), (Style::Diff3, 7), (Style::Diff3, 12)] {
            let markers = Markers { size, style, ..Markers::default() };
            let text = format!("before\n{}after\n", render(&markers));
            let versions = versions(text.as_bytes(), 7).unwrap();
            assert_eq!(versions.conflict_count, 1);
            assert_eq!(versions.ours, b"before\none\nours\nend\nafter\n".as_slice());
            assert_eq!(versions.theirs, b"before\none\ntheirs\nend\nafter\n".as_slice());
            let base = if style == Style::Merge { "before\nafter\n" } else { "before\none\nold\nafter\n" };
            assert_eq!(versions.base, base.as_bytes());
        }
    }

    #[test]
    fn errors_name_the_line_of_an_unexpected_marker() {
        for (text, error) in [
            ("a\n<<<<<<< x\nb\n", MarkerError::Unclosed { line: 2 }),
            ("<<<<<<< x\n=======\n", MarkerError::Unclosed { line: 1 }),
            ("<<<<<<< x\n>>>>>>> y\n", MarkerError::OutOfPlace { line: 2 }),
            ("<<<<<<< x\n<<<<<<< y\n", MarkerError::OutOfPlace { line: 2 }),
            ("<<<<<<<\n=======\n=======\n>>>>>>>\n", MarkerError::OutOfPlace { line: 3 }),
        ] {
            assert_eq!(parse(text.as_bytes(), 7), Err(error), "{text:?}");
        }
        for text in ["Title\n=======\n>>>>>>> quoted\n", "<<<<<<\n", "<<<<<<<x\n", "", "\n"] {
            assert_eq!(versions(text.as_bytes(), 7).unwrap().conflict_count, 0, "{text:?}");
        }
    }

    #[test]
    fn conflicts_in_a_base_are_replaced_by_their_own_base() {
        let nested = "x\n<<<<<<<<< a\n1\n|||||||||\n<<<<<<<<<<< b\n2\n|||||||||||\n3\n===========\n4\n>>>>>>>>>>> c\n\
                      =========\n5\n>>>>>>>>> d\ny\n";
        assert_eq!(flatten_base(nested.as_bytes()), b"x\n3\ny\n".as_slice());
        let plain = "x\n<<<<<<<<< a\n1\n=========\n5\n>>>>>>>>> d\ny\n";
        assert_eq!(flatten_base(plain.as_bytes()), b"x\ny\n".as_slice());
        let broken = "x\n<<<<<<<<< a\n";
        assert_eq!(flatten_base(broken.as_bytes()), broken.as_bytes());
    }
}
