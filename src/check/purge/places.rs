//! Places outside the object database: reflogs, derived files, and files that a purge leaves alone.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::content::Target;
use super::marks;
use super::world::World;
use crate::base::bounded;
use crate::base::worktree_path::resolve;
use crate::git::{GitError, NOTED_REMOVAL, Reflog, Repo, remove_derived as remove_file_or_folder};
use crate::trace::TraceError;
use crate::trace::model::trailers::{first_words, one_line};
use crate::trace::store::archived;
use crate::trace::store::tombstone::Removed;
use crate::trace::store::turns::words_of;

/// What stays in `<git dir>/trace`: locks that are held, the settings that `uninstall` restores and the list of archived traces, from
/// which a purge removes the text, the times when forward crumbs were read, and the list of objects that a purge removes.
const KEPT: [&str; 5] = ["locks", "installed", "archived", "forward-reads", NOTED_REMOVAL];

/// Folders in which only some files stay: digests of addresses of remotes, and which messages the user has seen.
const MIXED: [&str; 2] = ["cache", "transcripts"];

/// The reflogs of our refs, of all worktrees.
pub(super) fn logs(repo: &Repo, world: &World) -> Result<Vec<Reflog>, GitError> {
    let mut logs = Vec::new();
    for git_dir in repo.worktree_git_dirs()? {
        logs.extend(repo.reflogs(&git_dir, &|refname| world.is_ours(refname))?);
    }
    Ok(logs)
}

/// Indexes, pages, saved states of imports, the log of hooks, and damaged objects. All but the log and damaged objects, which were set
/// aside, are derived again.
fn derived(repo: &Repo) -> Result<Vec<PathBuf>, GitError> {
    let (mut derived, edited) = (Vec::new(), marks::files(repo));
    let paths = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for git_dir in repo.worktree_git_dirs()? {
        let ours = git_dir.join("trace");
        for path in paths(&ours).filter(|path| !KEPT.iter().any(|kept| path.ends_with(kept))) {
            if MIXED.iter().any(|mixed| path.ends_with(mixed)) {
                let is_kept =
                    |path: &Path| path.ends_with("remotes") || path.extension().is_some_and(|end| end == "told");
                derived.extend(paths(&path).filter(|path| !is_kept(path)));
            } else {
                derived.push(path);
            }
        }
        // The texts of editors that failed.
        let texts = ["TRACE_EDITMSG", "TRACE_CLEAN_LIST"].map(|name| git_dir.join(name));
        derived.extend(texts.into_iter().filter(|path| path.exists()));
    }
    derived.retain(|path| !edited.contains(path));
    Ok(derived)
}

pub(super) fn remove_derived(repo: &Repo, target: &Target, removed: &Removed) -> Result<(), TraceError> {
    let done = derived(repo)?.iter().map(|path| remove_file_or_folder(path)).fold(Ok(()), Result::and);
    archived::replace(repo, |text| replaced(target, removed, text))?;
    repo.note_removed_log();
    marks::edit(repo, &target.needle, removed)?;
    Ok(done?)
}

/// A title without the text, or without the words of a purged item, which may be cut off.
fn replaced(target: &Target, removed: &Removed, title: &str) -> Option<String> {
    let (needle, marker) = (&target.needle, &target.marker);
    let (start, is_cut) = title.strip_suffix('…').map_or((title, false), |start| (start.trim_end(), true));
    let mut bodies = removed.bodies.iter().chain(removed.contents.iter().map(|item| &item.body));
    if needle.is_empty() && !start.is_empty() {
        let is_start = |body: &Vec<u8>| {
            [String::from_utf8_lossy(body), words_of(body)].iter().any(|text| {
                if is_cut { one_line(text).starts_with(start) } else { first_words(text.as_bytes()) == start }
            })
        };
        return bodies.any(is_start).then(|| marker.clone());
    }
    let new = needle.replace_text(title, marker);
    needle.replace_cuts_of(new.as_deref().unwrap_or(title), marker).or(new)
}

/// Whether a derived file contains the text or is named by it, or a title of an archived trace contains it.
pub(super) fn is_in_derived(repo: &Repo, target: &Target, removed: &Removed) -> Result<bool, TraceError> {
    if archived::replaced(repo, |text| replaced(target, removed, text))?.1 {
        return Ok(true);
    }
    let mut waiting = [derived(repo)?, marks::files(repo)].concat();
    while let Some(path) = waiting.pop() {
        let is_named = path.file_name().is_some_and(|name| target.needle.is_in(name.as_encoded_bytes()));
        if is_named || (path.is_file() && bounded::read_file(&path).is_ok_and(|bytes| target.needle.is_in(&bytes))) {
            return Ok(true);
        }
        waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    Ok(false)
}

/// Files that stay.
#[derive(Default)]
pub(super) struct Files {
    pub(super) with_text: Vec<PathBuf>,
    /// Those in work trees whose names contain it.
    pub(super) named: Vec<PathBuf>,
    /// Those that cannot be read, or are too large, folders that cannot be listed, those of objects of submodules, and worktrees that are
    /// elsewhere.
    pub(super) unread: Vec<PathBuf>,
}

/// The files in the git directory and in the work trees that contain the text, except those that a purge removes. For a reflog in a
/// reftable, the folder of the tables.
pub(super) fn files_with(repo: &Repo, target: &Target) -> Result<Files, GitError> {
    let (mut found, mut named, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    if target.needle.is_empty() {
        return Ok(Files::default());
    }
    let mut search = |path: PathBuf, found: &mut Vec<PathBuf>| match bounded::read_file(&path) {
        Ok(bytes) if target.is_in_file(&bytes) => found.push(path),
        Err(error) if error.kind() != ErrorKind::NotFound => unread.push(path),
        _ => {}
    };
    let world = World::of(repo).ok();
    let (mut folders, mut unlisted) = (vec![repo.common_dir().to_owned()], Vec::new());
    let (derived, archived) = ([derived(repo)?, marks::files(repo)].concat(), archived::path(repo));
    let objects = repo.common_dir().join("objects");
    let logs: Vec<PathBuf> = repo.worktree_git_dirs()?.iter().map(|git_dir| git_dir.join("logs")).collect();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder);
        // Git makes folders for refs whose paths are too long, and no file there can be opened.
        let is_there = |error: &io::Error| !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename);
        unlisted.extend(entries.as_ref().is_err_and(is_there).then(|| folder.clone()));
        for entry in entries.into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            let is_our_log = logs.iter().any(|logs| {
                let name = path.strip_prefix(logs).ok().and_then(|name| name.to_str());
                name.zip(world.as_ref()).is_some_and(|(name, world)| world.is_ours(name))
            });
            // The objects were read, but not the files of git that are not objects, such as the list of folders that lend others.
            let is_searched = path.parent() != Some(&objects) || path.ends_with("info");
            let is_graph = path.ends_with("commit-graph") || path.ends_with("commit-graphs");
            if !is_searched || is_graph || derived.contains(&path) || is_our_log {
                continue;
            }
            if path.ends_with("objects") && path != objects && folder.join("HEAD").is_file() {
                unlisted.push(path);
            } else if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                folders.push(path);
            } else if path == archived {
                // A purge replaces titles, but not names.
                let none = Removed::default();
                let (lines, _) = archived::replaced(repo, |text| replaced(target, &none, text)).unwrap_or_default();
                found.extend(lines.iter().any(|line| target.needle.is_in(line.as_bytes())).then_some(path));
            } else if kind.is_ok_and(|kind| kind.is_file()) {
                search(path, &mut found);
            }
        }
    }
    // A reftable compresses its reflogs.
    for git_dir in repo.worktree_git_dirs()? {
        let tables = git_dir.join("reftable");
        let is_others = |refname: &str| !world.as_ref().is_some_and(|world| world.is_ours(refname));
        if tables.is_dir() && repo.reflogs(&git_dir, &is_others)?.iter().any(|log| target.needle.is_in(&log.text)) {
            found.push(tables);
        }
    }
    for (root, mut files) in repo.worktree_files(&mut unlisted)? {
        // Git ignores it.
        files.push(PathBuf::from(".synapse/breadcrumbs-secret.jsonl"));
        for file in files {
            let Ok(path) = resolve(&root, &file) else { continue };
            if path.is_file() {
                named.extend(target.needle.is_in(file.as_os_str().as_encoded_bytes()).then(|| path.clone()));
                search(path, &mut found);
            }
        }
    }
    unread.append(&mut unlisted);
    let mut files = Files { with_text: found, named, unread };
    for paths in [&mut files.with_text, &mut files.named, &mut files.unread] {
        paths.sort();
        paths.dedup();
    }
    Ok(files)
}
