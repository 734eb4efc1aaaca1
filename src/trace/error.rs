//! The errors of traces.

use std::path::PathBuf;

use thiserror::Error;

use super::model::id::ItemId;
use super::model::json::BadField;
use super::model::name::TraceName;
use super::model::schema::SchemaError;
use super::model::tree::CAPACITY;
use super::model::types::BadRule;
use crate::base::error::Diagnostic;
use crate::base::escape::shell_word;
use crate::base::time::Time;
use crate::git::{GitError, Oid, short_oid};
use crate::secrets::Fingerprint;
use crate::tokens::CountError;
use crate::trace::model::name::TRACES;

/// The part of a change that exceeds a budget.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "an error contains it")]
pub struct Addition {
    pub tokens: u64,
    /// The item that is added or edited.
    pub item: Option<ItemId>,
}

/// The smallest size of a trace that compressing can reach.
#[derive(Clone, Debug, Error)]
#[error("{kept} tokens would remain without a summary ({pinned})")]
#[allow(missing_docs, reason = "an error contains it")]
pub struct Floor {
    /// The tokens of everything that is not replaced.
    pub kept: u64,
    /// The pinned items among it, in words.
    pub pinned: String,
    /// The tokens with a summary.
    pub needed: u64,
}

/// The reason why an operation on a trace failed.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum TraceError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Count(#[from] CountError),
    #[error(transparent)]
    Type(#[from] BadRule),
    #[error(transparent)]
    Field(#[from] BadField),
    #[error("no trace is named `{name}`")]
    NoSuchTrace { name: TraceName },
    /// The current trace has no commit.
    #[error("trace `{name}` has no items yet")]
    Unborn { name: TraceName },
    #[error("no trace is named `{name}`")]
    Misspelled { name: TraceName, meant: TraceName },
    #[error("trace `{name}` is not here, but was fetched as `{fetched}`")]
    OnlyFetched { name: TraceName, fetched: String },
    #[error("`{}` could be any of {}", part.escape_debug(), candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    AmbiguousTrace { part: String, candidates: Vec<TraceName> },
    #[error("trace `{name}` was renamed or deleted while this command ran")]
    Vanished { name: TraceName },
    #[error("no item of trace `{trace}` is named `{}`", spec.escape_debug())]
    UnknownItem { spec: String, trace: TraceName },
    #[error("`{name}` is a trace, not an item")]
    NotAnItem { name: TraceName },
    #[error("item {item} was removed from trace `{trace}`")]
    NotLive { item: ItemId, trace: TraceName },
    #[error("item {item} was never in trace `{trace}`")]
    NotInTrace { item: ItemId, trace: TraceName },
    #[error("item {item} is live in trace `{trace}`; name the revision to go back to")]
    AlreadyLive { item: ItemId, trace: TraceName },
    #[error("item {item} has no revision {revision} in the history of trace `{trace}`")]
    NoSuchRevision { item: ItemId, revision: u32, trace: TraceName },
    #[error("`{spec}` could be any of {}", candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    AmbiguousItem { spec: String, candidates: Vec<ItemId> },
    #[error("`{spec}` is too short: give four digits of an item's id, or #<position>")]
    TooShort { spec: String },
    #[error("`{spec}` names {count} items, but one is expected")]
    NotOneItem { spec: String, count: usize },
    #[error("no item of trace `{trace}` matches")]
    NothingSelected { trace: TraceName },
    #[error("`{}` is not a commit of trace `{trace}`", spec.escape_debug())]
    NotACommit { spec: String, trace: TraceName },
    #[error("trace `{trace}` has no turn {turn}: it has {count}")]
    NoSuchTurn { turn: i64, count: usize, trace: TraceName },
    #[error("no commit, item, or time of trace `{trace}` is named `{}`", spec.escape_debug())]
    UnknownMoment { spec: String, trace: TraceName },
    #[error("trace `{trace}` had no commit yet at {at}")]
    BeforeTheFirst { trace: TraceName, at: Time },
    #[error("no trace, commit, item, or time is named `{}`", spec.escape_debug())]
    UnknownState { spec: String, meant: Option<TraceName> },
    #[error("trace `{name}` already exists")]
    TraceExists { name: TraceName },
    /// In another worktree, if its git directory is given.
    #[error("trace `{name}` is the current one{}", git_dir.as_ref().map(|at| format!(" in `{}`", at.display())).unwrap_or_default())]
    IsCurrent { name: TraceName, git_dir: Option<PathBuf> },
    #[error("trace `{name}` has commits that are neither in trace `{current}` nor on a remote")]
    Unmerged { name: TraceName, current: TraceName },
    #[error("`TRACE_HEAD` points to {}, which is not a trace", target.escape_debug())]
    BadHead { target: String },
    #[error("no other trace was checked out in this worktree before")]
    NoPrevious,
    #[error("the operation log has no operation `{}`", spec.escape_debug())]
    NoSuchOperation { spec: String },
    #[error("`{spec}` could be any of several operations")]
    AmbiguousOperation { spec: String },
    #[error("the line of operation {operation} in the operation log is damaged")]
    DamagedOperation { operation: String },
    #[error("operation {operation} was reversed by operation {by} already")]
    OperationReversed { operation: String, by: String },
    #[error("cannot reverse operation {operation} ({command}): `{refname}` has moved since")]
    MovedSince { operation: String, command: String, refname: String, revert: Option<String> },
    #[error("cannot reverse operation {operation} ({command}): the priority of item {item} was set again since")]
    SetSince { operation: String, command: String, item: ItemId },
    #[error("cannot reverse operation {operation} ({command}): `{refname}` goes with files that only git restores")]
    Irreversible { operation: String, command: String, refname: String },
    #[error("cannot reverse operation {operation} ({command}): the state of `{refname}` from before it is damaged")]
    DamagedState { operation: String, command: String, refname: String, source: Box<GitError> },
    #[error("operation {operation} ({command}) has no effect left to reverse")]
    NothingLeft { operation: String, command: String },
    #[error("item {item} is not text")]
    NotText { item: ItemId },
    #[error("no trace is named `{}`", pattern.escape_debug())]
    NoMatch { pattern: String },
    #[error("`{}` has no trace `{}`", remote.escape_debug(), pattern.escape_debug())]
    NoRemoteMatch { remote: String, pattern: String },
    #[error("trace `{name}` is archived on `{}`", remote.escape_debug())]
    Archived { name: TraceName, remote: String },
    #[error("`{}` does not have the archived trace `{name}` with its newest commit", remote.escape_debug())]
    NotHeld { name: TraceName, remote: String },
    #[error("trace `{name}` is archived on `{}`, which is no remote any more", remote.escape_debug())]
    LostRemote { name: TraceName, remote: String },
    #[error("cannot archive to `{}`: it needs objects of this repository", remote.escape_debug())]
    ArchiveHere { remote: String },
    #[error("item {item} of trace `{trace}` was changed while this command ran; nothing was done")]
    Changed { item: ItemId, trace: TraceName },
    #[error("trace `{trace}` was changed while this command ran; nothing was done")]
    MovedMeanwhile { trace: TraceName },
    #[error("something was purged while this command ran, so it stopped")]
    PurgedMeanwhile,
    #[error("item {item} is not live, so it cannot be the end of a range")]
    Gone { item: ItemId },
    #[error("item {item} is not a summary in the history of trace `{trace}`")]
    NotASummary { item: ItemId, trace: TraceName },
    #[error("commit {commit} is a merge: it has no single parent to compare with")]
    Merge { commit: Oid },
    #[error("the record of priorities of item {item} has a damaged line {line}")]
    DamagedRecord { item: ItemId, line: usize },
    #[error("{what} has no valid signature, which `{setting}` demands")]
    Unsigned { what: String, oid: Oid, is_signed: bool, setting: &'static str },
    #[error("{what} is signed, but as something else: a signature does not name what it is for")]
    SignedOtherwise { what: String },
    #[error("nothing was pushed to {}", addresses.iter().map(|address| format!("`{address}`")).collect::<Vec<_>>().join(", "))]
    NotReached { addresses: Vec<String>, source: Box<GitError> },
    #[error("{noun} were not pushed")]
    NotShared { noun: &'static str, source: Box<TraceError> },
    #[error("done, but worktrees still name trace `{old}`: {}", git_dirs.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", "))]
    HeadStays { old: TraceName, git_dirs: Vec<PathBuf>, source: Box<GitError> },
    #[error("`{remote}/{name}` shares no commit with trace `{name}`, and its signature does not name the trace")]
    Unrelated { remote: String, name: TraceName },
    #[error("trace `{trace}` would take {total} tokens ({basis}), more than its budget of {max}")]
    OverBudget { trace: TraceName, total: u64, basis: Box<str>, max: u64, addition: Box<Addition> },
    #[error("trace `{trace}` cannot be compressed to {max} tokens: {floor}")]
    CannotCompress { trace: TraceName, max: u64, floor: Box<Floor> },
    #[error("trace `{trace}` has no room for {added} more tokens in its budget of {max}: {floor}")]
    NoRoom { trace: TraceName, added: u64, max: u64, floor: Box<Floor> },
    #[error(
        "trace `{trace}` has no room for {added} more tokens in its budget of {max}: presets would cut only {saved}"
    )]
    TooLittleToCut { trace: TraceName, added: u64, max: u64, saved: u64, needed: u64 },
    #[error("cannot clean the trace for its budget: {cause}")]
    BadPreset { cause: String },
    #[error("the summary takes {tokens} tokens, and only {max} would fit")]
    LongSummary { tokens: u64, max: u64 },
    #[error("the summary has no text")]
    BlankSummary,
    #[error(transparent)]
    Compressor(Box<dyn std::error::Error + Send + Sync>),
    #[error("cannot run the budget command `{command}`")]
    BudgetCommand { command: String, source: std::io::Error },
    #[error("the budget command `{command}` failed, so nothing was committed")]
    BudgetCommandFailed { command: String },
    #[error("nothing to reply to: {0}")]
    NoReply(Box<TraceError>),
    #[error("the subject must be one line of text without control characters, and not empty")]
    BadSubject,
    #[error("the text holds what looks like {what}")]
    Secret { what: &'static str, fingerprint: Fingerprint },
    #[error("trace `{trace}` has used all of its {CAPACITY} positions")]
    Full { trace: TraceName },
    #[error("commit {} has one file, {}, for {items} items", short_oid(*oid), short_oid(*blob))]
    SharedFile { oid: Oid, blob: Oid, items: usize },
    #[error("commit {} names object {} as the file of an item, and it is not a file", short_oid(*oid), short_oid(*object))]
    NotAFile { oid: Oid, object: Oid },
    #[error("`{}` is ambiguous: {refname}, or {other}", spec.escape_debug())]
    AmbiguousState { spec: String, refname: String, other: String },
    #[error("commit {} has {items} items, but its next position is #{next}", short_oid(*oid))]
    FewPositions { oid: Oid, next: u32, items: usize },
    #[error("the input has {items} items, more than the {CAPACITY} positions of a trace")]
    TooMany { items: usize },
    #[error("the time {at} is not from 1970 to 2100")]
    BadClock { at: Time },
    #[error("line {line}: {cause}")]
    BadLine { line: usize, cause: String },
    #[error("trace `{trace}` {} the items that compactions replaced, and later imports must do the same", if *as_seen { "does not keep" } else { "keeps" })]
    SeenOtherwise { trace: TraceName, as_seen: bool },
    #[error("it contains several independent conversations")]
    SeveralConversations,
    #[error("{what} contains content that was {}", purge.escape_debug())]
    Purged {
        what: String,
        purge: String,
        /// The one that purged it, if only that one did.
        remote: Option<String>,
    },
    #[error("trace `{name}` of `{remote}` contains content that was {}", purge.escape_debug())]
    PurgedThere { name: TraceName, remote: String, purge: String },
    #[error("cannot purge: {cause}")]
    CannotPurge { cause: String },
    #[error("cannot {action}")]
    Stream { action: &'static str, source: std::io::Error },
}

/// What may be meant by the name of an item or a state that git or a list of numbers teaches.
fn meant(spec: &str) -> Option<String> {
    let is_number = !spec.is_empty() && spec.bytes().all(|byte| byte.is_ascii_digit());
    let code = spec.strip_prefix("HEAD").filter(|rest| rest.is_empty() || rest.starts_with(['~', '^', '@']));
    match code {
        Some(rest) => Some(format!("did you mean `TRACE_HEAD{}`? `HEAD` is a commit of the code", rest.escape_debug())),
        None if is_number => Some(format!("a position has a `#`, as in `'#{spec}'`")),
        None => None,
    }
}

impl TraceError {
    /// The name that may be meant by one that names nothing.
    fn meant(&self) -> Option<String> {
        match self {
            Self::Misspelled { meant: name, .. } | Self::UnknownState { meant: Some(name), .. } => {
                Some(format!("did you mean `{name}`?"))
            }
            Self::NotAnItem { name } => Some(format!("`--trace {name}` works on that trace")),
            Self::UnknownItem { spec, .. }
            | Self::TooShort { spec }
            | Self::UnknownMoment { spec, .. }
            | Self::UnknownState { spec, .. }
            | Self::NotACommit { spec, .. }
            | Self::NotOneItem { spec, count: 0 } => meant(spec),
            _ => None,
        }
    }

    /// The budget that would do.
    fn needed(&self) -> Option<String> {
        let (raise, needed, or) = match self {
            Self::NoRoom { added, floor, .. } => {
                ("raise the budget to", floor.needed + added, "unpin items with `git trace unpin`")
            }
            Self::CannotCompress { floor, .. } => ("allow", floor.needed, "unpin items with `git trace unpin`"),
            Self::TooLittleToCut { needed, .. } => {
                ("raise the budget to", *needed, "use the budget action `compress --preset default`")
            }
            _ => return None,
        };
        Some(format!("{raise} at least {needed} tokens, or {or}"))
    }

    /// The command for the trace or the remote of the error.
    fn next_command(&self) -> Option<String> {
        Some(match self {
            Self::NotACommit { trace, .. } => format!("`git trace log {}` lists commits", shell_word(trace)),
            Self::TraceExists { name } => format!("`git trace switch {}` makes it the current trace", shell_word(name)),
            Self::NoRemoteMatch { remote, .. } => {
                format!("`git trace fetch {}` fetches and lists all of its traces", shell_word(remote))
            }
            Self::OnlyFetched { name, .. } => format!("`git trace switch {}` creates it", shell_word(name)),
            Self::Archived { name, .. } => format!("`git trace switch {}` brings it back", shell_word(name)),
            Self::PurgedThere { remote, .. } => {
                format!("`git trace purge --push {}` replaces it there", shell_word(remote))
            }
            Self::LostRemote { name, remote } => {
                let (name, remote) = (shell_word(name), shell_word(remote));
                format!(
                    "`git remote add {remote} URL` adds it again; `git trace pull REMOTE {name}` brings the trace from another one"
                )
            }
            Self::NotHeld { name, remote, .. } => {
                let (remote, refname) = (shell_word(remote), shell_word(name.refname()));
                format!("`git ls-remote {remote} {refname}` shows what it has")
            }
            Self::UnknownItem { trace, .. } | Self::NotInTrace { trace, .. } => {
                format!("`git trace log --oneline {}` lists items", shell_word(trace))
            }
            Self::Unrelated { remote, name } => {
                let fetched = shell_word(format_args!("{remote}/{name}"));
                format!("if it is the same trace, `git trace merge {fetched}` joins them")
            }
            Self::Unmerged { name, .. } => {
                let name = shell_word(name);
                format!("`git trace branch -D {name}` deletes it anyway; `git trace undo` brings it back")
            }
            _ => return None,
        })
    }
}

impl Diagnostic for TraceError {
    fn hint(&self) -> Option<String> {
        if let Some(hint) = self.meant().or_else(|| self.needed()).or_else(|| self.next_command()) {
            return Some(hint);
        }
        let hint = match self {
            Self::NoSuchTurn { .. } => "`git trace top --by turn` lists turns; `@-1` is the last one",
            Self::NoMatch { .. } => "`git trace branch` lists traces",
            Self::ArchiveHere { .. } => "use a separate repository as the remote, such as `git init --bare` makes",
            Self::AmbiguousTrace { .. } => "name more of it",
            Self::NoSuchTrace { .. } => {
                "`git trace branch` lists traces; `git trace import` or `git trace commit` creates one"
            }
            Self::Unborn { .. } => {
                "`git trace import` imports a session, `git trace commit -m TEXT` records an item; `git trace branch` lists other traces"
            }
            Self::MovedMeanwhile { .. } | Self::PurgedMeanwhile => "run the command again",
            Self::Vanished { .. } => "nothing was written; `git trace branch` lists traces",
            Self::AmbiguousItem { .. } | Self::TooShort { .. } | Self::NotOneItem { .. } => {
                "`git trace log --oneline` lists items"
            }
            Self::UnknownMoment { .. } => {
                "`git trace log` lists commits and items; a time is written like `yesterday`, `2 days ago`, or `2026-02-10 09:00`"
            }
            Self::UnknownState { .. } => "`git trace branch` lists traces, `git trace log` their commits and items",
            Self::IsCurrent { git_dir: None, .. } => "`git trace switch NAME` makes another trace the current one",
            Self::IsCurrent { .. } => "run `git trace switch NAME` in that worktree first",
            Self::HeadStays { .. } => {
                "run `git trace switch NAME` in them; `git worktree prune` forgets those that are gone"
            }
            Self::OverBudget { .. } => "skip, edit or delete what is not needed, or raise `trace.budget`",
            Self::NotASummary { .. } => {
                "`git trace expand` works in the trace that was compressed, and where it was merged"
            }
            Self::BadHead { .. } => {
                "`git trace switch <trace>` makes a trace the current one; `git trace branch` lists them"
            }
            Self::Purged { remote, .. } => {
                let remote = remote.as_ref().map_or(String::new(), |remote| format!(" {}", shell_word(remote)));
                return Some(format!(
                    "`git trace pull{remote}` applies the purge to local traces; docs/privacy.md says what else to do"
                ));
            }
            Self::Merge { .. } => "`git trace reset` goes back to before it; `git trace revert` takes single commits",
            Self::Unsigned { oid, is_signed: true, .. } => return Some(format!("`git verify-commit {oid}` says why")),
            Self::Unsigned { .. } => {
                "it is not signed: anyone who can push there can set `trace.sign`, and push another change of it"
            }
            Self::BadSubject => "without -s, the subject is a preview of the content",
            Self::DamagedRecord { .. } => "`git trace fsck --repair` removes the line; the record's history keeps it",
            Self::SeenOtherwise { as_seen: true, .. } => "omit --full, or import into another trace: --trace NAME",
            Self::SeenOtherwise { as_seen: false, .. } => "use --full, or import into another trace: --trace NAME",
            Self::SeveralConversations => "`--split` imports each into its own trace",
            Self::BadClock { .. } => "set the clock, `GIT_COMMITTER_DATE`, or `GIT_AUTHOR_DATE`",
            Self::TooMany { .. } => "split the file, and import each part into a separate trace: --trace NAME",
            Self::SharedFile { .. } => "where it was made, `git trace fsck` names the items",
            Self::AmbiguousState { .. } => "use one of these names",
            Self::FewPositions { .. } => "where it was made, `git trace gc --renumber` closes the gaps",
            Self::Full { .. } => {
                "continue in another trace: --trace NAME; if items were deleted, `git trace gc --renumber` frees their positions"
            }
            Self::NoSuchOperation { .. }
            | Self::AmbiguousOperation { .. }
            | Self::DamagedOperation { .. }
            | Self::OperationReversed { .. } => "`git trace op log` lists operations with their ids",
            Self::NothingLeft { .. } => "`git trace op log` lists older operations; `git trace undo <id>` undoes one",
            Self::MovedSince { revert: None, .. } => {
                "`git trace op log` lists what moved it since; undo that first, or use `git trace reset`"
            }
            Self::MovedSince { revert: Some(commit), refname, .. } => {
                let name = shell_word(refname.strip_prefix(TRACES).unwrap_or(refname));
                return Some(format!(
                    "`git trace revert --trace {name} {commit}` reverses that commit and keeps the later ones"
                ));
            }
            Self::SetSince { item, .. } => {
                return Some(format!(
                    "`git trace priority {item}` lists its levels; `pin`, `skip`, and `unpin` set another"
                ));
            }
            Self::Irreversible { .. } | Self::DamagedState { .. } => {
                "`git trace undo --list` lists earlier operations; name one to undo it"
            }
            Self::NotLive { item, .. } => return Some(format!("restore it with `git trace restore {item}`")),
            Self::AlreadyLive { item, .. } => {
                return Some(format!("`git trace log --item {item}` lists its revisions"));
            }
            Self::Secret { fingerprint, .. } => {
                return Some(format!(
                    "remove it; if it is not a secret: git config --add trace.allowSecret {fingerprint}"
                ));
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    fn exit_status(&self) -> u8 {
        match self {
            Self::OverBudget { .. }
            | Self::NoRoom { .. }
            | Self::TooLittleToCut { .. }
            | Self::CannotCompress { .. }
            | Self::LongSummary { .. }
            | Self::NothingSelected { .. }
            | Self::Unsigned { .. }
            | Self::SignedOtherwise { .. }
            | Self::NotReached { .. }
            | Self::NotShared { .. }
            | Self::HeadStays { .. }
            | Self::Unrelated { .. } => 1,
            _ => 2,
        }
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Count(error) => Some(error),
            Self::Git(error) => Some(error),
            Self::Schema(error) => Some(error),
            Self::Field(error) => Some(error),
            Self::Type(error) => Some(error),
            Self::NoReply(error) => Some(&**error),
            _ => None,
        }
    }
}
