//! An item, a type or a field that is not what it should be.

use super::repo;

#[test]
fn an_unknown_or_ambiguous_item() {
    let repo = repo();
    for command in ["show", "delete", "restore", "pin"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(repo.refused(&[command, "ffff"]), @"
            --- stderr
            error: no item of trace `main` is named `ffff`
            hint: `git trace log --oneline main` lists items
            [exit 2]
            ");
            insta::assert_snapshot!(repo.refused(&[command, "#7"]), @"
            --- stderr
            error: no item of trace `main` is named `#7`
            hint: `git trace log --oneline main` lists items
            [exit 2]
            ");
            insta::assert_snapshot!(repo.refused(&[command, "abcd"]), @"
            --- stderr
            error: `abcd` could be any of [ID], [ID]
            hint: `git trace log --oneline` lists items
            [exit 2]
            ");
            assert!(repo.refused(&[command, ""]).contains("`` is too short"));
            insta::assert_snapshot!(repo.refused(&[command, "abc"]), @"
            --- stderr
            error: `abc` is too short: give four digits of an item's id, or #<position>
            hint: `git trace log --oneline` lists items
            [exit 2]
            ");
            insta::assert_snapshot!(repo.refused(&[command, "no such thing\u{1b}[31m"]), @r#"
            --- stderr
            error: no item of trace `main` is named `no such thing\u{1b}[31m`
            hint: `git trace log --oneline main` lists items
            [exit 2]
            "#);
        }
    }
    insta::assert_snapshot!(repo.refused(&["edit", "abcd", "-m", "x"]), @"
    --- stderr
    error: `abcd` could be any of [ID], [ID]
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "#7", "-m", "x"]), @"
    --- stderr
    error: no item of trace `main` is named `#7`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["log", "--item", "abcd"]), @"
    --- stderr
    error: `abcd` could be any of [ID], [ID]
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
}

#[test]
fn an_item_outside_this_trace() {
    let repo = repo();
    let elsewhere = repo.json(&["show", "--trace", "other", "#0", "--json"])["id"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(repo.refused(&["edit", &elsewhere, "-m", "x"]), @"
    --- stderr
    error: no item of trace `main` is named `[ID]`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "refs/traces/other", "-m", "x"]), @"
    --- stderr
    error: item [ID] was never in trace `main`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["delete", "refs/traces/other"]), @"
    --- stderr
    error: item [ID] was never in trace `main`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["pin", "refs/traces/other"]), @"
    --- stderr
    error: item [ID] was never in trace `main`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--reply-to", "refs/traces/other", "-m", "x"]), @"
    --- stderr
    error: nothing to reply to: item [ID] was never in trace `main`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
}

#[test]
fn a_deleted_or_nonexistent_item() {
    let repo = repo();
    repo.text(&["delete", "#0"]);
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "-m", "x"]), @"
    --- stderr
    error: item [ID] was removed from trace `main`
    hint: restore it with `git trace restore [ID]`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["delete", "#0"]), @"
    --- stderr
    error: item [ID] was removed from trace `main`
    hint: restore it with `git trace restore [ID]`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["restore", "#1"]), @"
    --- stderr
    error: item [ID] is live in trace `main`; name the revision to go back to
    hint: `git trace log --item [ID]` lists its revisions
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["restore", "#1", "9"]), @"
    --- stderr
    error: item [ID] has no revision 9 in the history of trace `main`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["show", "#1", "--revision", "9"]), @"
    --- stderr
    error: item [ID] has no revision 9 in the history of trace `main`
    [exit 2]
    ");
}

#[test]
fn an_invalid_type_role_or_level() {
    let repo = repo();
    insta::assert_snapshot!(repo.refused(&["commit", "-t", "poem", "-m", "x"]), @"
    --- stderr
    error: unknown type `poem`: expected one of instruction, dialogue, tool_io, reasoning, artifact, output, freeform, or a type that git config declares, as with `traceType.poem.role`
    hint: `git trace types` lists the types and their rules
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-t", "Bad Type", "-m", "x"]), @"
    --- stderr
    error: `--type <TYPE>`: invalid item type `Bad Type`: expected a letter a-z, then at most 63 of a-z, 0-9 and _
    hint: for example `git trace commit -t instruction --name style -m 'Answer in one sentence.'`; `git trace commit -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-r", "nobody", "-m", "x"]), @"
    --- stderr
    error: field `role`: `nobody` is not a role of dialogue; accepted: user, assistant, system
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-r", "tool", "-m", "x"]), @"
    --- stderr
    error: dialogue field `role` cannot be `tool`; accepted: user, assistant, system
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-p", "urgent", "-m", "x"]), @"
    --- stderr
    error: `--priority <LEVEL>`: `urgent` is not one of skip, normal, pinned
    hint: for example `git trace commit -F notes.md -r assistant -p pinned`; `git trace commit -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["priority", "#0", "urgent"]), @"
    --- stderr
    error: `[LEVEL]`: `urgent` is not one of skip, normal, pinned
    hint: for example `git trace priority '#3' skip`; `git trace priority -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "-t", "poem", "-m", "x"]), @"
    --- stderr
    error: unknown type `poem`: expected one of instruction, dialogue, tool_io, reasoning, artifact, output, freeform, or a type that git config declares, as with `traceType.poem.role`
    hint: `git trace types` lists the types and their rules
    [exit 2]
    ");
}

#[test]
fn a_missing_or_invalid_field() {
    let repo = repo();
    let call = ["commit", "-t", "tool_io", "--set", "direction=call"];
    let with = |more: &[&'static str]| [&call[..], more].concat();
    insta::assert_snapshot!(repo.refused(&["commit", "-t", "tool_io", "-m", "x"]), @"
    --- stderr
    error: tool_io needs the field `direction`: call (or role assistant) or result (or role tool)
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&with(&["-m", "{}"])), @"
    --- stderr
    error: tool_io needs the field `name`: the name of the tool that is called
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&with(&["--name", "ls", "-m", "{}"])), @"
    --- stderr
    error: tool_io needs the field `call_id`: the provider's id that ties a result to its call
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&with(&["--name", "ls", "--call-id", "c", "-m", "{"])), @"
    --- stderr
    error: the body of a tool_io call must be its arguments as JSON: EOF while parsing an object at line 1 column 1
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&with(&["-r", "tool", "--name", "ls", "--call-id", "c", "-m", "{}"])), @"
    --- stderr
    error: tool_io field `role` cannot be `tool`; accepted: assistant, for a call
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "media_type=text/plain", "-m", "x"]), @"
    --- stderr
    error: dialogue has no field `media_type`; it accepts role, name
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "Colour=red", "-m", "x"]), @"
    --- stderr
    error: invalid field name `Colour`: expected a letter a-z, then a-z, 0-9 and _
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "id=0123456789abcdef", "-m", "x"]), @"
    --- stderr
    error: field `id` is assigned by git-trace and cannot be set
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "nothing", "-m", "x"]), @r"
    --- stderr
    error: invalid value `nothing` of `--set <FIELD=VALUE>`: KEY=VALUE is expected
    hint: for example `git trace commit -m 'Where is the limit set?'`; `git trace commit -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused_with(&["commit", "-"], b"not \xff text"), @"
    --- stderr
    error: the body of dialogue must be UTF-8 text; commit other bytes with the type artifact or freeform
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit"]), @"
    --- stderr
    error: no content was given
    hint: -m TEXT, -F FILE, or `-` for stdin
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-F", "no-such-file"]), @"
    --- stderr
    error: cannot read `no-such-file`: No such file or directory (os error 2)
    hint: name a file that exists, or `-` for stdin
    [exit 2]
    ");
}

#[test]
fn a_reply_to_a_nonexistent_item() {
    let repo = repo();
    insta::assert_snapshot!(repo.refused(&["commit", "--reply-to", "ffff", "-m", "x"]), @"
    --- stderr
    error: nothing to reply to: no item of trace `main` is named `ffff`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "reply_to=ffffffffffffffff", "-m", "x"]), @"
    --- stderr
    error: nothing to reply to: no item of trace `main` is named `[ID]`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "--set", "reply_to=ffffffffffffffff"]), @"
    --- stderr
    error: nothing to reply to: no item of trace `main` is named `[ID]`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "new", "--reply-to", "ffff", "-m", "x"]), @"
    --- stderr
    error: no trace is named `new`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace_with(&["commit", "--batch"], br#"{"text":"x","reply_to":"ffff"}"#), @r#"
    {"error":"nothing to reply to: no item of trace `main` is named `ffff`","hint":"`git trace log --oneline main` lists items"}
    [exit 1]
    "#);
}

#[test]
fn content_from_a_closed_stdin() {
    let repo = repo();
    for (args, redirection) in [("commit -", "<&-"), ("commit -F -", "</dev/null"), ("edit '#0' -", "<&-")] {
        let script = format!("git trace {args} {redirection}");
        let output = crate::repo::run(repo.command("sh").args(["-c", &script]), b"");
        insta::allow_duplicates! {
            insta::assert_snapshot!(repo.snapshot(&output), @"
            --- stderr
            error: no content was given: stdin is closed, or /dev/null
            hint: use a pipe or -F FILE; `-m ''` makes an empty item
            [exit 2]
            ");
        }
    }
    assert_eq!(repo.bodies("main").len(), 2);
    repo.bytes_with(&["commit", "-"], b"");
    assert_eq!(repo.bodies("main").len(), 3, "an empty pipe is content");
}

#[test]
fn a_file_with_more_items_than_a_trace_has_positions() {
    let repo = repo();
    let file = repo.home().join("many");
    std::fs::write(&file, "{\"text\":\"x\"}\n".repeat(1_000_001)).unwrap();
    let start = std::time::Instant::now();
    insta::assert_snapshot!(repo.refused(&["import", "jsonl", file.to_str().unwrap()]), @"
    --- stderr
    error: cannot import `[HOME]/many`: the input has [SHORT] items, more than the [SHORT] positions of a trace
    hint: split the file, and import each part into a separate trace: --trace NAME
    [exit 2]
    ");
    assert!(start.elapsed().as_secs() < 20, "nothing is written first");
}

#[test]
fn an_empty_subject() {
    let repo = repo();
    for command in [&["commit", "-m", "x"][..], &["edit", "#0", "-m", "x"], &["compress", "#0..#1", "-m", "x"]] {
        for subject in ["", "  "] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(repo.refused(&[command, &["-s", subject]].concat()), @"
                --- stderr
                error: the subject must be one line of text without control characters, and not empty
                hint: without -s, the subject is a preview of the content
                [exit 2]
                ");
            }
        }
    }
}

#[test]
fn an_item_that_another_trace_does_not_have() {
    insta::assert_snapshot!(repo().refused(&["cherry-pick", "other", "#9"]), @"
    --- stderr
    error: no item of trace `other` is named `#9`
    hint: `git trace log --oneline other` lists items
    [exit 2]
    ");
}
