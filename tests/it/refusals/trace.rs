//! A trace, a time or an import that is none.

use super::repo;

#[test]
fn an_invalid_time() {
    let repo = repo();
    insta::assert_snapshot!(repo.refused(&["materialize", "--as-of", "yesterdy"]), @"
    --- stderr
    error: no commit, item, or time of trace `main` is named `yesterdy`
    hint: `git trace log` lists commits and items; a time is written like `yesterday`, `2 days ago`, or `2026-02-10 09:00`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["materialize", "--as-of", "2026-02-30T00:00:00Z"]), @"
    --- stderr
    error: no commit, item, or time of trace `main` is named `2026-02-30T00:00:00Z`
    hint: `git trace log` lists commits and items; a time is written like `yesterday`, `2 days ago`, or `2026-02-10 09:00`
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["view", "--as-of", "2001-01-01T00:00:00Z"]), @"
    --- stderr
    error: trace `main` had no commit yet at 2001-01-01T00:00:00Z
    [exit 2]
    ");
    repo.git(&["commit", "--allow-empty", "-q", "-m", "a commit of the code"]);
    insta::assert_snapshot!(repo.refused(&["materialize", "--as-of", "HEAD"]), @"
    --- stderr
    error: no commit, item, or time of trace `main` is named `HEAD`
    hint: did you mean `TRACE_HEAD`? `HEAD` is a commit of the code
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["log", "--since", "yesterdy"]), @"
    --- stderr
    error: `--since <TIME>`: invalid time `yesterdy`: expected a time such as `yesterday`, `2 days ago`, `last friday`, `noon`, `2026-03-01`, `2026-03-01 14:00`, `2026-02-10T09:00:00Z`, or `@1770000000`
    hint: for example `git trace log --oneline --since yesterday`; `git trace log -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["log", "--since", "2026-02-10T09:00:00Z", "--until", "2026-02-10T08:00:00Z"]), @"
    --- stderr
    error: --since is later than --until
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--set", "created_at=yesterday", "-m", "x"]), @"
    --- stderr
    error: field `created_at`: invalid time `yesterday`: expected RFC 3339 with a zone, such as 2026-02-10T09:00:00Z
    [exit 2]
    ");
}

#[test]
fn a_missing_or_invalid_trace() {
    let repo = repo();
    for command in ["materialize", "log", "export"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(repo.refused(&[command, "nowhere"]), @"
            --- stderr
            error: no trace is named `nowhere`
            hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
            [exit 2]
            ");
        }
    }
    insta::assert_snapshot!(repo.refused(&["status", "nowhere"]), @"
    --- stderr
    error: no trace is named `nowhere`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["init", "a..b"]), @r"
    --- stderr
    error: `[NAME]`: invalid trace name `a..b`: git's rules for branch names apply
    hint: for example `git trace init notes`; `git trace init -h` explains it
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "main/sub", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/main/sub` conflicts with an existing ref: one name is a folder of the other
    hint: choose another name
    [exit 2]
    ");
    repo.text(&["commit", "--trace", "deep/er", "-m", "x"]);
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "deep", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/deep` conflicts with an existing ref: one name is a folder of the other
    hint: choose another name
    [exit 2]
    ");
    repo.git(&["pack-refs", "--all"]);
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "main/sub", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/main/sub` conflicts with an existing ref: one name is a folder of the other
    hint: choose another name
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["commit", "--trace", "deep", "-m", "x"]), @"
    --- stderr
    error: `refs/traces/deep` conflicts with an existing ref: one name is a folder of the other
    hint: choose another name
    [exit 2]
    ");
    repo.git(&["update-ref", "-d", "refs/traces/deep/er"]);
    repo.text(&["commit", "--trace", "deep", "-m", "nothing is in the way any more"]);
}

#[test]
fn an_import_with_an_invalid_line_records_nothing() {
    let repo = repo();
    let short = b"{\"text\":\"fine\"}\n{\"text\":\"fine too\",\"role\":\"nobody\"}\n";
    insta::assert_snapshot!(repo.refused_with(&["import", "jsonl", "-"], short), @"
    --- stderr
    error: cannot import `-`: line 2: field `role`: `nobody` is not a role of dialogue; accepted: user, assistant, system
    [exit 2]
    ");
    let mut long: Vec<u8> = (0..100).flat_map(|n| format!("{{\"text\":\"{n}\"}}\n").into_bytes()).collect();
    long.extend_from_slice(b"{\"op\":\"edit\",\"id\":\"ffffffffffffffff\",\"text\":\"x\"}\n");
    insta::assert_snapshot!(repo.refused_with(&["import", "jsonl", "-"], &long), @"
    --- stderr
    error: cannot import `-`: line 101: it changes an item that was never added
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
    insta::assert_snapshot!(repo.refused(&["import", "session.jsonl"]), @"
    --- stderr
    error: `session.jsonl` does not exist
    hint: name the file of a session; `git trace import claude-code` finds the newest one for this folder
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "."]), @"
    --- stderr
    error: `.` is a folder
    hint: name a file; `git trace import --all` imports all sessions that agents ran in this folder
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["import", "somebody", "-"]), @"
    --- stderr
    error: `somebody` is neither a format nor a file
    hint: name its format, one of claude-code, codex, gemini-cli, opencode, copilot-cli, cursor, pi, droid, aider, qwen-code, atif, otel-genai, swe-agent, vscode-copilot, inspect, langsmith, langfuse, chatgpt, claude-export, sharegpt, codex-exec, gemini-stream-json, cline, openhands, mini-swe-agent, jsonl, openai, responses, anthropic, gemini
    [exit 2]
    ");
    repo.fsck();
}
