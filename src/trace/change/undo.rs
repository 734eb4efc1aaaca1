//! Undoing what moved a trace last, by its reflog.
//!
//! An undo is a move too, and is logged as `undo: <how many>: <what>`. Read with that in mind, the log is a stack: each move
//! is put on it, and an undo takes off as many as it says. So repeated undoing goes further back, and what was done after
//! an undo is undone before what stands below it.

use crate::git::{LogEntry, Oid, RefUpdate};
use crate::trace::error::TraceError;
use crate::trace::store::backup::backup_refname;
use crate::trace::store::tip::Tip;
use crate::trace::store::trace::Trace;

/// What was undone.
#[derive(Debug)]
pub(crate) struct Undone {
    pub from: Oid,
    pub to: Tip,
    /// What the reflog says of the moves that were undone, the latest first.
    pub moves: Vec<String>,
    /// The ref that backs up the tip before.
    pub backup: String,
}

impl Trace<'_> {
    /// Moves the trace to where it was before its last `count` moves that are not undone yet. Reads the trace's reflog.
    ///
    /// Fails with [`TraceError::LogGap`] if the reflog does not end at the tip, and with [`TraceError::NoMoreMoves`] if it does
    /// not go back so far or the trace began there.
    pub(crate) fn undo(&self, count: usize) -> Result<Undone, TraceError> {
        let (repo, name) = (self.repo(), self.name());
        self.relocate(|tip| {
            let log = completed_moves(repo.read_reflog(&name.refname())?, tip.commit.oid);
            if log.last().is_none_or(|last| last.new != tip.commit.oid) {
                return Err(TraceError::LogGap { trace: name.clone() });
            }
            let stack = moves_in_force(&log);
            // The move that created the trace cannot be undone: there is nothing before it.
            let known = stack.iter().rev().take_while(|entry| entry.old.is_some()).count();
            let undone = stack.len().checked_sub(count).map_or(&[][..], |first| &stack[first..]);
            let before = undone.first().filter(|_| count <= known).and_then(|first| first.old);
            let Some(to) = before else { return Err(TraceError::NoMoreMoves { trace: name.clone(), known }) };
            let moves: Vec<String> = undone.iter().rev().map(|entry| entry.why.clone()).collect();
            let log = format!("undo: {count}: {}", moves.first().map_or("", String::as_str));
            let from = tip.commit.oid;
            let value = Undone { from, to: Tip::read(repo, to)?, moves, backup: backup_refname(name) };
            Ok(RefUpdate::Move { to, log, value })
        })
    }
}

/// The moves without those of processes that were killed between logging a move and making it: what follows such a move, or the
/// trace itself, stands where it was to begin.
fn completed_moves(log: Vec<LogEntry>, tip: Oid) -> Vec<LogEntry> {
    let mut at = Some(tip);
    let mut moves = Vec::with_capacity(log.len());
    for entry in log.into_iter().rev() {
        let came_to_nothing = at.is_some_and(|at| entry.new != at && entry.old == Some(at));
        if !came_to_nothing {
            at = entry.old;
            moves.push(entry);
        }
    }
    moves.reverse();
    moves
}

/// The moves that were not undone, oldest first.
fn moves_in_force(log: &[LogEntry]) -> Vec<&LogEntry> {
    let mut stack: Vec<&LogEntry> = Vec::new();
    for entry in log {
        if let Some(count) = undone_by(entry) {
            stack.truncate(stack.len().saturating_sub(count));
        } else if entry.old != Some(entry.new) {
            // A renaming, for one, is logged and moves nothing.
            stack.push(entry);
        }
    }
    stack
}

/// How many moves an undo took back; `None` of any other move.
fn undone_by(entry: &LogEntry) -> Option<usize> {
    entry.why.strip_prefix("undo: ")?.split(':').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undo_takes_off_what_it_says_and_what_follows_it_stands() {
        let oid = |digit: u8| Oid::parse(&digit.to_string().repeat(40), crate::git::ObjectFormat::Sha1).unwrap();
        let entry = |old: u8, new: u8, why: &str| LogEntry {
            old: (old > 0).then(|| oid(old)),
            new: oid(new),
            why: why.to_owned(),
        };
        let log = [
            entry(0, 1, "append: a"),
            entry(1, 2, "append: b"),
            entry(2, 3, "append: undo: 9: c"),
            entry(3, 1, "undo: 2: append: c"),
            entry(1, 4, "append: d"),
            entry(4, 4, "rename: x to y"),
        ];
        let whys: Vec<&str> = moves_in_force(&log).iter().map(|entry| entry.why.as_str()).collect();
        assert_eq!(whys, ["append: a", "append: d"]);
        assert!(moves_in_force(&[entry(3, 1, "undo: 2: what expired")]).is_empty());
    }
}
