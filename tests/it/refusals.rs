//! What is refused: with status 2, a message that says why, and no ref moved.

use std::process::Command;

use crate::repo::{TestRepo, run};

/// Two items whose ids begin with the same digits, and a trace beside theirs.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    let input = br#"{"op":"append","id":"abcd000000000001","text":"one"}
{"op":"append","id":"abcd000000000002","text":"two"}
"#;
    repo.bytes_with(&["import", "jsonl", "-"], input);
    repo.text(&["commit", "--trace", "other", "-m", "elsewhere"]);
    repo
}

#[test]
fn an_item_that_is_unknown_or_ambiguous() {
    let repo = repo();
    for command in ["show", "delete", "restore", "pin"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(repo.refused(&[command, "ffff"]), @"
            --- stderr
            error: no item of trace `main` is named `ffff`
            hint: `git trace log --oneline` lists items
            [exit 2]
            ");
            insta::assert_snapshot!(repo.refused(&[command, "#7"]), @"
            --- stderr
            error: no item of trace `main` is named `#7`
            hint: `git trace log --oneline` lists items
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
            [exit 2]
            ");
            insta::assert_snapshot!(repo.refused(&[command, "no such thing\u{1b}[31m"]), @r#"
            --- stderr
            error: no item of trace `main` is named `no such thing\u{1b}[31m`
            hint: `git trace log --oneline` lists items
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
    hint: `git trace log --oneline` lists items
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
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "refs/traces/other", "-m", "x"]), @"
    --- stderr
    error: item [ID] never was in trace `main`
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["delete", "refs/traces/other"]), @"
    --- stderr
    error: item [ID] never was in trace `main`
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["pin", "refs/traces/other"]), @"
    --- stderr
    error: item [ID] never was in trace `main`
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--reply-to", "refs/traces/other", "-m", "x"]), @"
    --- stderr
    error: nothing to reply to: item [ID] never was in trace `main`
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
}

#[test]
fn an_item_that_was_taken_out_or_never_was() {
    let repo = repo();
    repo.text(&["delete", "#0"]);
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "-m", "x"]), @"
    --- stderr
    error: item [ID] was taken out of trace `main`
    hint: put it back with `git trace restore [ID]`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["delete", "#0"]), @"
    --- stderr
    error: item [ID] was taken out of trace `main`
    hint: put it back with `git trace restore [ID]`
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
fn a_type_role_or_level_that_is_none() {
    let repo = repo();
    insta::assert_snapshot!(repo.refused(&["commit", "-t", "poem", "-m", "x"]), @"
    --- stderr
    error: `poem` is not a type that is known here; accepted are instruction, dialogue, tool_io, reasoning, artifact, output, freeform, and what git config `traceType.poem.role` and its kin declare
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-t", "Bad Type", "-m", "x"]), @"
    --- stderr
    error: invalid value 'Bad Type' for '--type <TYPE>': `Bad Type` is not the name of a type: a letter a-z and then a-z, 0-9 and _ are, 64 at most

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-r", "nobody", "-m", "x"]), @"
    --- stderr
    error: field `role`: `nobody` is not one of system, user, assistant, tool
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-r", "tool", "-m", "x"]), @"
    --- stderr
    error: dialogue field `role` cannot be `tool`; accepted: user, assistant, system
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "-p", "urgent", "-m", "x"]), @"
    --- stderr
    error: invalid value 'urgent' for '--priority <LEVEL>': `urgent` is not one of skip, normal, pinned

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["priority", "#0", "urgent"]), @"
    --- stderr
    error: invalid value 'urgent' for '[LEVEL]': `urgent` is not one of skip, normal, pinned

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "-t", "poem", "-m", "x"]), @"
    --- stderr
    error: `poem` is not a type that is known here; accepted are instruction, dialogue, tool_io, reasoning, artifact, output, freeform, and what git config `traceType.poem.role` and its kin declare
    [exit 2]
    ");
}

#[test]
fn a_field_that_is_missing_or_wrong() {
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
    error: `Colour` cannot be a field: a letter a-z and then a-z, 0-9 and _ are
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "id=0123456789abcdef", "-m", "x"]), @"
    --- stderr
    error: `id` is not set but assigned
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "nothing", "-m", "x"]), @"
    --- stderr
    error: invalid value 'nothing' for '--set <FIELD=VALUE>': KEY=VALUE is expected

    For more information, try '--help'.
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
    [exit 2]
    ");
}

#[test]
fn a_reply_to_nothing() {
    let repo = repo();
    insta::assert_snapshot!(repo.refused(&["commit", "--reply-to", "ffff", "-m", "x"]), @"
    --- stderr
    error: nothing to reply to: no item of trace `main` is named `ffff`
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "reply_to=ffffffffffffffff", "-m", "x"]), @"
    --- stderr
    error: nothing to reply to: no item of trace `main` is named `[ID]`
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "--set", "reply_to=ffffffffffffffff"]), @"
    --- stderr
    error: nothing to reply to: no item of trace `main` is named `[ID]`
    hint: `git trace log --oneline` lists items
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "new", "--reply-to", "ffff", "-m", "x"]), @"
    --- stderr
    error: there is no trace `new`
    hint: a first `git trace commit` makes one; `git trace branch` lists those there are
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace_with(&["commit", "--batch"], br#"{"text":"x","reply_to":"ffff"}"#), @r#"
    {"error":"nothing to reply to: no item of trace `main` is named `ffff`","hint":"`git trace log --oneline` lists items"}
    [exit 1]
    "#);
}

#[test]
fn a_time_that_is_none() {
    let repo = repo();
    insta::assert_snapshot!(repo.refused(&["materialize", "--as-of", "yesterday"]), @"
    --- stderr
    error: `yesterday` is neither a commit nor an item of trace `main` nor a time such as 2026-02-10T09:00:00Z
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["materialize", "--as-of", "2026-02-30T00:00:00Z"]), @"
    --- stderr
    error: `2026-02-30T00:00:00Z` is neither a commit nor an item of trace `main` nor a time such as 2026-02-10T09:00:00Z
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["materialize", "--as-of", "2001-01-01T00:00:00Z"]), @"
    --- stderr
    error: trace `main` had no commit yet at 2001-01-01T00:00:00Z
    [exit 2]
    ");
    repo.git(&["commit", "--allow-empty", "-q", "-m", "a commit of the code"]);
    insta::assert_snapshot!(repo.refused(&["materialize", "--as-of", "HEAD"]), @"
    --- stderr
    error: `HEAD` is neither a commit nor an item of trace `main` nor a time such as 2026-02-10T09:00:00Z
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["log", "--since", "yesterday"]), @"
    --- stderr
    error: invalid value 'yesterday' for '--since <TIME>': `yesterday` is not a time: RFC 3339 with a zone is, such as 2026-02-10T09:00:00Z

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["log", "--since", "2026-02-10T09:00:00Z", "--until", "2026-02-10T08:00:00Z"]), @"
    --- stderr
    error: --since is later than --until
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "created_at=yesterday", "-m", "x"]), @"
    --- stderr
    error: field `created_at`: `yesterday` is not a time: RFC 3339 with a zone is, such as 2026-02-10T09:00:00Z
    [exit 2]
    ");
}

#[test]
fn a_trace_that_is_not_there_or_cannot_be() {
    let repo = repo();
    for command in ["materialize", "log", "export"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(repo.refused(&[command, "nowhere"]), @"
            --- stderr
            error: there is no trace `nowhere`
            hint: a first `git trace commit` makes one; `git trace branch` lists those there are
            [exit 2]
            ");
        }
    }
    insta::assert_snapshot!(repo.refused(&["status", "nowhere"]), @"
    --- stderr
    error: there is no trace `nowhere`
    hint: a first `git trace commit` makes one; `git trace branch` lists those there are
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["init", "a..b"]), @"
    --- stderr
    error: invalid value 'a..b' for '[NAME]': `a..b` cannot name a trace: git's rules for branch names apply

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "main/sub", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/main/sub` cannot stand beside a ref that is a part of its name, or that has it as a part
    hint: choose another name
    [exit 2]
    ");
    repo.text(&["commit", "--trace", "deep/er", "-m", "x"]);
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "deep", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/deep` cannot stand beside a ref that is a part of its name, or that has it as a part
    hint: choose another name
    [exit 2]
    ");
    repo.git(&["pack-refs", "--all"]);
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "main/sub", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/main/sub` cannot stand beside a ref that is a part of its name, or that has it as a part
    hint: choose another name
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "deep", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/deep` cannot stand beside a ref that is a part of its name, or that has it as a part
    hint: choose another name
    [exit 2]
    ");
    repo.git(&["update-ref", "-d", "refs/traces/deep/er"]);
    repo.text(&["commit", "--trace", "deep", "-m", "nothing is in the way any more"]);
}

#[test]
fn an_import_with_a_bad_line_records_nothing() {
    let repo = repo();
    let short = b"{\"text\":\"fine\"}\n{\"text\":\"fine too\",\"role\":\"nobody\"}\n";
    insta::assert_snapshot!(repo.refused_with(&["import", "jsonl", "-"], short), @"
    --- stderr
    error: cannot import `-`: line 2: field `role`: `nobody` is not one of system, user, assistant, tool
    [exit 2]
    ");
    let mut long: Vec<u8> = (0..100).flat_map(|n| format!("{{\"text\":\"{n}\"}}\n").into_bytes()).collect();
    long.extend_from_slice(b"{\"op\":\"edit\",\"id\":\"ffffffffffffffff\",\"text\":\"x\"}\n");
    insta::assert_snapshot!(repo.refused_with(&["import", "jsonl", "-"], &long), @"
    --- stderr
    error: cannot import `-`: line 101: it changes an item that never came in
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "jsonl"]), @"
    --- stderr
    error: no file was given
    hint: git trace import jsonl FILE, or `-` for stdin
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "jsonl", "no-such-file"]), @"
    --- stderr
    error: cannot read `no-such-file`: No such file or directory (os error 2)
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "claude-code"]), @"
    --- stderr
    error: Claude Code has no session of this folder under `[HOME]/.claude`
    hint: name a file: git trace import claude-code FILE
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "somebody", "-"]), @"
    --- stderr
    error: `somebody` is no format, and no file is there
    hint: name its format, one of claude-code, codex, gemini-cli, swe-agent, jsonl, openai, responses, anthropic, gemini
    [exit 2]
    ");
    repo.fsck();
}

#[test]
fn a_writer_whom_git_does_not_know() {
    let repo = repo();
    let before = repo.refs();
    let mut command = repo.command("git");
    for word in ["AUTHOR", "COMMITTER"] {
        for part in ["NAME", "EMAIL"] {
            command.env_remove(format!("GIT_{word}_{part}"));
        }
    }
    let output = run(command.args(["-c", "user.useConfigOnly=true", "trace", "commit", "-m", "x"]), b"");
    insta::assert_snapshot!(repo.snapshot(&output), @r#"
    --- stderr
    error: git does not know who you are
    Committer identity unknown

    *** Please tell me who you are.

    Run

      git config --global user.email "you@example.com"
      git config --global user.name "Your Name"

    to set your account's default identity.
    Omit --global to set the identity only in this repository.

    fatal: no email was given and auto-detection is disabled
    [exit 2]
    "#);
    assert_eq!(repo.refs(), before);
}

#[test]
fn a_repository_with_an_unknown_storage_of_refs() {
    let repo = TestRepo::classic(&[]);
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "extensions.refStorage", "stone"]);
    insta::assert_snapshot!(repo.trace(&["status"]), @"
    --- stderr
    error: this repository uses the git extension `refStorage=stone`, which git-trace cannot read yet
    [exit 2]
    ");
}

#[test]
fn a_folder_that_is_no_repository() {
    let repo = TestRepo::without_git();
    insta::assert_snapshot!(repo.trace(&["commit", "-m", "x"]), @"
    --- stderr
    error: not in a git repository
    hint: run `git init` first, or change into a repository
    [exit 2]
    ");
    insta::assert_snapshot!(repo.trace(&["status"]), @"
    --- stderr
    error: not in a git repository
    hint: run `git init` first, or change into a repository
    [exit 2]
    ");

    let output = super::repo::run(repo.command("git-trace").arg("status").env("GIT_DIR", "nowhere"), b"");
    insta::assert_snapshot!(repo.exact(&output), @r"
    --- stderr
    error: not in a git repository
    hint: run `git init` first, or change into a repository
    [exit 2]
    ");
}

#[test]
fn settings_that_cannot_be_read() {
    let repo = repo();
    let mut command = repo.command("git");
    insta::assert_snapshot!(repo.snapshot(&run(command.args(["-c", "trace.encoding=nope", "trace", "status"]), b"")), @"
    --- stderr
    error: git config `trace.encoding` is `nope`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
    let mut command = repo.command("git-trace");
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "Trace.Encoding").env("GIT_CONFIG_VALUE_0", "none");
    insta::assert_snapshot!(repo.snapshot(&run(command.arg("status"), b"")), @"
    --- stderr
    error: git config `trace.encoding` is `none`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
    let mut command = repo.command("git-trace");
    insta::assert_snapshot!(repo.snapshot(&run(command.env("GIT_CONFIG_COUNT", "many").arg("status"), b"")), @"
    --- stderr
    error: bad configuration in the environment: GIT_CONFIG_COUNT
    [exit 2]
    ");
    let mut command = repo.command("git-trace");
    insta::assert_snapshot!(repo.snapshot(&run(command.env("GITTRACE_NAME", "a b").arg("status"), b"")), @"
    --- stderr
    error: `a b` cannot name a trace: git's rules for branch names apply
    [exit 2]
    ");
    repo.git(&["config", "trace.encoding", "from-a-file"]);
    insta::assert_snapshot!(repo.refused(&["status"]), @"
    --- stderr
    error: git config `trace.encoding` is `from-a-file`, which is not the name of an encoding, such as o200k_base or cl100k_base
    [exit 2]
    ");
}

/// Runs a script where it may mount; says on stderr why not, where it may not.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was not tried")]
fn mounted(repo: &TestRepo, script: &str) -> Option<std::process::Output> {
    let allowed = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system lets nobody mount a small or read-only disk");
        return None;
    }
    Some(run(repo.command("unshare").args(["-rm", "sh", "-ec", script]), b""))
}

#[test]
fn a_disk_that_is_full() {
    let repo = TestRepo::without_git();
    let script = "
        mount -t tmpfs -o size=1m none .
        cd . ; cd \"$PWD\"
        git init -q
        git trace commit -m first >/dev/null
        git for-each-ref > ../before
        dd if=/dev/urandom of=filler bs=1k count=4096 2>/dev/null || true
        head -c 200000 /dev/urandom | base64 > ../big
        git trace commit -F ../big || echo \"[exit $?]\"
        git for-each-ref > ../after; cmp ../before ../after
        git trace materialize --format text
        rm filler
        git trace commit -m second
        git fsck --strict";
    let Some(output) = mounted(&repo, script) else { return };
    insta::assert_snapshot!(repo.snapshot(&output), @"
    [exit 2]
    [user]
    first
    [main #1] dialogue user: second [ID]
    --- stderr
    error: cannot write the item to the object database: failed to write out file: No space left on device; class=Os (2)
    notice: HEAD points to an unborn branch (master)
    [exit 0]
    ");
}

#[test]
fn a_disk_that_is_read_only() {
    let repo = repo();
    let script = "
        mount --bind . . ; mount -o remount,bind,ro . ; cd \"$PWD\"
        git trace commit -m x || echo \"[exit $?]\"
        git trace pin '#0' || echo \"[exit $?]\"
        git trace init another || echo \"[exit $?]\"
        git trace switch other || echo \"[exit $?]\"
        git trace import jsonl - < /dev/null || echo \"[exit $?]\"
        git trace materialize
        git trace status
        git trace export | wc -l";
    let before = repo.refs();
    let Some(output) = mounted(&repo, script) else { return };
    insta::assert_snapshot!(repo.snapshot(&output), @r#"
    [exit 2]
    [exit 2]
    [exit 2]
    [exit 2]
    0 imported into trace `main`
    [
    {"role":"user","content":"one\n\ntwo"}
    ]
    On trace main
      2 items, [N] tokens (o200k_base)
      last: dialogue user: two [SHORT]

      dialogue          2

      pinned            0
      normal            2
      skip              0
    2
    --- stderr
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/[ID]: Read-only file system (os error 30)
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/[ID]: Read-only file system (os error 30)
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/[ID]: Read-only file system (os error 30)
    error: cannot write the lock file [HOME]/repo/.git/trace/locks/[ID]: Read-only file system (os error 30)
    [exit 0]
    "#);
    assert_eq!(repo.refs(), before);
}
