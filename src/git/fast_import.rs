//! Bulk writing through `git fast-import`: one pack instead of fifty thousand loose files.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Seek as _, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use git2::Oid;

use super::commit::NewCommit;
use super::error::GitError;
use super::open::Repo;
use super::refs::{STALE_LOCK, remove_older};

/// Items are no versions of one another, so looking for what one shares with the next costs and gains nothing; blobs past this
/// length are stored as they are, while trees, which are, still become deltas. Both together are a quarter of the time, for a
/// pack a tenth longer.
const SETTINGS: [&str; 2] = ["core.bigFileThreshold=1", "pack.compression=1"];

/// A running `git fast-import` that adds commits, one on the other.
///
/// git knows them by a private name that it forgets before it would make a ref of it, so a process that is killed leaves
/// none behind. Until some ref takes the last commit up, `git gc` at its defaults keeps it for two weeks.
pub struct FastImport<'r> {
    repo: &'r Repo,
    child: Running,
    stdin: BufWriter<ChildStdin>,
    stderr: File,
    refname: String,
}

/// A process that ends when nobody waits for it any more, so that an import given up half-way leaves no ref behind.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is neither killed nor waited for again.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One change of a commit's tree.
#[derive(Debug)]
pub enum Change<'a> {
    /// A file is written.
    Write(&'a str, &'a [u8]),
    /// A file is removed.
    Remove(&'a str),
}

impl<'r> FastImport<'r> {
    /// Starts git. The first commit is put on its parent as given there.
    ///
    /// # Errors
    ///
    /// [`GitError::Spawn`] if there is no git.
    pub fn start(repo: &'r Repo) -> Result<Self, GitError> {
        let spawn_error = |source| GitError::Spawn { command: "fast-import".to_owned(), source };
        remove_kept(&repo.common_dir().join("objects").join("pack"));
        // A file, not a pipe: nobody reads while we write.
        let stderr = tempfile::tempfile().map_err(spawn_error)?;
        // With `--done`, a stream that just ends, because this process died, is an error and moves no ref.
        let mut child = repo
            .git_with(&SETTINGS, "fast-import")
            .args(["--quiet", "--depth=10", "--date-format=raw", "--done"])
            // glibc gives memory back to the system with each object and takes it again with the next: that was half of an
            // import's time. Other allocators do not know these names.
            .envs([("MALLOC_TRIM_THRESHOLD_", "268435456"), ("MALLOC_TOP_PAD_", "16777216")])
            .env("MALLOC_MMAP_THRESHOLD_", "67108864")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(stderr.try_clone().map_err(spawn_error)?)
            .spawn()
            .map_err(spawn_error)?;
        let Some(stdin) = child.stdin.take() else {
            return Err(spawn_error(std::io::ErrorKind::BrokenPipe.into()));
        };
        let refname = format!("refs/trace-import/{}", std::process::id());
        Ok(Self { repo, child: Running(child), stdin: BufWriter::with_capacity(1 << 16, stdin), stderr, refname })
    }

    /// Adds a commit; its tree is its first parent's with `changes`, and [`NewCommit::tree`] is not looked at.
    ///
    /// `parent` is given with the first commit only, and may be none there; each later one follows on the one before.
    ///
    /// # Errors
    ///
    /// [`GitError::Command`] with git's words if git has ended.
    pub fn commit(&mut self, commit: &NewCommit<'_>, first: bool, changes: &[Change<'_>]) -> Result<(), GitError> {
        if let Err(_broken_pipe) = self.write(commit, first, changes) {
            return Err(self.failure());
        }
        Ok(())
    }

    fn write(&mut self, commit: &NewCommit<'_>, first: bool, changes: &[Change<'_>]) -> std::io::Result<()> {
        let out = &mut self.stdin;
        if first {
            // Clears what a killed process of the same number may have left.
            writeln!(out, "reset {}", self.refname)?;
            if let Some(parent) = commit.parents.first() {
                writeln!(out, "from {parent}")?;
            }
            writeln!(out)?;
        }
        writeln!(out, "commit {}\nauthor {}\ncommitter {}", self.refname, commit.author, commit.committer)?;
        write!(out, "data {}\n{}", commit.message.len(), commit.message)?;
        for change in changes {
            match change {
                Change::Write(path, bytes) => {
                    write!(out, "M 100644 inline {path}\ndata {}\n", bytes.len())?;
                    out.write_all(bytes)?;
                    writeln!(out)?;
                }
                Change::Remove(path) => writeln!(out, "D {path}")?,
            }
        }
        Ok(())
    }

    /// Ends git and sees to it that it wrote `last`, the last commit.
    ///
    /// # Errors
    ///
    /// [`GitError::Command`] with git's words if it failed, and if what it wrote is something else.
    pub fn finish(mut self, last: Oid) -> Result<(), GitError> {
        let nothing = "0".repeat(last.as_bytes().len() * 2);
        let forget = format!("reset {}\nfrom {nothing}\n\ndone\n", self.refname);
        let written = self.stdin.write_all(forget.as_bytes()).and_then(|()| self.stdin.flush());
        if written.is_err() {
            return Err(self.failure());
        }
        let Self { repo, mut child, stdin, mut stderr, .. } = self;
        drop(stdin);
        let status = child.0.wait().map_err(|source| GitError::Spawn { command: "fast-import".to_owned(), source })?;
        if !status.success() {
            return Err(read_failure(&mut stderr));
        }
        // An oid tells of every byte, so that the commit is there says that all of it is what it was given.
        repo.read_commit(last).map_err(|_missing| GitError::Command {
            command: "fast-import".to_owned(),
            stderr: format!("it did not write {last}, which it was given"),
        })?;
        Ok(())
    }

    fn failure(&mut self) -> GitError {
        let _ = self.child.0.kill();
        let _ = self.child.0.wait();
        read_failure(&mut self.stderr)
    }
}

/// Removes what tells git to keep a pack that a killed `fast-import` was about to finish: the same import would stumble over
/// it for ever, and `git gc` would never touch the pack.
fn remove_kept(packs: &Path) {
    for entry in fs::read_dir(packs).into_iter().flatten().flatten() {
        let path = entry.path();
        // A user's own has other words in it, or none after all was written.
        let is_kept = path.extension().is_some_and(|extension| extension == "keep");
        if is_kept && fs::read(&path).is_ok_and(|words| b"fast-import".starts_with(&words)) {
            let _ = remove_older(&path, STALE_LOCK);
        }
    }
}

fn read_failure(stderr: &mut File) -> GitError {
    let mut text = String::new();
    let _ = stderr.rewind().and_then(|()| stderr.read_to_string(&mut text));
    let first = text.lines().next().unwrap_or("it ended early").to_owned();
    GitError::Command { command: "fast-import".to_owned(), stderr: first }
}
