//! Following breadcrumbs, and not out of the repository.

use crate::playground::{Playground, fixture, sound};

const TABLE: &str = "### Breadcrumbs\n\n| Type | Reference | Hint |\n|---|---|---|\n\
    | file | `src/a.rs` | the reader |\n| function | `Reader::read()` | reads |\n| decision | Phase 1, JWT | Why JWT |\n\
    | external | arxiv:2509.13313 | ReSum |\n| file | `src/gone.rs` | was there |\n| external | doi:10.1000/182 | a handbook |\n\
    | function | `helper` | elsewhere |\n| file | `../secret` | no |\n\n";

fn place() -> Playground {
    let place = Playground::new();
    place.write("checkpoints/active/chk-a.md", sound("status: current\n", TABLE));
    place.write("src/a.rs", "struct Reader;\n\nimpl Reader {\n    /// Reads.\n    fn read(&self) -> u8 {\n        1\n    }\n}\n\nfn read() {}\n");
    place.write("lib/b.py", "def helper(a):\n    return a\n\n\ndef other():\n    return helper(1)\n");
    place.write("../secret", "secret\n");
    place.commit("all");
    place
}

#[test]
fn breadcrumbs_resolve_to_their_targets() {
    let place = place();
    insta::assert_snapshot!(place.trace(&["checkpoint", "breadcrumbs"]));
    for (breadcrumb, answer) in [
        ("#2", "    /// Reads.\n    fn read(&self) -> u8 {\n        1\n    }\n--- stderr\nsrc/a.rs:4\n"),
        ("Phase 1", "Why JWT\n"),
        ("arxiv:2509.13313", "https://arxiv.org/abs/2509.13313\n"),
        ("#6", "https://doi.org/10.1000/182\n"),
        ("src/gone.rs", "was there\n--- stderr\nstale: the file `src/gone.rs` does not exist\n"),
        ("helper", "def helper(a):\n    return a\n--- stderr\nlib/b.py:1\n"),
    ] {
        assert_eq!(place.trace(&["checkpoint", "follow", breadcrumb]), answer, "{breadcrumb}");
    }
    assert_eq!(place.ok(&["checkpoint", "follow", "src/a.rs"]), place.read("src/a.rs"));
    for reference in ["src/a.rs:3", "src/a.rs:3:6", "src/a.rs#L3"] {
        assert_eq!(place.ok(&["checkpoint", "follow", "-t", "file", reference]), "impl Reader {\n", "{reference}");
    }
    for reference in ["src/a.rs:4-6", "src/a.rs#L4-L6"] {
        let lines = place.ok(&["checkpoint", "follow", "-t", "file", reference]);
        assert_eq!(lines, "    /// Reads.\n    fn read(&self) -> u8 {\n        1\n", "{reference}");
    }
    let answer = place.trace(&["checkpoint", "follow", "-t", "file", "src/a.rs:40-60"]);
    assert_eq!(answer, "--- stderr\nstale: `src/a.rs` has fewer lines than `src/a.rs:40-60` names\n");
    let answer = place.trace(&["checkpoint", "follow", "-t", "external", "ISBN 0-13-110362-8"]);
    assert_eq!(answer, "--- stderr\nnot found: no address is known; search the web for `ISBN 0-13-110362-8`\n");
    let answer = place.trace(&["checkpoint", "follow", "-t", "decision", "Phase 2"]);
    assert_eq!(answer, "--- stderr\nnot found: no reason is recorded; ask the user\n");
    insta::assert_snapshot!(place.trace(&["checkpoint", "follow", "src"]), @"
    --- stderr
    error: `src` matches several breadcrumbs: src/a.rs, src/gone.rs
    hint: use its number, such as `#2`
    [exit 2]
    ");
    let json = place.ok(&["checkpoint", "follow", "#2", "--json"]);
    assert!(json.contains(r#""path":"src/a.rs""#) && json.contains(r#""line":4"#), "{json}");
    let cost = place.ok(&["checkpoint", "breadcrumbs", "--cost", "--json"]);
    let cost: serde_json::Value = serde_json::from_str(&cost).unwrap();
    assert!(cost[0]["row_tokens"].as_u64().unwrap() > 3 && cost[0]["followed_tokens"].as_u64().unwrap() > 10, "{cost}");
    assert_eq!(cost[3]["followed_tokens"], serde_json::Value::Null);
}

#[test]
fn nothing_outside_the_repository_is_read() {
    let place = place();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(place.root(), place.at.join("out")).unwrap();
        std::os::unix::fs::symlink("../secret", place.at.join("link")).unwrap();
        std::os::unix::fs::symlink("a.rs", place.at.join("src/inside.rs")).unwrap();
    }
    let absolute = place.root().join("secret");
    for path in [
        "../secret",
        "src/../../secret",
        "src/../src/a.rs",
        absolute.to_str().unwrap(),
        "~/secret",
        "out/secret",
        "link",
        "src/inside.rs",
        ".git/config",
        "src/../.git/config",
        ".GIT/config",
        "..\\secret",
        "C:/secret",
    ] {
        let said = place.trace(&["checkpoint", "follow", "--type", "file", path]);
        assert!(said.starts_with("--- stderr\nerror: ") && said.ends_with("[exit 2]\n"), "{path}: {said}");
    }
    assert!(place.trace(&["checkpoint", "follow", "#8"]).ends_with("[exit 2]\n"));
    // Nor are links looked into for functions.
    place.write("../out.rs", "fn hidden() {}\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../out.rs", place.at.join("src/c.rs")).unwrap();
    place.git(&["add", "-A"]);
    insta::assert_snapshot!(place.trace(&["checkpoint", "follow", "--type", "function", "hidden()"]), @"
    --- stderr
    stale: `hidden` is in no tracked file of a known language
    ");
    place.write("lib/c.rb", "hidden(1)\n");
    place.git(&["add", "-A"]);
    insta::assert_snapshot!(place.trace(&["checkpoint", "follow", "--type", "function", "hidden()"]), @"
    --- stderr
    not found: no definition of `hidden` was found by git's patterns for Ruby
    ");
}

#[test]
fn breadcrumbs_that_lead_nowhere_are_listed_and_removed() {
    let place = place();
    insta::assert_snapshot!(place.trace(&["checkpoint", "breadcrumbs", "--stale"]), @"
    #5  file  src/gone.rs  was there
    #8  file  ../secret    no
    ");
    let answer = place.trace(&["checkpoint", "remove-breadcrumb", "src/gone.rs"]);
    assert_eq!(answer, "removed src/gone.rs from checkpoints/active/chk-a.md\n");
    assert_eq!(
        place.read("checkpoints/active/chk-a.md"),
        sound("status: current\n", &TABLE.replace("| file | `src/gone.rs` | was there |\n", ""))
    );
    assert!(place.trace(&["checkpoint", "remove-breadcrumb", "src/gone.rs"]).contains("no breadcrumb `src/gone.rs`"));
    // A row without a reference names nothing, and not the root of the repository.
    place.write("checkpoints/active/chk-a.md", sound("status: current\n", &TABLE.replace("`src/a.rs`", "")));
    assert_eq!(
        place.trace(&["checkpoint", "follow", "#1"]),
        "the reader\n--- stderr\nstale: the row has no reference\n"
    );
    assert!(place.trace(&["checkpoint", "validate"]).contains("no-reference: the breadcrumb has no reference"));
}

#[test]
fn doctor_examines_the_checkpoints_together_and_fixes_lists() {
    let place = place();
    place.ok(&["checkpoint", "new", "b", "-p", "A problem."]);
    std::fs::remove_file(place.at.join("checkpoints/active/chk-b.md")).unwrap();
    insta::assert_snapshot!(place.trace(&["checkpoint", "doctor"]), @"
    checkpoints/active/INDEX.md: row-without-file: the row `chk-b` has no file; fix it with `git trace checkpoint doctor --fix`
    checkpoints/active/chk-a.md: file-without-row: INDEX.md does not list it; fix it with `git trace checkpoint doctor --fix`
    checkpoints/active/chk-a.md: stale-breadcrumb: the breadcrumb `src/gone.rs` leads nowhere; git trace checkpoint remove-breadcrumb src/gone.rs -c chk-a
    checkpoints/active/chk-a.md: stale-breadcrumb: the breadcrumb `../secret` leads nowhere; git trace checkpoint remove-breadcrumb ../secret -c chk-a
    [exit 1]
    ");
    let answer = place.trace(&["doctor"]);
    assert!(
        answer.contains("warning  checkpoints: problems: 4; the first: checkpoints/active/INDEX.md: the row"),
        "{answer}"
    );
    place.ok(&["checkpoint", "remove-breadcrumb", "src/gone.rs"]);
    place.ok(&["checkpoint", "remove-breadcrumb", "../secret"]);
    insta::assert_snapshot!(place.trace(&["checkpoint", "doctor", "--fix"]), @"
    --- stderr
    changed checkpoints/active/INDEX.md
    the checkpoints are in order
    ");
    assert!(place.trace(&["doctor"]).contains("ok       checkpoints: lists and breadcrumbs are in order"));
}

#[test]
fn doctor_collects_learnings_that_nobody_collected() {
    let place = Playground::new();
    let file = "checkpoints/archive/chk-checkpoint-branches-plan.md";
    place.write(file, fixture("checkpoints/chk-checkpoint-branches-plan.md"));
    place.write("checkpoints/active/INDEX.md", fixture("checkpoints/INDEX-empty.md"));
    let found = place.trace(&["checkpoint", "doctor"]);
    assert!(found.contains("chk-checkpoint-branches-plan.md: learnings: LEARNINGS.md does not contain"), "{found}");
    insta::assert_snapshot!(place.trace(&["checkpoint", "doctor", "--fix"]), @"
    --- stderr
    changed checkpoints/LEARNINGS.md
    the checkpoints are in order
    ");
    let learnings = place.read("checkpoints/LEARNINGS.md");
    assert!(learnings.starts_with("# Learnings\n\n## 2025-12-2"), "{learnings}");
    assert!(learnings.contains(" — chk-checkpoint-branches-plan\n"), "{learnings}");
}

#[test]
fn doctor_finds_missing_folders_and_lists_and_writes_them() {
    let place = Playground::new();
    let missing = "checkpoints/active: missing-folder: the folder of active checkpoints does not exist; fix it with \
         `git trace checkpoint doctor --fix`\n[exit 1]\n";
    assert_eq!(place.trace(&["checkpoint", "doctor"]), missing);
    assert!(!place.trace(&["doctor"]).contains("missing-folder"), "most repositories have no checkpoints");
    place.write("checkpoints/archive/chk-a.md", sound("", "## Completion\n\n- **Status**: done\n- **Outcome**: It works.\n- **Learnings**: None noted\n- **Date**: 2026-01-01\n"));
    assert_eq!(place.trace(&["checkpoint", "doctor"]), missing);
    let fixed = "--- stderr\nchanged checkpoints/active/INDEX.md\nthe checkpoints are in order\n";
    assert_eq!(place.trace(&["checkpoint", "doctor", "--fix"]), fixed);
    let list = "# Active Checkpoints\n\n| Checkpoint | Description | Last Updated |\n|------------|-------------|--------------|\n\n\
         _No active checkpoints._\n";
    assert_eq!(place.read("checkpoints/active/INDEX.md"), list);
    std::fs::remove_file(place.at.join("checkpoints/active/INDEX.md")).unwrap();
    place.write("checkpoints/active/chk-b.md", sound("", "").replace("chk-a", "chk-b"));
    assert_eq!(
        place.trace(&["checkpoint", "doctor"]),
        "checkpoints/active/INDEX.md: missing-index: the list of active checkpoints does not exist; fix it with \
         `git trace checkpoint doctor --fix`\n[exit 1]\n"
    );
    assert_eq!(place.trace(&["checkpoint", "doctor", "--fix"]), fixed);
    assert!(place.read("checkpoints/active/INDEX.md").contains("| chk-b |"));
}
