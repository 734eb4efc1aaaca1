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
use crate::base::escape::Plain;

/// What to do about a file with conflict markers. `git checkout -m` merges again, with the driver that is now installed.
pub(crate) const REMEDY: &str = "edit it, or merge it by entry: `git trace install`, then `git checkout -m FILE`";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Markers {
    /// Length of a marker, git's `%L`.
    pub(crate) size: usize,
    pub(crate) style: Style,
    pub(crate) labels: Labels,
}

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
///
/// Only conflicts with markers of at least `min_size` signs count: those of a merge of bases are longer than the default.
pub(crate) fn flatten_base(text: &[u8], min_size: usize) -> Cow<'_, [u8]> {
    let mut flat = Cow::Borrowed(text);
    // Conflicts nest as deep as merges of the history cross; each round removes one level.
    for _ in 0..16 {
        let Ok(Versions { base, conflict_count: 1.., .. }) = versions(&flat, min_size) else { break };
        flat = Cow::Owned(base.into_owned());
    }
    flat
}

/// Replaces markers and the lines of the base by blanks, so that the lines of both sides of each conflict stay where they
/// are. Text whose markers do not parse is returned unchanged.
pub(crate) fn blank_markers(text: &[u8]) -> Cow<'_, [u8]> {
    let mut blanked = Cow::Borrowed(text);
    for _ in 0..16 {
        let offset = |part: &[u8]| part.as_ptr().addr() - blanked.as_ptr().addr();
        let Ok(segments) = parse(&blanked, Markers::DEFAULT_SIZE) else { break };
        let mut kept = Vec::new();
        for segment in &segments {
            let parts = match *segment {
                Segment::Text(lines) => [lines, &[]],
                Segment::Conflict { ours, theirs, .. } => [ours, theirs],
            };
            kept.extend(
                parts.into_iter().filter(|part| !part.is_empty()).map(|part| offset(part)..offset(part) + part.len()),
            );
        }
        if segments.iter().all(|segment| matches!(segment, Segment::Text(_))) {
            break;
        }
        let mut text: Vec<u8> = blanked.iter().map(|b| if *b == b'\n' { b'\n' } else { b' ' }).collect();
        for range in kept {
            text[range.clone()].copy_from_slice(&blanked[range]);
        }
        blanked = Cow::Owned(text);
    }
    blanked
}

#[cfg(test)]
#[path = "../../../tests/unit/base/merge/conflict.rs"]
mod tests;
