//! How breadcrumbs merge: record by record, by meaning, to the byte.
//!
//! 1. Where one side means the same as the base, the other side is taken, whatever the times say; so reverts work, and
//!    edits by hand that left `updated_at` alone. Where all mean the same, the spelling that changed is taken, and of two
//!    that changed the greater bytes.
//! 2. Where both changed, one record is taken whole: see [`Record::precedence`], then the greater bytes.
//! 3. Deleted on one side: gone if the other left it alone, kept if the other changed it.
//! 4. Of several lines of one key on one side, the one that counts is merged. A line that cannot be read is merged as a
//!    line of its own: carried along where both sides have it, gone where one side took it out and the other left it
//!    alone. Brought or changed by one side, it is a conflict, together with all lines of its key.
//!
//! No step looks at the clock or at which side is which, so the result of a clean merge is the same from either side, and
//! merging three branches gives the same bytes in any order. Every line of the result was a line of a side. The result is
//! sorted; a side that is the same as the base, or as the other side, to the byte is not looked into at all.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;

use super::lines::{BOM, Entry, Lines, order_keys};
use super::record::Record;
use super::unreadable::LineError;
use crate::base::finding::{LineIndex, Plain};
use crate::base::merge::conflict::{self, MarkerError};
use crate::base::merge::{ConflictText, Hunk, MergeInput, Merged, Side};

/// What the text of a merge does not show. Its `Display` is a line for stderr; line numbers are those of the side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// Both sides changed a record; one of them counts.
    BothChanged {
        /// Its key.
        key: String,
        /// Whose record was taken.
        taken: Side,
    },
    /// One side deleted a record that the other changed; it was kept.
    KeptChanged {
        /// Its key.
        key: String,
        /// Who deleted it.
        deleted_by: Side,
    },
    /// A side has a key twice; this line does not count.
    Duplicate {
        /// The key.
        key: String,
        /// Which side.
        side: Side,
        /// The line that was left out.
        line: usize,
    },
    /// A line that cannot be read stands on both sides; it was carried along.
    Carried {
        /// Where it stands in ours.
        line: usize,
        /// What is the matter with it.
        reason: LineError,
    },
    /// A line that cannot be read was taken out by one side and left alone by the other; it is gone.
    TakenOut {
        /// Where it stands on the side that still had it.
        line: usize,
        /// Who took it out.
        by: Side,
    },
    /// A side brought or changed a line that cannot be read; it stands between conflict markers.
    Conflict {
        /// Which side.
        side: Side,
        /// Where it stands there.
        line: usize,
        /// What is the matter with it.
        reason: LineError,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BothChanged { key, taken } => write!(f, "`{}`: both sides changed it; took {taken}", Plain(key)),
            Self::KeptChanged { key, deleted_by } => {
                let changed_by = deleted_by.other();
                write!(f, "`{}`: {deleted_by} deleted it, {changed_by} changed it; kept", Plain(key))
            }
            Self::Duplicate { key, side, line } => {
                write!(f, "`{}`: {side} has it more than once; line {line} does not count", Plain(key))
            }
            Self::Carried { line, reason } => write!(f, "line {line} cannot be read and was carried along: {reason}"),
            Self::TakenOut { line, by } => {
                write!(f, "line {line} of {}, which cannot be read, was taken out by {by}", by.other())
            }
            Self::Conflict { side, line, reason } => {
                write!(f, "conflict: line {line} of {side} cannot be read: {reason}")
            }
        }
    }
}

/// Merges two stores that come from one; see the module for the rules.
///
/// Any bytes will do; what cannot be settled is a conflict. A base with conflict markers, as merges with several bases
/// have it, counts for what it says between them. Linear in the length of the sides if these are sorted; records are read
/// only where the sides differ.
#[must_use]
pub fn merge<'a>(sides: MergeInput<'a>) -> Merged<'a, Note> {
    let whole = |text: &'a [u8]| Merged { hunks: vec![Hunk::Merged(Cow::Borrowed(text))], notes: Vec::new() };
    if sides.ours == sides.theirs || sides.theirs == sides.base {
        return whole(sides.ours);
    }
    if sides.ours == sides.base {
        return whole(sides.theirs);
    }
    let base_text = conflict::settled_base(sides.base);
    let (base, ours, theirs) = (Lines::sorted(&base_text), Lines::sorted(sides.ours), Lines::sorted(sides.theirs));
    let mut merge = Merge::new(sides.ours, sides.theirs);
    // Two of the three agree; if the sides do, that is it, else the base agrees with the side that did not change it.
    let has_bom = if ours.has_bom == theirs.has_bom { ours.has_bom } else { !base.has_bom };
    if has_bom {
        merge.hunks.push(Hunk::Merged(Cow::Borrowed(BOM)));
    }
    let (mut base, mut ours, mut theirs) = (&base.entries[..], &ours.entries[..], &theirs.entries[..]);
    while let Some(key) = first_key([base, ours, theirs]) {
        let group = Group {
            base: take_group(&mut base, key.as_deref()),
            ours: take_group(&mut ours, key.as_deref()),
            theirs: take_group(&mut theirs, key.as_deref()),
        };
        match (group.ours, group.theirs) {
            ([ours], [theirs]) if key.is_some() && ours.line == theirs.line => merge.take(Side::Ours, ours.line),
            _ => merge.settle(&group),
        }
    }
    merge.finish()
}

/// Resolves a store full of conflict markers, in any of git's styles, as the merge would have.
///
/// Where the style does not show the base, what only one side has is kept.
///
/// # Errors
///
/// [`MarkerError`] where the conflicts cannot be told apart.
pub fn resolve(text: &[u8], min_marker_size: usize) -> Result<Merged<'static, Note>, MarkerError> {
    resolve_with_base(text, None, min_marker_size)
}

/// As [`resolve`], with a base that is known better than the markers show it.
///
/// # Errors
///
/// As [`resolve`].
pub fn resolve_with_base(
    text: &[u8],
    base: Option<&[u8]>,
    min_marker_size: usize,
) -> Result<Merged<'static, Note>, MarkerError> {
    let versions = conflict::versions(text, min_marker_size)?;
    let base = base.unwrap_or(&versions.base);
    let sides = MergeInput { base, ours: &versions.ours, theirs: &versions.theirs };
    Ok(merge(sides).into_owned())
}

/// The least key that any of the lists starts with; `None` when all are at their end.
#[expect(clippy::option_option, reason = "the inner option is a key as entries have it")]
fn first_key<'b>(lists: [&[Entry<'b>]; 3]) -> Option<Option<Cow<'b, [u8]>>> {
    let firsts = lists.into_iter().filter_map(<[Entry<'b>]>::first);
    firsts.min_by(|a, b| a.order(b)).map(|entry| entry.key.clone())
}

/// Splits the entries of a key off the front.
fn take_group<'s, 'b>(entries: &mut &'s [Entry<'b>], key: Option<&[u8]>) -> &'s [Entry<'b>] {
    let is_other = |entry: &Entry<'_>| order_keys(entry.key.as_deref(), key).is_ne();
    let end = entries.iter().position(is_other).unwrap_or(entries.len());
    let (group, rest) = entries.split_at(end);
    *entries = rest;
    group
}

/// All lines of one key.
struct Group<'s, 'a, 'b> {
    base: &'s [Entry<'b>],
    ours: &'s [Entry<'a>],
    theirs: &'s [Entry<'a>],
}

/// A record with the line it stands on.
type Row<'a> = (&'a [u8], Record<'a>);

/// The lines of one key on one side, read.
struct Read<'a> {
    /// The record that counts.
    row: Option<Row<'a>>,
    /// Records that do not, since a later one has their key.
    superseded: Vec<&'a [u8]>,
    /// Lines that cannot be read, sorted by bytes.
    bad: Vec<(&'a [u8], LineError)>,
}

fn read<'a>(entries: &[Entry<'a>]) -> Read<'a> {
    let mut read = Read { row: None, superseded: Vec::new(), bad: Vec::new() };
    for line in entries.iter().map(|entry| entry.line) {
        match Record::parse(line) {
            Ok(record) => {
                let row = (line, record);
                let counts = read.row.as_ref().is_none_or(|best| outranks(&row, best));
                let beaten = if counts { read.row.replace(row) } else { Some(row) };
                read.superseded.extend(beaten.map(|(line, _)| line));
            }
            Err(reason) => read.bad.push((line, reason)),
        }
    }
    read.bad.sort_by_key(|(line, _)| *line);
    read
}

fn outranks(row: &Row<'_>, other: &Row<'_>) -> bool {
    row.1.precedence(&other.1).then_with(|| row.0.cmp(other.0)).is_gt()
}

/// A merge under way.
struct Merge<'a> {
    ours: &'a [u8],
    theirs: &'a [u8],
    index: [OnceCell<LineIndex<'a>>; 2],
    hunks: Vec<Hunk<'a>>,
    notes: Vec<Note>,
    /// Lines taken from one side that stand there one behind the other and are not among the hunks yet.
    run: Option<(Side, std::ops::Range<usize>)>,
}

impl<'a> Merge<'a> {
    fn new(ours: &'a [u8], theirs: &'a [u8]) -> Self {
        let index = [OnceCell::new(), OnceCell::new()];
        Self { ours, theirs, index, hunks: Vec::new(), notes: Vec::new(), run: None }
    }

    fn text(&self, side: Side) -> &'a [u8] {
        match side {
            Side::Ours => self.ours,
            Side::Theirs => self.theirs,
        }
    }

    /// Where a line stands in the text of its side.
    fn offset(&self, side: Side, line: &[u8]) -> usize {
        line.as_ptr().addr() - self.text(side).as_ptr().addr()
    }

    fn line_number(&self, side: Side, line: &[u8]) -> usize {
        let index = self.index[usize::from(side == Side::Theirs)].get_or_init(|| LineIndex::new(self.text(side)));
        index.position(self.offset(side, line)).line
    }

    /// Takes a line of a side into the result.
    fn take(&mut self, side: Side, line: &[u8]) {
        let start = self.offset(side, line);
        let end = start + line.len() + 1;
        match &mut self.run {
            Some((of, range)) if *of == side && range.end == start => range.end = end,
            _ => {
                self.end_run();
                self.run = Some((side, start..end));
            }
        }
    }

    /// Moves what was taken to the hunks; the last line of a text may lack its end, and gets one.
    fn end_run(&mut self) {
        let Some((side, range)) = self.run.take() else { return };
        let text = self.text(side);
        self.hunks.push(Hunk::Merged(Cow::Borrowed(&text[range.start..range.end.min(text.len())])));
        if range.end > text.len() {
            self.hunks.push(Hunk::Merged(Cow::Borrowed(b"\n")));
        }
    }

    fn finish(mut self) -> Merged<'a, Note> {
        self.end_run();
        Merged { hunks: self.hunks, notes: self.notes }
    }

    fn settle(&mut self, group: &Group<'_, 'a, '_>) {
        let (base, ours, theirs) = (read(group.base), read(group.ours), read(group.theirs));
        let bad = BadLines::of(&base.bad, &ours.bad, &theirs.bad);
        if bad.is_contested {
            return self.contest(group);
        }
        for (side, read) in [(Side::Ours, &ours), (Side::Theirs, &theirs)] {
            for line in &read.superseded {
                let key = read.row.as_ref().map(|(_, record)| record.key.to_string()).unwrap_or_default();
                self.notes.push(Note::Duplicate { key, side, line: self.line_number(side, line) });
            }
        }
        self.settle_record(base.row.as_ref(), ours.row.as_ref(), theirs.row.as_ref());
        for (line, reason) in bad.carried {
            self.notes.push(Note::Carried { line: self.line_number(Side::Ours, line), reason: reason.clone() });
            self.take(Side::Ours, line);
        }
        for (by, line) in bad.taken_out {
            self.notes.push(Note::TakenOut { line: self.line_number(by.other(), line), by });
        }
    }

    fn settle_record(&mut self, base: Option<&Row<'_>>, ours: Option<&Row<'a>>, theirs: Option<&Row<'a>>) {
        let same = |row: &Row<'a>| base.is_some_and(|base| base.0 == row.0 || base.1.means_same(&row.1));
        match (ours, theirs) {
            (None, None) => {}
            (Some(ours), None) => self.settle_deletion(Side::Theirs, ours, base.is_some(), same(ours)),
            (None, Some(theirs)) => self.settle_deletion(Side::Ours, theirs, base.is_some(), same(theirs)),
            (Some(ours), Some(theirs)) if ours.0 == theirs.0 => self.take(Side::Ours, ours.0),
            (Some(ours), Some(theirs)) => {
                let base_line = base.map(|base| base.0);
                let ours_counts = match (same(ours), same(theirs)) {
                    (true, false) => false,
                    (false, true) => true,
                    (true, true) if base_line == Some(ours.0) => false,
                    (true, true) if base_line == Some(theirs.0) => true,
                    (true, true) => ours.0 > theirs.0,
                    (false, false) => {
                        let ours_counts = outranks(ours, theirs);
                        if !ours.1.means_same(&theirs.1) {
                            let taken = if ours_counts { Side::Ours } else { Side::Theirs };
                            self.notes.push(Note::BothChanged { key: ours.1.key.to_string(), taken });
                        }
                        ours_counts
                    }
                };
                if ours_counts { self.take(Side::Ours, ours.0) } else { self.take(Side::Theirs, theirs.0) }
            }
        }
    }

    /// Settles a record that one side does not have: new, deleted, or deleted and changed.
    fn settle_deletion(&mut self, missing_in: Side, row: &Row<'a>, was_there: bool, is_unchanged: bool) {
        if is_unchanged {
            return;
        }
        if was_there {
            self.notes.push(Note::KeptChanged { key: row.1.key.to_string(), deleted_by: missing_in });
        }
        self.take(missing_in.other(), row.0);
    }

    /// Leaves the lines of a group to a person; those that both sides have stand before the conflict.
    fn contest(&mut self, group: &Group<'_, 'a, '_>) {
        let mut common = HashMap::<&[u8], Shared>::new();
        for entry in group.theirs {
            common.entry(entry.line).or_default().theirs += 1;
        }
        let (mut our_lines, mut shared_lines) = (Vec::new(), Vec::new());
        for line in group.ours.iter().map(|entry| entry.line) {
            match common.get_mut(line).filter(|shared| shared.both < shared.theirs) {
                Some(shared) => {
                    shared.both += 1;
                    shared_lines.push(line);
                }
                None => our_lines.push(line),
            }
        }
        // Sorted, so that it does not matter whose order they stood in.
        shared_lines.sort_unstable();
        for line in shared_lines {
            self.take(Side::Ours, line);
        }
        let is_shared = |line: &&[u8]| common.get(line).is_some_and(|shared| shared.both > 0);
        let base_lines = group.base.iter().map(|entry| entry.line).filter(|line| !is_shared(line)).collect();
        let mut their_lines: Vec<_> = group.theirs.iter().map(|entry| entry.line).collect();
        their_lines.retain(|line| match common.get_mut(line) {
            Some(shared) if shared.both > 0 => {
                shared.both -= 1;
                false
            }
            _ => true,
        });
        for (side, lines) in [(Side::Ours, &our_lines), (Side::Theirs, &their_lines)] {
            for line in lines {
                if let Err(reason) = Record::parse(line) {
                    self.notes.push(Note::Conflict { side, line: self.line_number(side, line), reason });
                }
            }
        }
        self.end_run();
        self.hunks.push(Hunk::Conflict(ConflictText {
            base: joined(base_lines),
            ours: joined(our_lines),
            theirs: joined(their_lines),
        }));
    }
}

/// How often a line of theirs stands there, and on both sides.
#[derive(Default)]
struct Shared {
    theirs: usize,
    both: usize,
}

fn joined(lines: Vec<&[u8]>) -> Cow<'static, [u8]> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    Cow::Owned(text)
}

/// The merge of lines that cannot be read, each a thing of its own.
struct BadLines<'r, 'a> {
    is_contested: bool,
    /// Lines on both sides.
    carried: Vec<(&'a [u8], &'r LineError)>,
    /// Lines that a side took out and the other left alone.
    taken_out: Vec<(Side, &'a [u8])>,
}

impl<'r, 'a> BadLines<'r, 'a> {
    /// Merges three lists sorted by bytes, in which a line may stand more than once.
    fn of(base: &[(&[u8], LineError)], ours: &'r [(&'a [u8], LineError)], theirs: &[(&'a [u8], LineError)]) -> Self {
        let mut merged = Self { is_contested: false, carried: Vec::new(), taken_out: Vec::new() };
        let (mut at_ours, mut at_theirs) = (0, 0);
        while let Some(line) = [ours.get(at_ours), theirs.get(at_theirs)].into_iter().flatten().map(|bad| bad.0).min() {
            let of_ours = run_of(ours, &mut at_ours, line);
            let of_theirs = run_of(theirs, &mut at_theirs, line);
            let in_base = base.partition_point(|bad| bad.0 <= line) - base.partition_point(|bad| bad.0 < line);
            let (our_count, their_count) = (of_ours.len(), of_theirs.len());
            let kept = our_count.min(their_count);
            merged.carried.extend(of_ours[..kept].iter().map(|(line, reason)| (*line, reason)));
            if our_count > kept && our_count == in_base {
                merged.taken_out.extend(of_ours[kept..].iter().map(|bad| (Side::Theirs, bad.0)));
            } else if their_count > kept && their_count == in_base {
                merged.taken_out.extend(of_theirs[kept..].iter().map(|bad| (Side::Ours, bad.0)));
            } else if our_count != their_count {
                merged.is_contested = true;
            }
        }
        merged
    }
}

/// The bad lines from `at` on that are `line`; `at` moves behind them.
fn run_of<'r, 'a>(list: &'r [(&'a [u8], LineError)], at: &mut usize, line: &[u8]) -> &'r [(&'a [u8], LineError)] {
    let from = *at;
    *at += list[from..].iter().take_while(|bad| bad.0 == line).count();
    &list[from..*at]
}
