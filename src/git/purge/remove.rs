//! Removing exactly the given objects, wherever they are stored. Every other object stays, reachable or not.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::error::GitError;
use crate::git::lock::{LOCK_PATIENCE, Wait};
use crate::git::objects::Recent;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::process::text_of;
use crate::git::purge::collector::{is_dead, keeps_for_dead};

/// Between two looks at locks of indexes.
const PAUSE: Duration = Duration::from_millis(20);

/// Attempts if git packs the objects again at the same time.
const TRIES: usize = 5;

/// Removes a file, or a folder with all it contains.
pub(crate) fn remove_derived(path: &Path) -> Result<(), GitError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(GitError::io("remove", path, error)),
        _ => Ok(()),
    }
}

impl Repo {
    /// Removes objects. Returns those that are still there, because another repository lends them.
    pub(crate) fn remove_objects(&self, oids: &HashSet<Oid>) -> Result<HashSet<Oid>, GitError> {
        self.loose.note_removal(oids);
        *self.recent.borrow_mut() = Recent::default();
        // From commits down: a process that is killed leaves none that lacks files.
        let mut in_order = self.existing(oids)?;
        in_order.sort_by_key(|(_, kind)| ["commit", "tree"].iter().position(|first| kind == first).unwrap_or(2));
        let in_order: Vec<Oid> = in_order.into_iter().map(|(oid, _)| oid).collect();
        let mut left: HashSet<Oid> = in_order.iter().copied().collect();
        for _ in 0..TRIES {
            // Git may have written it again meanwhile.
            if !oids.is_empty() {
                self.drop_commit_graph()?;
            }
            if left.is_empty() {
                return Ok(left);
            }
            self.drop_from_packs(&left)?;
            for oid in &in_order {
                let digits = oid.to_string();
                let path = self.objects.join(&digits[..2]).join(&digits[2..]);
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(GitError::io("remove the object", path, error));
                    }
                    _ => {}
                }
            }
            left = self.existing(&left)?.into_iter().map(|(oid, _)| oid).collect();
        }
        Ok(left)
    }

    /// Those of `oids` that git finds, each with its type. A partial clone fetches nothing.
    pub(crate) fn existing(&self, oids: &HashSet<Oid>) -> Result<Vec<(Oid, String)>, GitError> {
        let input: String = oids.iter().flat_map(|oid| [oid.to_string(), "\n".to_owned()]).collect();
        let mut command = self.git("cat-file");
        let command =
            command.args(["--batch-check=%(objectname) %(objecttype)", "--buffer"]).env("GIT_NO_LAZY_FETCH", "1");
        let printed = text_of(command.input(input))?;
        // `<oid> <type>`, or `<oid> missing`
        let found = printed.lines().filter_map(|line| line.split_once(' ')).filter(|(_, kind)| *kind != "missing");
        Ok(found.filter_map(|(oid, kind)| Some((Oid::parse(oid, self.object_format())?, kind.to_owned()))).collect())
    }

    /// The files among the objects that git does not read: temporary ones, of a running or a killed process, and packs without an
    /// index.
    pub(crate) fn unread_object_files(&self) -> Vec<PathBuf> {
        let (mut found, mut folders) = (Vec::new(), vec![self.objects.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let is_temporary = ["tmp_", ".tmp-"].iter().any(|start| name.to_string_lossy().starts_with(start));
                let is_pack = path.extension().is_some_and(|extension| extension == "pack");
                if is_temporary || (is_pack && !path.with_extension("idx").exists()) {
                    found.push(path);
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// A lock of an index. A commit of all or of some files has its index in it; a stash has another one, which no git removes if the
    /// stash is killed.
    fn find_index_lock(&self) -> Result<Option<PathBuf>, GitError> {
        for git_dir in self.worktree_git_dirs()? {
            for entry in fs::read_dir(&git_dir).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let is_of_commit = name.starts_with("next-index-") && name.ends_with(".lock");
                let stash = name.strip_prefix("index.stash.").and_then(|rest| rest.split('.').next());
                if name == "index.lock" || is_of_commit || stash.is_some_and(|pid| !is_dead(pid)) {
                    return Ok(Some(entry.path()));
                }
            }
        }
        Ok(None)
    }

    /// Waits until git changes no index. False if it still does.
    pub(crate) fn wait_for_indexes(&self) -> Result<bool, GitError> {
        let mut wait = Wait::new(self, LOCK_PATIENCE);
        while let Some(path) = self.find_index_lock()? {
            if !wait.go_on(PAUSE, || format!("git changes the index, as `{}` says", path.display())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What the indexes of all worktrees name, whether it is there or not.
    pub(crate) fn staged_blobs(&self) -> Result<HashSet<Oid>, GitError> {
        let mut staged = HashSet::new();
        for git_dir in self.worktree_git_dirs()? {
            // `<mode> <oid> <stage>\t<path>`
            let listed = text_of(self.git_in(&git_dir, "ls-files").args(["--stage", "-z"]))?;
            let oids = listed.split('\0').filter_map(|entry| entry.split(' ').nth(1));
            staged.extend(oids.filter_map(|oid| Oid::parse(oid, self.object_format())));
        }
        Ok(staged)
    }

    /// The reason why objects cannot be removed here, if there is one.
    pub(crate) fn find_obstacle_to_removal(&self) -> Result<Option<String>, GitError> {
        self.remove_stale_pack_files();
        if self.is_partial()? {
            return Ok(Some("this is a partial clone, which may fetch the objects again".to_owned()));
        }
        if !self.shallow_commits()?.is_empty() {
            return Ok(Some("this is a shallow clone, whose history is incomplete".to_owned()));
        }
        if fs::read(self.common_dir().join("info/grafts")).is_ok_and(|grafts| !grafts.is_empty()) {
            return Ok(Some(
                "`info/grafts` in the git folder hides history: `git replace --convert-graft-file` converts it"
                    .to_owned(),
            ));
        }
        if self.config()?.boolean("extensions.preciousObjects")? == Some(true) {
            return Ok(Some("`extensions.preciousObjects` forbids to remove objects".to_owned()));
        }
        for folder in fs::read_dir(self.common_dir().join("worktrees")).into_iter().flatten().flatten() {
            let folder = folder.path();
            let is_worktree = ["commondir", "gitdir"].iter().all(|file| folder.join(file).is_file());
            // Its index and its own refs may lead to objects.
            if is_worktree && text_of(self.git_in(&folder, "rev-parse").arg("--git-dir")).is_err() {
                let rest = "belongs to a worktree, and git cannot read it: write a branch (`ref: refs/heads/<name>`) or a \
                            commit to its `HEAD`, or remove the folder";
                return Ok(Some(format!("`{}` {rest}", folder.display())));
            }
        }
        if let Some(path) = self.find_index_lock()? {
            let rest = "shows that git changes the index; let it end, or remove the file if no git is at work";
            return Ok(Some(format!("`{}` {rest}", path.display())));
        }
        for entry in fs::read_dir(self.objects.join("pack")).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "keep") && !keeps_for_dead(&path) {
                return Ok(Some(format!("`{}` protects a pack", path.display())));
            }
        }
        Ok(None)
    }
}
