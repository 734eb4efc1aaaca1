//! Merging checkpoints and indexes: frontmatter by key, tables by row, lists by item, deltas by time, and prose by lines.
//!
//! 1. A part that one side did not change is taken from the other side, so deletions and reverts are kept.
//! 2. Additions of both sides are all kept; deltas are sorted by time.
//! 3. A part that one side deleted and the other changed is kept, with a note.
//! 4. If both sides changed a part: `last_delta` and the date in an index take the later value, `created` the earlier one.
//!    A row is merged by cell, a section by block, and a text by lines. The rest is a conflict.
//!
//! No rule depends on the clock. A clean merge does not depend on the side, unless both sides reordered parts.

mod align;
pub(crate) mod chunks;

use std::borrow::Cow;

use thiserror::Error;

use super::document::Timestamp;
use super::document::markdown::{cells, render_row};
use crate::base::escape::Plain;
use crate::base::merge::conflict;
use crate::base::merge::{ConflictText, Hunk, Markers, MergeInput, Merged};
use crate::trace::Time;
use align::MergedChunk;
use chunks::{Chunk, ChunkKind, DELTA, unnumbered};

/// A decision that the merged text does not show.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub(crate) enum Note {
    #[error("{}: one side deleted it, the other changed it; kept", Plain(what))]
    KeptChanged { what: String },
    #[error("{}: both sides changed it; took {}", Plain(what), Plain(taken))]
    BothChanged { what: String, taken: String },
}

/// Merges three versions of a checkpoint or an index; `None` if one is not UTF-8 and must be merged by lines.
///
/// A base with conflict markers is replaced by the base inside them.
pub(crate) fn merge(sides: MergeInput<'_>) -> Option<Merged<'static, Note>> {
    let base = conflict::flatten_base(sides.base, Markers::DEFAULT_SIZE);
    let texts = [&base[..], sides.ours, sides.theirs].map(std::str::from_utf8);
    let [Ok(base), Ok(ours), Ok(theirs)] = texts else { return None };
    let mut merge = Merge { hunks: Vec::new(), notes: Vec::new() };
    if ours == theirs || theirs == base {
        merge.take(ours);
    } else if ours == base {
        merge.take(theirs);
    } else {
        merge.list(&chunks::sections(base), &chunks::sections(ours), &chunks::sections(theirs));
    }
    Some(Merged { hunks: merge.hunks, notes: merge.notes })
}

struct Merge {
    hunks: Vec<Hunk<'static>>,
    notes: Vec<Note>,
}

impl Merge {
    fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.end_line() {
            Some(last) => last.extend_from_slice(text.as_bytes()),
            None => self.hunks.push(Hunk::Merged(Cow::Owned(text.as_bytes().to_vec()))),
        }
    }

    /// Ends the last line of merged text: it is no longer the last one of the file.
    fn end_line(&mut self) -> Option<&mut Vec<u8>> {
        let Some(Hunk::Merged(last)) = self.hunks.last_mut() else { return None };
        let last = last.to_mut();
        if !last.ends_with(b"\n") {
            last.push(b'\n');
        }
        Some(last)
    }

    fn contest(&mut self, base: &str, ours: &str, theirs: &str) {
        self.end_line();
        let own = |text: &str| Cow::Owned(text.as_bytes().to_vec());
        self.hunks.push(Hunk::Conflict(ConflictText { base: own(base), ours: own(ours), theirs: own(theirs) }));
    }

    fn list(&mut self, base: &[Chunk<'_>], ours: &[Chunk<'_>], theirs: &[Chunk<'_>]) {
        let mut merged = align::merge(base, ours, theirs);
        order_deltas(&mut merged);
        for chunk in merged {
            match chunk {
                MergedChunk::Take(one) => self.take(one.text),
                MergedChunk::Kept(one) => {
                    self.notes.push(Note::KeptChanged { what: name(one) });
                    self.take(one.text);
                }
                // Two changes at the same second.
                MergedChunk::Both { base: None, ours, theirs } if delta_time(&ours.key).is_some() => {
                    self.take(ours.text.min(theirs.text));
                    self.take(ours.text.max(theirs.text));
                }
                MergedChunk::Both { base, ours, theirs } => self.both(base, ours, theirs),
            }
        }
    }

    /// Merges a chunk that both sides changed or added.
    fn both(&mut self, base: Option<&Chunk<'_>>, ours: &Chunk<'_>, theirs: &Chunk<'_>) {
        let base_text = base.map_or("", |base| base.text);
        let divide: fn(&str) -> Vec<Chunk<'_>> = match ours.kind {
            ChunkKind::Frontmatter => chunks::keys,
            ChunkKind::Section => chunks::blocks,
            ChunkKind::Table => chunks::rows,
            ChunkKind::List => chunks::items,
            ChunkKind::TableRow => return self.row(base, ours, theirs),
            ChunkKind::Lines if self.take_by_time(ours, theirs) => return,
            ChunkKind::Lines => return self.lines(base_text, ours.text, theirs.text),
        };
        self.list(&divide(base_text), &divide(ours.text), &divide(theirs.text));
    }

    /// Takes the later or earlier of two times in the frontmatter. Returns false, without effect, for other keys.
    fn take_by_time(&mut self, ours: &Chunk<'_>, theirs: &Chunk<'_>) -> bool {
        let wants_later = match &*ours.key {
            "key last_delta" => true,
            "key created" => false,
            _ => return false,
        };
        let time = |text: &str| {
            let value = text.split_once(':').map_or("", |(_, value)| value);
            let value = value.split(" #").next().unwrap_or_default();
            Timestamp::parse(value.trim().trim_matches(['"', '\''])).map(|timestamp| timestamp.time)
        };
        let (Some(our_time), Some(their_time)) = (time(ours.text), time(theirs.text)) else { return false };
        let takes_ours = match our_time.cmp(&their_time) {
            std::cmp::Ordering::Equal => ours.text <= theirs.text,
            order => (order == std::cmp::Ordering::Greater) == wants_later,
        };
        let (chunk, time) = if takes_ours { (ours, our_time) } else { (theirs, their_time) };
        if our_time != their_time && !wants_later {
            self.notes.push(Note::BothChanged { what: name(chunk), taken: time.to_string() });
        }
        self.take(chunk.text);
        true
    }

    /// Merges a row by cell; of two dates the later one wins.
    fn row(&mut self, base: Option<&Chunk<'_>>, ours: &Chunk<'_>, theirs: &Chunk<'_>) {
        let base_text = base.map_or("", |base| base.text);
        let [base_cells, our_cells, their_cells] = [base_text, ours.text, theirs.text].map(cells);
        let width = our_cells.len();
        let is_regular = their_cells.len() == width && (base.is_none() || base_cells.len() == width);
        let cell = |at: usize| {
            let (ours, theirs) = (&our_cells[at], their_cells.get(at)?);
            match base_cells.get(at).filter(|_| base.is_some()) {
                _ if ours == theirs => Some(ours),
                Some(base) if base == ours => Some(theirs),
                Some(base) if base == theirs => Some(ours),
                _ => both_days(ours, theirs).then(|| ours.max(theirs)),
            }
        };
        let merged: Vec<_> = (0..width).filter(|_| is_regular).filter_map(cell).collect();
        if width == 0 || merged.len() != width {
            return self.contest(base_text, ours.text, theirs.text);
        }
        let end = if ours.text.ends_with("\r\n") { "\r\n" } else { "\n" };
        self.take(&(render_row(&merged) + end));
    }

    fn lines(&mut self, base: &str, ours: &str, theirs: &str) {
        for [base, ours, theirs] in crate::base::merge::diff3::chunks(base, ours, theirs) {
            if ours == theirs || base == theirs {
                self.take(ours);
            } else if base == ours {
                self.take(theirs);
            } else {
                self.contest(base, ours, theirs);
            }
        }
    }
}

/// Sorts adjacent deltas by time.
fn order_deltas(merged: &mut [MergedChunk<'_, '_>]) {
    let time = |chunk: &MergedChunk<'_, '_>| delta_time(&chunk.ours().key);
    let text = |chunk: &MergedChunk<'_, '_>| chunk.ours().text.trim().to_owned();
    let mut from = 0;
    while from < merged.len() {
        let len = merged[from..].iter().take_while(|chunk| time(chunk).is_some()).count();
        merged[from..from + len].sort_by_cached_key(|chunk| (time(chunk), text(chunk)));
        from += len + 1;
    }
}

fn delta_time(key: &str) -> Option<Time> {
    Timestamp::parse(unnumbered(key).strip_prefix(DELTA)?).map(|timestamp| timestamp.time)
}

/// Whether both texts are dates, which sort as text.
fn both_days(one: &str, other: &str) -> bool {
    [one, other].iter().all(|text| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok())
}

/// The name of a chunk, as shown to the user.
fn name(chunk: &Chunk<'_>) -> String {
    let key = unnumbered(&chunk.key);
    let key = key.rsplit('\n').next().unwrap_or(key);
    let key =
        ["row ", "item ", "key ", "1 ", "2 ", "3 "].iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key);
    format!("`{key}`")
}
