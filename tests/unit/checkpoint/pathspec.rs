//! Which paths are checkpoints.

use crate::base::merge::FileKind;
use crate::memory::checkpoint::Pathspec;
use crate::memory::checkpoint::pathspec::DEFAULT;

#[test]
fn paths_are_matched_as_git_matches_globs() {
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (
            DEFAULT,
            &["checkpoints/a.md", "checkpoints/active/chk-a.md", "checkpoints/a/b/c.md"],
            &["sub/checkpoints/a.md", "checkpoints/a.txt", "checkpoints", "a.md"],
        ),
        ("**/checkpoints/*.md", &["checkpoints/a.md", "x/y/checkpoints/a.md"], &["checkpoints/b/a.md"]),
        ("notes", &["notes/a.md", "notes/b/c.md"], &["notes.md"]),
        ("notes/chk-?.md", &["notes/chk-1.md"], &["notes/chk-10.md", "notes/chk-/.md"]),
        (":(glob)./docs/**", &["docs/a.md", "docs/a/b.md"], &["doc/a.md"]),
    ];
    for (pattern, yes, no) in cases {
        let pathspec = Pathspec::new(Some(pattern));
        for path in yes {
            assert!(pathspec.matches(path.as_bytes()), "{pattern} {path}");
        }
        for path in no {
            assert!(!pathspec.matches(path.as_bytes()), "{pattern} {path}");
        }
    }
    assert_eq!(Pathspec::new(None).folder(), "checkpoints");
    assert_eq!(Pathspec::new(Some("**/c/*.md")).folder(), "");
    assert_eq!(Pathspec::new(Some("a/b/chk-*.md")).folder(), "a/b");
    assert!(!Pathspec::new(Some("*a*a*a*a*a*a*a*a*a*a*b")).matches("a".repeat(200).as_bytes()));
}

#[test]
fn other_files_beside_checkpoints_are_ignored() {
    let pathspec = Pathspec::new(None);
    assert_eq!(pathspec.kind(b"checkpoints/active/INDEX.md"), Some(FileKind::CheckpointIndex));
    assert_eq!(pathspec.kind(b"checkpoints/archive/chk-a.md"), Some(FileKind::Checkpoint));
    assert_eq!(pathspec.kind(b"checkpoints/LEARNINGS.md"), None);
    assert_eq!(pathspec.kind(b"docs/chk-a.md"), None);
}
