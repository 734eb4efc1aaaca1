//! All traces as tables for analysis engines: `git trace export --all -o DIR`.
//!
//! ```text
//! DIR/<table>/agent=<agent>/month=<year>-<month>/rows.jsonl    tables: traces, items, calls; compressed: rows.jsonl.zst
//! DIR/git-trace-export.json                                    {"version":1,"families":{<name>:{"tips":…,"partition":…}}}
//! ```
//!
//! The folders are partitions as `DuckDB`, Spark, `BigQuery`, and `ClickHouse` read them. A family of traces is in one partition, and
//! each line begins with its name. If a tip of a family changed since the last export, the files of its partition are written
//! again: the lines of other families are copied, and only the changed family is read from the repository.

mod rows;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::app::owned_folder::OwnedFolder;
use crate::base::error::{Context as _, Error, Result, bail};
use crate::base::process::Process;
use crate::base::replace::{Access, Lock, STEM, finish, remove_leftovers, temporary};
use crate::base::worktree_path::resolve;
use crate::git::Repo;
use crate::trace::store::trace_index::{Group, TraceIndex};
use rows::{Lines, partition};
pub(crate) use rows::{Recorded, recorded, usages};

const TABLES: [&str; 3] = ["traces", "items", "calls"];

const MANIFEST: &str = "git-trace-export.json";

const VERSION: u32 = 1;

/// The outcome of an export.
#[derive(Default, Debug)]
pub(crate) struct Report {
    /// The families that were read, those that had not changed, and those that were removed because their traces are gone.
    pub exported: usize,
    pub unchanged: usize,
    pub removed: usize,
    pub bytes: u64,
}

#[derive(Serialize, Deserialize, Default, Debug)]
struct Manifest {
    families: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
struct Entry {
    /// The tips of its traces.
    tips: BTreeMap<String, String>,
    /// Below the folder of a table.
    partition: String,
}

impl Manifest {
    /// Refuses partitions outside of the folder.
    fn check(&self, folder: &Path) -> Result<()> {
        let mut partitions = self.families.values().map(|family| Path::new(&family.partition));
        let is_below = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
        match partitions.find(|path| !is_below(path)) {
            Some(other) => {
                bail!("`{}` is damaged: `{}` is no partition", folder.join(MANIFEST).display(), other.display())
            }
            None => Ok(()),
        }
    }
}

/// How the files of tables are stored. An export in one form replaces files in the other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Plain,
    /// Compressed by the program `zstd`.
    Zstd,
}

impl Form {
    fn file_name(self) -> &'static str {
        match self {
            Self::Plain => "rows.jsonl",
            Self::Zstd => "rows.jsonl.zst",
        }
    }

    fn other(self) -> Self {
        if self == Self::Plain { Self::Zstd } else { Self::Plain }
    }
}

/// Brings the tables in a folder up to date.
pub(crate) fn export_all(repo: &Repo, folder: &Path, form: Form) -> Result<Report> {
    if form == Form::Zstd && Process::new(ZSTD).arg("--version").output().is_err() {
        return Err(Error::with_hint("cannot run `zstd`, which compresses", "install zstd, or leave out --zstd"));
    }
    let owned = OwnedFolder { folder, name: MANIFEST, version: VERSION, what: "export" };
    let mut manifest: Manifest = owned.open()?;
    manifest.check(folder)?;
    let locked = folder.join(TABLES[0]);
    let created = || format!("cannot create `{}`", locked.display());
    let locked = resolve(folder, &locked).with_context(created)?;
    fs::create_dir_all(&locked).with_context(created)?;
    let lock = Lock::take(&locked, STEM).with_context(|| format!("cannot lock `{}`", locked.display()))?;
    let Some(_lock) = lock else { bail!("another export to `{}` is running", folder.display()) };
    let mut report = Report::default();
    // The families whose rows are to be written, and those whose old rows are to be dropped, by partition.
    let mut wanted: BTreeMap<String, Vec<Group>> = BTreeMap::new();
    let mut stale: BTreeMap<String, HashSet<String>> = BTreeMap::new();
    let mut gone: BTreeSet<String> = manifest.families.keys().cloned().collect();
    for group in TraceIndex::open(repo)?.groups(repo) {
        let name = group.name.to_string();
        gone.remove(&name);
        let known = manifest.families.get(&name);
        if known.is_some_and(|known| known.tips == tips(&group) && exists(folder, &known.partition, form)) {
            report.unchanged += 1;
            continue;
        }
        let place = match known {
            Some(known) => known.partition.clone(),
            None => partition(repo, &group)?,
        };
        stale.entry(place.clone()).or_default().insert(name);
        wanted.entry(place).or_default().push(group);
    }
    for name in &gone {
        let known = &manifest.families[name];
        stale.entry(known.partition.clone()).or_default().insert(name.clone());
    }
    for (place, stale) in stale {
        let groups = wanted.remove(&place).unwrap_or_default();
        report.bytes += write_partition(repo, (folder, form), &place, &stale, &groups)?;
        manifest.families.retain(|name, _| !stale.contains(name));
        for group in &groups {
            let entry = Entry { tips: tips(group), partition: place.clone() };
            manifest.families.insert(group.name.to_string(), entry);
        }
        report.exported += groups.len();
        owned.write(&manifest)?;
    }
    report.removed = gone.len();
    Ok(report)
}

fn tips(group: &Group) -> BTreeMap<String, String> {
    group.traces.iter().map(|trace| (trace.name.to_string(), trace.tip.to_string())).collect()
}

fn path(folder: &Path, table: &str, partition: &str, form: Form) -> PathBuf {
    folder.join(table).join(partition).join(form.file_name())
}

fn exists(folder: &Path, partition: &str, form: Form) -> bool {
    TABLES.iter().all(|table| path(folder, table, partition, form).is_file())
}

/// Replaces the files of a partition. Returns the bytes that were written.
fn write_partition(
    repo: &Repo,
    (folder, form): (&Path, Form),
    partition: &str,
    stale: &HashSet<String>,
    groups: &[Group],
) -> Result<u64> {
    let mut files = Vec::new();
    for table in TABLES {
        let path = path(folder, table, partition, form);
        let failed = || format!("cannot write `{}`", path.display());
        let path = resolve(folder, &path).with_context(failed)?;
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(failed)?;
        remove_leftovers(parent, STEM);
        let mut file =
            BufWriter::with_capacity(1 << 18, temporary(parent, STEM, Access::Private).with_context(failed)?);
        copy_others(&path, form, stale, &mut file).with_context(failed)?;
        files.push((path, file));
    }
    for group in groups {
        let lines = Lines::of(repo, group)?;
        for ((path, file), lines) in files.iter_mut().zip(&lines.tables) {
            file.write_all(lines).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
    }
    let mut bytes = 0;
    for (path, file) in files {
        let failed = || format!("cannot write `{}`", path.display());
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error).with_context(failed)?;
        if form == Form::Zstd {
            file = zstd(&["--compress"], file.reopen().with_context(failed)?, &path).with_context(failed)?;
        }
        let size = file.as_file().metadata().with_context(failed)?.len();
        bytes += size;
        finish(file.persist(&path).map_err(|error| error.error).with_context(failed)?);
        match fs::remove_file(path.with_file_name(form.other().file_name())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(failed),
            _ => {}
        }
    }
    Ok(bytes)
}

const ZSTD: &str = "zstd";

/// Passes a file through `zstd`, to a new file beside `path`.
fn zstd(options: &[&str], from: File, path: &Path) -> Result<NamedTempFile> {
    let to = temporary(path.parent().unwrap_or(path), STEM, Access::Private)?;
    Process::new(ZSTD)
        .args(options)
        .args(["--quiet", "--stdout"])
        .stdin(from)
        .stdout(to.as_file().try_clone()?)
        .run()?;
    Ok(to)
}

/// Copies the lines of families that are not stale.
fn copy_others(path: &Path, form: Form, stale: &HashSet<String>, out: &mut impl io::Write) -> Result<()> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    if form == Form::Zstd {
        file = zstd(&["--decompress"], file, path)?.reopen()?;
    }
    let mut file = BufReader::with_capacity(1 << 18, file);
    let heads: HashSet<Vec<u8>> = stale.iter().map(|name| head(name)).collect();
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        // The name is the first string, and a quote in it is escaped.
        let end = memchr::memmem::find(&line, TRACE).unwrap_or(line.len());
        if !heads.contains(&line[..end]) {
            out.write_all(&line)?;
        }
        line.clear();
    }
    Ok(())
}

/// What follows the name of the family in a line.
const TRACE: &[u8] = b",\"trace\":";

/// How the lines of a family begin.
fn head(name: &str) -> Vec<u8> {
    format!("{{\"family\":{}", serde_json::Value::from(name)).into_bytes()
}
