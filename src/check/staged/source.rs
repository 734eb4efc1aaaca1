//! The blobs to check, as git lists them.

use std::path::PathBuf;

use super::settings::Settings;
use super::{CheckError, Source};
use crate::base::merge::FileKind;
use crate::git::Git;

pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) oid: String,
    pub(crate) kind: FileKind,
    /// Whether it is a symbolic link, whose blob is a path.
    pub(crate) is_link: bool,
    pub(crate) is_unmerged: bool,
}

impl Entry {
    fn of(path: &[u8], mode: &str, oid: &str, is_unmerged: bool, settings: &Settings<'_>) -> Option<Self> {
        let kind = settings.kind(path)?;
        let is_link = mode == "120000";
        // A submodule's commit is not a file.
        (mode != "160000").then(|| Self { path: path.to_vec(), oid: oid.to_owned(), kind, is_link, is_unmerged })
    }

    /// Ends with a slash; empty for the root.
    pub(crate) fn folder(&self) -> &[u8] {
        let len = self.path.iter().rposition(|b| *b == b'/').map_or(0, |slash| slash + 1);
        &self.path[..len]
    }

    pub(crate) fn shown_path(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

pub(crate) fn entries(git: &Git, source: &Source, settings: &Settings<'_>) -> Result<Vec<Entry>, CheckError> {
    match source {
        Source::Rev(rev) => in_rev(git, rev, settings),
        Source::Staged => staged(git, settings),
    }
}

pub(crate) fn names_beside(git: &Git, source: &Source, folder: &[u8]) -> Result<Vec<Vec<u8>>, CheckError> {
    // Git takes paths as text here. Other folders have no list.
    let Ok(folder) = std::str::from_utf8(folder) else { return Ok(Vec::new()) };
    let mut args = match source {
        Source::Rev(rev) => vec!["ls-tree", "-z", "--name-only", "--full-tree", rev, "--"],
        Source::Staged => vec!["ls-files", "-z", "--full-name", "--"],
    };
    args.extend(Some(folder).filter(|folder| !folder.is_empty()));
    let git =
        Git::in_folder(git.line(&["rev-parse", "--show-toplevel"]).map_or(git.folder().to_owned(), PathBuf::from));
    let listed = git.run(&args)?;
    let below = listed.split(|b| *b == 0).filter_map(|path| path.strip_prefix(folder.as_bytes()));
    Ok(below.filter(|name| !name.is_empty() && !name.contains(&b'/')).map(<[u8]>::to_vec).collect())
}

fn find_tree(git: &Git, rev: &str) -> Result<Option<String>, CheckError> {
    let answer = git.ask(&["rev-parse", "--verify", "--quiet", &format!("{rev}^{{tree}}")])?;
    if answer.code == Some(128) {
        // There may be no repository, or one that git refuses.
        git.run(&["rev-parse", "--git-dir"])?;
    }
    let oid = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    Ok((answer.code == Some(0) && !oid.is_empty()).then_some(oid))
}

fn in_rev(git: &Git, rev: &str, settings: &Settings<'_>) -> Result<Vec<Entry>, CheckError> {
    let tree = find_tree(git, rev)?.ok_or_else(|| CheckError::NoSuchRev { rev: rev.to_owned() })?;
    let listed = git.run(&["ls-tree", "-r", "-z", "--full-tree", &tree])?;
    // `<mode> <type> <oid>\t<path>\0`
    let entries = listed.split(|b| *b == 0).filter_map(|entry| {
        let tab = memchr::memchr(b'\t', entry)?;
        let head = std::str::from_utf8(&entry[..tab]).ok()?;
        let mut words = head.split(' ');
        let (mode, _, oid) = (words.next()?, words.next()?, words.next()?);
        Entry::of(&entry[tab + 1..], mode, oid, false, settings)
    });
    Ok(entries.collect())
}

fn staged(git: &Git, settings: &Settings<'_>) -> Result<Vec<Entry>, CheckError> {
    let diff =
        |tree: &str| git.ask(&["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", tree, "--"]);
    // Each call of git delays every commit, so `HEAD` is looked up only if this fails.
    let mut answer = diff("HEAD")?;
    if answer.code != Some(0) {
        answer = diff(&match find_tree(git, "HEAD")? {
            Some(tree) => tree,
            // Before the first commit: the empty tree, in the repository's own hash.
            None => git.line(&["hash-object", "-t", "tree", "--stdin"])?,
        })?;
    }
    let listed = answer.into_stdout()?;
    // `:<old mode> <mode> <old oid> <oid> <status>\0<path>\0`
    let mut fields = listed.split(|b| *b == 0);
    let mut entries: Vec<Entry> = Vec::new();
    while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
        let Ok(head) = std::str::from_utf8(head) else { continue };
        let words: Vec<_> = head.split(' ').collect();
        let [_, mode, _, oid, status] = words[..] else { continue };
        if status != "D" && entries.last().is_none_or(|last| last.path != path) {
            entries.extend(Entry::of(path, mode, oid, status == "U", settings));
        }
    }
    Ok(entries)
}
