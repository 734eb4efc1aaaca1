//! Reading every object of a repository, and writing the objects that replace some of them.

use std::io::{BufRead as _, Read as _};

use git2::ObjectType;

use crate::git::commit::RawCommit;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::tree::{Entry, render_tree};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl ObjectKind {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "commit" => Self::Commit,
            "tree" => Self::Tree,
            "blob" => Self::Blob,
            "tag" => Self::Tag,
            _ => return None,
        })
    }
}

impl Repo {
    /// Passes every object in this repository and its alternates to `visit`, reachable or not, in no particular order. Skips loose
    /// objects whose files are empty.
    pub(crate) fn for_each_object<E: From<GitError>>(
        &self,
        mut visit: impl FnMut(Oid, ObjectKind, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_readable()?;
        let failed = |source| GitError::Spawn { command: "cat-file".to_owned(), source };
        // With a damaged `.rev` file, git does not list all objects, but reads each.
        let mut command = self.git_with(&["pack.readReverseIndex=false"], "cat-file");
        command.args(["--batch-all-objects", "--batch", "--unordered", "--buffer"]).env("GIT_NO_LAZY_FETCH", "1");
        let done = command.stream_all(drop, |mut answers| {
            let (mut head, mut bytes) = (String::new(), Vec::new());
            loop {
                head.clear();
                if answers.read_line(&mut head).map_err(failed)? == 0 {
                    return Ok(());
                }
                // `<oid> <kind> <length>`
                let mut words = head.trim_end().split(' ');
                let oid = self.parse_oid(words.next().unwrap_or_default())?;
                let kind = words.next();
                if kind == Some("missing") && self.loose.is_empty(oid) {
                    continue;
                }
                let kind = kind.and_then(ObjectKind::parse);
                let len = words.next().and_then(|len| len.parse::<u64>().ok());
                let (Some(kind), Some(len)) = (kind, len) else {
                    // Of a damaged file, the error names it.
                    self.loose.read(oid)?;
                    return Err(GitError::MissingObject { oid }.into());
                };
                bytes.clear();
                answers.by_ref().take(len).read_to_end(&mut bytes).map_err(failed)?;
                if answers.read_line(&mut head).map_err(failed)? != 1 || bytes.len() as u64 != len {
                    self.loose.read(oid)?;
                    return Err(GitError::MissingObject { oid }.into());
                }
                visit(oid, kind, &bytes)?;
            }
        });
        done.map_err(GitError::from)?
    }

    /// The oid that these digits are, if they are complete. The object need not exist.
    pub(crate) fn find_oid(&self, digits: &str) -> Option<Oid> {
        Oid::parse(digits, self.object_format())
    }

    pub(crate) fn read_raw_commit(&self, oid: Oid) -> Result<RawCommit, GitError> {
        let odb = self.odb()?;
        let object = self.read_as(&odb, oid, ObjectType::Commit, "commit")?;
        RawCommit::parse(object.data(), self.object_format()).ok_or(GitError::WrongKind { oid, expected: "commit" })
    }
}

/// Where changed objects go: into the repository, or nowhere if only their oids are needed.
#[derive(Debug)]
pub(crate) struct Objects<'r> {
    repo: &'r Repo,
    is_writing: bool,
    is_signing: bool,
}

impl<'r> Objects<'r> {
    pub(crate) fn written(repo: &'r Repo, is_signing: bool) -> Self {
        Self { repo, is_writing: true, is_signing }
    }

    pub(crate) fn hashed(repo: &'r Repo) -> Self {
        Self { repo, is_writing: false, is_signing: false }
    }

    /// Whether commits that were signed are signed again.
    pub(crate) fn is_signing(&self) -> bool {
        self.is_signing
    }

    fn put(&self, kind: ObjectType, bytes: &[u8], what: &str) -> Result<Oid, GitError> {
        if self.is_writing { self.repo.write(kind, bytes, what) } else { self.repo.hash(kind, bytes) }
    }

    pub(crate) fn blob(&self, bytes: &[u8]) -> Result<Oid, GitError> {
        self.put(ObjectType::Blob, bytes, "file")
    }

    pub(crate) fn tree(&self, entries: &mut [Entry]) -> Result<Oid, GitError> {
        self.put(ObjectType::Tree, &render_tree(entries), "tree")
    }

    pub(crate) fn commit(&self, commit: &RawCommit) -> Result<Oid, GitError> {
        if self.is_signing && commit.is_signed {
            let signed = commit.with_idents(|commit| self.repo.write_signed_commit(commit));
            if let Some(oid) = signed.transpose()? {
                return Ok(oid);
            }
        }
        self.put(ObjectType::Commit, &commit.render(), "commit")
    }
}
