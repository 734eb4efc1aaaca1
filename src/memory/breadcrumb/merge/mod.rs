//! How breadcrumbs merge: record by record, by meaning. The result is defined to the byte.
//!
//! 1. If one side's record means the same as the base's, the other side's is taken, whatever its times are. So reverts work,
//!    and so do edits by hand that left `updated_at` unchanged. If all three mean the same, the changed spelling is taken; of
//!    two changed spellings, the greater in bytes.
//! 2. If both sides changed a record, one complete record wins: by [`Record::precedence`], then by bytes.
//! 3. A record that one side deleted is deleted if the other side left it unchanged, and kept if the other side changed it.
//! 4. If a side has several lines of one key, the winner is merged. An invalid line is merged as its own unit: kept if both
//!    sides have it, removed if one side removed it and the other left it unchanged. If one side added or changed it, it is a
//!    conflict, together with all lines of its key.
//!
//! No step depends on the clock or on which side is ours. So a clean merge has the same result from either side, and merging
//! three branches gives the same bytes in any order. Every line of the result is a line of a side. The result is sorted. A
//! side that equals the base or the other side byte for byte is not parsed.

mod invalid_lines;
mod note;
pub(crate) mod resolve;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use invalid_lines::{Invalid, MergedInvalidLines};
pub(crate) use note::MergeNote;

use super::Record;
use super::store::lines::{BOM, KeyedLine, Lines, order_keys};
use crate::base::finding::LineIndex;
use crate::base::merge::{ConflictText, Hunk, MergeInput, Merged, Side, conflict};

/// Merges three versions of a store file. They may be any bytes.
///
/// If the base contains conflict markers, because git merged it from several bases, the bases of those conflicts are used.
/// The merge is linear in the length of the input if the sides are sorted. It parses records only where the sides differ.
pub(crate) fn merge(input: MergeInput<'_>) -> Merged<'_, MergeNote> {
    if let Some(merged) = Merged::trivial(input) {
        return merged;
    }
    let base_text = conflict::flatten_base(input.base);
    let (base, ours, theirs) = (Lines::sorted(&base_text), Lines::sorted(input.ours), Lines::sorted(input.theirs));
    let mut merge = Merge {
        texts: [input.ours, input.theirs],
        line_indexes: [OnceCell::new(), OnceCell::new()],
        hunks: Vec::new(),
        notes: Vec::new(),
        run: None,
    };
    // A flag has two values: if the sides differ, one of them differs from the base, and that one changed it.
    let has_bom = if ours.has_bom == theirs.has_bom { ours.has_bom } else { !base.has_bom };
    if has_bom {
        merge.hunks.push(Hunk::Merged(Cow::Borrowed(BOM)));
    }
    let (mut base, mut ours, mut theirs) = (&base.lines[..], &ours.lines[..], &theirs.lines[..]);
    while let Some(first) = [base, ours, theirs].iter().filter_map(|lines| lines.first()).min_by(|a, b| a.order(b)) {
        let key = first.key.clone();
        let group = KeyGroup {
            base: take_group(&mut base, key.as_deref()),
            ours: take_group(&mut ours, key.as_deref()),
            theirs: take_group(&mut theirs, key.as_deref()),
        };
        match (group.ours, group.theirs) {
            ([ours], [theirs]) if key.is_some() && ours.line == theirs.line => merge.take(Side::Ours, ours.line),
            _ => merge.group(&group),
        }
    }
    merge.end_run();
    Merged { hunks: merge.hunks, notes: merge.notes }
}

/// Splits the lines with a key off the front.
fn take_group<'s, 'b>(lines: &mut &'s [KeyedLine<'b>], key: Option<&[u8]>) -> &'s [KeyedLine<'b>] {
    let is_other = |line: &KeyedLine<'_>| order_keys(line.key.as_deref(), key).is_ne();
    let end = lines.iter().position(is_other).unwrap_or(lines.len());
    let (group, rest) = lines.split_at(end);
    *lines = rest;
    group
}

/// All lines with the same key.
struct KeyGroup<'s, 'a, 'b> {
    base: &'s [KeyedLine<'b>],
    ours: &'s [KeyedLine<'a>],
    theirs: &'s [KeyedLine<'a>],
}

/// A record and its line.
type Row<'a> = (&'a [u8], Record<'a>);

/// The lines of one key on one side, parsed.
#[derive(Default)]
struct ParsedGroup<'a> {
    winner: Option<Row<'a>>,
    losers: Vec<&'a [u8]>,
    /// Sorted by bytes.
    invalid: Vec<Invalid<'a>>,
}

fn parse<'a>(lines: &[KeyedLine<'a>]) -> ParsedGroup<'a> {
    let mut parsed = ParsedGroup::default();
    for KeyedLine { line, .. } in lines {
        match Record::parse(line) {
            Ok(record) => {
                let row = (*line, record);
                let wins = parsed.winner.as_ref().is_none_or(|winner| outranks(&row, winner));
                let loser = if wins { parsed.winner.replace(row) } else { Some(row) };
                parsed.losers.extend(loser.map(|(line, _)| line));
            }
            Err(reason) => parsed.invalid.push((*line, reason)),
        }
    }
    parsed.invalid.sort_by_key(|(line, _)| *line);
    parsed
}

fn outranks(row: &Row<'_>, other: &Row<'_>) -> bool {
    row.1.precedence(&other.1).then_with(|| row.0.cmp(other.0)).is_gt()
}

/// The state of a merge.
struct Merge<'a> {
    texts: [&'a [u8]; 2],
    line_indexes: [OnceCell<LineIndex<'a>>; 2],
    hunks: Vec<Hunk<'a>>,
    notes: Vec<MergeNote>,
    /// Consecutive lines that were taken from one side and are not in a hunk yet.
    run: Option<(Side, std::ops::Range<usize>)>,
}

impl<'a> Merge<'a> {
    fn text(&self, side: Side) -> &'a [u8] {
        self.texts[side as usize]
    }

    /// The offset of a line in the text of its side.
    fn offset(&self, side: Side, line: &[u8]) -> usize {
        line.as_ptr().addr() - self.text(side).as_ptr().addr()
    }

    fn line_number(&self, side: Side, line: &[u8]) -> usize {
        let index = self.line_indexes[side as usize].get_or_init(|| LineIndex::new(self.text(side)));
        index.position(self.offset(side, line)).line
    }

    /// Adds a line of a side to the result.
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

    /// Turns the run into a hunk. If its last line lacks a line ending, it gets one.
    fn end_run(&mut self) {
        let Some((side, range)) = self.run.take() else { return };
        let text = self.text(side);
        self.hunks.push(Hunk::Merged(Cow::Borrowed(&text[range.start..range.end.min(text.len())])));
        if range.end > text.len() {
            self.hunks.push(Hunk::Merged(Cow::Borrowed(b"\n")));
        }
    }

    fn group(&mut self, group: &KeyGroup<'_, 'a, '_>) {
        let (base, ours, theirs) = (parse(group.base), parse(group.ours), parse(group.theirs));
        let MergedInvalidLines { is_conflict, kept, removed } =
            invalid_lines::merge(&base.invalid, &ours.invalid, &theirs.invalid);
        if is_conflict {
            return self.conflict(group);
        }
        for (side, parsed) in [(Side::Ours, &ours), (Side::Theirs, &theirs)] {
            for line in &parsed.losers {
                let key = parsed.winner.as_ref().map(|(_, record)| record.key.to_string()).unwrap_or_default();
                self.notes.push(MergeNote::Duplicate { key, side, line: self.line_number(side, line) });
            }
        }
        self.record(base.winner.as_ref(), ours.winner.as_ref(), theirs.winner.as_ref());
        for (line, reason) in kept {
            let number = self.line_number(Side::Ours, line);
            self.notes.push(MergeNote::KeptInvalid { line: number, reason: reason.clone() });
            self.take(Side::Ours, line);
        }
        for (by, line) in removed {
            self.notes.push(MergeNote::RemovedInvalid { line: self.line_number(by.other(), line), by });
        }
    }

    fn record(&mut self, base: Option<&Row<'_>>, ours: Option<&Row<'a>>, theirs: Option<&Row<'a>>) {
        let is_unchanged = |row: &Row<'a>| base.is_some_and(|base| base.0 == row.0 || base.1.means_same(&row.1));
        match (ours, theirs) {
            (None, None) => {}
            (Some(row), None) | (None, Some(row)) => {
                if !is_unchanged(row) {
                    let missing_in = if ours.is_none() { Side::Ours } else { Side::Theirs };
                    if base.is_some() {
                        let key = row.1.key.to_string();
                        self.notes.push(MergeNote::KeptChanged { key, deleted_by: missing_in });
                    }
                    self.take(missing_in.other(), row.0);
                }
            }
            (Some(ours), Some(theirs)) if ours.0 == theirs.0 => self.take(Side::Ours, ours.0),
            (Some(ours), Some(theirs)) => {
                let base_line = base.map(|base| base.0);
                let takes_ours = match (is_unchanged(ours), is_unchanged(theirs)) {
                    (true, false) => false,
                    (false, true) => true,
                    (true, true) if base_line == Some(ours.0) => false,
                    (true, true) if base_line == Some(theirs.0) => true,
                    (true, true) => ours.0 > theirs.0,
                    (false, false) => {
                        let takes_ours = outranks(ours, theirs);
                        if !ours.1.means_same(&theirs.1) {
                            let taken = if takes_ours { Side::Ours } else { Side::Theirs };
                            self.notes.push(MergeNote::BothChanged { key: ours.1.key.to_string(), taken });
                        }
                        takes_ours
                    }
                };
                if takes_ours { self.take(Side::Ours, ours.0) } else { self.take(Side::Theirs, theirs.0) }
            }
        }
    }

    /// Adds a conflict of all lines of a key. Lines that both sides have go before the conflict.
    fn conflict(&mut self, group: &KeyGroup<'_, 'a, '_>) {
        let lines = |side: &[KeyedLine<'a>]| side.iter().map(|line| line.line).collect::<Vec<_>>();
        let (mut our_lines, mut their_lines) = (lines(group.ours), lines(group.theirs));
        let mut unmatched = HashMap::<&[u8], usize>::new();
        for line in &their_lines {
            *unmatched.entry(line).or_default() += 1;
        }
        let mut common = HashMap::<&[u8], usize>::new();
        let mut common_lines = Vec::new();
        our_lines.retain(|line| match unmatched.get_mut(line).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                *common.entry(line).or_default() += 1;
                common_lines.push(*line);
                false
            }
            None => true,
        });
        // Sort them, because the sides may have them in different orders.
        common_lines.sort_unstable();
        for line in common_lines {
            self.take(Side::Ours, line);
        }
        let base_lines = group.base.iter().map(|line| line.line).filter(|line| !common.contains_key(line)).collect();
        their_lines.retain(|line| match common.get_mut(line).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                false
            }
            None => true,
        });
        for (side, lines) in [(Side::Ours, &our_lines), (Side::Theirs, &their_lines)] {
            for line in lines {
                if let Err(reason) = Record::parse(line) {
                    self.notes.push(MergeNote::Conflict { side, line: self.line_number(side, line), reason });
                }
            }
        }
        self.end_run();
        self.hunks.push(Hunk::Conflict(ConflictText {
            base: join(base_lines),
            ours: join(our_lines),
            theirs: join(their_lines),
        }));
    }
}

fn join(lines: Vec<&[u8]>) -> Cow<'static, [u8]> {
    Cow::Owned(lines.into_iter().flat_map(|line| [line, b"\n"].concat()).collect())
}
