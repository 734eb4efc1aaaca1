//! Files of git-trace that cannot be made again, and that a purge edits instead of removing them:
//!
//! - the operation log: which sessions were exported, so that `import` does not bring a deleted one back. `undo` does not go back to
//!   before a purge, so all other operations are removed;
//! - for each agent, which of its files were read, and since when;
//! - the settings of agents from before an install, which are removed completely. `uninstall` then removes only our entries.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::needle::Needle;
use crate::base::bounded;
use crate::base::replace::{Access, put};
use crate::git::{GitError, Oid, Repo};
use crate::trace::TraceError;
use crate::trace::change::undo::is_export;
use crate::trace::store::session::cache_path;
use crate::trace::store::tombstone::Removed;

/// Those that exist.
pub(super) fn files(repo: &Repo) -> Vec<PathBuf> {
    let mut files = [seen_files(repo), installed_files(repo)].concat();
    files.push(repo.operations_path());
    files.retain(|path| path.is_file());
    files
}

fn seen_files(repo: &Repo) -> Vec<PathBuf> {
    let folders = repo.worktree_git_dirs().unwrap_or_default().into_iter();
    folders.flat_map(|git_dir| json_files(&cache_path(&git_dir, ""))).collect()
}

fn installed_files(repo: &Repo) -> Vec<PathBuf> {
    json_files(&repo.common_dir().join("trace/installed"))
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

pub(super) fn edit(repo: &Repo, needle: &Needle, removed: &Removed) -> Result<(), TraceError> {
    let exports = repo.operations()?.into_iter().filter(is_export).map(|operation| operation.id).collect();
    repo.rewrite_operations(|log| lines_of(repo, &exports, needle, removed, log))?;
    let seen = seen_files(repo).into_iter().map(|path| (path, Access::Cache, without as Edit));
    let installed = installed_files(repo).into_iter().map(|path| (path, Access::Usual, without_settings as Edit));
    for (path, access, edit) in seen.chain(installed) {
        let failed = |source| GitError::io("edit", &path, source);
        let bytes = bounded::read_file(&path).map_err(failed)?;
        if needle.is_in(&bytes) {
            let left = serde_json::from_slice(&bytes).map(|read| edit(needle, read).to_string());
            match left.ok().filter(|left| !needle.is_in(left.as_bytes())) {
                Some(left) => put(&path, access, left.as_bytes()),
                None => fs::remove_file(&path),
            }
            .map_err(failed)?;
        }
    }
    Ok(())
}

/// The lines of some operations, with the commits that replaced others.
fn lines_of(repo: &Repo, operations: &HashSet<String>, needle: &Needle, removed: &Removed, log: &str) -> String {
    let new: HashMap<Oid, Option<Oid>> = removed.objects.iter().copied().collect();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut left = String::new();
    for mut line in lines.filter(|line| line["op"].as_str().is_some_and(|id| operations.contains(id))) {
        let mut is_gone = false;
        for member in ["old", "new"] {
            match line[member].as_str().and_then(|oid| new.get(&repo.find_oid(oid)?)) {
                Some(Some(oid)) => line[member] = oid.to_string().into(),
                Some(None) => is_gone = true,
                None => {}
            }
        }
        let line = line.to_string();
        if !is_gone && !needle.is_in(line.as_bytes()) {
            left.extend([&line, "\n"]);
        }
    }
    left
}

type Edit = fn(&Needle, Value) -> Value;

/// A note of an install that fits no file.
fn without_settings(_: &Needle, _: Value) -> Value {
    json!({ "text": null, "made_folder": false, "written": "" })
}

/// Without the files that are named by the text, and the last trace if it is.
fn without(needle: &Needle, mut seen: Value) -> Value {
    if let Some(files) = seen["files"].as_object_mut() {
        files.retain(|path, _| !needle.is_in(path.as_bytes()));
    }
    if needle.is_in(seen["last"].to_string().as_bytes()) {
        seen["last"] = Value::Null;
    }
    seen
}
