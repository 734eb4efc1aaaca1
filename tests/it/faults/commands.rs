//! A repository where everything has something to do, and every command that writes.

use std::fs;
use std::path::Path;

use regex::Regex;

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
    /// Git commands that prepare the repository.
    pub(super) before: &'static [&'static [&'static str]],
    /// Whether it exits 0 even if it failed, because it must never stop its caller.
    pub(super) never_fails: bool,
}

const fn plain(args: &'static [&'static str]) -> Writing {
    fed(args, "")
}

const fn fed(args: &'static [&'static str], input: &'static str) -> Writing {
    Writing { args, input, order: &[], repeats: false, refuses: false, before: &[], never_fails: false }
}

impl Writing {
    const fn in_order(self, order: &'static [&'static str]) -> Self {
        Self { order, ..self }
    }

    const fn that_refuses(self) -> Self {
        Self { refuses: true, ..self }
    }

    const fn after(self, before: &'static [&'static [&'static str]]) -> Self {
        Self { before, ..self }
    }

    const fn that_never_fails(self) -> Self {
        Self { never_fails: true, ..self }
    }

    const fn that_repeats(self) -> Self {
        Self { repeats: true, ..self }
    }
}

/// The previous trace is stored before the current one changes.
const HEADS: &[&str] = &["repo/.git/TRACE_PREVIOUS_HEAD", "repo/.git/TRACE_HEAD"];
/// The record of priorities decides; tags follow.
const LEVEL: &[&str] = &["repo refs/trace-priority", "repo refs/trace-tags/"];
const ITEM_THEN_LEVEL: &[&str] = &["repo refs/traces/main", "repo refs/trace-priority", "repo refs/trace-tags/"];
/// An import changes nothing but traces.
const TRACES: &[&str] = &["repo refs/traces/"];
/// The new name is there before the old one goes.
const RENAMED: &[&str] =
    &["repo refs/traces/thought", "repo refs/traces/better", "repo/.git/TRACE_", "repo refs/traces/"];
/// A trace is there before it is the current one.
const STARTED: &[&str] = &["repo refs/traces/other", "repo/.git/TRACE_PREVIOUS_HEAD", "repo/.git/TRACE_HEAD"];
/// The place that a trace is moved from is kept before it moves.
const PLACE: &[&str] = &["repo refs/trace-orig/", "repo refs/traces/"];

/// A trace is pushed before its priorities, then the remote-tracking refs are updated.
const PUSHED: &[&str] =
    &["remote.git refs/", "repo refs/trace-remote-records/", "repo refs/trace-orig/", "repo refs/trace-remotes/"];
/// The remote and its line have a trace before it goes.
const KEPT_THERE: &[&str] = &[
    "remote.git refs/",
    "repo refs/trace-remote-records/",
    "repo refs/trace-remotes/",
    "repo refs/trace-archiving/",
    "repo/.git/trace/archived",
    "repo refs/trace",
];
/// A trace is there before its line goes, and before it is the current one.
const BROUGHT_BACK: &[&str] = &[
    "repo refs/trace-remote",
    "repo refs/traces/",
    "repo/.git/trace/archived",
    "repo/.git/TRACE_PREVIOUS_HEAD",
    "repo/.git/TRACE_HEAD",
];
/// A fetch moves nothing but remote-tracking refs.
const FETCHED: &[&str] = &["repo refs/trace-remote"];
/// Remote-tracking refs move before local ones, items before priorities.
const PULLED: &[&str] =
    &["repo refs/trace-remote", "repo refs/traces/", "repo refs/trace-priority", "repo refs/trace-tags/"];
/// A checkpoint is listed, takes the place of the current one, and is there.
const CHECKPOINT: &[&str] =
    &["repo/checkpoints/active/INDEX.md", "repo/checkpoints/active/chk-first.md", "repo/checkpoints/"];
/// A checkpoint is taken off the list, what was learnt is collected, it is copied, and it goes.
const ARCHIVED: &[&str] = &[
    "repo/checkpoints/active/INDEX.md",
    "repo/checkpoints/LEARNINGS.md",
    "repo/checkpoints/archive/",
    "repo/checkpoints/active/chk-first.md",
];
/// Settings one after the other, then what they are for.
const SET_UP: &[&str] = &["repo/.git/config", "repo/.gitattributes", "repo/.git/hooks/"];
/// Git's settings, then those of agents and clients, one by one.
const TAKEN_BACK: &[&str] = &["repo/.git/config", "repo/.git/hooks/", "repo/.gitattributes", "repo/."];
/// Previous values are stored before the settings change.
const NOTED: &[&str] = &["repo/.git/trace/installed/", "repo/.claude/"];
/// The settings are put back before that is forgotten.
const PUT_BACK: &[&str] = &["repo/.claude/", "repo/.git/trace/installed/"];
/// A handmade trace with a wrong total, and a tag without a priority.
const DAMAGED: &[&[&str]] = &[
    &[
        "-c",
        "alias.claim=!tree=$(git rev-parse refs/traces/short^{tree}) && git update-ref refs/traces/short $(printf \
         'by hand\\n\\nTrace-Tree: %s\\nTrace-Total: 1 o200k_base\\nTrace-Next: 9\\n' $tree | \
         git commit-tree -p refs/traces/short $tree)",
        "claim",
    ],
    &["update-ref", "refs/trace-tags/skip/0123456789abcdef", "refs/traces/short"],
];

/// The trace of the session in `session.jsonl`.
const SESSION: &str = "claude-code/488c5296-fc78-4fdf-8cfd-f1cae9454bd0";
const IMPORTED: &[&[&str]] = &[&["trace", "import", "claude-code", "../session.jsonl"]];
/// The file of a session is there before its trace and its ref name it.
const RESUMED: &[&str] = &["repo/claude/", "repo refs/traces/", "repo refs/trace-sessions/"];
/// What the remote has is fetched, all is purged here, and then there; tombstones go first.
const PURGED_THERE: &[&str] = &[
    "repo refs/trace-remote-records/origin/priority",
    "repo refs/trace-remotes/",
    "repo refs/trace-orig/",
    "repo refs/traces/",
    "repo refs/trace-purged",
    "remote.git refs/trace-records/",
    "repo refs/trace-remote-records/origin/purged",
    "remote.git refs/traces/",
];

/// Each tip is kept before its trace is deleted; the name of a backup does not contain that of its trace.
const PLACES: &[&str] = &["repo refs/trac"];

pub(super) const COMMANDS: &[Writing] = &[
    plain(&["init", "fresh"]).in_order(HEADS),
    plain(&["commit", "-m", "new"]),
    plain(&["--trace", "fresh", "commit", "-m", "the first"]),
    plain(&["commit", "-m", "new", "-p", "pinned", "--reason", "it matters"]).in_order(ITEM_THEN_LEVEL).that_repeats(),
    fed(&["commit", "--batch"], "{\"text\":\"one\"}\n{\"text\":\"two\",\"priority\":\"skip\"}\n{\"text\":\"three\"}\n")
        .in_order(ITEM_THEN_LEVEL)
        .that_repeats(),
    plain(&["edit", "#1", "-m", "edited"]),
    plain(&["delete", "#1", "--reason", "wrong"]),
    plain(&["restore", "#4"]),
    plain(&["pin", "#2", "--reason", "why"]).in_order(LEVEL),
    plain(&["skip", "#0", "#1", "#2"]).in_order(LEVEL),
    plain(&["unpin", "#0"]).in_order(LEVEL),
    fed(
        &["import", "jsonl", "-"],
        "{\"text\":\"imported one\"}\n{\"text\":\"imported two\",\"priority\":\"pinned\"}\n",
    )
    .in_order(ITEM_THEN_LEVEL)
    .that_repeats(),
    plain(&["import", "jsonl", "../many.jsonl"]),
    plain(&["import", "claude-code", "../session.jsonl"]).in_order(TRACES),
    plain(&["compress", "#0..#2", "-m", "a summary"]),
    plain(&["--trace", "short", "expand", "#1"]),
    plain(&["merge", "idea"]),
    plain(&["--trace", "behind", "merge", "main"]),
    plain(&["cherry-pick", "idea", "#6"]),
    plain(&["revert", "TRACE_HEAD"]),
    plain(&["rebase", "idea"]).in_order(PLACE),
    plain(&["reset", "TRACE_HEAD~2"]).in_order(PLACE),
    plain(&["--trace", "main", "undo"]).in_order(PLACE),
    plain(&["redo"])
        .after(&[&["trace", "commit", "-m", "new", "-p", "pinned"], &["trace", "undo"]])
        .in_order(ITEM_THEN_LEVEL),
    plain(&["branch", "other"]),
    plain(&["branch", "-m", "idea", "thought"]).in_order(RENAMED).that_refuses(),
    plain(&["branch", "-m", "better"]).in_order(RENAMED).that_refuses(),
    plain(&["branch", "-D", "idea", "behind"]).in_order(PLACES).that_refuses(),
    plain(&["switch", "idea"]).in_order(HEADS),
    plain(&["switch", "-c", "other", "idea"]).in_order(STARTED).that_refuses(),
    plain(&["push", "origin", "idea"]).in_order(PUSHED),
    plain(&["--trace", "idea", "push", "-f", "origin", "idea"])
        .after(&[&["trace", "push", "origin", "idea"], &["trace", "--trace", "idea", "reset", "refs/traces/idea~1"]])
        .in_order(PUSHED),
    plain(&["push", "origin", "refs/crumbs/ada"]).in_order(PUSHED),
    plain(&["fetch"]).in_order(FETCHED),
    plain(&["fetch", "--prune"])
        .after(&[&["trace", "fetch"], &["--git-dir=../remote.git", "update-ref", "-d", "refs/traces/main"]])
        .in_order(FETCHED),
    plain(&["pull"]).in_order(PULLED),
    plain(&["remote", "origin", "--follow"]).in_order(SET_UP),
    plain(&["remote", "origin", "--unfollow"]).after(&[&["trace", "remote", "origin", "--follow"]]).in_order(SET_UP),
    plain(&["gc", "--quiet"]),
    plain(&["gc", "--quiet", "--renumber"]).in_order(&["repo refs/traces/main"]),
    // Each repair is independent.
    plain(&["fsck", "--repair"]).after(DAMAGED).in_order(&["repo refs/"]),
    plain(&["import", "codex", "../compacted.jsonl"]).in_order(TRACES),
    fed(
        &["hook", "claude-code", "--wait"],
        "{\"session_id\":\"6b2e\",\"transcript_path\":\"../session.jsonl\",\"hook_event_name\":\"Stop\"}",
    )
    .in_order(TRACES)
    .that_never_fails(),
    plain(&["install"]).in_order(SET_UP),
    plain(&["install", "--private", "--no-hooks"]).in_order(&["repo/.git/config", "repo/.git/info/attributes"]),
    plain(&["install", "--agent", "claude-code"]).in_order(NOTED),
    plain(&["install", "--mcp", "cursor"]),
    plain(&["disable"]).in_order(&["repo/.git/config"]),
    plain(&["install", "--completions", "bash"]),
    plain(&["install", "--man", "pages"]).in_order(&["repo/pages/"]),
    plain(&["uninstall"])
        .after(&[
            &["trace", "install"],
            &["trace", "install", "--agent", "claude-code"],
            &["trace", "install", "--mcp", "cursor"],
        ])
        .in_order(TAKEN_BACK),
    plain(&["uninstall", "--agent", "claude-code"])
        .after(&[&["trace", "install", "--agent", "claude-code"]])
        .in_order(PUT_BACK),
    plain(&["uninstall", "--mcp", "cursor"]).after(&[&["trace", "install", "--mcp", "cursor"]]),
    plain(&["uninstall", "--completions", "bash"]).after(&[&["trace", "install", "--completions", "bash"]]),
    plain(&["uninstall", "--man", "pages"])
        .after(&[&["trace", "install", "--man", "pages"]])
        .in_order(&["repo/pages/"]),
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
    plain(&["forward", "expire", "--agent", "ada", "--delete"]).in_order(&["repo refs/crumbs/ada"]),
    plain(&["forward", "import", "--agent", "bob", "../crumbs.json"]),
    plain(&["forward", "migrate", "--agent", "ada", "../note.md"]),
    plain(&["breadcrumb", "set", "api.new", "value"]),
    plain(&["breadcrumb", "set", "api.auth", "changed"]),
    plain(&["breadcrumb", "set", "secret.token", "s3", "--task-id", "4"]),
    plain(&["breadcrumb", "delete", "api.auth", "--confirm"]),
    plain(&["breadcrumb", "rename", "api.auth", "api.login"]),
    plain(&["breadcrumb", "prune"]),
    plain(&["breadcrumb", "resolve"]).after(&[&[
        "-c",
        "alias.clash=!printf '%s\\n' '<<<<<<< ours' '{\"key\":\"a.b\",\"value\":\"1\"}' '=======' \
         '{\"key\":\"a.c\",\"value\":\"2\"}' '>>>>>>> theirs' > .synapse/breadcrumbs.jsonl",
        "clash",
    ]]),
    fed(
        &["breadcrumb", "import", "-"],
        "{\"key\":\"api.one\",\"value\":\"1\"}\n{\"key\":\"api.two\",\"value\":\"2\"}\n",
    ),
    plain(&["crumb", "new", "fresh.crumb"]),
    plain(&["crumb", "start", "agent.crumb"]),
    plain(&["crumb", "note", "agent.crumb", "something"]),
    plain(&["crumb", "fail", "agent.crumb", "api:rate-limit", "hit 429"]),
    plain(&["crumb", "compress", "agent.crumb"]).in_order(&["repo refs/crumb-archive/", "repo/agent.crumb"]),
    plain(&["crumb", "expand", "agent.crumb", "@2-10"]).after(&[&["trace", "crumb", "compress", "agent.crumb"]]),
    plain(&["crumb", "remove", "agent.crumb", "noted 23"]),
    plain(&["crumb", "receive", "agent.crumb", "../other.crumb"]),
    plain(&["crumb", "fmt", "agent.crumb"]),
    plain(&["checkpoint", "new", "more", "--problem", "p", "--intent", "i", "--current"]).in_order(CHECKPOINT),
    plain(&["checkpoint", "current", "second"]).in_order(CHECKPOINT),
    plain(&["checkpoint", "delta", "first", "-m", "went on"]).in_order(CHECKPOINT),
    plain(&["checkpoint", "add-breadcrumb", "file", "code.txt", "all of it", "-c", "first"]),
    plain(&["checkpoint", "archive", "-o", "done", "-l", "much"]).in_order(ARCHIVED),
    plain(&["export", "-o", "out.jsonl"]).after(&[&["trace", "export", "-o", "out.jsonl", "idea"]]),
    plain(&["view", "-o", "out.html"]).after(&[&["trace", "view", "-o", "out.html", "idea"]]),
    plain(&["forward", "export", "--agent", "ada", "-o", "out.jsonl"]).after(&[&[
        "trace",
        "export",
        "-o",
        "out.jsonl",
    ]]),
    plain(&["archive", "origin", "idea"]).in_order(KEPT_THERE).that_refuses(),
    plain(&["switch", "idea"]).after(&[&["trace", "archive", "origin", "idea"]]).in_order(BROUGHT_BACK),
    plain(&["clean", SESSION, "--yes", "--preset", "aggressive", "--keep", "1"]).after(IMPORTED),
    plain(&["purge", "#2", "--reason", "leaked", "--yes"]).in_order(&["repo refs/"]),
    plain(&["purge", "#2", "--reason", "leaked", "--yes", "--push", "origin"]).in_order(PURGED_THERE),
    plain(&["purge", "--push", "origin", "--yes"])
        .after(&[&["trace", "purge", "#2", "--reason", "leaked", "--yes"]])
        .in_order(PURGED_THERE),
    plain(&["resume", SESSION, "--print"]).after(IMPORTED).in_order(RESUMED),
    plain(&["enable"]).after(&[&["trace", "disable"]]).in_order(&["repo/.git/config"]),
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
    at.text(&["pin", "#0", "--reason", "first"]);
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
            at.text(&["breadcrumb", "set", "api.old", "x", "--expires", "2031-01-01T00:00:00Z"]);
        }
    }
    let store = fs::read_to_string(at.folder().join(".synapse/breadcrumbs.jsonl")).unwrap();
    write(".synapse/breadcrumbs.jsonl", store.replace("2031-01-01", "2021-01-01"));
    write(".gitignore", ".synapse/breadcrumbs-secret.jsonl\n".to_owned());
    at.text(&["crumb", "new", "agent.crumb"]);
    for n in 0..24 {
        at.text(&["crumb", "start", "agent.crumb"]);
        at.text(&["crumb", "note", "agent.crumb", &format!("noted {n}")]);
    }
    at.text(&["checkpoint", "new", "first", "--problem", "p", "--intent", "i", "--current"]);
    at.text(&["checkpoint", "new", "second", "--problem", "p", "--intent", "i"]);
    // Of another day, so that the day in the list changes.
    let list = at.folder().join("checkpoints/active/INDEX.md");
    let day = Regex::new(r"\d{4}-\d\d-\d\d").unwrap();
    let dated = day.replace_all(&fs::read_to_string(&list).unwrap(), "2026-01-01").into_owned();
    fs::write(list, dated).unwrap();
    at.text(&["forward", "leave", "--agent", "ada", "--summary", "It was begun and it is open.", "--priority", "LOW"]);
    for n in 0..2 {
        at.text(&["forward", "leave", "--agent", "bob", "--summary", &format!("Left to others, {n}.")]);
    }
    let crumbs = at.home().join("crumbs.json");
    at.text(&["forward", "export", "--agent", "bob", "-o", crumbs.to_str().unwrap()]);
    at.git(&["update-ref", "-d", "refs/crumbs/bob"]);
    fs::write(at.home().join("note.md"), "# Note to self\n\nSession summary: it was left open.\n").unwrap();
    let other = at.home().join("other.crumb").to_str().unwrap().to_owned();
    at.text(&["crumb", "new", &other]);
    at.text(&["crumb", "note", &other, "from another"]);
    write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n".to_owned());
    let many: String = (0..30).map(|n| format!("{{\"text\":\"one of many, {n}\"}}\n")).collect();
    fs::write(at.home().join("many.jsonl"), many).unwrap();
    let session = fixtures.join("transcripts/claude-code/small-thinking-tools.jsonl");
    fs::copy(session, at.home().join("session.jsonl")).unwrap();
    let compacted = fixtures.join("transcripts/codex/rollout-record-matrix.jsonl");
    fs::copy(compacted, at.home().join("compacted.jsonl")).unwrap();
}
