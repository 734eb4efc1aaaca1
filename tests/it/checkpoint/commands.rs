//! The commands, from the command line.

use std::fs;

use crate::playground::{Playground, fixture, sound};

const ACTIVE: &str = "checkpoints/active/";

/// Three checkpoints: a root, its child that is current, and one whose parent is not there.
fn place() -> Playground {
    let place = Playground::new();
    let write = |name: &str, parent: &str, status: &str| {
        let text = sound(&format!("status: {status}\n"), "").replace("chk-a", name);
        place.write(&format!("{ACTIVE}{name}.md"), text.replace("parent: null", &format!("parent: {parent}")));
    };
    write("chk-a", "null", "active");
    write("chk-b", "chk-a", "current");
    write("chk-c", "chk-x", "active");
    place
}

#[test]
fn checkpoints_are_listed() {
    let place = place();
    insta::assert_snapshot!(place.trace(&["checkpoint", "list"]).replace(&"word ".repeat(11), "W"));
    insta::assert_snapshot!(place.trace(&["checkpoint", "tree"]));
    insta::assert_snapshot!(place.trace(&["checkpoint", "status", "b"]).replace(&"word ".repeat(39), "W"));
    assert_eq!(place.ok(&["checkpoint", "prime"]), place.read(&format!("{ACTIVE}chk-b.md")));
    insta::assert_snapshot!(place.trace(&["checkpoint", "status", "nothing"]), @"
    --- stderr
    error: no checkpoint is named `nothing`
    hint: list checkpoints with `git trace checkpoint list --all`
    [exit 2]
    ");
    // From a folder below, the same.
    let mut place = place;
    let before = place.ok(&["checkpoint", "list", "--json"]);
    place.cd("repo/checkpoints");
    assert_eq!(place.ok(&["checkpoint", "list", "--json"]), before);
}

#[test]
fn cycles_and_unreadable_files_hide_no_checkpoint() {
    let place = place();
    let cyclic = place.read(&format!("{ACTIVE}chk-a.md")).replace("parent: null", "parent: chk-b");
    place.write(&format!("{ACTIVE}chk-a.md"), cyclic);
    place.write(&format!("{ACTIVE}chk-bytes.md"), b"\xff\xfe");
    place.write(&format!("{ACTIVE}chk-yaml.md"), "---\na: [\n---\n");
    insta::assert_snapshot!(place.trace(&["checkpoint", "tree"]));
    let said = place.trace(&["checkpoint", "validate", "-q"]);
    assert!(said.contains("chk-bytes.md:1:1: not-utf8") && said.contains("chk-yaml.md:2"), "{said}");
    assert!(said.ends_with("[exit 1]\n"));
    place.git(&["add", "-A"]);
    let said = place.trace(&["check", "--staged"]);
    assert!(said.contains("not-utf8") && said.contains("bad-yaml") && said.contains("cycle"), "{said}");
}

/// An editor that saves while the command runs.
#[test]
fn archiving_a_checkpoint_that_another_program_changes_loses_no_change() {
    for _ in 0..5 {
        let place = place();
        let (file, copy) =
            (place.root().join(format!("{ACTIVE}chk-b.md")), place.root().join("checkpoints/archive/chk-b.md"));
        let editor = std::thread::spawn(move || {
            let (saved, mut last) = (file.with_extension("new"), String::new());
            for n in 0..2000 {
                let Ok(text) = fs::read_to_string(&file) else { break };
                fs::write(&saved, format!("{text}edit {n}\n")).unwrap();
                if file.exists() {
                    fs::rename(&saved, &file).unwrap();
                    last = format!("edit {n}\n");
                }
            }
            (file, last)
        });
        place.trace(&["checkpoint", "archive", "b", "--outcome", "o", "--learnings", "l"]);
        let (file, last) = editor.join().unwrap();
        let texts = [file, copy].map(|path| fs::read_to_string(path).unwrap_or_default());
        assert!(texts.iter().any(|text| text.contains(&last)), "{last}: {texts:?}");
    }
}

#[test]
fn a_checkpoint_passes_from_creation_to_the_archive() {
    let place = Playground::new();
    assert_eq!(place.ok(&["checkpoint", "prime"]), "");
    assert!(place.trace(&["checkpoint", "current"]).ends_with("no checkpoint is current\n[exit 1]\n"));
    let args = ["checkpoint", "new", "auth", "-p", "No login.\nNobody can.", "-i", "JWT | cookies", "--current"];
    assert_eq!(place.ok(&args), "checkpoints/active/chk-auth.md\n");
    place.ok(&["checkpoint", "new", "login", "--parent", "auth"]);
    let said = place.trace(&["checkpoint", "validate"]);
    assert!(!said.contains("error: ") && !said.contains("warning: "), "{said}");
    assert!(
        place
            .trace(&["checkpoint", "new", "auth"])
            .contains("the checkpoint `checkpoints/active/chk-auth.md` exists already")
    );
    for name in ["../x", ".x", "a/b", "", "chk-", "a\nb"] {
        assert!(place.trace(&["checkpoint", "new", name]).ends_with("[exit 2]\n"), "{name}");
    }
    let path = "checkpoints/active/chk-auth.md";
    let before = place.read(path);
    let delta = ["checkpoint", "delta", "-m", "Login works.", "--artifact", "src/a|b.rs", "created", "the route"];
    place.ok(&delta);
    place.ok(&[&delta[..], &["--transition", "Phase 1", "open", "done"]].concat());
    let after = place.read(path);
    let keeps = |line: &str| !line.starts_with("last_delta:");
    let old: Vec<_> = before.lines().filter(|line| keeps(line)).collect();
    let new: Vec<_> = after.lines().filter(|line| keeps(line)).take(old.len()).collect();
    assert_eq!(old, new);
    assert!(after.contains("| `src/a\\|b.rs` | created | the route |"), "{after}");
    let said = place.trace(&["checkpoint", "validate"]);
    assert!(!said.contains("error: ") && !said.contains("warning: "), "{said}");

    assert_eq!(place.ok(&["checkpoint", "current", "login"]), "chk-login  checkpoints/active/chk-login.md\n");
    assert!(place.read(path).contains("status: active\n"));
    place.ok(&["checkpoint", "add-breadcrumb", "file", "src/a.rs", "the | reader"]);
    place.ok(&["checkpoint", "add-breadcrumb", "file", "src/a.rs", "the writer"]);
    let listed = place.ok(&["checkpoint", "breadcrumbs", "--json"]);
    assert_eq!(listed, "[{\"hint\":\"the writer\",\"number\":1,\"reference\":\"src/a.rs\",\"type\":\"file\"}]\n");

    let said = place.trace(&["checkpoint", "archive", "auth"]);
    assert!(said.contains("lacks Status, Outcome, Learnings, Date") && said.ends_with("[exit 2]\n"), "{said}");
    let complete = ["checkpoint", "archive", "auth", "--outcome", "It works.", "--learnings", "Start small."];
    let said = place.trace(&complete);
    assert!(said.contains("`chk-auth` has active children: chk-login"), "{said}");
    place.ok(&["checkpoint", "archive", "login", "--outcome", "Done.", "--learnings", "Less is more."]);
    assert_eq!(place.ok(&complete), "checkpoints/active/chk-auth.md -> checkpoints/archive/chk-auth.md\n");
    let learnings = place.read("checkpoints/LEARNINGS.md");
    assert!(learnings.contains("Less is more.\n") && learnings.contains("Start small.\n"), "{learnings}");
    let list = place.read("checkpoints/active/INDEX.md");
    assert!(!list.contains("chk-") && list.ends_with("_No active checkpoints._\n"), "{list}");
    let said = place.trace(&["checkpoint", "validate"]);
    assert!(!said.contains("error: ") && !said.contains("warning: "), "{said}");
    // Nothing in the archive is ever overwritten.
    place.write("checkpoints/active/chk-auth.md", place.read("checkpoints/archive/chk-auth.md") + "more\n");
    let said = place.trace(&["checkpoint", "archive", path]);
    assert!(said.contains("the checkpoint `checkpoints/archive/chk-auth.md` exists already"), "{said}");
    place.commit("all");
    assert!(place.trace(&["check"]).contains("duplicate-id"));
}

#[test]
fn doubled_states_and_ids_are_said_with_the_command_that_clears_them() {
    let place = place();
    let current = place.read(&format!("{ACTIVE}chk-b.md")).replace("chk-b", "chk-c");
    place.write(&format!("{ACTIVE}chk-d.md"), current);
    for command in ["list", "tree", "status"] {
        let said = place.trace(&["checkpoint", command]);
        assert!(
            said.ends_with(
                "--- stderr\n\
             warning: 2 checkpoints are current (chk-b, chk-c); choose one with `git trace checkpoint current <id>`\n\
             warning: the id `chk-c` is used by checkpoints/active/chk-c.md, checkpoints/active/chk-d.md; change \
             `checkpoint:` in one of them\n"
            ),
            "{said}"
        );
    }
    assert!(place.ok(&["checkpoint", "status"]).starts_with("chk-b  current"), "the current one is first");
    place.ok(&["checkpoint", "current", "--clear"]);
    assert!(place.trace(&["checkpoint", "current"]).ends_with("no checkpoint is current\n[exit 1]\n"));
    assert!(place.ok(&["checkpoint", "tree", "-s"]).contains("next: open"));
    // One that a person moved to the archive is still current there, until it is archived.
    place.write("checkpoints/archive/chk-z.md", sound("status: current\n", "").replace("chk-a", "chk-z"));
    insta::assert_snapshot!(place.trace(&["checkpoint", "archive", "z"]), @"checkpoints/archive/chk-z.md is archived, and no longer current");
    assert!(place.read("checkpoints/archive/chk-z.md").contains("status: active\n"));
    assert!(place.trace(&["checkpoint", "archive", "z"]).contains("is archived already"));
    assert!(place.ok(&["checkpoint", "status", "--all"]).contains("chk-z  archived"));
}

#[test]
fn an_archive_takes_learnings_as_written_and_parents_by_force() {
    let place = place();
    let complete = ["checkpoint", "archive", "a", "--outcome", "Done.", "--learnings", "None noted."];
    assert!(place.trace(&complete).contains("has active children: chk-b"));
    place.ok(&[&complete[..], &["--force"]].concat());
    assert!(!place.at.join("checkpoints/LEARNINGS.md").exists());
    place.ok(&[
        "checkpoint",
        "archive",
        "b",
        "--outcome",
        "-",
        "--learnings",
        "- Start small.\n- Measure,\n  ## twice.",
    ]);
    assert!(place.read("checkpoints/LEARNINGS.md").ends_with(" — chk-b\n- Start small.\n- Measure, ## twice.\n"));
    let archived = place.read("checkpoints/archive/chk-b.md");
    assert!(
        archived.contains("- **Learnings**:\n  - Start small.\n  - Measure, ## twice.\n- **Date**: "),
        "{archived}"
    );
    assert!(!place.trace(&["checkpoint", "doctor"]).contains("learnings"));
    place.write("checkpoints/active/chk-003-breadcrumbs.md", fixture("checkpoints/chk-003-breadcrumbs.md"));
    assert!(place.ok(&["checkpoint", "current", "003"]).starts_with("chk-003  "));
}

#[test]
fn an_index_with_conflict_markers_is_not_changed() {
    let place = place();
    let path = format!("{ACTIVE}INDEX.md");
    place.trace(&["checkpoint", "new", "other", "-p", "More."]);
    let row = place.read(&path).lines().find(|line| line.contains("chk-other")).unwrap().to_owned();
    let conflict = format!("<<<<<<< HEAD\n{row}\n=======\n{}\n>>>>>>> side", row.replace("More.", "Less."));
    let text = place.read(&path).replace(&row, &conflict);
    place.write(&path, &text);
    for args in [&["doctor", "--fix"][..], &["new", "third", "-p", "Third."], &["delta", "other", "-m", "more"]] {
        place.trace(&[&["checkpoint"], args].concat());
        assert_eq!(place.read(&path), text, "{args:?}");
    }
    let examined = place.trace(&["checkpoint", "doctor"]);
    assert!(
        examined.contains(&format!("{path}: conflict-marker: ")) && !examined.contains("row-without-file"),
        "{examined}"
    );
    assert!(place.trace(&["checkpoint", "list"]).contains(&format!("warning: `{path}` has conflict markers")));
}

#[test]
fn a_checkpoint_with_conflict_markers_is_not_changed() {
    let place = place();
    let path = format!("{ACTIVE}chk-b.md");
    let text = place.read(&path).replace("## Problem\n", "## Problem\n\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> side\n");
    place.write(&path, &text);
    for args in [
        &["current", "b"][..],
        &["delta", "b", "-m", "more"],
        &["archive", "b", "--outcome", "o", "--learnings", "l"],
        &["add-breadcrumb", "file", "a", "b"],
    ] {
        let answer = place.trace(&[&["checkpoint"], args].concat());
        assert!(answer.contains("`checkpoints/active/chk-b.md` has conflict markers"), "{args:?}: {answer}");
    }
    let examined = place.trace(&["checkpoint", "doctor"]);
    assert!(examined.contains("conflict-marker: it has conflict markers"), "{examined}");
    assert_eq!(place.read(&path), text);
    assert!(
        place.trace(&["checkpoint", "prime"]).contains("warning: `checkpoints/active/chk-b.md` has conflict markers")
    );
}

#[test]
fn a_delta_cannot_add_sections() {
    let place = Playground::new();
    assert_eq!(place.ok(&["checkpoint", "new", "chk-auth.md"]), "checkpoints/active/chk-auth.md\n");
    place.ok(&["checkpoint", "delta", "auth", "-m", "It works.\n## Problem\n\n```\n# code\n```\n ### Artifacts"]);
    let text = place.read("checkpoints/active/chk-auth.md");
    assert!(text.contains("It works.\n\\## Problem\n\n```\n# code\n```\n \\### Artifacts\n"), "{text}");
}

#[test]
fn hostile_text_is_escaped() {
    let place = Playground::new();
    let text = sound("status: current\n", "").replace("checkpoint: chk-a", "checkpoint: \"chk-\\e[2J\\u202ex\"");
    place.write(&format!("{ACTIVE}chk-a.md"), text.replace("word word", "\u{1b}[31mred"));
    for args in [&["list"][..], &["tree"], &["status"], &["current"], &["validate"]] {
        let said = place.trace(&[&["checkpoint"], args].concat());
        assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{args:?}: {said}");
    }
    assert!(place.ok(&["checkpoint", "list", "--json"]).contains(r"chk-\u001b[2J"));
}

#[test]
fn a_setting_names_the_checkpoint_folder() {
    let place = Playground::new();
    place.git(&["config", "trace.checkpoints", "notes/**/*.md"]);
    place.write("notes/chk-a.md", sound("", ""));
    place.write("checkpoints/chk-b.md", "no checkpoint\n");
    assert!(place.ok(&["checkpoint", "list"]).starts_with("chk-a  active"));
    assert_eq!(place.ok(&["checkpoint", "new", "c"]), "notes/chk-c.md\n");
    place.commit("all");
    insta::assert_snapshot!(place.trace(&["check"]), @"
    notes/INDEX.md:16:1: file-without-row: the file `chk-a.md` has no row; add a row and a section, or archive the file
    --- stderr
    files checked: 4, errors: 0, warnings: 1
    ");
}

#[test]
fn an_item_of_the_trace_becomes_a_breadcrumb() {
    let place = place();
    place.ok(&["commit", "-t", "artifact", "--set", "kind=file", "--set", "path=src/a.rs", "-m", "fn a() {}"]);
    place.ok(&["commit", "-m", "Why JWT?"]);
    place.ok(&["checkpoint", "add-breadcrumb", "--item", "#0"]);
    place.ok(&["checkpoint", "add-breadcrumb", "--item", "#1", "-c", "b"]);
    let listed = place.ok(&["checkpoint", "breadcrumbs"]);
    assert!(listed.starts_with("#1  file      src/a.rs"), "{listed}");
    assert!(listed.contains("\n#2  decision  item ") && listed.contains("Why JWT?"), "{listed}");
}

/// State after a command is killed between two files. The same command continues from there.
#[test]
fn repeating_an_interrupted_command_completes_it() {
    let read = |place: &Playground| {
        let files = ["active/INDEX.md", "active/chk-a.md", "active/chk-b.md", "archive/chk-a.md", "LEARNINGS.md"];
        files.map(|file| std::fs::read_to_string(place.at.join("checkpoints").join(file)).unwrap_or_default())
    };
    let new = ["checkpoint", "new", "b", "-p", "p", "-i", "i", "--current"];
    let archive = ["checkpoint", "archive", "a", "-o", "done", "-l", "much"];
    let place = Playground::new();
    let time = regex::Regex::new(r"\d{4}-\d\d-\d\dT[\d:]+Z").unwrap();
    let timeless = |files: [String; 5]| files.map(|file| time.replace_all(&file, "[TIME]").into_owned());
    place.ok(&["checkpoint", "new", "a", "-p", "p", "-i", "i", "--current"]);
    let before = read(&place);
    place.ok(&new);
    let after = timeless(read(&place));
    // The list was written, and the one before put aside; the checkpoint was not made.
    std::fs::remove_file(place.at.join("checkpoints/active/chk-b.md")).unwrap();
    assert!(place.trace(&["checkpoint", "validate"]).contains("row-without-file"));
    place.ok(&new);
    assert_eq!(timeless(read(&place)), after);
    assert!(place.trace(&new).contains("the checkpoint `checkpoints/active/chk-b.md` exists already"));

    let [list, original, ..] = read(&place);
    place.ok(&archive);
    let after = timeless(read(&place));
    // Everything except the last step.
    place.write("checkpoints/active/chk-a.md", &original);
    place.ok(&archive);
    assert_eq!(timeless(read(&place)), after);
    // The copy alone, which an earlier version wrote first.
    place.write("checkpoints/active/chk-a.md", &original);
    place.write("checkpoints/active/INDEX.md", &list);
    std::fs::remove_file(place.at.join("checkpoints/LEARNINGS.md")).unwrap();
    place.ok(&archive);
    assert_eq!(timeless(read(&place)), after);
    assert_eq!(original, before[1].replace("status: current", "status: active"));
}

#[test]
fn only_files_of_killed_writers_are_removed() {
    let place = place();
    let dead = ["checkpoints/.checkpoint-a1B2c3.tmp", "checkpoints/archive/.checkpoint-000000.tmp"];
    let others =
        ["checkpoints/.checkpoint-mine.tmp", "checkpoints/active/.checkpoint-a1B2c3.md", ".checkpoint-a1B2c3.tmp"];
    for path in dead.iter().chain(&others) {
        place.write(path, "half a li");
    }
    for path in dead {
        // As a writer marks a file until it is finished.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o1644);
        std::fs::set_permissions(place.at.join(path), mode).unwrap();
    }
    let committed = "checkpoints/.checkpoint-c0mm1t.tmp";
    place.write(committed, "whatever");
    place.ok(&["checkpoint", "current", "a"]);
    let is_there = |path: &str| place.at.join(path).exists();
    assert!(!dead.into_iter().any(is_there));
    assert!(others.into_iter().chain([committed]).all(is_there));
}
