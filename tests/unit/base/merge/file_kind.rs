//! Tests of the private parts of `src/base/merge/file_kind.rs`.

use super::*;

#[test]
fn the_path_tells_the_kind() {
    for (path, kind) in [
        (".synapse/breadcrumbs.jsonl", Some(FileKind::Breadcrumbs)),
        ("sub/.synapse/breadcrumbs-secret.jsonl", Some(FileKind::Breadcrumbs)),
        ("memory/auth.crumb", Some(FileKind::Crumb)),
        ("checkpoints/active/chk-auth.md", Some(FileKind::Checkpoint)),
        ("checkpoints/active/plan.md", Some(FileKind::Checkpoint)),
        ("chk-auth.md", Some(FileKind::Checkpoint)),
        ("checkpoints/INDEX.md", Some(FileKind::CheckpointIndex)),
        ("INDEX.md", None),
        ("docs/README.md", None),
        ("memory.jsonl", None),
        ("checkpoints", None),
        ("", None),
    ] {
        assert_eq!(FileKind::of_path(path.as_bytes()), kind, "{path}");
    }
}

#[test]
fn a_kind_parses_as_it_prints() {
    for word in FileKind::VALUES {
        assert_eq!(word.parse::<FileKind>().unwrap().to_string(), *word);
    }
    assert!("crumbs".parse::<FileKind>().is_err());
}
