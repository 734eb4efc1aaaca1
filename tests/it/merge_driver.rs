//! The merge driver, called by git and directly.

use std::process::Stdio;

use crate::playground::{Playground, STORE, line};

/// A store of two keys, one changed on both sides, one on each; what lines alone could not merge.
struct Sides {
    base: String,
    ours: String,
    theirs: String,
    merged: String,
}

fn sides() -> Sides {
    let store = |a: (&str, u32), b: (&str, u32), c: &str| line("api.a", a.0, a.1) + &line("api.b", b.0, b.1) + c;
    Sides {
        base: store(("0", 0), ("0", 0), &line("api.c", "0", 0)),
        ours: store(("ours", 1), ("ours", 5), &line("api.c", "0", 0)),
        // `api.c` is deleted there.
        theirs: store(("theirs", 2), ("theirs", 4), ""),
        merged: store(("theirs", 2), ("ours", 5), ""),
    }
}

/// Branches `main` and `side` with the two sides; `main` is checked out.
fn forked(place: &Playground) -> Sides {
    let sides = sides();
    place.write(STORE, &sides.base);
    place.commit("base");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(STORE, &sides.theirs);
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    place.write(STORE, &sides.ours);
    place.commit("ours");
    sides
}

#[test]
fn git_merge_resolves_every_record() {
    let place = Playground::installed();
    let sides = forked(&place);
    insta::assert_snapshot!(place.try_git(&["merge", "-q", "side"]), @"
    Auto-merging .synapse/breadcrumbs.jsonl
    --- stderr
    .synapse/breadcrumbs.jsonl: `api.a`: both sides changed it; took theirs
    .synapse/breadcrumbs.jsonl: `api.b`: both sides changed it; took ours
    ");
    assert_eq!(place.read(STORE), sides.merged);
    assert_eq!(place.git(&["status", "--porcelain"]), "");
}

#[test]
fn rebase_cherry_pick_and_am_use_the_driver() {
    for how in ["rebase", "cherry-pick", "am"] {
        let place = Playground::installed();
        let sides = forked(&place);
        match how {
            "rebase" => drop(place.git(&["rebase", "-q", "side"])),
            "cherry-pick" => drop(place.git(&["cherry-pick", "side"])),
            _ => {
                let patch = place.git(&["format-patch", "--stdout", "-1", "side"]);
                place.write("../patch", patch);
                place.git(&["am", "-3", "-q", "../patch"]);
            }
        }
        assert_eq!(place.read(STORE), sides.merged, "{how}");
        assert_eq!(place.git(&["status", "--porcelain"]), "", "{how}");
    }
}

#[test]
fn a_revert_undoes_one_change_although_its_time_is_older() {
    let place = Playground::installed();
    place.write(STORE, line("api.a", "0", 0) + &line("api.b", "0", 0));
    place.commit("base");
    place.write(STORE, line("api.a", "wrong", 3) + &line("api.b", "0", 0));
    place.commit("wrong");
    place.write(STORE, line("api.a", "wrong", 3) + &line("api.b", "1", 4));
    place.commit("next to it");
    place.git(&["revert", "--no-edit", "HEAD~1"]);
    assert_eq!(place.read(STORE), line("api.a", "0", 0) + &line("api.b", "1", 4));
}

#[test]
fn stash_pop_merges_by_record() {
    let place = Playground::installed();
    let sides = sides();
    place.write(STORE, &sides.base);
    place.commit("base");
    place.write(STORE, &sides.theirs);
    place.git(&["stash", "-q"]);
    place.write(STORE, &sides.ours);
    place.commit("ours");
    place.git(&["stash", "pop", "-q"]);
    assert_eq!(place.read(STORE), sides.merged);
}

#[test]
fn linked_worktrees_and_merge_tree_use_the_driver() {
    let mut place = Playground::installed();
    let sides = forked(&place);
    let tree = place.git(&["merge-tree", "--write-tree", "main", "side"]).lines().next().unwrap().to_owned();
    assert_eq!(place.git(&["show", &format!("{tree}:{STORE}")]), sides.merged);
    place.git(&["worktree", "add", "-q", "-b", "third", "../linked", "main"]);
    place.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    place.cd("linked");
    place.git(&["merge", "-q", "side"]);
    assert_eq!(place.read(STORE), sides.merged);
    place.cd("bare.git");
    place.ok(&["install"]);
    let tree = place.git(&["merge-tree", "--write-tree", "main", "side"]).lines().next().unwrap().to_owned();
    assert_eq!(place.git(&["show", &format!("{tree}:{STORE}")]), sides.merged);
}

/// Two histories that were merged into each other both ways, so that a merge has two bases. Each side has settled the same
/// two changes; `main` then takes one of them back.
/// Git does not call drivers for a merge of several branches.
#[test]
fn an_octopus_merge_merges_lines_and_check_reports_what_it_leaves() {
    let place = Playground::installed();
    let base = line("api.a", "0", 0);
    place.write(STORE, &base);
    place.commit("base");
    for (branch, text) in [("one", line("api.b", "1", 1)), ("two", line("api.a", "0", 0) + &line("api.c", "2", 2))] {
        place.git(&["checkout", "-q", "-b", branch, "main"]);
        place.write(STORE, base.clone() + &text);
        place.commit(branch);
    }
    place.git(&["checkout", "-q", "main"]);
    // Two branches that add a line after the same line: git refuses, and nothing is lost.
    let refused = place.try_git(&["merge", "-q", "one", "two"]);
    assert!(refused.contains("[exit"), "{refused}");
    place.git(&["reset", "-q", "--hard", "main"]);
    // Where the changes are apart, lines merge, and the key that is there twice is found.
    place.write(STORE, base.clone() + &line("api.m", "0", 0) + &line("api.x", "0", 0) + &line("api.z", "0", 0));
    place.commit("more");
    for (branch, before) in [("three", false), ("four", true)] {
        place.git(&["checkout", "-q", "-b", branch, "main"]);
        let twice = line("api.k", branch, if before { 1 } else { 2 });
        let text = place.read(STORE);
        place.write(STORE, if before { twice + &text } else { text + &twice });
        place.commit(branch);
    }
    place.git(&["checkout", "-q", "main"]);
    place.git(&["merge", "-q", "three", "four"]);
    insta::assert_snapshot!(place.trace(&["check", "HEAD"]), @"
    .synapse/breadcrumbs.jsonl:2:1: unsorted: `api.a` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    .synapse/breadcrumbs.jsonl:6:1: duplicate-key: `api.k` is already on line 1; keep the correct line
    --- stderr
    files checked: 1, errors: 2, warnings: 0
    [exit 1]
    ");
}

#[test]
fn a_criss_cross_merge_has_a_base_of_records() {
    let place = Playground::installed();
    let sides = forked(&place);
    place.git(&["branch", "main-before"]);
    place.git(&["merge", "-q", "side"]);
    place.git(&["checkout", "-q", "side"]);
    place.git(&["merge", "-q", "main-before"]);
    assert_eq!(place.read(STORE), sides.merged);
    place.write(STORE, sides.merged.clone() + &line("api.z", "1", 1));
    place.commit("new on side");
    place.git(&["checkout", "-q", "main"]);
    // By hand, with the time that it had: only a base that knows the merged record tells that this is the change.
    place.write(STORE, sides.merged.replace(&line("api.a", "theirs", 2), &line("api.a", "0", 0)));
    place.commit("restore the record");
    assert_eq!(place.git(&["merge-base", "--all", "main", "side"]).lines().count(), 2);
    place.git(&["merge", "-q", "side"]);
    let expected = sides.merged.replace(&line("api.a", "theirs", 2), &line("api.a", "0", 0)) + &line("api.z", "1", 1);
    assert_eq!(place.read(STORE), expected);
}

#[test]
fn a_conflict_within_the_bases_does_not_stop_the_merge() {
    let place = Playground::installed();
    let bad = |text: &str| line("api.a", "0", 0) + text + "\n";
    place.write(STORE, line("api.a", "0", 0));
    place.commit("base");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(STORE, bad("rubbish of theirs"));
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    place.write(STORE, bad("rubbish of ours"));
    place.commit("ours");
    place.git(&["branch", "main-before"]);
    for (branch, other) in [("main", "side"), ("side", "main-before")] {
        place.git(&["checkout", "-q", branch]);
        assert!(place.try_git(&["merge", other]).contains("CONFLICT"));
        place.write(STORE, line("api.a", "0", 0) + &line("api.b", branch, 3));
        place.commit("resolved");
    }
    place.git(&["checkout", "-q", "main"]);
    assert_eq!(place.git(&["merge-base", "--all", "main", "side"]).lines().count(), 2);
    place.git(&["merge", "-q", "side"]);
    assert_eq!(place.read(STORE), line("api.a", "0", 0) + &line("api.b", "side", 3));
}

#[test]
fn unresolvable_records_become_git_conflicts() {
    let place = Playground::installed();
    place.write(STORE, line("api.a", "0", 0));
    place.commit("base");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(STORE, line("api.a", "theirs", 1) + "rubbish\n");
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    place.write(STORE, line("api.a", "ours", 2));
    place.commit("ours");
    insta::assert_snapshot!(place.try_git(&["merge", "side"]), @"
    Auto-merging .synapse/breadcrumbs.jsonl
    CONFLICT (content): Merge conflict in .synapse/breadcrumbs.jsonl
    Automatic merge failed; fix conflicts and then commit the result.
    --- stderr
    .synapse/breadcrumbs.jsonl: `api.a`: both sides changed it; took ours
    .synapse/breadcrumbs.jsonl: conflict: line 2 of theirs is invalid: invalid JSON: expected value
    [exit 1]
    ");
    assert_eq!(place.read(STORE), line("api.a", "ours", 2) + "<<<<<<< HEAD\n=======\nrubbish\n>>>>>>> side\n");
    place.git(&["merge", "--abort"]);
    place.git(&["config", "merge.conflictStyle", "diff3"]);
    place.write(".git/info/attributes", "breadcrumbs.jsonl conflict-marker-size=9\n");
    place.try_git(&["merge", "side"]);
    let conflict = place.read(STORE).lines().skip(1).map(|line| line.to_owned() + "\n").collect::<String>();
    assert!(conflict.starts_with("<<<<<<<<< HEAD\n||||||||| "), "{conflict}");
}

#[test]
fn without_the_driver_or_the_binary_git_merges_by_line() {
    let mut place = Playground::installed();
    let sides = forked(&place);
    place.git(&["clone", "-q", ".", "../clone"]);
    place.cd("clone");
    assert!(place.try_git(&["merge", "origin/side"]).contains("CONFLICT"));
    let without_driver = place.read(STORE);
    place.cd("repo");
    place.hide_binary(true);
    assert!(place.try_git(&["merge", "side"]).contains("CONFLICT"));
    let strip = |text: &str| text.lines().filter(|l| !l.starts_with("<<<<") && !l.starts_with(">>>>")).count();
    assert_eq!(strip(&place.read(STORE)), strip(&without_driver));
    assert!(place.read(STORE).contains("<<<<<<< ours"), "{}", place.read(STORE));
    place.hide_binary(false);
    // The remaining conflicts can be resolved afterwards.
    place.ok(&["breadcrumb", "resolve"]);
    assert_eq!(place.read(STORE), sides.merged);
    // Where lines do not touch, they merge without it.
    place.git(&["merge", "--abort"]);
    place.hide_binary(true);
    place.git(&["checkout", "-q", "-b", "far", "HEAD~1"]);
    place.write(STORE, sides.base.clone() + &line("zzz", "1", 0));
    place.commit("far away");
    place.git(&["merge", "-q", "main"]);
    assert_eq!(place.read(STORE), sides.ours.clone() + &line("zzz", "1", 0));
}

#[test]
fn damaged_crumb_files_and_checkpoints_merge_by_line() {
    let place = Playground::installed();
    for (path, ours, theirs, clean) in [
        ("notes.crumb", "x\nb\nc\nd\n", "a\nb\nc\ny\n", true),
        ("checkpoints/plan.md", "x\nb\n", "y\nb\n", false),
        ("chk-a.md", "a\0b\n", "a\0c\n", false),
    ] {
        place.write("base", "a\nb\nc\nd\n");
        place.write("ours", ours);
        place.write("theirs", theirs);
        let answer = place.trace(&["merge-driver", "base", "ours", "theirs", "7", path]);
        assert_eq!(answer, if clean { "" } else { "[exit 1]\n" }, "{path}");
    }
    assert_eq!(place.read("ours"), "a\0b\n");
}

#[test]
fn the_name_of_a_file_or_a_label_is_never_an_option() {
    let place = Playground::new();
    let write = || {
        for (name, text) in [("base", "a\nb\nc\nd\n"), ("ours", "x\nb\nc\nd\n"), ("theirs", "a\nb\nc\ny\n")] {
            place.write(name, text);
        }
    };
    for word in ["--output=stolen", "-ostolen", "-o", "--help", "-h", "--kind=breadcrumbs", "--", "-x.crumb"] {
        // An earlier version configured git without `--`.
        let may_be_ours = ["-o", "--output", "--kind"].iter().any(|option| word.starts_with(option));
        for (dashes, words) in [
            (true, [word, "b", "o", "t"]),
            (true, ["a.txt", word, word, word]),
            (false, [word, "b", "o", "t"]),
            (false, ["a.txt", word, word, word]),
        ] {
            write();
            let args =
                [&["merge-driver"], &["--"][..usize::from(dashes)], &["base", "ours", "theirs", "7"], &words].concat();
            let is_refused = !dashes && may_be_ours;
            let answer = place.trace(&args);
            assert_eq!(answer.contains("may be an option or a name"), is_refused, "{args:?}: {answer}");
            assert_eq!(answer.ends_with("[exit 129]\n"), is_refused, "{args:?}: {answer}");
            assert_eq!(place.read("ours"), if is_refused { "x\nb\nc\nd\n" } else { "x\nb\nc\ny\n" }, "{args:?}");
        }
    }
    assert!(!place.root().join("repo/stolen").exists());
}

#[test]
fn options_of_a_direct_call_are_never_labels() {
    let place = Playground::new();
    let sides = sides();
    for (name, text) in [("base", &sides.base), ("ours", &sides.ours), ("theirs", &sides.theirs)] {
        place.write(name, text);
    }
    let words = ["base", "ours", "theirs", "7"];
    let options = ["--kind=breadcrumbs", "--output=merged", "--style=diff3"];
    // As many words as git passes.
    let ten = [&["merge-driver"], &words[..], &["x"], &options].concat();
    assert!(place.trace(&ten).contains("`--kind=breadcrumbs` may be an option or a name"));
    assert_eq!(place.read("ours"), sides.ours);
    for args in [
        [&["merge-driver"], &options[..], &["--"], &words].concat(),
        [&["merge-driver"], &words[..], &["--kind", "breadcrumbs", "--output", "merged", "--style", "diff3"]].concat(),
    ] {
        assert!(place.run("git-trace", &args, "").status.success());
        assert_eq!(place.read("merged"), sides.merged);
        assert_eq!(place.read("ours"), sides.ours);
        place.write("merged", "");
    }
}

#[test]
fn the_subject_of_a_mail_is_never_an_option() {
    let place = Playground::installed();
    place.ok(&["crumb", "new", "a.crumb"]);
    place.ok(&["crumb", "note", "a.crumb", "base"]);
    place.commit("base");
    place.git(&["switch", "--quiet", "--create", "theirs"]);
    place.ok(&["crumb", "note", "a.crumb", "theirs"]);
    place.commit("--output=.git/stolen");
    place.git(&["format-patch", "--quiet", "-1", "--full-index", "-o", ".git/mail"]);
    place.git(&["switch", "--quiet", "-"]);
    place.ok(&["crumb", "note", "a.crumb", "ours"]);
    place.commit("ours");
    place.git(&["am", "--quiet", "-3", ".git/mail/0001-output-.git-stolen.patch"]);
    let merged = place.read("a.crumb");
    assert!(merged.contains("ours") && merged.contains("theirs"), "{merged}");
    assert!(!place.root().join("repo/.git/stolen").exists());
}

#[test]
fn a_file_with_the_name_of_an_option_is_merged_by_git() {
    let place = Playground::installed();
    let path = "./--output=.git/stolen";
    place.write(".gitattributes", "* merge=trace\n");
    place.write(path, "a\nb\nc\nd\n");
    place.commit("base");
    place.git(&["switch", "--quiet", "--create", "theirs"]);
    place.write(path, "a\nb\nc\ny\n");
    place.commit("theirs");
    place.git(&["switch", "--quiet", "-"]);
    place.write(path, "x\nb\nc\nd\n");
    place.commit("ours");
    place.git(&["merge", "--quiet", "--no-edit", "theirs"]);
    assert_eq!(place.read(path), "x\nb\nc\ny\n");
    assert!(!place.root().join("repo/.git/stolen").exists());
}

#[test]
fn the_driver_is_quiet_reads_no_stdin_and_fails_with_129() {
    let place = Playground::new();
    let sides = sides();
    for (name, text) in [("base", &sides.base), ("ours", &sides.ours), ("theirs", &sides.theirs)] {
        place.write(name, text);
    }
    let mut command = place.command("git-trace");
    command.args(["merge-driver", "base", "ours", "theirs", "7", STORE, "%S", "%X", "%Y", "-o", "merged"]);
    // A pipe that nobody closes: a process that reads it waits indefinitely.
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(place.read("merged"), sides.merged);
    assert_eq!(place.read("ours"), sides.ours);
    let alone = place.run("git-trace", &["merge-driver", "base", "ours", "theirs", "--kind", "breadcrumbs"], "");
    assert!(alone.status.success() && alone.stdout.is_empty());
    assert_eq!(place.read("ours"), sides.merged);
    for wrong in [
        &["nothing", "ours", "theirs", "7", STORE][..],
        &["base", "ours", "theirs", "x", STORE],
        &["base", "ours"],
        &["base", "ours", "theirs", "--kind", "odd"],
        &["base", "ours", "theirs", "7", STORE, "-o", "no/such/folder"],
    ] {
        let args = [&["merge-driver"], wrong].concat();
        let output = place.run("git-trace", &args, "");
        assert_eq!(output.status.code(), Some(129), "{wrong:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{wrong:?}");
        assert_eq!(place.read("ours"), sides.merged);
    }
}
