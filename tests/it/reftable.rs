//! Repositories whose refs are kept as reftable: git's own commands read and move them.
//!
//! The complete suite also runs with `GIT_DEFAULT_REF_FORMAT=reftable`; these tests are specific to it.

use crate::repo::{TestRepo, run};

/// Unless git is too old for it.
pub(crate) fn reftable() -> Option<TestRepo> {
    let repo = TestRepo::without_git();
    let mut init = repo.command("git");
    init.args(["init", "--quiet", "--initial-branch=code", "--ref-format=reftable"]);
    run(&mut init, b"").status.success().then_some(repo)
}

/// The git commands that a `git trace` runs.
fn calls(repo: &TestRepo, args: &[&str]) -> Vec<String> {
    let log = repo.home().join("calls");
    let output = run(repo.command("git-trace").env("GIT_TRACE", &log).args(args), b"");
    assert!(output.status.success(), "{}", repo.exact(&output));
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    let built_in = text.lines().filter_map(|line| line.split_once("trace: built-in: git ").map(|(_, call)| call));
    let name = |call: &str| call.split(' ').next().unwrap().to_owned();
    built_in.map(name).filter(|call| call != "maintenance" && call != "gc").collect()
}

#[test]
fn each_command_runs_git_a_few_times() {
    let Some(repo) = reftable() else { return };
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("one");
    repo.text(&["pin", "#0"]);
    assert_eq!(calls(&repo, &["commit", "-m", "two"]), ["config", "symbolic-ref", "show-ref", "update-ref"]);
    assert_eq!(calls(&repo, &["status"]), ["config", "symbolic-ref", "show-ref"]);
    // The fourth looks for replacements, which `materialize` warns of.
    assert_eq!(calls(&repo, &["materialize"]), ["config", "symbolic-ref", "show-ref", "for-each-ref"]);
    repo.fsck();
}

#[test]
fn a_trace_head_that_names_no_trace_is_reported() {
    let Some(repo) = reftable() else { return };
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("one");
    repo.git(&["worktree", "add", "-q", "--detach", "../other"]);
    let found = |repo: &TestRepo| {
        let report: serde_json::Value = serde_json::from_slice(&repo.run(&["fsck", "--json"], b"").stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|finding| format!("{} {}", finding["rule"], finding["message"])).collect::<Vec<_>>()
    };
    assert_eq!(found(&repo), Vec::<String>::new());
    repo.git(&["symbolic-ref", "TRACE_HEAD", "refs/heads/code"]);
    repo.git(&["-C", "../other", "update-ref", "--no-deref", "TRACE_HEAD", "HEAD"]);
    let found = found(&repo);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("it points to `refs/heads/code`, which is not a trace"), "{found:?}");
    assert!(found[1].contains("it is detached"), "{found:?}");
}

#[test]
fn a_repository_can_be_migrated_to_reftable_and_back() {
    let repo = TestRepo::classic(&[]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("one");
    repo.text(&["pin", "#0"]);
    repo.text(&["branch", "idea"]);
    let seen = |repo: &TestRepo| (repo.refs(), repo.text(&["status", "--json"]), repo.text(&["branch", "--json"]));
    let before = seen(&repo);
    let migrate = ["refs", "migrate", "--ref-format=reftable"];
    if !run(repo.command("git").args(migrate), b"").status.success() {
        return;
    }
    assert_eq!(seen(&repo), before);
    repo.say("two");
    repo.text(&["branch", "-m", "idea", "plan/b"]);
    let after = seen(&repo);
    repo.git(&["refs", "migrate", "--ref-format=files"]);
    assert_eq!(seen(&repo), after);
    repo.say("three");
    repo.fsck();
}

#[test]
fn a_running_command_sees_refs_that_git_moved() {
    let Some(repo) = reftable() else { return };
    let mut batch = repo.command("git-trace");
    batch.args(["commit", "--batch"]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = batch.spawn().unwrap();
    let (mut lines, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(answers));
    for text in ["one", "three"] {
        std::io::Write::write_all(&mut lines, format!("{{\"text\":\"{text}\"}}\n").as_bytes()).unwrap();
        answers.next().unwrap().unwrap();
        if text == "one" {
            repo.say("two");
        }
    }
    drop(lines);
    assert!(child.wait().unwrap().success());
    assert_eq!(repo.bodies("main"), ["one", "two", "three"]);
    repo.fsck();
}

#[test]
fn refusals_are_the_same_with_reftable() {
    let Some(repo) = reftable() else { return };
    repo.say("one");
    let conflict = repo.refused(&["branch", "main/part"]);
    assert!(conflict.contains("`refs/traces/main/part` conflicts with an existing ref"), "{conflict}");
    insta::assert_snapshot!(repo.refused(&["branch", "main"]), @"
    --- stderr
    error: trace `main` already exists
    hint: `git trace switch main` makes it the current trace
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["show", "nothing~3"]), @"
    --- stderr
    error: no item of trace `main` is named `nothing~3`
    hint: `git trace log --oneline main` lists items
    [exit 2]
    ");
    // A rename keeps the earlier reflog entries with their authors.
    repo.say("two");
    repo.text(&["branch", "-m", "trunk"]);
    insta::assert_snapshot!(repo.git(&["reflog", "--date=unix", "--format=%gn %gd %gs", "refs/traces/trunk"]), @"
    A U Thor traces/trunk@{1770714012} append: dialogue user: two
    A U Thor traces/trunk@{1770714002} append: dialogue user: one
    ");
    repo.text(&["undo", "-n", "2"]);
    assert_eq!(repo.bodies("main"), ["one"]);
    repo.text(&["redo"]);
    assert_eq!(repo.bodies("trunk"), ["one", "two"]);
    repo.fsck();
}

#[test]
fn a_linked_worktree_whose_folder_is_gone_is_no_error() {
    let Some(repo) = reftable() else { return };
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("one");
    repo.git(&["worktree", "add", "-q", "--detach", "../other"]);
    std::fs::remove_dir_all(repo.folder().parent().unwrap().join("other")).unwrap();
    assert_eq!(repo.json(&["fsck", "--json"])["findings"], serde_json::json!([]));
}

#[test]
fn what_git_says_on_stderr_is_no_failure() {
    let Some(repo) = reftable() else { return };
    for setting in ["core.fsyncObjectFiles=true", "core.fsync=none,reference", "core.fsync=x,reference"] {
        let mut command = repo.command("git");
        let output = run(command.args(["-c", setting, "trace", "commit", "-m", setting]), b"");
        assert!(output.status.success(), "{setting}: {}", repo.exact(&output));
    }
    for args in [&["status"][..], &["branch", "idea"], &["switch", "idea"], &["undo"], &["pin", "#0"], &["fsck"]] {
        let output = run(repo.command("git-trace").env("GIT_TRACE", "1").args(args), b"");
        assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
    }
    repo.fsck();
}

#[test]
fn a_purge_reports_a_text_in_a_reflog_of_the_code() {
    let Some(repo) = reftable() else { return };
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.git(&["update-ref", "--create-reflog", "-m", "das Pferd ist träge", "refs/heads/other", "HEAD"]);
    for encoding in ["UTF-8", "ISO-8859-1"] {
        repo.git(&["config", "i18n.logOutputEncoding", encoding]);
        let output = repo.run(&["purge", "--text", "-", "--reason", "leaked", "--yes"], "Pferd ist träge".as_bytes());
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("stays in a file: ") && said.contains("reftable\n"), "{encoding}: {said}");
    }
}

#[test]
fn a_purge_expires_a_reflog_whose_oldest_line_begins_at_a_purged_commit() {
    let Some(repo) = reftable() else { return };
    repo.say("one");
    repo.text(&["switch", "-c", "other"]);
    repo.say("correct-horse");
    repo.text(&["reset", "TRACE_HEAD~1"]);
    // As after the lines before the reset have expired.
    for _ in 0..2 {
        repo.git(&["reflog", "delete", "refs/traces/other@{1}"]);
    }
    let output = repo.run(&["purge", "--text", "-", "--reason", "leaked", "--yes"], b"correct-horse");
    assert!(output.status.success(), "{}", repo.exact(&output));
    repo.fsck();
}

/// On a full disk, git moves a ref, fails to compact the tables, and reports only the failure.
#[test]
fn a_ref_that_git_has_moved_although_it_failed_has_moved() {
    let Some(repo) = reftable() else { return };
    repo.say("one");
    let bin = repo.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = repo.command("git").get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
    let script = "#!/bin/sh\nPATH=${PATH#*:}\ngit \"$@\" || exit\ncase \" $* \" in *' update-ref '*)\n\
        echo 'fatal: reftable: transaction failure: I/O error' >&2; exit 128;; esac\n";
    let git = bin.join("git");
    std::fs::write(&git, script).unwrap();
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path))).unwrap();
    for args in
        [["commit", "-m", "two"].as_slice(), &["pin", "#1"], &["branch", "idea"], &["branch", "-D", "idea"], &["undo"]]
    {
        let output = run(repo.command("git-trace").env("PATH", &path).args(args), b"");
        assert!(output.status.success(), "{args:?}: {}", repo.exact(&output));
    }
    assert_eq!(repo.lines(&["op", "log", "--json"]).len(), 6);
    repo.fsck();
}

#[test]
fn locks_of_a_killed_git_expire_after_ten_minutes() {
    let Some(repo) = reftable() else { return };
    repo.say("one");
    repo.text(&["branch", "idea"]);
    let folder = repo.git_dir().join("reftable");
    let table = std::fs::read_to_string(folder.join("tables.list")).unwrap().lines().next().unwrap().to_owned();
    let locks = ["tables.list.lock".to_owned(), format!("{table}.lock")].map(|name| folder.join(name));
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(601);
    for args in [["commit", "-m", "two"].as_slice(), &["switch", "idea"], &["branch", "-D", "main"], &["gc", "--quiet"]]
    {
        for lock in &locks {
            std::fs::File::create(lock).unwrap().set_modified(old).unwrap();
        }
        repo.text(args);
    }
    assert!(!locks.iter().any(|lock| lock.exists()));
    repo.fsck();
}

#[test]
fn a_purge_keeps_what_a_reflog_that_git_hides_leads_to() {
    let Some(repo) = reftable() else { return };
    std::fs::write(repo.folder().join("config.ini"), "key = hunter2\n").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "code"]);
    repo.git(&["worktree", "add", "-q", "-b", "other", "../linked"]);
    repo.git(&["-C", "../linked", "commit", "-q", "--allow-empty", "-m", "linked"]);
    let commits = [repo.git(&["rev-parse", "HEAD"]), repo.git(&["rev-parse", "other"])];
    repo.say("a hunter2 text");
    // The branches have no commits then, and git does not show the reflogs of both `HEAD`s.
    repo.git(&["update-ref", "-d", "HEAD"]);
    repo.git(&["update-ref", "-d", "refs/heads/other"]);
    repo.git(&["rm", "-q", "--cached", "config.ini"]);
    repo.git(&["-C", "../linked", "rm", "-q", "--cached", "config.ini"]);
    let output = repo.run(&["purge", "--text", "-", "--yes"], b"hunter2");
    let said = repo.exact(&output);
    assert!(output.status.success() && said.contains("stays in the code's history"), "{said}");
    assert_eq!(repo.bodies("main"), ["a [purged: secret] text"]);
    for commit in commits {
        assert_eq!(repo.git(&["show", &format!("{}:config.ini", commit.trim())]), "key = hunter2\n");
    }
    repo.fsck();
}

#[test]
fn a_purge_removes_a_reflog_whose_gap_hides_a_purged_commit() {
    let Some(repo) = reftable() else { return };
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("first");
    repo.say("a hunter2 text");
    let purged = repo.git(&["rev-parse", "refs/traces/main"]);
    // What came before is decades old.
    for args in [&["reset", "TRACE_HEAD~1"][..], &["commit", "-m", "next"]] {
        let mut command = repo.command("git-trace");
        command.env_remove("GIT_COMMITTER_DATE").env_remove("GIT_AUTHOR_DATE").args(args);
        assert!(run(&mut command, b"").status.success());
    }
    // As `git gc`: the line of the purged commit is gone, and the older side of the next line names it.
    repo.git(&["reflog", "expire", "--expire=never", "--expire-unreachable=30.days.ago", "refs/traces/main"]);
    let is_in_reflogs = || repo.git(&["rev-list", "--reflog"]).contains(purged.trim());
    assert!(is_in_reflogs() && !repo.git(&["reflog", "show", "refs/traces/main"]).contains(&purged[..7]));
    assert!(repo.run(&["purge", "--text", "-", "--yes"], b"hunter2").status.success());
    assert!(!is_in_reflogs());
    repo.fsck();
}

#[test]
fn a_pull_removes_what_was_purged_while_git_hides_a_reflog() {
    let Some(mut repo) = reftable() else { return };
    repo.git(&["init", "-q", "--bare", "../hub"]);
    repo.git(&["remote", "add", "origin", "../hub"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("a hunter2 text");
    repo.git(&["push", "-q", "origin", "code"]);
    repo.text(&["push"]);
    repo.git(&["clone", "-q", "--ref-format=reftable", "-b", "code", "../hub", "../clone"]);
    let clone = repo.home().join("clone");
    let has_text = |repo: &TestRepo| {
        let objects = run(repo.command("git").args(["cat-file", "--batch-all-objects", "--batch"]), b"").stdout;
        objects.windows(7).any(|bytes| bytes == b"hunter2")
    };
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
        assert!(repo.run(&["purge", "--text", "-", "--yes"], b"hunter2").status.success());
    });
    repo.say("news");
    repo.text(&["push"]);
    repo.within(&clone, |repo| {
        assert!(!has_text(repo));
        repo.git(&["switch", "-q", "--orphan", "new"]);
        repo.text(&["pull"]);
        assert!(!has_text(repo));
        assert_eq!(repo.bodies("main"), ["a [purged: secret] text", "news"]);
    });
}

#[test]
fn tags_and_commits_that_git_shows_only_partly_in_reflogs_of_the_code_stay() {
    let Some(repo) = reftable() else { return };
    repo.git(&["config", "core.logAllRefUpdates", "always"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    repo.say("a hunter2 text");
    repo.say("two");
    repo.git(&["tag", "-a", "-m", "my words", "v1", "refs/traces/main"]);
    let tag = repo.git(&["rev-parse", "v1"]);
    let blob = |text: &[u8]| {
        let output = run(repo.command("git").args(["hash-object", "-w", "--stdin"]), text);
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let key = blob(b"key hunter2");
    for target in [&*key, &blob(b"another key"), "HEAD"] {
        repo.git(&["tag", "-f", "key", target]);
    }
    repo.git(&["tag", "-f", "-a", "-m", "the code", "v1", "HEAD"]);
    std::fs::write(repo.folder().join("config.ini"), "key = hunter2\n").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "dropped"]);
    let dropped = repo.git(&["rev-parse", "HEAD"]);
    // What came before is decades old.
    let mut drop = repo.command("git");
    drop.env_remove("GIT_COMMITTER_DATE").args(["update-ref", "-m", "drop", "refs/heads/code", "HEAD~1"]);
    assert!(run(&mut drop, b"").status.success());
    repo.git(&["reset", "-q", "--hard"]);
    repo.git(&["update-ref", "-d", "ORIG_HEAD"]);
    repo.text(&["--trace", "plain", "commit", "-m", "unrelated"]);
    repo.git(&["reflog", "expire", "--expire=never", "--expire-unreachable=30.days.ago", "refs/heads/code", "HEAD"]);
    let reflog = || repo.git(&["reflog", "show", "refs/traces/plain"]);
    let before = reflog();
    let output = repo.run(&["purge", "--text", "-", "--yes"], b"hunter2");
    let said = repo.exact(&output);
    assert!(output.status.success() && said.contains("stays in the code's history"), "{said}");
    assert_eq!(reflog(), before);
    assert_eq!(repo.git(&["rev-parse", "v1@{1}"]), tag);
    assert_eq!(repo.git(&["cat-file", "-p", &key]), "key hunter2");
    assert_eq!(repo.git(&["show", &format!("{}:config.ini", dropped.trim())]), "key = hunter2\n");
    repo.fsck();
}
