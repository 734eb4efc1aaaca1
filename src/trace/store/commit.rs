//! The only place where commits are written: those of traces, and those of the priority record and of crumb archives.
//!
//! They are signed if git config sets `trace.sign`; the shared file cannot set it, because only the writer has a key.

use super::line_history::list_files;
use super::signature::Signature;
use crate::git::{Entry, GitError, Ident, Mode, NewCommit, Oid, PackWriter, Repo, TreeStore};
use crate::trace::model::trailers::Trailers;
use crate::trace::model::tree;
use crate::trace::{Tip, TraceError};

pub(crate) enum ObjectSink<'r> {
    Loose(&'r Repo),
    Pack(PackWriter<'r>),
}

impl ObjectSink<'_> {
    pub(crate) fn write_blob(&self, bytes: Vec<u8>) -> Result<Oid, GitError> {
        match self {
            Self::Loose(repo) => repo.write_blob(&bytes),
            Self::Pack(pack) => pack.write_blob(bytes),
        }
    }

    pub(crate) fn trees(&self) -> &dyn TreeStore {
        match self {
            Self::Loose(repo) => *repo,
            Self::Pack(pack) => pack,
        }
    }
}

pub(crate) struct CommitBuilder<'a> {
    signature: &'a Signature,
    tree: Oid,
    parents: Vec<Oid>,
    author: &'a Ident,
}

impl<'a> CommitBuilder<'a> {
    pub(crate) fn new(signature: &'a Signature, tree: Oid, parents: impl IntoIterator<Item = Oid>) -> Self {
        Self { signature, tree, parents: parents.into_iter().collect(), author: &signature.author }
    }

    pub(crate) fn author(self, author: &'a Ident) -> Self {
        Self { author, ..self }
    }

    pub(crate) fn with_message<'m>(&'m self, message: &'m str) -> NewCommit<'m> {
        let (author, committer) = (self.author, &self.signature.committer);
        NewCommit { tree: self.tree, parents: &self.parents, author, committer, message }
    }

    /// Writes a commit of a trace, and adds its tree to `trailers`. Signs loose commits if `trace.sign` is set; for those in a
    /// pack, see [`sign_again`].
    pub(crate) fn write(&self, sink: &ObjectSink<'_>, subject: &str, trailers: Trailers) -> Result<Oid, TraceError> {
        let message = Trailers { tree: Some(self.tree.to_string()), ..trailers }.render(subject);
        let commit = self.with_message(&message);
        Ok(match sink {
            ObjectSink::Loose(repo) if is_signing(repo)? => repo.write_signed_commit(&commit)?,
            ObjectSink::Loose(repo) => repo.write_commit(&commit)?,
            ObjectSink::Pack(pack) => pack.write_commit(&commit)?,
        })
    }

    /// Writes a commit of a history of lines. Signs it if `trace.sign` is set.
    pub(crate) fn write_plain(&self, repo: &Repo, message: &str) -> Result<Oid, GitError> {
        let commit = self.with_message(message);
        if is_signing(repo)? { repo.write_signed_commit(&commit) } else { repo.write_commit(&commit) }
    }
}

pub(crate) fn is_signing(repo: &Repo) -> Result<bool, GitError> {
    Ok(repo.config()?.boolean("trace.sign")?.unwrap_or(false))
}

/// Refuses a commit of a remote, which `what` names, if `trace.requireSigned` is set and git accepts no signature of it.
///
/// A signature covers all earlier commits, because a commit contains the oids of its parents. `git merge --verify-signatures`
/// judges only the tip too.
pub(crate) fn require_signed(repo: &Repo, what: impl FnOnce() -> String, oid: Oid) -> Result<(), TraceError> {
    if has_required_signature(repo, oid)? { Ok(()) } else { Err(unsigned(repo, what(), oid)) }
}

/// As [`require_signed`], for a commit that a trace is to have. A signature does not name what it is for, so a remote could give the name
/// of the trace to a signed commit of the code, or of another history.
pub(crate) fn require_signed_trace(repo: &Repo, what: impl Fn() -> String, oid: Oid) -> Result<(), TraceError> {
    require_signed(repo, &what, oid)?;
    if requires_signatures(repo)? && !is_of_trace(repo, oid)? {
        return Err(TraceError::SignedOtherwise { what: what() });
    }
    Ok(())
}

/// Whether a commit names its tree, as those of traces do, or has items, as after a merge by plain git, and no other files.
fn is_of_trace(repo: &Repo, oid: Oid) -> Result<bool, TraceError> {
    let tip = Tip::read(repo, oid)?;
    if !tip.is_ours() {
        let items = tree::list(repo, tip.commit.tree)?.len();
        return Ok(items > 0 && items == list_files(repo, tip.commit.tree)?.len());
    }
    let is_folder = |entry: &Entry| {
        entry.mode() == Mode::Folder && entry.name.len() == 2 && entry.name.iter().all(u8::is_ascii_digit)
    };
    Ok(repo.read_tree(tip.commit.tree)?.iter().all(is_folder))
}

/// The refusal of a commit without a signature, or with one that is not accepted.
fn unsigned(repo: &Repo, what: String, oid: Oid) -> TraceError {
    let is_signed = repo.read_raw_commit(oid).is_ok_and(|commit| commit.is_signed);
    let is_own = repo.config().is_ok_and(|config| matches!(config.boolean(REQUIRED), Ok(Some(_))));
    TraceError::Unsigned { what, oid, is_signed, setting: if is_own { REQUIRED } else { OF_GIT } }
}

/// True if neither `trace.requireSigned` nor git's own setting demands one.
fn has_required_signature(repo: &Repo, oid: Oid) -> Result<bool, GitError> {
    Ok(!requires_signatures(repo)? || repo.has_valid_signature(oid)?)
}

const REQUIRED: &str = "trace.requireSigned";
/// Counts unless [`REQUIRED`] is set.
const OF_GIT: &str = "merge.verifySignatures";

pub(crate) fn requires_signatures(repo: &Repo) -> Result<bool, GitError> {
    let config = repo.config()?;
    Ok(config.boolean(REQUIRED)?.map_or_else(|| config.boolean(OF_GIT), |own| Ok(Some(own)))?.unwrap_or(false))
}

pub(crate) fn sign_again(repo: &Repo, oid: Oid, author: &Ident, signature: &Signature) -> Result<Oid, GitError> {
    let commit = repo.read_commit(oid)?;
    let builder = CommitBuilder::new(signature, commit.tree, commit.parents).author(author);
    repo.write_signed_commit(&builder.with_message(&commit.message))
}
