//! The operation log: which command moved which refs, and from where.
//!
//! One run of a command is one operation. `<common dir>/trace/ops` holds two JSON lines per move of a ref: the first is written
//! before the ref moves, the second afterwards. A move without its second line belongs to a process that failed or died.
//!
//! ```text
//! {"op":"5d0c…","time":"2026-02-10T09:00:00Z","command":"commit","worktree":"main-worktree","ref":"refs/traces/main","old":null,"new":"8f3c…"}
//! {"op":"5d0c…","moved":"refs/traces/main"}
//! ```
//!
//! - Worktrees, and refs outside `refs/`, have git's names: `main-worktree/TRACE_HEAD`, `worktrees/w/TRACE_HEAD`. Symbolic refs
//!   move from one refname to another.
//! - An operation that undoes or redoes others names them in `reverses`, and says in `moves` how many moves that takes, not counting
//!   heads of other worktrees. With fewer, it is incomplete.
//! - The log names commands without their arguments, which may hold content.
//! - A log that cannot be read or written costs the ability to undo. No command fails because of it.
//! - The log is shortened to the last [`LISTED`] operations whenever it exceeds [`MAX_BYTES`]; of a log of very large operations,
//!   the last half of that size stays.
//! - A tip that a move leaves unreachable is kept by a ref of its oid under [`BACKUP_REFS`] as long as the log has the move.

mod read;

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::error::GitError;
use super::ident::Ident;
use super::lock::LOCK_PATIENCE;
use super::oid::Oid;
use super::open::Repo;
use crate::base::bounded;
use crate::base::effect;
use crate::base::replace::{Access, put};
use crate::base::time::Time;
use read::Line;
pub(crate) use read::{Operation, RefMove};

pub(crate) const BACKUP_REFS: &str = "refs/trace-orig/";

const MAX_BYTES: u64 = 2 << 20;

/// How many operations the log keeps at least.
const LISTED: usize = 1000;

/// A move of a ref from `old` to `new`, which are oids, or refnames if the ref is symbolic.
pub(super) struct Move<'a, T> {
    pub(super) refname: &'a str,
    pub(super) old: Option<T>,
    pub(super) new: Option<T>,
    /// A commit that no ref may reach afterwards.
    pub(super) left: Option<Oid>,
}

/// Whether a ref has the tombstones of this repository or of a remote. An undo leaves them as they are.
pub(crate) fn is_of_purges(refname: &str) -> bool {
    let of_remote = refname.starts_with("refs/trace-remote-records/") && refname.ends_with("/purged");
    refname == "refs/trace-purged" || of_remote
}

/// What the moves of an operation came to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Progress {
    #[default]
    Nothing,
    Final,
    Reversible,
    /// A purge has removed the operation log.
    LogRemoved,
}

/// The result of a command or request so far.
pub(crate) enum Recorded {
    /// The moves of the operation of this id.
    Operation(String),
    /// Changes that cannot be undone.
    Final,
}

impl Repo {
    /// `None` if this command or request has moved no ref.
    pub(crate) fn recorded(&self) -> Option<Recorded> {
        match self.progress.get() {
            Progress::Nothing => None,
            Progress::Reversible => self.operation.get().cloned().map(Recorded::Operation),
            Progress::Final | Progress::LogRemoved => Some(Recorded::Final),
        }
    }

    fn note_progress(&self, made: Progress) {
        self.progress.set(self.progress.get().max(made));
    }

    /// Says that the operation log, which had the texts of a purge, is removed.
    pub(crate) fn note_removed_log(&self) {
        self.note_progress(Progress::LogRemoved);
    }

    /// Says that this operation reverses others, by a number of moves.
    pub(crate) fn reverses(&self, operations: Vec<String>, moves: usize) {
        *self.reverses.borrow_mut() = (operations, moves);
    }

    /// Moves a ref by calling `make`, between the two lines of the log.
    pub(super) fn logged_move<T: ToString>(
        &self,
        moved: &Move<'_, T>,
        who: &Ident,
        make: impl FnOnce() -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        self.logged_moves(std::slice::from_ref(moved), who, make)
    }

    /// Moves refs by calling `make` once, between their first and their second lines of the log.
    pub(super) fn logged_moves<T: ToString>(
        &self,
        moved: &[Move<'_, T>],
        who: &Ident,
        make: impl FnOnce() -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let id = self.operation.get_or_init(|| format!("{:016x}", RandomState::new().hash_one(std::process::id())));
        let (time, worktree) = (Time::from_second(who.seconds()).to_string(), self.worktree_name());
        let (reverses, moves) = &*self.reverses.borrow();
        let line = |Move { refname, old, new, .. }: &Move<'_, T>| {
            let mut line = json!({
                "op": id,
                "time": time,
                "command": self.env().command(),
                "worktree": worktree,
                "ref": refname,
                "old": old.as_ref().map(T::to_string),
                "new": new.as_ref().map(T::to_string),
            });
            if !reverses.is_empty() {
                line["reverses"] = reverses.clone().into();
                line["moves"] = (*moves).into();
            }
            line
        };
        let _ = self.append_operations(moved.iter().map(line));
        // The lines come first: a tip that the log does not have is dropped when the log is shortened.
        self.back_up_all(moved.iter().filter_map(|moved| moved.left))?;
        make()?;
        let is_reversible = moved.iter().any(|moved| !is_of_purges(moved.refname));
        self.note_progress(if is_reversible { Progress::Reversible } else { Progress::Final });
        effect::note_change();
        let _ = self.append_operations(moved.iter().map(|Move { refname, .. }| json!({ "op": id, "moved": refname })));
        Ok(())
    }

    fn append_operations(&self, lines: impl Iterator<Item = Value>) -> Result<(), GitError> {
        let path = self.operations_path();
        let _lock = self.acquire("ops", "the operation log", LOCK_PATIENCE, File::try_lock)?;
        let permissions = self.permissions()?;
        let append = || {
            let mut file = OpenOptions::new().create(true).read(true).append(true).open(&path)?;
            permissions.adjust(&path)?;
            let length = file.metadata()?.len();
            let mut last = [b'\n'];
            if length > 0 {
                file.seek(SeekFrom::Start(length - 1))?;
                file.read_exact(&mut last)?;
            }
            // The last line may belong to a process that died while it wrote.
            let end = if last == [b'\n'] { "" } else { "\n" };
            let mut text = end.to_owned();
            lines.for_each(|line| text.extend([line.to_string().as_str(), "\n"]));
            file.write_all(text.as_bytes())?;
            Ok(length)
        };
        let length = append().map_err(|source| GitError::io("write the operation log", &path, source))?;
        if length > MAX_BYTES { self.shorten_operations() } else { Ok(()) }
    }

    /// Removes the lines before the last [`LISTED`] operations, and the backup refs of tips that no other line has. The caller
    /// holds the lock of the log.
    fn shorten_operations(&self) -> Result<(), GitError> {
        let path = self.operations_path();
        let failed = |source| GitError::io("shorten the operation log", &path, source);
        let text = String::from_utf8_lossy(&bounded::read_regular(&path).map_err(failed)?).into_owned();
        let (mut ids, mut tips) = (HashSet::new(), HashSet::new());
        let mut start = text.len();
        for line in text.lines().rev() {
            let rest = start.saturating_sub(line.len() + 1);
            let line = Line::parse(line);
            ids.extend(line.as_ref().map(|line| line.op.clone()));
            if ids.len() > LISTED || (text.len() - rest) as u64 > MAX_BYTES / 2 {
                break;
            }
            tips.extend(line.into_iter().flat_map(|line| [line.old, line.new]).flatten());
            start = rest;
        }
        let aside = path.with_extension("new");
        fs::write(&aside, &text[start..]).map_err(failed)?;
        fs::rename(aside, &path).map_err(failed)?;

        let backups = self.list_refs(BACKUP_REFS)?;
        let is_unlisted = |(refname, oid): &&(String, Oid)| {
            let oid = oid.to_string();
            refname.strip_prefix(BACKUP_REFS) == Some(&oid) && !tips.contains(&oid)
        };
        self.delete_refs(backups.iter().filter(is_unlisted).map(|(refname, _)| refname.as_str()))
    }

    /// Replaces the text of the log by what `rewrite` makes of it. An empty log is removed.
    pub(crate) fn rewrite_operations(&self, rewrite: impl FnOnce(&str) -> String) -> Result<(), GitError> {
        let path = self.operations_path();
        let failed = |source| GitError::io("rewrite the operation log", &path, source);
        let _lock = self.acquire("ops", "the operation log", LOCK_PATIENCE, File::try_lock)?;
        let Some(log) = bounded::read_if_exists(&path).map_err(failed)? else { return Ok(()) };
        let new = rewrite(&String::from_utf8_lossy(&log));
        if new.is_empty() {
            return fs::remove_file(&path).map_err(failed);
        }
        put(&path, Access::Usual, new.as_bytes()).map_err(failed)
    }

    pub(crate) fn operations_path(&self) -> PathBuf {
        self.common_dir().join("trace").join("ops")
    }
}
