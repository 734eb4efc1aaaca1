//! Renaming and deleting a ref from where it was seen.

use std::fs;

use super::{LogLine, RefStorage};
use crate::git::error::GitError;
use crate::git::ident::Ident;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::operation::Move;

impl Repo {
    /// Renames a ref with its reflog. `on_the_way` runs while both names exist, to change what points to the old one.
    /// The caller holds the [`Repo::lock`] of both.
    pub(crate) fn rename_ref<E: From<GitError>>(
        &self,
        from: &str,
        to: &str,
        oid: Oid,
        log: LogLine<'_>,
        on_the_way: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let moved = Move { refname: to, old: None, new: Some(oid), left: None };
        self.logged_move(&moved, log.who, || match &self.refs {
            RefStorage::Files => {
                let history = self.reflog_bytes(from)?;
                self.make_move(to, None, oid, log)?;
                let copied = if history.is_empty() { Ok(()) } else { self.replace_reflog(to, history, oid, log) };
                copied.or_else(|error| self.take_back(to, oid, error))
            }
            RefStorage::Reftable(_) => self.copy_by_git(from, to, oid, log),
        })?;
        on_the_way()?;
        Ok(self.delete_at(from, oid, None, log.who)?)
    }

    /// Deletes a new ref whose log cannot be copied, so that the renaming can be repeated.
    pub(super) fn take_back(&self, refname: &str, oid: Oid, error: GitError) -> Result<(), GitError> {
        let _ = self.delete_refs_at(&[(refname.to_owned(), oid)]);
        Err(error)
    }

    /// Puts the log of the old name before the move to this one, which is logged as a move from `oid` to itself.
    fn replace_reflog(&self, refname: &str, mut history: Vec<u8>, oid: Oid, log: LogLine<'_>) -> Result<(), GitError> {
        let path = self.reflog_path(refname);
        let failed = |source| GitError::io("write the reflog", &path, source);
        if !history.ends_with(b"\n") {
            history.push(b'\n');
        }
        let why = log.one_line();
        history.extend_from_slice(format!("{oid} {oid} {}\t{why}\n", log.who).as_bytes());
        // The lock also guards this temporary file.
        let aside =
            self.common_dir().join("trace").join(format!("reflog-{}", blake3::hash(refname.as_bytes()).to_hex()));
        fs::write(&aside, history).map_err(failed)?;
        self.permissions()?.adjust(&aside).map_err(failed)?;
        fs::rename(&aside, &path).map_err(failed)
    }

    /// Deletes a ref that is at `oid`, which is backed up, and its reflog. The caller holds the [`Repo::lock`] that guards it.
    pub(crate) fn delete_ref_at(&self, refname: &str, oid: Oid, who: &Ident) -> Result<(), GitError> {
        self.delete_at(refname, oid, Some(oid), who)
    }

    /// Deletes refs that have these values with their reflogs, all or none. Their commits are backed up.
    pub(crate) fn delete_all_at(&self, refs: &[(String, Oid)], who: &Ident) -> Result<(), GitError> {
        let moves = refs.iter().map(|(refname, oid)| Move { refname, old: Some(*oid), new: None, left: Some(*oid) });
        self.logged_moves(&moves.collect::<Vec<_>>(), who, || self.delete_refs_at(refs))
    }

    fn delete_at(&self, refname: &str, oid: Oid, left: Option<Oid>, who: &Ident) -> Result<(), GitError> {
        let _ = self.remove_stale_lock(refname);
        self.seen.borrow_mut().remove(refname);
        let delete = || self.delete_by_git(refname, &format!("delete {refname} {oid}\n"));
        let done = self.logged_move(&Move { refname, old: Some(oid), new: None, left }, who, delete);
        match done {
            Err(_) if self.find_ref(refname)? != Some(oid) => Err(GitError::RefMoved { refname: refname.to_owned() }),
            done => done,
        }
    }
}
