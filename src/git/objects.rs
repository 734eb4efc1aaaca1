//! Reading objects, and the kinds that are written.

use std::collections::VecDeque;

use git2::{ObjectFormat, ObjectType, Odb, OdbObject};

use crate::base::cancel::is_canceled;

use super::commit::{Commit, NewCommit};
use super::error::GitError;
use super::loose::Loose;
use super::oid::Oid;
use super::open::Repo;
use super::tree::{Entry, Tree, TreeStore, render_tree};

pub(crate) enum Object<'r> {
    Held(OdbObject<'r>),
    Own(Vec<u8>),
}

impl Object<'_> {
    pub(crate) fn data(&self) -> &[u8] {
        match self {
            Self::Held(object) => object.data(),
            Self::Own(bytes) => bytes,
        }
    }
}

impl Repo {
    pub(super) fn odb(&self) -> Result<Odb<'_>, GitError> {
        self.inner.odb().map_err(|source| GitError::store("open the object database", source))
    }

    pub(crate) fn read_blob(&self, oid: Oid) -> Result<Vec<u8>, GitError> {
        Ok(self.read_as(&self.odb()?, oid, ObjectType::Blob, "blob")?.data().to_vec())
    }

    /// As [`Repo::read_blob`]; `None` if the object is of another kind, as a tree of a remote may name any object as a file.
    pub(crate) fn find_blob(&self, oid: Oid) -> Result<Option<Vec<u8>>, GitError> {
        if self.is_blob(oid)? { self.read_blob(oid).map(Some) } else { Ok(None) }
    }

    /// Whether an object is a blob, which its header says, or is not here.
    pub(crate) fn is_blob(&self, oid: Oid) -> Result<bool, GitError> {
        let odb = self.odb()?;
        if let Ok((_, kind)) = odb.read_header(oid.0) {
            return Ok(kind == ObjectType::Blob);
        }
        match read(&odb, &self.loose, oid) {
            Ok((kind, _)) => Ok(kind == ObjectType::Blob),
            // Git needs no object for the empty tree.
            Err(GitError::MissingObject { .. }) => Ok(oid != self.hash(ObjectType::Tree, b"")?),
            Err(error) => Err(error),
        }
    }

    /// At the boundary of a shallow clone a commit has no parents.
    pub(crate) fn read_commit(&self, oid: Oid) -> Result<Commit, GitError> {
        if let Some(commit) = find_recent(&self.recent.borrow().commits, oid) {
            return Ok(commit);
        }
        let odb = self.odb()?;
        let object = self.read_as(&odb, oid, ObjectType::Commit, "commit")?;
        let parsed = Commit::parse(oid, object.data(), self.object_format());
        let mut commit = parsed.ok_or(GitError::WrongKind { oid, expected: "commit" })?;
        if self.shallow_commits()?.contains(&oid) {
            commit.parents.clear();
        }
        keep_recent(&mut self.recent.borrow_mut().commits, RECENT_COMMITS, oid, &commit);
        Ok(commit)
    }

    pub(crate) fn write_blob(&self, bytes: &[u8]) -> Result<Oid, GitError> {
        self.write(ObjectType::Blob, bytes, "item")
    }

    pub(crate) fn write_commit(&self, commit: &NewCommit<'_>) -> Result<Oid, GitError> {
        self.write(ObjectType::Commit, commit.render().as_bytes(), "commit")
    }

    /// Fetches the object if a remote promised it.
    pub(super) fn read_as<'o>(
        &self,
        odb: &'o Odb<'_>,
        oid: Oid,
        kind: ObjectType,
        expected: &'static str,
    ) -> Result<Object<'o>, GitError> {
        match read_as(odb, &self.loose, oid, kind, expected) {
            Err(GitError::MissingObject { .. }) if self.fetch_promised(odb, &[oid])? => {
                read_as(odb, &self.loose, oid, kind, expected)
            }
            read => read,
        }
    }

    /// The oid an object would have, without writing it.
    pub(crate) fn hash(&self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, GitError> {
        git2::Oid::hash_object_ext(kind, bytes, self.object_format())
            .map(Oid)
            .map_err(|source| GitError::store("hash an object", source))
    }

    /// The commit that a git revision names, if any.
    pub(crate) fn find_commit(&self, rev: &str) -> Result<Option<Oid>, GitError> {
        let Some(mut oid) = self.resolve(rev)? else { return Ok(None) };
        let odb = self.odb()?;
        loop {
            let (kind, object) = match read(&odb, &self.loose, oid) {
                Err(GitError::MissingObject { .. }) => return Ok(None),
                read => read?,
            };
            match (kind, tagged(object.data(), self.object_format())) {
                (ObjectType::Commit, _) => return Ok(Some(oid)),
                (ObjectType::Tag, Some(target)) => oid = target,
                _ => return Ok(None),
            }
        }
    }
}

/// The target of a tag: its first line is `object <oid>`.
fn tagged(bytes: &[u8], format: ObjectFormat) -> Option<Oid> {
    let line = bytes.strip_prefix(b"object ")?.split(|byte| *byte == b'\n').next()?;
    Oid::parse(std::str::from_utf8(line).ok()?, format)
}

impl TreeStore for Repo {
    fn tree(&self, oid: Oid) -> Result<Tree, GitError> {
        if let Some(tree) = find_recent(&self.recent.borrow().trees, oid) {
            return Ok(tree);
        }
        let odb = self.odb()?;
        let object = self.read_as(&odb, oid, ObjectType::Tree, "tree")?;
        let parsed = Tree::parse(object.data(), self.object_format());
        let tree = parsed.ok_or(GitError::WrongKind { oid, expected: "tree" })?;
        keep_recent(&mut self.recent.borrow_mut().trees, RECENT_TREES, oid, &tree);
        Ok(tree)
    }

    fn write_tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError> {
        self.write(ObjectType::Tree, &render_tree(entries), "tree")
    }
}

/// The last commits and trees: a walk through history compares a commit's trees with its parent's, then visits the parent.
#[derive(Debug, Default)]
pub(super) struct Recent {
    commits: VecDeque<(Oid, Commit)>,
    trees: VecDeque<(Oid, Tree)>,
}

const RECENT_COMMITS: usize = 4;
/// Three levels of a commit and its parent, and some for other parents.
const RECENT_TREES: usize = 12;

fn find_recent<T: Clone>(recent: &VecDeque<(Oid, T)>, oid: Oid) -> Option<T> {
    recent.iter().find(|(known, _)| *known == oid).map(|(_, object)| object.clone())
}

fn keep_recent<T: Clone>(recent: &mut VecDeque<(Oid, T)>, count: usize, oid: Oid, object: &T) {
    recent.truncate(count - 1);
    recent.push_front((oid, object.clone()));
}

pub(super) fn read_as<'o>(
    odb: &'o Odb<'_>,
    loose: &Loose,
    oid: Oid,
    kind: ObjectType,
    expected: &'static str,
) -> Result<Object<'o>, GitError> {
    let (found, object) = read(odb, loose, oid)?;
    if found == kind { Ok(object) } else { Err(GitError::WrongKind { oid, expected }) }
}

fn read<'o>(odb: &'o Odb<'_>, loose: &Loose, oid: Oid) -> Result<(ObjectType, Object<'o>), GitError> {
    if is_canceled() {
        return Err(GitError::Canceled);
    }
    if let Some((kind, bytes)) = loose.read(oid)? {
        return Ok((kind, Object::Own(bytes)));
    }
    if loose.was_removed(oid) {
        let (kind, bytes) = loose.ask_git(&oid.to_string()).ok_or(GitError::MissingObject { oid })?;
        return Ok((kind, Object::Own(bytes)));
    }
    let object = odb.read(oid.0).map_err(|source| GitError::reading(oid, source))?;
    Ok((object.kind(), Object::Held(object)))
}
