//! The store and its merge with 100, 10,000, and 100,000 records, against a plain scan with `serde_json`.
//!
//! Run with `cargo bench --bench breadcrumb`.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use git_trace::Time;
use git_trace::measured::{BreadcrumbStore, merge_breadcrumbs};
use serde_json::Value;

const SIZES: [usize; 3] = [100, 10_000, 100_000];

/// A sorted store. Records that `changed` selects by number have another value and a later time.
fn text(records: usize, changed: impl Fn(usize) -> bool) -> String {
    (0..records).fold(String::new(), |mut text, n| {
        let (value, hour) = if changed(n) { ("changed", 12) } else { ("https://api.example.com/v2", 10) };
        let space = ["api", "auth", "build", "db", "error"][n * 5 / records];
        writeln!(
            text,
            "{{\"key\":\"{space}.key_{n:06}\",\"value\":\"{value}?page={n}\",\"task_id\":{n},\
             \"created_at\":\"2025-12-21T10:00:00.948003136Z\",\"updated_at\":\"2025-12-21T{hour}:00:00.948003136Z\"}}"
        )
        .expect("a string takes every write");
        text
    })
}

fn now() -> Time {
    "2026-02-10T09:00:00Z".parse().expect("is a time")
}

/// A reader without an index: reads every record and keeps one.
fn scan(path: &Path, key: &str) -> Option<Value> {
    let text = fs::read_to_string(path).ok()?;
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.find(|record| record["key"] == key)
}

fn stores(c: &mut Criterion) {
    for size in SIZES {
        let folder = tempfile::tempdir().expect("there is a place for temporary files");
        let store = BreadcrumbStore::in_folder(folder.path());
        let path = store.shared_file();
        fs::write(&path, text(size, |_| false)).expect("the folder can be written");
        let last_key = format!("error.key_{:06}", size - 1);

        let mut group = c.benchmark_group("breadcrumb");
        group.sample_size(20);
        group.bench_with_input(BenchmarkId::new("get", size), &size, |b, _| {
            b.iter(|| assert!(store.contains(&last_key, now())));
        });
        group.bench_with_input(BenchmarkId::new("get, not there", size), &size, |b, _| {
            b.iter(|| assert!(!store.contains("auth.nothing", now())));
        });
        group.bench_with_input(BenchmarkId::new("get, plain scan", size), &size, |b, _| {
            b.iter(|| black_box(scan(&path, &last_key).expect("it is there")));
        });
        group.bench_with_input(BenchmarkId::new("list of a prefix", size), &size, |b, _| {
            b.iter(|| black_box(store.list("build.key_00", 100, now())));
        });
        group.bench_with_input(BenchmarkId::new("set", size), &size, |b, _| {
            b.iter(|| store.set("auth.method", "JWT", now()));
        });
    }
}

fn merges(c: &mut Criterion) {
    let mut group = c.benchmark_group("breadcrumb merge");
    group.sample_size(20);
    for size in SIZES {
        let base = text(size, |_| false);
        for (name, every) in [("1 in 100 changed", 100), ("all changed", 1)] {
            let (ours, theirs) = (text(size, |n| n % every == 0), text(size, |n| (n + every / 2) % every == 0));
            // Otherwise the sides would be equal.
            let theirs = if every == 1 { theirs.replace("T12", "T13") } else { theirs };
            let (base, ours, theirs) = (base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
            group.bench_with_input(BenchmarkId::new(name, size), &size, |b, _| {
                b.iter(|| black_box(merge_breadcrumbs(base, ours, theirs)));
            });
        }
    }
}

criterion_group!(benches, stores, merges);
criterion_main!(benches);
