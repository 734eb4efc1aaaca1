//! The hot paths of a trace at three lengths, to show how they grow: appending must be constant; listing and materializing are
//! linear.
//!
//! `benches/compare` compares complete processes with plain git.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use git_trace::measured::{import_jsonl, list_items};
use git_trace::{
    Counter, Draft, Env, Fields, ItemType, Options, Repo, Tip, Trace, TraceName, View, materialize, messages,
};
use tempfile::TempDir;

const LENGTHS: [usize; 3] = [10, 1_000, 100_000];

/// A folder in memory if the system has one; otherwise, the disk writes of a moving ref would be measured.
fn memory_folder() -> std::io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

/// A repository whose trace `main` has `length` items of 200 characters from a bulk import.
fn repository(folder: &Path, length: usize) -> Repo {
    let status = Command::new("git").args(["init", "--quiet", "--bare"]).arg(folder).status();
    assert!(status.expect("git is needed").success());
    let env = [
        ("GIT_AUTHOR_NAME", "Bench"),
        ("GIT_AUTHOR_EMAIL", "bench@example.com"),
        ("GIT_COMMITTER_NAME", "Bench"),
        ("GIT_COMMITTER_EMAIL", "bench@example.com"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "maintenance.auto"),
        ("GIT_CONFIG_VALUE_0", "false"),
    ];
    let env = Env::capture(env.map(|(name, value)| (name.into(), value.into())));
    let repo = Repo::open(folder, env).expect("it was made above");
    let mut lines = String::new();
    for index in 0..length {
        lines.extend(["{\"text\":\"", &format!("{:-<200}", format!("item {index} ")), "\"}\n"]);
    }
    let imported = import_jsonl(&Trace::open(&repo, TraceName::default_name()), lines.as_bytes());
    assert_eq!(imported, Some(length));
    repo
}

fn by_length(criterion: &mut Criterion) {
    let name = TraceName::default_name();
    let counter = Counter::default();
    let draft = Draft { fields: Fields::new(ItemType::dialogue()), body: "x".repeat(200).into_bytes() };

    let mut group = criterion.benchmark_group("trace");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for length in LENGTHS {
        let folder = memory_folder().expect("the temporary folder can be written");
        let repo = repository(folder.path(), length);
        let tip = Tip::of_trace(&repo, &name).expect("it was imported");

        group.bench_function(BenchmarkId::new("list", length), |bencher| {
            bencher.iter(|| list_items(&repo, black_box(&tip)).expect("the tree is complete"));
        });
        group.bench_function(BenchmarkId::new("materialize", length), |bencher| {
            bencher.iter(|| {
                let view = View::open(&repo, &name, None).expect("the trace is there");
                let done = materialize(&repo, &view, &Options::default(), counter).expect("the items are whole");
                let mut bytes = Vec::new();
                messages::write(&done.messages, &mut bytes).expect("writing to memory cannot fail");
                bytes
            });
        });
        // Last, because it makes the trace longer.
        group.bench_function(BenchmarkId::new("append", length), |bencher| {
            let trace = Trace::open(&repo, name.clone());
            bencher.iter(|| trace.append(draft.clone()).expect("nobody else writes"));
        });
    }
    group.finish();
}

criterion_group!(benches, by_length);
criterion_main!(benches);
