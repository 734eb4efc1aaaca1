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
//! 5. A version that contains a complete block of conflict markers, because somebody committed it, is read as if the markers, and
//!    what they show of the base, were blank lines: the records of both halves take part.
//! 6. The line ending is that of the side which changed it; see [`plain`]. All lines of the result have it.
//!
//! No step depends on the clock or on which side is ours. So a clean merge has the same result from either side. Every line of the
//! result is a line of a side, apart from its line ending. The result is sorted, unless a side equals the base or the other side
//! byte for byte: then nothing is parsed, and the bytes of a side are the result. So merging three branches gives the same bytes in
//! any order if the files are sorted and not empty.

mod note;
pub(crate) mod plain;
pub(crate) mod resolve;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

pub(crate) use note::MergeNote;

use super::store::lines::{BOM, KeyedLine, Lines, order_keys};
use super::{LineError, Record};
use crate::base::merge::{ConflictText, Hunk, MergeInput, Merged, Side};

/// Merges three versions of a store file. They may be any bytes.
///
/// If the base contains long conflict markers, because git merged it from several bases, the bases of those conflicts are used.
/// The merge is linear in the length of the input if the sides are sorted. It parses records only where the sides differ.
pub(crate) fn merge(input: MergeInput<'_>) -> Merged<'_, MergeNote> {
    if let Some(merged) = Merged::trivial(input) {
        return merged;
    }
    let mut notes = Vec::new();
    match plain::plain(input, &mut notes) {
        [base, Cow::Borrowed(ours), Cow::Borrowed(theirs)] => merge_plain(&base, ours, theirs, notes),
        [base, ours, theirs] => merge_plain(&base, &ours, &theirs, notes).into_owned(),
    }
}

fn merge_plain<'a>(base: &[u8], ours: &'a [u8], theirs: &'a [u8], notes: Vec<MergeNote>) -> Merged<'a, MergeNote> {
    let mut merge = Merge { texts: [ours, theirs], hunks: Vec::new(), notes, run: None };
    let [base, ours, theirs] = [base, ours, theirs].map(Lines::sorted);
    // A flag has two values: if the sides differ, one of them differs from the base, and that one changed it.
    let has_bom = if ours.has_bom == theirs.has_bom { ours.has_bom } else { !base.has_bom };
    if has_bom {
        merge.hunks.push(Hunk::Merged(Cow::Borrowed(BOM)));
    }
    let mut rest = [&base.lines[..], &ours.lines, &theirs.lines];
    while let Some(first) = rest.iter().filter_map(|lines| lines.first()).min_by(|a, b| a.order(b)) {
        let key = first.key.as_deref();
        let group = rest.each_mut().map(|lines| take_group(lines, key));
        match group {
            [_, [ours], [theirs]] if key.is_some() && ours.text == theirs.text => merge.take(Side::Ours, ours),
            _ => merge.group(group),
        }
    }
    merge.end_run();
    Merged { hunks: merge.hunks, notes: merge.notes }
}

/// All lines of one key: those of the base, of ours, and of theirs.
type Group<'l> = [&'l [KeyedLine<'l>]; 3];

fn take_group<'l>(lines: &mut &'l [KeyedLine<'l>], key: Option<&[u8]>) -> &'l [KeyedLine<'l>] {
    let is_other = |line: &KeyedLine<'_>| order_keys(line.key.as_deref(), key).is_ne();
    let end = lines.iter().position(is_other).unwrap_or(lines.len());
    let (group, rest) = lines.split_at(end);
    *lines = rest;
    group
}

type Row<'l> = (&'l KeyedLine<'l>, Record<'l>);

/// A line that is not a record, and why.
type Unreadable<'l> = (&'l KeyedLine<'l>, LineError);

#[derive(Default)]
struct ParsedLines<'l> {
    winner: Option<Row<'l>>,
    losers: Vec<&'l KeyedLine<'l>>,
    invalid: Vec<Unreadable<'l>>,
}

fn parse<'l>(lines: &'l [KeyedLine<'l>]) -> ParsedLines<'l> {
    let mut parsed = ParsedLines::default();
    for line in lines {
        match Record::parse(line.text) {
            Ok(record) => {
                let row = (line, record);
                let wins = parsed.winner.as_ref().is_none_or(|winner| outranks(&row, winner));
                let loser = if wins { parsed.winner.replace(row) } else { Some(row) };
                parsed.losers.extend(loser.map(|(line, _)| line));
            }
            Err(reason) => parsed.invalid.push((line, reason)),
        }
    }
    parsed
}

fn outranks(row: &Row<'_>, other: &Row<'_>) -> bool {
    row.1.precedence(&other.1).then_with(|| row.0.text.cmp(other.0.text)).is_gt()
}

struct Merge<'a> {
    texts: [&'a [u8]; 2],
    hunks: Vec<Hunk<'a>>,
    notes: Vec<MergeNote>,
    /// Consecutive lines that were taken from one side and are not in a hunk yet.
    run: Option<(Side, Range<usize>)>,
}

impl Merge<'_> {
    fn take(&mut self, side: Side, line: &KeyedLine<'_>) {
        match &mut self.run {
            Some((of, range)) if *of == side && range.end == line.start => range.end = line.end(),
            _ => {
                self.end_run();
                self.run = Some((side, line.start..line.end()));
            }
        }
    }

    /// Turns the run into a hunk.
    fn end_run(&mut self) {
        let Some((side, range)) = self.run.take() else { return };
        let text = self.texts[side as usize];
        self.hunks.push(Hunk::Merged(Cow::Borrowed(&text[range])));
    }

    fn group(&mut self, group: Group<'_>) {
        let parsed = group.map(parse);
        let mut copies: BTreeMap<&[u8], [Vec<&Unreadable<'_>>; 3]> = BTreeMap::new();
        for (version, lines) in parsed.iter().enumerate() {
            for invalid in &lines.invalid {
                copies.entry(invalid.0.text).or_default()[version].push(invalid);
            }
        }
        let (mut kept, mut removed) = (Vec::new(), Vec::new());
        for [base, ours, theirs] in copies.values() {
            let (fewer, more, by) =
                if ours.len() < theirs.len() { (ours, theirs, Side::Ours) } else { (theirs, ours, Side::Theirs) };
            if fewer.len() < more.len() && more.len() != base.len() {
                return self.conflict(group);
            }
            kept.extend(ours[..fewer.len()].iter().copied());
            removed.extend(
                more[fewer.len()..].iter().map(|(line, _)| MergeNote::RemovedInvalid { line: line.number, by }),
            );
        }
        let [base, ours, theirs] = &parsed;
        for (side, ParsedLines { winner, losers, .. }) in [(Side::Ours, ours), (Side::Theirs, theirs)] {
            for line in losers {
                let key = winner.as_ref().map(|(_, record)| record.key.to_string()).unwrap_or_default();
                self.notes.push(MergeNote::Duplicate { key, side, line: line.number });
            }
        }
        self.record(base.winner.as_ref(), ours.winner.as_ref(), theirs.winner.as_ref());
        for (line, reason) in kept {
            self.notes.push(MergeNote::KeptInvalid { line: line.number, reason: reason.clone() });
            self.take(Side::Ours, line);
        }
        self.notes.append(&mut removed);
    }

    fn record(&mut self, base: Option<&Row<'_>>, ours: Option<&Row<'_>>, theirs: Option<&Row<'_>>) {
        let base_text = base.map(|base| base.0.text);
        let is_unchanged =
            |row: &Row<'_>| base.is_some_and(|base| base.0.text == row.0.text || base.1.means_same(&row.1));
        let taken = match (ours, theirs) {
            (None, None) => return,
            (Some(row), None) | (None, Some(row)) if is_unchanged(row) => return,
            (Some(row), None) | (None, Some(row)) => {
                let deleted_by = if ours.is_none() { Side::Ours } else { Side::Theirs };
                if base.is_some() {
                    self.notes.push(MergeNote::KeptChanged { key: row.1.key.to_string(), deleted_by });
                }
                deleted_by.other()
            }
            (Some(ours), Some(theirs)) if ours.0.text == theirs.0.text => Side::Ours,
            (Some(ours), Some(theirs)) => {
                let takes_ours = match (is_unchanged(ours), is_unchanged(theirs)) {
                    (true, false) => false,
                    (false, true) => true,
                    (true, true) if base_text == Some(ours.0.text) => false,
                    (true, true) if base_text == Some(theirs.0.text) => true,
                    (true, true) => ours.0.text > theirs.0.text,
                    (false, false) => outranks(ours, theirs),
                };
                let taken = if takes_ours { Side::Ours } else { Side::Theirs };
                if !is_unchanged(ours) && !is_unchanged(theirs) && !ours.1.means_same(&theirs.1) {
                    self.notes.push(MergeNote::BothChanged { key: ours.1.key.to_string(), taken });
                }
                taken
            }
        };
        let row = if taken == Side::Ours { ours } else { theirs };
        if let Some((line, _)) = row {
            self.take(taken, line);
        }
    }

    /// Adds a conflict of all lines of a key. Lines that both sides have go before the conflict.
    fn conflict(&mut self, [base, ours, theirs]: Group<'_>) {
        let mut unmatched = count(theirs);
        let (mut common, ours): (Vec<_>, Vec<_>) = ours.iter().partition(|line| take_one(&mut unmatched, line));
        let mut matched = count(common.iter().copied());
        let base = base.iter().filter(|line| !matched.contains_key(line.text)).collect();
        let theirs: Vec<_> = theirs.iter().filter(|line| !take_one(&mut matched, line)).collect();
        // Sort them, because the sides may have them in different orders.
        common.sort_unstable_by_key(|line| line.text);
        for line in common {
            self.take(Side::Ours, line);
        }
        for (side, lines) in [(Side::Ours, &ours), (Side::Theirs, &theirs)] {
            for line in lines {
                if let Err(reason) = Record::parse(line.text) {
                    self.notes.push(MergeNote::Conflict { side, line: line.number, reason });
                }
            }
        }
        self.end_run();
        self.hunks.push(Hunk::Conflict(ConflictText { base: join(base), ours: join(ours), theirs: join(theirs) }));
    }
}

fn count<'l>(lines: impl IntoIterator<Item = &'l KeyedLine<'l>>) -> HashMap<&'l [u8], usize> {
    let mut counts = HashMap::new();
    for line in lines {
        *counts.entry(line.text).or_default() += 1;
    }
    counts
}

/// Takes one copy of a line; false if there is none left.
fn take_one(counts: &mut HashMap<&[u8], usize>, line: &KeyedLine<'_>) -> bool {
    counts.get_mut(line.text).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
}

fn join(lines: Vec<&KeyedLine<'_>>) -> Cow<'static, [u8]> {
    Cow::Owned(lines.into_iter().flat_map(|line| [line.text, b"\n"].concat()).collect())
}
