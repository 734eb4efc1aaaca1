//! `git trace view`: what the page holds, and that nothing on it becomes markup. `tests/view/run` clicks it in a browser.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use regex::Regex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::repo::TestRepo;

/// A real session, with a pin, a skip, two edits, a deletion and two branches.
fn sample() -> TestRepo {
    let repo = TestRepo::new();
    let session =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts/claude-code/small-thinking-tools.jsonl");
    repo.text(&["--trace", "main", "import", "claude-code", session.to_str().unwrap()]);
    repo.text(&["pin", "#2", "--reason", "the task"]);
    repo.text(&["skip", "#7", "#11", "--reason", "complete files, one line mattered"]);
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
    let (_, rest) = page.split_once("id=\"figures\"").unwrap();
    let (_, rest) = rest.split_once('>').unwrap();
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
        assert!(page.contains(&format!("{directive} 'sha256-{hash}'; ")), "the hash of {element} is true");
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
    assert!(page.contains("require-trusted-types-for 'script'; trusted-types page\""), "one policy makes markup");
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
        let commit = point["commit"].as_str().unwrap();
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
            for figure in ["commit", "total", "reported"] {
                assert_eq!(of_last[figure], of_all[figure], "--last {last}: {figure}");
            }
        }
    }
    assert!(points.iter().all(|point| point["commit"] == points[0]["commit"] || point["reported"].is_u64()));
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
    tools(&repo, hostile);
    repo.say(&rich(hostile));
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

/// A call for each way in which one is shown, with `text` in every place, and a failed result.
fn tools(repo: &TestRepo, text: &str) {
    let many = format!("{text}\n").repeat(40);
    let patch = format!("*** Begin Patch\n*** Update File: {text}\n@@ {text}\n-{text}\n+{text}\n*** End Patch");
    let calls = [
        ("Bash", json!({ "command": many, "description": text })),
        ("Read", json!({ "file_path": text, "offset": text })),
        (
            "Edit",
            json!({ "file_path": text, "old_string": format!("{text} one\nsame"), "new_string": format!("{text} two\nsame") }),
        ),
        ("Write", json!({ "file_path": text, "content": many })),
        ("apply_patch", json!({ "input": patch })),
        ("Grep", json!({ "pattern": text, "path": text })),
        ("TodoWrite", json!({ "todos": [{ "content": text, "status": "completed" }] })),
        (text, json!({ text: text, "prompt": many, "nested": [{ text: text }] })),
    ];
    for (number, (name, arguments)) in calls.iter().enumerate() {
        let id = format!("call-{number}");
        let call = json!({ "type": "tool_io", "direction": "call", "name": name, "call_id": id, "text": arguments.to_string() });
        let result = json!({ "type": "tool_io", "direction": "result", "name": name, "call_id": id, "text": many, "status": "error" });
        let also = json!({ "type": "tool_io", "direction": "result", "call_id": id, "text": json!([{ "text": text }]).to_string() });
        repo.bytes_with(&["commit", "--batch"], format!("{call}\n{result}\n{also}\n").as_bytes());
    }
    repo.commit(&["-t", "reasoning", "-m", text]);
    repo.commit(&["-t", "freeform", "-m", &json!({ text: text }).to_string()]);
    repo.commit(&["-r", "system", "-m", text]);
}

/// A message with each element of Markdown, and `text` in each.
fn rich(text: &str) -> String {
    let text = text.replace('\n', " ");
    format!(
        "# {text}\n\n**{text}** *{text}* ~~{text}~~ `{text}`\n\n> {text}\n\n- [x] {text}\n- {text}\n\n3. {text}\n\n\
         | {text} | b |\n| :-: | --: |\n| {text} | d |\n\n```rust {text}\n{text}\n```\n\n```{text}\n{text}\n```\n\n\
         [{text}](https://example.com/{text} \"{text}\") [{text}](<javascript:alert(1)//{text}>) ![{text}](https://example.com/x.png)\n\n\
         [a](#1) <data:text/html,{text}> <javascript:alert(1)> [r]: javascript:alert(1)\n\n[b][r] <a@example.com>\n\n\
         <div>\n{text}\n</div>\n\n    {text}\n\n---\n\na  \nb\n"
    )
}

#[test]
fn links_lead_only_to_items_the_web_and_mail() {
    let repo = TestRepo::new();
    repo.say(&rich("plain"));
    tools(
        &repo,
        "[x](javascript:alert(1)) <vbscript:x> [y](data:text/html,z) [z](file:///etc/passwd) [i](JaVaScRiPt:alert(1))",
    );
    let page = page(&repo, &[]);
    let links = Regex::new(r#" (?:href|src)="([^"]*)""#).unwrap();
    let other: Vec<&str> = links.captures_iter(&page).map(|link| link.get(1).unwrap().as_str()).collect();
    let leads =
        Regex::new(r"^(#(\d[\d\-0-9a-f]*|c-[0-9a-f]+)|https://example\.com/.*|mailto:a@example\.com|data:,)$").unwrap();
    assert!(other.iter().all(|link| leads.is_match(link)), "{other:?}");
    assert!(page.contains("plain (javascript:alert(1)//plain)"), "where a link would lead is text");
}

#[test]
fn a_call_and_its_result_are_one_card() {
    let repo = TestRepo::new();
    let call = json!({ "type": "tool_io", "direction": "call", "name": "Edit", "call_id": "1",
        "text": json!({ "file_path": "a.rs", "old_string": "let a = 1;", "new_string": "let a = 2;" }).to_string() });
    let result = json!({ "type": "tool_io", "direction": "result", "call_id": "1", "text": "done" });
    repo.bytes_with(&["commit", "--batch"], format!("{call}\n{result}\n").as_bytes());
    let page = page(&repo, &[]);
    let (_, card) = page.split_once("<article").unwrap();
    let card = card.split_once("<details class=\"meta\"").unwrap().0;
    let tokens = Regex::new(r#"tokens">\d+|<time>[\d:]+"#).unwrap();
    insta::assert_snapshot!(tokens.replace_all(card, "TOKENS"), @r##"
     class="card k2" id="0" data-type="tool_io" data-tool="Edit"><header><b><bdi>Edit</bdi></b><span class="arg"><bdi>a.rs</bdi></span><span class="TOKENS</span>TOKENS</time><a class="seq" href="#0">#0</a></header><pre class="diff"><span class="del">- let a = <b>1;</b>
    </span><span class="ins">+ let a = <b>2;</b>
    </span></pre><span class="result" id="1"></span>
    "##);
    assert_eq!(page.matches("<article").count(), 1);
}

#[test]
fn images_are_on_the_page_if_browsers_show_them() {
    let repo = TestRepo::new();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    repo.bytes_with(&["commit", "-t", "artifact", "--set", "media_type=text/html", "--set", "path=a.png", "-"], png);
    let shown = page(&repo, &[]);
    assert!(shown.contains(&format!("<img src=\"data:image/png;base64,{}\" alt=", BASE64.encode(png))));
    let repo = TestRepo::new();
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>";
    repo.bytes_with(&["commit", "-t", "artifact", "--set", "media_type=image/svg+xml", "-"], svg);
    repo.bytes_with(&["commit", "-t", "artifact", "--set", "media_type=image/png", "-"], b"\xff\xfe");
    assert!(!page(&repo, &[]).contains("<img"));
}

#[test]
fn summarized_texts_are_on_the_page_and_deleted_ones_are_not() {
    let repo = TestRepo::new();
    repo.say("the first question");
    repo.say("the second question");
    repo.text(&["compress", "#0..#1", "-m", "two questions"]);
    let said = repo.say("a text that is deleted");
    repo.text(&["delete", &said, "--reason", "off topic"]);
    let shown = page(&repo, &[]);
    let card = |text: &str| shown.split("<article").skip(1).find(|card| card.contains(text)).unwrap();
    assert!(
        shown.contains("the first question")
            && shown.contains("two questions")
            && !shown.contains("a text that is deleted")
    );
    assert!(card("the first question").contains("data-state=\"summarized\""));
    assert!(shown.find("<p>the second question") < shown.find("<p>two questions"), "{shown}");
    // Both have the position of the first question.
    let summary = Regex::new(r#"id="(0-[0-9a-f]+)""#).unwrap().captures(&shown).unwrap()[1].to_owned();
    assert!(card("the first question").contains(&format!("<a class=\"badge summarized\" href=\"#{summary}\">")));
    assert!(
        card("two questions").contains("<b><bdi>Compressed</bdi></b><span class=\"reason\">2 items, 12 → "),
        "{shown}"
    );
    assert!(shown.contains(", because: <bdi>off topic</bdi>; the text is not on this page"));
    let without = page(&repo, &["--no-edits"]);
    assert!(!without.contains("the first question"));
    assert!(page(&repo, &["--deleted"]).contains("a text that is deleted"));
}

#[test]
fn neighbors_that_were_deleted_for_the_same_reason_are_one_card() {
    let repo = TestRepo::new();
    for text in ["one", "two", "three", "four"] {
        repo.say(text);
    }
    repo.text(&["delete", "#0", "--reason", "wrong"]);
    repo.commit(&["-t", "reasoning", "-m", "five"]);
    repo.text(&["delete", "#4", "--reason", "also wrong"]);
    repo.text(&["delete", "#1", "--reason", "wrong"]);
    repo.text(&["delete", "#3", "--reason", "also wrong"]);
    repo.text(&["delete", "#2", "--reason", "also wrong"]);
    let shown = page(&repo, &[]);
    assert_eq!(shown.matches("<article").count(), 2);
    assert!(shown.contains("<b><bdi>2 items</bdi></b>") && shown.contains(">#0–#1</a>"), "{shown}");
    assert!(shown.contains("<b><bdi>3 items</bdi></b>") && shown.contains(">#2–#4</a>"), "{shown}");
    assert!(shown.contains("<span class=\"result\" id=\"1\"></span>"), "{shown}");
    // With their texts, each has its own.
    assert_eq!(page(&repo, &["--deleted"]).matches("<article").count(), 5);
}

#[test]
fn what_an_agent_wrote_between_tags_is_folded_without_them() {
    let repo = TestRepo::new();
    repo.say("<div> is not closed");
    repo.say("<command-name>/clear</command-name>\n  <command-args></command-args>");
    let page = page(&repo, &[]);
    assert!(page.contains("<summary><bdi>/clear</bdi></summary>"));
    assert!(page.contains("&lt;div&gt; is not closed"));
}

#[test]
fn the_index_has_what_the_user_typed() {
    let repo = TestRepo::new();
    repo.say("<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>src <T></command-args>");
    repo.say("[Request interrupted by user for tool use]");
    repo.say("# A heading\nand more");
    repo.commit(&["-r", "user", "-m", "It went on.", "--meta", "compact_summary=true"]);
    let page = page(&repo, &[]);
    let words = Regex::new("<span class=\"words\"><bdi>(.*?)</bdi>").unwrap();
    let prompts: Vec<&str> = words.captures_iter(&page).map(|found| found.get(1).unwrap().as_str()).collect();
    assert_eq!(prompts, ["/plan src &lt;T&gt;", "# A heading and more"]);
    assert!(page.contains("<p>/plan src &lt;T&gt;</p>"), "{page}");
    assert!(page.contains("<b><bdi>Interrupted by the user</bdi></b>") && !page.contains("[Request interrupted"));
}

#[test]
fn items_with_nothing_to_show_have_no_card() {
    let repo = TestRepo::new();
    repo.say(" \n");
    repo.say("hello");
    let page = page(&repo, &[]);
    assert_eq!(page.matches("<article").count(), 1);
    let (_, card) = page.split_once("<article").unwrap();
    assert!(card.contains("<span id=\"0\"></span>"), "links to it have an end: {card:.300}");
}

/// The card of a call with its result.
fn card_of(name: &str, arguments: &Value, result: &Value) -> String {
    let repo = TestRepo::new();
    let call =
        json!({ "type": "tool_io", "direction": "call", "name": name, "call_id": "1", "text": arguments.to_string() });
    let mut answer = json!({ "type": "tool_io", "direction": "result", "call_id": "1" });
    answer.as_object_mut().unwrap().extend(result.as_object().unwrap().clone());
    repo.bytes_with(&["commit", "--batch"], format!("{call}\n{answer}\n").as_bytes());
    let page = page(&repo, &[]);
    let (_, card) = page.split_once("<header>").unwrap();
    let card = card.split_once("<details class=\"meta\"").unwrap().0;
    let figures = Regex::new(r#"<span class="tokens">.*?</header>"#).unwrap();
    figures.replace_all(card, "</header>").into_owned()
}

#[test]
fn questions_plans_and_tasks_are_shown_as_the_user_saw_them() {
    let option = |label: &str, description: &str| json!({ "label": label, "description": description });
    let question = json!({ "questions": [{ "question": "Which one?", "header": "Choice", "multiSelect": true,
        "options": [option("A", "the first"), option("B", "the second")] }] });
    insta::assert_snapshot!(card_of("AskUserQuestion", &question,
        &json!({ "text": "User has answered your questions: \"Which one?\"=\"B\". You can continue." })), @r##"
    <b><bdi>AskUserQuestion</bdi></b></header><p class="question"><span class="badge">Choice</span></p><div class="md" dir="auto"><p>Which one?</p>
    </div><ul class="tasks"><li>☐ <b>A</b> <span class="dim">the first</span></li><li>☑ <b>B</b> <span class="dim">the second</span></li></ul><span class="result" id="1"></span>
    "##);
    insta::assert_snapshot!(card_of("ExitPlanMode", &json!({ "plan": "# Plan\n\n1. Read." }), &json!({ "status": "error",
        "text": "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nWrite it **down**." })), @r##"
    <b><bdi>ExitPlanMode</bdi></b></header><div class="md" dir="auto"><h3>Plan</h3>
    <ol>
    <li>Read.</li>
    </ol>
    </div><div class="result" id="1"><p class="note"><span class="badge failed">rejected</span> </p><div class="md" dir="auto"><p>Write it <strong>down</strong>.</p>
    </div></div>
    "##);
    insta::assert_snapshot!(card_of("Task", &json!({ "subagent_type": "Explore", "description": "Find it", "prompt": "Find `it`.\n\nNow." }),
        &json!({ "text": "[{\"type\":\"text\",\"text\":\"It is *here*.\"}]" })), @r##"
    <b><bdi>Task</bdi></b><span class="badge">Explore</span><span class="arg"><bdi>Find it</bdi></span></header><details class="fold"><summary><bdi>Find `it`. Now.</bdi></summary><div class="md" dir="auto"><p>Find <code>it</code>.</p>
    <p>Now.</p>
    </div></details><div class="result" id="1"><div class="md" dir="auto"><p>It is <em>here</em>.</p>
    </div></div>
    "##);
    insta::assert_snapshot!(card_of("mcp__tracker__list_issues", &json!({ "query": "open" }), &json!({ "text": "{\"issues\":[]}" })), @r##"
    <b><bdi>mcp__tracker__list_issues</bdi></b><span class="arg"><bdi>open</bdi></span></header><div class="result" id="1"><pre class="json" dir="auto">
    {
      &quot;issues&quot;: []
    }</pre></div>
    "##);
    insta::assert_snapshot!(card_of("WebFetch", &json!({ "url": "https://example.com/", "prompt": "the date" }), &json!({ "text": "It was **today**." })), @r##"
    <b><bdi>WebFetch</bdi></b><span class="arg"><bdi>https://example.com/</bdi></span></header><p class="note"><code>prompt: &quot;the date&quot;</code> </p><div class="result" id="1"><div class="md" dir="auto"><p>It was <strong>today</strong>.</p>
    </div></div>
    "##);
    insta::assert_snapshot!(card_of("Blacklist", &json!({ "name": "x" }), &json!({ "text": "one\ntwo" })), @r##"
    <b><bdi>Blacklist</bdi></b><span class="arg"><bdi>x</bdi></span></header><div class="result" id="1"><pre class="out" dir="auto">
    one
    two</pre></div>
    "##);
}

#[test]
fn paths_are_relative_to_the_folder_of_the_session() {
    let repo = TestRepo::new();
    let call = |(number, path): (usize, &str)| {
        let call = json!({ "type": "tool_io", "direction": "call", "name": "Read", "call_id": number.to_string(),
            "text": json!({ "file_path": path }).to_string() });
        format!("{call}\n")
    };
    let paths = ["/home/ada/engine/src/a.rs", "/home/ada/engine/b.md", "/home/ada/.agent/plan.md", "/tmp/x"];
    let lines: String = paths.into_iter().enumerate().map(call).collect();
    repo.bytes_with(&["commit", "--batch"], lines.as_bytes());
    let page = page(&repo, &[]);
    let title = Regex::new(r#"<span class="arg"><bdi>(.*?)</bdi>"#).unwrap();
    let titles: Vec<&str> = title.captures_iter(&page).map(|found| found.get(1).unwrap().as_str()).collect();
    assert_eq!(titles, ["src/a.rs", "b.md", "/home/ada/.agent/plan.md", "/tmp/x"]);
    assert!(page.contains("<p class=\"state dim\"><bdi>/home/ada/engine</bdi></p>"));
    assert_eq!(page.matches(" data-plain>").count(), 2, "Markdown has no colors of code");
}

#[test]
fn an_image_is_in_the_card_of_its_call() {
    let repo = TestRepo::new();
    let png =
        [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89"[..], &vec![0; 20_000]]
            .concat();
    let line = |role: &str, uuid: &str, parent: Option<&str>, block: Value| {
        json!({ "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-03-01T10:00:00Z",
            "message": { "role": role, "id": uuid, "model": "big-1", "content": [block] } })
    };
    let image = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": BASE64.encode(&png) } });
    let lines = [
        line("user", "1", None, json!({ "type": "text", "text": "What is on it?" })),
        line(
            "assistant",
            "2",
            Some("1"),
            json!({ "type": "tool_use", "id": "t", "name": "Read", "input": { "file_path": "a.png" } }),
        ),
        line("user", "3", Some("2"), json!({ "type": "tool_result", "tool_use_id": "t", "content": [image] })),
        line("user", "4", Some("3"), image.clone()),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    repo.bytes_with(&["import", "claude-code", "-", "--trace", "main"], lines.as_bytes());
    let page = page(&repo, &[]);
    let cards: Vec<&str> = page.split("<article").skip(1).collect();
    assert_eq!(cards.len(), 3);
    assert!(cards[1].contains("data-tool=\"Read\"") && cards[1].contains("<img src="));
    assert!(cards[2].contains("<b><bdi>Image</bdi></b>") && cards[2].contains("image/png, 20 kB"), "{:.400}", cards[2]);
    assert!(
        page.contains("<bdi>big-1</bdi> · <time datetime=\"2026-03-01T10:00:00Z\">2026-03-01 10:00:00</time> UTC</p>")
    );
}

#[test]
fn controls_that_would_leave_nothing_to_choose_are_left_out() {
    let repo = TestRepo::new();
    repo.say("hello");
    let controls = |page: &str| {
        let ids = Regex::new(r#"<(?:input|select|button|fieldset|details class="section")(?: id="(\w+)"| type="checkbox" name="(\w+)")?"#).unwrap();
        let found =
            ids.captures_iter(page).filter_map(|found| Some(found.get(1).or(found.get(2))?.as_str().to_owned()));
        found.collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(controls(&page(&repo, &[])), @"tokens words previous next open close");
    insta::assert_snapshot!(controls(&page(&sample(), &[])), @"tokens changes priorities branches words previous next only tool size open close type type type state state state state");
}

#[test]
fn a_long_line_is_folded() {
    let repo = TestRepo::new();
    repo.commit(&["-t", "artifact", "--set", "path=a.json", "-m", &"x".repeat(5_000)]);
    let page = page(&repo, &[]);
    assert!(page.contains("<summary>3,800 more characters</summary>"), "{page}");
}

#[test]
fn the_index_lists_prompts_with_tokens_and_the_window() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.window", "1000"]);
    repo.say("Why is that?");
    repo.commit(&["-r", "assistant", "-m", "A test of the index."]);
    repo.say("And why?");
    let page = page(&repo, &[]);
    assert_eq!(figures(&page)["prompts"], json!(["0", "2"]));
    let line = Regex::new(r#"(?s)<a class="turn".*?</a>"#).unwrap();
    let lines: Vec<&str> = line.find_iter(&page).map(|line| line.as_str()).collect();
    insta::assert_snapshot!(lines.join("\n"), @r##"
    <a class="turn" href="#0"><span class="words"><bdi>Why is that?</bdi></span><span class="tokens">16</span><meter max="1000" value="19" title="19 of 1,000 tokens"></meter></a>
    <a class="turn" href="#2"><span class="words"><bdi>And why?</bdi></span><span class="tokens">6</span><meter max="1000" value="25" title="25 of 1,000 tokens"></meter></a>
    "##);
}

/// All the markup that pages have.
fn page_of_plain(repo: &TestRepo) -> BTreeSet<String> {
    repo.git(&["config", "trace.budget", "20"]);
    let plain = sample();
    tools(&plain, "plain");
    plain.say(&rich("plain"));
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
    // The first prompt of a session is its title.
    repo.text(&["init", "claude-code/s"]);
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

/// The number of items on a page that are in the context.
fn items(page: &str) -> usize {
    let cards = Regex::new(r#"<(?:article class="card|(?:div|span) class="result)[ \w]*""#).unwrap();
    cards.find_iter(page).filter(|card| !card.as_str().contains("deleted")).count()
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
    assert_eq!(items(&html), 5);
    assert!(html.contains("17 earlier items are not on this page"));
    let then = page(&repo, &["--as-of", "#9"]);
    assert_eq!(items(&then), 8, "as it was at the tenth item, without two removed ones");
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
fn no_text_browser_is_started_on_a_pipe() {
    let repo = sample();
    let seen = repo.home().join("seen");
    let browser = repo.home().join("w3m");
    std::fs::write(&browser, format!("#!/bin/sh\necho x >'{}'\n", seen.display())).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.git(&["config", "browser.w3m.path", browser.to_str().unwrap()]);
    assert!(repo.text(&["view"]).ends_with("trace/view/main.html\n"));
    repo.git(&["config", "web.browser", "w3m"]);
    repo.text(&["view"]);
    assert!(!seen.exists());
    if crate::repo::has_terminal() {
        repo.on_a_terminal("git trace view", "");
        assert!(seen.exists(), "a browser that the user named opens on a terminal");
    }
}

#[test]
fn invalid_view_arguments_are_refused() {
    let repo = TestRepo::new();
    insta::assert_snapshot!(repo.refused(&["view", "-o", "-"]), @"
    --- stderr
    error: trace `main` has no items yet
    hint: `git trace import` imports a session, `git trace commit -m TEXT` records an item; `git trace branch` lists other traces
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
    assert!(answer.starts_with("<!DOCTYPE html>"), "{answer:.90}");
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
