//! The note of objects, reflogs, and files that a purge or a fetch is about to remove. If it is killed, the next one reads the note.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use super::remove::remove_derived;
use crate::base::replace::{self, Access};
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::open::Repo;

/// The file of the note, in `<git dir>/trace`.
pub(crate) const NOTED_REMOVAL: &str = "purging";

/// Before the name of a reflog.
const REFLOG: &str = "reflog ";

/// Before the name of a ref and its new commit.
const AFTER: &str = "after ";

/// The line about derived files.
const DERIVED: &str = "derived files";

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Noted {
    pub(crate) objects: HashSet<Oid>,
    pub(crate) reflogs: Vec<String>,
    /// A ref that moves to this commit together with all others. Until then, the reflogs are still needed.
    pub(crate) after: Option<(String, Oid)>,
    pub(crate) derived: bool,
}

impl Repo {
    /// Stores the note: the refs may be gone before the objects are.
    pub(crate) fn note_removal(&self, noted: &Noted) -> Result<(), GitError> {
        let Noted { objects, reflogs, after, derived } = noted;
        if *noted == Noted::default() {
            return remove_derived(&self.noted_path());
        }
        let lines =
            objects.iter().map(Oid::to_string).chain(reflogs.iter().map(|refname| format!("{REFLOG}{refname}")));
        let lines = lines.chain(after.iter().map(|(refname, new)| format!("{AFTER}{new} {refname}")));
        let lines = lines.chain(derived.then(|| DERIVED.to_owned()));
        let (path, text) = (self.noted_path(), lines.map(|line| line + "\n").collect::<String>());
        replace::put(&path, Access::Usual, text.as_bytes()).map_err(|error| GitError::io("write", &path, error))?;
        self.share_file(&path)
    }

    pub(crate) fn noted_removal(&self) -> Result<Noted, GitError> {
        let path = self.noted_path();
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Noted::default()),
            text => text.map_err(|error| GitError::io("read", &path, error))?,
        };
        Ok(Noted {
            objects: text.lines().filter_map(|line| Oid::parse(line, self.object_format())).collect(),
            reflogs: text.lines().filter_map(|line| Some(line.strip_prefix(REFLOG)?.to_owned())).collect(),
            after: text.lines().find_map(|line| {
                let (new, refname) = line.strip_prefix(AFTER)?.split_once(' ')?;
                Some((refname.to_owned(), Oid::parse(new, self.object_format())?))
            }),
            derived: text.lines().any(|line| line == DERIVED),
        })
    }

    /// Removes the reflogs in the note of a purge that was killed after it moved the refs. Returns the rest of the note.
    pub(crate) fn expire_noted_reflogs(&self) -> Result<Noted, GitError> {
        let noted = self.noted_removal()?;
        if let Some((refname, new)) = &noted.after
            && let Some(tip) = self.find_ref(refname)?
            // Git removes one to which nothing leads.
            && self.read_commit(*new).is_ok()
            && self.is_ancestor(*new, tip)?
        {
            let names: HashSet<&str> = noted.reflogs.iter().map(String::as_str).collect();
            self.expire_reflogs(&|refname| names.contains(refname))?;
        }
        Ok(Noted { reflogs: Vec::new(), after: None, ..noted })
    }

    fn noted_path(&self) -> PathBuf {
        self.common_dir().join("trace").join(NOTED_REMOVAL)
    }
}
