//! Bringing changes from elsewhere into a trace: items of another trace, the opposite of an earlier commit, a whole branch
//! of context on a new ground.
//!
//! All are three-way merges of one commit's doing into the tip, and differ in what is taken for base and for theirs. They
//! write a chain of commits aside, and the trace takes it up in one step; a conflict that is left open changes nothing.

pub(crate) mod pick;
pub(crate) mod rebase;
pub(crate) mod revert;

use super::merge::three_way::{Conflict, Merged};
use crate::git::{Ident, NewCommit, Oid, Repo};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::trailers::Trailers;
use crate::trace::store::advance::Advance;
use crate::trace::store::sign;
use crate::trace::store::tip::Tip;
use crate::trace::store::write::Signature;

/// What came of it.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All of it is there already.
    Nothing,
    /// Commits were made, oldest first, and the trace moved on to the last.
    Done(Vec<Made>),
    /// Nothing was changed: these are for a person to decide.
    Conflicts(Vec<Conflict>),
}

/// A commit that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Made {
    /// The commit.
    pub commit: Oid,
    /// Its first line.
    pub subject: String,
}

/// Commits written one on another, which no ref holds yet.
struct Chain<'r> {
    repo: &'r Repo,
    signature: &'r Signature,
    encoding: Encoding,
    tip: Tip,
    made: Vec<Made>,
}

impl<'r> Chain<'r> {
    fn new(repo: &'r Repo, signature: &'r Signature, encoding: Encoding, tip: Tip) -> Self {
        Self { repo, signature, encoding, tip, made: Vec::new() }
    }

    /// Writes the commit of what was merged into the tip. Its time, tree, total and next position are put in here.
    fn add(&mut self, merged: &Merged, trailers: Trailers, author: &Ident, subject: &str) -> Result<(), TraceError> {
        let trailers = Trailers {
            time: Some(self.signature.at.after(Some(self.tip.time()))),
            tree: Some(merged.tree.to_string()),
            total: Some(merged.total(self.tip.total(self.repo, self.encoding)?)),
            next: Some(merged.next_seq),
            ..trailers
        };
        let message = trailers.render(subject);
        let parents = [self.tip.commit.oid];
        let committer = &self.signature.committer;
        let commit = NewCommit { tree: merged.tree, parents: &parents, author, committer, message: &message };
        let commit = sign::write_commit(self.repo, &commit)?;
        self.tip = Tip::read(self.repo, commit)?;
        self.made.push(Made { commit, subject: subject.to_owned() });
        Ok(())
    }

    /// Where the trace goes now.
    fn finish(self, what: &str) -> (Option<Advance>, Outcome) {
        let log = match self.made.as_slice() {
            [] => return (None, Outcome::Nothing),
            [only] => format!("{what}: {}", only.subject),
            several => format!("{what}: {} commits", several.len()),
        };
        (Some(Advance { to: self.tip.commit.oid, log }), Outcome::Done(self.made))
    }
}
