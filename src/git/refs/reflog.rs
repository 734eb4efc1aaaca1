//! Reading a ref's reflog.

use std::path::PathBuf;

use super::RefStorage;
use super::files::files_below;
use crate::base::bounded;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::open::Repo;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LogEntry {
    /// `None` if the ref did not exist.
    pub(crate) old: Option<Oid>,
    pub(crate) new: Oid,
    pub(crate) why: String,
}

impl Repo {
    /// The moves of a ref that its reflog still has, oldest first. Lines that are not git's are skipped.
    pub(crate) fn read_reflog(&self, refname: &str) -> Result<Vec<LogEntry>, GitError> {
        if let RefStorage::Reftable(_) = self.refs {
            let moves = self.logged_by_git(refname)?;
            return Ok(moves.into_iter().map(|logged| logged.entry).collect());
        }
        let lines = self.reflog_bytes(refname)?;
        Ok(lines.split(|byte| *byte == b'\n').filter_map(|line| self.parse_line(line)).collect())
    }

    /// The refs under `prefix` with a reflog file, also those that are gone. Git deletes the file after the ref.
    pub(crate) fn logged_refs(&self, prefix: &str) -> Vec<String> {
        let logs = self.common_dir().join("logs");
        let name = |path: PathBuf| Some(path.strip_prefix(&logs).ok()?.to_str()?.to_owned());
        files_below(vec![logs.join(prefix)]).into_iter().filter_map(name).collect()
    }

    /// The file of a reflog; empty if there is none.
    pub(super) fn reflog_bytes(&self, refname: &str) -> Result<Vec<u8>, GitError> {
        let path = self.reflog_path(refname);
        let bytes = bounded::read_if_exists(&path).map_err(|source| GitError::io("read the reflog", path, source))?;
        Ok(bytes.unwrap_or_default())
    }

    /// `<old> <new> <name> <<email>> <seconds> <zone>\t<why>`.
    fn parse_line(&self, line: &[u8]) -> Option<LogEntry> {
        let line = String::from_utf8_lossy(line);
        let (head, why) = line.split_once('\t').unwrap_or((&line, ""));
        let mut words = head.splitn(3, ' ');
        let mut oid = || Oid::parse(words.next()?, self.object_format());
        let (old, new) = (oid()?, oid()?);
        Some(LogEntry { old: (!old.0.is_zero()).then_some(old), new, why: why.to_owned() })
    }

    pub(super) fn reflog_path(&self, refname: &str) -> PathBuf {
        let (folder, name) = self.locate_ref(refname);
        folder.join("logs").join(name)
    }
}
