//! All traces in the order of their last changes, without reading the tip of each.
//!
//! `<common dir>/trace/cache/traces` is a list that is derived from the tips, and may be deleted at any time:
//!
//! ```text
//! git-trace traces 1 <the state of all refs that have no own file>
//! <number of refs with own files> <number of names>
//! <oid> <refname>                                                 one line per such ref
//! <hash of a name> <offset of its group>                          one line per trace and group, sorted
//! <nanoseconds> <oid> <trace> <group> <1 if it has a family> <author>    one line per trace, with tabs
//! ```
//!
//! - Refs decide. While `packed-refs` is the file that the list was made from, only refs with own files are compared, and only the
//!   tips of those that differ are read. Otherwise all refs are listed, and the list is written again, with the rows of known tips.
//! - A group is a family, or a trace without one. Traces of sub-agents belong to the group of the trace that they are named after.
//!   The traces of a group follow each other, and the group with the newest change is the first. So the first groups are read
//!   without the rest, and any other group by binary search.
//! - A list that cannot be read or written costs time and nothing else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use crate::base::replace::{Access, put};
use crate::git::{Oid, RefsState, Repo};
use crate::trace::model::name::TRACES;
use crate::trace::{Time, Tip, TraceError, TraceName};

const HEAD: &str = "git-trace traces 1 ";

/// With more changed refs, the list is written again.
const MAX_CHANGED: usize = 256;

/// The tips of this number of traces are read as fast as a list.
const FEW: usize = if cfg!(test) { 0 } else { 256 };

/// A trace as the list has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListedTrace {
    pub name: TraceName,
    pub tip: Oid,
    /// When it was changed last; `None` if its tip is damaged.
    pub time: Option<Time>,
    /// The family, or its own name.
    pub group: String,
    pub has_family: bool,
    /// The author of its tip: `Name <email>`.
    pub author: String,
}

/// A family of traces, or a trace without one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub name: TraceName,
    /// The most recently changed one first, those of sub-agents last.
    pub traces: Vec<ListedTrace>,
}

/// A row of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    /// `None` if the tip is damaged.
    at: Option<i128>,
    tip: String,
    name: String,
    group: String,
    has_family: bool,
    author: String,
}

impl Row {
    fn of(repo: &Repo, name: &TraceName, oid: Oid) -> Self {
        let (name, tip) = (name.as_str().to_owned(), oid.to_string());
        let Ok(commit) = Tip::read(repo, oid) else {
            return Self { at: None, tip, group: name.clone(), name, has_family: false, author: String::new() };
        };
        let family = commit.family().map(|family| family.as_str().to_owned());
        Self {
            at: Some(commit.time().as_nanosecond()),
            tip,
            has_family: family.is_some(),
            group: family.unwrap_or_else(|| name.clone()),
            name,
            author: commit.commit.author.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.splitn(6, '\t').map(str::to_owned);
        let at = cells.next()?;
        Some(Self {
            at: if at.is_empty() { None } else { Some(at.parse().ok()?) },
            tip: cells.next()?,
            name: cells.next()?,
            group: cells.next()?,
            has_family: cells.next()? == "1",
            author: cells.next()?,
        })
    }

    fn render(&self) -> String {
        let Self { at, tip, name, group, has_family, author } = self;
        let at = at.map(|at| at.to_string()).unwrap_or_default();
        format!("{at}\t{tip}\t{name}\t{group}\t{}\t{author}\n", u8::from(*has_family))
    }

    fn read(self, repo: &Repo) -> Option<ListedTrace> {
        Some(ListedTrace {
            name: self.name.parse().ok()?,
            tip: Oid::parse(&self.tip, repo.object_format())?,
            time: self.at.and_then(Time::from_nanosecond),
            group: self.group,
            has_family: self.has_family,
            author: self.author,
        })
    }

    /// The trace that a trace of a sub-agent is named after.
    fn above(&self) -> Option<&str> {
        TraceName::above_sub_agent(&self.name)
    }

    fn order(&self) -> (bool, Reverse<Option<i128>>, &str) {
        (self.above().is_some(), Reverse(self.at), &self.name)
    }
}

/// Puts traces of sub-agents into the groups of the traces that they are named after, and sorts.
fn grouped(mut rows: Vec<Row>) -> Vec<Vec<Row>> {
    let groups: HashMap<String, String> =
        rows.iter().filter(|row| row.above().is_none()).map(|row| (row.name.clone(), row.group.clone())).collect();
    for row in &mut rows {
        if let Some(above) = row.above() {
            row.group = groups.get(above).cloned().unwrap_or_else(|| above.to_owned());
        }
    }
    let mut by_group: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_group.entry(row.group.clone()).or_default().push(row);
    }
    let mut sorted: Vec<Vec<Row>> = by_group.into_values().collect();
    for rows in &mut sorted {
        rows.sort_by(|one, other| one.order().cmp(&other.order()));
    }
    sorted.sort_by(|one, other| place(one).cmp(&place(other)));
    sorted
}

/// What the groups are sorted by: the time of the newest trace that is not of a sub-agent, then the name.
fn place(rows: &[Row]) -> (Reverse<Option<i128>>, Option<&str>) {
    let first = rows.first();
    let newest = first.filter(|row| row.above().is_none()).and_then(|row| row.at);
    (Reverse(newest), first.map(|row| row.group.as_str()))
}

/// A [`ListedTrace`] whose order is that of its last change, then of its name backwards.
type Waiting = (Option<Time>, Reverse<TraceName>, Oid, String, bool, String);

/// The traces of a repository in the order of their last changes.
pub(crate) struct TraceIndex {
    list: Box<dyn BufRead>,
    /// The groups of the list that are not as the list has them.
    replaced: HashSet<String>,
    /// These groups, and new ones.
    changed: Vec<Vec<Row>>,
}

impl TraceIndex {
    pub(crate) fn open(repo: &Repo) -> Result<Self, TraceError> {
        let Some(state) = repo.refs_state(TRACES) else { return Self::made(repo, None, "") };
        let Some(mut list) = File::open(path(repo)).ok().map(BufReader::new) else {
            return Self::made(repo, Some(&state), "");
        };
        let changed = match Header::read(&mut list) {
            Some(known) if known.packed == state.packed => {
                let stored = Stored { index: known.length, count: known.names, file: list };
                match known.changed(&state).filter(|changed| changed.len() <= MAX_CHANGED) {
                    Some(changed) => stored.with_changes(repo, &changed).ok(),
                    None => None,
                }
            }
            _ => None,
        };
        match changed {
            Some(index) => Ok(index),
            None => Self::made(repo, Some(&state), &fs::read_to_string(path(repo)).unwrap_or_default()),
        }
    }

    /// Lists all refs, reads the tips without a row, and writes the list.
    fn made(repo: &Repo, state: Option<&RefsState>, rows: &str) -> Result<Self, TraceError> {
        let known = |line| Row::parse(line).map(|row| ((row.name.clone(), row.tip.clone()), row));
        let mut known: HashMap<(String, String), Row> = rows.lines().filter_map(known).collect();
        let refs = repo.list_refs(TRACES)?;
        let named = refs.iter().filter_map(|(refname, oid)| Some((TraceName::of_ref(refname)?, *oid)));
        let row = |(name, oid): (TraceName, Oid)| {
            let known = known.remove(&(name.as_str().to_owned(), oid.to_string()));
            known.unwrap_or_else(|| Row::of(repo, &name, oid))
        };
        let rows: Vec<Row> = named.map(row).collect();
        let state = state.filter(|_| rows.len() > FEW);
        let (mut text, mut names) = (String::new(), Vec::new());
        for group in grouped(rows) {
            let offset = text.len();
            names.extend(group.iter().map(|row| (hash(&row.name), offset)));
            names.extend(
                group.first().filter(|first| first.name != first.group).map(|first| (hash(&first.group), offset)),
            );
            text.extend(group.iter().map(Row::render));
        }
        if let Some(state) = state {
            names.sort_unstable();
            let mut file = Header::render(state, names.len());
            file.extend(names.iter().map(|(hash, offset)| format!("{hash:016x} {offset:012}\n")));
            let _ = put(&path(repo), Access::Cache, (file + &text).as_bytes());
        }
        Ok(Self { list: Box::new(Cursor::new(text)), replaced: HashSet::new(), changed: Vec::new() })
    }

    /// The groups, the most recently changed first.
    pub(crate) fn groups(self, repo: &Repo) -> impl Iterator<Item = Group> + '_ {
        let Self { list, replaced, changed } = self;
        // A list with another line end is damaged; what can be read of it counts until a ref moves.
        let rows = list.lines().map_while(Result::ok).filter_map(|line| Row::parse(&line));
        let mut rows = rows.filter(move |row| !replaced.contains(&row.group)).peekable();
        let mut unchanged = std::iter::from_fn(move || {
            let mut group = vec![rows.next()?];
            while let Some(row) = rows.next_if(|row| row.group == group[0].group) {
                group.push(row);
            }
            Some(group)
        })
        .peekable();
        let mut changed = changed.into_iter().peekable();
        let merged = std::iter::from_fn(move || {
            let is_next =
                |one: &Vec<Row>, other: Option<&Vec<Row>>| other.is_none_or(|other| place(one) < place(other));
            let takes_changed = changed.peek().is_some_and(|one| is_next(one, unchanged.peek()));
            if takes_changed { changed.next() } else { unchanged.next() }
        });
        merged.filter_map(|rows| {
            let name = rows.first()?.group.parse().ok()?;
            Some(Group { name, traces: rows.into_iter().filter_map(|row| row.read(repo)).collect() })
        })
    }

    /// All traces but those of sub-agents, the most recently changed first.
    pub(crate) fn newest_first(self, repo: &Repo) -> impl Iterator<Item = ListedTrace> + '_ {
        let mut groups = self.groups(repo).peekable();
        let mut waiting: BinaryHeap<Waiting> = BinaryHeap::new();
        std::iter::from_fn(move || {
            // No trace of the next group, or of a later one, is newer than the first of the next group.
            while groups.peek().is_some_and(|next| {
                let first = next.traces.first().and_then(|trace| trace.time);
                waiting.peek().is_none_or(|(time, ..)| *time <= first)
            }) {
                let traces = groups.next()?.traces.into_iter().filter(|trace| !trace.name.is_of_sub_agent());
                waiting.extend(traces.map(|ListedTrace { name, tip, time, group, has_family, author }| {
                    (time, Reverse(name), tip, group, has_family, author)
                }));
            }
            let (time, Reverse(name), tip, group, has_family, author) = waiting.pop()?;
            Some(ListedTrace { name, tip, time, group, has_family, author })
        })
    }
}

/// The bytes of an entry of the index: a hash and an offset, in a line.
const ENTRY: u64 = 30;

/// The list in its file.
struct Stored {
    file: BufReader<File>,
    /// Where its index begins, and the number of entries.
    index: u64,
    count: u64,
}

impl Stored {
    /// The list, with other tips for some traces.
    fn with_changes(mut self, repo: &Repo, changed: &[(TraceName, Oid)]) -> io::Result<TraceIndex> {
        let new: Vec<Row> = changed.iter().map(|(name, oid)| Row::of(repo, name, *oid)).collect();
        let names: HashSet<&str> = new.iter().map(|row| row.name.as_str()).collect();
        let mut replaced: HashSet<String> = HashSet::new();
        let mut rows = Vec::new();
        for row in &new {
            for name in [Some(row.name.as_str()), Some(row.group.as_str()), row.above()].into_iter().flatten() {
                for group in self.groups(name)? {
                    if replaced.insert(group[0].group.clone()) {
                        rows.extend(group.into_iter().filter(|row| !names.contains(row.name.as_str())));
                    }
                }
            }
        }
        rows.extend(new.iter().cloned());
        let start = self.rows();
        self.file.seek(SeekFrom::Start(start))?;
        Ok(TraceIndex { list: Box::new(self.file), replaced, changed: grouped(rows) })
    }

    fn rows(&self) -> u64 {
        self.index + self.count * ENTRY
    }

    /// The rows of the group that a trace belongs to, and of the group that has this name: a trace may be in another family than
    /// the one that is named after it.
    fn groups(&mut self, name: &str) -> io::Result<Vec<Vec<Row>>> {
        let hash = hash(name);
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)?.0 < hash { low = middle + 1 } else { high = middle }
        }
        let mut groups = Vec::new();
        while low < self.count {
            let (found, offset) = self.entry(low)?;
            if found != hash {
                break;
            }
            let start = self.rows() + offset;
            self.file.seek(SeekFrom::Start(start))?;
            let mut group: Vec<Row> = Vec::new();
            for line in self.file.by_ref().lines() {
                let row = Row::parse(&line?).ok_or(io::ErrorKind::InvalidData)?;
                if group.first().is_some_and(|first| first.group != row.group) {
                    break;
                }
                group.push(row);
            }
            // Two names may have one hash.
            if group.iter().any(|row| row.name == name || row.group == name) {
                groups.push(group);
            }
            low += 1;
        }
        Ok(groups)
    }

    fn entry(&mut self, number: u64) -> io::Result<(u64, u64)> {
        let mut line = String::new();
        self.file.seek(SeekFrom::Start(self.index + number * ENTRY))?;
        self.file.by_ref().take(ENTRY).read_to_string(&mut line)?;
        let parsed = line
            .trim_end()
            .split_once(' ')
            .and_then(|(hash, offset)| Some((u64::from_str_radix(hash, 16).ok()?, offset.parse().ok()?)));
        parsed.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

fn hash(name: &str) -> u64 {
    blake3::hash(name.as_bytes()).as_bytes().iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

fn path(repo: &Repo) -> PathBuf {
    repo.common_dir().join("trace").join("cache").join("traces")
}

/// The beginning of the list: the refs that it was made from.
struct Header {
    packed: String,
    own_files: HashMap<String, String>,
    /// The number of entries in the index behind it.
    names: u64,
    /// Its bytes.
    length: u64,
}

impl Header {
    fn render(state: &RefsState, names: usize) -> String {
        let mut text = format!("{HEAD}{}\n{} {names}\n", state.packed, state.own_files.len());
        text.extend(state.own_files.iter().map(|(refname, oid)| format!("{oid} {refname}\n")));
        text
    }

    fn read(list: &mut impl BufRead) -> Option<Self> {
        let mut length = 0;
        let mut line = || {
            let mut line = String::new();
            length += list.read_line(&mut line).ok()? as u64;
            line.strip_suffix('\n').map(str::to_owned)
        };
        let packed = line()?.strip_prefix(HEAD)?.to_owned();
        let counts = line()?;
        let (files, names) = counts.split_once(' ')?;
        let (files, names): (usize, u64) = (files.parse().ok()?, names.parse().ok()?);
        let mut own_files = HashMap::new();
        for _ in 0..files {
            let line = line()?;
            let (oid, refname) = line.split_once(' ')?;
            own_files.insert(refname.to_owned(), oid.to_owned());
        }
        Some(Self { packed, own_files, names, length })
    }

    /// The traces that have other tips now; `None` if a ref with an own file is gone.
    fn changed(mut self, state: &RefsState) -> Option<Vec<(TraceName, Oid)>> {
        let mut changed = Vec::new();
        for (refname, oid) in &state.own_files {
            if self.own_files.remove(refname).is_none_or(|known| known != oid.to_string()) {
                changed.extend(TraceName::of_ref(refname).map(|name| (name, *oid)));
            }
        }
        self.own_files.is_empty().then_some(changed)
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/trace/trace_index.rs"]
mod tests;
