//! `git trace export --all`: tables for analysis engines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::repo::{TestRepo, run};
use crate::samples::SAMPLES;

/// The lines of each file, sorted.
fn tables(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for table in ["traces", "items", "calls"] {
        for agent in fs::read_dir(folder.join(table)).into_iter().flatten() {
            for month in fs::read_dir(agent.unwrap().path()).unwrap() {
                let path = month.unwrap().path().join("rows.jsonl");
                let Ok(text) = fs::read_to_string(&path) else { continue };
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines.sort();
                if !lines.is_empty() {
                    found.insert(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned(), lines);
                }
            }
        }
    }
    found
}

fn rows(folder: &Path, table: &str) -> Vec<Value> {
    let tables = tables(folder);
    let lines = tables.iter().filter(|(name, _)| name.starts_with(table)).flat_map(|(_, lines)| lines);
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// After each change, the export that is brought up to date equals a new one.
#[test]
fn an_export_that_is_repeated_equals_a_new_one() {
    let repo = TestRepo::new();
    let (out, place) = (repo.folder().join("../tables"), "../tables");
    let check = |expected: &str| {
        assert_eq!(repo.text(&["export", "--all", "-o", place]).split(';').next().unwrap(), expected);
        let fresh = tempfile::tempdir().unwrap();
        repo.trace(&["export", "--all", "-o", fresh.path().join("new").to_str().unwrap()]);
        assert_eq!(tables(&out), tables(&fresh.path().join("new")));
    };
    check("0 families of traces exported, 0 unchanged");
    for (name, bytes) in &SAMPLES[..3] {
        repo.bytes_with(&["import", "claude-code", "-", "--trace", &format!("claude-code/{name}")], bytes);
    }
    check("3 families of traces exported, 0 unchanged");
    check("0 families of traces exported, 3 unchanged");
    repo.text(&["branch", "copy", "claude-code/dangling-tool-use"]);
    repo.text(&["--trace", "copy", "commit", "-m", "More."]);
    let count = rows(&out, "items").len();
    check("1 families of traces exported, 2 unchanged");
    assert_eq!(rows(&out, "items").len(), count + 1, "items that traces of a session share are one row");
    repo.text(&["--trace", "copy", "delete", "#1"]);
    repo.text(&["--trace", "a\",\"trace\"", "commit", "-m", "By hand."]);
    check("2 families of traces exported, 2 unchanged");
    repo.text(&["branch", "-D", "claude-code/compact-boundary"]);
    check("0 families of traces exported, 3 unchanged, 1 removed");
    let folder = out.join("items/agent=none/month=2026-02");
    fs::remove_file(folder.join("rows.jsonl")).unwrap();
    for name in [".git-trace-notes.md", ".git-trace-abcdef.tmp"] {
        fs::write(folder.join(name), "committed").unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let killed = folder.join(".git-trace-123456.tmp");
        fs::write(&killed, "of a killed export").unwrap();
        fs::set_permissions(&killed, PermissionsExt::from_mode(0o1600)).unwrap();
    }
    check("1 families of traces exported, 2 unchanged");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(folder.join("rows.jsonl")).unwrap().permissions())
            & 0o7777,
        0o600
    );
}

/// The tables in the other form are replaced, and other families are copied from compressed files.
#[test]
fn tables_are_compressed_on_request() {
    let repo = TestRepo::classic(&[]);
    let out = repo.folder().join("../tables");
    repo.say("one");
    repo.text(&["--trace", "other", "commit", "-m", "two"]);
    let export = |args: &[&str]| repo.run(&[&["export", "--all", "-o", "../tables"], args].concat(), b"");
    let path = std::env::join_paths([Path::new("/nowhere")]).unwrap();
    let missing =
        run(repo.command("git-trace").env("PATH", path).args(["export", "--all", "--zstd", "-o", "../t"]), b"");
    insta::assert_snapshot!(repo.exact(&missing), @"
    --- stderr
    error: cannot run `zstd`, which compresses
    hint: install zstd, or leave out --zstd
    [exit 2]
    ");
    assert!(!repo.folder().join("../t").exists());
    if Command::new("zstd").arg("--version").output().is_err() {
        return;
    }
    assert!(export(&[]).status.success());
    let plain = tables(&out);
    assert!(repo.exact(&export(&["--zstd"])).starts_with("2 families of traces exported, 0 unchanged"));
    assert_eq!(tables(&out), BTreeMap::new());
    repo.text(&["--trace", "other", "edit", "#0", "-m", "2"]);
    assert!(repo.exact(&export(&["--zstd"])).starts_with("1 families of traces exported, 1 unchanged"));
    assert!(repo.exact(&export(&[])).starts_with("2 families of traces exported, 0 unchanged"));
    let (after, items) = (tables(&out), "items/agent=none/month=2026-02/rows.jsonl");
    assert_eq!(after[items].len(), plain[items].len());
    assert_ne!(after, plain);
}

/// Deleted items have rows, a call and its result have one, and of several reports of a message only the last counts.
#[test]
fn rows_tell_what_happened() {
    let repo = TestRepo::new();
    let usage = json!({ "input_tokens": 10, "output_tokens": 3 });
    let lines = [
        json!({ "text": "Where is it?" }),
        json!({ "type": "reasoning", "text": "Look.", "turn": "m1", "meta": { "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
        json!({ "type": "tool_io", "direction": "call", "name": "Read", "call_id": "c1", "turn": "m1", "meta": { "usage": usage, "model": "big-1" }, "text": "{\"file_path\":\"src/lib.rs\"}" }),
        json!({ "type": "tool_io", "direction": "result", "call_id": "c1", "status": "error", "text": "no such file" }),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["commit", "--batch"], lines.as_bytes());
    repo.text(&["delete", "#0"]);
    let out = repo.folder().join("../tables");
    repo.trace(&["export", "--all", "-o", "../tables"]);
    let items = rows(&out, "items");
    let cells = |row: &Value| {
        ["trace", "seq", "type", "live", "model", "output_tokens", "text"]
            .map(|column| row[column].to_string())
            .join(" ")
    };
    let mut shown: Vec<String> = items.iter().map(cells).collect();
    shown.sort();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    "main" 0 "dialogue" false null null "Where is it?"
    "main" 1 "reasoning" true null null "Look."
    "main" 2 "tool_io" true "big-1" 3 "{\"file_path\":\"src/lib.rs\"}"
    "main" 3 "tool_io" true null null "no such file"
    "#);
    let calls = rows(&out, "calls");
    let cells =
        ["turn", "step", "tool", "kind", "paths", "target", "status"].map(|column| calls[0][column].to_string());
    insta::assert_snapshot!(cells.join(" "), @r#"1 1 "Read" "read" ["src/lib.rs"] "src/lib.rs" "error""#);
    assert_eq!(calls.len(), 1);
    let traces = rows(&out, "traces");
    let cells = |row: &Value| ["trace", "items", "calls", "live_items"].map(|column| row[column].to_string()).join(" ");
    insta::assert_snapshot!(traces.iter().map(cells).collect::<Vec<_>>().join("\n"), @r#""main" 4 1 3"#);
}

#[test]
fn a_folder_with_anything_else_is_refused() {
    let repo = TestRepo::new();
    repo.trace(&["commit", "-m", "one"]);
    fs::create_dir(repo.folder().join("mine")).unwrap();
    fs::write(repo.folder().join("mine/notes"), "").unwrap();
    let mut said = repo.refused(&["export", "--all", "-o", "mine"]);
    // As a killed first export left it.
    fs::create_dir(repo.folder().join("out")).unwrap();
    fs::write(repo.folder().join("out/.git-trace-Ab12cd.tmp"), "{").unwrap();
    repo.trace(&["export", "--all", "-o", "out"]);
    fs::write(repo.folder().join("out/git-trace-export.json"), "{").unwrap();
    said += &repo.refused(&["export", "--all", "-o", "out"]);
    fs::write(repo.folder().join("out/git-trace-export.json"), "{\"version\":2,\"families\":{}}").unwrap();
    said += &repo.refused(&["export", "--all", "-o", "out"]);
    said += &repo.refused(&["export", "--all"]);
    said += &repo.refused(&["export", "--all", "-o", "out", "-t", "tool_io"]);
    insta::assert_snapshot!(said, @"
    --- stderr
    error: `mine` has other files and no earlier export
    hint: name a new or empty folder
    [exit 2]--- stderr
    error: `out/git-trace-export.json` is damaged: EOF while parsing an object at line 1 column 1
    hint: export to a new folder
    [exit 2]--- stderr
    error: `out/git-trace-export.json` has version 2, and only 1 is known
    [exit 2]--- stderr
    error: `git trace export` needs `--output <FILE>`
    hint: for example `git trace export markdown -o session.md`; `git trace export -h` explains it
    [exit 2]--- stderr
    error: --all exports all items; queries select them
    [exit 2]
    ");
}

/// A clone may contain the folder of an export.
#[cfg(unix)]
#[test]
fn nothing_outside_of_the_folder_is_read_or_written() {
    let repo = TestRepo::new();
    repo.say("one");
    let (outside, folder) = (repo.folder().join("../outside"), repo.folder().join("traces"));
    let export = || {
        let output = repo.run(&["export", "--all", "-o", "traces"], b"");
        assert_eq!(output.status.code(), Some(2), "{}", repo.exact(&output));
        String::from_utf8(output.stderr).unwrap()
    };
    let fresh = || {
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("rows.jsonl"), "{\"private\":1}\n").unwrap();
        let _ = fs::remove_dir_all(&folder);
        repo.text(&["export", "--all", "-o", "traces"]);
        repo.say("more");
    };
    let link = |path: &Path, target: &Path| {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir_all(path));
        std::os::unix::fs::symlink(target, path).unwrap();
    };
    let month = fs::read_dir({
        fresh();
        folder.join("items/agent=none")
    });
    let month = month.unwrap().next().unwrap().unwrap().path();
    let manifest = folder.join("git-trace-export.json");
    for (path, target) in [
        (month.join("rows.jsonl"), outside.join("rows.jsonl")),
        (month.clone(), outside.clone()),
        (folder.join("items"), outside.clone()),
        (folder.join("traces"), repo.folder().join(".git/hooks")),
        (manifest.clone(), outside.join("rows.jsonl")),
    ] {
        fresh();
        link(&path, &target);
        let told = export();
        assert!(told.contains(" is a link to "), "{told}");
    }
    for partition in ["../../../outside", "/tmp", "agent=none/../../../../outside"] {
        fresh();
        let text = fs::read_to_string(&manifest).unwrap();
        let at = text.find("agent=none").unwrap();
        let end = at + text[at..].find('"').unwrap();
        fs::write(&manifest, format!("{}{partition}{}", &text[..at], &text[end..])).unwrap();
        let told = export();
        assert!(told.contains(&format!("is damaged: `{partition}` is no partition")), "{told}");
    }
    fresh();
    fs::remove_file(&manifest).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    assert!(export().contains("it is not a regular file"));
    let _ = fs::remove_dir_all(&folder);
    link(&folder, &repo.folder().join(".git/hooks"));
    assert!(export().contains("enters a git directory"));
    assert_eq!(fs::read_to_string(outside.join("rows.jsonl")).unwrap(), "{\"private\":1}\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}
