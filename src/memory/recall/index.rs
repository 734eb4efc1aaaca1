//! The index: segments, and a list of them that says what they were made from.
//!
//! ```text
//! <git dir>/trace/cache/recall/index               the list, which is replaced atomically
//! <git dir>/trace/cache/recall/<digest>.segment    a segment
//! ```
//!
//! - The sources decide. Each has a stamp: the size, the time, and the number of a file, or the commit of a ref. A query compares
//!   all stamps, and reads again the sources that differ. Of these, only new entries are indexed, into a new segment; entries that
//!   are gone are marked in the list.
//! - A new segment takes in the last one while that is not four times as large, so their number grows with the logarithm of the
//!   number of entries.
//! - Writers take a lock. An index that is missing, damaged, or of another version is made again. One that cannot be written
//!   costs time and nothing else.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::codec::{Cursor, digest, put_number, put_text, put_word};
use super::entry::Entry;
use super::segment::{Builder, Row, Segment, Term};
use super::sources::Source;
use crate::base::bounded;
use crate::base::folders::create_folders;
use crate::base::replace::{Access, FileVersion, Lock, Stem, replace};

const MAGIC: &[u8] = b"git-trace recall 1\n";
const STEM: Stem = Stem(".git-trace-recall");
const LIST: &str = "index";
const SUFFIX: &str = ".segment";

/// Smaller segments are always taken in.
const SMALL: u32 = if cfg!(test) { 2 } else { 512 };

/// A file that was written this shortly before the list may change again without another time.
pub(super) const GRANULARITY: Duration = Duration::from_millis(20);

/// A segment, and which of its entries are gone.
pub(super) struct Part {
    name: String,
    stamp: u64,
    pub segment: Segment,
    /// Sorted.
    dead: Vec<u32>,
}

impl Part {
    fn is_live(&self, doc: u32) -> bool {
        self.dead.binary_search(&doc).is_err()
    }

    /// The live entries with a term, each with the score of how often it occurs in how many words.
    pub(super) fn scores(&self, term: Term, score: &dyn Fn(u32, u32) -> f32) -> io::Result<Vec<(u32, f32)>> {
        let mut scores = Vec::new();
        self.segment.postings(term, &mut |(doc, count, length)| {
            if self.dead.is_empty() || self.is_live(doc) {
                scores.push((doc, score(count, length)));
            }
        })?;
        Ok(scores)
    }
}

#[derive(Default)]
pub(super) struct Index {
    /// The stamp of each source.
    sources: BTreeMap<u64, u64>,
    pub parts: Vec<Part>,
    /// The number of live entries.
    pub entries: u64,
    /// The sum of their lengths.
    pub words: u64,
    written: Option<SystemTime>,
}

/// Differs if the file does.
pub(super) fn stamp(metadata: &Metadata) -> u64 {
    digest(&[FileVersion::of(metadata).word().as_bytes()])
}

impl Index {
    /// The index of the sources, as they are now. `read` passes the entries of a source to its sink.
    pub(super) fn open(
        folder: &Path,
        sources: &[Source],
        read: &mut dyn FnMut(&Source, &mut Sink) -> bool,
    ) -> io::Result<Self> {
        if let Some(index) = Self::load(folder).filter(|index| index.changed(sources).is_empty()) {
            return Ok(index);
        }
        // Without the folder or the lock, the new parts stay in memory.
        let lock = create_folders(folder).and_then(|()| Lock::take(folder, STEM)).ok().flatten();
        let index = Self::load(folder).unwrap_or_default();
        let folder = lock.is_some().then_some(folder);
        let changed = index.changed(sources);
        if changed.is_empty() {
            return Ok(index);
        }
        match index.updated(folder, sources, &changed, read) {
            Ok(index) => Ok(index),
            Err(_) => Self::default().updated(folder, sources, &sources.iter().map(|source| source.id).collect(), read),
        }
    }

    /// The index without what its files say.
    pub(super) fn forget(folder: &Path) {
        let _ = fs::remove_file(folder.join(LIST));
    }

    fn load(folder: &Path) -> Option<Self> {
        let path = folder.join(LIST);
        let bytes = bounded::read_file(&path).ok()?;
        let (bytes, check) = bytes.split_last_chunk()?;
        let body = bytes.strip_prefix(MAGIC).filter(|body| digest(&[body]) == u64::from_le_bytes(*check))?;
        let mut cursor = Cursor(body);
        let mut index = Self { entries: cursor.number()?, words: cursor.number()?, ..Self::default() };
        for _ in 0..cursor.number()? {
            index.sources.insert(cursor.word()?, cursor.word()?);
        }
        for _ in 0..cursor.number()? {
            let (name, known) = (cursor.text()?.to_owned(), cursor.word()?);
            let file = File::open(folder.join(&name)).ok()?;
            if stamp(&file.metadata().ok()?) != known {
                return None;
            }
            let mut dead: Vec<u32> = Vec::new();
            for _ in 0..cursor.number()? {
                dead.push(cursor.small()?.checked_add(dead.last().copied().unwrap_or_default())?);
            }
            index.parts.push(Part { name, stamp: known, segment: Segment::open(file).ok()?, dead });
        }
        index.written = fs::metadata(path).ok()?.modified().ok();
        Some(index)
    }

    /// The sources that are new, different, or gone, or that may have changed unnoticed.
    fn changed(&self, sources: &[Source]) -> HashSet<u64> {
        let is_recent = |source: &Source| {
            let times = source.modified.zip(self.written);
            times.is_some_and(|(modified, written)| modified + GRANULARITY > written)
        };
        let mut gone: HashSet<u64> = self.sources.keys().copied().collect();
        let mut changed = HashSet::new();
        for source in sources {
            gone.remove(&source.id);
            if self.sources.get(&source.id) != Some(&source.stamp) || is_recent(source) {
                changed.insert(source.id);
            }
        }
        changed.extend(gone);
        changed
    }

    fn updated(
        mut self,
        folder: Option<&Path>,
        sources: &[Source],
        changed: &HashSet<u64>,
        read: &mut dyn FnMut(&Source, &mut Sink) -> bool,
    ) -> io::Result<Self> {
        let mut rows: Vec<Vec<Row>> = Vec::new();
        for part in &self.parts {
            rows.push(part.segment.rows(0, part.segment.docs)?);
        }
        let is_kept = |part: &Part, (doc, row): (u32, &Row)| !changed.contains(&row.source) && part.is_live(doc);
        let live = self.parts.iter().zip(&rows);
        let live = live.map(|(part, rows)| (0..).zip(rows).map(|row| is_kept(part, row)).collect()).collect();
        let known = rows
            .iter()
            .enumerate()
            .flat_map(|(part, rows)| rows.iter().enumerate().map(move |(doc, row)| (row.digest, (part, doc))));
        let mut sink =
            Sink { known: known.collect(), live, seen: HashSet::new(), builder: Builder::default(), source: 0 };
        self.sources.clear();
        for source in sources {
            sink.source = source.id;
            if !changed.contains(&source.id) || read(source, &mut sink) {
                self.sources.insert(source.id, source.stamp);
            }
        }
        let Sink { mut live, mut builder, .. } = sink;
        let mut last = true;
        for at in (0..self.parts.len()).rev() {
            let docs = self.parts[at].segment.docs;
            let alive = live[at].iter().filter(|live| **live).count();
            last &= builder.docs() > 0 && docs <= (builder.docs().saturating_mul(4)).max(SMALL);
            if last || alive * 2 < docs as usize {
                let part = self.parts.remove(at);
                builder.absorb(&part.segment, &live.remove(at))?;
                rows.remove(at);
            }
        }
        for (part, live) in self.parts.iter_mut().zip(&live) {
            part.dead = (0..).zip(live).filter_map(|(doc, live)| (!live).then_some(doc)).collect();
        }
        let kept = rows.iter().zip(&live).flat_map(|(rows, live)| rows.iter().zip(live));
        let all = kept.filter(|(_, live)| **live).map(|(row, _)| row).chain(builder.rows());
        (self.entries, self.words) =
            all.fold((0, 0u64), |(entries, words), row| (entries + 1, words.saturating_add(row.length)));
        let new = (builder.docs() > 0).then(|| builder.finish());
        if let Some(folder) = folder {
            // A folder that cannot be written costs the time of the next query.
            let _ = self.write(folder, new.as_deref());
        }
        if let Some(bytes) = new {
            let segment = Segment::in_memory(bytes)?;
            self.parts.push(Part { name: String::new(), stamp: 0, segment, dead: Vec::new() });
        }
        Ok(self)
    }

    /// Writes a new segment and the list, and removes the segments that are not in it.
    fn write(&self, folder: &Path, new: Option<&[u8]>) -> io::Result<()> {
        let mut parts: Vec<(String, u64, &[u32])> =
            self.parts.iter().map(|part| (part.name.clone(), part.stamp, &part.dead[..])).collect();
        if let Some(bytes) = new {
            let name = format!("{:016x}{SUFFIX}", digest(&[bytes]));
            let metadata = put(&folder.join(&name), bytes)?;
            parts.push((name, stamp(&metadata), &[]));
        }
        let mut body = Vec::new();
        for number in [self.entries, self.words, self.sources.len() as u64] {
            put_number(&mut body, number);
        }
        for (id, stamp) in &self.sources {
            put_word(&mut body, *id);
            put_word(&mut body, *stamp);
        }
        put_number(&mut body, parts.len() as u64);
        for (name, stamp, dead) in &parts {
            put_text(&mut body, name);
            put_word(&mut body, *stamp);
            put_number(&mut body, dead.len() as u64);
            let mut last = 0;
            for doc in *dead {
                put_number(&mut body, (doc - last).into());
                last = *doc;
            }
        }
        let check = digest(&[&body]).to_le_bytes();
        put(&folder.join(LIST), &[MAGIC, &body, &check].concat())?;
        for entry in fs::read_dir(folder)?.flatten() {
            let name = entry.file_name();
            let is_listed = |name: &str| !name.ends_with(SUFFIX) || parts.iter().any(|(listed, ..)| listed == name);
            if !name.to_str().is_some_and(is_listed) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}

/// Replaces a file of the index under its lock.
fn put(path: &Path, bytes: &[u8]) -> io::Result<Metadata> {
    let seen = fs::metadata(path).ok().as_ref().map(FileVersion::of);
    if !replace(path, STEM, seen.as_ref(), Access::Cache, bytes)? {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    fs::metadata(path)
}

/// Takes the entries of a source.
pub(super) struct Sink {
    known: HashMap<u64, (usize, usize)>,
    live: Vec<Vec<bool>>,
    seen: HashSet<u64>,
    builder: Builder,
    source: u64,
}

impl Sink {
    /// Whether an entry is not in the index yet.
    pub(super) fn wants(&mut self, digest: u64) -> bool {
        if !self.seen.insert(digest) {
            return false;
        }
        match self.known.get(&digest) {
            Some((part, doc)) => {
                self.live[*part][*doc] = true;
                false
            }
            None => true,
        }
    }

    pub(super) fn add(&mut self, digest: u64, entry: &Entry) {
        let (terms, length) = entry.terms();
        let time = entry.time.unwrap_or(i64::MIN);
        self.builder.add(digest, time, self.source, &entry.record(), &terms, length);
    }
}

/// The folder of an index in a git directory.
pub(super) fn folder(git_dir: &Path, name: &str) -> PathBuf {
    git_dir.join("trace").join("cache").join(name)
}

#[cfg(test)]
#[path = "../../../tests/unit/recall/index.rs"]
mod tests;
