//! Git itself, called in a folder as its user would call it: for what needs no open repository, or what libgit2 cannot read.
//!
//! Nothing here asks libgit2, so sparse indexes and repositories of later versions are served.

use std::ffi::OsStr;
use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::env::Env;
use super::error::GitError;
use super::open::Repo;

/// Git, called in a folder. The environment is that of this process, so `GIT_DIR` and `GIT_INDEX_FILE` hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Git {
    folder: PathBuf,
}

/// What a call of git came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    /// Exit status; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it printed.
    pub(crate) stdout: Vec<u8>,
    /// What it said, trimmed.
    pub(crate) stderr: String,
}

impl Git {
    /// Git, called in `folder`.
    pub(crate) fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The folder it is called in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A `git` command, ready to be given more arguments. Paths in it mean themselves, and no lock is taken for refreshing.
    fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.folder).args(args);
        command.envs([
            ("LC_ALL", "C"),
            ("GIT_PAGER", "cat"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Calls git and waits for its answer, whatever its exit status.
    pub(crate) fn ask(&self, args: &[impl AsRef<OsStr>]) -> Result<Answer, GitError> {
        answer(args, self.command(args))
    }

    /// Calls git and returns what it printed.
    pub(crate) fn run(&self, args: &[impl AsRef<OsStr>]) -> Result<Vec<u8>, GitError> {
        let answer = self.ask(args)?;
        match answer.code {
            Some(0) => Ok(answer.stdout),
            _ => Err(GitError::Command { command: name(args), stderr: answer.stderr }),
        }
    }

    /// Calls git and returns what it printed as text, without the last line end.
    pub(crate) fn line(&self, args: &[impl AsRef<OsStr>]) -> Result<String, GitError> {
        let text = String::from_utf8_lossy(&self.run(args)?).into_owned();
        Ok(text.strip_suffix('\n').map_or(text.clone(), str::to_owned))
    }

    /// Whether git ignores a path: what is in the index already is not ignored.
    pub(crate) fn is_ignored(&self, path: &Path) -> Result<bool, GitError> {
        let args = [OsStr::new("check-ignore"), OsStr::new("-q"), OsStr::new("--"), path.as_os_str()];
        let mut command = self.command(&args);
        // It refuses to run with this set.
        command.env_remove("GIT_LITERAL_PATHSPECS");
        let answer = answer(&args, command)?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::Command { command: name(&args), stderr: answer.stderr }),
        }
    }

    /// Reads many blobs, named as git names objects (`<oid>`, `<commit>:<path>`), and gives each in turn; `None` where
    /// there is no such thing.
    pub(crate) fn blobs<E: From<GitError>>(
        &self,
        names: &[String],
        mut take: impl FnMut(usize, Option<Vec<u8>>) -> Result<(), E>,
    ) -> Result<(), E> {
        if names.is_empty() {
            return Ok(());
        }
        let args = ["cat-file", "--batch"];
        let failed = |source| GitError::Spawn { command: name(&args), source };
        let mut child = self.command(&args).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
            unreachable!("both are piped");
        };
        let result = thread::scope(|scope| {
            // Written beside the reading: git stops taking names while nobody takes its blobs.
            scope.spawn(move || {
                let _ = names.iter().try_for_each(|name| writeln!(stdin, "{name}"));
            });
            let mut answers = BufReader::with_capacity(1 << 16, stdout);
            for (index, name) in names.iter().enumerate() {
                let blob = read_answer(&mut answers).map_err(|source| failed(source).into());
                let blob = blob.and_then(|answer| match answer {
                    BatchAnswer::Found(bytes) => Ok(Some(bytes)),
                    BatchAnswer::Missing => Ok(None),
                    BatchAnswer::Ended => {
                        let stderr = format!("it ended before `{name}`");
                        Err(E::from(GitError::Command { command: "cat-file".to_owned(), stderr }))
                    }
                });
                blob.and_then(|blob| take(index, blob))?;
            }
            Ok(())
        });
        if result.is_err() {
            // It may still be writing to nobody.
            let _ = child.kill();
        }
        let _ = child.wait();
        result
    }
}

enum BatchAnswer {
    Found(Vec<u8>),
    Missing,
    Ended,
}

fn read_answer(answers: &mut impl std::io::BufRead) -> std::io::Result<BatchAnswer> {
    let mut head = Vec::new();
    if answers.read_until(b'\n', &mut head)? == 0 {
        return Ok(BatchAnswer::Ended);
    }
    // `<oid> <type> <length>`, or `<name> missing` and its kin.
    let text = String::from_utf8_lossy(&head);
    let mut words = text.trim_end().rsplitn(3, ' ');
    let (len, kind) = (words.next().and_then(|len| len.parse::<u64>().ok()), words.next());
    let (Some(len), Some(kind @ ("blob" | "tree" | "commit" | "tag"))) = (len, kind) else {
        return Ok(BatchAnswer::Missing);
    };
    let mut bytes = Vec::new();
    answers.by_ref().take(len).read_to_end(&mut bytes)?;
    answers.read_until(b'\n', &mut Vec::new())?;
    Ok(if kind == "blob" { BatchAnswer::Found(bytes) } else { BatchAnswer::Missing })
}

fn answer(args: &[impl AsRef<OsStr>], mut command: Command) -> Result<Answer, GitError> {
    let output = command.output().map_err(|source| GitError::Spawn { command: name(args), source })?;
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok(Answer { code: output.status.code(), stdout: output.stdout, stderr })
}

fn name(args: &[impl AsRef<OsStr>]) -> String {
    args.first().map(|arg| arg.as_ref().to_string_lossy().into_owned()).unwrap_or_default()
}

/// The root of the working tree that `folder` is in, in the environment `env` of this process.
pub(crate) fn worktree_root(folder: &Path, env: Env) -> Result<PathBuf, GitError> {
    match Repo::open_from_env(env) {
        Ok(repo) => repo.worktree().ok_or(GitError::NoWorktree),
        // Refs and extensions do not matter here, so git may know better.
        Err(GitError::UnknownExtension { .. }) => {
            let root = Git::in_folder(folder).line(&["rev-parse", "--show-toplevel"])?;
            Ok(PathBuf::from(root))
        }
        Err(error) => Err(error),
    }
}
