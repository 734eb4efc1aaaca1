//! Reading every object of a repository, and writing the objects that replace some of them.

use std::fs::{self, File};
use std::io::{self, BufRead as _, ErrorKind, Read as _};
use std::path::Path;

use git2::ObjectType;

use crate::git::commit::RawCommit;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::tree::{Entry, raw_len, render_tree};

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
        let mut command = self.git("cat-file");
        command.args(["--batch-all-objects", "--batch", "--unordered", "--buffer"]).env("GIT_NO_LAZY_FETCH", "1");
        let done = command.stream_all(|mut answers| {
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
                let (Some(kind), Some(len)) = (kind, len) else { return Err(GitError::MissingObject { oid }.into()) };
                bytes.clear();
                answers.by_ref().take(len).read_to_end(&mut bytes).map_err(failed)?;
                if answers.read_line(&mut head).map_err(failed)? != 1 || bytes.len() as u64 != len {
                    return Err(GitError::MissingObject { oid }.into());
                }
                visit(oid, kind, &bytes)?;
            }
        });
        done.map_err(GitError::from)?
    }

    /// Fails if a folder of loose objects cannot be listed, or a pack or its index cannot be read: `git cat-file` skips it without an
    /// error.
    fn check_readable(&self) -> Result<(), GitError> {
        // Git may remove any of them meanwhile.
        let unless_gone = |path: &Path, done: io::Result<()>| match done {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(GitError::io("read", path, error)),
            _ => Ok(()),
        };
        for objects in self.loose.folders() {
            let folder = objects.join("pack");
            let packs = fs::read_dir(&folder);
            unless_gone(&folder, packs.as_ref().map(drop).map_err(|error| error.kind().into()))?;
            for path in packs.into_iter().flatten().flatten().map(|entry| entry.path()) {
                let extension = path.extension().unwrap_or_default();
                if extension == "pack" {
                    unless_gone(&path, File::open(&path).map(drop))?;
                } else if extension == "idx" {
                    unless_gone(&path, self.check_pack(&path))?;
                }
            }
            for path in fs::read_dir(objects).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if path.file_name().is_some_and(|name| name.len() == 2) {
                    unless_gone(&path, fs::read_dir(&path).map(drop))?;
                }
            }
        }
        Ok(())
    }

    /// Fails if git does not use the pack with this index. See `gitformat-pack(5)`.
    fn check_pack(&self, index: &Path) -> io::Result<()> {
        const COUNTS: usize = 256 * 4;
        let damaged = |what| Err(io::Error::new(ErrorKind::InvalidData, what));
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte));
        let (mut file, mut head) = (File::open(index)?, Vec::new());
        file.by_ref().take(8 + COUNTS as u64).read_to_end(&mut head)?;
        let has_version = head.starts_with(b"\xfftOc");
        if has_version && head.get(4..8) != Some(&[0, 0, 0, 2]) {
            return damaged("it is an index of an unknown version");
        }
        let Some(counts) = head.get(if has_version { 8..8 + COUNTS } else { 0..COUNTS }) else {
            return damaged("the index of a pack is too short");
        };
        let counts: Vec<u64> = counts.chunks_exact(4).map(number).collect();
        let oid_len = raw_len(self.object_format()) as u64;
        let length = if has_version { 8 + oid_len + 8 } else { oid_len + 4 };
        let (count, fixed) = (counts[255], COUNTS as u64 + 2 * oid_len);
        let least = fixed + if has_version { 8 + count * (length - 8) } else { count * length };
        if !counts.is_sorted() || file.metadata()?.len() < least {
            return damaged("the index of a pack is damaged");
        }
        let mut start = [0; 12];
        File::open(index.with_extension("pack"))?.read_exact(&mut start)?;
        if !start.starts_with(b"PACK") || number(&start[8..]) != count {
            return damaged("its pack is damaged");
        }
        Ok(())
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
    /// Whether commits that were signed are signed again.
    is_signing: bool,
}

impl<'r> Objects<'r> {
    pub(crate) fn written(repo: &'r Repo, is_signing: bool) -> Self {
        Self { repo, is_writing: true, is_signing }
    }

    pub(crate) fn hashed(repo: &'r Repo) -> Self {
        Self { repo, is_writing: false, is_signing: false }
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
