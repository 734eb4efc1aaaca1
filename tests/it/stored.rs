//! The stored formats, byte for byte. Bodies are empty, so that every token count is 0.

use crate::repo::{TestRepo, run};

/// Two items; the second has every header that a person can set.
fn two_items() -> TestRepo {
    let repo = TestRepo::classic(&[]);
    repo.say("");
    repo.commit(&[
        "-t",
        "tool_io",
        "--set",
        "direction=result",
        "--set",
        "status=ok",
        "--name",
        "grep",
        "--call-id",
        "toolu_01A",
        "--reply-to",
        "#0",
        "--set",
        "turn=msg_01B",
        "--set",
        "created_at=2026-02-10T08:59:59.125Z",
        "--meta",
        "z=1",
        "--meta",
        "a=text",
        "-m",
        "",
    ]);
    repo
}

#[test]
fn the_item_file_format_is_stable() {
    let repo = two_items();
    insta::assert_snapshot!(repo.git(&["ls-tree", "-r", "refs/traces/main"]), @"
    100644 blob fce6622461e397e869e6fc3207fd9883876f1219	00/00/000000-dialogue-9f7e2504c0427535
    100644 blob 59a76390788cbf23d02d15be4050b7dc498036db	00/00/000001-tool_io-9337dd93d2f84bfa
    ");
    insta::assert_snapshot!(repo.text(&["show", "#0", "--header"]), @"
    id: 9f7e2504c0427535
    type: dialogue
    role: user
    tokens: 0 o200k_base af1349b9
    ");
    insta::assert_snapshot!(repo.text(&["show", "#1", "--header"]), @r#"
    id: 9337dd93d2f84bfa
    type: tool_io
    role: tool
    direction: result
    name: grep
    call-id: toolu_01A
    status: ok
    turn: msg_01B
    reply-to: 9f7e2504c0427535
    created: 2026-02-10T08:59:59.125Z
    tokens: 0 o200k_base af1349b9
    meta: {"a":"text","z":1}
    "#);
    repo.text(&["edit", "#1", "-t", "freeform", "--set", "x_y=1"]);
    insta::assert_snapshot!(repo.text(&["show", "#1", "--header"]), @r#"
    id: 9337dd93d2f84bfa
    type: freeform
    role: tool
    direction: result
    name: grep
    call-id: toolu_01A
    status: ok
    turn: msg_01B
    reply-to: 9f7e2504c0427535
    created: 2026-02-10T08:59:59.125Z
    revision: 2
    tokens: 0 o200k_base af1349b9
    meta: {"a":"text","z":1}
    x-y: 1
    "#);
}

#[test]
fn the_commit_format_is_stable() {
    let repo = two_items();
    repo.text(&["delete", "#1", "--reason", "not needed"]);
    insta::assert_snapshot!(repo.git(&["cat-file", "commit", "refs/traces/main~2"]), @"
    tree 414e65908086d0fdd7bb622628ec8df2f74922db
    author A U Thor <author@example.com> 1770714002 +0000
    committer A U Thor <author@example.com> 1770714002 +0000

    dialogue user

    Trace-Op: append
    Trace-Item: 9f7e2504c0427535
    Trace-Time: 2026-02-10T09:00:02Z
    Trace-Tree: 414e65908086d0fdd7bb622628ec8df2f74922db
    Trace-Total: 6 o200k_base
    Trace-Next: 1
    ");
    insta::assert_snapshot!(repo.git(&["cat-file", "commit", "refs/traces/main~1"]), @"
    tree 7922876abfe6e34cf62fd3221fe73e9118d675ba
    parent acce9ef63411ddbff51125bed0d0760ff668d49e
    author A U Thor <author@example.com> 1770714003 +0000
    committer A U Thor <author@example.com> 1770714003 +0000

    tool_io result grep

    Trace-Op: append
    Trace-Item: 9337dd93d2f84bfa
    Trace-Time: 2026-02-10T09:00:03Z
    Trace-Tree: 7922876abfe6e34cf62fd3221fe73e9118d675ba
    Trace-Total: 10 o200k_base
    Trace-Next: 2
    ");
    insta::assert_snapshot!(repo.git(&["cat-file", "commit", "refs/traces/main"]), @"
    tree 414e65908086d0fdd7bb622628ec8df2f74922db
    parent bc9552cf1596789c44660ca8e495d8e3f7082bb7
    author A U Thor <author@example.com> 1770714004 +0000
    committer A U Thor <author@example.com> 1770714004 +0000

    delete tool_io result grep

    Trace-Op: delete
    Trace-Item: 9337dd93d2f84bfa
    Trace-Time: 2026-02-10T09:00:04Z
    Trace-Tree: 414e65908086d0fdd7bb622628ec8df2f74922db
    Trace-Total: 6 o200k_base
    Trace-Next: 2
    Trace-Reason: not needed
    ");
    let trailers = run(
        repo.command("git").args(["interpret-trailers", "--parse"]),
        repo.git(&["log", "-1", "--format=%B", "refs/traces/main"]).as_bytes(),
    );
    assert_eq!(String::from_utf8(trailers.stdout).unwrap().lines().count(), 7, "git reads all of them as trailers");
}

#[test]
fn the_priority_record_format_is_stable() {
    let repo = two_items();
    repo.text(&["skip", "#1", "--reason", "superseded"]);
    repo.text(&["unpin", "#1"]);
    insta::assert_snapshot!(repo.git(&["grep", "", "refs/trace-priority"]), @r#"
    refs/trace-priority:93/37dd93d2f84bfa:{"at":"2026-02-10T09:00:04.000000000Z","by":"A U Thor <author@example.com>","level":"skip","seq":1,"reason":"superseded","after":[]}
    refs/trace-priority:93/37dd93d2f84bfa:{"at":"2026-02-10T09:00:05.000000000Z","by":"A U Thor <author@example.com>","level":"normal","seq":1,"after":["055b97eb8cac0bd2"]}
    "#);
    insta::assert_snapshot!(repo.git(&["log", "--format=%an <%ae> %ct%n%B", "refs/trace-priority"]), @"
    A U Thor <author@example.com> 1770714005
    normal 9337dd93d2f84bfa

    A U Thor <author@example.com> 1770714004
    skip 9337dd93d2f84bfa

    superseded
    ");
    insta::assert_snapshot!(repo.refs(), @"
    refs/trace-priority 5fb93735cff8b0ad13d5e6dfe98ad3d1ca6d8ff7
    refs/trace-tags/normal/9337dd93d2f84bfa bc9552cf1596789c44660ca8e495d8e3f7082bb7
    refs/traces/main bc9552cf1596789c44660ca8e495d8e3f7082bb7
    ref: refs/traces/main
    ");
}

#[test]
fn the_reflog_format_is_stable() {
    for options in [&[][..], &["--bare"]] {
        let repo = TestRepo::classic(options);
        repo.say("");
        repo.text(&["pin", "#0", "--reason", "why"]);
        let logs = repo.git_dir().join("logs/refs");
        let logs = ["traces/main", "trace-priority"].map(|name| std::fs::read_to_string(logs.join(name)).unwrap());
        insta::allow_duplicates! {
            insta::assert_snapshot!(logs.concat(), @"
            0000000000000000000000000000000000000000 acce9ef63411ddbff51125bed0d0760ff668d49e A U Thor <author@example.com> 1770714002 +0000	append: dialogue user
            0000000000000000000000000000000000000000 9046f9405d679457efc0aabc4015dfb3cb151457 A U Thor <author@example.com> 1770714003 +0000	pinned 9f7e2504c0427535
            ");
            insta::assert_snapshot!(repo.git(&["reflog", "show", "refs/traces/main"]), @"acce9ef refs/traces/main@{0}: append: dialogue user");
        }
    }
}
