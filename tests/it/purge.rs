//! Purging: no form of a text is left anywhere in the repository, and nothing else is lost.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::repo::{TestRepo, has_terminal, run};

pub(crate) const SECRET: &str = "correct-horse-\"battery\"-staple";
const JSON: &str = "correct-horse-\\\"battery\\\"-staple";

/// The forms of the text. None may remain.
fn forms() -> Vec<Vec<u8>> {
    let mut forms = vec![SECRET.into(), JSON.into(), JSON.replace('\\', "\\\\").into_bytes(), b"horse".to_vec()];
    for before in ["", "x", "xx"] {
        let encoded = BASE64_STANDARD.encode(format!("{before}{SECRET}"));
        forms.push(encoded.as_bytes()[4..encoded.len() - 4].to_vec());
        // As on several lines, whose ends depend on what is before.
        forms.push(encoded.as_bytes()[20..28].to_vec());
    }
    forms.push(hex());
    forms.push(SECRET.encode_utf16().flat_map(u16::to_le_bytes).collect());
    forms
}

fn hex() -> Vec<u8> {
    SECRET.bytes().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

fn contains(bytes: &[u8], form: &[u8]) -> bool {
    bytes.windows(form.len()).any(|window| window == form)
}

/// Every place where the text is found: objects, files in the git folder, and reflogs.
pub(crate) fn places(repo: &TestRepo) -> Vec<String> {
    let mut found = Vec::new();
    let objects = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"").stdout;
    let mut folders = vec![repo.git_dir().canonicalize().unwrap()];
    let mut files = vec![("objects".to_owned(), objects)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    let refs = repo.git(&["for-each-ref", "--format=%(refname)"]);
    for refname in refs.lines() {
        let log = run(repo.command("git").args(["reflog", "show", refname, "--"]), b"").stdout;
        files.push((format!("reflog of {refname}"), log));
    }
    for (place, bytes) in files {
        for form in forms() {
            if contains(&bytes, &form) {
                found.push(format!("{place}: {}", String::from_utf8_lossy(&form)));
            }
        }
    }
    found
}

/// Puts the text in every place that git-trace writes.
fn plant(repo: &TestRepo) {
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("Which password is it?");
    repo.say(&format!("The password is {SECRET}."));
    repo.say(&format!("A line that is long enough for the subject to end within the password {SECRET}"));
    for before in ["", "x", "xx"] {
        repo.say(&format!("data:{}", BASE64_STANDARD.encode(format!("{before}{SECRET}, and more"))));
    }
    let encoded = BASE64_STANDARD.encode(format!("-----{SECRET}, and more"));
    let (one, other) = encoded.split_at(24);
    repo.say(&format!("-----BEGIN-----\n{one}\n{other}\n-----END-----"));
    repo.bytes_with(&["commit", "-F", "-"], &[b"hex ".as_slice(), &hex()].concat());
    let wide: Vec<u8> = format!("wide {SECRET}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    repo.bytes_with(&["commit", "-t", "artifact", "-F", "-"], &wide);
    repo.bytes_with(
        &["commit", "-t", "tool_io", "--role", "assistant", "--name", "bash", "--call-id", "c1", "-F", "-"],
        format!("{{\"command\":\"echo {JSON}\"}}").as_bytes(),
    );
    repo.text(&["commit", "-s", &format!("subject {SECRET}"), "-m", "other"]);
    repo.text(&["commit", "--meta", &format!("note={SECRET}"), "-m", "with meta"]);
    repo.text(&["pin", "#1", "--reason", &format!("needed {SECRET}")]);
    repo.text(&["branch", "idea"]);
    repo.text(&["edit", "#1", "-m", &format!("edited {SECRET} twice"), "-s", &format!("why {SECRET}")]);
    repo.text(&["delete", "#2", "--reason", &format!("because {SECRET}")]);
    repo.text(&["undo"]);
    repo.text(&["reset", "#5"]);
    repo.say("after");
    repo.text(&["compress", "#0..#1", "-m", &format!("summary of {SECRET}")]);
    repo.text(&["forward", "leave", "--agent", "ada", "--summary", &format!("Rotate {SECRET}"), "--unfinished", "x"]);
    repo.text(&["view"]);
    let format = repo.git(&["rev-parse", "--show-object-format"]);
    repo.git(&["init", "-q", "--bare", "--object-format", format.trim(), "../origin.git"]);
    repo.git(&["remote", "add", "origin", "../origin.git"]);
    repo.text(&["push", "origin", "main", "idea"]);
    repo.text(&["fetch"]);
}

/// An archive of a crumb file.
pub(crate) fn plant_archive(repo: &TestRepo) {
    repo.text(&["crumb", "new", "a.crumb", "--fact", "reviews"]);
    for n in 0..8 {
        repo.text(&["crumb", "note", "a.crumb", &format!("note {n} says {SECRET}")]);
        repo.text(&["crumb", "fail", "a.crumb", &format!("api:fail{n}"), &format!("do not say {SECRET}")]);
        repo.text(&["crumb", "start", "a.crumb"]);
    }
    for _ in 0..12 {
        repo.text(&["crumb", "start", "a.crumb"]);
    }
    repo.text(&["crumb", "compress", "a.crumb"]);
    assert!(repo.refs().contains("refs/crumb-archive/"));
    fs::remove_file(repo.folder().join("a.crumb")).unwrap();
}

pub(crate) fn purge(repo: &TestRepo, args: &[&str]) -> serde_json::Value {
    let output =
        repo.run(&[&["purge", "--json", "--text", "-", "--reason", "leaked"], args].concat(), SECRET.as_bytes());
    assert!(!output.stdout.is_empty(), "{}", repo.exact(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

pub(crate) fn check(repo: &TestRepo) {
    assert_eq!(places(repo), Vec::<String>::new());
    repo.fsck();
    insta::allow_duplicates! {
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
    }
}

fn unreachable(repo: &TestRepo, text: &str) -> String {
    let output = run(repo.command("git").args(["hash-object", "-w", "--stdin"]), text.as_bytes());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn every_place(repo: &TestRepo, is_packed: bool) {
    plant(repo);
    plant_archive(repo);
    let (kept, gone) = (unreachable(repo, "the user's"), unreachable(repo, &format!("lost {SECRET}")));
    repo.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    for args in [&["switch", "-c", "linked"][..], &["commit", "-m", &format!("linked {SECRET}")], &["undo"]] {
        repo.git(&[&["-C", "../linked", "trace"], args].concat());
    }
    if is_packed {
        repo.git(&["repack", "-q", "-a", "-d", "-k"]);
        repo.git(&["multi-pack-index", "write"]);
        repo.git(&["commit-graph", "write", "--reachable"]);
    }
    let before = repo.refs();
    let planned = purge(repo, &["--dry-run"]);
    assert_eq!(repo.refs(), before, "a dry run changes nothing");
    assert!(!places(repo).is_empty());
    let changes = |planned: &serde_json::Value, prefix: &str| {
        planned["refs"].as_array().unwrap().iter().any(|change| change["ref"].as_str().unwrap().starts_with(prefix))
    };
    for prefix in [
        "refs/traces/main",
        "refs/traces/linked",
        "refs/trace-orig/",
        "refs/trace-remotes/origin/main",
        "refs/trace-priority",
        "refs/crumbs/ada",
        "refs/crumb-archive/",
    ] {
        assert!(changes(&planned, prefix), "{prefix}: {planned}");
    }
    assert_eq!(planned["derived"], true);
    let ids = |repo: &TestRepo| repo.git(&["ls-tree", "-r", "--name-only", "refs/traces/main"]);
    let (items, people) = (ids(repo), repo.git(&["log", "--format=%an %ad %cn %cd", "refs/traces/main"]));

    let purged = purge(repo, &["--yes"]);
    assert_eq!(purged["refs"], planned["refs"], "the dry run shows what is done");
    assert_eq!(purged["left"], serde_json::json!([]));
    assert_eq!(purged["unreachable"], 1);
    check(repo);
    assert_eq!(ids(repo), items);
    for backup in repo.git(&["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/trace-orig"]).lines() {
        let (name, oid) = backup.split_once(' ').unwrap();
        assert_eq!(name, oid, "a backup is named by the rewritten commit");
    }
    assert_eq!(repo.git(&["log", "--format=%an %ad %cn %cd", "refs/traces/main"]), people);
    assert_eq!(repo.git(&["cat-file", "-p", &kept]), "the user's");
    assert!(!run(repo.command("git").args(["cat-file", "-e", &gone]), b"").status.success());
    assert_eq!(purge(repo, &["--yes"])["objects"], 0, "a repeated purge finds nothing");
    repo.say("more work");
    repo.total("main");
}

#[test]
fn a_text_is_removed_from_every_place() {
    every_place(&TestRepo::new(), false);
}

#[test]
fn a_text_is_removed_from_packs() {
    every_place(&TestRepo::new(), true);
}

#[test]
fn a_text_is_removed_from_a_sha256_repository_with_reftable() {
    let repo = TestRepo::without_git();
    let init = ["init", "-q", "--initial-branch=code", "--object-format=sha256", "--ref-format=reftable"];
    if run(repo.command("git").args(init), b"").status.success() {
        every_place(&repo, true);
    }
}

#[test]
fn exactly_the_rewritten_objects_are_removed() {
    for is_packed in [false, true] {
        let repo = TestRepo::new();
        repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
        repo.say("one");
        repo.say(&format!("It is {SECRET}"));
        repo.text(&["pin", "#1", "--reason", &format!("needed {SECRET}")]);
        repo.say("three");
        // Nothing leads to this commit of the user.
        unreachable(&repo, "the user's");
        repo.git(&["commit-tree", "HEAD^{tree}", "-m", "the user's"]);
        if is_packed {
            repo.git(&["repack", "-q", "-a", "-d", "-k"]);
        }
        let set = |text: String| -> BTreeSet<String> {
            text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
        };
        let all = || set(repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]));
        let held = || set(repo.git(&["rev-list", "--objects", "--all"]));
        let (all_before, held_before) = (all(), held());
        let purged = purge(&repo, &["--yes"]);
        let removed: Vec<_> = all_before.difference(&all()).cloned().collect();
        assert_eq!(removed, held_before.difference(&held()).cloned().collect::<Vec<_>>());
        assert_eq!(purged["objects"], removed.len());
    }
}

#[test]
fn a_purge_waits_for_writers() {
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    let before = repo.refs();
    // As any process that writes objects.
    let lock = fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(repo.git_dir().join("trace/locks/objects"))
        .unwrap();
    lock.lock_shared().unwrap();
    let mut command = repo.command("git");
    command.args(["trace", "purge", "--pattern", "correct-horse[-a-z\"]+", "--reason", "leaked", "--yes"]);
    let mut purge = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(purge.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("another git-trace is writing to the object database; waiting up to"), "{said}");
    assert_eq!(repo.refs(), before);
    lock.unlock().unwrap();
    assert!(purge.wait().unwrap().success());
    check(&repo);
}

#[test]
fn a_terminal_is_asked_before_a_purge() {
    if !has_terminal() {
        return;
    }
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    let before = repo.refs();
    let purge = |typed: &str| {
        let command = "stty -echo; git trace purge --pattern 'correct-horse[-a-z\"]+' --reason leaked";
        let shown = repo.on_a_terminal(command, typed);
        assert!(shown.contains("refs/traces/main  ") && shown.contains("It cannot be undone."), "{shown}");
    };
    for typed in ["n\n", "\n", "\u{4}"] {
        purge(typed);
        assert_eq!(repo.refs(), before);
    }
    purge("y\n");
    check(&repo);
}

#[test]
fn a_terminal_is_asked_before_the_refs_of_a_remote_are_replaced() {
    if !has_terminal() {
        return;
    }
    let (repo, _) = shared();
    purge(&repo, &["--yes"]);
    let refs = || (repo.refs(), repo.git(&["ls-remote", "origin"]));
    let before = refs();
    let purge = |typed: &str| {
        let shown = repo.on_a_terminal("stty -echo; git trace purge --push origin", typed);
        assert!(shown.contains("refs/traces/main → origin: would be replaced"), "{shown}");
        assert!(shown.contains("It cannot be undone."), "{shown}");
    };
    purge("n\n");
    assert_eq!(refs(), before);
    purge("y\n");
    assert!(
        repo.git(&["ls-remote", "origin", "refs/traces/main"])
            .starts_with(repo.git(&["rev-parse", "refs/traces/main"]).trim())
    );
}

#[test]
fn plain_git_carries_what_the_page_on_privacy_says() {
    let repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("the first revision");
    repo.say("deleted later");
    repo.text(&["edit", "#0", "-m", "the second revision"]);
    repo.text(&["delete", "#1"]);
    repo.text(&["pin", "#0", "--reason", "the reason"]);
    repo.text(&["reset", "#0"]);
    repo.text(&["forward", "leave", "--agent", "ada", "--summary", "the forward crumb", "--unfinished", "x"]);
    plant_archive(&repo);
    let format = repo.git(&["rev-parse", "--show-object-format"]);
    for name in ["plain", "mirror"] {
        repo.git(&["init", "-q", "--bare", "--object-format", format.trim(), &format!("../{name}.git")]);
    }
    let refs = |folder: &str| repo.git(&["-C", folder, "for-each-ref", "--format=%(refname)"]);
    repo.git(&["push", "-q", "--all", "../plain.git"]);
    repo.git(&["clone", "-q", ".", "../cloned"]);
    assert_eq!(refs("../plain.git"), "refs/heads/code\n");
    repo.git(&["clone", "-q", "--no-local", ".", "../transferred"]);
    let tip = repo.git(&["rev-parse", "refs/traces/main"]);
    for (folder, has_objects) in [("../cloned", true), ("../transferred", false)] {
        assert!(!refs(folder).contains("trace") && !refs(folder).contains("crumb"), "{}", refs(folder));
        let found = run(repo.command("git").args(["-C", folder, "cat-file", "-e", tip.trim()]), b"");
        assert_eq!(found.status.success(), has_objects, "{folder}");
    }
    repo.git(&["push", "-q", "--mirror", "../mirror.git"]);
    repo.git(&["clone", "-q", "--mirror", ".", "../mirrored"]);
    repo.git(&["bundle", "create", "-q", "../all.bundle", "--all"]);
    repo.git(&["clone", "-q", "--mirror", "../all.bundle", "../bundled"]);
    for folder in ["../mirror.git", "../mirrored", "../bundled"] {
        let pushed = refs(".").replace("refs/trace-priority\n", "");
        assert_eq!(refs(folder), if folder == "../mirror.git" { pushed } else { refs(".") }, "{folder}");
        let objects = repo.git(&["-C", folder, "log", "-p", "-m", "--text", "--all"]);
        for text in ["the first revision", "deleted later", "the forward crumb", "do not say"] {
            assert!(objects.contains(text), "{folder}: {text}");
        }
        assert_eq!(objects.contains("the reason"), folder != "../mirror.git", "{folder}");
    }
    // The copy as a remote has it.
    repo.git(&["remote", "add", "origin", "../plain.git"]);
    repo.text(&["push"]);
    repo.git(&["push", "-q", "--mirror", "../mirror.git"]);
    let record = "refs/trace-remote-records/origin/priority";
    assert!(repo.git(&["-C", "../mirror.git", "grep", "-h", "-e", "reason", record]).contains("the reason"));
    for kind in ["traces/main", "trace-orig/", "trace-priority", "crumbs/ada", "crumb-archive/"] {
        assert!(refs(".").contains(&format!("refs/{kind}")), "{kind}");
    }
}

#[test]
fn an_item_is_removed_with_its_revisions_reasons_and_subjects() {
    let repo = TestRepo::new();
    repo.say("one");
    let id = repo.say("horse in a field");
    repo.text(&["edit", "#1", "-m", "horse in a stable", "-s", "horse moved"]);
    repo.text(&["pin", "#1", "--reason", "horse first"]);
    repo.text(&["skip", "#1", "--reason", "horse again"]);
    repo.text(&["delete", "#1", "--reason", "horse gone"]);
    repo.text(&["restore", &id]);
    repo.text(&["branch", "idea"]);
    insta::assert_snapshot!(repo.trace(&["purge", "#1", "--reason", "privacy", "--yes"]), @"
    refs/trace-priority  [SHORT] -> [SHORT]
    refs/trace-tags/skip/[ID]  [SHORT] -> [SHORT]
    refs/traces/idea  [SHORT] -> [SHORT]
    refs/traces/main  [SHORT] -> [SHORT]
    refs/trace-priority  reflog removed
    refs/traces/idea  reflog removed
    refs/traces/main  reflog removed
    revisions of items: 2
    commit messages rewritten: 6
    files of the priority record: 2
    objects removed: 20
    --- stderr
    not reached: the agent's own session file, exports, other clones, remotes, and backups
    [exit 0]
    ");
    check(&repo);
    insta::assert_snapshot!(repo.git(&["log", "--format=%s", "refs/traces/main"]), @"
    restore dialogue user: [purged: privacy]
    delete dialogue user: [purged: privacy]
    [purged: privacy]
    dialogue user: [purged: privacy]
    dialogue user: one
    ");
    assert_eq!(repo.text(&["show", &id]), "[purged: privacy]");
    insta::assert_snapshot!(repo.trace(&["purge", &id, "--yes"]), @"
    nothing to purge
    --- stderr
    not reached: the agent's own session file, exports, other clones, remotes, and backups
    [exit 1]
    ");
}

#[test]
fn a_pattern_is_removed() {
    let repo = TestRepo::new();
    repo.say("tokens: key-123, key-4567, and key-x");
    repo.text(&["purge", "--pattern", "key-[0-9]+", "--yes"]);
    assert_eq!(repo.bodies("main"), ["tokens: [purged: secret], [purged: secret], and key-x"]);
    check(&repo);
}

#[test]
fn the_history_of_the_code_stays_and_is_reported() {
    let repo = TestRepo::new();
    repo.say("one");
    fs::write(repo.folder().join("config"), SECRET).unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "config"]);
    repo.say(&format!("It is {SECRET}"));
    insta::assert_snapshot!(repo.trace_with(&["purge", "--text", "-", "--yes"], SECRET.as_bytes()), @"
    refs/traces/main  [SHORT] -> [SHORT]
    refs/traces/main  reflog removed
    revisions of items: 1
    commit messages rewritten: 1
    objects removed: 5
    stays in the code's history: [SHORT] config
    stays in a file: [HOME]/repo/config
    --- stderr
    not reached: the agent's own session file, exports, other clones, remotes, and backups
    [exit 0]
    ");
    assert_eq!(repo.git(&["show", "HEAD:config"]), SECRET);
    assert_eq!(repo.bodies("main"), ["one", "It is [purged: secret]"]);
    repo.fsck();
}

#[test]
fn a_commit_that_a_branch_of_the_code_holds_stays() {
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    repo.git(&["branch", "copy", "refs/traces/main"]);
    let purged = purge(&repo, &["--yes"]);
    assert_eq!(purged["objects"], 0);
    assert_eq!(purged["code"].as_array().unwrap().len(), 2, "{purged}");
    assert_eq!(repo.bodies("main"), ["It is [purged: leaked]"]);
    repo.git(&["branch", "-D", "copy"]);
    purge(&repo, &["--yes"]);
    check(&repo);
}

#[test]
fn what_the_code_holds_in_other_ways_stays() {
    let repo = TestRepo::new();
    let code = |text: &str| {
        let blob = unreachable(&repo, text);
        let tree = run(repo.command("git").arg("mktree"), format!("100644 blob {blob}\tf\n").as_bytes()).stdout;
        let tree = String::from_utf8(tree).unwrap();
        (repo.git(&["commit-tree", tree.trim(), "-m", "code"]).trim().to_owned(), blob)
    };
    let (replaced, one) = code(&format!("one {SECRET}"));
    let (replacement, _) = code("without it");
    repo.git(&["update-ref", "refs/heads/code", &replaced]);
    repo.git(&["replace", &replaced, &replacement]);
    let (bisected, two) = code(&format!("two {SECRET}"));
    let (merged, three) = code(&format!("three {SECRET}"));
    repo.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    repo.git(&["-C", "../linked", "update-ref", "refs/bisect/bad", &bisected]);
    fs::write(repo.git_dir().join("worktrees/linked/MERGE_HEAD"), format!("{merged}\n")).unwrap();
    let (tagged, four) = code(&format!("four {SECRET}"));
    repo.git(&["config", "trace.tagPrefix", "refs/tags"]);
    repo.git(&["tag", "v1", &tagged]);
    let strange = unreachable(&repo, &format!("strange {SECRET}"));
    repo.git(&["update-ref", "refs/trace-remotes/origin/strange", &strange]);
    repo.say(&format!("It is {SECRET}"));
    repo.text(&["branch", "horse"]);

    let said = repo.trace_with(&["purge", "--pattern", "correct-horse[-a-z\"]+|horse", "--yes"], b"");
    for oid in [one, two, three, four, strange] {
        assert!(said.contains("stays in the code's history"), "{said}");
        repo.git(&["cat-file", "-e", &oid]);
    }
    assert!(said.contains("stays as a name, until the ref is renamed or deleted: refs/traces/horse"), "{said}");
    repo.git(&["--no-replace-objects", "fsck", "--strict"]);
    assert_eq!(repo.bodies("main"), ["It is [purged: secret]"]);
}

#[test]
fn a_derived_file_is_removed_even_if_nothing_else_contains_the_text() {
    let repo = TestRepo::new();
    repo.say("one");
    fs::write(repo.git_dir().join("trace/hook.log"), SECRET).unwrap();
    assert_eq!(purge(&repo, &["--yes"])["derived"], true);
    check(&repo);
}

#[cfg(unix)]
#[test]
fn a_purge_removes_the_locks_of_a_killed_one() {
    let repo = TestRepo::classic(&[]);
    repo.say(&format!("It is {SECRET}"));
    repo.text(&["branch", "idea"]);
    for name in ["main", "idea"] {
        let lock = fs::File::create(repo.git_dir().join(format!("refs/traces/{name}.lock"))).unwrap();
        lock.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(9)).unwrap();
    }
    purge(&repo, &["--yes"]);
    check(&repo);
}

#[test]
fn without_a_terminal_nothing_is_changed_unless_told() {
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    let before = repo.refs();
    insta::assert_snapshot!(repo.trace_with(&["purge", "--text", "-"], SECRET.as_bytes()), @"
    refs/traces/main  [SHORT] -> [SHORT]
    refs/traces/main  reflog removed
    revisions of items: 1
    commit messages rewritten: 1
    objects to remove: 5
    --- stderr
    dry run, because there is no terminal to ask on: --yes purges
    [exit 1]
    ");
    assert_eq!(repo.refs(), before);
    insta::assert_snapshot!(repo.refused(&["purge"]), @"
    --- stderr
    error: `git trace purge` needs `<ITEM|--text <->|--pattern <REGEX>|--push <REMOTE>>`
    hint: for example `git trace purge '#3' --reason secret`; `git trace purge -h` explains it
    [exit 2]
    ");
    assert!(repo.refused(&["purge", "--text", SECRET, "--yes"]).contains("[exit 2]"), "the text is no argument");
    insta::assert_snapshot!(repo.refused_with(&["purge", "--text", "-", "--yes"], b"a\n"), @"
    --- stderr
    error: the text is too short: at least 4 bytes are expected
    [exit 2]
    ");
    for reason in ["a \"quote\"", "key [prod]", &"long".repeat(200)] {
        insta::allow_duplicates!(insta::assert_snapshot!(
            repo.refused(&["purge", "--pattern", "x", "--reason", reason, "--yes"]), @"
        --- stderr
        error: the reason must be one line of at most 500 bytes, without double quotes, backslashes, square brackets, and `…`
        [exit 2]
        "));
    }
    insta::assert_snapshot!(repo.refused_with(&["purge", "--text", "-", "--yes"], b"secret"), @"
    --- stderr
    error: what replaces the text, `[purged: secret]`, contains it; give another with --reason
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["purge", "#7", "--yes"]), @"
    --- stderr
    error: no item of trace `main` is named `#7`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
}

#[test]
fn what_cannot_be_removed_is_refused() {
    let repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say(&format!("It is {SECRET}"));
    repo.say("two");
    repo.git(&["repack", "-q", "-a", "-d"]);
    let packs = repo.git_dir().join("objects/pack");
    let pack = fs::read_dir(&packs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "pack")
        .unwrap();
    fs::write(pack.with_extension("keep"), "mine").unwrap();
    let refused = repo.refused_with(&["purge", "--text", "-", "--yes"], SECRET.as_bytes());
    assert!(refused.contains(".keep` protects a pack"), "{refused}");
    fs::remove_file(pack.with_extension("keep")).unwrap();

    // A borrowed object stays where it is.
    repo.git(&["clone", "-q", "--shared", "--mirror", ".", "../borrower"]);
    let mut repo = repo;
    let borrower = repo.home().join("borrower");
    repo.within(Path::new(&borrower), |repo| {
        let purged = purge(repo, &["--yes"]);
        assert!(purged["lent"].as_u64().unwrap() > 0, "{purged}");
        assert_eq!(repo.bodies("main"), ["It is [purged: leaked]", "two"]);
    });
}

#[test]
fn a_purge_that_was_killed_can_be_repeated() {
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    repo.say("two");
    let old = repo.git(&["rev-parse", "refs/traces/main"]);
    // As if it had died after the refs moved: the objects and the reflog are still there.
    let copy = repo.home().join("copy");
    let copied = std::process::Command::new("cp").args(["-r"]).arg(repo.git_dir()).arg(&copy).status().unwrap();
    assert!(copied.success());
    purge(&repo, &["--yes"]);
    let new = repo.git(&["rev-parse", "refs/traces/main"]);
    let mut repo = repo;
    let old_objects = copy.clone();
    repo.within(&old_objects, |repo| {
        repo.git(&["fetch", "-q", "../repo", "+refs/traces/main:refs/traces/main"]);
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]), new);
        assert!(run(repo.command("git").args(["cat-file", "-e", old.trim()]), b"").status.success());
        purge(repo, &["--yes"]);
        check(repo);
    });
}

/// A repository, its remote, and a second clone that has pulled.
pub(crate) fn shared() -> (TestRepo, std::path::PathBuf) {
    let repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let format = repo.git(&["rev-parse", "--show-object-format"]);
    repo.git(&["init", "-q", "--bare", "--object-format", format.trim(), "../origin.git"]);
    repo.git(&["remote", "add", "origin", "../origin.git"]);
    repo.say("one");
    repo.say(&format!("It is {SECRET}"));
    repo.text(&["pin", "#1", "--reason", &format!("needed {SECRET}")]);
    repo.git(&["push", "-q", "origin", "code"]);
    repo.text(&["push"]);
    repo.git(&["clone", "-q", "../origin.git", "../clone"]);
    let clone = repo.home().join("clone");
    (repo, clone)
}

#[test]
fn what_was_purged_does_not_come_back_from_a_remote_or_an_import() {
    let (repo, _) = shared();
    let export = repo.bytes(&["export"]);
    let file = repo.home().join("export.jsonl");
    fs::write(&file, &export).unwrap();
    purge(&repo, &["--yes"]);

    let fetched = repo.run(&["fetch"], b"");
    let said = String::from_utf8_lossy(&fetched.stderr).into_owned();
    assert_eq!(fetched.status.code(), Some(1), "{said}");
    assert!(said.contains("skipped origin/main: purged by A U Thor <author@example.com> at "), "{said}");
    assert!(said.contains("skipped origin/priorities: purged by "), "{said}");
    check(&repo);
    let pulled = repo.run(&["pull"], b"");
    let said = repo.exact(&pulled);
    assert!(said.contains("origin/priorities: pulled without what was purged here; "), "{said}");
    assert_eq!(pulled.status.code(), Some(0), "{said}");
    check(&repo);

    let imported = repo.import("other", &file);
    assert_eq!((&imported["traces"][0]["recorded"], &imported["traces"][0]["purged"]), (&1.into(), &1.into()));
    assert_eq!(repo.bodies("other"), ["one"]);
    check(&repo);
}

/// Runs a command that must be refused because of a purge, and change no local ref.
fn refused_as_purged(repo: &TestRepo, args: &[&str]) {
    let before = repo.refs();
    let said = repo.refused(args);
    assert!(said.contains("purged by A U Thor <author@example.com> at "), "{args:?}: {said}");
    assert_eq!(repo.refs(), before, "{args:?}");
}

#[test]
fn no_command_starts_a_trace_at_a_purged_state_that_plain_git_fetched() {
    let (repo, _) = shared();
    repo.text(&["branch", "idea"]);
    purge(&repo, &["--yes"]);
    let fetch = |from: &str, to: &str| repo.git(&["fetch", "-q", "origin", &format!("+{from}:{to}")]);
    fetch("refs/traces/main", "refs/trace-remotes/origin/main");
    let old = repo.git(&["rev-parse", "refs/trace-remotes/origin/main"]).trim().to_owned();
    for from in ["origin/main", &old] {
        refused_as_purged(&repo, &["cherry-pick", from, "#1"]);
        refused_as_purged(&repo, &["branch", "back", from]);
        refused_as_purged(&repo, &["switch", "-c", "back", from]);
        refused_as_purged(&repo, &["reset", from]);
        refused_as_purged(&repo, &["rebase", from]);
        refused_as_purged(&repo, &["merge", from]);
    }
    repo.text(&["branch", "other", "idea"]);
    repo.text(&["reset", "idea"]);
    assert_eq!(repo.bodies("other"), ["one", "It is [purged: leaked]"]);
}

#[test]
fn a_hook_notes_what_it_did_not_record_because_of_a_purge() {
    let repo = TestRepo::new();
    let record = |session: &str| {
        let file = repo.home().join(format!("{session}.jsonl"));
        let message = serde_json::json!({
            "type": "user", "uuid": format!("{session}-1"), "parentUuid": null, "sessionId": session,
            "timestamp": "2026-02-10T09:00:00Z", "version": "2.0.0",
            "message": {"role": "user", "content": format!("It is {SECRET}")},
        });
        fs::write(&file, format!("{message}\n")).unwrap();
        let input =
            serde_json::json!({"session_id": session, "transcript_path": file, "hook_event_name": "Stop", "cwd": "/"});
        repo.bytes_with(&["hook", "claude-code", "--wait"], input.to_string().as_bytes());
        fs::read_to_string(repo.git_dir().join("trace/hook.log")).unwrap_or_default()
    };
    assert_eq!(record("s1"), "");
    assert_eq!(repo.bodies("claude-code/s1"), [format!("It is {SECRET}")]);
    purge(&repo, &["--yes"]);
    let log = record("s2");
    assert!(log.contains("claude-code: trace `claude-code/s2`: not imported: 1 items, purged by A U Thor"), "{log}");
}

#[test]
fn a_push_publishes_no_purged_content_that_plain_git_brought() {
    let (repo, _) = shared();
    repo.text(&["forward", "leave", "--agent", "ada", "--summary", &format!("Rotate {SECRET}"), "--unfinished", "x"]);
    repo.git(&["clone", "-q", "--mirror", repo.git_dir().to_str().unwrap(), "../mirror.git"]);
    repo.text(&["branch", "good", "#0"]);
    purge(&repo, &["--yes"]);
    repo.git(&[
        "fetch",
        "-q",
        "../mirror.git",
        "+refs/traces/main:refs/traces/bad",
        "+refs/crumbs/ada:refs/crumbs/ada",
    ]);
    let pushed = repo.run(&["push", "origin", "bad", "good", "refs/crumbs/ada"], b"");
    assert_eq!(pushed.status.code(), Some(1));
    let said = String::from_utf8_lossy(&pushed.stdout).into_owned();
    for name in ["bad", "refs/crumbs/ada"] {
        assert!(
            said.contains(&format!("{name} → origin: [rejected] (it contains what was purged by A U Thor")),
            "{said}"
        );
    }
    let there = repo.git(&["ls-remote", "origin"]);
    assert!(there.contains("refs/traces/good") && !there.contains("refs/traces/bad"), "{there}");
    assert!(!there.contains("refs/crumbs/"), "{there}");
}

#[test]
fn purged_texts_with_other_ids_and_texts_that_look_purged_are_not_imported() {
    let (repo, _) = shared();
    let export = String::from_utf8(repo.bytes(&["export"])).unwrap();
    let lines = export.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let with = |change: &dyn Fn(&mut serde_json::Value)| -> String {
        lines
            .clone()
            .map(|mut line| {
                change(&mut line);
                format!("{line}\n")
            })
            .collect()
    };
    let other_ids = with(&|line| line["id"] = line["id"].as_str().unwrap().chars().rev().collect::<String>().into());
    let with_marker = with(&|line| {
        if let Some(text) = line["text"].as_str() {
            line["text"] = format!("{text} [purged: x]").into();
        }
    });
    purge(&repo, &["--yes"]);
    let after = String::from_utf8(repo.bytes(&["export"])).unwrap();
    let file = repo.home().join("export.jsonl");
    for (name, text, recorded) in [("a", other_ids, 1), ("b", with_marker, 1), ("c", after, 2)] {
        fs::write(&file, text).unwrap();
        let imported = repo.import(name, &file);
        assert_eq!(imported["traces"][0]["recorded"], recorded, "{name}: {imported}");
        assert_eq!(imported["traces"][0]["purged"].as_i64().unwrap_or(0), 2 - recorded, "{name}: {imported}");
    }
    check(&repo);
}

#[test]
fn a_purged_item_that_was_edited_later_is_restored_and_picked() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.say(&format!("It is {SECRET}"));
    repo.text(&["purge", "#1", "--reason", "leaked", "--yes"]);
    repo.text(&["edit", "#1", "-m", "It is gone"]);
    repo.text(&["branch", "idea", "#0"]);
    repo.text(&["delete", "#1"]);
    repo.text(&["restore", "#1"]);
    assert_eq!(repo.bodies("main"), ["one", "It is gone"]);
    repo.text(&["switch", "idea"]);
    repo.text(&["cherry-pick", "main", "#1"]);
    assert_eq!(repo.bodies("idea"), ["one", "It is gone"]);
}

#[test]
fn beginnings_of_the_text_in_stubs_and_summaries_are_removed() {
    let repo = TestRepo::new();
    for before in ["", "The password is ", &"x".repeat(30)] {
        repo.say(&format!("{before}{SECRET} and more, so that a line of a summary ends here, {}", "x".repeat(60)));
    }
    let long = "x".repeat(30);
    repo.say(&format!("{{\"command\":\"{long} {JSON} and more\"}}"));
    repo.text(&["compress", "#0..#3"]);
    let summary = repo.bodies("main").concat();
    assert!(summary.contains("battery\"-sta") && summary.contains('…'), "{summary}");
    for cut in ["correct-hor…", "correct-horse-\"ba…", "correct-horse-\\\"ba…"] {
        repo.say(&format!("[git-trace cut bash echo {cut}, 2000 tokens; git trace show 0123]"));
    }
    assert_eq!(purge(&repo, &["--yes"])["left"], serde_json::json!([]));
    let bodies = repo.bodies("main");
    insta::assert_snapshot!(bodies.join("\n"), @r#"
    Summary by rule: 4 items
    #0 dialogue user: [purged: leaked] and more, so that a line…
    #1 dialogue user: The password is [purged: leaked] and more,…
    #2 dialogue user: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[purged: leaked]
    #3 dialogue user: {"command":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx [purged: leaked]
    [git-trace cut bash echo [purged: leaked], 2000 tokens; git trace show 0123]
    [git-trace cut bash echo [purged: leaked], 2000 tokens; git trace show 0123]
    [git-trace cut bash echo [purged: leaked], 2000 tokens; git trace show 0123]
    "#);
    let objects = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"").stdout;
    assert!(!contains(&objects, b"correct"), "{}", String::from_utf8_lossy(&objects));
    check(&repo);
}

#[test]
fn an_export_with_a_deleted_item_that_was_purged_is_imported_without_it() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.say(&format!("It is {SECRET}"));
    repo.text(&["edit", "#1", "-m", &format!("It was {SECRET}")]);
    repo.text(&["delete", "#1"]);
    let file = repo.home().join("export.jsonl");
    fs::write(&file, repo.bytes(&["export"])).unwrap();
    purge(&repo, &["--yes"]);
    let imported = repo.import("other", &file);
    assert_eq!((&imported["traces"][0]["recorded"], &imported["traces"][0]["purged"]), (&1.into(), &1.into()));
    assert_eq!(repo.bodies("other"), ["one"]);
    check(&repo);
}

#[test]
fn an_import_of_an_export_brings_no_purged_reason_back() {
    let repo = TestRepo::new();
    repo.say("one");
    let reason = format!("because of {SECRET}");
    repo.text(&["edit", "#0", "-m", "two", "--reason", &reason]);
    repo.text(&["pin", "#0", "--reason", &reason]);
    let file = repo.home().join("export.jsonl");
    fs::write(&file, repo.bytes(&["export"])).unwrap();
    purge(&repo, &["--yes"]);
    for name in ["main", "other"] {
        repo.text(&["--trace", name, "import", "jsonl", file.to_str().unwrap()]);
    }
    assert!(repo.text(&["--trace", "other", "log"]).contains("Reason: [purged: leaked]\n"));
    assert_eq!(repo.bodies("other"), ["two"]);
    let objects = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"").stdout;
    assert!(!contains(&objects, b"correct"), "{}", String::from_utf8_lossy(&objects));
    check(&repo);
}

#[test]
fn an_export_with_an_edit_of_a_refused_revision_is_imported_without_the_item() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.say("two");
    repo.text(&["edit", "#1", "-m", &format!("It is {SECRET}")]);
    purge(&repo, &["--yes"]);
    let file = repo.home().join("export.jsonl");
    fs::write(&file, repo.bytes(&["export"])).unwrap();
    let imported = repo.import("other", &file);
    assert_eq!((&imported["traces"][0]["recorded"], &imported["traces"][0]["purged"]), (&1.into(), &1.into()));
    assert_eq!(repo.bodies("other"), ["one"]);
    check(&repo);
}

#[test]
fn an_export_with_a_deletion_after_a_refused_revision_is_imported_with_it() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.say(&format!("It is {SECRET}"));
    repo.text(&["edit", "#1", "-m", "a text without it"]);
    repo.text(&["delete", "#1"]);
    purge(&repo, &["--yes"]);
    let file = repo.home().join("export.jsonl");
    fs::write(&file, repo.bytes(&["export"])).unwrap();
    let imported = repo.import("other", &file);
    assert_eq!((&imported["traces"][0]["recorded"], &imported["traces"][0]["purged"]), (&3.into(), &1.into()));
    assert_eq!(repo.bodies("other"), ["one"]);
    check(&repo);
}

#[test]
fn purged_archives_and_forward_crumbs_do_not_come_back() {
    let (repo, _) = shared();
    plant_archive(&repo);
    repo.text(&["forward", "leave", "--agent", "ada", "--summary", &format!("Rotate {SECRET}"), "--unfinished", "x"]);
    let (archive, crumbs) = ("refs/crumb-archive/A", "refs/crumbs/ada");
    repo.text(&["push", "origin", archive, crumbs]);
    purge(&repo, &["--yes"]);
    check(&repo);
    // Somebody commits the purged files again.
    repo.git(&["update-ref", "refs/backup", archive]);
    repo.git(&["fetch", "-q", "origin", &format!("+{archive}:refs/theirs")]);
    let tree = repo.git(&["rev-parse", "refs/theirs^{tree}"]);
    let commit = repo.git(&["commit-tree", tree.trim(), "-m", "rebuilt"]);
    repo.git(&["push", "-q", "origin", &format!("+{}:{archive}", commit.trim())]);
    repo.git(&["update-ref", "-d", "refs/theirs"]);
    repo.git(&["update-ref", "-d", "refs/backup"]);

    for (refname, act) in [(archive, "fetch"), (archive, "pull"), (crumbs, "fetch"), (crumbs, "pull")] {
        let local = || -> Vec<String> {
            repo.refs()
                .lines()
                .filter(|line| !line.contains("/trace-remote") && !line.contains("/trace-purged"))
                .map(str::to_owned)
                .collect()
        };
        let before = local();
        let refused = repo.run(&[act, "origin", refname], b"");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        let is_cleaned = act == "pull";
        assert_eq!(refused.status.code(), Some(i32::from(!is_cleaned)), "{said}");
        let expected = if is_cleaned {
            format!("origin/{refname}: pulled without what was purged here")
        } else {
            format!("skipped origin/{refname}: purged by A U Thor")
        };
        assert!(said.contains(&expected), "{said}");
        assert_eq!(local(), before);
        let fetched = refname.replace("refs/", "refs/trace-remote-records/origin/");
        assert_eq!(repo.refs().contains(&fetched), is_cleaned);
    }
    check(&repo);
}

#[test]
fn an_item_that_begins_with_an_earlier_marker_is_purged() {
    let repo = TestRepo::new();
    repo.say(&format!("{SECRET} and more"));
    purge(&repo, &["--yes"]);
    assert_eq!(repo.bodies("main"), ["[purged: leaked] and more"]);
    repo.text(&["purge", "#0", "--reason", "leaked", "--yes"]);
    assert_eq!(repo.bodies("main"), ["[purged: leaked]"]);
}

#[test]
fn a_subject_with_the_marker_of_an_earlier_purge_is_purged_with_its_item() {
    let repo = TestRepo::new();
    repo.say("hello");
    repo.text(&["commit", "-s", "first-secret and second-secret", "-m", "a text"]);
    let text = repo.run(&["purge", "--text", "-", "--reason", "x", "--yes"], b"first-secret");
    assert_eq!(text.status.code(), Some(0), "{}", repo.exact(&text));
    repo.text(&["purge", "#1", "--reason", "y", "--yes"]);
    assert_eq!(repo.git(&["log", "-1", "--format=%s", "refs/traces/main"]), "[purged: y]\n");
    assert_eq!(repo.run(&["purge", "#1", "--reason", "z", "--dry-run"], b"").status.code(), Some(1));
    repo.fsck();
}

#[test]
fn an_empty_object_does_not_stop_a_purge() {
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    let oid = unreachable(&repo, "lost in a power failure");
    let path = repo.git_dir().join("objects").join(&oid[..2]).join(&oid[2..]);
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    assert_eq!(purge(&repo, &["--yes"])["left"], serde_json::json!([]));
    assert_eq!(repo.bodies("main"), ["It is [purged: leaked]"]);
    assert_eq!(places(&repo), Vec::<String>::new());
    // Any other damage may hide the text.
    fs::write(&path, "x").unwrap();
    let refused = repo.refused_with(&["purge", "--text", "-", "--yes"], SECRET.as_bytes());
    assert!(refused.contains("error: object [OID] is damaged, in [HOME]"), "{refused}");
}

/// A remote may give any name to any commit.
#[test]
fn commits_of_a_trace_below_the_names_of_other_records_are_purged_as_a_trace() {
    for names_an_item in [false, true] {
        let (repo, _) = shared();
        plant_archive(&repo);
        let archive = repo.git(&["for-each-ref", "--format=%(refname)", "refs/crumb-archive/"]);
        for (from, name) in [
            ("refs/traces/main", "refs/trace-records/a"),
            ("refs/traces/main", "refs/trace-records/b/crumbs/c"),
            ("refs/traces/main", "refs/trace-records/b/crumb-archive/c"),
            ("refs/trace-priority", "refs/trace-records/c/crumbs/c"),
            ("refs/trace-priority", "refs/trace-records/crumbs/d"),
            (archive.trim(), "refs/trace-records/d"),
            (archive.trim(), "refs/traces/archive"),
        ] {
            repo.git(&["push", "-q", "origin", &format!("{from}:{name}")]);
        }
        repo.text(&["fetch"]);
        if names_an_item {
            repo.text(&["purge", "#1", "--reason", "leaked", "--yes"]);
            assert_eq!(repo.bodies("main"), ["one", "[purged: leaked]"]);
        }
        assert_eq!(purge(&repo, &["--yes"])["left"], serde_json::json!([]));
        check(&repo);
        let tombstones = repo.git(&["log", "-p", "refs/trace-purged"]);
        assert!(tombstones.contains("+{\"item\":"), "{tombstones}");
        repo.git(&["rev-list", "--objects", "--all"]);
    }
}

#[test]
fn tombstones_of_others_cannot_disable_ours() {
    let (repo, _) = shared();
    purge(&repo, &["--yes"]);
    // Our digests under another salt, in a file that is read first.
    let file = repo.git(&["ls-tree", "refs/trace-purged"]);
    let ours = repo.git(&["cat-file", "-p", &format!("refs/trace-purged:{}", file.trim().split('\t').nth(1).unwrap())]);
    let digests = ours.split_once('\n').unwrap().1;
    let theirs = format!("{{\"at\":\"2026-01-01T00:00:00Z\",\"by\":\"e\",\"reason\":\"x\",\"salt\":\"0\"}}\n{digests}");
    let listing = format!("100644 blob {}\t0000000000000000\n{file}", unreachable(&repo, &theirs));
    let tree = String::from_utf8(run(repo.command("git").arg("mktree"), listing.as_bytes()).stdout).unwrap();
    let commit = repo.git(&["commit-tree", tree.trim(), "-p", "refs/trace-purged", "-m", "x"]);
    repo.git(&["update-ref", "refs/trace-purged", commit.trim()]);
    assert_eq!(repo.run(&["fetch"], b"").status.code(), Some(1));
    check(&repo);
}

#[test]
fn a_pull_applies_a_purge_to_what_was_not_pushed() {
    let (mut repo, clone) = shared();
    let secret = repo.json(&["show", "--json", "#1"])["id"].as_str().unwrap().to_owned();
    repo.within(&clone, |repo| {
        repo.git(&["config", "user.name", "Bob"]);
        repo.text(&["pull"]);
        repo.say("mine");
        repo.text(&["pin", "#2", "-m", "my pin"]);
        repo.text(&["pin", "#0", "-m", "also mine"]);
        repo.text(&["switch", "-c", "idea"]);
        repo.say("an idea");
        repo.text(&["edit", "#1", "-m", &format!("my own words about {SECRET}"), "-s", &format!("why {SECRET}")]);
        repo.text(&["switch", "main"]);
    });
    assert_eq!(purge(&repo, &["--yes", "--push", "origin"])["left"], serde_json::json!([]));
    assert_eq!(repo.text(&["pull"]), "main: up to date\n");
    check(&repo);
    let main = repo.git(&["rev-parse", "refs/traces/main"]);
    repo.within(&clone, |repo| {
        let before = repo.refs();
        let priorities = repo.text(&["priority", "--list", "pinned"]);
        insta::assert_snapshot!(repo.trace(&["pull"]), @"
        idea: purged by A U Thor <author@example.com> at 2026-02-10T09:00:22Z: leaked
        idea: rewrote items: #1; local commits after it: 3; now at [SHORT]
        main: purged by A U Thor <author@example.com> at 2026-02-10T09:00:22Z: leaked
        main: rewrote items: #1; local commits after it: 1; now at [SHORT]
        priorities: purged by A U Thor <author@example.com> at 2026-02-10T09:00:22Z: leaked; reasons rewritten: 1
        main: up to date
        main: edited by the pull: #1
        idea: edited by the pull: #1
        --- stderr
        the earlier states are kept for `git trace undo`; to remove them, purge the text here too
        [exit 0]
        ");
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "mine"]);
        assert_eq!(repo.bodies("idea"), ["one", "It is [purged: leaked]", "mine", "an idea"]);
        assert_eq!(
            repo.git(&["merge-base", "refs/traces/main", "refs/traces/idea"]),
            repo.git(&["rev-parse", "refs/traces/main"])
        );
        assert_eq!(
            repo.git(&["rev-parse", "refs/traces/main~1"]),
            main,
            "the published commits are those of the remote"
        );
        assert_eq!(repo.text(&["priority", "--list", "pinned"]), priorities.replace(SECRET, "[purged: leaked]"));
        let live =
            repo.git(&["log", "-p", "--format=%B", "refs/traces/main", "refs/traces/idea", "refs/trace-priority"]);
        assert!(forms().iter().all(|form| !contains(live.as_bytes(), form)), "{live}");
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        repo.fsck();
        // It happens once, and the others get the work that is on top.
        assert_eq!(repo.text(&["pull"]), "main: up to date\n");
        repo.text(&["push", "origin", "main", "idea"]);

        // Nothing is lost.
        for line in before.lines().filter(|line| line.starts_with("refs/traces/")) {
            let (name, oid) = line.split_once(' ').unwrap();
            assert!(repo.refs().contains(&format!("refs/trace-orig/{oid} {oid}")), "{name}");
        }
        assert_eq!(repo.json(&["show", "--json", &secret])["id"], *secret);
    });
    repo.text(&["pull"]);
    assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "mine"]);
    assert_eq!(repo.bodies("idea").len(), 4);
    check(&repo);
    // The remote keeps the old objects until it collects garbage.
    let remote = repo.home().join("origin.git");
    repo.within(&remote, |repo| {
        repo.git(&["gc", "-q", "--prune=now"]);
        check(repo);
    });
}

#[test]
fn a_pull_takes_over_replacements_of_every_form_of_the_text() {
    let mut repo = TestRepo::new();
    plant(&repo);
    repo.git(&["push", "-q", "origin", "HEAD:refs/heads/code"]);
    repo.git(&["clone", "-q", "../origin.git", "../clone"]);
    let clone = repo.home().join("clone");
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("mine");
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        let said = repo.text(&["pull"]);
        assert!(said.contains("main: rewrote items: ") && said.contains("local commits after it: 1;"), "{said}");
        let live = repo.git(&["log", "-p", "--text", "--format=%B", "refs/traces/main", "refs/traces/idea"]);
        assert!(forms().iter().all(|form| !contains(live.as_bytes(), form)), "{live}");
        assert_eq!(repo.bodies("main").last().unwrap(), "mine");
        repo.text(&["push"]);
    });
}

#[test]
fn a_pull_that_applied_a_purge_can_be_undone_and_repeated() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("mine");
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    insta::assert_snapshot!(repo.refused(&["undo"]), @"
    --- stderr
    error: there is nothing to undo in this worktree
    hint: `git trace op log` lists all operations; `git trace undo <id>` undoes one
    [exit 2]
    ");
    repo.within(&clone, |repo| {
        let before = repo.bodies("main");
        repo.text(&["pull"]);
        let after = repo.git(&["rev-parse", "refs/traces/main"]);
        repo.text(&["undo"]);
        assert_eq!(repo.bodies("main"), before);
        repo.text(&["pull"]);
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]), after, "the rewrite is deterministic");
    });
}

#[test]
fn a_purge_of_an_item_and_a_second_purge_reach_other_clones() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["edit", "#1", "-m", &format!("say {SECRET}")]);
        repo.text(&["delete", "#1", "-m", &format!("because of {SECRET}")]);
        repo.say("mine");
    });
    purge(&repo, &["--yes"]);
    repo.text(&["purge", "#1", "--reason", "privacy", "--yes", "--push", "origin"]);
    // Also of commits that nothing leads to, all files are there, or git fails.
    for object in repo.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"]).lines() {
        object.strip_prefix("commit ").map(|commit| repo.git(&["rev-list", "--objects", commit]));
    }
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "mine"]);
        let history = repo.git(&["log", "-p", "--format=%B", "refs/traces/main"]);
        assert!(forms().iter().all(|form| !contains(history.as_bytes(), form)), "{history}");
        assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
        assert_eq!(repo.text(&["pull"]), "main: up to date\n");
    });
}

#[test]
fn fsck_reports_purged_content_that_is_live_and_damaged_tombstones() {
    let (mut repo, clone) = shared();
    let archive = "refs/crumb-archive/A";
    plant_archive(&repo);
    repo.text(&["push", "origin", "main", archive]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["pull", "origin", archive]);
    });
    purge(&repo, &["--yes"]);
    repo.text(&["branch", "idea"]);
    repo.git(&["push", "-q", "origin", "refs/trace-purged:refs/trace-records/purged"]);
    repo.within(&clone, |repo| {
        repo.git(&["fetch", "-q", "origin", "refs/trace-records/purged:refs/trace-purged"]);
        insta::assert_snapshot!(repo.trace(&["fsck"]), @"
        error: main: commit [SHORT]: purged: it contains what was purged by A U Thor <author@example.com> at 2026-02-10T09:00:54Z: leaked; purged objects and lines: 2; `git trace pull` applies the purges of others; `git trace purge` removes content again
        error: refs/crumb-archive/A: commit [SHORT]: purged: it contains what was purged by A U Thor <author@example.com> at 2026-02-10T09:00:54Z: leaked; purged objects and lines: 11; `git trace pull` applies the purges of others; `git trace purge` removes content again
        error: refs/trace-priority: commit [SHORT]: purged: it contains what was purged by A U Thor <author@example.com> at 2026-02-10T09:00:54Z: leaked; purged objects and lines: 1; `git trace pull` applies the purges of others; `git trace purge` removes content again
        --- stderr
        traces checked: 1, commits: 7, items: 2, errors: 3, warnings: 0
        [exit 1]
        ");
    });
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull", "origin", "main", archive]);
        let said = repo.text(&["fsck"]);
        assert_eq!(said, "");
        let lines = repo.git(&["grep", "-h", "", archive]);
        assert!(lines.contains("note 1 says [purged: leaked]"), "{lines}");
    });
    let tree = repo.git(&["ls-tree", "refs/trace-purged"]);
    let name = tree.trim().split('\t').nth(1).unwrap();
    let text = repo.git(&["cat-file", "-p", &format!("refs/trace-purged:{name}")]);
    let listing = |text: &str, name: &str| format!("100644 blob {}\t{name}\n", unreachable(&repo, text));
    let files = [
        listing(&text.replacen("\"item\"", "item", 1), name),
        listing(text.split_once('\n').unwrap().1, "0000000000000000"),
        listing("", "stray"),
    ];
    let tree = String::from_utf8(run(repo.command("git").arg("mktree"), files.concat().as_bytes()).stdout).unwrap();
    let commit = repo.git(&["commit-tree", tree.trim(), "-p", "refs/trace-purged", "-m", "x"]);
    repo.git(&["update-ref", "refs/trace-purged", commit.trim()]);
    insta::assert_snapshot!(repo.trace(&["fsck"]), @"
    error: refs/trace-purged: commit [SHORT]: tombstone: `[ID]`: no line says who purged, so purged content may come back; `git log refs/trace-purged` lists earlier states; return to one with `git update-ref`
    error: refs/trace-purged: commit [SHORT]: tombstone: `[ID]`: line 3 cannot be read, so purged content may come back; `git log refs/trace-purged` lists earlier states; return to one with `git update-ref`
    warning: refs/trace-purged: commit [SHORT]: tombstone-stray: `stray` is not the file of a purge
    --- stderr
    traces checked: 2, commits: 6, items: 2, errors: 2, warnings: 1
    [exit 1]
    ");
    repo.git(&["update-ref", "refs/trace-purged", &format!("{}~1", commit.trim())]);
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
}

/// Pushes tombstones to the remote that name each second object as the replacement of the first one.
fn forge_tombstones(repo: &TestRepo, reason: &str, replaced: &[(&str, &str)]) {
    forge_tombstones_of(repo, reason, replaced, None);
}

/// The same for an item.
fn forge_tombstones_of(repo: &TestRepo, reason: &str, replaced: &[(&str, &str)], item: Option<&str>) {
    let bytes = |oid: &str| -> Vec<u8> {
        (0..oid.len()).step_by(2).map(|at| u8::from_str_radix(&oid[at..at + 2], 16).unwrap()).collect()
    };
    let hash = |kind: &str, value: &[u8]| {
        let mut hasher = blake3::Hasher::new();
        for part in [b"s".as_slice(), kind.as_bytes(), value] {
            hasher.update(&(part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    };
    let line = |(old, new): &(&str, &str)| {
        let key = hash("new", &bytes(old));
        let pairs = bytes(new).into_iter().zip(*key.as_bytes());
        let new = pairs.fold(String::new(), |digits, (new, key)| digits + &format!("{:02x}", new ^ key));
        format!("{{\"new\":\"{new}\",\"object\":\"{}\"}}\n", &hash("object", &bytes(old)).to_hex()[..32])
    };
    let head =
        format!("{{\"at\":\"2026-01-01T00:00:00Z\",\"by\":\"e\\u001b\",\"reason\":\"{reason}\",\"salt\":\"s\"}}\n");
    let item = item.map(|item| format!("{{\"item\":\"{}\"}}\n", &hash("item", item.as_bytes()).to_hex()[..32]));
    let lines = replaced.iter().map(line).chain(item);
    let file = unreachable(repo, &(head + &lines.collect::<String>()));
    let listing = format!("100644 blob {file}\t0000000000000000\n");
    let tree = String::from_utf8(run(repo.command("git").arg("mktree"), listing.as_bytes()).stdout).unwrap();
    let commit = repo.git(&["commit-tree", tree.trim(), "-m", "x"]);
    repo.git(&["push", "-q", "origin", &format!("+{}:refs/trace-records/purged", commit.trim())]);
}

/// With a remote, and two items.
fn with_two_items() -> TestRepo {
    let repo = TestRepo::classic(&[]);
    repo.git(&["init", "-q", "--bare", "../origin.git"]);
    repo.git(&["remote", "add", "origin", "../origin.git"]);
    repo.say("one");
    repo.say("Do not push to two.");
    repo
}

#[test]
fn tombstones_in_a_circle_change_nothing() {
    let repo = with_two_items();
    let oid = |rev: &str| repo.git(&["rev-parse", rev]).trim().to_owned();
    let (one, two) = (oid("refs/traces/main~1"), oid("refs/traces/main"));
    forge_tombstones(&repo, "\\n", &[(&one, &two), (&two, &one)]);
    insta::assert_snapshot!(repo.trace(&["pull"]), @"
    --- stderr
    no traces to fetch from `origin`
    [exit 0]
    ");
    assert_eq!(oid("refs/traces/main"), two);
    repo.fsck();
}

/// A commit like the tip of a trace, with another text of its last item, and the files of both texts.
fn with_other_text(repo: &TestRepo, text: &str) -> (String, String, String) {
    let write = |kind: &str, bytes: &[u8]| {
        let output = run(repo.command("git").args(["hash-object", "-t", kind, "-w", "--stdin"]), bytes);
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let tree = |listing: String| {
        let output = run(repo.command("git").arg("mktree"), listing.as_bytes());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let files = repo.git(&["ls-tree", "refs/traces/main:00/00"]);
    let old = files.lines().last().unwrap().split([' ', '\t']).nth(2).unwrap().to_owned();
    let file = repo.git(&["cat-file", "-p", &old]);
    let (headers, _) = file.split_once("\n\n").unwrap();
    let headers: Vec<&str> = headers.lines().filter(|line| !line.starts_with("tokens: ")).collect();
    let new = write("blob", format!("{}\n\n{text}", headers.join("\n")).as_bytes());
    let below = tree(files.replace(&old, &new));
    let root = tree(format!("040000 tree {}\t00\n", tree(format!("040000 tree {below}\t00\n"))));
    let commit = repo.git(&["cat-file", "-p", "refs/traces/main"]);
    let (_, rest) = commit.split_once('\n').unwrap();
    (write("commit", format!("tree {root}\n{rest}").as_bytes()), old, new)
}

#[test]
fn a_replacement_that_changes_more_than_was_purged_is_not_taken_over() {
    let repo = with_two_items();
    let two = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    let refused = |commit: &str, files: &[(&str, &str)]| {
        repo.git(&["push", "-q", "origin", &format!("+{commit}:refs/traces/theirs")]);
        forge_tombstones(&repo, "x", &[&[(&*two, commit)], files].concat());
        repo.run(&["pull"], b"");
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]).trim(), two);
        repo.git(&["update-ref", "-d", "refs/traces/theirs"]);
        repo.git(&["update-ref", "-d", "refs/trace-purged"]);
    };
    repo.text(&["switch", "-c", "evil", "#0"]);
    repo.say("Push to two.");
    let evil = repo.git(&["rev-parse", "refs/traces/evil"]).trim().to_owned();
    repo.text(&["switch", "main"]);
    repo.text(&["branch", "-D", "evil"]);
    refused(&evil, &[]);
    for text in ["Push to two.", "Do [purged: x] push at once.", "[purged: x] push to two. Now!", "Do not push to two!"]
    {
        let (commit, old, new) = with_other_text(&repo, text);
        refused(&commit, &[]);
        refused(&commit, &[(&old, &new)]);
    }
    // A text that a purge can leave is taken over.
    for text in ["Do not push to [purged: x].", "[purged: x]", "Do [purged: x] to two[purged: x]"] {
        let (commit, old, new) = with_other_text(&repo, text);
        repo.git(&["push", "-q", "origin", &format!("+{commit}:refs/traces/theirs")]);
        forge_tombstones(&repo, "x", &[(&*two, &*commit), (&*old, &*new)]);
        let said = repo.text(&["pull"]);
        assert!(said.contains("main: rewrote items: #1"), "{said}");
        assert_eq!(repo.bodies("main"), ["one", text]);
        repo.text(&["undo"]);
        repo.git(&["update-ref", "-d", "refs/trace-purged"]);
        repo.git(&["update-ref", "refs/traces/main", &two]);
        repo.git(&["update-ref", "-d", "refs/traces/theirs"]);
    }
}

#[test]
fn a_remote_cannot_have_a_commit_of_the_code_removed() {
    let repo = with_two_items();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let lost = repo.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "without a ref"]).trim().to_owned();
    repo.git(&["push", "-q", "origin", &format!("{lost}:refs/traces/theirs")]);
    forge_tombstones(&repo, "x", &[(&lost, &lost)]);
    for command in ["fetch", "pull", "fetch"] {
        assert_eq!(repo.run(&[command], b"").status.code(), Some(1), "{command}");
        repo.git(&["cat-file", "-e", &lost]);
    }
}

#[test]
fn a_purge_of_a_common_word_leaves_forward_crumbs_readable() {
    for word in ["MEDIUM", "orientation", "active", "status", "session-id"] {
        let repo = TestRepo::new();
        repo.text(&["forward", "leave", "--agent", "ada", "--summary", &format!("The word is {word}.")]);
        let output = repo.run(&["purge", "--text", "-", "--yes"], word.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{word}: headers have it and stay: {}", repo.exact(&output));
        assert!(repo.text(&["forward", "get", "--agent", "ada"]).contains("The word is [purged: secret]."), "{word}");
        repo.fsck();
    }
}

#[test]
fn a_published_trace_without_the_purged_parts_takes_the_place_of_a_missing_replacement() {
    for (text, is_taken) in [("Do not push to [purged: x].", true), ("Push to two.", false)] {
        let repo = with_two_items();
        let two = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
        let (commit, old, new) = with_other_text(&repo, text);
        repo.git(&["push", "-q", "origin", &format!("+{commit}:refs/traces/main")]);
        forge_tombstones(&repo, "x", &[(&two, &"1".repeat(two.len())), (&old, &new)]);
        let pulled = repo.run(&["pull"], b"");
        let said = repo.exact(&pulled);
        assert!(said.contains("main: rewrote items: #1"), "{said}");
        assert_eq!(pulled.status.code(), Some(i32::from(!is_taken)), "{said}");
        assert_eq!(repo.bodies("main"), ["one", if is_taken { text } else { "[purged: x]" }]);
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]).trim() == commit, is_taken);
        repo.text(&["undo"]);
        assert_eq!(repo.git(&["rev-parse", "refs/traces/main"]).trim(), two);
    }
}

#[test]
fn a_remote_without_readable_tombstones_stops_nothing() {
    let (mut repo, clone) = shared();
    let blob = unreachable(&repo, "no commit");
    let folder = String::from_utf8(run(repo.command("git").arg("mktree"), b"").stdout).unwrap();
    let listing = format!("040000 tree {}\t0000000000000000\n", folder.trim());
    let tree = String::from_utf8(run(repo.command("git").arg("mktree"), listing.as_bytes()).stdout).unwrap();
    let commit = repo.git(&["commit-tree", tree.trim(), "-m", "x"]).trim().to_owned();
    for (oid, status) in [(commit, 0), (blob, 1)] {
        repo.git(&["push", "-q", "origin", &format!("+{oid}:refs/trace-records/purged")]);
        repo.say("more");
        repo.text(&["push", "origin", "main"]);
        repo.within(&clone, |repo| {
            for _ in 0..2 {
                let pulled = repo.run(&["pull"], b"");
                assert!(pulled.stdout.starts_with(b"main: "));
                assert_eq!(pulled.status.code(), Some(status));
                let said = String::from_utf8_lossy(&pulled.stderr).into_owned();
                assert_eq!(said.contains("skipped origin/purged: object "), status == 1, "{said}");
            }
        });
    }
    // Tombstones of ours do not replace it, and stop no trace.
    purge(&repo, &["--yes"]);
    repo.text(&["switch", "-c", "fresh"]);
    for text in ["after", "later"] {
        repo.say(text);
        let pushed = repo.run(&["push"], b"");
        let said = String::from_utf8_lossy(&pushed.stdout).into_owned();
        assert_eq!(pushed.status.code(), Some(1), "{said}");
        assert!(said.contains("fresh → origin: "), "{said}");
        assert!(said.contains("refs/trace-records/purged → origin: "), "{said}");
        repo.run(&["fetch"], b"");
    }
    let oid = |refname: &str| repo.git(&["rev-parse", refname]);
    assert_eq!(oid("refs/traces/fresh"), oid("refs/trace-remotes/origin/fresh"));
}

#[test]
fn what_git_does_not_read_is_reported() {
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    // Files that a killed `git repack` and a killed `git fetch` leave.
    let objects = repo.git_dir().join("objects");
    let left = ["00/tmp_obj_a1b2c3", "pack/pack-1234.pack", "pack/tmp_pack_Xy12ab", "tmp_objdir-incoming-a1"];
    fs::create_dir_all(objects.join("00")).unwrap();
    fs::create_dir_all(objects.join("tmp_objdir-incoming-a1")).unwrap();
    for name in left.iter().filter(|name| !name.starts_with("tmp_objdir")) {
        fs::write(objects.join(name), "x").unwrap();
    }
    let purged = purge(&repo, &["--yes"]);
    let unread: Vec<&str> = purged["unread"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    let names: Vec<&str> = unread.iter().map(|path| path.split_once("objects/").unwrap().1).collect();
    assert_eq!(names, left);
    assert_eq!(purged["left"], serde_json::json!([]));
    let said = repo.trace_with(&["purge", "--text", "-", "--yes"], SECRET.as_bytes());
    assert_eq!(said.matches("cannot be searched, and stays: ").count(), 4, "{said}");
}

#[test]
fn a_symbolic_ref_with_the_text_in_its_name_is_reported() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.git(&["symbolic-ref", "refs/trace-sessions/codex/horse-staple", "refs/traces/main"]);
    let output = repo.run(&["purge", "--json", "--text", "-", "--dry-run"], b"horse-staple");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["names"], serde_json::json!(["refs/trace-sessions/codex/horse-staple"]));
}

/// A remote may have anything under the name of a record, also beside tombstones.
#[test]
fn a_record_of_a_remote_that_is_no_commit_is_reported_and_skipped() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["pin", "#0"]);
    });
    purge(&repo, &["--yes", "--push", "origin"]);
    let blob = unreachable(&repo, "no commit");
    repo.git(&["push", "-q", "origin", &format!("+{blob}:refs/trace-records/priority")]);
    repo.within(&clone, |repo| {
        let pulled = repo.run(&["pull"], b"");
        let said = String::from_utf8_lossy(&pulled.stderr).into_owned();
        assert_eq!(pulled.status.code(), Some(1), "{said}");
        assert!(said.contains("skipped origin/priority: object "), "{said}");
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]"]);
        repo.say("more");
        let pushed = repo.run(&["push"], b"");
        assert_eq!(pushed.status.code(), Some(1));
        // The next push still knows the items whose priorities the remote lacks.
        assert_eq!(
            repo.git(&["--git-dir=../origin.git", "rev-parse", "refs/traces/main"]),
            repo.git(&["rev-parse", "refs/traces/main"])
        );
        assert_ne!(
            repo.git(&["rev-parse", "refs/trace-remotes/origin/main"]),
            repo.git(&["rev-parse", "refs/traces/main"])
        );
        repo.fsck();
    });
    // Nor can the remote have the record if there is a ref below its name.
    let remote = repo.home().join("origin.git");
    repo.within(&remote, |remote| {
        remote.git(&["update-ref", "-d", "refs/trace-records/priority"]);
        remote.git(&["update-ref", "refs/trace-records/priority/x", "refs/traces/main"]);
    });
    repo.within(&clone, |repo| {
        repo.text(&["fetch", "--prune"]);
        repo.say("still more");
        let pushed = repo.run(&["push"], b"");
        let said = String::from_utf8_lossy(&pushed.stdout).into_owned();
        assert_eq!(pushed.status.code(), Some(1), "{}", repo.exact(&pushed));
        assert!(said.contains("main → origin: ") && said.contains("refs/trace-records/priority → origin: "), "{said}");
    });
}

#[test]
fn many_purges_have_one_salt() {
    let repo = TestRepo::new();
    for text in ["first secret", "second secret"] {
        repo.say(text);
        repo.bytes_with(&["purge", "--json", "--text", "-", "--yes"], text.as_bytes());
    }
    let salts: Vec<String> = repo
        .git(&["grep", "-h", "-o", "\"salt\":\"[0-9a-f]*", "refs/trace-purged"])
        .lines()
        .map(str::to_owned)
        .collect();
    assert!(salts.len() == 2 && salts[0] == salts[1], "{salts:?}");
}

#[test]
fn tombstones_contain_no_text() {
    let repo = TestRepo::new();
    let id = repo.say(&format!("It is {SECRET}"));
    purge(&repo, &["--yes"]);
    let file = repo.git(&["ls-tree", "--name-only", "refs/trace-purged"]);
    let text = repo.git(&["cat-file", "-p", &format!("refs/trace-purged:{}", file.trim())]);
    let keys = |line: &str| -> Vec<String> {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(line).unwrap().keys().cloned().collect()
    };
    let lines: Vec<Vec<String>> = text.lines().map(keys).collect();
    assert_eq!(lines[0], ["at", "by", "knew", "reason", "salt"]);
    let expected = [&["body"][..], &["item"], &["left"], &["line"], &["new", "object"], &["new", "object"]];
    assert_eq!(lines[1..], expected);
    assert!(!text.contains(repo.git(&["rev-parse", "refs/traces/main"]).trim()));
    assert!(!text.contains(&id));
}

/// The remote has a trace of a colleague and newer commits of theirs, and this clone commits that were not pushed.
#[test]
fn a_purge_of_a_remote_keeps_the_work_of_colleagues_and_publishes_nothing() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("work of a colleague");
        repo.text(&["switch", "-c", "theirs"]);
        repo.say(&format!("again {SECRET}"));
        repo.text(&["push", "origin", "main", "theirs"]);
    });
    repo.text(&["fetch"]);
    repo.say("private draft");
    purge(&repo, &["--yes"]);
    let on_remote = || repo.git(&["ls-remote", "origin", "refs/traces/*"]);
    let before = on_remote();
    let planned = repo.trace(&["purge", "--push", "origin", "--dry-run"]);
    for refname in ["refs/traces/main", "refs/traces/theirs"] {
        assert!(planned.contains(&format!("{refname} → origin: would be replaced")), "{planned}");
    }
    assert_eq!(on_remote(), before, "a dry run changes nothing");
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.git(&["clone", "-q", "--no-local", "../origin.git", "../fresh"]);
    let fresh = repo.home().join("fresh");
    repo.within(&fresh, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "work of a colleague"]);
        assert_eq!(repo.bodies("theirs").last().unwrap(), "again [purged: leaked]");
        check(repo);
    });
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "work of a colleague"]);
    });
}

#[test]
fn what_others_pushed_after_a_purge_is_purged_at_the_remote_too() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("work of a colleague");
        repo.text(&["push", "origin", "main"]);
    });
    purge(&repo, &["--yes"]);
    let there = || repo.git(&["ls-remote", "origin", "refs/traces/*"]);
    let before = there();
    let answer = repo.trace(&["purge", "--push", "origin", "--dry-run"]);
    assert!(answer.contains("error: refs/traces/main → origin: was not fetched"), "{answer}");
    assert!(answer.trim_end().ends_with("[exit 1]"), "{answer}");
    assert_eq!(there(), before);
    repo.text(&["purge", "--push", "origin", "--yes"]);
    repo.git(&["clone", "-q", "../origin.git", "../elsewhere"]);
    let elsewhere = repo.home().join("elsewhere");
    repo.within(&elsewhere, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]", "work of a colleague"]);
    });
}

#[test]
fn a_tag_on_a_trace_does_not_stop_a_purge_of_the_remote() {
    let (mut repo, clone) = shared();
    repo.within(&clone, |repo| drop(repo.text(&["pull"])));
    repo.git(&["tag", "keep", "refs/traces/main"]);
    purge(&repo, &["--yes", "--push", "origin"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        assert_eq!(repo.bodies("main"), ["one", "It is [purged: leaked]"]);
    });
    assert_ne!(repo.git(&["rev-parse", "keep"]), repo.git(&["rev-parse", "refs/traces/main"]));
}

#[test]
fn a_purge_leaves_the_changes_that_a_rebase_stashed() {
    let repo = TestRepo::new();
    let root = repo.folder();
    let commit = |file: &str, text: &str| {
        fs::write(root.join(file), text).unwrap();
        repo.git(&["add", file]);
        repo.git(&["commit", "-q", "-m", file]);
    };
    commit("f", "base");
    let main = repo.git(&["symbolic-ref", "--short", "HEAD"]).trim().to_owned();
    repo.git(&["checkout", "-q", "-b", "side"]);
    commit("f", "ours");
    commit("g", "other");
    repo.git(&["checkout", "-q", &main]);
    commit("f", "theirs");
    repo.git(&["checkout", "-q", "side"]);
    let work = format!("my work {SECRET}");
    fs::write(root.join("g"), &work).unwrap();
    repo.say(&format!("It is {SECRET}"));
    let stopped = crate::repo::run(repo.command("git").args(["rebase", "-q", "--autostash", &main]), b"");
    assert!(!stopped.status.success());
    purge(&repo, &["--yes"]);
    repo.git(&["rebase", "--abort"]);
    assert_eq!(fs::read_to_string(root.join("g")).unwrap(), work);
    repo.git(&["fsck", "--no-dangling"]);
}

#[test]
fn a_repository_with_precious_objects_is_not_purged() {
    let repo = TestRepo::new();
    repo.say(&format!("It is {SECRET}"));
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "extensions.preciousObjects", "true"]);
    let refused = repo.refused(&["purge", "--pattern", "battery", "--yes"]);
    assert!(refused.contains("`extensions.preciousObjects` forbids to remove objects"), "{refused}");
    assert_eq!(repo.bodies("main"), [format!("It is {SECRET}")]);
}

#[test]
fn a_purge_changes_no_priority() {
    let repo = TestRepo::new();
    repo.say("one");
    repo.git(&["config", "user.email", "old@example.com"]);
    repo.text(&["pin", "#0", "--reason", "since 2026-01-01"]);
    repo.git(&["config", "user.email", "new@example.com"]);
    repo.text(&["skip", "#0"]);
    for pattern in ["old@example", r"\d{4}-\d{2}-\d{2}", "pinned"] {
        repo.run(&["purge", "--pattern", pattern, "--yes"], b"");
        assert_eq!(repo.text(&["materialize"]).trim(), "[]", "{pattern}");
    }
    assert!(!repo.git(&["grep", "-h", "", "refs/trace-priority"]).contains("since 2026"));
}

#[test]
fn a_remote_cannot_undo_an_edit_without_a_marker() {
    let repo = with_two_items();
    let files = repo.git(&["ls-tree", "refs/traces/main:00/00"]);
    let first = files.lines().last().unwrap().split([' ', '\t']).nth(2).unwrap().to_owned();
    // Apart from a header, nothing is purged in it.
    let (_, _, lighter) = with_other_text(&repo, "Do not push to two.");
    let item = repo.json(&["show", "#1", "--json"])["id"].as_str().unwrap().to_owned();
    repo.text(&["edit", "#1", "-m", "Push nowhere."]);
    let (commit, old, new) = with_other_text(&repo, "Do not push to two.");
    repo.git(&["push", "-q", "origin", &format!("+{commit}:refs/traces/theirs")]);
    forge_tombstones_of(&repo, "x", &[(&first, &lighter), (&old, &new)], Some(&item));
    repo.run(&["pull"], b"");
    assert_eq!(repo.bodies("main")[1], "Push nowhere.");
}
