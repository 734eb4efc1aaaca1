//! A transcript that is imported while it grows gives the same trace as one that is imported at once.

use std::fs;
use std::path::{Path, PathBuf};

use crate::git::{Env, Repo};
use crate::trace::change::bulk;
use crate::trace::store::signature::Signature;
use crate::trace::{Time, Tip, TraceName};
use crate::transcript::format::Format;
use crate::transcript::import::{CompactionMode, Destination, ImportContext, Imported, session};
use proptest::prelude::*;

use crate::unit::repo::TestRepo;
use crate::unit::samples::SAMPLES;

/// Compactions are replayed, or their originals stay.
pub(crate) const REPLAY: CompactionMode = CompactionMode { replays: true, is_required: false };
pub(crate) const FULL: CompactionMode = CompactionMode { replays: false, is_required: false };

pub(crate) type State = (Vec<(String, String)>, String);

/// A repository beside a transcript that grows.
pub(crate) struct Growing {
    pub(crate) repo: TestRepo,
    opened: Repo,
    file: PathBuf,
    name: TraceName,
}

impl Growing {
    pub(crate) fn new() -> Self {
        let repo = TestRepo::new();
        let who = ["AUTHOR", "COMMITTER"]
            .into_iter()
            .flat_map(|who| ["NAME", "EMAIL"].map(|part| (format!("GIT_{who}_{part}").into(), "somebody".into())));
        let opened = Repo::open(repo.folder(), Env::capture(who)).unwrap();
        let file = repo.home().join("transcript.jsonl");
        Self { repo, opened, file, name: "t".parse().unwrap() }
    }

    /// Writes the file and imports it.
    pub(crate) fn import(&self, format: Format, bytes: &[u8]) -> Imported {
        self.import_seen(format, bytes, FULL)
    }

    /// The same, with or without compactions replayed.
    pub(crate) fn import_seen(&self, format: Format, bytes: &[u8], seen: CompactionMode) -> Imported {
        fs::write(&self.file, bytes).unwrap();
        let signature = Signature::take(&self.opened, Time::now()).unwrap();
        let writing = ImportContext::new(&self.opened, &signature, seen).unwrap();
        session::import(writing, format, Destination::Trace(self.name.clone()), &self.file, &|_| ()).unwrap()
    }

    /// Each trace with its tree, which says every item's id, place and content.
    pub(crate) fn trees(&self) -> Vec<(String, String)> {
        let refs = self.opened.list_refs("refs/traces/").unwrap();
        let tree = |(name, oid)| (name, Tip::read(&self.opened, oid).unwrap().commit.tree.to_string());
        refs.into_iter().map(tree).collect()
    }

    /// What the model sees of the main line.
    pub(crate) fn context(&self) -> String {
        self.repo.text(&["materialize", "--format", "text", "t"])
    }

    /// The outcome of an import: the trees, and the skipped items of the main thread.
    pub(crate) fn state(&self) -> State {
        (self.trees(), self.context())
    }

    /// How far the last import read.
    fn mark(&self, session: &str) -> Option<u64> {
        bulk::last_mark(&self.opened, &self.name, session).unwrap().map(|(_, mark)| mark.offset)
    }

    pub(crate) fn forget(&self) {
        let _ = fs::remove_dir_all(self.memory());
    }

    fn memory(&self) -> PathBuf {
        self.repo.git_dir().join("trace/transcripts")
    }
}

fn at_once(format: Format, bytes: &[u8], seen: CompactionMode) -> State {
    let growing = Growing::new();
    growing.import_seen(format, bytes, seen);
    growing.state()
}

/// The ends of lines, thinned out to some `count`, and places within lines.
fn cuts(bytes: &[u8], count: usize) -> Vec<usize> {
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1).collect();
    let mut cuts: Vec<usize> = ends.iter().copied().step_by(ends.len().div_ceil(count)).collect();
    cuts.extend((1..count / 2).map(|part| bytes.len() * part / (count / 2)));
    cuts.sort_unstable();
    cuts
}

#[test]
fn growing_samples_give_the_same_trace() {
    for (name, bytes) in SAMPLES {
        for seen in [FULL, REPLAY] {
            if seen == REPLAY && !name.contains("compact") {
                continue;
            }
            let expected = at_once(Format::ClaudeCode, bytes, seen);
            let growing = Growing::new();
            for (number, cut) in cuts(bytes, 12).into_iter().enumerate() {
                growing.import_seen(Format::ClaudeCode, &bytes[..cut], seen);
                if number % 5 == 4 {
                    // What the memory saves is time.
                    growing.forget();
                }
            }
            growing.import(Format::ClaudeCode, bytes);
            assert_eq!(growing.state(), expected, "{name}");
            growing.repo.fsck();
            growing.repo.total("t");
        }
    }
}

#[test]
fn only_new_records_are_read() {
    let bytes = SAMPLES[0].1;
    let cut = memchr::memrchr(b'\n', &bytes[..bytes.len() - 1]).unwrap() + 1;
    let growing = Growing::new();
    growing.import(Format::ClaudeCode, &bytes[..cut - 9]);
    let session = "419f42f0-2fa1-44cc-8b4d-babf59901513";
    let half_line_waits = growing.mark(session).unwrap();
    assert!(half_line_waits < cut as u64 - 9);
    let second = growing.import(Format::ClaudeCode, bytes);
    assert_eq!(second.from, half_line_waits);
    assert_eq!(second.traces[0].1.known, 0, "nothing was read twice");
    // A damaged cache, or one of another position, is ignored.
    for entry in fs::read_dir(growing.memory()).unwrap() {
        fs::write(entry.unwrap().path(), b"{\"offset\":0}").unwrap();
    }
    let third = growing.import(Format::ClaudeCode, bytes);
    assert_eq!((third.traces[0].1.recorded, third.traces[0].1.known), (0, 0));
    assert_eq!(growing.state(), at_once(Format::ClaudeCode, bytes, FULL));
}

#[test]
fn a_rewritten_file_is_matched_by_record() {
    let bytes = SAMPLES[4].1;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    let growing = Growing::new();
    growing.import(Format::ClaudeCode, bytes);
    let before = growing.trees();
    // Without one of its lines the file is another, and still brings nothing new.
    let without = [&lines[..5], &lines[6..]].concat().concat();
    let again = growing.import(Format::ClaudeCode, &without);
    assert_eq!((again.from, again.traces[0].1.recorded), (0, 0));
    assert_eq!(growing.trees(), before);
    // One that was cut short as well.
    let again = growing.import(Format::ClaudeCode, &bytes[..bytes.len() / 2]);
    assert_eq!((again.from, again.traces[0].1.recorded), (0, 0));
    assert_eq!(growing.trees(), before);
}

#[test]
fn changes_between_imports_are_kept() {
    let bytes = SAMPLES[0].1;
    let growing = Growing::new();
    let cut = memchr::memchr_iter(b'\n', bytes).nth(20).unwrap() + 1;
    growing.import(Format::ClaudeCode, &bytes[..cut]);
    growing.repo.text(&["--trace", "t", "delete", "#1"]);
    growing.repo.text(&["--trace", "t", "edit", "#0", "-m", "another text"]);
    assert!(growing.import(Format::ClaudeCode, bytes).from > 0, "the mark is found behind later work");
    let bodies = growing.repo.bodies("t");
    assert_eq!(bodies[0], "another text");
    let once = Growing::new();
    once.import(Format::ClaudeCode, bytes);
    assert_eq!(bodies.len() + 1, once.repo.bodies("t").len());
    growing.repo.fsck();
}

pub(crate) fn check_cut_file(format: Format, bytes: &[u8], cuts: &[usize], expected: &State) {
    let growing = Growing::new();
    for cut in cuts {
        growing.import(format, &bytes[..*cut]);
    }
    growing.import(format, bytes);
    assert_eq!(growing.state(), *expected, "cut at {cuts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_cut_points_give_the_same_trace(points in prop::collection::vec(any::<prop::sample::Index>(), 1..5)) {
        let bytes = SAMPLES[4].1;
        let mut cuts: Vec<usize> = points.iter().map(|point| point.index(bytes.len())).collect();
        cuts.sort_unstable();
        check_cut_file(Format::ClaudeCode, bytes, &cuts, &at_once(Format::ClaudeCode, bytes, FULL));
    }
}

#[test]
fn the_import_cache_is_only_in_the_git_folder() {
    let growing = Growing::new();
    growing.import(Format::ClaudeCode, SAMPLES[4].1);
    assert_eq!(fs::read_dir(growing.memory()).unwrap().count(), 2);
    assert!(Path::new(&growing.file).exists());
    assert_eq!(growing.repo.git(&["status", "--porcelain"]), "");
}
