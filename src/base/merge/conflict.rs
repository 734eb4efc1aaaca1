//! Conflicts as git writes them, in both directions.
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
//! Markers are as long as git asks, seven unless told; within the base of a merge with several bases stand longer ones.

use std::borrow::Cow;
use std::io::{self, Write};

use thiserror::Error;

use super::outcome::ConflictText;
use crate::base::finding::Plain;

/// How conflicts are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Markers {
    /// Length of a marker, git's `%L`.
    pub size: usize,
    /// What is shown of a conflict.
    pub style: Style,
    /// What stands behind the markers.
    pub labels: Labels,
}

/// What is shown of a conflict, as in git's `merge.conflictStyle`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// Both sides.
    #[default]
    Merge,
    /// Both sides and the base between them.
    Diff3,
    /// As diff3, without the lines with which both sides begin or end alike.
    Zdiff3,
}

/// Names of the three versions; an empty one is left out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Labels {
    /// Behind `|||||||`, git's `%S`.
    pub base: String,
    /// Behind `<<<<<<<`, git's `%X`.
    pub ours: String,
    /// Behind `>>>>>>>`, git's `%Y`.
    pub theirs: String,
}

impl Markers {
    /// Length of a marker where nobody asks for another.
    pub const DEFAULT_SIZE: usize = 7;
}

impl Default for Markers {
    fn default() -> Self {
        let labels = Labels { base: "base".to_owned(), ours: "ours".to_owned(), theirs: "theirs".to_owned() };
        Self { size: Self::DEFAULT_SIZE, style: Style::Merge, labels }
    }
}

impl Markers {
    /// Writes one conflict. The markers end as the contested lines do, in `\r\n` where all of them do.
    pub(crate) fn write(&self, out: &mut impl Write, contested: &ConflictText<'_>) -> io::Result<()> {
        let (mut ours, mut theirs) = (lines(&contested.ours), lines(&contested.theirs));
        let ending = if ours.iter().chain(&theirs).all(|line| line.ends_with(b"\r\n")) { "\r\n" } else { "\n" };
        let mut after = Vec::new();
        if self.style == Style::Zdiff3 {
            let same = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
            for line in ours.drain(..same) {
                out.write_all(line)?;
            }
            theirs.drain(..same);
            let same = ours.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
            after = ours.split_off(ours.len() - same);
            theirs.truncate(theirs.len() - same);
        }
        self.write_marker(out, '<', &self.labels.ours, ending)?;
        write_lines(out, &ours)?;
        if self.style != Style::Merge {
            self.write_marker(out, '|', &self.labels.base, ending)?;
            write_lines(out, &lines(&contested.base))?;
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

/// The lines of a text, each with its end.
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

/// Part of a text that may hold conflicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Segment<'a> {
    /// Lines outside of any conflict.
    Text(&'a [u8]),
    /// What stood between markers.
    Conflict {
        /// Between `<<<<<<<` and the next marker.
        ours: &'a [u8],
        /// Between `|||||||` and `=======`, where the style shows it.
        base: Option<&'a [u8]>,
        /// Between `=======` and `>>>>>>>`.
        theirs: &'a [u8],
    },
}

/// Why the conflicts of a text cannot be told apart.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum MarkerError {
    /// A conflict without an end.
    #[error("the conflict that starts in line {line} has no end")]
    Unclosed {
        /// Line of its `<<<<<<<`, from 1.
        line: usize,
    },
    /// A marker that cannot stand there.
    #[error("line {line} is a conflict marker out of place")]
    OutOfPlace {
        /// Line of the marker, from 1.
        line: usize,
    },
}

/// Reads the conflicts of a text; markers have at least `min_size` signs and are equally long within one conflict.
///
/// Outside of conflicts only `<<<<<<<` counts as a marker, since Markdown has uses for the others.
///
/// # Errors
///
/// [`MarkerError`] where a conflict is not closed, or markers stand in the wrong order.
pub(crate) fn parse(text: &[u8], min_size: usize) -> Result<Vec<Segment<'_>>, MarkerError> {
    let mut segments = Vec::new();
    let mut outside_from = 0;
    let mut open: Option<Open> = None;
    let mut start = 0;
    for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        let (line_start, line_end) = (start, start + line.len());
        start = line_end;
        let Some((sign, size)) = marker(line) else { continue };
        let Some(conflict) = open.as_mut() else {
            if sign == b'<' && size >= min_size {
                if outside_from < line_start {
                    segments.push(Segment::Text(&text[outside_from..line_start]));
                }
                open = Some(Open { line: number + 1, size, ours_from: line_end, base: None, theirs: None });
            }
            continue;
        };
        if size != conflict.size {
            continue;
        }
        match (sign, conflict.base, conflict.theirs) {
            (b'|', None, None) => conflict.base = Some((line_start, line_end)),
            (b'=', _, None) => conflict.theirs = Some((line_start, line_end)),
            (b'>', base, Some((theirs_at, theirs_from))) => {
                let ours_to = base.map_or(theirs_at, |(at, _)| at);
                segments.push(Segment::Conflict {
                    ours: &text[conflict.ours_from..ours_to],
                    base: base.map(|(_, from)| &text[from..theirs_at]),
                    theirs: &text[theirs_from..line_start],
                });
                outside_from = line_end;
                open = None;
            }
            _ => return Err(MarkerError::OutOfPlace { line: number + 1 }),
        }
    }
    if let Some(conflict) = open {
        return Err(MarkerError::Unclosed { line: conflict.line });
    }
    if outside_from < text.len() {
        segments.push(Segment::Text(&text[outside_from..]));
    }
    Ok(segments)
}

/// A conflict whose end was not seen yet: start of its marker line and of what follows, for each part.
struct Open {
    line: usize,
    size: usize,
    ours_from: usize,
    base: Option<(usize, usize)>,
    theirs: Option<(usize, usize)>,
}

/// Sign and length of a line that is a marker: one sign over and over, then a space with a label, or nothing.
#[must_use]
pub(crate) fn marker(line: &[u8]) -> Option<(u8, usize)> {
    let sign = *line.first().filter(|b| matches!(b, b'<' | b'|' | b'=' | b'>'))?;
    let size = line.iter().take_while(|b| **b == sign).count();
    matches!(line[size..], [] | [b' ' | b'\n', ..] | [b'\r', b'\n'] | [b'\r']).then_some((sign, size))
}

/// The three versions that a text full of markers was made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Versions<'a> {
    /// The base, as far as the markers show it; what both sides have outside of conflicts counts as in it.
    pub base: Cow<'a, [u8]>,
    /// Our side.
    pub ours: Cow<'a, [u8]>,
    /// Their side.
    pub theirs: Cow<'a, [u8]>,
    /// How many conflicts there were.
    pub conflict_count: usize,
}

/// Takes a text full of markers apart, in any style.
///
/// # Errors
///
/// As [`parse`].
pub(crate) fn versions(text: &[u8], min_size: usize) -> Result<Versions<'_>, MarkerError> {
    let segments = parse(text, min_size)?;
    let conflict_count = segments.iter().filter(|segment| matches!(segment, Segment::Conflict { .. })).count();
    if conflict_count == 0 {
        let whole = Cow::Borrowed(text);
        return Ok(Versions { base: whole.clone(), ours: whole.clone(), theirs: whole, conflict_count });
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

/// The base that a text with conflicts stands for, itself where it has none.
///
/// A merge with several bases first merges those, and gets as its base a text that may hold conflicts. Of each conflict
/// counts what its own base says: the lines of either side alone must not, or the other side would seem to have deleted
/// them. Text whose markers cannot be read counts as it stands.
#[must_use]
pub(crate) fn settled_base(text: &[u8]) -> Cow<'_, [u8]> {
    let mut settled = Cow::Borrowed(text);
    // A base within a base is nested as deep as the history is crossed; each round takes one level off.
    for _ in 0..16 {
        let Ok(Versions { base, conflict_count: 1.., .. }) = versions(&settled, Markers::DEFAULT_SIZE) else { break };
        settled = Cow::Owned(base.into_owned());
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contested() -> ConflictText<'static> {
        ConflictText {
            base: b"one\nold\n".as_slice().into(),
            ours: b"one\nours\nend\n".as_slice().into(),
            theirs: b"one\ntheirs\nend".as_slice().into(),
        }
    }

    fn written(markers: &Markers) -> String {
        let mut out = Vec::new();
        markers.write(&mut out, &contested()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn conflicts_are_written_in_the_three_styles() {
        let mut markers = Markers::default();
        assert_eq!(written(&markers), "<<<<<<< ours\none\nours\nend\n=======\none\ntheirs\nend\n>>>>>>> theirs\n");
        markers.style = Style::Diff3;
        markers.size = 9;
        assert_eq!(
            written(&markers),
            "<<<<<<<<< ours\none\nours\nend\n||||||||| base\none\nold\n=========\none\ntheirs\nend\n>>>>>>>>> theirs\n"
        );
        markers = Markers { size: 7, style: Style::Zdiff3, labels: Labels::default() };
        assert_eq!(written(&markers), "one\n<<<<<<<\nours\nend\n|||||||\none\nold\n=======\ntheirs\nend\n>>>>>>>\n");
    }

    #[test]
    fn markers_end_as_the_lines_between_them() {
        let contested = ConflictText {
            base: b"".as_slice().into(),
            ours: b"a\r\n".as_slice().into(),
            theirs: b"".as_slice().into(),
        };
        let mut out = Vec::new();
        Markers::default().write(&mut out, &contested).unwrap();
        assert_eq!(out, b"<<<<<<< ours\r\na\r\n=======\r\n>>>>>>> theirs\r\n");
    }

    #[test]
    fn what_was_written_is_read() {
        for (style, size) in [(Style::Merge, 7), (Style::Diff3, 7), (Style::Diff3, 12)] {
            let markers = Markers { size, style, ..Markers::default() };
            let text = format!("before\n{}after\n", written(&markers));
            let versions = versions(text.as_bytes(), 7).unwrap();
            assert_eq!(versions.conflict_count, 1);
            assert_eq!(versions.ours, b"before\none\nours\nend\nafter\n".as_slice());
            assert_eq!(versions.theirs, b"before\none\ntheirs\nend\nafter\n".as_slice());
            let base = if style == Style::Merge { "before\nafter\n" } else { "before\none\nold\nafter\n" };
            assert_eq!(versions.base, base.as_bytes());
        }
    }

    #[test]
    fn markers_out_of_order_are_named_by_line() {
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
    fn a_base_with_conflicts_counts_as_its_own_base() {
        let nested = "x\n<<<<<<<<< a\n1\n|||||||||\n<<<<<<<<<<< b\n2\n|||||||||||\n3\n===========\n4\n>>>>>>>>>>> c\n\
                      =========\n5\n>>>>>>>>> d\ny\n";
        assert_eq!(settled_base(nested.as_bytes()), b"x\n3\ny\n".as_slice());
        let plain = "x\n<<<<<<<<< a\n1\n=========\n5\n>>>>>>>>> d\ny\n";
        assert_eq!(settled_base(plain.as_bytes()), b"x\ny\n".as_slice());
        let broken = "x\n<<<<<<<<< a\n";
        assert_eq!(settled_base(broken.as_bytes()), broken.as_bytes());
    }
}
