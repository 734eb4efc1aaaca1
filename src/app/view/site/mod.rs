//! All traces as a small static site: `git trace view --all -o DIR`.
//!
//! ```text
//! DIR/index.html                   the sessions by date, with charts of their tokens
//! DIR/sessions/<name>-<hash>.html  a page for each trace
//! DIR/git-trace-site.json          {"version":1,"state":…,"families":{<name>:{"tips":…,"figures":…}}}
//! ```
//!
//! - Nothing that a trace or the manifest says is part of a path: see [`file_name`].
//! - A page is written again only if a tip of its family, a priority, a setting, or the program changed.
//! - The pages of traces that are gone are removed.

mod figures;
mod index;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::figures::Figures;
use super::page::policy;
use super::redact::Redactor;
use super::{Options, Past, page};
use crate::app::owned_folder::OwnedFolder;
use crate::app::progress::Progress;
use crate::base::error::{Context as _, Result, bail};
use crate::base::replace::{Access, FileVersion, Lock, STEM, put, replace};
use crate::base::worktree_path::resolve;
use crate::git::Repo;
use crate::trace::TraceName;
use crate::trace::query::find::{Order, Wanted};
use crate::trace::store::priority::RECORD;
use crate::trace::store::settings;
use crate::trace::store::trace_index::{Group, ListedTrace, TraceIndex};
use crate::transcript::import::sessions::{Among, Family, list};

const MANIFEST: &str = "git-trace-site.json";
const VERSION: u32 = 1;
pub(super) const INDEX: &str = "index.html";
const PAGES: &str = "sessions";
/// The most characters of a trace's name in the name of its file.
const MAX_NAME: usize = 60;

/// The outcome: pages that were written, those that had not changed, and those that were removed because their traces are gone.
#[derive(Default, Debug)]
pub(crate) struct Report {
    pub written: usize,
    pub unchanged: usize,
    pub removed: usize,
    /// The places on the written pages from which possible secrets were removed.
    pub redacted: usize,
    pub index: PathBuf,
}

#[derive(Serialize, Deserialize, Default, Debug)]
struct Manifest {
    /// What all pages depend on.
    state: String,
    families: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
struct Entry {
    /// The tips of its traces.
    tips: BTreeMap<String, String>,
    /// By trace. An item that several of them share is in those of the first.
    figures: BTreeMap<String, Figures>,
}

/// The name of a trace's page: letters, digits, and hyphens, which need no escape in any file system or link, and a digest of the name,
/// which makes it unique.
pub(super) fn file_name(name: &TraceName) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let words: String = name.as_str().chars().take(MAX_NAME).map(sign).collect();
    let digest = blake3::hash(name.as_str().as_bytes()).to_hex();
    format!("{}-{}.html", words.trim_start_matches('-'), &digest[..10]).trim_start_matches('-').to_owned()
}

/// Brings the site in a folder up to date. It has the wanted traces with those that share their history.
pub(crate) fn write(
    repo: &Repo,
    folder: &Path,
    wanted: &Wanted,
    options: Options,
    progress: impl FnOnce(usize) -> Option<Progress>,
) -> Result<Report> {
    let owned = OwnedFolder { folder, name: MANIFEST, version: VERSION, what: "site" };
    let mut manifest: Manifest = owned.open()?;
    let pages = folder.join(PAGES);
    let created = || format!("cannot create `{}`", pages.display());
    let pages = resolve(folder, &pages).with_context(created)?;
    fs::create_dir_all(&pages).with_context(created)?;
    let lock = Lock::take(&pages, STEM).with_context(|| format!("cannot lock `{}`", pages.display()))?;
    let Some(_lock) = lock else { bail!("another command writes to `{}`", folder.display()) };
    let state = state(repo, options)?;
    let old = if manifest.state == state { std::mem::take(&mut manifest.families) } else { BTreeMap::new() };
    let mut gone: BTreeSet<String> = manifest.families.values().chain(old.values()).flat_map(names_of).collect();
    let listed = list(repo, wanted, Among::Traces)?;
    let names: BTreeSet<&TraceName> = listed.iter().map(|family| &family.name).collect();
    let families: Vec<Group> =
        TraceIndex::open(repo)?.groups(repo).filter(|family| names.contains(&family.name)).collect();
    let count = families.iter().map(|family| family.traces.len()).sum();
    let bar = progress(count);
    let (mut report, mut new) = (Report::default(), Manifest { state, families: BTreeMap::new() });
    for family in &families {
        gone.retain(|file| !family.traces.iter().any(|trace| file_name(&trace.name) == *file));
        let known = old.get(family.name.as_str()).filter(|known| known.tips == tips(family));
        let are_there = || family.traces.iter().all(|trace| pages.join(file_name(&trace.name)).is_file());
        let entry = match known.filter(|_| are_there()) {
            Some(known) => {
                report.unchanged += family.traces.len();
                known.clone()
            }
            None => {
                for trace in &family.traces {
                    report.redacted += write_page(repo, &pages, family, trace, options)?;
                    report.written += 1;
                    if let Some(bar) = &bar {
                        bar.set_position((report.written + report.unchanged) as u64);
                    }
                }
                Entry { tips: tips(family), figures: figures::of_family(repo, family)? }
            }
        };
        new.families.insert(family.name.to_string(), entry);
    }
    if let Some(bar) = bar {
        bar.clear();
    }
    for file in &gone {
        report.removed += usize::from(fs::remove_file(pages.join(file)).is_ok());
    }
    report.index = write_index(repo, folder, &listed, wanted.order, &new)?;
    owned.write(&new)?;
    Ok(report)
}

/// The pages of the traces that a manifest lists. A name that it made up leads to a page of ours at most.
fn names_of(entry: &Entry) -> Vec<String> {
    entry.tips.keys().filter_map(|name| Some(file_name(&name.parse().ok()?))).collect()
}

fn tips(family: &Group) -> BTreeMap<String, String> {
    family.traces.iter().map(|trace| (trace.name.to_string(), trace.tip.to_string())).collect()
}

/// What all pages depend on: the program, the options, the priorities, and the settings.
fn state(repo: &Repo, options: Options) -> Result<String> {
    let past = match options.past {
        Past::Nothing => "nothing",
        Past::Edits => "edits",
        Past::All => "all",
    };
    let mut state = vec![env!("CARGO_PKG_VERSION").to_owned(), policy(), past.to_owned(), options.last.to_string()];
    state.extend(repo.find_ref(RECORD)?.map(|oid| oid.to_string()));
    for section in ["trace", "traceName", "traceType"] {
        state.extend(
            repo.config()?.subsections(section, |_| true)?.into_iter().map(|(key, value)| format!("{key}={value}")),
        );
    }
    state.extend(repo.shared_settings()?.iter().map(|(key, value)| format!("{key}={value}")));
    Ok(blake3::hash(state.join("\n").as_bytes()).to_hex().to_string())
}

/// Writes the page of a trace. Returns the places from which possible secrets were removed.
fn write_page(repo: &Repo, pages: &Path, family: &Group, trace: &ListedTrace, options: Options) -> Result<usize> {
    let name = &trace.name;
    let counter = settings::counter(repo, Some(name))?;
    let page = page(repo, name, None, options, counter, Some(family))
        .with_context(|| format!("cannot show trace `{name}`"))?;
    let path = pages.join(file_name(name));
    let write = || {
        let old = FileVersion::at(&path)?;
        let is_done = replace(&path, STEM, old.as_ref(), Access::Usual, page.html.as_bytes())?;
        if is_done { Ok(()) } else { Err(io::Error::other("another program changed it meanwhile; try again")) }
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(page.redacted)
}

fn write_index(repo: &Repo, folder: &Path, families: &[Family], order: Order, manifest: &Manifest) -> Result<PathBuf> {
    let figures = manifest.families.values().flat_map(|entry| &entry.figures);
    let figures: BTreeMap<&str, &Figures> = figures.map(|(name, figures)| (name.as_str(), figures)).collect();
    let html = index::render((families, order), &figures, &settings::prices(repo)?, &Redactor::of_settings(repo)?);
    let path = folder.join(INDEX);
    let write = || {
        let path = resolve(folder, &path)?;
        let is_same = fs::read(&path).is_ok_and(|old| old == html.as_bytes());
        if is_same { Ok(()) } else { put(&path, Access::Usual, html.as_bytes()) }
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(path)
}
