//! `git trace view --all`: a folder with an index and a page for each trace. `tests/view/run` opens it in a browser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::json;

use crate::repo::TestRepo;
use crate::samples::SAMPLES;

/// The files of a site by their paths, with their texts.
fn files(site: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![site.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(site).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// Writes the site of a repository next to it. Returns what stderr says, and the files.
fn site(repo: &TestRepo) -> (String, BTreeMap<String, String>) {
    let output = repo.run(&["view", "--all", "-o", "../site"], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "../site/index.html\n");
    (String::from_utf8(output.stderr).unwrap(), files(&repo.folder().join("../site")))
}

fn links(page: &str) -> BTreeSet<String> {
    let link = Regex::new(r#"href="([^"]*)""#).unwrap();
    link.captures_iter(page).map(|link| link[1].to_owned()).collect()
}

/// Without tags.
fn words(page: &str) -> String {
    let body = page.split_once("<body class=\"site\">").unwrap().1;
    let text = Regex::new(r"<title>.*?</title>|<[^>]*>").unwrap().replace_all(body, " ").into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn import(repo: &TestRepo, count: usize) {
    for (name, bytes) in &SAMPLES[..count] {
        repo.bytes_with(&["import", "claude-code", "-", "--trace", &format!("claude-code/{name}")], bytes);
    }
}

#[test]
fn an_index_leads_to_a_page_for_each_trace() {
    let repo = TestRepo::new();
    import(&repo, 2);
    repo.text(&["--trace", "main", "commit", "-m", "By hand."]);
    repo.text(&["branch", "copy", "main"]);
    let (told, files) = site(&repo);
    assert_eq!(told, "pages: 4 written, 0 unchanged\n");
    let index = &files["index.html"];
    let pages: BTreeSet<String> = files.keys().filter(|name| name.starts_with("sessions/")).cloned().collect();
    assert_eq!(pages.len(), 4);
    assert!(pages.iter().all(|page| links(index).contains(page)), "{:?}", links(index));
    assert!(pages.iter().all(|page| links(&files[page]).contains("../index.html")));
    assert!(!index.contains("<script") && index.contains("default-src 'none'; style-src 'sha256-"));
    // Apart from the way back, a page is that of `view`.
    let (name, page) = files.iter().find(|(name, _)| name.starts_with("sessions/main-")).unwrap();
    let back = "<p class=\"kind\"><a href=\"../index.html\">All sessions</a></p>";
    let tables = Regex::new(r"(?s)<details class=.section. id=.branches.>.*?</details>").unwrap();
    let alone = repo.text(&["view", "main", "-o", "-"]);
    assert_eq!(tables.replace(&page.replace(back, ""), ""), tables.replace(&alone, ""), "{name}");
}

#[test]
fn the_index_has_sessions_by_date_with_their_figures() {
    let repo = TestRepo::new();
    let usage = json!({ "input_tokens": 1000, "cache_read_input_tokens": 2000, "output_tokens": 500 });
    let lines = [
        json!({ "type": "user", "uuid": "1", "sessionId": "s", "timestamp": "2026-03-01T10:00:00Z",
            "message": { "role": "user", "content": "Where is the limit?" } }),
        json!({ "type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s", "timestamp": "2026-03-02T10:00:05Z",
            "message": { "role": "assistant", "id": "m1", "model": "big-1", "usage": usage,
                "content": [{ "type": "tool_use", "id": "t1", "name": "Read", "input": { "file_path": "a.rs" } }] } }),
        json!({ "type": "user", "uuid": "3", "parentUuid": "2", "sessionId": "s", "timestamp": "2026-03-02T10:00:06Z",
            "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "limit = 3" }] } }),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "claude-code/s"], lines.as_bytes());
    repo.text(&["--trace", "claude-code/s", "delete", "#2", "-m", "no longer needed"]);
    let (_, files) = site(&repo);
    insta::assert_snapshot!(words(&files["index.html"]), @"Sessions 1 trace, 1 prompt, 16 tokens 2026-03-02 Where is the limit? claude-code · claude-code/s · 2026-03-01 10:00:00 to 2026-03-02 10:00:05 UTC 1 prompt · 3 items, 2 in the context · 22 tokens (counted) Tokens over time 0 2 4 6 8 10 2026-03-01 2026-03-02 dialogue tool_io By tool Tool Calls Tokens Read 1 11 Reported, by model Model Input From cache To cache Output big-1 1,000 2,000 0 500 git config --add trace.price 'MODEL=INPUT,OUTPUT' adds costs.");
    repo.git(&["config", "trace.price", "big-*=5,25"]);
    let (told, files) = site(&repo);
    assert_eq!(told, "pages: 1 written, 0 unchanged\n");
    let index = words(&files["index.html"]);
    // 1,000 × 5 + 500 × 25 + 2,000 × 0.5 per million.
    assert!(index.contains("cost 0.02") && index.contains("big-1 1,000 2,000 0 500 0.02"), "{index}");
    repo.git(&["config", "trace.price", "big-*=5"]);
    insta::assert_snapshot!(repo.refused(&["view", "--all", "-o", "../site"]), @"
    --- stderr
    error: git config `trace.price` is `big-*=5`, which is not a pattern of models with the prices of a million tokens of input and output, such as `big-*=5,25`
    [exit 2]
    ");
}

#[test]
fn the_index_counts_what_summaries_replaced() {
    let repo = TestRepo::new();
    let line = |number: usize, is_summary: bool, text: &str| {
        json!({ "type": "user", "uuid": number.to_string(), "parentUuid": (number > 1).then(|| (number - 1).to_string()), "sessionId": "s",
            "timestamp": format!("2026-03-01T1{number}:00:00Z"), "isCompactSummary": is_summary, "message": { "role": "user", "content": text } })
    };
    let lines = [line(1, false, "one"), line(2, false, "two"), line(3, true, "both"), line(4, false, "three")];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "claude-code/s"], lines.as_bytes());
    let index = words(&site(&repo).1["index.html"]);
    let row = "2026-03-01 11:00:00 to 2026-03-01 14:00:00 UTC 3 prompts · 4 items, 2 in the context · ";
    assert!(index.contains(row), "{index}");
}

#[test]
fn sessions_without_an_id_are_separate() {
    let repo = TestRepo::new();
    let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"hello"}]}}"#;
    for name in ["one", "two"] {
        repo.bytes_with(&["import", "cursor", "-", "--trace", name], format!("{line}\n").as_bytes());
    }
    let index = &site(&repo).1["index.html"];
    assert_eq!((index.matches("class=\"session\"").count(), index.matches("session below").count()), (2, 0));
}

#[test]
fn filters_choose_the_sessions_of_a_site() {
    let repo = TestRepo::new();
    import(&repo, 2);
    repo.text(&["--trace", "main", "commit", "-m", "By hand."]);
    let (_, all) = site(&repo);
    let pages = |files: &BTreeMap<String, String>| -> Vec<String> {
        files.keys().filter_map(|name| Some(name.strip_prefix("sessions/")?.to_owned())).collect()
    };
    assert_eq!(pages(&all).len(), 3);
    let filtered = |args: &[&str]| {
        repo.text(&[&["view", "--all", "-o", "../site"], args].concat());
        let files = files(&repo.folder().join("../site"));
        let listed = links(&files["index.html"]).into_iter().filter(|link| link.starts_with("sessions/")).count();
        assert_eq!(listed, pages(&files).len(), "the index links to each page");
        pages(&files)
    };
    assert_eq!(filtered(&["--agent", "claude-code"]).len(), 2);
    assert_eq!(filtered(&["-n", "1", "--sort", "oldest"]).len(), 1);
    assert!(filtered(&["--since", "2030-01-01"]).is_empty());
    assert_eq!(filtered(&["--grep", "lint"]).len(), 1);
    assert_eq!(filtered(&["--author", "nobody"]).len(), 0);
    assert_eq!(filtered(&[]), pages(&all));
    insta::assert_snapshot!(repo.refused(&["view", "-n", "3", "-o", "-"]), @"
    --- stderr
    error: filters of sessions are for --all
    [exit 2]
    ");
}

#[test]
fn a_repeated_site_equals_a_new_one_and_writes_what_changed() {
    let repo = TestRepo::new();
    import(&repo, 2);
    let check = |expected: &str| {
        let (told, old) = site(&repo);
        assert_eq!(told, format!("pages: {expected}\n"));
        let fresh = tempfile::tempdir().unwrap();
        repo.text(&["view", "--all", "-o", fresh.path().join("new").to_str().unwrap()]);
        let new = files(&fresh.path().join("new"));
        assert!(
            old == new,
            "{:?}",
            old.keys().chain(new.keys()).filter(|name| old.get(*name) != new.get(*name)).collect::<Vec<_>>()
        );
    };
    check("2 written, 0 unchanged");
    check("0 written, 2 unchanged");
    let [one, two] = [0, 1].map(|sample| format!("claude-code/{}", SAMPLES[sample].0));
    repo.text(&["branch", "copy", &one]);
    repo.text(&["--trace", "copy", "commit", "-m", "More."]);
    check("2 written, 1 unchanged");
    repo.text(&["branch", "-D", "copy"]);
    check("1 written, 1 unchanged, 1 removed");
    repo.text(&["--trace", &two, "pin", "#0"]);
    check("2 written, 0 unchanged");
    repo.git(&["config", "trace.budget", "1000"]);
    check("2 written, 0 unchanged");
    let folder = repo.folder().join("../site/sessions");
    let page = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(page).unwrap();
    check("1 written, 1 unchanged");
}

#[test]
fn names_of_traces_do_not_leave_the_folder_or_break_a_link() {
    let repo = TestRepo::new();
    repo.say("hello");
    let long = format!("{0}/{0}/{0}", "long".repeat(15));
    let names = [
        "a<b>",
        "x\"onclick=alert(1)",
        "y'&z",
        "A",
        "a",
        "con",
        "%2e%2e/%2F",
        "\u{e9}\u{202e}",
        "-",
        "index.html",
        &long,
    ];
    let names = names.map(|name| name.replace(['\u{202e}', '-'], "_"));
    for name in &names {
        repo.git(&["update-ref", &format!("refs/traces/{name}"), "refs/traces/main"]);
    }
    let (_, files) = site(&repo);
    let pages: Vec<&String> = files.keys().filter(|name| name.starts_with("sessions/")).collect();
    assert_eq!(pages.len(), names.len() + 1, "{pages:?}");
    let plain = Regex::new(r"^sessions/[a-z0-9-]{0,61}[0-9a-f]{10}\.html$").unwrap();
    assert!(pages.iter().all(|page| plain.is_match(page)), "{pages:?}");
    let folded: BTreeSet<String> = pages.iter().map(|page| page.to_lowercase()).collect();
    assert_eq!(folded.len(), pages.len());
    assert_eq!(files.len(), pages.len() + 2);
    let listed: Vec<String> = links(&files["index.html"]).into_iter().filter(|link| link != "data:,").collect();
    assert!(listed.iter().all(|link| files.contains_key(link)) && listed.len() == pages.len(), "{listed:?}");
    assert!(!files["index.html"].contains("a<b>") && files["index.html"].contains("a&lt;b&gt;"));
}

#[test]
fn secrets_are_neither_in_the_index_nor_in_the_manifest() {
    let repo = TestRepo::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let items = [
        json!({ "type": "dialogue", "role": "user", "text": format!("Use {token} here") }),
        json!({ "type": "tool_io", "direction": "call", "call_id": "1", "name": format!("x {token}"), "text": "{}",
            "meta": { "model": token, "usage": { "input_tokens": 1, "output_tokens": 1 } } }),
    ];
    let items: String = items.iter().map(|item| format!("{item}\n")).collect();
    repo.bytes_with(&["--trace", "claude-code/s", "commit", "--batch"], items.as_bytes());
    repo.git(&["commit", "-q", "--allow-empty", "-m", &format!("Add {token}")]);
    let (told, files) = site(&repo);
    assert!(told.starts_with("possible secrets were removed from the pages in "), "{told}");
    for (name, text) in &files {
        assert!(!text.contains(&token), "{name}");
    }
    assert!(files["index.html"].contains("Use "));
}

#[test]
fn files_of_others_are_kept() {
    let repo = TestRepo::new();
    repo.say("hello");
    let out = repo.folder().join("../site");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("index.html"), "mine").unwrap();
    insta::assert_snapshot!(repo.refused(&["view", "--all", "-o", "../site"]), @"
    --- stderr
    error: `../site` has other files and no earlier site
    hint: name a new or empty folder
    [exit 2]
    ");
    assert_eq!(fs::read_to_string(out.join("index.html")).unwrap(), "mine");
    fs::remove_file(out.join("index.html")).unwrap();
    site(&repo);
    fs::write(out.join("CNAME"), "example.com").unwrap();
    fs::write(out.join("sessions/mine.html"), "mine").unwrap();
    let manifest = fs::read_to_string(out.join("git-trace-site.json")).unwrap();
    let made_up = manifest.replace("\"tips\":{", "\"tips\":{\"../../mine\":\"x\",\"mine\":\"x\",");
    assert_ne!(manifest, made_up);
    fs::write(out.join("git-trace-site.json"), made_up).unwrap();
    let (told, files) = site(&repo);
    assert_eq!(told, "pages: 1 written, 0 unchanged\n");
    assert_eq!((&*files["CNAME"], &*files["sessions/mine.html"]), ("example.com", "mine"));
    // A clone may contain links that lead out of the folder.
    let outside = repo.folder().join("../outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(out.join("sessions")).unwrap();
    std::os::unix::fs::symlink(&outside, out.join("sessions")).unwrap();
    assert!(repo.refused(&["view", "--all", "-o", "../site"]).contains("leaves the work tree"));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_site_needs_a_folder_and_no_trace() {
    let repo = TestRepo::new();
    let refused = [&["view", "--all"][..], &["view", "--all", "-o", "-"], &["view", "main", "--all", "-o", "x"]];
    insta::assert_snapshot!(refused.map(|args| repo.refused(args)).join("\n"), @"
    --- stderr
    error: `git trace view` needs `--output <FILE>`
    hint: for example `git trace view -o session.html`; `git trace view -h` explains it
    [exit 2]
    --- stderr
    error: --all writes a folder: name it with -o DIR
    [exit 2]
    --- stderr
    error: `[NAME]` cannot be used with `--all`
    hint: for example `git trace view -o session.html`; `git trace view -h` explains it
    [exit 2]
    ");
    let (told, files) = site(&repo);
    assert_eq!(told, "pages: 0 written, 0 unchanged\n");
    assert!(words(&files["index.html"]).contains("There are no traces."));
}
