//! The blobs to check, as git lists them.

use super::settings::Settings;
use super::{CheckError, Source};
use crate::base::merge::FileKind;
use crate::git::{Git, Repo, StagedFile};
use crate::memory::checkpoint::Pathspec;

pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) oid: String,
    pub(crate) kind: FileKind,
    /// Whether it is a symbolic link, whose blob is a path.
    pub(crate) is_link: bool,
    pub(crate) is_unmerged: bool,
}

/// A file without a validator, in which only secrets are looked for.
pub(crate) struct OtherFile {
    pub(crate) path: Vec<u8>,
    pub(crate) oid: String,
}

#[derive(Default)]
pub(crate) struct Listed {
    pub(crate) entries: Vec<Entry>,
    /// All with `trace.hookScope`, else those where checkpoints are by default.
    pub(crate) others: Vec<OtherFile>,
}

impl Listed {
    fn add(&mut self, path: &[u8], mode: &str, oid: &str, is_unmerged: bool, settings: &Settings<'_>) {
        // A submodule's commit is not a file.
        if mode == "160000" {
            return;
        }
        let (path, oid, is_link) = (path.to_vec(), oid.to_owned(), mode == "120000");
        match settings.kind(&path) {
            Some(kind) => self.entries.push(Entry { path, oid, kind, is_link, is_unmerged }),
            None if !is_link && !is_unmerged => self.others.push(OtherFile { path, oid }),
            None => {}
        }
    }
}

impl Entry {
    /// Ends with a slash; empty for the root.
    pub(crate) fn folder(&self) -> &[u8] {
        let len = self.path.iter().rposition(|b| *b == b'/').map_or(0, |slash| slash + 1);
        &self.path[..len]
    }

    pub(crate) fn shown_path(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

pub(crate) fn list(git: &Git, source: &Source, settings: &Settings<'_>) -> Result<Listed, CheckError> {
    let mut listed = Listed::default();
    match source {
        Source::Rev(rev) => in_rev(git, rev, settings, &mut listed)?,
        Source::Staged => staged(git, settings, &mut listed)?,
    }
    if matches!(source, Source::Rev(_)) || listed.others.is_empty() || !settings.searches_all() {
        // The shared settings, which are in the checkout, cannot exempt these.
        let usual = Pathspec::new(None);
        listed.others.retain(|file| usual.kind(&file.path).is_some());
    }
    Ok(listed)
}

pub(crate) fn names_beside(git: &Git, source: &Source, folder: &[u8]) -> Result<Vec<Vec<u8>>, CheckError> {
    // Git takes paths as text here. Other folders have no list.
    let Ok(folder) = std::str::from_utf8(folder) else { return Ok(Vec::new()) };
    let mut args = match source {
        Source::Rev(rev) => vec!["ls-tree", "-z", "--name-only", "--full-tree", rev, "--"],
        Source::Staged => vec!["ls-files", "-z", "--full-name", "--"],
    };
    args.extend(Some(folder).filter(|folder| !folder.is_empty()));
    let git = Git::in_folder(git.toplevel().unwrap_or_else(|_| git.folder().to_owned()));
    let listed = git.run(&args)?;
    let below = listed.split(|b| *b == 0).filter_map(|path| path.strip_prefix(folder.as_bytes()));
    Ok(below.filter(|name| !name.is_empty() && !name.contains(&b'/')).map(<[u8]>::to_vec).collect())
}

/// The source with the id of what its revision names, which can be extended, unlike `HEAD:folder` or `:/text`.
pub(crate) fn resolved(git: &Git, source: &Source) -> Result<Source, CheckError> {
    let Source::Rev(rev) = source else { return Ok(Source::Staged) };
    match find(git, rev)? {
        Some(oid) if find_tree(git, &oid)?.is_some() => Ok(Source::Rev(oid)),
        _ => Err(CheckError::NoSuchRev { rev: rev.to_owned() }),
    }
}

fn find_tree(git: &Git, rev: &str) -> Result<Option<String>, CheckError> {
    find(git, &format!("{rev}^{{tree}}"))
}

fn find(git: &Git, name: &str) -> Result<Option<String>, CheckError> {
    let answer = git.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", name])?;
    if answer.code == Some(128) {
        // There may be no repository, or one that git refuses.
        git.run(&["rev-parse", "--git-dir"])?;
    }
    let oid = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    Ok((answer.code == Some(0) && !oid.is_empty()).then_some(oid))
}

fn in_rev(git: &Git, rev: &str, settings: &Settings<'_>, into: &mut Listed) -> Result<(), CheckError> {
    let listed = git.run(&["ls-tree", "-r", "-z", "--full-tree", rev])?;
    // `<mode> <type> <oid>\t<path>\0`
    for entry in listed.split(|b| *b == 0) {
        let Some(tab) = memchr::memchr(b'\t', entry) else { continue };
        let Ok(head) = std::str::from_utf8(&entry[..tab]) else { continue };
        let words: Vec<_> = head.split(' ').collect();
        let [mode, _, oid] = words[..] else { continue };
        into.add(&entry[tab + 1..], mode, oid, false, settings);
    }
    Ok(())
}

/// In this process if possible: each start of git delays every commit.
fn staged(git: &Git, settings: &Settings<'_>, into: &mut Listed) -> Result<(), CheckError> {
    if let Some(files) = settings.repo().and_then(Repo::staged_files) {
        for StagedFile { path, mode, oid } in files {
            into.add(&path, &mode, &oid.to_string(), false, settings);
        }
        return Ok(());
    }
    // `git add --intent-to-add` stages a name only, which is not committed.
    let options = ["--cached", "--ita-invisible-in-index", "--raw", "-z", "--no-renames", "--no-abbrev"];
    let diff = |tree: &str| git.ask(&[&["diff-index"][..], &options, &[tree, "--"]].concat());
    // `HEAD` is looked up only if this fails.
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
    let mut last: &[u8] = b"";
    while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
        let Ok(head) = std::str::from_utf8(head) else { continue };
        let words: Vec<_> = head.split(' ').collect();
        let [_, mode, _, oid, status] = words[..] else { continue };
        if status != "D" && path != last {
            into.add(path, mode, oid, status == "U", settings);
            last = path;
        }
    }
    Ok(())
}
