//! What the terminal shows: lines that fit its width, graphs, patches, and surroundings of matches.

use ratatui::text::Line;

use crate::json::{LISTS, with_memories};
use crate::recording::said;
use crate::repo::{TestRepo, has_terminal, run};

/// A session with a long name, wide and combining characters, long lines, and a branch.
fn session() -> TestRepo {
    let repo = TestRepo::new();
    repo.text(&["init", "claude-code/79e9becd-0b83-42f1-8cb1-33375d080476"]);
    repo.say(&format!("日本語で書かれたとても長い依頼です。{}", "もっと。".repeat(20)));
    repo.say(&format!("e\u{301}te\u{301}: {}", "combining marks take no column. ".repeat(6)));
    let path = format!("{{\"file_path\":\"/home/dev/{}parser.rs\"}}", "a-long-folder/".repeat(5));
    let of_call = ["-t", "tool_io", "--name", "Read", "--call-id", "c"];
    repo.commit(&[&of_call[..], &["--set", "direction=call", "-m", &path]].concat());
    let long = format!("{}needle in a haystack{} and another needle\n", "straw ".repeat(90), " straw".repeat(60));
    repo.commit(&[&of_call[..], &["--set", "direction=result", "-m", &long]].concat());
    repo.text(&["pin", "#1", "--reason", "the wide characters of this request show whether columns are aligned"]);
    repo.text(&["branch", "short"]);
    repo.text(&["edit", "#0", "-m", "A short request.", "--reason", "shorter"]);
    repo.text(&["delete", "#1", "--reason", "no longer needed"]);
    repo
}

fn at_width(repo: &TestRepo, columns: usize, args: &[&str]) -> String {
    let output = run(repo.command("git-trace").args(args).env("COLUMNS", columns.to_string()), b"");
    assert!(output.status.success(), "{}", repo.exact(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn output_fits_the_width() {
    let repo = session();
    let commands: [&[&str]; 11] = [
        &["log", "--oneline"],
        &["log", "--oneline", "--graph", "--all"],
        &["top"],
        &["top", "--by", "path"],
        &["branch"],
        &["recall", "--traces", "needle"],
        &["doctor"],
        &["sessions"],
        &["status"],
        &["diff", "--stat", "short"],
        &["priority", "--list", "normal"],
    ];
    for columns in [60, 80, 120] {
        for args in commands {
            for line in at_width(&repo, columns, args).lines() {
                assert!(Line::raw(line).width() <= columns, "{columns} columns, {args:?}: {line}");
            }
        }
    }
}

#[test]
fn a_terminal_has_its_own_width() {
    if !has_terminal() {
        return;
    }
    let repo = session();
    let shown = repo.on_a_terminal("stty cols 50 2>/dev/null; git-trace log --oneline", "");
    let plain = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap().replace_all(&shown, "").into_owned();
    assert!(plain.lines().count() > 5, "{plain}");
    for line in plain.lines() {
        assert!(Line::raw(line.trim_end()).width() <= 50, "{line}");
    }
    assert!(shown.contains('\u{1b}'), "a terminal gets colors");
    let shown = repo.on_a_terminal("stty cols 50; NO_COLOR=1 git-trace log --oneline", "");
    assert!(!shown.contains("\u{1b}["), "NO_COLOR has none: {shown:?}");
}

#[test]
fn an_editor_that_leaves_no_text_records_nothing() {
    if !has_terminal() {
        return;
    }
    let repo = TestRepo::new();
    repo.say("one");
    let before = repo.refs();
    let shown = repo.on_a_terminal("git-trace commit; echo status $?", "");
    assert!(shown.contains("the text is empty, so nothing was recorded") && shown.contains("status 2"), "{shown}");
    assert_eq!(repo.refs(), before);
}

#[test]
fn an_import_shows_its_progress_on_a_terminal_without_a_size() {
    if !has_terminal() {
        return;
    }
    let repo = TestRepo::new();
    let text = "A prompt with some words to read. ".repeat(100);
    let texts: Vec<String> = (0..2000).map(|number| format!("{number} {text}")).collect();
    let session = said("long", &texts.iter().map(String::as_str).collect::<Vec<_>>());
    std::fs::write(repo.folder().join("long.jsonl"), &session).unwrap();
    let shown = repo.on_a_terminal("stty cols 0; git-trace import claude-code long.jsonl", "");
    // In tenths of a megabyte.
    let bar = regex::Regex::new(r"(\d+)\.(\d)/(\d+)\.(\d) MB").unwrap();
    let figures = |part: usize| {
        bar.captures_iter(&shown).map(move |found| format!("{}{}", &found[part], &found[part + 1]).parse().unwrap())
    };
    let (done, of): (Vec<usize>, Vec<usize>) = (figures(1).collect(), figures(3).collect());
    assert!(!done.is_empty(), "{shown}");
    assert!(done.is_sorted(), "{done:?}");
    let length = session.len() / 100_000;
    assert!(of.iter().all(|of| *of == length) && done.iter().all(|done| *done <= length), "{shown}");
}

/// Two lines of work that are merged.
fn merged() -> TestRepo {
    let repo = TestRepo::new();
    repo.say("one");
    repo.text(&["branch", "side"]);
    repo.say("two");
    repo.commit(&["--trace", "side", "-m", "three"]);
    repo.text(&["merge", "side"]);
    repo.say("four");
    repo.commit(&["--trace", "side", "-m", "five"]);
    repo
}

#[test]
fn log_draws_lists_and_reverses_as_git_does() {
    let repo = merged();
    insta::assert_snapshot!("log_graph", repo.trace(&["log", "--graph", "--oneline", "--all"]));
    insta::assert_snapshot!("log_graph_long", repo.trace(&["log", "--graph", "-2"]));
    insta::assert_snapshot!(
        "log_graph_filtered",
        repo.trace(&["log", "--graph", "--oneline", "--grep", "^(one|two|four)"])
    );
    insta::assert_snapshot!("log_reverse", repo.trace(&["log", "--oneline", "--reverse", "-2"]));
    insta::assert_snapshot!("log_range", repo.trace(&["log", "--oneline", "side..main"]));
    insta::assert_snapshot!("log_range_of_now", repo.trace(&["log", "--oneline", "..side"]));
    assert_eq!(repo.text(&["log", "--oneline", "-3"]).lines().count(), 3);
    // The same commits as git.
    for (ours, theirs) in [
        (&["log", "--json", "side..main"][..], &["rev-list", "refs/traces/side..refs/traces/main"][..]),
        (&["log", "--json", "--all"], &["rev-list", "--glob=refs/traces/*"]),
        (&["log", "--json", "main~2"], &["rev-list", "refs/traces/main~2"]),
    ] {
        let args: Vec<&str> =
            ours.iter().map(|arg| if *arg == "main~2" { "refs/traces/main~2" } else { arg }).collect();
        let mut ours: Vec<String> =
            repo.lines(&args).iter().map(|line| line["commit"].as_str().unwrap().to_owned()).collect();
        let mut theirs: Vec<String> = repo.git(theirs).lines().map(str::to_owned).collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{args:?}");
    }
}

#[test]
fn log_shows_patches_and_numbers_revisions() {
    let repo = TestRepo::new();
    repo.say("one\ntwo\nthree\n");
    repo.text(&["edit", "#0", "-m", "one\n2\nthree\n"]);
    repo.text(&["delete", "#0", "--reason", "done"]);
    insta::assert_snapshot!("log_patch", repo.trace(&["log", "-p", "-2"]));
    insta::assert_snapshot!("log_patch_oneline", repo.trace(&["log", "-p", "--oneline", "-1"]));
    insta::assert_snapshot!("log_item", repo.trace(&["log", "--item", "#0", "--oneline"]));
    let revisions: Vec<_> =
        repo.lines(&["log", "--json"]).iter().map(|line| line["items"][0]["revision"].clone()).collect();
    assert_eq!(revisions, [2, 2, 1]);
    insta::assert_snapshot!(repo.refused(&["log", "-p", "skip"]), @"
    --- stderr
    error: no trace is named `skip`
    hint: `-p` prints patches, as in git; `--priority skip` selects by priority
    [exit 2]
    ");
}

#[test]
fn show_tells_who_changed_an_item_and_shows_the_text_of_a_commit() {
    let repo = TestRepo::new();
    repo.say("first text");
    repo.say("last");
    assert_eq!(repo.text(&["show"]), "last");
    let first = repo.git(&["rev-parse", "refs/traces/main~1"]).trim().to_owned();
    repo.text(&["edit", "#0", "-m", "second text", "--reason", "clearer"]);
    repo.text(&["delete", "#0", "--reason", "off topic"]);
    assert_eq!(repo.text(&["show", &first]), "first text");
    assert_eq!(repo.text(&["show", "#0"]), "second text");
    assert_eq!(repo.text(&["show", "TRACE_HEAD"]), "second text", "what a commit deleted");
    insta::assert_snapshot!("show_several", repo.trace(&["show", "#0", "#1"]));
    let shown = repo.json(&["show", "--json", "#0"]);
    let member = |name: &str| shown[name].as_str().unwrap_or_default().to_owned();
    assert_eq!([member("op"), member("reason")], ["delete", "off topic"]);
    assert_eq!(member("commit"), repo.git(&["rev-parse", "refs/traces/main"]).trim());
    let revisions = shown["revisions"].as_array().unwrap();
    let told: Vec<_> =
        revisions.iter().map(|one| format!("{} {} {}", one["op"], one["revision"], one["reason"])).collect();
    assert_eq!(told, [r#""delete" null "off topic""#, r#""edit" 2 "clearer""#, r#""append" 1 null"#]);
    assert_eq!(repo.json(&["show", "--json", &first])["revision"], 1);
}

#[test]
fn grep_shows_the_surroundings_of_a_match() {
    let repo = session();
    let shown = repo.text(&["grep", "needle"]);
    assert!(shown.len() < 400 && shown.contains("straw needle in a haystack straw"), "{shown}");
    assert!(shown.ends_with(" (1 more in this line)\n"), "{shown}");
    assert!(repo.text(&["grep", "--json", "needle"]).len() > 800, "JSON has the entire line");
    assert_eq!(repo.trace(&["grep", "-q", "needle"]), "[exit 0]");
    assert_eq!(repo.trace(&["grep", "-q", "nothing"]), "[exit 1]");
}

#[test]
fn metadata_and_fields_are_searched() {
    let repo = TestRepo::new();
    let batch = br#"{"text":"needle one","meta":{"model":"opus","cost":3}}
{"text":"needle two","role":"assistant"}
{"text":"{\"path\":\"src/needle.rs\"}","type":"tool_io","direction":"call","name":"Read","call_id":"c"}
{"text":"needle three","type":"tool_io","direction":"result","call_id":"c","status":"error"}
"#;
    repo.bytes_with(&["commit", "--batch"], batch);
    let found = |args: &[&str]| {
        let lines = repo.lines(&[&["grep", "--json", "needle"], args].concat());
        lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(found(&["--meta", "model=opus"]), [0]);
    assert_eq!(found(&["--meta", "cost=3"]), [0]);
    assert_eq!(found(&["--meta", "model"]), [0]);
    assert_eq!(found(&["--meta", "role=assistant"]), [1, 2]);
    assert_eq!(found(&["--meta", "status=error"]), [3]);
    assert_eq!(found(&["--tool", "Read"]), [2, 3]);
    assert_eq!(found(&["--path", "needle.rs"]), [2, 3]);
    assert_eq!(repo.text(&["log", "--oneline", "--tool", "Read"]).lines().count(), 2);
    assert_eq!(repo.text(&["log", "--oneline", "--meta", "model=opus"]).lines().count(), 1);
    assert_eq!(repo.lines(&["log", "--json", "--meta", "model=opus"])[0]["items"][0]["meta"]["cost"], 3);
    assert_eq!(repo.lines(&["show", "--json", "--meta", "model"]).len(), 1);
}

#[test]
fn a_range_of_code_without_a_session_leads_to_the_sessions() {
    let repo = TestRepo::new();
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "one"]);
    repo.git(&["commit", "--quiet", "--allow-empty", "-m", "two"]);
    repo.say("after both");
    insta::assert_snapshot!(repo.trace(&["log", "--code", "HEAD~1..HEAD"]), @"
    --- stderr
    hint: `git trace log --all --code A..B` searches all traces, and `git trace sessions` lists sessions with the commits made during them
    [exit 0]
    ");
}

#[test]
fn lists_are_paged_and_colored_as_in_git() {
    if !has_terminal() {
        return;
    }
    let repo = with_memories();
    for list in LISTS {
        let words: Vec<String> =
            list.iter().map(|word| format!("'{}'", word.replace("main~2", "refs/traces/main~2"))).collect();
        let words = words.join(" ");
        let on_a_terminal = |before: &str, after: &str| {
            repo.on_a_terminal(&format!("GIT_PAGER='sed s/^/paged:/' {before} trace {words} {after}"), "")
        };
        let never = on_a_terminal("git -c color.ui=never", "");
        assert!(never.contains("paged:") && !never.contains('\u{1b}'), "{list:?}: {never:?}");
        let no_color = on_a_terminal("NO_COLOR=1 git", "");
        assert!(no_color.contains("paged:") && !no_color.contains('\u{1b}'), "{list:?}: {no_color:?}");
        assert!(!on_a_terminal("git --no-pager", "").contains("paged:"), "{list:?}");
        let json = on_a_terminal("git -c color.ui=always", "--json");
        assert!(!json.contains("paged:") && !json.contains('\u{1b}'), "{list:?}: {json:?}");
        // Away from a terminal there is neither, wherever git is started.
        let words: Vec<&str> =
            list.iter().map(|word| if *word == "main~2" { "refs/traces/main~2" } else { word }).collect();
        let folder = repo.folder().to_string_lossy().into_owned();
        let mut elsewhere = repo.command("git");
        elsewhere.current_dir("/").env("GIT_PAGER", "sed s/^/paged:/").args(["-C", &folder, "trace"]).args(&words);
        let elsewhere = run(&mut elsewhere, b"");
        assert!(elsewhere.stdout == repo.bytes(&words), "{list:?}: {}", repo.exact(&elsewhere));
    }
}

#[test]
fn what_changes_something_is_not_paged() {
    if !has_terminal() {
        return;
    }
    let repo = merged();
    for line in ["branch new", "priority '#0' pinned", "undo", "commit -m six", "reset TRACE_HEAD~1", "switch side"] {
        let shown = repo.on_a_terminal(&format!("GIT_PAGER='sed s/^/paged:/' git trace {line}"), "");
        assert!(!shown.contains("paged:") && !shown.trim().is_empty(), "{line}: {shown}");
    }
}

#[test]
fn the_pager_and_the_editor_are_those_of_git() {
    let repo = TestRepo::new();
    if !has_terminal() {
        return;
    }
    repo.say("x");
    let ran = repo.home().join("ran");
    let program = repo.home().join("program");
    std::fs::write(&program, format!("#!/bin/sh\ntouch '{}'\ncat\n", ran.display())).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir(repo.home().join("bin")).unwrap();
    for name in ["less", "vi"] {
        std::fs::hard_link(&program, repo.home().join("bin").join(name)).unwrap();
    }
    let line = |settings: &str, command: &str| format!("env {settings} PATH=../bin:$PATH git trace {command}");
    assert!(repo.on_a_terminal(&line("PAGER=", "log"), "").contains('x') && !ran.exists());
    for settings in ["-u GIT_EDITOR TERM=dumb", "-u GIT_EDITOR TERM=dumb VISUAL=../program"] {
        let said = repo.on_a_terminal(&line(settings, "edit '#0'"), "");
        assert!(said.contains("the terminal is dumb, and no editor is set") && !ran.exists(), "{said}");
    }
    repo.on_a_terminal(&line("-u PAGER", "log"), "");
    assert!(ran.exists());
}

#[test]
fn the_pager_and_the_editor_run_in_the_root_of_the_work_tree() {
    let mut repo = TestRepo::new();
    if !has_terminal() {
        return;
    }
    repo.say("x");
    std::fs::create_dir_all(repo.folder().join("tools")).unwrap();
    std::fs::create_dir_all(repo.folder().join("sub")).unwrap();
    for (name, script) in [("pager", "sed s/^/paged:/"), ("editor", "echo new > \"$1\"")] {
        let program = repo.folder().join("tools").join(name);
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        repo.git(&["config", &format!("core.{name}"), &format!("tools/{name}")]);
    }
    let sub = repo.folder().join("sub");
    repo.within(&sub, |repo| {
        repo.on_a_terminal("env -u GIT_EDITOR git-trace edit '#0'", "");
        assert!(repo.on_a_terminal("git-trace log", "").contains("paged:"));
    });
    assert_eq!(repo.bodies("main"), ["new\n"]);
}
