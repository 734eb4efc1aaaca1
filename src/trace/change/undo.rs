//! Undoing the last moves of a trace, by its reflog.
//!
//! An undo is a move too, logged as `undo: <count>: <what>`. So the log is a stack: a move is pushed, and an undo pops `count`
//! moves. Repeated undos go further back.

use crate::git::{LogEntry, Oid, RefUpdate};
use crate::trace::store::backup::backup_refname;
use crate::trace::{Tip, Trace, TraceError};

#[derive(Debug)]
pub(crate) struct Undone {
    pub from: Oid,
    pub to: Tip,
    /// The reflog lines of the moves that were undone, newest first.
    pub moves: Vec<String>,
    pub backup: String,
}

impl Trace<'_> {
    /// Undoes the last `count` moves that are not undone yet.
    ///
    /// Fails with [`TraceError::LogGap`] if the reflog does not end at the tip, and with [`TraceError::NoMoreMoves`] if it is too
    /// short or contains the creation of the trace.
    pub(crate) fn undo(&self, count: usize) -> Result<Undone, TraceError> {
        let (repo, name) = (self.repo(), self.name());
        self.relocate(|from| {
            let log = completed_moves(repo.read_reflog(&name.refname())?, from);
            if log.last().is_none_or(|last| last.new != from) {
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
            let value = Undone { from, to: Tip::read(repo, to)?, moves, backup: backup_refname(name) };
            Ok(RefUpdate::Move { to, log, value })
        })
    }
}

/// The log without the moves of processes that were killed after they logged the move: the next move, or the trace itself, is
/// still at its start.
fn completed_moves(log: Vec<LogEntry>, tip: Oid) -> Vec<LogEntry> {
    let mut at = Some(tip);
    let mut moves = Vec::with_capacity(log.len());
    for entry in log.into_iter().rev() {
        let was_killed = at.is_some_and(|at| entry.new != at && entry.old == Some(at));
        if !was_killed {
            at = entry.old;
            moves.push(entry);
        }
    }
    moves.reverse();
    moves
}

/// The moves that were not undone, oldest first.
pub(crate) fn moves_in_force(log: &[LogEntry]) -> Vec<&LogEntry> {
    let mut stack: Vec<&LogEntry> = Vec::new();
    for entry in log {
        if let Some(count) = undone_by(entry) {
            stack.truncate(stack.len().saturating_sub(count));
        } else if entry.old != Some(entry.new) {
            // A renaming is logged, but moves nothing.
            stack.push(entry);
        }
    }
    stack
}

/// The number of moves that an undo popped; `None` for other moves.
fn undone_by(entry: &LogEntry) -> Option<usize> {
    entry.why.strip_prefix("undo: ")?.split(':').next()?.parse().ok()
}
