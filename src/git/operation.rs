//! The operation log: which command moved which refs, and from where.
//!
//! One run of a command is one operation. `<common dir>/trace/ops` holds two JSON lines per move of a ref: the first is written
//! before the ref moves, the second afterwards. A move without its second line belongs to a process that failed or died.
//!
//! ```text
//! {"op":"5d0c…","time":"2026-02-10T09:00:00Z","command":"commit","worktree":"/r/.git","ref":"refs/traces/main","old":null,"new":"8f3c…"}
//! {"op":"5d0c…","moved":"refs/traces/main"}
//! ```
//!
//! The log names commands without their arguments, which may hold content. It is shortened to the last [`LISTED`] operations whenever it
//! exceeds [`MAX_BYTES`]; of a log of very large operations, the last half of that size stays.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::error::GitError;
use super::ident::Ident;
use super::lock::LOCK_PATIENCE;
use super::oid::Oid;
use super::open::Repo;
use crate::base::time::Time;
use crate::base::{bounded, effect};

const MAX_BYTES: u64 = 4 << 20;

/// How many operations the log keeps at least.
const LISTED: usize = 1000;

#[derive(Debug, Serialize)]
pub(crate) struct Operation {
    #[serde(rename = "op")]
    pub id: String,
    pub time: String,
    /// The command with its subcommand, such as `crumb archive`.
    pub command: String,
    /// The git folder of the worktree that the command ran in.
    pub worktree: PathBuf,
    pub refs: Vec<RefMove>,
}

/// A move of one ref. `old` is `None` if the ref was created, `new` if it was deleted.
#[derive(Debug, Serialize)]
pub(crate) struct RefMove {
    #[serde(rename = "ref")]
    pub refname: String,
    pub old: Option<String>,
    pub new: Option<String>,
    pub done: bool,
}

#[derive(Deserialize)]
struct Line {
    op: String,
    time: Option<String>,
    command: Option<String>,
    worktree: Option<PathBuf>,
    #[serde(rename = "ref")]
    refname: Option<String>,
    old: Option<String>,
    new: Option<String>,
    moved: Option<String>,
}

impl Repo {
    /// Moves a ref from `old` to `new` by calling `make`, between the two lines of the log.
    pub(super) fn logged_move(
        &self,
        refname: &str,
        old: Option<Oid>,
        new: Option<Oid>,
        who: &Ident,
        make: impl FnOnce() -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let id = self.operation.get_or_init(|| format!("{:016x}", RandomState::new().hash_one(std::process::id())));
        self.append_operation(&json!({
            "op": id,
            "time": Time::from_second(who.seconds()).to_string(),
            "command": self.env().command(),
            "worktree": self.git_dir(),
            "ref": refname,
            "old": old.map(|oid| oid.to_string()),
            "new": new.map(|oid| oid.to_string()),
        }))?;
        make()?;
        effect::note_change();
        // The ref has moved, so a line that cannot be written must not turn success into failure.
        let _ = self.append_operation(&json!({ "op": id, "moved": refname }));
        Ok(())
    }

    fn append_operation(&self, line: &Value) -> Result<(), GitError> {
        let path = self.operations_path();
        let _lock = self.acquire("ops", "the operation log", LOCK_PATIENCE, File::try_lock)?;
        let failed = |source| GitError::io("write the operation log", &path, source);
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() > MAX_BYTES { shorten(&path).map_err(failed) } else { Ok(()) }
    }

    /// The operations in the log, newest first. Unreadable lines, such as a truncated last one, are skipped.
    pub(crate) fn operations(&self) -> Result<Vec<Operation>, GitError> {
        let path = self.operations_path();
        let log =
            bounded::read_if_exists(&path).map_err(|source| GitError::io("read the operation log", path, source))?;
        let text = String::from_utf8_lossy(&log.unwrap_or_default()).into_owned();
        let mut operations: Vec<Operation> = Vec::new();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            // Operations that run at the same time may alternate, so look back from the newest.
            let known = operations.iter_mut().rev().find(|operation| operation.id == line.op);
            match (line, known) {
                (Line { moved: Some(moved), .. }, Some(operation)) => {
                    let mut moves = operation.refs.iter_mut().rev();
                    if let Some(made) = moves.find(|made| made.refname == moved) {
                        made.done = true;
                    }
                }
                (Line { refname: Some(refname), old, new, .. }, Some(operation)) => {
                    operation.refs.push(RefMove { refname, old, new, done: false });
                }
                (Line { op, time, command, worktree, refname: Some(refname), old, new, .. }, None) => {
                    operations.push(Operation {
                        id: op,
                        time: time.unwrap_or_default(),
                        command: command.unwrap_or_default(),
                        worktree: worktree.unwrap_or_default(),
                        refs: vec![RefMove { refname, old, new, done: false }],
                    });
                }
                _ => {}
            }
        }
        operations.reverse();
        Ok(operations)
    }

    fn operations_path(&self) -> PathBuf {
        self.common_dir().join("trace").join("ops")
    }
}

/// Removes the lines before the last [`LISTED`] operations. The caller holds the lock of the log.
fn shorten(path: &Path) -> std::io::Result<()> {
    let text = fs::read_to_string(path)?;
    let mut ids = HashSet::new();
    let mut start = text.len();
    for line in text.lines().rev() {
        let rest = start.saturating_sub(line.len() + 1);
        ids.extend(serde_json::from_str::<Line>(line).map(|line| line.op));
        if ids.len() > LISTED || (text.len() - rest) as u64 > MAX_BYTES / 2 {
            break;
        }
        start = rest;
    }
    let aside = path.with_extension("new");
    fs::write(&aside, &text[start..])?;
    fs::rename(aside, path)
}
