//! Reading the operation log.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::base::bounded;
use crate::git::error::GitError;
use crate::git::open::Repo;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Operation {
    #[serde(rename = "op")]
    pub id: String,
    pub time: String,
    /// The command with its subcommand, such as `crumb archive`.
    pub command: String,
    /// Git's name of the worktree that the command ran in.
    pub worktree: String,
    /// The operations that it undid or redid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reverses: Vec<String>,
    /// How many moves that takes. Older versions did not write it.
    #[serde(skip)]
    pub moves: Option<usize>,
    pub refs: Vec<RefMove>,
}

/// A move of one ref. `old` is `None` if the ref was created, `new` if it was deleted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RefMove {
    #[serde(rename = "ref")]
    pub refname: String,
    pub old: Option<String>,
    pub new: Option<String>,
    pub done: bool,
}

#[derive(Deserialize)]
pub(super) struct Line {
    pub op: String,
    time: Option<String>,
    command: Option<String>,
    worktree: Option<String>,
    #[serde(default)]
    reverses: Vec<String>,
    moves: Option<usize>,
    #[serde(rename = "ref")]
    refname: Option<String>,
    pub old: Option<String>,
    pub new: Option<String>,
    moved: Option<String>,
}

impl Line {
    pub(super) fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

impl Repo {
    /// The operations in the log, newest first. Unreadable lines, such as a truncated last one, are skipped.
    pub(crate) fn operations(&self) -> Result<Vec<Operation>, GitError> {
        let path = self.operations_path();
        let log =
            bounded::read_if_exists(&path).map_err(|source| GitError::io("read the operation log", path, source))?;
        let text = String::from_utf8_lossy(&log.unwrap_or_default()).into_owned();
        let mut operations: Vec<Operation> = Vec::new();
        // Operations that run at the same time may alternate.
        let mut places: HashMap<String, usize> = HashMap::new();
        for line in text.lines().filter_map(Line::parse) {
            let known = places.get(&line.op).copied();
            match (line, known) {
                (Line { moved: Some(moved), .. }, Some(place)) => {
                    let mut moves = operations[place].refs.iter_mut().rev();
                    if let Some(made) = moves.find(|made| made.refname == moved) {
                        made.done = true;
                    }
                }
                (Line { refname: Some(refname), old, new, .. }, Some(place)) => {
                    operations[place].refs.push(RefMove { refname, old, new, done: false });
                }
                (Line { op, time, command, worktree, reverses, moves, refname: Some(refname), old, new, .. }, None) => {
                    places.insert(op.clone(), operations.len());
                    operations.push(Operation {
                        id: op,
                        time: time.unwrap_or_default(),
                        command: command.unwrap_or_default(),
                        worktree: worktree.unwrap_or_default(),
                        reverses,
                        moves,
                        refs: vec![RefMove { refname, old, new, done: false }],
                    });
                }
                _ => {}
            }
        }
        operations.reverse();
        Ok(operations)
    }
}
