//! How checkpoints and their lists merge: frontmatter by key, tables by row, lists by item, deltas by time, and prose by
//! lines.
//!
//! 1. What one side left alone is as the other side has it; so deletions and reverts hold.
//! 2. What both sides brought stands side by side; deltas in the order of their times.
//! 3. What one side deleted and the other changed is kept, and that is said.
//! 4. Both changed: of `last_delta` and a list's date the later counts, of `created` the earlier; a row is merged by cell,
//!    a section by block, and a text by lines. What is left is a conflict.
//!
//! No step looks at the clock. A clean merge is the same from either side, but where both put things into another order.

mod sequence;
mod units;

use std::borrow::Cow;
use std::fmt;

use super::moment::Moment;
use crate::base::finding::Plain;
use crate::base::merge::conflict;
use crate::base::merge::{ConflictText, Hunk, MergeInput, Merged};
use sequence::Slot;
use units::{Unit, UnitKind};

/// What the text of a merge does not show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Note {
    /// One side deleted what the other changed; it was kept.
    KeptChanged {
        /// What it is.
        what: String,
    },
    /// Both sides changed it, and one of the two counts by its value.
    BothChanged {
        /// What it is.
        what: String,
        /// What was taken.
        taken: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptChanged { what } => write!(f, "{}: one side deleted it, the other changed it; kept", Plain(what)),
            Self::BothChanged { what, taken } => {
                write!(f, "{}: both sides changed it; took {}", Plain(what), Plain(taken))
            }
        }
    }
}

/// Merges three versions of a checkpoint or of a list of them; `None` where one is not UTF-8, which only lines can merge.
///
/// A base with conflict markers counts for what its own base says.
#[must_use]
pub(crate) fn merge(sides: MergeInput<'_>) -> Option<Merged<'static, Note>> {
    let base = conflict::flatten_base(sides.base);
    let texts = [&base[..], sides.ours, sides.theirs].map(std::str::from_utf8);
    let [Ok(base), Ok(ours), Ok(theirs)] = texts else { return None };
    let mut merge = Merge { hunks: Vec::new(), notes: Vec::new() };
    if ours == theirs || theirs == base {
        merge.take(ours);
    } else if ours == base {
        merge.take(theirs);
    } else {
        merge.list(&units::sections(base), &units::sections(ours), &units::sections(theirs));
    }
    Some(Merged { hunks: merge.hunks, notes: merge.notes })
}

/// A merge under way.
struct Merge {
    hunks: Vec<Hunk<'static>>,
    notes: Vec<Note>,
}

impl Merge {
    fn take(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.hunks.last_mut() {
            Some(Hunk::Merged(last)) => {
                // A last line without its end is no longer the last.
                let last = last.to_mut();
                if !last.ends_with(b"\n") {
                    last.push(b'\n');
                }
                last.extend_from_slice(text.as_bytes());
            }
            _ => self.hunks.push(Hunk::Merged(Cow::Owned(text.as_bytes().to_vec()))),
        }
    }

    fn contest(&mut self, base: &str, ours: &str, theirs: &str) {
        if let Some(Hunk::Merged(last)) = self.hunks.last_mut()
            && !last.ends_with(b"\n")
        {
            last.to_mut().push(b'\n');
        }
        let own = |text: &str| Cow::Owned(text.as_bytes().to_vec());
        self.hunks.push(Hunk::Conflict(ConflictText { base: own(base), ours: own(ours), theirs: own(theirs) }));
    }

    fn list(&mut self, base: &[Unit<'_>], ours: &[Unit<'_>], theirs: &[Unit<'_>]) {
        let mut slots = sequence::merge(base, ours, theirs);
        order_deltas(&mut slots);
        for slot in slots {
            match slot {
                Slot::Take(unit) => self.take(unit.text),
                Slot::Kept(unit) => {
                    self.notes.push(Note::KeptChanged { what: name(unit) });
                    self.take(unit.text);
                }
                Slot::Both { base, ours, theirs } => self.both(base, ours, theirs),
            }
        }
    }

    /// Merges what both sides changed, or brought.
    fn both(&mut self, base: Option<&Unit<'_>>, ours: &Unit<'_>, theirs: &Unit<'_>) {
        let base_text = base.map_or("", |base| base.text);
        let divide: fn(&str) -> Vec<Unit<'_>> = match ours.kind {
            UnitKind::Front => units::keys,
            UnitKind::Section => units::blocks,
            UnitKind::Table => units::rows,
            UnitKind::List => units::items,
            UnitKind::Row => return self.row(base, ours, theirs),
            UnitKind::Lines if self.settled_key(ours, theirs) => return,
            UnitKind::Lines => return self.lines(base_text, ours.text, theirs.text),
        };
        self.list(&divide(base_text), &divide(ours.text), &divide(theirs.text));
    }

    /// Merges a key of the frontmatter that both sides changed and whose values have an order. False, and nothing done, if
    /// it is no such key.
    fn settled_key(&mut self, ours: &Unit<'_>, theirs: &Unit<'_>) -> bool {
        let wants_later = match &*ours.key {
            "key last_delta" => true,
            "key created" => false,
            _ => return false,
        };
        let time = |text: &str| {
            let value = text.split_once(':').map_or("", |(_, value)| value);
            let value = value.split(" #").next().unwrap_or_default();
            Moment::parse(value.trim().trim_matches(['"', '\''])).map(|moment| moment.time)
        };
        let (Some(our_time), Some(their_time)) = (time(ours.text), time(theirs.text)) else { return false };
        let takes_ours = match our_time.cmp(&their_time) {
            std::cmp::Ordering::Equal => ours.text <= theirs.text,
            order => (order == std::cmp::Ordering::Greater) == wants_later,
        };
        let (unit, time) = if takes_ours { (ours, our_time) } else { (theirs, their_time) };
        if our_time != their_time && !wants_later {
            self.notes.push(Note::BothChanged { what: name(unit), taken: time.to_string() });
        }
        self.take(unit.text);
        true
    }

    /// Merges a row by cell; a last cell that is a day on both sides takes the later.
    fn row(&mut self, base: Option<&Unit<'_>>, ours: &Unit<'_>, theirs: &Unit<'_>) {
        let base_text = base.map_or("", |base| base.text);
        let [base_cells, our_cells, their_cells] = [base_text, ours.text, theirs.text].map(units::row_cells);
        let width = our_cells.len();
        let mut merged = Vec::with_capacity(width);
        if their_cells.len() == width && (base.is_none() || base_cells.len() == width) {
            for at in 0..width {
                let (ours, theirs) = (&our_cells[at], &their_cells[at]);
                let base = base.and_then(|_| base_cells.get(at));
                let later = || both_days(ours, theirs).then(|| ours.max(theirs));
                let cell = match base {
                    _ if ours == theirs => Some(ours),
                    Some(base) if base == ours => Some(theirs),
                    Some(base) if base == theirs => Some(ours),
                    _ => later(),
                };
                merged.extend(cell.map(|cell| cell.replace('|', "\\|")));
            }
        }
        if width == 0 || merged.len() != width {
            return self.contest(base_text, ours.text, theirs.text);
        }
        let end = if ours.text.ends_with("\r\n") { "\r\n" } else { "\n" };
        self.take(&format!("| {} |{end}", merged.join(" | ")));
    }

    /// Merges by lines.
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

/// Puts neighbouring deltas in the order of their times.
fn order_deltas(slots: &mut [Slot<'_, '_>]) {
    let time = |slot: &Slot<'_, '_>| {
        let (Slot::Take(unit) | Slot::Kept(unit) | Slot::Both { ours: unit, .. }) = slot;
        let text = unit.key.strip_prefix("2 Delta:")?;
        Moment::parse(text.split('\u{0}').next().unwrap_or(text)).map(|moment| moment.time)
    };
    let mut from = 0;
    while from < slots.len() {
        let len = slots[from..].iter().take_while(|slot| time(slot).is_some()).count();
        slots[from..from + len].sort_by_key(time);
        from += len + 1;
    }
}

/// Whether both texts are days, which compare as texts.
fn both_days(one: &str, other: &str) -> bool {
    [one, other].iter().all(|text| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok())
}

/// What people call a unit.
fn name(unit: &Unit<'_>) -> String {
    let key = unit.key.split('\u{0}').next().unwrap_or_default();
    let key = key.rsplit('\n').next().unwrap_or(key);
    let key =
        ["row ", "item ", "key ", "1 ", "2 ", "3 "].iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key);
    format!("`{key}`")
}
