//! Histories of lines: facts that are only ever added, so that clones merge without conflicts.
//!
//! A history of lines is a ref whose tree holds text files. A line never changes once it is written. Two histories merge by the
//! union of the lines of each file, in an order that depends on the lines alone. Merging is therefore commutative, associative,
//! and idempotent, and loses no line.
//!
//! To add a history:
//!
//! 1. Declare its [`LineHistory`]: the ref, the name on remotes, the paths of its files, and the order of their lines.
//! 2. Write with [`change`], from a tree that [`LineFormat::with_lines`] makes.
//! 3. Share it with `trace::sync::lines`: `push_lines`, and `fetched_lines` with [`LineHistory::absorb`].
//!
//! The priority record is one. Archives of crumb files are others, one per identity; they are shared only by their full names.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::commit::{CommitBuilder, require_signed, requires_signatures};
use super::signature::Signature;
use crate::git::{Commit, GitError, Mode, Oid, RefLock, RefUpdate, Repo, TreeStore as _};
use crate::trace::TraceError;
use crate::trace::model::name::REMOTE_RECORDS;
use crate::trace::model::tree::TreeEditor;

/// The maximum number of folders above a file. A tree from a remote may be deeper.
const MAX_DEPTH: usize = 4;

/// A history of lines.
#[derive(Debug)]
pub(crate) struct LineHistory<'a> {
    pub refname: &'a str,
    /// Its name on remotes below `refs/trace-records/`, which every fetch includes, or a full refname, which is shared by name only.
    pub shared: &'a str,
    /// The lines in the subjects of commits, such as `priorities`.
    pub noun: &'static str,
    pub format: LineFormat,
}

/// The files of a history of lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineFormat {
    /// Whether a path belongs to a file of the history. Other files of remotes are ignored.
    pub is_path: fn(&str) -> bool,
    /// Whether a line can be read. Unreadable lines of remotes are ignored; those of this repository stay, before all others.
    pub is_line: fn(&str) -> bool,
    /// Puts the lines of a file in order. They are distinct, readable, and sorted by bytes.
    pub sort: fn(&mut Vec<&str>),
}

/// A tree with the lines of two others.
#[derive(Debug)]
pub(crate) struct Union {
    pub tree: Oid,
    /// The files with new lines, sorted.
    pub paths: Vec<String>,
}

/// The next state of a history of lines.
pub(crate) struct NewState {
    pub tree: Oid,
    /// The tip of the other history if this is a merge.
    pub merged: Option<Oid>,
    pub message: String,
}

impl LineFormat {
    /// Whether a commit or a file is one of such a history. A remote may give its name to anything.
    pub(crate) fn is_of(&self, repo: &Repo, oid: Oid) -> bool {
        match repo.read_commit(oid).and_then(|commit| list_files(repo, commit.tree)) {
            Ok(files) => !files.is_empty() && files.iter().all(|(path, _)| (self.is_path)(path)),
            Err(_) => repo.read_blob(oid).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).lines().any(self.is_line)),
        }
    }

    /// Adds lines to the files of a tree (none: an empty one). `new_lines` makes them from the value and the present bytes of a file.
    pub(crate) fn with_lines<V>(
        &self,
        repo: &Repo,
        tree: Option<Oid>,
        files: impl IntoIterator<Item = (String, V)>,
        mut new_lines: impl FnMut(V, &[u8]) -> Result<Vec<String>, TraceError>,
    ) -> Result<Oid, TraceError> {
        let mut editor = TreeEditor::new(repo, tree)?;
        for (path, value) in files {
            let before = editor.find(repo, &path)?.map_or(Ok(Vec::new()), |oid| repo.read_blob(oid))?;
            let new = new_lines(value, &before)?.join("\n");
            if let Some(text) = self.union_of_lines(&before, new.as_bytes()) {
                editor.put(repo, &path, repo.write_blob(text.as_bytes())?)?;
            }
        }
        Ok(editor.write(repo)?)
    }

    /// Adds the files of the tree `from` for which `is_wanted` is true to the tree `into` (none: an empty one). Reads only folders
    /// and files that differ.
    pub(crate) fn union(
        &self,
        repo: &Repo,
        into: Option<Oid>,
        from: Oid,
        is_wanted: impl FnMut(&str) -> Result<bool, TraceError>,
    ) -> Result<Union, TraceError> {
        self.union_of_clean(repo, into, from, is_wanted, |_, text, _| text)
    }

    /// As [`Self::union`], with what `clean` makes of the path and the bytes of each file in `from`, and the bytes of that in `into`.
    pub(crate) fn union_of_clean(
        &self,
        repo: &Repo,
        into: Option<Oid>,
        from: Oid,
        mut is_wanted: impl FnMut(&str) -> Result<bool, TraceError>,
        mut clean: impl FnMut(&str, Vec<u8>, &[u8]) -> Vec<u8>,
    ) -> Result<Union, TraceError> {
        let mut editor = TreeEditor::new(repo, into)?;
        let mut paths = Vec::new();
        let mut folders = vec![(into, from, String::new(), 0)];
        while let Some((ours, theirs, above, depth)) = folders.pop() {
            let ours = ours.map_or(Ok(Vec::new()), |oid| repo.read_tree(oid))?;
            let ours: HashMap<(&[u8], Mode), Oid> =
                ours.iter().map(|entry| ((entry.name.as_slice(), entry.mode()), entry.oid)).collect();
            for entry in repo.read_tree(theirs)? {
                let here = ours.get(&(entry.name.as_slice(), entry.mode())).copied();
                let name = std::str::from_utf8(&entry.name).ok().filter(|_| here != Some(entry.oid));
                let Some(path) = name.map(|name| format!("{above}{name}")) else { continue };
                if entry.mode() == Mode::Folder && depth < MAX_DEPTH {
                    folders.push((here, entry.oid, path + "/", depth + 1));
                } else if entry.mode() == Mode::File && (self.is_path)(&path) && is_wanted(&path)? {
                    // A remote may name any object as a file. One that is not has no lines.
                    let Some(theirs) = repo.find_blob(entry.oid)? else { continue };
                    let ours = here.map_or(Ok(None), |oid| repo.find_blob(oid))?.unwrap_or_default();
                    let theirs = clean(&path, theirs, &ours);
                    if let Some(text) = self.union_of_lines(&ours, &theirs) {
                        editor.put(repo, &path, repo.write_blob(text.as_bytes())?)?;
                        paths.push(path);
                    }
                }
            }
        }
        paths.sort_unstable();
        Ok(Union { tree: editor.write(repo)?, paths })
    }

    /// The lines of both files, each once, in order; `None` if that changes nothing.
    ///
    /// A file that was written in another order keeps it until `theirs` has the same lines: then both sides put them in order.
    pub(crate) fn union_of_lines(&self, ours: &[u8], theirs: &[u8]) -> Option<String> {
        let is_ours = ours == theirs;
        let (ours, theirs) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(theirs));
        let here: BTreeSet<&str> = ours.lines().filter(|line| !line.trim().is_empty()).collect();
        let mut all = here.clone();
        let there: BTreeSet<&str> = theirs.lines().filter(|line| (self.is_line)(line)).collect();
        all.extend(&there);
        if all.len() > here.len() {
            return Some(self.render(all));
        }
        (!is_ours && there == here).then(|| self.render(all)).filter(|text| *text != ours)
    }

    /// The readable lines of a file, each once, in order.
    pub(crate) fn normalized(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        self.render(text.lines().filter(|line| (self.is_line)(line)).collect())
    }

    /// The lines of a file, each once, in order.
    pub(crate) fn ordered(&self, text: &str) -> String {
        self.render(text.lines().collect())
    }

    fn render(&self, lines: BTreeSet<&str>) -> String {
        let (mut readable, damaged): (Vec<&str>, Vec<&str>) = lines.into_iter().partition(|line| (self.is_line)(line));
        (self.sort)(&mut readable);
        damaged.into_iter().chain(readable).flat_map(|line| [line, "\n"]).collect()
    }
}

impl LineHistory<'_> {
    /// Whether it is shared only by its full name.
    pub(crate) fn is_private(&self) -> bool {
        self.shared.starts_with("refs/")
    }

    /// Refuses a remote's commit of the history, as [`require_signed`] does. A signature does not name what it is for, so a remote could
    /// give the name of the history to any other signed commit: one with other files is refused, too.
    pub(crate) fn require_signed(&self, repo: &Repo, oid: Oid) -> Result<(), TraceError> {
        let what = || format!("the remote's history of {}", self.noun);
        require_signed(repo, what, oid)?;
        if requires_signatures(repo)? && self.has_other_files(repo, repo.read_commit(oid)?.tree)? {
            return Err(TraceError::SignedOtherwise { what: what() });
        }
        Ok(())
    }

    /// The commits of all remotes as last fetched. A remote may give the name to anything, so those that cannot be read are left out.
    pub(crate) fn list_fetched(&self, repo: &Repo) -> Result<Vec<Oid>, GitError> {
        let suffix = format!("/{}", self.shared);
        let fetched = repo.list_refs(REMOTE_RECORDS)?.into_iter().filter(|(refname, _)| refname.ends_with(&suffix));
        Ok(fetched.map(|(_, tip)| tip).filter(|tip| repo.read_commit(*tip).is_ok()).collect())
    }

    pub(crate) fn has_other_files(&self, repo: &Repo, tree: Oid) -> Result<bool, GitError> {
        Ok(list_files(repo, tree)?.iter().any(|(path, _)| !(self.format.is_path)(path)))
    }

    /// Merges the lines of the commit `from` into this repository's history, those of the files for which `is_wanted` is true.
    /// Returns the files with new lines. `accepted` are commits that need no signature.
    ///
    /// # Errors
    ///
    /// [`TraceError::Unsigned`] or [`TraceError::SignedOtherwise`] if `trace.requireSigned` is set and `from` is not a signed commit of
    /// the history.
    pub(crate) fn absorb(
        &self,
        repo: &Repo,
        signature: &Signature,
        source: (Oid, &HashSet<Oid>),
        is_wanted: impl FnMut(&str) -> Result<bool, TraceError>,
    ) -> Result<Vec<String>, TraceError> {
        self.absorb_under(&repo.lock(self.refname)?, repo, signature, source, is_wanted)
    }

    /// As [`Self::absorb`], under the lock of the history.
    pub(crate) fn absorb_under(
        &self,
        lock: &RefLock,
        repo: &Repo,
        signature: &Signature,
        (from, accepted): (Oid, &HashSet<Oid>),
        mut is_wanted: impl FnMut(&str) -> Result<bool, TraceError>,
    ) -> Result<Vec<String>, TraceError> {
        let theirs = repo.read_commit(from)?;
        repo.update_ref(lock, &signature.committer, |tip| {
            let ours = tip.map(|tip| repo.read_commit(tip)).transpose()?;
            let union = self.format.union(repo, ours.as_ref().map(|ours| ours.tree), theirs.tree, &mut is_wanted)?;
            if union.paths.is_empty() {
                return Ok(RefUpdate::Keep(Vec::new()));
            }
            if !accepted.contains(&from) {
                self.require_signed(repo, from)?;
            }
            let message = format!("merge {}\n", self.noun);
            let state = NewState { tree: union.tree, merged: Some(from), message };
            Ok(moved_to(repo, signature, ours, state, union.paths)?)
        })
    }
}

/// Moves the ref of a history to the state that `describe` makes of its tip (none: the ref does not exist yet), as
/// [`Repo::update_ref`] does. The first line of the message is also that of the reflog.
pub(crate) fn change<T, E: From<GitError>>(
    repo: &Repo,
    signature: &Signature,
    lock: &RefLock,
    mut describe: impl FnMut(Option<&Commit>) -> Result<(Option<NewState>, T), E>,
) -> Result<T, E> {
    repo.update_ref(lock, &signature.committer, |tip| {
        let tip = tip.map(|tip| repo.read_commit(tip)).transpose()?;
        let (state, value) = describe(tip.as_ref())?;
        match state {
            Some(state) => Ok(moved_to(repo, signature, tip, state, value)?),
            None => Ok(RefUpdate::Keep(value)),
        }
    })
}

fn moved_to<T>(
    repo: &Repo,
    signature: &Signature,
    tip: Option<Commit>,
    state: NewState,
    value: T,
) -> Result<RefUpdate<T>, GitError> {
    let NewState { tree, merged, message } = state;
    let parents = tip.map(|tip| tip.oid).into_iter().chain(merged);
    let to = CommitBuilder::new(signature, tree, parents).write_plain(repo, &message)?;
    let log = message.lines().next().unwrap_or_default().to_owned();
    Ok(RefUpdate::Move { to, log, value })
}

/// The files in a tree, by path. An entry that names another object than a file is none.
pub(crate) fn list_files(repo: &Repo, tree: Oid) -> Result<Vec<(String, Oid)>, GitError> {
    list_new_files(repo, tree, &mut HashSet::new())
}

/// The files at `tip`, and in the commits that the history of `known` does not have, each with its paths.
pub(crate) fn list_files_beyond(
    repo: &Repo,
    tip: Oid,
    known: Option<Oid>,
) -> Result<BTreeSet<(Oid, String)>, GitError> {
    let (mut files, mut seen) = (BTreeSet::new(), HashSet::new());
    for commit in repo.commits_beyond(tip, known)?.into_iter().chain([tip]) {
        let new = list_new_files(repo, repo.read_commit(commit)?.tree, &mut seen)?;
        files.extend(new.into_iter().map(|(path, file)| (file, path)));
    }
    Ok(files)
}

/// As [`list_files`], without folders that were `seen` at the same path.
pub(crate) fn list_new_files(
    repo: &Repo,
    tree: Oid,
    seen: &mut HashSet<(String, Oid)>,
) -> Result<Vec<(String, Oid)>, GitError> {
    let (mut files, mut folders) = (Vec::new(), vec![(tree, String::new(), 0)]);
    while let Some((folder, above, depth)) = folders.pop() {
        if !seen.insert((above.clone(), folder)) {
            continue;
        }
        for entry in repo.read_tree(folder)? {
            let path = format!("{above}{}", String::from_utf8_lossy(&entry.name));
            match entry.mode() {
                Mode::Folder if depth < MAX_DEPTH => folders.push((entry.oid, path + "/", depth + 1)),
                Mode::File if repo.is_blob(entry.oid)? => files.push((path, entry.oid)),
                _ => {}
            }
        }
    }
    Ok(files)
}

/// The file at a path in a tree.
pub(crate) fn find_file(repo: &Repo, tree: Oid, path: &str) -> Result<Option<Oid>, GitError> {
    let mut found = (Mode::Folder, tree);
    for name in path.split('/') {
        let (Mode::Folder, tree) = found else { return Ok(None) };
        let Some(entry) = repo.read_tree(tree)?.into_iter().find(|entry| entry.name == name.as_bytes()) else {
            return Ok(None);
        };
        found = (entry.mode(), entry.oid);
    }
    Ok(if found.0 == Mode::File && repo.is_blob(found.1)? { Some(found.1) } else { None })
}
