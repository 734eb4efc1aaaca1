//! `git trace view`: what the page holds, and that nothing on it becomes markup. `tests/view/run` clicks it in a browser.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use regex::Regex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::repo::TestRepo;

/// A real session, with a pin, a skip, two edits, a deletion and two branches.
fn sample() -> TestRepo {
    let repo = TestRepo::new();
    let session =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts/claude-code/small-thinking-tools.jsonl");
    repo.text(&["--trace", "main", "import", "claude-code", session.to_str().unwrap()]);
    repo.text(&["pin", "#2", "--reason", "the task"]);
    repo.text(&["skip", "#7", "#11", "--reason", "whole files, of which one line mattered"]);
    repo.text(&["branch", "idea", "#9"]);
    repo.text(&["edit", "#17", "-m", "Done.\nThe timeout is 45m.", "--reason", "too long"]);
    repo.text(&["edit", "#17", "-m", "Done.\nThe notarization timeout is 45m."]);
    let gone = repo.say("A text that was taken out.");
    repo.text(&["delete", &gone, "--reason", "not for others"]);
    repo.text(&["switch", "idea"]);
    repo.say("Another way.");
    repo.text(&["switch", "main"]);
    repo
}

fn page(repo: &TestRepo, args: &[&str]) -> String {
    repo.text(&[&["view", "-o", "-"], args].concat())
}

/// The figures of the chart.
fn figures(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"figures\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The content of the one element with this name and without attributes.
fn inside<'p>(page: &'p str, element: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("<{element}>")).unwrap();
    rest.split_once(&format!("</{element}>")).unwrap().0
}

/// Every element and attribute of a page, with what attributes that lead somewhere hold; script and style set apart.
fn markup(page: &str) -> BTreeSet<String> {
    let page = page.replace(inside(page, "style"), "").replace(inside(page, "script"), "");
    let tag = Regex::new(r#"<(/?[a-zA-Z!][^\s>/]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*/?>"#).unwrap();
    let attribute = Regex::new(r#"([^\s=]+)="([^"]*)""#).unwrap();
    let rest = tag.replace_all(&page, "");
    assert!(!rest.contains(['<', '>']), "all that looks like markup is");
    let mut found = BTreeSet::new();
    for element in tag.captures_iter(&page).filter(|element| !element[1].starts_with('/')) {
        found.insert(element[1].to_owned());
        for pair in attribute.captures_iter(&element[2]) {
            let leads =
                matches!(&pair[1], "href" | "src" | "action" | "http-equiv" | "type") || pair[1].starts_with("on");
            let value = if pair[2].starts_with('#') { "#" } else { &pair[2] };
            found.insert(format!(
                "{} {}{}",
                &element[1],
                &pair[1],
                if leads { format!("={value}") } else { String::new() }
            ));
        }
    }
    found
}

#[test]
fn a_page_loads_nothing_and_runs_only_its_script() {
    let repo = sample();
    let page = page(&repo, &["--deleted"]);
    for (element, directive) in [("script", "script-src"), ("style", "style-src")] {
        let hash = BASE64.encode(Sha256::digest(inside(&page, element)));
        assert!(page.contains(&format!("{directive} &#39;sha256-{hash}&#39;; ")), "the hash of {element} is true");
    }
    let (policy, before) = (page.find("Content-Security-Policy").unwrap(), page.find("<style>").unwrap());
    assert!(policy < before, "the policy comes before what it is for");
    let found = markup(&page);
    let leads: Vec<&str> = found.iter().map(String::as_str).filter(|found| found.contains('=')).collect();
    insta::assert_snapshot!(leads.join("\n"), @"
    a href=#
    button type=button
    input type=checkbox
    input type=search
    link href=data:,
    meta http-equiv=Content-Security-Policy
    script type=application/json
    ");
    for element in ["img", "iframe", "object", "embed", "base", "form action", "a target"] {
        assert!(!found.contains(element), "{element}");
    }
}

#[test]
fn a_page_is_deterministic_and_changes_nothing() {
    let repo = sample();
    let refs = repo.refs();
    let first = page(&repo, &[]);
    assert_eq!(first, page(&repo, &[]));
    assert_eq!(first, page(&repo, &["main"]));
    assert_eq!(repo.refs(), refs);
    let file = repo.folder().join("page.html");
    repo.text(&["view", "-o", file.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(file).unwrap(), first);
}

#[test]
fn a_page_shows_as_much_history_as_requested() {
    let repo = sample();
    let (gone, first, second) = ("A text that was taken out.", "Increased the notarization", "The timeout is 45m.");
    let holds = |args: &[&str]| {
        [gone, first, second, "not for others", "too long"].map(|text| page(&repo, args).contains(text))
    };
    assert_eq!(holds(&[]), [false, true, true, true, true]);
    assert_eq!(holds(&["--deleted"]), [true; 5]);
    assert_eq!(holds(&["--no-edits"]), [false, false, false, true, true]);
}

#[test]
fn the_chart_matches_the_counts_of_each_commit() {
    let repo = TestRepo::new();
    repo.commit(&["-t", "instruction", "--name", "style", "-m", "Answer in one sentence."]);
    let reported = r#"{"usage":{"input_tokens":70,"output_tokens":8}}"#;
    let first = repo.commit(&["-m", "Where is the limit set?", "--usage", reported]);
    repo.commit(&["-t", "reasoning", "-m", "It could be in the library or in the settings."]);
    repo.text(&["skip", "#2", "--reason", "thoughts"]);
    repo.text(&["branch", "idea"]);
    repo.commit(&["-r", "assistant", "-m", "In src/lib.rs, line 12."]);
    repo.text(&["edit", &first, "-m", "Where is the limit set, and why?"]);
    repo.text(&["unpin", "#2"]);
    repo.text(&["--trace", "idea", "commit", "-m", "And who may change it?"]);
    repo.text(&["merge", "idea"]);
    repo.text(&["delete", "#3"]);
    repo.text(&["skip", "#1", "--reason", "asked and answered"]);
    let figures = figures(&page(&repo, &[]));
    let points = figures["points"].as_array().unwrap();
    let (last, earlier) = points.split_last().unwrap();
    assert_eq!(last["reported"], repo.json(&["status", "--json"])["tokens"]["total"]);
    for point in earlier {
        let commit = point["to"].as_str().unwrap().strip_prefix("c-").unwrap();
        let then = repo.json(&["materialize", "--json", "--aggregate", "none", "--as-of", commit]);
        let figure = if point["reported"].is_u64() { "reported" } else { "total" };
        assert_eq!(point[figure], then["tokens"]["total"], "{commit}");
        let bands: u64 = point["tokens"].as_array().unwrap().iter().map(|tokens| tokens.as_u64().unwrap()).sum();
        assert_eq!(point["total"], bands + 3, "bands and the reply's framing make the total");
    }
    assert_eq!(earlier.len(), 7, "each commit of the trace's own line");
    for last in 1..10 {
        let cut = self::figures(&page(&repo, &["--last", &last.to_string()]));
        let shown = cut["points"].as_array().unwrap();
        for (of_all, of_last) in points.iter().rev().zip(shown.iter().rev()) {
            for figure in ["to", "total", "reported"] {
                assert_eq!(of_last[figure], of_all[figure], "--last {last}: {figure}");
            }
        }
    }
    assert!(points.iter().all(|point| point["to"] == points[0]["to"] || point["reported"].is_u64()));
}

#[test]
fn no_field_becomes_markup() {
    let hostile =
        "</script></pre><script>alert(1)</script><!--<img src=x onerror=alert(1)>\" onclick=\"alert(1)\" '&lt;";
    let unseen = "\u{1b}]0;x\u{7}\u{202e}\u{e0041}\u{feff}\u{2028}\u{0}";
    let repo = TestRepo::new();
    let before = page_of_plain(&repo);
    let text = format!("{hostile}{unseen}\n{hostile}\n");
    let mut fields =
        serde_json::json!({ "type": "freeform", "text": text, "meta": { hostile: [hostile] }, "subject": hostile });
    for field in ["name", "call_id", "kind", "path", "language", "media_type", "format", "turn", "own_field"] {
        fields[field] = hostile.into();
    }
    repo.bytes_with(&["commit", "--batch"], fields.to_string().as_bytes());
    let id = repo.lines(&["log", "--json", "-n", "1"])[0]["items"][0]["id"].as_str().unwrap().to_owned();
    repo.bytes_with(&["edit", &id, "--reason", hostile, "-"], format!("{hostile}\n{unseen}\n").as_bytes());
    repo.text(&["pin", &id, "--reason", hostile]);
    repo.bytes_with(&["commit", "-t", "artifact", "--set", &format!("media_type={hostile}"), "-"], b"\xff\xfe");
    let said = repo.say(hostile);
    repo.text(&["delete", &said, "--reason", hostile]);
    // What only plain git writes: a damaged file, names and a message that nobody made safe.
    for name in ["a<b>", "x\"onclick=alert(1)", "y'&z"] {
        repo.git(&["update-ref", &format!("refs/traces/{name}"), "refs/traces/main"]);
    }
    let folder = repo.home().join("plain");
    repo.git(&["worktree", "add", "--quiet", "--detach", folder.to_str().unwrap(), "refs/traces/main"]);
    let file = repo.git(&["ls-tree", "-r", "--name-only", "refs/traces/main"]).lines().next().unwrap().to_owned();
    std::fs::write(folder.join(file), hostile).unwrap();
    let author = format!("--author={} <x@y>", hostile.replace(['<', '>'], ""));
    repo.git(&["-C", folder.to_str().unwrap(), "commit", "-qam", hostile, &author]);
    let tip = repo.git(&["-C", folder.to_str().unwrap(), "rev-parse", "HEAD"]);
    repo.git(&["update-ref", "refs/traces/main", tip.trim()]);
    for args in [&["--deleted"][..], &[], &["a<b>", "--deleted"]] {
        let page = page(&repo, args);
        let found = markup(&page);
        assert!(found.is_subset(&before), "{:?}", found.difference(&before).collect::<Vec<_>>());
        assert!(!page.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        if args[..] != ["a<b>", "--deleted"] {
            continue;
        }
        for shown in ["U+001B", "U+202E", "U+E0041", "U+FEFF", "U+2028", "U+0000"] {
            assert!(page.contains(&format!("<span class=\"hid\">{shown}</span>")), "{shown}");
        }
    }
}

/// All the markup that pages have.
fn page_of_plain(repo: &TestRepo) -> BTreeSet<String> {
    repo.git(&["config", "trace.budget", "20"]);
    let plain = sample();
    plain.text(&["edit", "#17", "-m", "Done.", "--meta", "a=1"]);
    plain.bytes_with(&["commit", "-t", "artifact", "-"], b"\xff");
    plain.git(&["config", "trace.budget", "30000"]);
    let mut found = markup(&page(&plain, &["--deleted"]));
    plain.git(&["config", "trace.budget", "100"]);
    found.append(&mut markup(&page(&plain, &["--last", "3"])));
    found.append(&mut markup(&page(&plain, &["--last", "0"])));
    found
}

#[test]
fn secrets_are_removed_from_the_page() {
    let repo = TestRepo::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let said = format!("the token is {token}");
    let id = repo.say(&said);
    repo.text(&["edit", &id, "-m", &format!("{said}, again")]);
    repo.text(&["pin", &id, "--reason", &said]);
    let output = repo.run(&["view", "-o", "-"], b"");
    let (html, told) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(!html.contains(&token) && html.contains("the token is "));
    assert!(told.starts_with("possible secrets were removed from the page in "), "{told}");
    repo.git(&["config", "trace.secrets", "off"]);
    assert!(page(&repo, &[]).contains(&token));
}

#[test]
fn a_long_trace_is_cut_to_its_newest_part() {
    let repo = sample();
    let output = repo.run(&["view", "-o", "-", "--last", "5"], b"");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "17 earlier items are not on the page; increase --last to show them\n"
    );
    let html = String::from_utf8(output.stdout).unwrap();
    assert_eq!(html.matches("<details class=\"item ").count(), 5);
    assert_eq!(html.matches("<li class=\"step\"").count(), 5);
    assert!(html.contains("17 earlier items are not on this page"));
    let then = page(&repo, &["--as-of", "#9"]);
    assert_eq!(
        then.matches("<details class=\"item ").count(),
        8,
        "as it was at the tenth item, without two removed ones"
    );
}

#[test]
fn a_page_is_written_and_opened() {
    let repo = sample();
    let seen = repo.home().join("seen");
    repo.git(&["config", "trace.browser", "mine"]);
    repo.git(&["config", "browser.mine.cmd", &format!("printf '%s\\n' >>'{}'", seen.display())]);
    let written = repo.git_dir().join("trace/view/main.html");
    assert_eq!(repo.text(&["view", "--no-open"]), format!("{}\n", written.canonicalize().unwrap().display()));
    assert!(!seen.exists());
    assert_eq!(std::fs::read_to_string(&written).unwrap(), page(&repo, &[]));
    repo.text(&["view"]);
    assert_eq!(PathBuf::from(std::fs::read_to_string(&seen).unwrap().trim_end()), written.canonicalize().unwrap());
    repo.git(&["update-ref", "refs/traces/a/b", "refs/traces/main"]);
    repo.text(&["view", "a/b"]);
    assert!(repo.git_dir().join("trace/view/a%2Fb.html").exists());
    repo.git(&["config", "browser.mine.cmd", "false"]);
    let output = repo.run(&["view"], b"");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && told.ends_with("no browser could be opened; set git config trace.browser to one\n"),
        "{told}"
    );
}

#[test]
fn invalid_view_arguments_are_refused() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.refused(&["view", "-o", "-"]), @"
    --- stderr
    error: no trace is named `main`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
    repo.say("hello");
    insta::assert_snapshot!(repo.refused(&["view", "nowhere"]), @"
    --- stderr
    error: no trace is named `nowhere`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["view", "--as-of", "2001-01-01T00:00:00Z"]), @"
    --- stderr
    error: trace `main` had no commit yet at 2001-01-01T00:00:00Z
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["view", "-o", "no/such/folder.html"]), @"
    --- stderr
    error: cannot write `no/such/folder.html`: No such file or directory (os error 2)
    [exit 2]
    ");
    // A device is written directly; a file without write permission is unchanged.
    let answer = repo.text(&["view", "-o", "/dev/stdout"]);
    assert!(answer.starts_with("<!doctype html>"), "{answer:.90}");
    let kept = repo.folder().join("kept");
    std::fs::write(&kept, "as it is").unwrap();
    std::fs::set_permissions(&kept, std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(repo.refused(&["view", "-o", "kept"]).contains("cannot write `kept`"));
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "as it is");
    repo.git(&["config", "trace.budget", "much"]);
    insta::assert_snapshot!(repo.refused(&["view", "-o", "-"]), @"
    --- stderr
    error: git config `trace.budget` is `much`, which is not a number from 0
    [exit 2]
    ");
}
