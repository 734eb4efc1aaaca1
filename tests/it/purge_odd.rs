//! Purging beside what only plain git, a remote, or chance puts into a repository. Nothing that is needed may be removed.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use crate::purge::{SECRET as TEXT, places};
use crate::recording::{claude_folder, said};
use crate::repo::{TestRepo, has_terminal, run};

const MAIN: &str = "refs/traces/main";

fn purge(repo: &TestRepo, args: &[&str]) -> String {
    repo.snapshot(&repo.run(&[&["purge", "--yes"], args].concat(), TEXT.as_bytes()))
}

/// Both checks of the repository, and git's upkeep, which stops at a missing object.
#[track_caller]
fn assert_whole(repo: &TestRepo) {
    repo.fsck();
    repo.text(&["fsck"]);
    repo.git(&["gc", "--quiet", "--prune=now"]);
}

/// Adds an entry to the tree of a ref, as plain git can.
fn add_entry(repo: &TestRepo, refname: &str, mode: &str, blob: &str, path: &str) {
    let index = repo.home().join("index");
    let git = |args: &[&str]| {
        let output = run(repo.command("git").env("GIT_INDEX_FILE", &index).args(args), b"");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["read-tree", refname]);
    git(&["update-index", "--add", "--cacheinfo", &format!("{mode},{blob},{path}")]);
    let commit = git(&["commit-tree", "-p", refname, "-m", "added", &git(&["write-tree"])]);
    git(&["update-ref", refname, &commit]);
}

fn written(repo: &TestRepo, kind: &str, bytes: &[u8]) -> String {
    let output = run(repo.command("git").args(["hash-object", "-t", kind, "-w", "--literally", "--stdin"]), bytes);
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_symbolic_link_in_a_trace_is_rewritten() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    let blob = written(&repo, "blob", format!("notes/{TEXT}").as_bytes());
    add_entry(&repo, MAIN, "120000", &blob, "link");
    let answer = purge(&repo, &["--text", "-"]);
    assert!(answer.ends_with("[exit 0]"), "{answer}");
    assert_eq!(places(&repo), Vec::<String>::new());
    assert!(repo.git(&["ls-tree", "refs/traces/main"]).contains("120000 blob"));
    assert_whole(&repo);
}

#[test]
fn digits_that_are_also_in_names_of_an_archive_remove_nothing_of_it() {
    let repo = TestRepo::new();
    let notes: String = (1..13).map(|n| format!("n @{n} note {n} about a part of the system\n")).collect();
    fs::write(repo.folder().join("a.crumb"), format!("\u{2234}CRUMB2 A s40\n\u{a7}volatile\n{notes}")).unwrap();
    repo.text(&["crumb", "compress", "a.crumb"]);
    let archive = || repo.git(&["ls-tree", "-r", "refs/crumb-archive/A"]);
    let before = archive();
    let name = before.lines().next().unwrap().rsplit('/').next().unwrap();
    let digits = name[2..6].to_owned();
    repo.say(&format!("the code is {digits}"));
    let output = repo.run(&["purge", "--text", "-", "--yes"], digits.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", repo.snapshot(&output));
    assert_eq!(archive(), before);
    assert!(!repo.text(&["materialize", "--format", "text"]).contains(&digits));
    assert_whole(&repo);
    // Each tree has the mode of its files.
    repo.run(&["purge", "--pattern", "[0-9]{6}", "--yes"], b"");
    assert_whole(&repo);
}

#[test]
fn an_equal_record_of_another_item_stays() {
    let repo = TestRepo::new();
    repo.say("first");
    repo.say("second");
    repo.text(&["pin", "#0", "--reason", "it matters"]);
    // Of two clones that pin different items at the same moment, the lines may be the same.
    let path = |item: &str| format!("{}/{}", &item[..2], &item[2..]);
    let files = repo.git(&["ls-tree", "-r", "--name-only", "refs/traces/main"]);
    let ids: Vec<&str> = files.lines().filter_map(|path| path.rsplit('-').next()).collect();
    let record = "refs/trace-priority";
    let blob = repo.git(&["rev-parse", &format!("{record}:{}", path(ids[0]))]);
    add_entry(&repo, record, "100644", blob.trim(), &path(ids[1]));
    repo.text(&["purge", "#0", "--yes"]);
    assert!(repo.text(&["priority", "#1"]).contains("pinned"));
    assert_whole(&repo);
}

#[test]
fn a_killed_removal_is_completed_by_the_next_purge() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    let old = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    let commit = run(repo.command("git").args(["cat-file", "commit", &old]), b"").stdout;
    purge(&repo, &["--text", "-"]);
    // As if it had been killed before it removed the commit.
    assert_eq!(written(&repo, "commit", &commit), old);
    let noted = repo.git_dir().join("trace/purging");
    assert!(!noted.exists());
    fs::write(&noted, format!("{old}\n")).unwrap();
    let answer = purge(&repo, &["--pattern", "nothing has this"]);
    assert!(!answer.contains("nothing to purge"), "{answer}");
    assert_eq!(places(&repo), Vec::<String>::new());
    assert!(!noted.exists());
    // A list of a purge that did not begin names what is needed.
    fs::write(&noted, repo.git(&["rev-parse", "refs/traces/main"])).unwrap();
    purge(&repo, &["--pattern", "nothing has this"]);
    assert_whole(&repo);
}

#[test]
fn a_lock_of_a_killed_git_gc_stops_no_purge() {
    let host = |repo: &TestRepo| String::from_utf8(run(repo.command("uname").arg("-n"), b"").stdout).unwrap();
    for is_empty in [true, false] {
        let repo = TestRepo::new();
        repo.say(TEXT);
        let text = if is_empty { String::new() } else { format!("999999999 {}", host(&repo).trim()) };
        fs::write(repo.git_dir().join("gc.pid"), text).unwrap();
        purge(&repo, &["--text", "-"]);
        assert_eq!(places(&repo), Vec::<String>::new());
        assert!(!repo.git_dir().join("gc.pid").exists());
    }
}

/// As `git commit -a` does while its editor is open.
#[test]
fn a_purge_while_git_changes_the_index_is_refused() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    for name in ["index.lock", "next-index-7.lock"] {
        let lock = repo.git_dir().join(name);
        fs::write(&lock, "").unwrap();
        let answer = purge(&repo, &["--text", "-"]);
        assert!(answer.contains("shows that git changes the index") && answer.ends_with("[exit 2]"), "{answer}");
        fs::remove_file(&lock).unwrap();
    }
}

/// Git keeps them in files until the merge or the picks end.
#[test]
fn commits_of_an_unfinished_merge_or_pick_stay() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    let tree = written(&repo, "tree", b"");
    let commit = |text: &str| {
        written(
            &repo,
            "commit",
            format!("tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\n{text}\n").as_bytes(),
        )
    };
    let [one, two, three] = ["one", "two", "three"].map(|name| commit(&format!("{name} {TEXT}")));
    fs::write(repo.git_dir().join("MERGE_HEAD"), format!("{one}\n{two}\n")).unwrap();
    fs::create_dir_all(repo.git_dir().join("sequencer")).unwrap();
    fs::write(repo.git_dir().join("sequencer/todo"), format!("pick {} three\n", &three[..7])).unwrap();
    let answer = purge(&repo, &["--text", "-"]);
    for oid in [&one, &two, &three] {
        repo.git(&["cat-file", "-e", oid]);
    }
    assert_eq!(answer.matches("stays in the code's history").count(), 3, "{answer}");
}

#[test]
fn commits_of_traces_that_plain_git_fetched_do_not_stay() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    let tip = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    let line = format!("{tip}\tnot-for-merge\t'refs/traces/main' of ../hub\n");
    fs::write(repo.git_dir().join("FETCH_HEAD"), line).unwrap();
    purge(&repo, &["--text", "-"]);
    assert_eq!(places(&repo), Vec::<String>::new());
}

#[test]
fn a_submodule_in_a_trace_stops_no_purge() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    let tip = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    add_entry(&repo, MAIN, "160000", &tip, "sub");
    let answer = purge(&repo, &["--text", "-"]);
    assert!(answer.ends_with("[exit 0]"), "{answer}");
    assert_eq!(places(&repo), Vec::<String>::new());
}

#[test]
fn a_message_in_another_encoding_is_rewritten() {
    let repo = TestRepo::new();
    repo.say("mein Schlüssel-Quitte");
    let tip = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    let raw = String::from_utf8(run(repo.command("git").args(["cat-file", "commit", &tip]), b"").stdout).unwrap();
    let (headers, message) = raw.split_once("\n\n").unwrap();
    let latin_1 = message.chars().map(|c| u8::try_from(u32::from(c)).unwrap());
    let bytes: Vec<u8> =
        format!("{headers}\nencoding ISO-8859-1\n\n").into_bytes().into_iter().chain(latin_1).collect();
    repo.git(&["update-ref", "refs/traces/main", &written(&repo, "commit", &bytes)]);
    let output = repo.run(&["purge", "--text", "-", "--yes"], "Schlüssel-Quitte".as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", repo.snapshot(&output));
    let said = repo.git(&["log", "-1", "--format=%s", "refs/traces/main"]);
    assert!(said.contains("mein [purged: "), "{said}");
    let objects = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"").stdout;
    assert!(!objects.windows(4).any(|window| window == b"Quit"));
    assert_whole(&repo);
}

/// Git reads the headers `tree` and `parent` in one place only, and would not keep what others name.
#[test]
fn a_commit_is_read_as_git_reads_it() {
    let repo = TestRepo::new();
    repo.say("Be careful.");
    let tree = repo.git(&["rev-parse", "refs/traces/main^{tree}"]).trim().to_owned();
    repo.say("Be bold.");
    let bold = repo.git(&["rev-parse", "refs/traces/main^{tree}"]).trim().to_owned();
    let tip = repo.git(&["rev-parse", "refs/traces/main"]).trim().to_owned();
    let who = "A <a@b> 1790000000 +0000";
    for late in [format!("tree {bold}"), format!("parent {tip}")] {
        let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n{late}\n\nodd\n");
        let odd = written(&repo, "commit", text.as_bytes());
        repo.git(&["update-ref", "refs/traces/odd", &odd]);
        let answer = repo.refused(&["--trace", "odd", "materialize"]);
        assert!(answer.contains("is not a commit"), "{answer}");
        repo.git(&["update-ref", "-d", "refs/traces/odd"]);
        repo.git(&["update-ref", "refs/trace-remotes/origin/main", &odd]);
        // A damaged ref of a remote stops no purge.
        repo.say(TEXT);
        let answer = purge(&repo, &["--text", "-"]);
        assert!(!answer.contains("error:"), "{answer}");
        assert_eq!(places(&repo), Vec::<String>::new());
    }
}

#[test]
fn lines_of_an_archive_that_become_the_same_are_united() {
    let repo = TestRepo::new();
    let long = "with a long explanation of many words that continues and continues until it is cut off by the rule for summaries";
    let more = "another note about a part of the system that is also rather long so that it is cut off too";
    let group = |key: &str, n: &str| {
        format!("n @1 key-{key} {long} {n} original\nn @1 {more} {n}\nn @1 third {more} {n}\nn @1 fourth {more} {n}\n")
    };
    let text = format!(
        "\u{2234}CRUMB2 A s30\n\n\u{a7}core\n{}\n\u{a7}volatile\n{}n @29 x\n",
        group("aaaa1111", "FIRST"),
        group("bbbb2222", "SECOND")
    );
    fs::write(repo.folder().join("a.crumb"), text).unwrap();
    repo.text(&["crumb", "compress", "a.crumb"]);
    repo.run(&["purge", "--pattern", "key-[0-9a-f]{8}", "--yes"], b"");
    let archived = repo.git(&["grep", "-h", "", "refs/crumb-archive/A"]);
    assert!(archived.contains("FIRST original") && archived.contains("SECOND original"), "{archived}");
    assert_whole(&repo);
}

#[test]
fn titles_edited_texts_and_reasons_of_a_purged_item_go() {
    let repo = TestRepo::new();
    let remote = TestRepo::new();
    repo.git(&["remote", "add", "origin", &remote.folder().to_string_lossy()]);
    let line = |text: &str| {
        let text = text.replace('"', "\\\"");
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s1\",\"cwd\":\"/x\",\"version\":\"2.0.0\",\
             \"timestamp\":\"2026-01-20T10:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    repo.bytes_with(&["import", "claude-code", "-"], line(&format!("my password is {TEXT}")).as_bytes());
    repo.text(&["switch", "-c", "copy", "claude-code/s1"]);
    repo.text(&["archive", "origin", "claude-code/s1"]);
    assert!(repo.text(&["sessions", "--archived"]).contains(TEXT));
    fs::write(repo.git_dir().join("TRACE_EDITMSG"), TEXT).unwrap();
    repo.say("harmless");
    repo.text(&["delete", "#0", "#1", "--reason", &format!("because of {TEXT}, which nobody should see")]);
    repo.text(&["undo"]);
    repo.text(&["purge", "#0", "--yes"]);
    assert_eq!(places(&repo), Vec::<String>::new());
    assert!(repo.text(&["sessions", "--archived"]).contains("[purged: "));
}

#[test]
fn the_settings_of_an_agent_that_contain_the_text_are_not_kept_to_be_restored() {
    let repo = TestRepo::new();
    repo.say(&format!("one {TEXT}"));
    let settings = repo.folder().join(".claude/settings.json");
    fs::create_dir(settings.parent().unwrap()).unwrap();
    fs::write(&settings, serde_json::json!({ "env": { "KEY": TEXT } }).to_string()).unwrap();
    repo.text(&["install", "--agent", "claude-code"]);
    let installed = fs::read_to_string(&settings).unwrap();
    let said = purge_text(&repo, TEXT, &[]);
    assert!(!said.contains("trace/installed"), "{said}");
    assert_eq!(places(&repo), Vec::<String>::new());
    assert_eq!(fs::read_to_string(&settings).unwrap(), installed, "the user's file is reported and stays");
    assert!(said.contains("stays in a file: ") && said.contains(".claude/settings.json"), "{said}");
    repo.text(&["uninstall", "--agent", "claude-code"]);
    let left = fs::read_to_string(&settings).unwrap();
    assert!(left.contains("KEY") && !left.contains("git-trace"), "{left}");
}

fn purge_text(repo: &TestRepo, text: &str, args: &[&str]) -> String {
    repo.snapshot(&repo.run(&[&["purge", "--text", "-", "--yes"], args].concat(), text.as_bytes()))
}

/// Whether any object contains a text, apart from those of tombstones.
fn is_anywhere(repo: &TestRepo, text: &str) -> bool {
    let objects = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"").stdout;
    String::from_utf8_lossy(&objects).contains(text)
}

/// The reason of an earlier purge, digits as in a digest, an address, and a date.
#[test]
fn what_tombstones_contain_can_be_purged() {
    let repo = TestRepo::new();
    repo.say("alpha secretone");
    repo.say("beta sk-live-1234abcd");
    repo.say("token 0123456789abcdef0123456789abcdef of author@example.com, in 2026-02");
    purge_text(&repo, "secretone", &["--reason", "leaked beside sk-live-1234abcd"]);
    let tombstones = repo.git(&["rev-parse", "refs/trace-purged"]);
    let answer = purge_text(&repo, "sk-live-1234abcd", &[]);
    assert!(answer.contains("stays in reasons of earlier purges, in `refs/trace-purged`: 1"), "{answer}");
    assert!(!answer.contains("still contains it") && answer.ends_with("[exit 0]"), "{answer}");
    let answer = purge(&repo, &["--pattern", "[0-9a-f]{32}"]);
    assert!(!answer.contains("stays in reasons") && answer.ends_with("[exit 0]"), "{answer}");
    for text in ["author@example.com", "2026-02"] {
        let answer = purge_text(&repo, text, &[]);
        assert!(answer.ends_with("[exit 0]"), "{answer}");
    }
    repo.git(&["merge-base", "--is-ancestor", tombstones.trim(), "refs/trace-purged"]);
    let marker = "[purged: leaked beside [purged: secret]]";
    let bodies = [
        format!("alpha {marker}"),
        "beta [purged: secret]".to_owned(),
        "token [purged: secret] of [purged: secret], in [purged: secret]".to_owned(),
    ];
    assert_eq!(repo.bodies("main"), bodies);
    assert_whole(&repo);
}

#[test]
fn a_purge_leaves_tombstones_also_if_a_branch_keeps_all_objects() {
    let repo = TestRepo::new();
    repo.git(&["init", "-q", "--bare", "../hub.git"]);
    repo.git(&["remote", "add", "origin", "../hub.git"]);
    repo.say(TEXT);
    repo.text(&["push"]);
    repo.git(&["branch", "keep", MAIN]);
    purge(&repo, &["--text", "-", "--push", "origin"]);
    assert!(repo.refs().contains("refs/trace-purged"));
    let there = repo.git(&["ls-remote", "origin", MAIN]);
    assert!(there.starts_with(repo.git(&["rev-parse", MAIN]).trim()), "{there}");
    let before = repo.git(&["rev-parse", "refs/trace-purged"]);
    purge(&repo, &["--text", "-"]);
    assert_eq!(repo.git(&["rev-parse", "refs/trace-purged"]), before, "nothing more was purged");
}

/// A marker protects only itself from the next purge.
#[test]
fn text_behind_a_marker_can_be_purged() {
    let (one, other) = ("AAAA-first", "BBBB-second");
    let reason = format!("{one} and {other}");
    let is_clean = |repo: &TestRepo, answer: &str| {
        assert!(!answer.contains("still contains it") && answer.ends_with("[exit 0]"), "{answer}");
        assert!(!is_anywhere(repo, other), "{answer}");
        let again = purge(repo, &["#0"]);
        assert!(!again.contains("still contains it"), "{again}");
        assert_whole(repo);
    };
    for with_item in [false, true] {
        let repo = TestRepo::new();
        repo.say("an item");
        repo.text(&["pin", "#0", "--reason", &reason]);
        purge_text(&repo, one, &[]);
        let answer = if with_item { purge(&repo, &["#0"]) } else { purge_text(&repo, other, &[]) };
        let expected = if with_item { "\"[purged: secret]\"" } else { "\"[purged: secret] and [purged: secret]\"" };
        let record = repo.git(&["grep", "-h", "reason", "refs/trace-priority"]);
        assert!(record.contains(expected), "{record}");
        is_clean(&repo, &answer);
    }
    let note = format!("note={other}");
    let path = format!("path=home/{other}.txt");
    let subject = format!("{other} about {one}");
    for args in [&["-t", "artifact", "--meta", &note, "--set", &path, "-m", one][..], &["-s", &subject, "-m", one]] {
        let repo = TestRepo::new();
        repo.text(&[&["commit"], args].concat());
        purge_text(&repo, one, &[]);
        let answer = purge(&repo, &["#0"]);
        is_clean(&repo, &answer);
        assert!(repo.git(&["log", "-1", "--format=%s", MAIN]).trim_end().ends_with("[purged: secret]"));
    }
}

#[test]
fn a_text_in_a_url_with_other_escapes_and_a_plus_for_a_space_is_found() {
    let repo = TestRepo::new();
    let text = "correct/horse battery~staple";
    for form in ["correct/horse+battery~staple", "correct%2Fhorse+battery%7Estaple", "correct/horse+battery%7estaple"] {
        repo.say(form);
    }
    purge_text(&repo, text, &[]);
    assert_eq!(repo.bodies("main"), ["[purged: secret]"; 3]);
}

#[test]
fn files_in_any_work_tree_and_large_ones_are_reported() {
    use std::os::unix::ffi::OsStrExt as _;
    let repo = TestRepo::new();
    repo.say(TEXT);
    fs::write(repo.folder().join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt")), TEXT).unwrap();
    fs::File::create(repo.folder().join("large")).unwrap().set_len(257 << 20).unwrap();
    let dry = |repo: &TestRepo| {
        let output = repo.run(&["purge", "--text", "-", "--dry-run"], TEXT.as_bytes());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = dry(&repo);
    assert!(said.contains("stays in a file: ") && said.contains("caf\u{fffd}.txt"), "{said}");
    assert!(said.contains("cannot be searched, and stays: ") && said.contains("large\n"), "{said}");
    let elsewhere = repo.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("file"), TEXT).unwrap();
    repo.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    let said = dry(&repo);
    assert!(said.contains("elsewhere/file\n"), "{said}");
    repo.git(&["config", "--unset", "core.worktree"]);
    let output = run(
        repo.command("git-trace")
            .args(["purge", "--text", "-", "--dry-run"])
            .env("GIT_DIR", repo.git_dir())
            .env("GIT_WORK_TREE", &elsewhere),
        TEXT.as_bytes(),
    );
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("elsewhere/file\n"), "{said}");
}

/// A page that is being made when a purge runs is made of what the purge left.
#[test]
fn a_page_is_not_saved_while_a_purge_runs() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    // As another process that purges has it.
    let locks = repo.git_dir().join("trace/locks");
    fs::create_dir_all(&locks).unwrap();
    let lock = fs::File::create(locks.join("objects")).unwrap();
    lock.lock().unwrap();
    let mut view = repo.command("git-trace");
    view.args(["view", "--no-open"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut page = view.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(page.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("another git-trace is writing to the object database"), "{said}");
    assert!(!repo.git_dir().join("trace/view").exists());
    drop(lock);
    assert!(page.wait().unwrap().success());
    assert!(repo.git_dir().join("trace/view/main.html").exists());
}

/// The commits that nothing leads to, by their subjects.
fn dangling(repo: &TestRepo) -> String {
    let found = repo.git(&["fsck", "--no-reflogs", "--unreachable", "--no-progress"]);
    let oids = found.lines().filter_map(|line| line.strip_prefix("unreachable commit "));
    let mut oids: Vec<&str> = oids.collect();
    oids.sort_unstable();
    if oids.is_empty() { String::new() } else { repo.git(&[&["show", "-s", "--format=%H %s"], &*oids].concat()) }
}

/// One on top of a history that has the text, and one that adds it itself.
#[test]
fn a_dropped_stash_stays_unless_it_needs_what_is_removed() {
    for has_text in [false, true] {
        let repo = TestRepo::new();
        for (file, text) in [("config", TEXT), ("notes", "hello")] {
            fs::write(repo.folder().join(file), text).unwrap();
        }
        repo.git(&["add", "."]);
        repo.git(&["commit", "-q", "-m", "config"]);
        repo.git(&["rm", "-q", "config"]);
        repo.git(&["commit", "-q", "-m", "without config"]);
        repo.say(TEXT);
        fs::write(repo.folder().join("notes"), if has_text { format!("work {TEXT}") } else { "work".to_owned() })
            .unwrap();
        repo.git(&["stash", "-q"]);
        repo.git(&["stash", "drop", "-q"]);
        let stashed = dangling(&repo);
        assert!(stashed.contains(" WIP on "), "{stashed}");
        let head = repo.git(&["rev-parse", "HEAD"]);
        purge(&repo, &["--text", "-"]);
        assert_eq!(dangling(&repo) == stashed, !has_text, "{stashed}{}", dangling(&repo));
        assert_eq!(repo.git(&["rev-parse", "HEAD"]), head);
        assert_eq!(repo.git(&["show", "HEAD~1:config"]), TEXT);
        let tombstones = repo.git(&["grep", "-h", "object", "refs/trace-purged"]);
        assert_eq!(
            tombstones.lines().count(),
            if has_text { 3 } else { 2 },
            "of the trace, and of the file: {tombstones}"
        );
        assert_whole(&repo);
    }
}

#[test]
fn a_folder_that_lends_objects_and_files_that_are_named_by_the_text_are_reported() {
    let repo = TestRepo::new();
    let format = repo.git(&["rev-parse", "--show-object-format"]);
    repo.git(&["init", "-q", "--bare", "--object-format", format.trim(), "../named-hunter2-PLAIN"]);
    let lent = repo.home().join("named-hunter2-PLAIN/objects");
    fs::write(repo.git_dir().join("objects/info/alternates"), format!("{}\n", lent.display())).unwrap();
    fs::write(repo.folder().join("hunter2-PLAIN.txt"), "x").unwrap();
    let said = repo.trace_with(&["purge", "--text", "-", "--yes"], b"hunter2-PLAIN");
    assert!(said.contains("stays in a file: [HOME]/repo/.git/objects/info/alternates\n"), "{said}");
    assert!(said.contains("stays as the name of a file: [HOME]/repo/hunter2-PLAIN.txt\n"), "{said}");
}

/// It contains no text, and cannot be made again.
#[test]
fn a_purge_keeps_since_when_sessions_are_recorded() {
    let repo = TestRepo::new();
    let session = |id: &str, texts: &[&str]| {
        let file = claude_folder(&repo).join(format!("{id}.jsonl"));
        fs::write(&file, said(id, texts)).unwrap();
        file
    };
    let hook = |texts: &[&str]| {
        let file = session("own", texts);
        let call =
            serde_json::json!({ "session_id": "own", "transcript_path": file, "hook_event_name": "Stop", "cwd": "/" });
        repo.run(&["hook", "claude-code", "--wait"], call.to_string().as_bytes());
    };
    hook(&["one"]);
    session("killed", &["help"]);
    repo.say(TEXT);
    purge(&repo, &["--text", "-"]);
    hook(&["one", "two"]);
    assert_eq!(repo.bodies("claude-code/killed"), ["help"]);
    // A name of a file is a text, too.
    session("killed", &["help", "me"]);
    let answer = repo.trace_with(&["purge", "--text", "-", "--yes"], b"killed.jsonl");
    assert!(answer.contains("files of git-trace removed"), "{answer}");
    let seen = fs::read_to_string(repo.git_dir().join("trace/transcripts/claude-code.json")).unwrap();
    assert!(!seen.contains("killed.jsonl") && seen.contains("own.jsonl"), "{seen}");
}

#[test]
fn a_purge_does_not_bring_back_an_export_of_a_deleted_trace() {
    let repo = TestRepo::new();
    repo.say("hello there");
    repo.commit(&["-r", "assistant", "-m", "hi"]);
    repo.say(TEXT);
    repo.text(&["switch", "-c", "other"]);
    repo.text(&["resume", "main", "--agent", "claude-code", "--print"]);
    repo.text(&["branch", "-D", "main"]);
    let imported = || repo.json(&["import", "--all", "--json", "claude-code"])["imported"].clone();
    assert_eq!(imported(), 0);
    purge(&repo, &["--text", "-"]);
    assert_eq!(imported(), 0);
    let log = repo.text(&["op", "log"]);
    assert!(log.contains("resume") && !log.contains("branch"), "{log}");
    assert!(!repo.run(&["undo"], b"").status.success());
    assert_whole(&repo);
}

/// A call with these arguments, and its result.
fn call(repo: &TestRepo, id: &str, arguments: &str, result: &str) {
    let shared = ["commit", "-t", "tool_io", "--name", "Bash", "--call-id", id];
    let direction = ["-r", "assistant", "--set", "direction=call", "-"];
    repo.bytes_with(&[&shared[..], &direction].concat(), arguments.as_bytes());
    repo.bytes_with(&[&shared[..], &["-r", "tool", "-"]].concat(), result.as_bytes());
}

fn lines(range: std::ops::Range<usize>, text: &str) -> String {
    range.fold(String::new(), |lines, n| lines + &format!("{text} {n:02} of some words\n"))
}

#[test]
fn lines_of_a_text_on_both_sides_of_a_cut_are_removed() {
    let repo = TestRepo::new();
    let key = lines(0..20, "KEYLINEabcdefghijklmnopqrstuvwxyz0123456789ABCDEF");
    repo.say("show it");
    call(&repo, "c1", "{\"command\":\"cat big\"}", &format!("{}{key}{}", lines(0..40, "row"), lines(0..900, "row")));
    call(&repo, "c2", "{\"command\":\"cat end\"}", &format!("{}{key}{}", lines(0..900, "row"), lines(0..40, "row")));
    for n in 0..14 {
        repo.say(&format!("next {n}"));
        repo.commit(&["-r", "assistant", "-m", &format!("ok {n}")]);
    }
    repo.text(&["clean", "--preset", "oversize", "--yes"]);
    let left = || {
        String::from_utf8(
            run(repo.command("git").args(["grep", "-ch", "KEYLINE", "refs/traces/main.clean"]), b"").stdout,
        )
        .unwrap()
    };
    assert_eq!(left().lines().count(), 2, "{}", left());
    purge_text(&repo, &key, &[]);
    assert_eq!(left(), "");
    assert!(!is_anywhere(&repo, "KEYLINE"));
    assert_eq!(repo.bodies("main.clean")[2].lines().filter(|line| *line == "[purged: secret]").count(), 1);
    assert_whole(&repo);
    assert!(purge_text(&repo, &key, &[]).starts_with("nothing to purge"));
}

#[test]
fn parts_of_what_a_pattern_matches_are_removed_where_they_were_cut_off() {
    let repo = TestRepo::new();
    let token = format!("tok_{}", "0123456789abcdef".repeat(4));
    repo.say(&format!("{token} is the key"));
    repo.say(&format!("[git-trace cut bash login {}…, 2000 tokens; git trace show 0123]", &token[..20]));
    repo.text(&["compress", "#0..#1"]);
    let forward = format!("The words of this summary take a lot of room {token}");
    repo.text(&["forward", "leave", "--agent", "ada", "--summary", &forward]);
    assert!(repo.git(&["log", "--format=%s", "--all"]).contains("tok_0123"));
    repo.text(&["purge", "--pattern", "tok_[0-9a-f]{64}", "--yes"]);
    assert!(!is_anywhere(&repo, "tok_"));
    insta::assert_snapshot!(repo.bodies("main").concat(), @"
    Summary by rule: 2 items, 1 lines omitted
    #1 dialogue user: [git-trace cut bash login [purged: secret], 2000 to…
    ");
    assert_whole(&repo);
}

#[test]
fn the_end_of_a_path_in_a_stub_and_the_end_of_a_summary_that_was_cut_are_removed() {
    let repo = TestRepo::new();
    let path = "clients/acme-merger-projectx/contract-final.txt";
    repo.say("[git-trace cut Read …/contract-final.txt, 1804 tokens; git trace show 0123]");
    repo.say("The user asked about clients/acme-merger […]");
    repo.say("It is in clients/acme…");
    purge_text(&repo, path, &[]);
    insta::assert_snapshot!(repo.bodies("main").join("\n"), @"
    [git-trace cut Read [purged: secret], 1804 tokens; git trace show 0123]
    The user asked about [purged: secret] […]
    It is in [purged: secret]
    ");
    assert!(!is_anywhere(&repo, "acme"));
    assert_whole(&repo);
}

#[test]
fn parts_of_a_text_in_archived_summaries_are_removed_and_those_in_crumb_files_are_reported() {
    let repo = TestRepo::new();
    let file = repo.folder().join("a.crumb");
    let words = "a long explanation that is long so that it is cut";
    let notes = format!(
        "n @1 some words on the vault, passphrase: correct horse battery staple, {words}\nn @1 other {words} {words}\n"
    );
    fs::write(&file, format!("\u{2234}CRUMB2 A s10\n\n\u{a7}core\n\n\u{a7}volatile\n{notes}")).unwrap();
    repo.text(&["crumb", "compress", "a.crumb"]);
    let compressed = fs::read_to_string(&file).unwrap();
    fs::write(&file, compressed.replace(" s10", " s40") + "n @2 two\nn @3 three\n").unwrap();
    repo.text(&["crumb", "compress", "a.crumb"]);
    let summaries = || repo.git(&["grep", "-h", "^c ", "refs/crumb-archive/A"]);
    insta::assert_snapshot!(summaries(), @"c @1 some words on the vault, passphrase: correct horse battery…; other a long explanation that is long so that it is cut a…");
    assert!(fs::read_to_string(&file).unwrap().contains("correct horse battery…"));
    let text = "correct horse battery staple";
    let said = purge_text(&repo, text, &[]);
    assert!(said.contains("stays in a file: ") && said.contains("a.crumb\n"), "{said}");
    insta::assert_snapshot!(summaries(), @"c @1 some words on the vault, passphrase: [purged: secret]; other a long explanation that is long so that it is cut a…");
    assert!(!is_anywhere(&repo, "correct"));
    assert_whole(&repo);
    fs::remove_file(&file).unwrap();
    assert!(purge_text(&repo, text, &[]).starts_with("nothing to purge"));
}

#[test]
fn purged_calls_do_not_come_back_from_an_export_that_writes_their_arguments_anew() {
    let repo = TestRepo::new();
    repo.say("please deploy it");
    call(&repo, "c3", &format!("{{\"timeout\": 10,\n \"command\": \"deploy --key {PLAIN}\"}}\n"), "ok");
    let formats = ["gemini-cli", "copilot-cli", "pi", "claude-code", "atif"];
    let export = |format: &str| repo.home().join(format!("export.{format}"));
    for format in formats {
        repo.text(&["export", format, "-o", export(format).to_str().unwrap()]);
    }
    purge_text(&repo, PLAIN, &[]);
    for format in formats {
        repo.run(&["import", "--trace", format, format, export(format).to_str().unwrap()], b"");
        assert!(!is_anywhere(&repo, PLAIN), "{format}");
    }
    assert_whole(&repo);
}

const PLAIN: &str = "hunter2-PLAIN-zz";

#[test]
fn a_match_across_quotes_takes_no_other_metadata_and_arguments_with_it() {
    let (mut repo, clone) = crate::purge::shared();
    let meta = ["--meta", "a=first", "--meta", "url=http://x/?token=abcd", "--meta", "z=last"];
    repo.commit(&[&["-m", "go"], &meta[..]].concat());
    call(&repo, "c4", "{\"command\": \"curl http://x/?token=abcd\", \"timeout\": 10}", "ok");
    call(&repo, "c5", "{\"a\": \"say \\\"token=abcd\\\" now\", \"pin\": 74747474, \"b\": [1, null]}", "ok");
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.say("mine");
    });
    repo.text(&["purge", "--pattern", "token=\\S+|74747474", "--yes", "--push", "origin"]);
    let live = |repo: &TestRepo| repo.git(&["grep", "-h", "purged: ", "refs/traces/main"]);
    let here = live(&repo);
    insta::assert_snapshot!(here, @r#"
    meta: {"a":"first","url":"http://x/?[purged: secret]","z":"last"}
    {"command": "curl http://x/?[purged: secret]", "timeout": 10}
    {"a": "say \"[purged: secret] now", "pin": "[purged: secret]", "b": [1, null]}
    "#);
    repo.within(&clone, |repo| {
        let said = repo.text(&["pull"]);
        assert!(said.contains("rewrote items: "), "{said}");
        assert_eq!(live(repo), here);
        assert!(repo.bodies("main").iter().all(|body| !body.contains("token=") && !body.contains("7474")));
        assert_eq!(repo.bodies("main").last().unwrap(), "mine");
        assert_eq!(repo.text(&["pull"]), "main: up to date\n");
        assert_whole(repo);
    });
    assert_whole(&repo);
}

#[test]
fn a_match_with_the_quotes_of_a_value_takes_only_this_value_with_it() {
    let repo = TestRepo::new();
    let meta = ["--meta", "a=first", "--meta", "url=http://x/?token=abcd", "--meta", "z=last"];
    repo.commit(&[&["-m", "go"], &meta[..]].concat());
    call(&repo, "c6", "{\"url\": \"http://x\", \"a\": 1}", "ok");
    repo.text(&["purge", "--pattern", "\"url\": ?\"[^\"]*\"", "--yes"]);
    assert!(!is_anywhere(&repo, "http://x"));
    let files = repo.git(&["grep", "-h", "-e", "first", "-e", "purged", "refs/traces/main"]);
    insta::assert_snapshot!(files, @r#"
    meta: {"a":"first","z":"last"}
    {"purged":"[purged: secret]"}
    "#);
    assert_whole(&repo);
}

#[test]
fn keys_that_become_equal_in_another_spelling_keep_their_values() {
    let repo = TestRepo::new();
    repo.say("go");
    call(&repo, "c7", r#"{"k_S1xxxx\/a": "one", "k_S2yyyy/a": "two"}"#, "ok");
    call(&repo, "c8", r#"{"k_S1xxxx\u0065": "one", "k_S2yyyye": "two"}"#, "ok");
    call(&repo, "c9", r#"{"S1xxxx": "one", "\u005bpurged: secret]": "two"}"#, "ok");
    purge(&repo, &["--pattern", "S1xxxx|S2yyyy"]);
    let files = repo.git(&["grep", "-h", "one", "refs/traces/main"]);
    insta::assert_snapshot!(files, @r#"
    {"k_[purged: secret]\/a": "one", "k_[purged: secret]/a[purged: secret]": "two"}
    {"k_[purged: secret]\u0065": "one", "k_[purged: secret]e[purged: secret]": "two"}
    {"[purged: secret]": "one", "\u005bpurged: secret][purged: secret]": "two"}
    "#);
    assert_whole(&repo);
}

#[test]
fn names_that_differ_in_digits_of_ids_still_differ() {
    for pattern in ["[0-9a-f]{16}", r"\b[0-9a-f]{12,40}\b", "[a-z0-9]{16}", r"\w{16}"] {
        let repo = TestRepo::new();
        for (name, text) in [("0123456789abcdef", "Never push."), ("fedcba9876543210", "Answer briefly.")] {
            repo.text(&["commit", "-t", "instruction", "--name", &format!("rules-{name}"), "-m", text]);
        }
        let before = repo.text(&["materialize"]);
        purge(&repo, &["--pattern", pattern]);
        assert_eq!(repo.text(&["materialize"]), before, "{pattern}");
        let names = repo.git(&["grep", "-h", "^name: ", "refs/traces/main"]);
        assert!(names.lines().all(|name| name.starts_with("name: rules-[purged: secret ")), "{names}");
    }
}

#[test]
fn the_subject_and_reason_of_a_compression_go_with_an_item_that_it_replaced() {
    let repo = TestRepo::new();
    repo.say("one");
    let id = repo.say(PLAIN);
    repo.text(&[
        "compress",
        "#0..#1",
        "-m",
        "both",
        "-s",
        &format!("fold {PLAIN}"),
        "--reason",
        &format!("because of {PLAIN}"),
    ]);
    repo.say("two");
    repo.say("three");
    repo.text(&["compress", "#2..#3", "-m", "rest", "-s", "fold the rest", "--reason", "to save room"]);
    repo.text(&["purge", &id, "--yes"]);
    assert!(!is_anywhere(&repo, PLAIN));
    let log = repo.git(&["log", "--format=%s|%(trailers:key=Trace-Reason,separator=%x2C)", "refs/traces/main"]);
    insta::assert_snapshot!(log, @"
    fold the rest|Trace-Reason: to save room
    dialogue user: three|
    dialogue user: two|
    [purged: secret]|Trace-Reason: [purged: secret]
    dialogue user: [purged: secret]|
    dialogue user: one|
    ");
    assert_whole(&repo);
}

#[test]
fn an_edit_of_an_item_that_was_purged_while_the_editor_was_open_is_refused() {
    if !has_terminal() {
        return;
    }
    let repo = TestRepo::new();
    repo.say(TEXT);
    let editor = repo.home().join("editor");
    let script = format!(
        "cp \"$1\" ../shown\nprintf '{TEXT}' | git trace purge --text - --yes\n(cat ../shown; echo more) > \"$1\"\n"
    );
    fs::write(&editor, script).unwrap();
    let said = repo.on_a_terminal("GIT_EDITOR='sh ../editor' git trace edit '#0'", "");
    assert!(said.contains("was changed while this command ran") && said.contains("your text is in"), "{said}");
    assert_eq!(repo.bodies("main"), ["[purged: secret]"]);
    assert!(fs::read_to_string(repo.git_dir().join("TRACE_EDITMSG")).unwrap().ends_with("more\n"));
}

#[test]
fn a_clean_whose_list_was_open_in_the_editor_during_a_purge_is_refused() {
    let repo = TestRepo::new();
    // The stub of a result begins with its call.
    call(&repo, "c1", "{\"command\":\"login zqSECRETtoken9\"}", &lines(0..300, "row"));
    for n in 0..4 {
        repo.commit(&["-r", "assistant", "-m", &format!("ok {n}")]);
        repo.say(&format!("next {n}"));
    }
    let script = "cp \"$1\" ../shown\nprintf zqSECRETtoken9 | git trace purge --text - --yes\ncp ../shown \"$1\"\n";
    fs::write(repo.home().join("editor"), script).unwrap();
    let args = ["trace", "clean", "--edit", "--in-place", "--preset", "old-results", "--keep", "1"];
    let said = repo.exact(&run(repo.command("git").env("GIT_SEQUENCE_EDITOR", "sh ../editor").args(args), b""));
    assert!(fs::read_to_string(repo.home().join("shown")).unwrap().contains("zqSECRETtoken9"), "{said}");
    assert!(said.contains("something was purged while this command ran, so it stopped\n"), "{said}");
    assert!(!is_anywhere(&repo, "zqSECRETtoken9"));
    assert_whole(&repo);
}

#[test]
fn a_command_that_was_reading_its_input_during_a_purge_is_refused() {
    let repo = TestRepo::new();
    repo.git(&["config", "trace.agent", "azoth"]);
    let item = repo.say("pinned");
    // More than a pipe holds: once it is written, the import has begun.
    let text = format!("of an import: {TEXT} {}", "long ".repeat(50_000));
    let message = json!({ "role": "user", "content": text });
    let request = json!({ "messages": [message] }).to_string();
    let line = json!({ "type": "dialogue", "role": "user", "text": text }).to_string();
    let reason = json!({ "op": "priority", "id": item, "priority": "pinned", "reason": text }).to_string();
    let claude = json!({ "type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
        "message": message })
    .to_string();
    let conversation = json!({ "conversations": [{ "from": "human", "value": text }] }).to_string();
    let crumb = json!({ "crumbs": [{ "text": text, "metadata": { "timestamp": "2026-01-01T00:00:00Z",
        "crumb_priority": "HIGH", "crumb_type": "task" } }] })
    .to_string();
    let edit = ["edit", &item, "-"];
    let edit_by_option = ["edit", &item, "-F", "-"];
    let compress = ["compress", &item, "-"];
    let cases: [(&[&str], String); 13] = [
        (&edit, text.clone()),
        (&edit_by_option, text.clone()),
        (&compress, text.clone()),
        (&["import", "jsonl", "-"], line),
        (&["import", "jsonl", "-"], reason),
        (&["import", "openai", "-"], request.clone()),
        (&["import", "openai", "-", "--split"], request),
        (&["import", "anthropic", "-"], json!({ "messages": [message] }).to_string()),
        (&["import", "responses", "-"], json!({ "input": [message] }).to_string()),
        (
            &["import", "gemini", "-"],
            json!({ "contents": [{ "role": "user", "parts": [{ "text": text }] }] }).to_string(),
        ),
        (&["import", "claude-code", "-"], claude),
        (&["import", "sharegpt", "-", "--split"], conversation),
        (&["forward", "import", "-"], crumb),
    ];
    for (args, input) in cases {
        repo.say(TEXT);
        let mut import = repo.command("git-trace");
        import.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut import = import.spawn().unwrap();
        import.stdin.as_mut().unwrap().write_all(input.as_bytes()).unwrap();
        purge(&repo, &["--text", "-"]);
        let said = repo.exact(&import.wait_with_output().unwrap());
        assert!(said.contains("something was purged while this command ran, so it stopped\n"), "{args:?}: {said}");
        assert!(!is_anywhere(&repo, TEXT), "{args:?}");
    }
    assert_whole(&repo);
}

#[test]
fn an_unreachable_tag_goes_with_the_commit_that_it_leads_to() {
    let repo = TestRepo::new();
    let commit = |message: &str| {
        let tree = written(&repo, "tree", b"");
        repo.git(&["commit-tree", &tree, "-m", message]).trim().to_owned()
    };
    let tag = |oid: &str, kind: &str| {
        written(&repo, "tag", format!("object {oid}\ntype {kind}\ntag v\ntagger A <a@b> 1 +0000\n\nv\n").as_bytes())
    };
    let (purged, kept) = (tag(&commit(&format!("has {TEXT}")), "commit"), tag(&commit("other"), "commit"));
    let nested = tag(&purged, "tag");
    let answer = purge(&repo, &["--text", "-"]);
    assert!(answer.contains("objects removed: 3"), "{answer}");
    assert_eq!(repo.git(&["cat-file", "-t", &kept]), "tag\n");
    for gone in [purged, nested] {
        assert!(!run(repo.command("git").args(["cat-file", "-e", &gone]), b"").status.success());
    }
    assert_whole(&repo);
}

#[test]
fn a_worktree_that_git_cannot_read_is_named() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["worktree", "add", "-q", "../tree"]);
    let head = repo.git_dir().join("worktrees/tree/HEAD");
    let breaks: [fn(&Path) -> std::io::Result<()>; 2] = [|head| fs::write(head, ""), |head| fs::remove_file(head)];
    for break_head in breaks {
        break_head(&head).unwrap();
        let answer = purge(&repo, &["--text", "-"]);
        assert!(answer.contains(".git/worktrees/tree` belongs to a worktree, and git cannot read it"), "{answer}");
    }
    fs::write(&head, "ref: refs/heads/tree\n").unwrap();
    assert!(purge(&repo, &["--text", "-"]).ends_with("[exit 0]"));
}

#[test]
fn objects_of_submodules_are_named_as_not_searched() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    repo.git(&["init", "-q", "--bare", ".git/modules/part"]);
    let answer = purge(&repo, &["--text", "-"]);
    let named = answer.lines().find(|line| line.starts_with("cannot be searched"));
    assert!(named.is_some_and(|line| line.ends_with("/.git/modules/part/objects")), "{answer}");
}

#[test]
fn the_reflog_of_a_torn_trace_stays_until_the_trace_is_repaired() {
    let repo = TestRepo::classic(&[]);
    repo.say("base");
    repo.text(&["branch", "side"]);
    repo.text(&["--trace", "side", "commit", "-m", TEXT]);
    for torn in ["", "abcdef\n"] {
        repo.text(&["--trace", "side", "commit", "-m", TEXT]);
        fs::write(repo.git_dir().join("refs/traces/side"), torn).unwrap();
        insta::allow_duplicates!(insta::assert_snapshot!(purge(&repo, &["--text", "-"]), @"
        --- stderr
        error: `refs/traces/side` is damaged, but its reflog is not
        hint: `git trace fsck --repair` moves it to the newest complete state in its reflog
        [exit 2]
        "));
        repo.text(&["fsck", "--repair"]);
        assert!(purge(&repo, &["--text", "-"]).ends_with("[exit 0]"));
        assert_eq!(places(&repo), Vec::<String>::new());
    }
    assert_eq!(repo.bodies("side"), ["base", "[purged: secret]", "[purged: secret]", "[purged: secret]"]);
    assert_whole(&repo);
}

#[test]
fn the_reflog_of_a_lost_trace_stays_until_the_trace_is_restored() {
    let repo = TestRepo::classic(&[]);
    repo.say("base");
    repo.text(&["branch", "side"]);
    repo.text(&["--trace", "side", "commit", "-m", TEXT]);
    repo.text(&["--trace", "side", "commit", "-m", "work"]);
    fs::remove_file(repo.git_dir().join("refs/traces/side")).unwrap();
    insta::assert_snapshot!(purge(&repo, &["--text", "-"]), @"
    --- stderr
    error: `refs/traces/side` is gone, but its reflog is not
    hint: `git trace fsck --repair` restores it; `git update-ref -d` deletes it
    [exit 2]
    ");
    repo.text(&["fsck", "--repair"]);
    assert!(purge(&repo, &["--text", "-"]).ends_with("[exit 0]"));
    assert_eq!(repo.bodies("side"), ["base", "[purged: secret]", "work"]);
    assert_eq!(places(&repo), Vec::<String>::new());
    assert_whole(&repo);
}

#[test]
fn a_text_is_found_as_messages_and_forward_crumbs_contain_it() {
    let texts =
        ["-----BEGIN-----\nfirst-part-1\n════ END", "\u{1b}[31mfirst-part-2\u{1b}[0m-end", "first-part-3\r\nlast"];
    for (number, text) in (1..).zip(texts) {
        let repo = TestRepo::new();
        repo.say("base");
        let long = format!("why {text} is needed");
        repo.text(&["pin", "#0", "--reason", &long]);
        for field in ["--discovery", "--unfinished", "--summary"] {
            let other = if field == "--summary" { vec![] } else { vec!["--summary", "short"] };
            repo.text(&[&["forward", "leave", "--agent", "ada", field, &long], &*other].concat());
        }
        let output = repo.run(&["purge", "--yes", "--text", "-"], text.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{}", repo.exact(&output));
        assert!(!is_anywhere(&repo, &format!("first-part-{number}")), "{text}");
        assert_whole(&repo);
    }
}

#[test]
fn an_unreachable_commit_without_a_file_stops_no_purge() {
    let repo = TestRepo::new();
    repo.say("first-secret and second-secret");
    let first = repo.run(&["purge", "--text", "-", "--yes"], b"first-secret");
    assert_eq!(first.status.code(), Some(0), "{}", repo.exact(&first));
    repo.text(&["branch", "gone"]);
    repo.text(&["--trace", "gone", "edit", "#0", "-m", "a revision without it"]);
    repo.text(&["--trace", "gone", "commit", "-s", "about second-secret", "-m", "next"]);
    let files = repo.git(&["ls-tree", "-r", "refs/traces/gone"]);
    let file = files.split_whitespace().nth(2).unwrap().to_owned();
    repo.text(&["branch", "-D", "gone"]);
    for refname in repo.git(&["for-each-ref", "--format=%(refname)", "refs/trace-orig"]).lines() {
        repo.git(&["update-ref", "-d", refname]);
    }
    fs::remove_file(repo.git_dir().join("objects").join(&file[..2]).join(&file[2..])).unwrap();
    let second = repo.run(&["purge", "--text", "-", "--yes"], b"second-secret");
    assert_eq!(second.status.code(), Some(0), "{}", repo.exact(&second));
}

#[test]
fn results_stay_with_their_calls_if_a_pattern_matches_the_ids() {
    let repo = TestRepo::new();
    let call =
        |id: &str, path: &str| json!({ "type": "tool_use", "id": id, "name": "Read", "input": { "path": path } });
    let result = |id: &str, text: &str| json!({ "type": "tool_result", "tool_use_id": id, "content": text });
    let (one, two) = ("toolu_01AAAAAAAAAAAAAAAAAAAAAA", "toolu_01BBBBBBBBBBBBBBBBBBBBBB");
    let request = json!({ "model": "m", "messages": [
        { "role": "user", "content": "read both" },
        { "role": "assistant", "content": [call(one, "a"), call(two, "b")] },
        { "role": "user", "content": [result(two, "text of b"), result(one, "text of a and ghp_ABCDEFGHIJKLMNOPQRST")] },
    ] });
    let imported = repo.run(&["import", "anthropic", "-"], request.to_string().as_bytes());
    assert!(imported.status.success(), "{imported:?}");
    repo.text(&["purge", "--pattern", r"\b[a-z]+_[A-Za-z0-9]{20,}", "--yes"]);
    let sent = repo.json(&["materialize", "--format", "anthropic"]);
    let blocks: Vec<_> =
        sent["messages"].as_array().unwrap().iter().filter_map(|it| it["content"].as_array()).flatten().collect();
    for (path, text) in [("a", "text of a and [purged: secret]"), ("b", "text of b")] {
        let call = blocks.iter().find(|block| block["input"]["path"] == path).unwrap();
        let result = blocks.iter().find(|block| block["tool_use_id"] == call["id"]).unwrap();
        assert!(result["content"].to_string().contains(text), "{sent}");
    }
    assert_whole(&repo);
}

#[test]
fn the_id_of_an_imported_record_is_purged() {
    let repo = TestRepo::new();
    let line = json!({ "type": "dialogue", "role": "user", "text": "hello", "source": format!("mail {TEXT}-17 0") });
    let import = |trace: &str| {
        let imported = repo.run(&["import", "jsonl", "-", "--trace", trace], line.to_string().as_bytes());
        assert!(imported.status.success(), "{imported:?}");
    };
    import("one");
    let answer = purge(&repo, &["--text", "-"]);
    assert!(answer.ends_with("[exit 0]"), "{answer}");
    import("two");
    assert_eq!(places(&repo), Vec::<String>::new());
    assert_whole(&repo);
}

/// Only commits have the id of the session.
#[test]
fn an_import_does_not_bring_the_purged_id_of_a_session_back() {
    let repo = TestRepo::new();
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts/codex/rollout-small.jsonl");
    repo.text(&["import", "codex", session, "--trace", "one"]);
    repo.text(&["purge", "--pattern", "019b64e5-57fa-7463-b644-fba7e456f905", "--yes"]);
    repo.text(&["import", "codex", session, "--trace", "two"]);
    assert!(!repo.git(&["log", "--format=%B", "refs/traces/two"]).contains("019b64e5-57fa"));
    assert_whole(&repo);
}

#[test]
fn a_pattern_that_matches_line_breaks_leaves_the_trailers() {
    let repo = TestRepo::new();
    repo.text(&["commit", "-m", "a text", "-s", "store the key sk-0123456789"]);
    repo.text(&["purge", "--pattern", "sk-[^ ]+", "--yes"]);
    let message = repo.git(&["log", "--format=%B", MAIN]);
    assert!(message.starts_with("store the key [purged: secret]\n\nTrace-Op: append\n"), "{message}");
    assert_whole(&repo);
    repo.text(&["commit", "-m", "a text", "-s", "store the key sk-9876543210"]);
    repo.text(&["purge", "--pattern", "sk-[0-9]+\n+", "--yes"]);
    let message = repo.git(&["log", "-1", "--format=%B", MAIN]);
    assert!(message.starts_with("store the key [purged: secret]\n\nTrace-Op: append\n"), "{message}");
    assert_whole(&repo);
}

#[test]
fn a_pattern_that_matches_line_ends_is_removed_from_reasons() {
    let repo = TestRepo::new();
    repo.say("x");
    repo.text(&["edit", "#0", "-m", "y", "--reason", "sk-9876543210 leaked sk-0123456789"]);
    repo.text(&["purge", "--pattern", "sk-[0-9]+\\s", "--yes"]);
    let message = repo.git(&["log", "-1", "--format=%B", MAIN]);
    assert!(message.contains("Trace-Reason: [purged: secret]leaked [purged: secret]\n"), "{message}");
    assert_whole(&repo);
}

#[test]
fn a_damaged_reverse_index_hides_no_object() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    repo.say("other");
    // A file manager leaves such files.
    fs::create_dir(repo.git_dir().join("worktrees")).unwrap();
    fs::write(repo.git_dir().join("worktrees/.DS_Store"), "").unwrap();
    repo.git(&["repack", "-adq"]);
    for entry in fs::read_dir(repo.git_dir().join("objects/pack")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rev") {
            let mut bytes = fs::read(&path).unwrap();
            let end = bytes.len() - 40;
            bytes[12..end].fill(0);
            fs::remove_file(&path).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
    assert!(purge(&repo, &["--text", "-"]).ends_with("[exit 0]"));
    assert_eq!(places(&repo), Vec::<String>::new());
}

/// The superuser can read it.
#[cfg(unix)]
#[test]
fn a_purge_is_refused_if_refs_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = TestRepo::classic(&[]);
    repo.say(TEXT);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["branch", "feature/x"]);
    repo.git(&["worktree", "add", "-q", "../tree"]);
    for folder in ["refs/heads/feature", "logs/refs/heads/feature", "worktrees/tree", "worktrees"] {
        let path = repo.git_dir().join(folder);
        let allow = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        allow(0);
        let (is_hidden, answer) = (fs::read_dir(&path).is_err(), purge(&repo, &["--text", "-"]));
        allow(0o755);
        if !is_hidden {
            return;
        }
        assert!(answer.contains("Permission denied") && answer.ends_with("[exit 2]"), "{answer}");
    }
}

#[test]
fn a_result_that_comes_after_the_purge_of_its_calls_id_answers_that_call() {
    let repo = TestRepo::new();
    let call = "toolu_01Y8mgtuKS24zpEHMa8FAMAx";
    repo.say("run it");
    let tool = ["commit", "-q", "-t", "tool_io", "--name", "Bash", "--call-id", call];
    repo.text(&[&tool[..], &["--set", "direction=call", "-m", r#"{"command":"ls"}"#]].concat());
    repo.text(&["purge", "--pattern", r"toolu_\w+", "--yes"]);
    repo.text(&[&tool[..], &["--set", "direction=result", "--reply-to", "#1", "-m", "file.txt"]].concat());
    let sent = repo.json(&["materialize", "--format", "anthropic"])["messages"].to_string();
    assert!(sent.contains("tool_use") && sent.contains("tool_result"), "{sent}");
    let said = repo.text(&["export", "claude-code"]);
    assert!(!said.contains("has no result") && !said.contains("has no call"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_purge_keeps_what_a_worktree_needs_whose_head_is_a_link() {
    let mut repo = TestRepo::classic(&[]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["config", "core.preferSymlinkRefs", "true"]);
    repo.say("my SECRETSECRET");
    repo.git(&["worktree", "add", "-q", "../other"]);
    repo.git(&["-C", "../other", "update-ref", "refs/bisect/bad", "refs/traces/main"]);
    repo.trace_with(&["purge", "--text", "-", "--yes"], b"SECRETSECRET");
    repo.git(&["-C", "../other", "fsck"]);
    let other = repo.home().join("other");
    repo.within(&other, |repo| {
        let said = repo.refused(&["status"]);
        assert!(said.contains("`HEAD` in"), "{said}");
    });
}

#[test]
fn a_purge_is_refused_if_git_does_not_use_a_pack() {
    let repo = TestRepo::classic(&[]);
    repo.commit(&["--trace", "other", "-m", "item TOPSECRET-abcdef"]);
    repo.git(&["repack", "-adq"]);
    repo.say("clean");
    let packs = fs::read_dir(repo.git_dir().join("objects/pack")).unwrap().map(|entry| entry.unwrap().path());
    let index = packs.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "idx")).unwrap();
    let purge = || repo.refused_with(&["purge", "--text", "-", "--yes"], b"TOPSECRET-abcdef");
    let whole = fs::read(&index).unwrap();
    for damaged in [&whole[..0], &whole[..600], &whole[..1080], &[b"XXXX", &whole[4..]].concat()[..]] {
        fs::remove_file(&index).unwrap();
        fs::write(&index, damaged).unwrap();
        let said = purge();
        assert!(said.contains(".idx: "), "{said}");
    }
    fs::write(&index, &whole).unwrap();
    let pack = index.with_extension("pack");
    let bytes = fs::read(&pack).unwrap();
    fs::remove_file(&pack).unwrap();
    fs::write(&pack, [b"XXXX", &bytes[4..]].concat()).unwrap();
    assert!(purge().contains("its pack is damaged"));
    fs::write(&pack, bytes).unwrap();
    repo.trace_with(&["purge", "--text", "-", "--yes"], b"TOPSECRET-abcdef");
    assert!(!repo.text(&["show", "--trace", "other", "#0"]).contains("TOPSECRET"));
}

#[test]
fn a_worktree_that_is_elsewhere_is_named_as_not_searched() {
    let repo = TestRepo::new();
    repo.say(TEXT);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let unsearched = || {
        let answer = purge(&repo, &["--text", "-"]);
        let lines = answer.lines().filter(|line| line.starts_with("cannot be searched"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    repo.git(&["worktree", "add", "-q", "../tree"]);
    assert_eq!(unsearched(), Vec::<String>::new());
    let tree = repo.home().join("tree");
    fs::rename(&tree, repo.home().join("elsewhere")).unwrap();
    assert!(unsearched()[0].ends_with("/tree"));
    let elsewhere = repo.home().join("elsewhere");
    let from_there =
        run(repo.command("git-trace").current_dir(&elsewhere).args(["purge", "--text", "-"]), TEXT.as_bytes());
    assert!(!String::from_utf8_lossy(&from_there.stdout).contains("cannot be searched"));
    // Another repository has taken its place.
    repo.git(&["init", "-q", "../tree"]);
    assert!(unsearched()[0].ends_with("/tree"));
}

#[test]
fn a_purge_names_an_item_that_is_not_here() {
    let repo = TestRepo::new();
    repo.say("a hunter2 text");
    repo.say("two");
    let item = repo.git(&["rev-parse", "refs/traces/main~1^{tree}"]);
    let listed = repo.git(&["ls-tree", "-r", item.trim()]);
    let blob = listed.split_whitespace().nth(2).unwrap();
    std::fs::remove_file(repo.git_dir().join("objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let said = repo.refused_with(&["purge", "--text", "-", "--yes"], b"hunter2");
    assert!(said.contains("error: object [OID] is not in this repository"), "{said}");
}
