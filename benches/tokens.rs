//! Counting throughput against tiktoken-rs, on English, code, and CJK text.
//!
//! The prose was written for this benchmark in English, with similar text in Chinese, Japanese, and Korean. Its lines are drawn
//! in a fixed random order. The code is from this crate.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use git_trace::Encoding;
use tiktoken_rs::CoreBPE;

const ENGLISH: &str = include_str!("prose/english.txt");
const CJK: &str = include_str!("prose/cjk.txt");
const CODE: &str = concat!(
    include_str!("../build.rs"),
    include_str!("../src/tokens/encoding.rs"),
    include_str!("../src/tokens/merge.rs"),
    include_str!("../src/tokens/split.rs"),
    include_str!("../src/tokens/vocabulary.rs"),
);

/// Bytes of each prose text. Exceeds the first-level caches, as real text does.
const PROSE_LEN: usize = 256 * 1024;

fn prose(lines: &str) -> String {
    let lines: Vec<&str> = lines.lines().collect();
    let mut text = String::new();
    let mut state = 1_u64;
    while text.len() < PROSE_LEN {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let choice = (state >> 33) % lines.len() as u64;
        text.push_str(lines[usize::try_from(choice).expect("less than the number of lines")]);
        text.push('\n');
    }
    text
}

fn throughput(criterion: &mut Criterion) {
    let encodings: [(Encoding, &CoreBPE); 3] = [
        (Encoding::O200kBase, tiktoken_rs::o200k_base_singleton()),
        (Encoding::Cl100kBase, tiktoken_rs::cl100k_base_singleton()),
        (Encoding::R50kBase, tiktoken_rs::r50k_base_singleton()),
    ];
    for (name, text) in [("english", prose(ENGLISH)), ("code", CODE.to_owned()), ("cjk", prose(CJK))] {
        let mut group = criterion.benchmark_group(format!("tokens/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        for (encoding, bpe) in encodings {
            group.bench_with_input(BenchmarkId::new("ours", encoding), &text, |bencher, text| {
                bencher.iter(|| encoding.count(black_box(text.as_bytes())));
            });
            group.bench_with_input(BenchmarkId::new("tiktoken-rs", encoding), &text, |bencher, text| {
                bencher.iter(|| bpe.count_ordinary(black_box(text)));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().without_plots().sample_size(20);
    targets = throughput
}
criterion_main!(benches);
