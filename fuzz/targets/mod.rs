//! The fuzz targets: properties of parsers, merges and writers that hold for any bytes.
//!
//! They are part of the library when it is built for fuzzing or for its unit tests, so that they reach its internals. What they
//! share is here: how one input holds three versions of a text, and a repository to try things in.

mod breadcrumb;
mod breadcrumb_merge;
mod checkpoint;
mod checkpoint_merge;
mod conflict;
mod context;
mod crumb;
mod crumb_merge;
mod forward;
mod item;
mod lines;
mod message;
mod name;
mod provider;
mod record;
mod secrets;
mod settings;
mod tokens;
mod transcript;
mod words;

use std::cell::Cell;
use std::path::Path;
use std::process::Command;

use crate::base::finding::Finding;
use crate::base::merge::{Hunk, Merged};
use crate::git::{Env, Repo};
use crate::trace::Time;
use crate::trace::store::signature::Signature;

/// The names of all targets.
pub const TARGETS: [&str; 20] = [
    "breadcrumb",
    "breadcrumb_merge",
    "checkpoint",
    "checkpoint_merge",
    "conflict",
    "context",
    "crumb",
    "crumb_merge",
    "forward",
    "item",
    "lines",
    "message",
    "name",
    "provider",
    "record",
    "secrets",
    "settings",
    "tokens",
    "transcript",
    "words",
];

/// Runs one target on one input. Panics if a property does not hold.
///
/// # Panics
///
/// If the target's property does not hold for `bytes`, or no target has this name.
pub fn run(target: &str, bytes: &[u8]) {
    match target {
        "breadcrumb" => breadcrumb::run(bytes),
        "breadcrumb_merge" => breadcrumb_merge::run(bytes),
        "checkpoint" => checkpoint::run(bytes),
        "checkpoint_merge" => checkpoint_merge::run(bytes),
        "conflict" => conflict::run(bytes),
        "context" => context::run(bytes),
        "crumb" => crumb::run(bytes),
        "crumb_merge" => crumb_merge::run(bytes),
        "forward" => forward::run(bytes),
        "item" => item::run(bytes),
        "lines" => lines::run(bytes),
        "message" => message::run(bytes),
        "name" => name::run(bytes),
        "provider" => provider::run(bytes),
        "record" => record::run(bytes),
        "secrets" => secrets::run(bytes),
        "settings" => settings::run(bytes),
        "tokens" => tokens::run(bytes),
        "transcript" => transcript::run(bytes),
        "words" => words::run(bytes),
        _ => panic!("no fuzz target is named `{target}`"),
    }
}

/// Three versions of a text, separated by NUL.
///
/// If the input has two parts, the second is a script that makes both sides from the lines of the first. Byte mutations alone
/// would not produce such versions.
pub(crate) fn versions(data: &[u8]) -> [Vec<u8>; 3] {
    let mut parts = data.splitn(3, |b| *b == 0);
    let base = parts.next().unwrap_or_default();
    match (parts.next(), parts.next()) {
        (Some(ours), Some(theirs)) => [base, ours, theirs].map(<[u8]>::to_vec),
        (script, _) => {
            let script = script.unwrap_or_default();
            [base.to_vec(), edited(base, script, 0), edited(base, script, 1)]
        }
    }
}

/// The base after the edits of one side. Each edit has two bytes: operation and line.
fn edited(base: &[u8], script: &[u8], side: u8) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = base.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    for step in script.chunks_exact(2).filter(|step| step[0] & 1 == side) {
        if lines.is_empty() {
            break;
        }
        let at = usize::from(step[1]) % lines.len();
        let other = usize::from(step[0] >> 4) % lines.len();
        match (step[0] >> 1) & 7 {
            0 | 1 => drop(lines.remove(at)),
            2 => lines.insert(at, lines[other].clone()),
            3 => {
                let line = lines[other].clone();
                lines[at] = line;
            }
            4 => lines.swap(at, other),
            // Insert a character at the start, in the middle, or before the end.
            5 => lines[at].insert(0, b'a' + (step[0] >> 4)),
            6 => {
                let middle = lines[at].len() / 2;
                lines[at].insert(middle, b'0' + (step[0] >> 4));
            }
            _ => {
                let end = lines[at].len() - usize::from(lines[at].ends_with(b"\n"));
                lines[at].insert(end, b'0' + (step[0] >> 4));
            }
        }
    }
    lines.concat()
}

/// Swaps the sides of every conflict, as the same merge from the other side would.
pub(crate) fn exchange<N>(merged: &mut Merged<'_, N>) {
    for hunk in &mut merged.hunks {
        if let Hunk::Conflict(contested) = hunk {
            std::mem::swap(&mut contested.ours, &mut contested.theirs);
        }
    }
}

/// Whether every finding is inside the text.
pub(crate) fn lie_within(findings: &[Finding], text: &[u8]) -> bool {
    findings.iter().all(|finding| finding.span.start <= finding.span.end && finding.span.end <= text.len())
}

/// A separate repository in the folder for temporary files.
pub(crate) struct World {
    folder: tempfile::TempDir,
    /// The repository.
    pub repo: Repo,
    seconds: Cell<i64>,
    used: usize,
}

/// Number of inputs per repository, because their objects take space.
const USES: usize = 1000;

impl World {
    /// Makes an empty repository.
    ///
    /// # Panics
    ///
    /// If git fails.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let done = Command::new("git").args(["init", "--quiet"]).arg(folder.path()).status();
        assert!(done.is_ok_and(|status| status.success()));
        let repo = open(folder.path());
        Self { folder, repo, seconds: Cell::new(1_770_714_000), used: 0 }
    }

    /// The repository's working tree.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens the repository again, because it caches what it has read.
    pub(crate) fn open(&self) -> Repo {
        open(self.folder())
    }

    /// The author's signature, one second later each time.
    ///
    /// # Panics
    ///
    /// If the identity, which is fixed, is refused.
    pub(crate) fn signature(&self) -> Signature {
        self.seconds.set(self.seconds.get() + 1);
        Signature::take(&self.repo, Time::from_second(self.seconds.get())).expect("the identity is good")
    }

    /// An unused trace name. Regularly replaces the repository with an empty one.
    pub(crate) fn fresh_name(&mut self) -> String {
        self.used += 1;
        if self.used > USES {
            *self = Self::new();
        }
        format!("t{}", self.used)
    }
}

fn open(folder: &Path) -> Repo {
    let who = ["AUTHOR", "COMMITTER"].iter();
    let who = who.flat_map(|who| ["NAME", "EMAIL"].map(|part| (format!("GIT_{who}_{part}").into(), "somebody".into())));
    Repo::open(folder, Env::capture(who)).expect("it was just made")
}
