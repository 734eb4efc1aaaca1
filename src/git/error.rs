//! Errors of the repository, in the user's terms.

use std::io;
use std::path::PathBuf;

use git2::{ErrorClass, ErrorCode};
use thiserror::Error;

use super::oid::{Oid, short_oid};
use crate::base::error::Diagnostic;

/// The reason why git or the repository refused an operation.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum GitError {
    #[error("the client canceled the request")]
    Canceled,
    #[error("not in a git repository")]
    NotARepository,
    #[error("this needs a working tree, and there is none here")]
    NoWorktree,
    #[error("the repository belongs to another user, and git was not told to trust it")]
    UnsafeOwner,
    #[error("the bare repository `{}` is not used, because `safe.bareRepository` is `explicit`", path.display())]
    BareRepository { path: PathBuf },
    #[error("`HEAD` in `{}` is a link to a branch that is not a file, which git-trace cannot read", git_dir.display())]
    LinkedHead { git_dir: PathBuf },
    #[error("`{}` is not the repository that git uses here, which is `{}`", path.display(), other.display())]
    OtherRepository { path: PathBuf, other: PathBuf },
    #[error("line {line} of `{}` ends with `\\` before an empty line or a comment, after which libgit2 reads on, and git does not", path.display())]
    ContinuedLine { path: PathBuf, line: usize },
    #[error("this repository uses the git extension `{extension}`, which git-trace cannot read yet")]
    UnknownExtension { extension: String },
    #[error("git ignores the repository {cause}")]
    Ignored { cause: String },
    #[error("object {oid} is not in this repository")]
    MissingObject { oid: Oid },
    #[error("object {oid} is damaged, in {}", path.display())]
    DamagedObject { oid: Oid, path: PathBuf, source: io::Error },
    #[error("object {oid} is not a {expected}")]
    WrongKind { oid: Oid, expected: &'static str },
    #[error("`{refname}` moved while this command ran")]
    RefMoved { refname: String },
    #[error("`{refname}` is locked by another process")]
    RefLocked { refname: String, lock: String },
    #[error("`{refname}` is gone, but its reflog is not")]
    RefGone { refname: String },
    #[error("`{refname}` is damaged, but its reflog is not")]
    RefDamaged { refname: String },
    #[error("`{refname}` conflicts with an existing ref: one name is a folder of the other")]
    RefConflict { refname: String },
    #[error("git does not know who you are: {cause}")]
    NoIdentity { cause: String },
    #[error("`{variable}` is `{}`, which git does not read as a date", value.escape_debug())]
    BadDate { variable: String, value: String },
    #[error("git config `{key}` is `{value}`, which is not {expected}")]
    BadSetting { key: String, value: String, expected: &'static str },
    #[error("git config `{key}` has no value")]
    NoValue { key: String },
    #[error("cannot use `{path}`: {cause}")]
    BadShared { path: String, cause: String },
    #[error("`{}` is tracked, but this sparse checkout leaves it out", path.escape_debug())]
    NotCheckedOut { path: String },
    #[error("`{}` is a symbolic link, which is a file here because of `core.symlinks`", path.escape_debug())]
    LinkAsFile { path: String },
    #[error("another process has been writing to {what} for {seconds} seconds")]
    Busy { what: String, seconds: u64 },
    #[error("`git gc` is already running on {other}")]
    Collecting { other: String },
    #[error("git's settings are locked by `{}`", path.display())]
    SettingsLocked { path: PathBuf },
    #[error("cannot {action} {}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot run `git {command}`")]
    Spawn { command: String, source: io::Error },
    #[error("`git {command}` failed: {stderr}")]
    Command { command: String, stderr: String },
    #[error("git could not store some refs of the remote; see its message above")]
    NotStored,
    #[error("refs cannot move while git receives a push, whose objects are in quarantine")]
    Quarantine,
    #[error("cannot sign the commit: {cause}")]
    Unsigned { cause: String },
    #[error("cannot write the {what} to the object database")]
    Write { what: String, source: io::Error },
    #[error("cannot {action}")]
    Store { action: String, source: StoreError },
}

/// What libgit2 said.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct StoreError(git2::Error);

impl Diagnostic for GitError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotARepository => "run `git init` first, or change into a repository",
            Self::NoIdentity { .. } => {
                "`git config --global user.name 'Your Name'` and `git config --global user.email you@example.com` set it"
            }
            Self::NoWorktree => "change into a working tree of the repository; `git worktree add` makes one",
            Self::UnsafeOwner => "if you trust it: git config --global --add safe.directory <its folder>",
            Self::BareRepository { .. } => "if you trust it: git --git-dir=<its folder> trace …",
            Self::LinkedHead { .. } => {
                "unset `core.preferSymlinkRefs`, then run `git symbolic-ref HEAD \"$(git symbolic-ref HEAD)\"`"
            }
            Self::OtherRepository { .. } => "change into another folder of the repository that you mean",
            Self::ContinuedLine { .. } => "remove the `\\`",
            Self::Quarantine => "use the post-receive hook",
            Self::MissingObject { .. } | Self::DamagedObject { .. } => {
                "`git trace fsck` reports what it belongs to and what helps"
            }
            Self::Unsigned { .. } => "`trace.sign` is set; if `git commit -S` can sign, so can git-trace",
            Self::SettingsLocked { .. } => {
                "try again; if no git is at work there, one was killed: remove that file, which else is done ten minutes after it was made"
            }
            Self::RefGone { .. } => "`git trace fsck --repair` restores it; `git update-ref -d` deletes it",
            Self::RefDamaged { .. } => "`git trace fsck --repair` moves it to the newest complete state in its reflog",
            Self::NotCheckedOut { .. } => "`git sparse-checkout add <its folder>` adds it",
            Self::LinkAsFile { .. } => "change the file that it leads to, or commit a file in its place",
            Self::RefConflict { refname } if refname.starts_with("refs/trace-remotes/") => {
                "`git trace fetch --prune REMOTE` removes what the remote no longer has"
            }
            Self::RefConflict { .. } => "choose another name",
            Self::RefLocked { lock, .. } => {
                return Some(format!("try again when it has ended; its lock is `{lock}` in the git folder"));
            }
            Self::Collecting { .. } => {
                "try again when it has ended; if it was killed, remove `gc.pid` in the git folder"
            }
            Self::Busy { .. } => "try again when it has ended",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl GitError {
    /// Whether an object is missing or cannot be read.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::MissingObject { .. } | Self::DamagedObject { .. } | Self::WrongKind { .. } | Self::Store { .. }
        )
    }

    pub(crate) fn locked_file(refname: &str) -> Self {
        let name = refname.strip_prefix("main-worktree/").unwrap_or(refname);
        Self::RefLocked { refname: refname.to_owned(), lock: format!("{name}.lock") }
    }

    pub(super) fn opening(source: git2::Error) -> Self {
        const UNSUPPORTED: &str = "unsupported extension name extensions.";
        match (source.class(), source.code()) {
            // `GIT_DIR` may name a missing folder.
            (ErrorClass::Repository | ErrorClass::Os, ErrorCode::NotFound) => Self::NotARepository,
            (_, ErrorCode::Owner) => Self::UnsafeOwner,
            _ => match source.message().strip_prefix(UNSUPPORTED) {
                Some(extension) => Self::UnknownExtension { extension: extension.to_owned() },
                None => Self::store("open the repository", source),
            },
        }
    }

    pub(super) fn reading(oid: Oid, source: git2::Error) -> Self {
        match source.code() {
            ErrorCode::NotFound => Self::MissingObject { oid },
            _ => Self::store(format!("read object {}", short_oid(oid)), source),
        }
    }

    pub(super) fn store(action: impl Into<String>, source: git2::Error) -> Self {
        Self::Store { action: action.into(), source: StoreError(source) }
    }

    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io { action, path: path.into(), source }
    }
}
