//! Tests of the private parts of `src/git/fsync.rs`. Git 2.47 syncs the same files; `tests/it/fsync.rs` compares.

use super::*;

#[test]
fn values_of_core_fsync_are_read_as_git_reads_them() {
    const LOOSE: u8 = Component::LooseObject as u8;
    const REFERENCE: u8 = Component::Reference as u8;
    const PACKS: u8 = Component::Pack as u8 | Component::PackMetadata as u8;
    for (value, expected) in [
        ("", DEFAULT),
        ("default", DEFAULT),
        ("none", 0),
        ("none,pack", DEFAULT),
        ("loose-object, reference,none", LOOSE | REFERENCE),
        ("loose-object", DEFAULT | LOOSE),
        ("index,commit-graph", DEFAULT),
        ("objects", DEFAULT | LOOSE),
        ("committed", DEFAULT | LOOSE | REFERENCE),
        ("added", DEFAULT | LOOSE | REFERENCE),
        ("all", LOOSE | REFERENCE | PACKS),
        ("-pack-metadata", DEFAULT & !(Component::PackMetadata as u8)),
        ("-pack", DEFAULT & !PACKS),
        ("all,-reference", LOOSE | REFERENCE | PACKS),
        ("ref", DEFAULT | REFERENCE),
        ("-,all", DEFAULT),
    ] {
        assert_eq!(components(value), expected, "{value}");
    }
}
