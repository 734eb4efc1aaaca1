//! Files that a project shares by committing them, such as settings.
//!
//! As with `.gitattributes`, they are read from the working tree, or from the index if a sparse checkout leaves them out, or from `HEAD`
//! in a bare repository.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Component, Path};

use super::config::Config;
use super::error::GitError;
use super::open::Repo;
use super::process::Answer;
use super::tree::TreeStore as _;
use crate::base::worktree_path::resolve;

/// The shared settings, in the syntax of git configuration.
pub(crate) const SHARED_SETTINGS: &str = ".traceconfig";

const MAX_BYTES: usize = 1 << 20;

impl Repo {
    /// `path` is relative to the root of the working tree and must not lead out of it.
    pub(crate) fn read_shared(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let bad = |cause: String| GitError::BadShared { path: path.to_owned(), cause };
        if path.is_empty() || !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(bad("a path inside the working tree is expected".to_owned()));
        }
        let bytes = match self.worktree() {
            Some(worktree) => match read_file(&worktree, path).map_err(|error| bad(error.to_string()))? {
                None if self.git_dir().join("info/sparse-checkout").exists() => {
                    // A link may lead to a file that is left out.
                    let real = resolve(&worktree, path).map_err(|error| bad(error.to_string()))?;
                    let root = worktree.canonicalize().unwrap_or(worktree);
                    self.read_staged(real.strip_prefix(root).unwrap_or(Path::new(path)))?
                }
                bytes => bytes,
            },
            None => self.read_in_head(path)?,
        };
        match bytes {
            Some(bytes) if bytes.len() > MAX_BYTES => Err(bad("it is larger than 1 MiB".to_owned())),
            bytes => Ok(bytes),
        }
    }

    /// A file in the index.
    fn read_staged(&self, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        let entry = Answer::of(self.git("ls-files").args(["--stage", "--"]).arg(path))?;
        if entry.stdout.starts_with(b"120000") {
            return Err(GitError::NotCheckedOut { path: path.to_string_lossy().into_owned() });
        }
        let mut name = OsString::from(":");
        name.push(path);
        let answer = Answer::of(self.git("cat-file").arg("blob").arg(name))?;
        Ok(answer.is_success().then_some(answer.stdout))
    }

    fn read_in_head(&self, path: &str) -> Result<Option<Vec<u8>>, GitError> {
        let Some(head) = self.find_ref("HEAD")? else { return Ok(None) };
        let mut oid = self.read_commit(head)?.tree;
        for part in path.split('/') {
            let entries = self.read_tree(oid)?;
            let Some(entry) = entries.iter().find(|entry| entry.name == part.as_bytes()) else { return Ok(None) };
            oid = entry.oid;
        }
        Ok(Some(self.read_blob(oid)?))
    }

    /// In order, read on first use. Section and variable are in lower case; a key without a value is `true`. Git parses the text
    /// and follows no includes.
    pub(crate) fn shared_settings(&self) -> Result<&[(String, String)], GitError> {
        if let Some(settings) = self.shared.get() {
            return Ok(settings);
        }
        let settings = match self.read_shared(SHARED_SETTINGS)? {
            Some(text) => self.parse_settings(&text)?,
            None => Vec::new(),
        };
        Ok(self.shared.get_or_init(|| settings))
    }

    fn parse_settings(&self, text: &[u8]) -> Result<Vec<(String, String)>, GitError> {
        let bad = |cause: String| GitError::BadShared { path: SHARED_SETTINGS.to_owned(), cause };
        let mut command = self.git("config");
        let answer = Answer::of(command.args(["--no-includes", "--null", "--list", "--file", "-"]).input(text))?;
        if !answer.is_success() {
            return Err(bad(answer.stderr.trim_start_matches("fatal: ").replace(" in standard input", "")));
        }
        Config::listed(&answer.stdout).all().map_err(|_| bad("it is not UTF-8".to_owned()))
    }
}

fn read_file(worktree: &Path, path: &str) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    match File::open(resolve(worktree, path)?).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        read => read.map(|_| Some(bytes)),
    }
}
