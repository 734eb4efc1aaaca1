//! The files and refs that have entries, their stamps, and how their entries are read.
//!
//! Listing sources reads no entry. Breadcrumbs in the namespace `secret` are not read at all.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use percent_encoding::percent_decode_str;

use super::codec::digest;
use super::entry::{Entry, Kind};
use super::index::{GRANULARITY, Sink, stamp};
use crate::base::bounded;
use crate::base::error::{Error, Result};
use crate::base::merge::FileKind;
use crate::base::replace::{Access, put};
use crate::base::worktree_path::{check_regular, resolve};
use crate::git::{Git, Mode, Oid, Repo, TreeStore as _};
use crate::memory::breadcrumb::store::lines::numbered;
use crate::memory::breadcrumb::{Record, Store, StoreFile};
use crate::memory::checkpoint::{Document, Folder, Pathspec};
use crate::memory::crumb::CrumbFile;
use crate::memory::crumb::archive::ARCHIVES;
use crate::memory::forward::text;
use crate::trace::model::name::{AgentName, FORWARD_CRUMBS, TRACES};
use crate::trace::model::{item_file, tree};
use crate::trace::store::settings;
use crate::trace::store::total::Reading;
use crate::trace::{Time, Tip, TraceError};

pub(super) struct Source {
    pub kind: Kind,
    /// A path from the root of the working tree, or a refname.
    pub place: String,
    pub id: u64,
    /// Differs if the content differs.
    pub stamp: u64,
    /// When a file was changed last.
    pub modified: Option<SystemTime>,
    from: From,
}

enum From {
    File(PathBuf),
    Tip(Oid),
}

impl Source {
    fn file(kind: Kind, place: String, path: PathBuf) -> io::Result<Self> {
        check_regular(&path)?;
        let metadata = fs::metadata(&path)?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let id = digest(&[kind.as_str().as_bytes(), place.as_bytes()]);
        let (stamp, modified) = (stamp(&metadata), metadata.modified().ok());
        Ok(Self { kind, place, id, stamp, modified, from: From::File(path) })
    }

    fn tip(kind: Kind, place: String, oid: Oid) -> Self {
        let id = digest(&[kind.as_str().as_bytes(), place.as_bytes()]);
        Self { kind, place, id, stamp: digest(&[oid.as_bytes()]), modified: None, from: From::Tip(oid) }
    }

    #[cfg(test)]
    pub(super) fn for_test(kind: Kind, place: &str, stamp: u64) -> Self {
        let id = digest(&[place.as_bytes()]);
        Self { kind, place: place.to_owned(), id, stamp, modified: None, from: From::File(PathBuf::new()) }
    }

    fn digest(&self, parts: [&[u8]; 3]) -> u64 {
        digest(&[&self.id.to_le_bytes(), parts[0], parts[1], parts[2]])
    }
}

/// The sources of all memories that a working tree has; `folder` is where the search for breadcrumbs begins. `unread` gets why others
/// cannot be read.
pub(super) fn memories(repo: &Repo, folder: &Path, cache: &Path, unread: &mut Vec<String>) -> Result<Vec<Source>> {
    let mut sources = refs(repo, Kind::Forward, FORWARD_CRUMBS)?;
    sources.extend(refs(repo, Kind::Archive, ARCHIVES)?);
    let Some(root) = repo.worktree() else { return Ok(sources) };
    let mut add = |kind, place: &str, path: io::Result<PathBuf>| match path
        .and_then(|path| Source::file(kind, place.to_owned(), path))
    {
        Ok(source) => sources.push(source),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
        Err(error) => unread.push(format!("cannot search `{place}`: {error}")),
    };
    let store = Store::find(folder, &root);
    let place = store.path(StoreFile::Shared);
    let shown = place.strip_prefix(root.canonicalize()?).unwrap_or(&place);
    add(Kind::Breadcrumb, &shown.to_string_lossy(), store.real_path(StoreFile::Shared));
    // Any number of links may lead to one file.
    let mut searched = HashSet::new();
    for path in crumb_files(&root, &cache.join("crumbs"))? {
        let file = resolve(&root, &path);
        if !file.as_ref().is_ok_and(|file| !searched.insert(file.clone())) {
            add(Kind::Crumb, &path, file);
        }
    }
    let pathspec = Pathspec::new(settings::text(repo, "trace.checkpoints")?.as_deref());
    for (path, location, kind) in (Folder { root, pathspec }).paths()? {
        if kind == FileKind::Checkpoint {
            add(Kind::Checkpoint, &path, Ok(location));
        }
    }
    Ok(sources)
}

/// Why breadcrumbs of a working tree are not found that are there.
pub(super) fn missing_breadcrumbs(repo: &Repo, folder: &Path) -> Option<String> {
    let root = repo.worktree()?;
    let checked = Store::find(folder, &root).check_checked_out(Some(repo), folder);
    checked.err().map(|error| format!("cannot search breadcrumbs: {error}"))
}

/// The number of folders up to which their times are compared. Git lists more of them as fast.
const MAX_FOLDERS: usize = 500;

/// The crumb files that git tracks or would add, and those at the root.
///
/// Git takes as long for listing files as the search for everything else. So the paths are kept with the times of all folders with
/// files that are not ignored: a new file changes the time of its folder.
fn crumb_files(root: &Path, cache: &Path) -> Result<BTreeSet<String>> {
    let known = fs::read_to_string(cache).unwrap_or_default();
    let written = fs::metadata(cache).and_then(|metadata| metadata.modified()).ok();
    let (stamp, paths) = known.split_once('\n').unwrap_or_default();
    let (files, folders): (BTreeSet<&str>, BTreeSet<&str>) = paths.lines().partition(|path| path.ends_with(CRUMB));
    if times(root, &folders, written).is_some_and(|times| times == stamp) {
        return Ok(files.into_iter().map(str::to_owned).collect());
    }
    let listed = Git::in_folder(root).run(&["ls-files", "-z", "-co", "--exclude-standard"])?;
    let listed = String::from_utf8_lossy(&listed);
    // Git may ignore the notes of agents.
    let top = fs::read_dir(root)?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let top: Vec<String> = top.filter(|name| name.ends_with(CRUMB)).collect();
    let paths = listed.split_terminator('\0').chain(top.iter().map(String::as_str));
    let (mut files, mut folders) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        folders
            .extend(Path::new(path).ancestors().skip(1).filter_map(Path::to_str).map(|folder| [folder, "/"].concat()));
        if path.ends_with(CRUMB) {
            files.insert(path.to_owned());
        }
    }
    let folders: BTreeSet<&str> = folders.iter().map(String::as_str).chain(["/"]).collect();
    let is_line = |path: &str| !path.contains('\n');
    if let Some(times) = times(root, &folders, None)
        && folders.len() <= MAX_FOLDERS
        && files.iter().map(String::as_str).chain(folders.iter().copied()).all(is_line)
    {
        let lines: Vec<&str> = [&*times].into_iter().chain(folders).chain(files.iter().map(String::as_str)).collect();
        let _ = put(cache, Access::Cache, lines.join("\n").as_bytes());
    }
    Ok(files)
}

const CRUMB: &str = ".crumb";

/// The times of folders as one word; `None` if one is gone, or changed so shortly before `written` that it may change again unnoticed.
fn times(root: &Path, folders: &BTreeSet<&str>, written: Option<SystemTime>) -> Option<String> {
    let mut times = Vec::new();
    for folder in folders {
        let modified = fs::metadata(root.join(folder.trim_end_matches('/'))).ok()?.modified().ok()?;
        if written.is_some_and(|written| modified + GRANULARITY > written) {
            return None;
        }
        times.extend(modified.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos().to_le_bytes());
    }
    Some(format!("{:016x}", digest(&[&times])))
}

pub(super) fn traces(repo: &Repo) -> Result<Vec<Source>> {
    refs(repo, Kind::Trace, TRACES)
}

fn refs(repo: &Repo, kind: Kind, prefix: &str) -> Result<Vec<Source>> {
    Ok(repo.list_refs(prefix)?.into_iter().map(|(name, oid)| Source::tip(kind, name, oid)).collect())
}

/// Passes the entries of a source on.
pub(super) fn read(repo: &Repo, source: &Source, sink: &mut Sink) -> Result<()> {
    match &source.from {
        From::Tip(tip) if source.kind == Kind::Archive => archive(repo, source, *tip, sink),
        From::Tip(tip) => items(repo, source, *tip, sink),
        From::File(path) => {
            let bytes = bounded::read_file(path).map_err(|error| Error::msg(error.to_string()))?;
            match source.kind {
                Kind::Breadcrumb => breadcrumbs(source, &bytes, sink),
                Kind::Crumb => crumbs(source, &String::from_utf8_lossy(&bytes), sink),
                _ => checkpoint(source, &String::from_utf8_lossy(&bytes), sink),
            }
            Ok(())
        }
    }
}

fn breadcrumbs(source: &Source, bytes: &[u8], sink: &mut Sink) {
    for (_, line) in numbered(bytes) {
        let digest = source.digest([line, b"", b""]);
        if !sink.wants(digest) {
            continue;
        }
        let Ok(record) = Record::parse(line) else { continue };
        if StoreFile::of_key(&record.key) == StoreFile::Shared {
            let time = record.updated().or(record.created()).map(Time::as_second);
            let until = record.expires().map(Time::as_second);
            let (id, key, text) = (record.key.to_string(), record.key.into_owned(), record.value.into_owned());
            let entry = Entry { id, key, time, until, text, ..Entry::new(source.kind, &source.place) };
            sink.add(digest, &entry);
        }
    }
}

fn crumbs(source: &Source, text: &str, sink: &mut Sink) {
    let Ok(file) = CrumbFile::parse(text.as_bytes()) else { return };
    let identity = file.header().map_or("", |header| header.identity);
    for (index, section, entry) in file.entries() {
        let line = &*file.lines[index].text;
        let digest = source.digest([identity.as_bytes(), section.as_bytes(), line.as_bytes()]);
        if sink.wants(digest) {
            let letter = entry.agent.map(|letter| format!(" {letter}")).unwrap_or_default();
            let entry = Entry {
                agent: format!("{identity}{letter}"),
                key: entry.key().unwrap_or_default().to_owned(),
                section: section.to_owned(),
                text: line.to_owned(),
                ..Entry::new(source.kind, &source.place)
            };
            sink.add(digest, &entry);
        }
    }
}

/// The sections of a checkpoint, without its frontmatter.
fn checkpoint(source: &Source, text: &str, sink: &mut Sink) {
    let document = Document::parse(text);
    let name = source.place.rsplit('/').next().unwrap_or_default();
    let id = document.id().unwrap_or(name.strip_suffix(".md").unwrap_or(name));
    let time = document.last_change().map(|timestamp| timestamp.time.as_second());
    let headings = document.markdown.headings.iter().filter(|heading| heading.level <= 2);
    let starts = headings.map(|heading| (heading.span.start, heading.span.end, &*heading.title));
    let mut starts: Vec<_> = starts.collect();
    if starts.is_empty() {
        starts.push((0, 0, ""));
    }
    let ends = starts.iter().skip(1).map(|(start, ..)| *start).chain([text.len()]);
    for ((_, start, section), end) in starts.iter().zip(ends) {
        let body = text.get(*start..end).unwrap_or_default();
        let digest = source.digest([id.as_bytes(), section.as_bytes(), body.as_bytes()]);
        if !body.trim().is_empty() && sink.wants(digest) {
            let (key, section, text) = (id.to_owned(), (*section).to_owned(), body.trim().to_owned());
            sink.add(digest, &Entry { key, section, time, text, ..Entry::new(source.kind, &source.place) });
        }
    }
}

/// The items of a trace, or the forward crumbs of an agent.
fn items(repo: &Repo, source: &Source, tip: Oid, sink: &mut Sink) -> Result<()> {
    let mut new = Vec::new();
    for item in tree::list(repo, Tip::read(repo, tip)?.commit.tree)? {
        let digest = source.digest([item.id.to_string().as_bytes(), item.path.as_bytes(), item.blob.as_bytes()]);
        if sink.wants(digest) {
            new.push(((item.clone(), digest), item.blob));
        }
    }
    let of_agent = AgentName::of_ref(&source.place).map(|agent| agent.to_string());
    let place = of_agent.as_deref().or(source.place.strip_prefix(TRACES)).unwrap_or_default();
    let agent = place.split_once('/').map_or(if source.kind == Kind::Forward { place } else { "" }, |(agent, _)| agent);
    repo.for_each_blob(new, |(slot, digest), blob, bytes| {
        let item = Reading::of(&slot, bytes).item;
        let header = item.fields.unknown.iter().find(|(name, _)| name == "crumb-type").map(|(_, value)| value.clone());
        let entry = Entry {
            id: item.id.to_string(),
            agent: agent.to_owned(),
            section: header.unwrap_or_else(|| slot.item_type.to_string()),
            time: item.fields.created.map(Time::as_second),
            text: body_text(source.kind, &item.body),
            blob: blob.to_string(),
            ..Entry::new(source.kind, place)
        };
        sink.add(digest, &entry);
        Ok::<_, TraceError>(())
    })?;
    Ok(())
}

/// The text of an entry that is in an object.
pub(super) fn blob_text(kind: Kind, bytes: &[u8]) -> String {
    match item_file::parse(bytes) {
        Ok(item) if kind != Kind::Archive => body_text(kind, &item.body),
        _ => body_text(kind, bytes),
    }
}

/// A forward crumb without its rules and its header.
fn body_text(kind: Kind, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    if kind != Kind::Forward {
        return text.into_owned();
    }
    let header = if text::parse(&text).is_some() { 6 } else { 0 };
    let content = text.lines().skip(header).take_while(|line| header == 0 || !line.starts_with("∴ End Forward Crumb"));
    let lines = content.filter(|line| !text::is_structure(line));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The originals of compressed lines, one entry per file of the archive.
fn archive(repo: &Repo, source: &Source, tip: Oid, sink: &mut Sink) -> Result<()> {
    let identity = source.place.strip_prefix(ARCHIVES).unwrap_or_default();
    let agent = percent_decode_str(identity).decode_utf8_lossy().into_owned();
    let mut folders = vec![(String::new(), repo.read_commit(tip)?.tree)];
    while let Some((above, folder)) = folders.pop() {
        for entry in repo.read_tree(folder)? {
            let path = format!("{above}{}", String::from_utf8_lossy(&entry.name));
            let digest = source.digest([path.as_bytes(), entry.oid.as_bytes(), b""]);
            if entry.mode() == Mode::Folder {
                folders.push((path + "/", entry.oid));
            } else if sink.wants(digest) {
                let text = String::from_utf8_lossy(&repo.read_blob(entry.oid)?).into_owned();
                let section = if path.starts_with("failures/") { "failures" } else { "" }.to_owned();
                let (agent, blob) = (agent.clone(), entry.oid.to_string());
                let entry = Entry { id: path, agent, section, text, blob, ..Entry::new(source.kind, &source.place) };
                sink.add(digest, &entry);
            }
        }
    }
    Ok(())
}
