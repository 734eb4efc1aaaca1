//! What the README shows is what the program prints.

use std::process::Command;

#[test]
fn the_demo_prints_what_the_readme_shows() {
    let mut demo = Command::new("sh");
    demo.args(["-c", "\"$0\" demo 2>&1", env!("CARGO_BIN_EXE_git-trace")]);
    // It shows oids.
    let output = demo.env_remove("GIT_DEFAULT_HASH").output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let (shown, next) = printed.split_once("\nNow in your own repository:").unwrap();
    assert!(next.contains("git trace import claude-code"));
    let readme = include_str!("../../README.md");
    let (_, quoted) = readme.split_once("<!-- demo -->\n```console\n").unwrap();
    let (quoted, _) = quoted.split_once("```\n<!-- /demo -->").unwrap();
    assert_same_lines(quoted, shown);
}

/// Compares line by line, so that a failure names the line.
fn assert_same_lines(quoted: &str, shown: &str) {
    for (number, (quoted, shown)) in quoted.lines().zip(shown.lines()).enumerate() {
        assert_eq!(quoted, shown, "line {} of the demonstration in the README", number + 1);
    }
    assert_eq!(quoted.trim_end().lines().count(), shown.trim_end().lines().count());
}
