//! Writers beside one another, beside `git gc`, and killed at any moment.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::repo::{TestRepo, run};

/// Starts a `commit --batch` that is given its lines by a thread, and whose answers are kept in a file.
fn start_batch(repo: &TestRepo, lines: String, answers: &Path) -> Child {
    let mut command = repo.command("git-trace");
    command.args(["commit", "--batch"]).stdin(Stdio::piped()).stdout(File::create(answers).unwrap());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A writer that is killed leaves a broken pipe.
    std::thread::spawn(move || drop(stdin.write_all(lines.as_bytes())));
    child
}

fn lines(writer: &str, count: usize) -> String {
    (0..count).map(|n| format!("{{\"text\":\"{writer} {n}\"}}\n")).collect()
}

/// The ids in the whole lines of a file of answers.
fn answered(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let id = |line: &str| -> String {
        let answer: Value = serde_json::from_str(line).unwrap();
        answer["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    whole.map(id).collect()
}

/// Without the notices of long waits, which depend on the load of the machine.
fn without_notices(text: &str) -> String {
    text.split_inclusive('\n').filter(|line| !line.starts_with("another git-trace is writing to")).collect()
}

fn live(repo: &TestRepo) -> HashSet<String> {
    let listed = repo.git(&["ls-tree", "-r", "--name-only", "refs/traces/main"]);
    listed.lines().map(|path| path.rsplit('-').next().unwrap().to_owned()).collect()
}

#[test]
fn eight_concurrent_writers_make_one_linear_history() {
    let repo = TestRepo::new();
    let answers = |writer: usize| repo.home().join(format!("answers-{writer}"));
    let children: Vec<Child> =
        (0..8).map(|writer| start_batch(&repo, lines(&format!("writer {writer}"), 100), &answers(writer))).collect();
    for mut child in children {
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert!(child.wait().unwrap().success(), "{stderr}");
        assert_eq!(without_notices(&stderr), "");
    }
    let live = live(&repo);
    assert_eq!(live.len(), 800);
    assert!((0..8).flat_map(|writer| answered(&answers(writer))).all(|id| live.contains(&id)));
    let history = repo.git(&["rev-list", "--parents", "refs/traces/main"]);
    assert_eq!(history.lines().count(), 800);
    assert!(history.lines().all(|line| line.split(' ').count() <= 2), "one line of history");
    assert_eq!(repo.git(&["reflog", "show", "refs/traces/main"]).lines().count(), 800);
    // Each writer's items are in its own order.
    let bodies = repo.json(&["materialize", "--json", "--aggregate", "none"]);
    let mut next = [0; 8];
    for message in bodies["messages"].as_array().unwrap() {
        let words: Vec<&str> = message["content"].as_str().unwrap().split(' ').collect();
        let writer: usize = words[1].parse().unwrap();
        assert_eq!(words[2].parse::<usize>().unwrap(), next[writer]);
        next[writer] += 1;
    }
    repo.total("main");
    repo.fsck();
}

#[test]
fn every_pair_of_commands_may_race() {
    let repo = TestRepo::new();
    repo.bytes_with(&["commit", "--batch"], lines("before", 8).as_bytes());
    let spawn = |args: &[&str]| {
        let mut command = repo.command("git-trace");
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let import = repo.home().join("import");
    fs::write(&import, lines("imported", 60)).unwrap();
    let mut children = Vec::new();
    for round in 0..6 {
        let item = format!("#{round}");
        children.push(spawn(&["edit", &item, "-m", "edited"]));
        children.push(spawn(&["pin", &item, "--reason", "why"]));
        children.push(spawn(&["skip", "#7"]));
        children.push(spawn(&["commit", "-m", "x", "-p", "pinned"]));
        children.push(spawn(&["delete", &item]));
        if round % 3 == 0 {
            children.push(spawn(&["import", "jsonl", import.to_str().unwrap()]));
        }
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // An edit or a pin may come after the deletion; nothing else may fail.
        assert!(output.status.success() || said.contains("removed from trace"), "{said}");
    }
    let texts = repo.bodies("main");
    assert_eq!(
        texts.iter().filter(|text| text.starts_with("imported")).count(),
        60,
        "both imports bring the same items"
    );
    assert_eq!(texts.len(), 8 - 6 + 6 + 60);
    assert_eq!(repo.text(&["priority", "#7", "--history"]).lines().count(), 6);
    repo.total("main");
    repo.fsck();
}

#[test]
fn gc_next_to_a_writer_loses_nothing() {
    let repo = TestRepo::new();
    // Maintenance that the writer starts would make git refuse ours.
    repo.git(&["config", "maintenance.auto", "false"]);
    let answers = repo.home().join("answers");
    let mut writer = start_batch(&repo, lines("writer", 300), &answers);
    let mut collected = 0;
    while writer.try_wait().unwrap().is_none() {
        let output = run(repo.command("git").args(["gc", "--quiet"]), b"");
        // Git gives up where a writer has the lock of a reftable, and does not wait for it as for that of a ref.
        let said = repo.exact(&output);
        let gave_up =
            repo.git_dir().join("reftable").is_dir() && (said.contains("pack-refs") || said.contains("reflog"));
        assert!(output.status.success() || gave_up, "{said}");
        collected += 1;
    }
    let output = writer.wait_with_output().unwrap();
    let answers_text = fs::read_to_string(&answers).unwrap();
    assert!(
        output.status.success(),
        "{} {:?}",
        repo.exact(&output),
        answers_text.lines().find(|line| line.contains("error"))
    );
    assert!(collected > 0);
    let live = live(&repo);
    let answered = answered(&answers);
    assert_eq!(answered.len(), 300);
    assert!(answered.iter().all(|id| live.contains(id)));
    let commits = repo.lines(&["log", "--json"]);
    for commit in commits.iter().step_by(50) {
        repo.bytes(&["materialize", "--as-of", commit["commit"].as_str().unwrap()]);
    }
    repo.total("main");
    repo.fsck();
}

#[test]
fn an_import_merges_concurrent_commits() {
    let repo = TestRepo::new();
    let kept = repo.say("before");
    let mut command = repo.command("git-trace");
    let command = command.args(["import", "jsonl", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut import = command.spawn().unwrap();
    let mut stdin = import.stdin.take().unwrap();
    // More than a pipe and a buffer hold: once it is written, the import has begun.
    let long = "x".repeat(8000);
    for n in 0..40 {
        writeln!(stdin, "{{\"text\":\"imported {n} {long}\"}}").unwrap();
    }
    repo.text(&["edit", &kept, "-m", "BEFORE"]);
    repo.say("meanwhile");
    writeln!(stdin, "{{\"text\":\"imported last\",\"priority\":\"pinned\"}}").unwrap();
    drop(stdin);
    assert!(import.wait().unwrap().success());
    let texts = repo.bodies("main");
    assert_eq!((&*texts[0], &*texts[1], texts.len()), ("BEFORE", "meanwhile", 43));
    assert!(texts[2].starts_with("imported 0") && texts[42] == "imported last");
    assert_eq!(repo.json(&["show", "#42", "--json"])["priority"], "pinned");
    assert_eq!(repo.git(&["rev-list", "--first-parent", "refs/traces/main"]).lines().count(), 4);
    repo.total("main");
    repo.fsck();
}

/// The files of packs with this extension.
fn pack_files(repo: &TestRepo, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(repo.git_dir().join("objects/pack")) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

/// A lock file of git that makes writers of the trace `main` wait.
fn git_lock(repo: &TestRepo) -> PathBuf {
    let tables = repo.git_dir().join("reftable");
    if tables.is_dir() { tables.join("tables.list.lock") } else { repo.git_dir().join("refs/traces/main.lock") }
}

fn lock_of_objects(repo: &TestRepo) -> PathBuf {
    repo.git_dir().join("trace/locks/objects")
}

#[test]
fn a_repack_keeps_an_imported_pack_that_no_ref_holds_yet() {
    let repo = TestRepo::new();
    repo.say("before");
    let lock = git_lock(&repo);
    fs::write(&lock, "").unwrap();
    let mut command = repo.command("git-trace");
    let mut import = command.args(["import", "jsonl", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(lines("imported", 40).as_bytes()).unwrap();
    while pack_files(&repo, "idx").is_empty() {
        assert!(import.try_wait().unwrap().is_none(), "the import waits for the lock");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(pack_files(&repo, "keep").len(), 1);
    repo.git(&["repack", "-a", "-d", "-q"]);
    fs::remove_file(&lock).unwrap();
    assert!(import.wait().unwrap().success());
    assert_eq!(repo.bodies("main").len(), 41);
    assert!(pack_files(&repo, "keep").is_empty());
    repo.fsck();
}

#[test]
fn a_repack_keeps_an_imported_pack_while_git_moves_the_ref_of_a_killed_import() {
    let repo = TestRepo::new();
    repo.say("before");
    // Git has checked that the commit exists, and is about to move the ref.
    let (reached, go) = (repo.home().join("reached"), repo.home().join("go"));
    let script = format!(
        "#!/bin/sh\n[ $1 = prepared ] && [ ! -e {reached} ] || exit 0\n: >{reached}\nuntil [ -e {go} ]; do sleep 0.01; done\n",
        reached = reached.display(),
        go = go.display()
    );
    repo.set_hook("reference-transaction", &script);
    let mut command = repo.command("git-trace");
    let mut import = command.args(["import", "jsonl", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(lines("imported", 40).as_bytes()).unwrap();
    while !reached.exists() {
        assert!(import.try_wait().unwrap().is_none(), "the import waits for git");
        std::thread::sleep(Duration::from_millis(5));
    }
    import.kill().unwrap();
    import.wait().unwrap();
    repo.run(&["gc", "--quiet"], b"");
    repo.git(&["repack", "-a", "-d", "-q"]);
    fs::write(go, "").unwrap();
    repo.text(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(repo.bodies("main").len(), 41);
    assert!(pack_files(&repo, "keep").is_empty());
    repo.fsck();
}

#[test]
fn temporary_files_of_killed_imports_are_removed_and_those_of_others_stay() {
    let repo = TestRepo::new();
    let files = ["tmp_pack_trace_a", "tmp_idx_trace_a", "tmp_pack_a"];
    let files = files.map(|name| repo.git_dir().join("objects/pack").join(name));
    for path in &files {
        fs::write(path, "PACK").unwrap();
    }
    repo.say("before");
    let lock = File::create(lock_of_objects(&repo)).unwrap();
    lock.lock_shared().unwrap();
    repo.run(&["import", "jsonl", "-"], lines("first", 40).as_bytes());
    assert_eq!(files.each_ref().map(|path| path.exists()), [true, true, true], "another process writes");
    // A process that another test is starting may have the file open, too.
    lock.unlock().unwrap();
    repo.text(&["gc", "--quiet"]);
    assert_eq!(files.each_ref().map(|path| path.exists()), [false, false, true], "git waits for two weeks");
}

#[test]
fn a_killed_import_leaves_no_pack_behind() {
    let repo = TestRepo::new();
    let mut import = repo.command("git-trace");
    let mut import = import.args(["import", "jsonl", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.as_ref().unwrap().write_all(lines("killed", 40).as_bytes()).unwrap();
    let temporary = || {
        let files = fs::read_dir(repo.git_dir().join("objects/pack")).unwrap().flatten();
        files.filter(|file| file.file_name().to_string_lossy().starts_with("tmp_")).count()
    };
    while temporary() == 0 {
        assert!(import.try_wait().unwrap().is_none(), "the import waits for more lines");
        std::thread::sleep(Duration::from_millis(5));
    }
    import.kill().unwrap();
    import.wait().unwrap();
    assert_eq!(temporary(), 1);
    repo.run(&["import", "jsonl", "-"], lines("next", 40).as_bytes());
    assert_eq!(temporary(), 0);
    repo.fsck();
}

#[test]
fn keep_files_of_killed_imports_are_removed_and_those_of_others_stay() {
    let repo = TestRepo::new();
    repo.run(&["import", "jsonl", "-"], lines("first", 40).as_bytes());
    let keep = |name: &str, owner: &str| {
        let path = repo.git_dir().join(format!("objects/pack/pack-{}.keep", name.repeat(40)));
        fs::write(&path, owner).unwrap();
        path
    };
    let [ours, theirs, empty] = [keep("1", "git-trace import\n"), keep("2", "fetch-pack 7 on host\n"), keep("3", "")];
    repo.run(&["import", "jsonl", "-"], lines("second", 40).as_bytes());
    assert_eq!([&ours, &theirs, &empty].map(|path| path.exists()), [false, true, true]);
    let ours = keep("1", "git-trace import\n");
    repo.text(&["gc", "--quiet"]);
    assert_eq!([&ours, &theirs, &empty].map(|path| path.exists()), [false, true, true]);
}

#[test]
fn gc_that_prunes_at_once_loses_nothing_of_a_writer() {
    for (setting, options) in [("never", &["gc", "--quiet", "--prune=now"][..]), ("now", &["gc", "--quiet"])] {
        let repo = TestRepo::new();
        repo.git(&["config", "gc.pruneExpire", setting]);
        let answers = repo.home().join("answers");
        let mut writer = start_batch(&repo, lines("writer", 200), &answers);
        let mut collected = 0;
        while writer.try_wait().unwrap().is_none() {
            let output = repo.run(options, b"");
            collected += usize::from(output.status.success());
        }
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", repo.exact(&output));
        assert!(collected > 1);
        let live = live(&repo);
        assert_eq!(answered(&answers).iter().filter(|id| live.contains(*id)).count(), 200);
        repo.total("main");
        repo.fsck();
    }
}

#[test]
fn upkeep_in_the_background_does_not_prune_at_once() {
    let repo = TestRepo::new();
    for text in ["one", "two", "three"] {
        repo.say(text);
        repo.git(&["repack", "-q"]);
    }
    let packs = || {
        let files = fs::read_dir(repo.git_dir().join("objects/pack")).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|extension| extension == "pack")).collect::<HashSet<_>>()
    };
    let before = packs();
    repo.git(&["config", "gc.autoPackLimit", "1"]);
    repo.git(&["config", "gc.pruneExpire", "now"]);
    let written = repo.git(&["hash-object", "-w", ".git/HEAD"]);
    repo.bytes_with(&["commit", "--batch"], lines("more", 300).as_bytes());
    for _ in 0..1000 {
        if packs().is_disjoint(&before) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(packs().is_disjoint(&before), "git packed everything again");
    repo.fsck();
    repo.git(&["cat-file", "-e", written.trim()]);
}

#[test]
fn gc_prunes_while_several_writers_never_pause() {
    let repo = TestRepo::new();
    // Each holds the lock of the objects while it waits for the trace.
    let mut writers: Vec<_> = (0..3)
        .map(|number| {
            start_batch(&repo, lines(&format!("writer {number}"), 300), &repo.home().join(format!("{number}")))
        })
        .collect();
    while repo.run(&["log", "-n", "1"], b"").stdout.is_empty() {}
    repo.text(&["gc", "--quiet", "--prune=now"]);
    assert!(writers.iter_mut().all(|writer| writer.try_wait().unwrap().is_none()));
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", repo.exact(&output));
    }
    assert_eq!(live(&repo).len(), 900);
    repo.fsck();
}

#[test]
fn an_import_starts_its_pack_after_pruning() {
    let repo = TestRepo::new();
    repo.say("before");
    // `gc --prune` holds this lock. It also deletes temporary files of packs.
    let lock = File::create(lock_of_objects(&repo)).unwrap();
    lock.lock().unwrap();
    let mut import = repo.command("git-trace");
    let mut import = import.args(["import", "jsonl", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(lines("imported", 40).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let packs = repo.git_dir().join("objects/pack");
    assert_eq!(fs::read_dir(packs).map_or(0, Iterator::count), 0);
    lock.unlock().unwrap();
    assert!(import.wait().unwrap().success());
    assert_eq!(repo.bodies("main").len(), 41);
}

/// Every file below a folder whose name ends in `.lock`.
fn lock_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        // Maintenance by git may run in the background.
        let Ok(path) = entry.map(|entry| entry.path()) else { continue };
        if path.is_dir() {
            found.extend(lock_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            found.push(path);
        }
    }
    found
}

fn make_old(path: &Path) {
    // Its owner may have removed it in the meantime.
    if let Ok(file) = File::options().write(true).open(path) {
        file.set_modified(SystemTime::now() - Duration::from_secs(11)).unwrap();
    }
}

#[test]
fn a_stale_lock_blocks_nobody() {
    let repo = TestRepo::classic(&[]);
    let id = repo.say("x");
    repo.text(&["pin", "#0"]);
    for (locked, args) in [
        ("refs/traces/main", &["commit", "-m", "y"][..]),
        ("refs/traces/fresh", &["--trace", "fresh", "commit", "-m", "y"]),
        ("refs/trace-priority", &["skip", "#0"]),
        (&format!("refs/trace-tags/normal/{id}"), &["unpin", "#0"]),
        ("TRACE_HEAD", &["switch", "fresh"]),
    ] {
        let lock = repo.git_dir().join(format!("{locked}.lock"));
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(&lock, "").unwrap();
        make_old(&lock);
        let start = Instant::now();
        let output = repo.run(args, b"");
        assert!(output.status.success(), "{locked}: {}", repo.exact(&output));
        assert!(start.elapsed() < Duration::from_secs(5), "{locked}: an old lock is not waited for");
        assert!(!lock.exists());
    }
    repo.fsck();
}

#[cfg(unix)]
#[test]
fn a_lock_of_a_killed_git_trace_is_removed_at_once() {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    let path = repo.git_dir().join("refs/traces/main.lock");
    let lock = || {
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o744).open(&path).unwrap();
        file.lock().unwrap();
        file
    };
    // Closing the file releases the lock, as a kill does.
    drop(lock());
    let start = Instant::now();
    repo.say("y");
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    let mode = fs::metadata(repo.git_dir().join("refs/traces/main")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0, "a ref is not executable");

    // The lock of a live process is waited for.
    let held = lock();
    held.set_modified(SystemTime::now() - Duration::from_secs(5)).unwrap();
    let free = std::thread::spawn({
        let path = path.clone();
        move || {
            std::thread::sleep(Duration::from_millis(900));
            assert!(path.exists(), "nobody removed it");
            fs::remove_file(path).unwrap();
            drop(held);
        }
    });
    let output = repo.run(&["commit", "-m", "z"], b"");
    assert!(output.status.success(), "{}", repo.exact(&output));
    free.join().unwrap();
    assert_eq!(repo.bodies("main"), ["x", "y", "z"]);
    repo.fsck();
}

#[test]
fn writers_wait_for_a_held_lock() {
    let repo = TestRepo::new();
    repo.say("x");
    let lock = git_lock(&repo);
    fs::write(&lock, "").unwrap();
    let (freed, at) = (lock.clone(), Duration::from_millis(900));
    let owner = std::thread::spawn(move || {
        std::thread::sleep(at);
        fs::remove_file(freed).unwrap();
    });
    let start = Instant::now();
    let output = repo.run(&["commit", "-m", "y"], b"");
    assert!(start.elapsed() >= at, "a fresh lock is respected");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.ends_with(" is locked by another process; waiting up to 12 seconds\n"),
        "{said}"
    );
    owner.join().unwrap();
    assert_eq!(repo.bodies("main"), ["x", "y"]);
}

#[test]
fn gc_waits_for_another_gc() {
    let repo = TestRepo::new();
    repo.say("x");
    let other = repo.git_dir().join("gc.pid");
    // Git cannot ask whether a process on another machine is alive.
    fs::write(&other, "7 elsewhere").unwrap();
    let freed = other.clone();
    let owner = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(900));
        fs::remove_file(freed).unwrap();
    });
    insta::assert_snapshot!(repo.trace(&["gc", "--quiet"]), @"
    --- stderr
    `git gc` is already running on machine 'elsewhere' pid 7; waiting up to 12 seconds
    [exit 0]
    ");
    owner.join().unwrap();
    assert!(!other.exists());
}

/// Numbers that look random and repeat.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Kills writers of all sorts, some `TRACE_TEST_KILLS` (else 40) of them, at random moments.
#[test]
fn a_kill_loses_nothing_that_was_reported() {
    let kills: u64 = std::env::var("TRACE_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let repo = TestRepo::new();
    repo.say("first");
    let answers = repo.home().join("answers");
    let import = repo.home().join("import");
    let mut dice = Dice(7);
    let mut reported: HashSet<String> = HashSet::new();
    let (mut killed, mut locks) = (0, 0);
    for round in 0..kills {
        let mut child = match round % 4 {
            0 | 1 => start_batch(&repo, lines(&format!("round {round}"), 200), &answers),
            2 => {
                let line = |n: usize| format!("{{\"text\":\"{round} {n}\",\"priority\":\"skip\",\"reason\":\"r\"}}\n");
                start_batch(&repo, (0..200).map(line).collect(), &answers)
            }
            _ => {
                fs::write(&answers, "").unwrap();
                fs::write(&import, lines(&format!("import {round}"), 200)).unwrap();
                let mut command = repo.command("git-trace");
                command.args(["import", "jsonl"]).arg(&import).stdout(Stdio::null()).stderr(Stdio::piped());
                command.spawn().unwrap()
            }
        };
        std::thread::sleep(Duration::from_micros(dice.below(120_000)));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "a writer has nothing to complain of");
        killed += u64::from(output.status.signal() == Some(9));
        reported.extend(answered(&answers));

        // Ten seconds later:
        for lock in lock_files(&repo.git_dir()) {
            locks += 1;
            make_old(&lock);
        }
        reported.insert(repo.say(&format!("after {round}")));
        repo.text(&["pin", "TRACE_HEAD"]);
        let live = live(&repo);
        assert!(reported.iter().all(|id| live.contains(id)), "in round {round}, something that was reported is lost");
        if round % 20 == 19 {
            repo.fsck();
            repo.total("main");
        }
    }
    repo.total("main");
    repo.git(&["gc", "--quiet", "--prune=now"]);
    repo.fsck();
    println!("{killed} of {kills} killed while at work, {locks} locks left behind, {} items", live(&repo).len());
    assert!(killed * 2 > kills, "most are killed while they write");
}

#[test]
fn writers_follow_a_ref_that_others_move() {
    let repo = TestRepo::new();
    repo.say("ours");
    let answers = repo.home().join("answers");
    let mut child = start_batch(&repo, lines("batch", 100), &answers);
    // git moves the ref without our lock: back to where it was, which is no change, and so loses nothing.
    for _ in 0..30 {
        let tip = repo.git(&["rev-parse", "refs/traces/main"]);
        let mut command = repo.command("git");
        let tree = format!("{}^{{tree}}", tip.trim());
        let commit = run(repo.command("git").args(["commit-tree", "-p", tip.trim(), "-m", "by git", &tree]), b"");
        let commit = String::from_utf8(commit.stdout).unwrap();
        run(command.args(["update-ref", "refs/traces/main", commit.trim(), tip.trim()]), b"");
    }
    assert!(child.wait().unwrap().success());
    let live = live(&repo);
    let answered = answered(&answers);
    assert_eq!(answered.len(), 100);
    assert!(answered.iter().all(|id| live.contains(id)));
    assert_eq!(live.len(), 101);
    repo.total("main");
    let mut lines = BufReader::new(File::open(answers).unwrap()).lines();
    assert!(lines.all(|line| line.unwrap().contains("\"op\":\"append\"")));
}

#[test]
fn a_writer_that_waits_for_a_renamed_trace_does_not_recreate_it() {
    let repo = TestRepo::classic(&[]);
    repo.say("x");
    // Git asks this hook before it deletes the old name, with our locks of both names held.
    let asked = repo.home().join("asked");
    let script = format!("#!/bin/sh\nif test \"$1\" = prepared; then touch '{}'; sleep 1; fi\n", asked.display());
    repo.set_hook("reference-transaction", &script);
    let mut renaming = repo.command("git-trace").args(["branch", "-m", "main", "better"]).spawn().unwrap();
    let start = Instant::now();
    while !asked.exists() {
        assert!(start.elapsed() < Duration::from_secs(10), "the hook is asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = repo.run(&["--trace", "main", "commit", "-m", "y"], b"");
    assert!(renaming.wait().unwrap().success());
    insta::assert_snapshot!(without_notices(&repo.snapshot(&output)), @"
    --- stderr
    error: trace `main` was renamed or deleted while this command ran
    hint: nothing was written; `git trace branch` lists traces
    [exit 2]
    ");
    assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)", "refs/traces"]), "refs/traces/better\n");
    assert_eq!(repo.bodies("better"), ["x"]);
    fs::remove_file(repo.git_dir().join("hooks/reference-transaction")).unwrap();
    // A free name may be used again later.
    repo.text(&["--trace", "main", "commit", "-m", "z"]);
    assert_eq!(repo.bodies("main"), ["z"]);
    repo.fsck();
}

#[test]
fn two_installs_that_change_one_settings_file_keep_the_entries_of_both() {
    let repo = TestRepo::new();
    let file = repo.folder().join(".gemini/settings.json");
    fs::create_dir(repo.folder().join(".gemini")).unwrap();
    for _ in 0..15 {
        fs::write(&file, "{\"theme\": \"x\"}\n").unwrap();
        let calls = [("--agent", "gemini-cli", "hook gemini-cli"), ("--mcp", "gemini", "mcpServers")];
        let running = calls.map(|(option, name, entry)| {
            let mut command = repo.command("git-trace");
            let command = command.args(["install", option, name]).stdout(Stdio::null()).stderr(Stdio::piped());
            (command.spawn().unwrap(), entry)
        });
        for (child, entry) in running {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            let is_written = fs::read_to_string(&file).unwrap().contains(entry);
            assert!(is_written || said.contains("another program keeps changing it"), "{entry}: {said}");
        }
        assert!(fs::read_to_string(&file).unwrap().contains("theme"));
    }
}
