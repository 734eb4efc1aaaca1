//! A repository where everything has something to do, and every command that writes.

use std::fs;
use std::path::Path;

use crate::repo::TestRepo;

/// A command that writes.
pub(super) struct Writing {
    pub(super) args: &'static [&'static str],
    pub(super) input: &'static str,
    /// What becomes new one after the other, where that is not one thing: beginnings of names of a view.
    pub(super) order: &'static [&'static str],
    /// Whether doing it again after a part of it was done does that part twice, or leaves a tag, which is derived, as it is.
    pub(super) repeats: bool,
    /// Whether doing it again after a part of it was done is refused.
    pub(super) refuses: bool,
}

const fn plain(args: &'static [&'static str]) -> Writing {
    fed(args, "")
}

const fn fed(args: &'static [&'static str], input: &'static str) -> Writing {
    Writing { args, input, order: &[], repeats: false, refuses: false }
}

impl Writing {
    const fn in_order(self, order: &'static [&'static str]) -> Self {
        Self { order, ..self }
    }

    const fn that_refuses(self) -> Self {
        Self { refuses: true, ..self }
    }

    const fn that_repeats(self) -> Self {
        Self { repeats: true, ..self }
    }
}

/// What was the current trace is remembered before it is another.
const HEADS: &[&str] = &["repo/.git/TRACE_PREVIOUS_HEAD", "repo/.git/TRACE_HEAD"];
/// The record of priorities decides; tags follow.
const LEVEL: &[&str] = &["repo refs/trace-priority", "repo refs/trace-tags/"];
const ITEM_THEN_LEVEL: &[&str] = &["repo refs/traces/main", "repo refs/trace-priority", "repo refs/trace-tags/"];
/// An import's items are skipped or pinned before the trace takes them up.
const LEVEL_THEN_ITEMS: &[&str] = &["repo refs/trace-priority", "repo refs/trace-tags/", "repo refs/traces/"];
/// The new name is there before the old one goes.
const RENAMED: &[&str] =
    &["repo refs/traces/thought", "repo refs/traces/better", "repo/.git/TRACE_", "repo refs/traces/"];
/// The place that a trace is moved from is kept before it moves.
const PLACE: &[&str] = &["repo refs/trace-orig/", "repo refs/traces/"];

pub(super) const COMMANDS: &[Writing] = &[
    plain(&["init", "fresh"]).in_order(HEADS),
    plain(&["commit", "-m", "new"]),
    plain(&["--trace", "fresh", "commit", "-m", "the first"]),
    plain(&["commit", "-m", "new", "-p", "pinned", "--reason", "it matters"]).in_order(ITEM_THEN_LEVEL).that_repeats(),
    fed(&["commit", "--batch"], "{\"text\":\"one\"}\n{\"text\":\"two\",\"priority\":\"skip\"}\n{\"text\":\"three\"}\n")
        .in_order(ITEM_THEN_LEVEL)
        .that_repeats(),
    plain(&["edit", "#1", "-m", "edited"]),
    plain(&["delete", "#1", "-m", "wrong"]),
    plain(&["restore", "#4"]),
    plain(&["pin", "#2", "-m", "why"]).in_order(LEVEL),
    plain(&["skip", "#0", "#1", "#2"]).in_order(LEVEL),
    plain(&["unpin", "#0"]).in_order(LEVEL),
    fed(
        &["import", "jsonl", "-"],
        "{\"text\":\"imported one\"}\n{\"text\":\"imported two\",\"priority\":\"pinned\"}\n",
    )
    .in_order(ITEM_THEN_LEVEL)
    .that_repeats(),
    plain(&["import", "jsonl", "../many.jsonl"]),
    plain(&["import", "claude-code", "../session.jsonl"]).in_order(LEVEL_THEN_ITEMS),
    plain(&["compress", "#0..#2", "-m", "a summary"]),
    plain(&["--trace", "short", "expand", "#1"]),
    plain(&["merge", "idea"]),
    plain(&["--trace", "behind", "merge", "main"]),
    plain(&["cherry-pick", "idea", "#6"]),
    plain(&["revert", "TRACE_HEAD"]),
    plain(&["rebase", "idea"]).in_order(PLACE),
    plain(&["reset", "TRACE_HEAD~2"]).in_order(PLACE),
    plain(&["undo"]).in_order(PLACE),
    plain(&["branch", "other"]),
    plain(&["branch", "-m", "idea", "thought"]).in_order(RENAMED).that_refuses(),
    plain(&["branch", "-m", "better"]).in_order(RENAMED).that_refuses(),
    plain(&["branch", "-D", "idea", "behind"]).in_order(PLACE).that_refuses(),
    plain(&["switch", "idea"]).in_order(HEADS),
    plain(&["push", "origin", "idea"]),
    plain(&["fetch"]),
    plain(&["pull"]),
    plain(&[
        "forward",
        "leave",
        "--agent",
        "ada",
        "--summary",
        "It was done and it is well.",
        "--unfinished",
        "the rest of it",
    ]),
    plain(&["forward", "expire", "--agent", "ada", "--delete"]),
    plain(&["breadcrumb", "set", "api.new", "value"]),
    plain(&["breadcrumb", "set", "api.auth", "changed"]),
    plain(&["breadcrumb", "set", "secret.token", "s3", "--task-id", "4"]),
    plain(&["breadcrumb", "delete", "api.auth", "--confirm"]),
    plain(&["breadcrumb", "rename", "api.auth", "api.login"]),
    plain(&["breadcrumb", "prune"]),
    fed(
        &["breadcrumb", "import", "-"],
        "{\"key\":\"api.one\",\"value\":\"1\"}\n{\"key\":\"api.two\",\"value\":\"2\"}\n",
    ),
    plain(&["crumb", "new", "fresh.crumb"]),
    plain(&["crumb", "start", "agent.crumb"]),
    plain(&["crumb", "note", "agent.crumb", "something"]),
    plain(&["crumb", "fail", "agent.crumb", "api:rate-limit", "hit 429"]),
    plain(&["crumb", "compress", "agent.crumb"]),
    plain(&["crumb", "fmt", "agent.crumb"]),
    plain(&["checkpoint", "new", "more", "--problem", "p", "--intent", "i", "--current"]),
    plain(&["checkpoint", "current", "second"]),
    plain(&["checkpoint", "delta", "first", "-m", "went on"]),
    plain(&["checkpoint", "add-breadcrumb", "file", "code.txt", "all of it", "-c", "first"]),
    plain(&["checkpoint", "archive", "first", "-o", "done", "-l", "much"]),
];

/// Lays out what the commands work on: `repo` and `remote.git` in the home of `at`.
pub(super) fn prepare(at: &TestRepo) {
    let write = |path: &str, text: String| {
        let path = at.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    write("code.txt", "code\n".to_owned());
    at.git(&["add", "."]);
    at.git(&["commit", "-q", "-m", "code"]);
    at.git(&["init", "-q", "--bare", "--initial-branch=code", "../remote.git"]);
    at.git(&["remote", "add", "origin", "../remote.git"]);
    for n in 0..5 {
        at.say(&format!("item {n}"));
    }
    at.text(&["pin", "#0", "-m", "first"]);
    at.text(&["branch", "behind"]);
    at.text(&["delete", "#4"]);
    at.text(&["push", "origin", "main"]);
    // Somebody else works on the remote's.
    at.git(&["clone", "-q", "../remote.git", "../elsewhere"]);
    let elsewhere = at.home().join("elsewhere").to_str().unwrap().to_owned();
    at.git(&["-C", &elsewhere, "trace", "pull"]);
    at.git(&["-C", &elsewhere, "trace", "commit", "-m", "from elsewhere"]);
    at.git(&["-C", &elsewhere, "trace", "skip", "#3"]);
    at.git(&["-C", &elsewhere, "trace", "push"]);
    fs::remove_dir_all(elsewhere).unwrap();
    at.text(&["branch", "idea"]);
    at.text(&["--trace", "idea", "edit", "#3", "-m", "thought over"]);
    at.text(&["--trace", "idea", "commit", "-m", "only there"]);
    at.text(&["--trace", "idea", "commit", "-m", "there too"]);
    // Some objects and refs are packed, the later ones loose.
    at.git(&["gc", "-q"]);
    at.text(&["edit", "#2", "-m", "item 2, again"]);
    at.say("item 5");
    at.text(&["branch", "short"]);
    at.text(&["--trace", "short", "compress", "#1..#2", "-m", "in short"]);
    at.text(&["reset", "TRACE_HEAD~1"]);
    at.say("item 6");
    for n in 0..40 {
        at.text(&["breadcrumb", "set", &format!("api.k{n}"), "value"]);
        if n == 20 {
            at.text(&["breadcrumb", "set", "api.auth", "JWT"]);
            at.text(&["breadcrumb", "set", "api.old", "x", "--expires", "2020-01-01T00:00:00Z"]);
        }
    }
    write(".gitignore", ".synapse/breadcrumbs-secret.jsonl\n".to_owned());
    at.text(&["crumb", "new", "agent.crumb"]);
    for n in 0..24 {
        at.text(&["crumb", "start", "agent.crumb"]);
        at.text(&["crumb", "note", "agent.crumb", &format!("noted {n}")]);
    }
    at.text(&["checkpoint", "new", "first", "--problem", "p", "--intent", "i", "--current"]);
    at.text(&["checkpoint", "new", "second", "--problem", "p", "--intent", "i"]);
    at.text(&["forward", "leave", "--agent", "ada", "--summary", "It was begun and it is open.", "--priority", "LOW"]);
    let many: String = (0..30).map(|n| format!("{{\"text\":\"one of many, {n}\"}}\n")).collect();
    fs::write(at.home().join("many.jsonl"), many).unwrap();
    let session = fixtures.join("transcripts/claude-code/small-thinking-tools.jsonl");
    fs::copy(session, at.home().join("session.jsonl")).unwrap();
}
