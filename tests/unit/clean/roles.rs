use super::*;

#[test]
fn the_target_of_a_command_is_its_program_and_first_argument() {
    for (command, target) in [
        ("cargo test --all", "cargo test"),
        ("cd /work/app && cargo test", "cargo test"),
        ("  RUST_LOG=debug FOO= timeout 60 cargo build", "cargo build"),
        ("sudo env A=1 time make", "make"),
        ("cd somewhere", "cd somewhere"),
        ("a==b c", "c"),
        ("=x y z", "=x y"),
        ("", ""),
    ] {
        assert_eq!(program(command), target, "{command}");
    }
}

#[test]
fn a_read_covers_another_if_it_has_all_its_lines() {
    let range = |first, last| Range { first, last };
    for (one, other, covers) in [
        (Range::ALL, range(5, Some(9)), true),
        (Range::ALL, Range::ALL, true),
        (range(5, Some(9)), Range::ALL, false),
        (range(1, Some(100)), Range::ALL, false),
        (range(5, Some(9)), range(6, Some(9)), true),
        (range(5, Some(9)), range(4, Some(9)), false),
        (range(5, None), range(4, None), false),
    ] {
        assert_eq!(one.covers(other), covers, "{one:?} {other:?}");
    }
}

#[test]
fn a_patch_names_its_files() {
    let patch =
        r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.txt\n*** End Patch"}"#;
    assert_eq!(patched(patch), ["src/a.rs", "b.txt"]);
}

#[test]
fn names_are_those_of_the_recording_agent() {
    assert_eq!(role(Some("claude-code"), "Read"), Role::Read);
    assert_eq!(role(Some("codex"), "Read"), Role::Other);
    assert_eq!(role(None, "read_file"), Role::Read);
    assert_eq!(role(Some("anthropic"), "Bash"), Role::Shell);
}
