//! Why something could not be done with a trace.

use std::path::PathBuf;

use thiserror::Error;

use super::model::id::ItemId;
use super::model::json::BadField;
use super::model::name::TraceName;
use super::model::schema::SchemaError;
use super::model::tree::CAPACITY;
use super::model::types::BadRule;
use crate::base::error::Diagnostic;
use crate::base::time::Time;
use crate::git::{GitError, Oid};
use crate::secrets::Fingerprint;

/// Why something could not be done with a trace.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The repository said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The draft is not what its type asks for.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A rule of a type cannot be used.
    #[error(transparent)]
    Type(#[from] BadRule),
    /// A field's value cannot be read.
    #[error(transparent)]
    Field(#[from] BadField),
    /// There is no such trace.
    #[error("there is no trace `{name}`")]
    NoSuchTrace {
        /// Its name.
        name: TraceName,
    },
    /// The trace was there when the command began, and no longer is.
    #[error("trace `{name}` was renamed or deleted while this command ran")]
    Vanished {
        /// Its name.
        name: TraceName,
    },
    /// No item has this name.
    #[error("no item of trace `{trace}` is named `{}`", spec.escape_debug())]
    UnknownItem {
        /// What the user wrote.
        spec: String,
        /// Where it was looked for.
        trace: TraceName,
    },
    /// The item is known, but it is not live in this trace.
    #[error("item {item} was taken out of trace `{trace}`")]
    NotLive {
        /// The item.
        item: ItemId,
        /// The trace.
        trace: TraceName,
    },
    /// The item is another trace's.
    #[error("item {item} never was in trace `{trace}`")]
    NotInTrace {
        /// The item.
        item: ItemId,
        /// The trace.
        trace: TraceName,
    },
    /// The item that is to be put back has never left.
    #[error("item {item} is live in trace `{trace}`; name the revision to go back to")]
    AlreadyLive {
        /// The item.
        item: ItemId,
        /// The trace.
        trace: TraceName,
    },
    /// The item never had such a revision here.
    #[error("item {item} has no revision {revision} in the history of trace `{trace}`")]
    NoSuchRevision {
        /// The item.
        item: ItemId,
        /// What was asked for.
        revision: u32,
        /// The trace.
        trace: TraceName,
    },
    /// Several items begin with these digits.
    #[error("`{spec}` could be any of {}", candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    AmbiguousItem {
        /// What the user wrote.
        spec: String,
        /// Whom it may mean, in reading order, ten at most.
        candidates: Vec<ItemId>,
    },
    /// Too few digits to name an item.
    #[error("`{spec}` is too short: give four digits of an item's id, or #<position>")]
    TooShort {
        /// What the user wrote.
        spec: String,
    },
    /// The commit touched no item, or several.
    #[error("commit `{spec}` touched {count} items, so it does not name one")]
    NotOneItem {
        /// What the user wrote.
        spec: String,
        /// How many it touched.
        count: usize,
    },
    /// A moment that is none.
    #[error("`{}` is neither a commit nor an item of trace `{trace}` nor a time such as 2026-02-10T09:00:00Z", spec.escape_debug())]
    UnknownMoment {
        /// What the user wrote.
        spec: String,
        /// The trace.
        trace: TraceName,
    },
    /// A moment before the trace began.
    #[error("trace `{trace}` had no commit yet at {at}")]
    BeforeTheFirst {
        /// The trace.
        trace: TraceName,
        /// The moment.
        at: Time,
    },
    /// No state of any trace has this name.
    #[error("`{}` is neither a trace nor a commit or an item of trace `{trace}` nor a time such as 2026-02-10T09:00:00Z", spec.escape_debug())]
    UnknownState {
        /// What the user wrote.
        spec: String,
        /// The trace in which commits, items and times were looked for.
        trace: TraceName,
    },
    /// The name is taken.
    #[error("trace `{name}` is there already")]
    TraceExists {
        /// The name.
        name: TraceName,
    },
    /// A trace that somebody works on is not deleted.
    #[error("trace `{name}` is the current one of `{}`", git_dir.display())]
    IsCurrent {
        /// The trace.
        name: TraceName,
        /// The git folder of the worktree.
        git_dir: PathBuf,
    },
    /// Commits that are nowhere else would be out of sight.
    #[error("trace `{name}` has commits that neither trace `{current}` nor a remote has")]
    Unmerged {
        /// The trace.
        name: TraceName,
        /// The current trace.
        current: TraceName,
    },
    /// No other trace was the current one before.
    #[error("no other trace was the current one of this worktree before")]
    NoPrevious,
    /// The reflog does not tell how the trace came to be where it is.
    #[error("the reflog of trace `{trace}` does not lead to where it is, so what was done last is not known")]
    LogGap {
        /// The trace.
        trace: TraceName,
    },
    /// Fewer moves are known than are to be undone.
    #[error("trace `{trace}` has {known} moves that can be undone, and no more")]
    NoMoreMoves {
        /// The trace.
        trace: TraceName,
        /// How many can.
        known: usize,
    },
    /// Lines are asked for where there are none.
    #[error("item {item} is not text")]
    NotText {
        /// The item.
        item: ItemId,
    },
    /// No trace has a name that fits.
    #[error("no trace is named `{}`", pattern.escape_debug())]
    NoMatch {
        /// The name or glob.
        pattern: String,
    },
    /// An item that a choice was made of is not as it was then.
    #[error("item {item} of trace `{trace}` was changed while this command ran; nothing was done")]
    Changed {
        /// The item.
        item: ItemId,
        /// The trace.
        trace: TraceName,
    },
    /// An item that names the end of a range is not in the list.
    #[error("item {item} is not live, so it cannot be the end of a range")]
    Gone {
        /// The item.
        item: ItemId,
    },
    /// The item stands for no others, as far as history tells.
    #[error("item {item} is no summary that the history of trace `{trace}` knows of")]
    NotASummary {
        /// The item.
        item: ItemId,
        /// The trace.
        trace: TraceName,
    },
    /// A commit with two parents, whose doing is not one thing.
    #[error("commit {commit} is a merge, and does not say which side's doing is meant")]
    Merge {
        /// The commit.
        commit: Oid,
    },
    /// The record of priorities has a line that cannot be read.
    #[error("the record of priorities of item {item} has a damaged line {line}")]
    DamagedRecord {
        /// The item.
        item: ItemId,
        /// The line, from 1.
        line: usize,
    },
    /// With the change, the trace would count for more than its budget.
    #[error("trace `{trace}` would count for {total} tokens ({basis}), and its budget is {max}")]
    OverBudget {
        /// The trace.
        trace: TraceName,
        /// What it would count for.
        total: u64,
        /// Where that figure comes from.
        basis: &'static str,
        /// The budget.
        max: u64,
    },
    /// The budget's command cannot be run.
    #[error("cannot run the budget's command `{command}`")]
    BudgetCommand {
        /// The command.
        command: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The budget's command failed.
    #[error("the budget's command `{command}` failed, so nothing was committed")]
    BudgetCommandFailed {
        /// The command.
        command: String,
    },
    /// The item that a new one replies to cannot be found.
    #[error("nothing to reply to: {0}")]
    NoReply(Box<TraceError>),
    /// The subject of a commit is not one line.
    #[error("the subject must be one line of text without control characters")]
    BadSubject,
    /// The item holds a secret, and `trace.secrets` is `refuse`.
    #[error("the item holds what looks like {what}")]
    Secret {
        /// What it looks like.
        what: &'static str,
        /// By what it can be allowed.
        fingerprint: Fingerprint,
    },
    /// Every position is used up.
    #[error("trace `{trace}` has used all of its {CAPACITY} positions")]
    Full {
        /// The trace.
        trace: TraceName,
    },
    /// A line of an import that is not an operation.
    #[error("line {line}: {cause}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
    /// What a session's compactions did is in its trace, or is not, and this import would have it otherwise.
    #[error("trace `{trace}` was imported {} --as-seen, and goes on so", if *as_seen { "with" } else { "without" })]
    SeenOtherwise {
        /// The trace.
        trace: TraceName,
        /// How it was imported.
        as_seen: bool,
    },
    /// The stream that was read or written failed.
    #[error("cannot {action}")]
    Stream {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
}

impl Diagnostic for TraceError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoMatch { .. } => "`git trace branch` lists traces".to_owned(),
            Self::NoSuchTrace { .. } => {
                "a first `git trace commit` makes one; `git trace branch` lists those there are".to_owned()
            }
            Self::Vanished { .. } => "`git trace branch` lists those there are; nothing was written".to_owned(),
            Self::UnknownItem { .. } | Self::AmbiguousItem { .. } | Self::NotInTrace { .. } => {
                "`git trace log --oneline` lists items".to_owned()
            }
            Self::UnknownState { .. } => {
                "`git trace branch` lists traces, `git trace log` their commits and items".to_owned()
            }
            Self::IsCurrent { .. } => "make another one current there first: git trace switch <name>".to_owned(),
            Self::Unmerged { name, .. } => {
                format!("`git trace branch -D {name}` deletes it all the same; its place is kept then too")
            }
            Self::LogGap { trace } => {
                format!("`git reflog refs/traces/{trace}` lists moves; `git trace reset <commit>` goes to one")
            }
            Self::NotLive { item, .. } => format!("put it back with `git trace restore {item}`"),
            Self::AlreadyLive { item, .. } => format!("`git trace log --item {item}` lists its revisions"),
            Self::OverBudget { .. } => "skip, edit or delete what is not needed, or raise `trace.budget`".to_owned(),
            Self::Secret { fingerprint, .. } => {
                format!("take it out; if it is none: git config --add trace.allowSecret {fingerprint}")
            }
            Self::NotASummary { .. } => {
                "`git trace expand` works in the trace that was compressed, and where it was merged".to_owned()
            }
            Self::Merge { .. } => {
                "`git trace reset` goes back to before it; `git trace revert` takes single commits".to_owned()
            }
            Self::DamagedRecord { .. } => {
                "`git trace fsck --repair` takes the line out; the record's history keeps it".to_owned()
            }
            Self::SeenOtherwise { as_seen: false, .. } => "import into a trace of its own: --trace NAME".to_owned(),
            Self::SeenOtherwise { as_seen: true, .. } => {
                "say --as-seen again, or import into another trace: --trace NAME".to_owned()
            }
            Self::Full { .. } => "close the gaps with `git trace gc --renumber`".to_owned(),
            _ => return None,
        })
    }

    fn exit_status(&self) -> u8 {
        if matches!(self, Self::OverBudget { .. }) { 1 } else { 2 }
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Git(error) => Some(error),
            Self::Type(error) => Some(error),
            Self::NoReply(error) => Some(&**error),
            _ => None,
        }
    }
}
