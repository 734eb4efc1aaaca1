//! Every fuzz target runs on the fixtures and on short odd inputs, so that a target that no longer holds is noticed early.

use std::fs;
use std::path::Path;

use crate::fuzz::{TARGETS, run};

/// Longer inputs are for the fuzzer: a target may take quadratic time.
const MAX_BYTES: usize = 4096;

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> =
        [&b""[..], b"\0", b"{}\n", b"a\0b\0c", b"\xff\xfe", b"#0..#2", b"---\na: b\n---\n"].map(Vec::from).into();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")];
    while let Some(folder) = folders.pop() {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            if file.is_dir() {
                folders.push(file);
            } else {
                let mut bytes = fs::read(file).unwrap();
                bytes.truncate(MAX_BYTES);
                seeds.push(bytes);
            }
        }
    }
    seeds
}

#[test]
fn every_fuzz_target_holds_on_the_fixtures() {
    let seeds = seeds();
    assert!(seeds.len() > 20, "the fixtures were found");
    for target in TARGETS {
        for seed in &seeds {
            run(target, seed);
        }
    }
}

#[test]
fn each_fuzz_target_has_a_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for target in TARGETS {
        let program = fs::read_to_string(folder.join("fuzz_targets").join(target).with_extension("rs")).unwrap();
        let expected =
            format!("libfuzzer_sys::fuzz_target!(|bytes: &[u8]| git_trace::fuzz::run(\"{target}\", bytes));\n");
        assert_eq!(program, format!("#![no_main]\n\n{expected}"));
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
    }
    assert_eq!(fs::read_dir(folder.join("fuzz_targets")).unwrap().count(), TARGETS.len());
}
