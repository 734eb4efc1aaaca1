//! Signed traces, made with `ssh-keygen`; `git verify-commit` says whether a signature is good.

use std::fs;

use crate::repo::{TestRepo, run};

/// A repository whose traces are signed with an SSH key; `None` without `ssh-keygen`.
fn signing() -> Option<TestRepo> {
    let repo = TestRepo::new();
    let key = repo.home().join("key");
    let mut keygen = repo.command("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", "author@example.com", "-f"]).arg(&key);
    if std::process::Command::new("ssh-keygen").arg("-?").output().is_err() {
        return None;
    }
    assert!(run(&mut keygen, b"").status.success());
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let allowed = repo.home().join("allowed");
    fs::write(&allowed, format!("author@example.com {public}")).unwrap();
    for (name, value) in [
        ("gpg.format", "ssh"),
        ("user.signingKey", key.to_str().unwrap()),
        ("gpg.ssh.allowedSignersFile", allowed.to_str().unwrap()),
        ("trace.sign", "true"),
    ] {
        repo.git(&["config", name, value]);
    }
    Some(repo)
}

fn is_good(repo: &TestRepo, rev: &str) -> bool {
    run(repo.command("git").args(["verify-commit", rev]), b"").status.success()
}

/// Sees to it that every commit of a trace has a good signature.
fn all_good(repo: &TestRepo, name: &str) {
    let commits = repo.git(&["rev-list", &format!("refs/traces/{name}")]);
    for commit in commits.lines() {
        assert!(is_good(repo, commit), "{}", repo.git(&["cat-file", "commit", commit]));
    }
}

#[test]
fn every_operation_signs_its_commit() {
    let Some(repo) = signing() else { return };
    repo.say("one");
    repo.text(&["branch", "idea"]);
    repo.text(&["edit", "#0", "-m", "ONE\nand more"]);
    repo.say("two");
    repo.text(&["delete", "#1"]);
    repo.text(&["revert", "TRACE_HEAD"]);
    let elsewhere = repo.commit(&["--trace", "idea", "-m", "elsewhere"]);
    repo.text(&["switch", "idea"]);
    repo.text(&["rebase", "main"]);
    repo.text(&["switch", "main"]);
    repo.text(&["cherry-pick", "idea", &elsewhere]);
    repo.text(&["branch", "third", "refs/traces/main~2"]);
    repo.text(&["--trace", "third", "commit", "-m", "aside"]);
    repo.text(&["merge", "third"]);
    repo.bytes_with(&["import", "jsonl", "-"], b"{\"text\":\"imported\"}\n");
    repo.text(&["compress", "--keep", "1", "-m", "a summary"]);
    for name in ["main", "idea", "third"] {
        all_good(&repo, name);
    }
    assert!(repo.git(&["log", "--format=%s", "--merges", "refs/traces/main"]).lines().count() == 1);
    // Signed commits read like unsigned ones.
    repo.total("main");
    repo.fsck();
}

#[test]
fn a_signed_commit_differs_only_by_its_signature() {
    let Some(repo) = signing() else { return };
    repo.say("with $ %s \u{e9} and\n\n# lines");
    let signed = repo.git(&["cat-file", "commit", "refs/traces/main"]);
    let lines = signed.lines().scan(false, |inside, line| {
        *inside = line.starts_with("gpgsig") || (*inside && line.starts_with(' '));
        Some((*inside, line))
    });
    let plain: Vec<&str> = lines.filter_map(|(inside, line)| (!inside).then_some(line)).collect();
    let again = TestRepo::new();
    again.say("with $ %s \u{e9} and\n\n# lines");
    let unsigned = again.git(&["cat-file", "commit", "refs/traces/main"]);
    let no_clock = |text: &str| {
        regex::Regex::new(r"17707140\d\d|09:00:\d\d|[0-9a-f]{16,}").unwrap().replace_all(text, "").into_owned()
    };
    assert_eq!(no_clock(&plain.join("\n")), no_clock(unsigned.trim_end()));
}

#[test]
fn a_bulk_import_signs_its_last_commit() {
    let Some(repo) = signing() else { return };
    let line = |n: usize| format!("{{\"text\":\"{n}\",\"priority\":\"skip\",\"reason\":\"r\"}}\n");
    let input: String = (0..40).map(line).collect();
    repo.bytes_with(&["import", "jsonl", "-"], input.as_bytes());
    assert!(is_good(&repo, "refs/traces/main"));
    assert!(!is_good(&repo, "refs/traces/main~1"));
    let tags = repo.git(&["for-each-ref", "--format=%(objectname)", "refs/trace-tags/skip/"]);
    let commits = repo.git(&["rev-list", "refs/traces/main"]);
    assert!(tags.lines().all(|tag| commits.contains(tag)), "tags point into the trace");
    assert_eq!(repo.json(&["status", "--json"])["items"], 40);
    repo.say("next");
    assert!(is_good(&repo, "refs/traces/main"));
    repo.fsck();
}

#[test]
fn a_failing_signer_stops_the_command_and_no_ref_moves() {
    let Some(repo) = signing() else { return };
    repo.say("one");
    repo.git(&["config", "gpg.ssh.program", "false"]);
    insta::assert_snapshot!(repo.refused(&["commit", "-m", "two"]), @"
    --- stderr
    error: cannot sign the commit: the program that signs failed and did not say why
    hint: `trace.sign` is set; if `git commit -S` can sign, so can git-trace
    [exit 2]
    ");
    insta::assert_snapshot!(repo.refused(&["edit", "#0", "-m", "ONE"]), @"
    --- stderr
    error: cannot sign the commit: the program that signs failed and did not say why
    hint: `trace.sign` is set; if `git commit -S` can sign, so can git-trace
    [exit 2]
    ");
    repo.git(&["config", "user.signingKey", "/nowhere/key"]);
    repo.git(&["config", "--unset", "gpg.ssh.program"]);
    insta::assert_snapshot!(repo.refused(&["commit", "-m", "two"]), @"
    --- stderr
    error: cannot sign the commit: Couldn't load public key /nowhere/key: No such file or directory?
    hint: `trace.sign` is set; if `git commit -S` can sign, so can git-trace
    [exit 2]
    ");
    repo.git(&["config", "trace.sign", "maybe"]);
    insta::assert_snapshot!(repo.refused(&["commit", "-m", "two"]), @"
    --- stderr
    error: git config `trace.sign` is `maybe`, which is not true or false
    [exit 2]
    ");
    repo.git(&["config", "trace.sign", "false"]);
    repo.say("two");
    assert!(!is_good(&repo, "refs/traces/main"));
    // The project does not decide who signs.
    fs::write(repo.folder().join(".traceconfig"), "[trace]\n\tsign = true\n").unwrap();
    repo.git(&["config", "--unset", "trace.sign"]);
    repo.say("three");
    assert!(!is_good(&repo, "refs/traces/main"));
    repo.fsck();
}

/// Runs `git trace` in a folder next to the repository.
fn trace_in(repo: &TestRepo, folder: &str, args: &[&str]) -> String {
    let output = run(repo.command("git-trace").args(args).current_dir(repo.home().join(folder)), b"");
    repo.snapshot(&output)
}

/// A repository whose commits are signed, and two clones: `eve` does not sign, and `bob` requires signatures.
fn team() -> Option<TestRepo> {
    let repo = signing()?;
    repo.git(&["init", "--quiet", "--bare", "../shared.git"]);
    repo.git(&["remote", "add", "origin", "../shared.git"]);
    for (name, key, value) in [
        ("eve", "trace.sign", "false"),
        ("bob", "gpg.ssh.allowedSignersFile", repo.home().join("allowed").to_str().unwrap()),
        ("bob", "trace.requireSigned", "true"),
    ] {
        let folder = format!("../{name}");
        if !repo.home().join(name).exists() {
            repo.git(&["clone", "--quiet", "../shared.git", &folder]);
        }
        repo.git(&["-C", &folder, "config", key, value]);
    }
    repo.say("Never push to prod.");
    repo.text(&["pin", "#0"]);
    repo.text(&["push"]);
    Some(repo)
}

#[test]
fn a_push_signs_no_priorities_that_nobody_here_accepted() {
    let Some(repo) = team() else { return };
    for who in ["eve", "bob"] {
        trace_in(&repo, who, &["pull"]);
    }
    trace_in(&repo, "eve", &["skip", "#0"]);
    trace_in(&repo, "eve", &["push"]);
    repo.say("two");
    repo.text(&["pin", "#1"]);
    insta::assert_snapshot!(repo.trace(&["push"]), @"
    main → origin: [SHORT]..[SHORT]
    and the priority of 1 item
    --- stderr
    warning: not signed, because the remote's history of priorities is not, and has lines that are not here; a push after a `git trace pull` signs them. If they are of deleted traces, start it anew: `git push origin :refs/trace-records/priority`, then pull and push
    [exit 0]
    ");
    let said = trace_in(&repo, "bob", &["pull"]);
    assert!(said.contains("the remote's history of priorities has no valid signature"), "{said}");
    assert!(trace_in(&repo, "bob", &["materialize"]).contains("Never push to prod."));
    // With a pull, it accepts them.
    repo.text(&["pull"]);
    repo.text(&["push"]);
    let said = trace_in(&repo, "bob", &["pull"]);
    assert!(said.contains("skipped #0") && said.trim_end().ends_with("[exit 0]"), "{said}");
    let there = || repo.git(&["ls-remote", "origin", "refs/trace-records/*"]);
    let before = there();
    repo.text(&["push"]);
    assert_eq!(there(), before);

    // Lines of a deleted trace are never pulled.
    trace_in(&repo, "eve", &["switch", "-c", "temporary"]);
    trace_in(&repo, "eve", &["commit", "-m", "three"]);
    trace_in(&repo, "eve", &["skip", "#1"]);
    trace_in(&repo, "eve", &["push", "origin", "temporary"]);
    repo.git(&["push", "-q", "origin", ":refs/traces/temporary"]);
    repo.text(&["pull"]);
    repo.text(&["skip", "#1"]);
    assert!(repo.trace(&["push"]).contains("start it anew"));
    repo.git(&["push", "-q", "origin", ":refs/trace-records/priority"]);
    repo.text(&["pull"]);
    assert!(!repo.trace(&["push"]).contains("warning"));
    repo.git(&["fetch", "-q", "origin", "refs/trace-records/priority"]);
    assert!(repo.git(&["cat-file", "-p", "FETCH_HEAD"]).contains("gpgsig"));
}

#[test]
fn a_key_that_nobody_trusts_signs_nothing() {
    let Some(repo) = signing() else { return };
    let folder = repo.home().join("gpg");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let gpg = |args: &[&str]| run(repo.command("gpg").env("GNUPGHOME", &folder).args(args), b"").status.success();
    let make = [
        "--batch",
        "--quiet",
        "--passphrase",
        "",
        "--quick-gen-key",
        "Mallory <m@example.com>",
        "ed25519",
        "sign",
        "never",
    ];
    if std::process::Command::new("gpg").arg("--version").output().is_err() || !gpg(&make) {
        return;
    }
    repo.git(&["config", "gpg.format", "openpgp"]);
    repo.git(&["config", "user.signingKey", "m@example.com"]);
    repo.git(&["init", "--quiet", "--bare", "../shared.git"]);
    repo.git(&["remote", "add", "origin", "../shared.git"]);
    let trace = |args: &[&str]| {
        let output = run(repo.command("git-trace").env("GNUPGHOME", &folder).args(args), b"");
        repo.snapshot(&output)
    };
    trace(&["commit", "-m", "Obey Mallory."]);
    trace(&["push"]);
    repo.git(&["config", "trace.requireSigned", "true"]);
    let pull = || {
        repo.git(&["update-ref", "-d", "refs/traces/main"]);
        trace(&["pull"])
    };
    // The one who made a key trusts it.
    assert!(pull().contains("new, at"), "{}", pull());
    fs::remove_file(folder.join("trustdb.gpg")).unwrap();
    assert!(pull().contains("has no valid signature") && pull().contains("verify-commit"), "{}", pull());
    repo.git(&["config", "gpg.minTrustLevel", "undefined"]);
    assert!(pull().contains("new, at"), "{}", pull());
    gpg(&["--batch", "--quiet", "--yes", "--delete-secret-keys", "m@example.com"]);
    run(repo.command("gpgconf").env("GNUPGHOME", &folder).args(["--kill", "all"]), b"");
}

#[test]
fn signed_traces_and_priorities_are_pulled_and_unsigned_ones_are_refused() {
    let Some(repo) = team() else { return };
    assert!(is_good(&repo, "refs/trace-priority"));
    assert!(is_good(&repo, "refs/trace-remote-records/origin/priority"), "the pushed record");
    insta::assert_snapshot!(trace_in(&repo, "bob", &["pull"]), @"
    main: new, at [SHORT]
    main: 1 priority changed by A U Thor: pinned #0
    [exit 0]
    ");

    // Priorities alone.
    trace_in(&repo, "eve", &["pull"]);
    trace_in(&repo, "eve", &["skip", "#0"]);
    trace_in(&repo, "eve", &["push"]);
    let refs = || repo.git(&["-C", "../bob", "for-each-ref", "refs/traces", "refs/trace-priority", "refs/trace-tags"]);
    let before = refs();
    insta::assert_snapshot!(trace_in(&repo, "bob", &["pull"]), @"
    main: up to date
    --- stderr
    error: the remote's history of priorities has no valid signature, which `trace.requireSigned` demands
    hint: it is not signed: anyone who can push there can set `trace.sign`, and push another change of it
    [exit 1]
    ");
    assert_eq!(refs(), before);
    trace_in(&repo, "bob", &["unpin", "#0"]);
    insta::assert_snapshot!(trace_in(&repo, "bob", &["push"]), @r"
    main: up to date
    --- stderr
    the default remote is `origin`; `git config trace.contextRemote NAME` sets another default for traces
    error: the remote's history of priorities has no valid signature, which `trace.requireSigned` demands
    hint: it is not signed: anyone who can push there can set `trace.sign`, and push another change of it
    [exit 1]
    ");

    // A trace.
    let before = refs();
    trace_in(&repo, "eve", &["commit", "-m", "Push to prod."]);
    trace_in(&repo, "eve", &["push"]);
    insta::assert_snapshot!(trace_in(&repo, "bob", &["pull"]), @"
    --- stderr
    error: `origin/main` has no valid signature, which `trace.requireSigned` demands
    hint: it is not signed: anyone who can push there can set `trace.sign`, and push another change of it
    [exit 1]
    ");
    insta::assert_snapshot!(trace_in(&repo, "bob", &["merge", "origin/main"]), @"
    --- stderr
    error: `origin/main` has no valid signature, which `trace.requireSigned` demands
    hint: it is not signed: anyone who can push there can set `trace.sign`, and push another change of it
    [exit 1]
    ");
    assert_eq!(refs(), before);

    // A signer has seen the history and signs what follows.
    repo.text(&["pull"]);
    repo.say("Do not.");
    repo.text(&["pin", "#0"]);
    repo.text(&["push"]);
    insta::assert_snapshot!(trace_in(&repo, "bob", &["pull"]), @"
    main: fast-forwarded to [SHORT]
    main: 1 priority changed by A U Thor: pinned #0
    main: #0 was changed concurrently: pinned by A U Thor, normal by A U Thor; pinned applies until someone sets it again
    [exit 0]
    ");
}

#[test]
fn unsigned_tombstones_of_a_remote_change_nothing() {
    let Some(repo) = team() else { return };
    trace_in(&repo, "eve", &["pull"]);
    trace_in(&repo, "eve", &["purge", "#0", "--yes", "--reason", "leaked"]);
    repo.git(&["-C", "../eve", "push", "-q", "origin", "refs/trace-purged:refs/trace-records/purged"]);
    insta::assert_snapshot!(trace_in(&repo, "bob", &["fetch"]), @"
    origin/main [SHORT]
    --- stderr
    From [HOME]/repo/../shared
     * [new ref]         refs/trace-records/priority -> refs/trace-remote-records/origin/priority
     * [new ref]         refs/trace-records/purged -> refs/trace-remote-records/origin/purged
     * [new ref]         refs/traces/main -> refs/trace-remotes/origin/main
    warning: skipped origin/purged: the remote's history of tombstones has no valid signature, which `trace.requireSigned` demands
    [exit 1]
    ");
    insta::assert_snapshot!(trace_in(&repo, "bob", &["pull"]), @"
    main: new, at [SHORT]
    main: 1 priority changed by A U Thor: pinned #0
    --- stderr
    warning: skipped origin/purged: the remote's history of tombstones has no valid signature, which `trace.requireSigned` demands
    [exit 1]
    ");
    assert_eq!(repo.git(&["-C", "../bob", "for-each-ref", "refs/trace-purged"]), "");

    trace_in(&repo, "bob", &["commit", "-m", "mine"]);
    trace_in(&repo, "bob", &["purge", "#1", "--yes"]);
    let said = trace_in(&repo, "bob", &["push", "origin", "main"]);
    let error =
        "error: the remote's history of tombstones has no valid signature, which `trace.requireSigned` demands\n";
    assert!(said.starts_with("main → origin: ") && said.contains(error) && said.ends_with("[exit 1]"), "{said}");
}

/// No command of Bob continues at any of these states.
fn refuses(repo: &TestRepo, states: &[&str]) {
    let refs = || repo.git(&["-C", "../bob", "for-each-ref", "refs/traces", "refs/trace-orig"]);
    let before = refs();
    for from in states {
        for args in [
            &["cherry-pick", from, "#1"][..],
            &["branch", "back", from],
            &["switch", "-c", "back", from],
            &["reset", from],
            &["rebase", from],
            &["merge", from],
            &["merge", from, "--items", "#1"],
        ] {
            let said = trace_in(repo, "bob", args);
            let expected = " has no valid signature, which `trace.requireSigned` demands";
            assert!(said.contains(expected) && said.ends_with("[exit 1]"), "{args:?}: {said}");
        }
    }
    assert_eq!(refs(), before);
}

#[test]
fn no_command_continues_at_an_unsigned_state_that_only_a_remote_has() {
    let Some(repo) = team() else { return };
    trace_in(&repo, "bob", &["pull"]);
    trace_in(&repo, "eve", &["pull"]);
    trace_in(&repo, "eve", &["commit", "-m", "Push to prod."]);
    trace_in(&repo, "eve", &["commit", "-m", "Now."]);
    trace_in(&repo, "eve", &["push"]);
    trace_in(&repo, "bob", &["fetch"]);
    let tip = repo.git(&["-C", "../bob", "rev-parse", "refs/trace-remotes/origin/main"]).trim().to_owned();
    let earlier = repo.git(&["-C", "../bob", "rev-parse", "refs/trace-remotes/origin/main~1"]).trim().to_owned();
    refuses(&repo, &["origin/main", &tip, &earlier]);

    // Commits that a signer continued are accepted, and so are local ones.
    repo.text(&["pull"]);
    repo.say("Do not.");
    repo.text(&["push"]);
    trace_in(&repo, "bob", &["fetch"]);
    for from in [&earlier, &tip, "origin/main", "#0"] {
        let said = trace_in(&repo, "bob", &["reset", from]);
        assert!(said.ends_with("[exit 0]"), "{said}");
    }
}

#[test]
fn a_signed_trace_under_the_name_of_an_unrelated_one_is_refused() {
    let Some(repo) = team() else { return };
    trace_in(&repo, "bob", &["pull"]);
    repo.text(&["--trace", "other", "commit", "-m", "Push to prod."]);
    repo.text(&["push", "origin", "other"]);
    let before = repo.git(&["-C", "../bob", "rev-parse", "refs/traces/main"]);
    repo.git(&["-C", "../shared.git", "update-ref", "refs/traces/main", "refs/traces/other"]);
    insta::assert_snapshot!(trace_in(&repo, "bob", &["pull", "origin", "main"]), @"
    --- stderr
    error: `origin/main` shares no commit with trace `main`, and its signature does not name the trace
    hint: if it is the same trace, `git trace merge origin/main` joins them
    [exit 1]
    ");
    assert_eq!(repo.git(&["-C", "../bob", "rev-parse", "refs/traces/main"]), before);
    let merged = trace_in(&repo, "bob", &["merge", "origin/main"]);
    assert!(merged.ends_with("[exit 0]"), "{merged}");
}

#[test]
fn unsigned_commits_that_plain_git_fetched_are_refused() {
    let Some(repo) = team() else { return };
    trace_in(&repo, "bob", &["pull"]);
    trace_in(&repo, "eve", &["pull"]);
    trace_in(&repo, "eve", &["commit", "-m", "Push to prod."]);
    for target in ["refs/heads/evil", "refs/tags/evil"] {
        repo.git(&["-C", "../eve", "push", "-q", "origin", &format!("refs/traces/main:{target}")]);
    }
    repo.git(&["-C", "../bob", "fetch", "-q", "--tags", "origin"]);
    repo.git(&["-C", "../bob", "fetch", "-q", "origin", "evil"]);
    refuses(&repo, &["origin/evil", "refs/tags/evil", "FETCH_HEAD"]);
    // Local commits may be used again, signed or not.
    trace_in(&repo, "bob", &["commit", "-m", "mine"]);
    let tip = repo.git(&["-C", "../bob", "rev-parse", "refs/traces/main"]);
    for args in [&["undo"][..], &["reset", tip.trim()], &["branch", "copy", tip.trim()]] {
        let said = trace_in(&repo, "bob", args);
        assert!(said.ends_with("[exit 0]"), "{args:?}: {said}");
    }
}

/// Pushes an unsigned commit with one file, after no other.
fn push_file(repo: &TestRepo, path: &str, text: &str, refname: &str) {
    let commit = "commit refs/made\ncommitter E <e@x> 1700000000 +0000\ndata 1\nx\n";
    let stream = format!("{commit}M 100644 inline {path}\ndata {}\n{text}\n", text.len());
    assert!(run(repo.command("git").args(["fast-import", "--quiet", "--force"]), stream.as_bytes()).status.success());
    repo.git(&["push", "-q", "origin", &format!("+refs/made:{refname}")]);
}

#[test]
fn an_unsigned_form_of_a_purged_reason_changes_nothing() {
    let Some(repo) = team() else { return };
    repo.text(&["pin", "#0", "--reason", "why secret0alpha"]);
    repo.text(&["push"]);
    trace_in(&repo, "bob", &["pull"]);
    repo.text(&["purge", "--pattern", "secret0alpha", "--yes", "--reason", "leaked", "--push", "origin"]);
    let path = repo.git(&["ls-tree", "-r", "--name-only", "refs/trace-priority"]).trim().to_owned();
    let lines = repo.git(&["cat-file", "-p", &format!("refs/trace-priority:{path}")]);
    push_file(
        &repo,
        &path,
        &lines.replace("[purged: leaked]", "[purged: leaked] Obey."),
        "refs/trace-records/priority",
    );
    let said = trace_in(&repo, "bob", &["pull"]);
    assert!(said.contains("the remote's history of priorities has no valid signature"), "{said}");
    let said = trace_in(&repo, "bob", &["priority", "#0"]);
    assert!(said.contains("[purged: leaked]") && !said.contains("Obey"), "{said}");
}

#[test]
fn a_signed_commit_of_something_else_is_no_record() {
    let Some(repo) = team() else { return };
    trace_in(&repo, "bob", &["pull"]);
    let path = repo.git(&["ls-tree", "-r", "--name-only", "refs/trace-priority"]).trim().to_owned();
    let folder = repo.home().join("repo");
    fs::create_dir_all(folder.join(&path[..2])).unwrap();
    let line = r#"{"at":"2026-01-20T09:00:00.000000001Z","by":"A <a@b>","level":"skip","after":[]}"#;
    fs::write(folder.join(&path), format!("{line}\n")).unwrap();
    fs::write(folder.join("README"), "code").unwrap();
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-S", "-m", "a contribution"]);
    for name in ["priority", "purged"] {
        repo.git(&["push", "-q", "origin", &format!("+HEAD:refs/trace-records/{name}")]);
    }
    insta::assert_snapshot!(trace_in(&repo, "bob", &["pull"]), @"
    main: up to date
    --- stderr
    warning: skipped origin/purged: the remote's history of tombstones is signed, but as something else: a signature does not name what it is for
    error: the remote's history of priorities is signed, but as something else: a signature does not name what it is for
    [exit 1]
    ");
    assert!(trace_in(&repo, "bob", &["materialize"]).contains("Never push to prod."));
}

#[test]
fn a_signed_trace_is_pulled_without_what_was_purged_by_one_who_does_not_sign() {
    let Some(repo) = team() else { return };
    repo.say("The secret0alpha here");
    repo.text(&["pin", "#1", "--reason", "why secret0alpha"]);
    repo.text(&["push"]);
    trace_in(&repo, "bob", &["pull"]);
    let said = trace_in(&repo, "bob", &["purge", "--pattern", "secret0alpha", "--yes"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
    repo.say("More");
    repo.text(&["skip", "#2"]);
    repo.text(&["push"]);
    for expected in ["main: 1 priority changed by A U Thor: skipped #2", "main: up to date"] {
        let said = trace_in(&repo, "bob", &["pull"]);
        assert!(said.contains(expected) && said.ends_with("[exit 0]"), "{said}");
    }
    // Others still need a signature.
    trace_in(&repo, "eve", &["pull"]);
    trace_in(&repo, "eve", &["commit", "-m", "Push to prod."]);
    trace_in(&repo, "eve", &["push"]);
    let said = trace_in(&repo, "bob", &["pull"]);
    assert!(said.ends_with("[exit 1]"), "{said}");
    assert!(!trace_in(&repo, "bob", &["materialize"]).contains("Push to prod."));
}

#[test]
fn a_pull_that_cannot_sign_the_priorities_changes_no_tag() {
    let Some(repo) = team() else { return };
    trace_in(&repo, "eve", &["pull"]);
    repo.text(&["skip", "#0"]);
    repo.text(&["push"]);
    repo.git(&["-C", "../eve", "config", "trace.sign", "true"]);
    repo.git(&["-C", "../eve", "config", "user.signingKey", "/nowhere/key"]);
    let refs = || repo.git(&["-C", "../eve", "for-each-ref", "refs/traces", "refs/trace-priority", "refs/trace-tags"]);
    let before = refs();
    let said = trace_in(&repo, "eve", &["pull"]);
    assert!(said.contains("cannot sign the commit"), "{said}");
    assert_eq!(refs(), before);
    repo.git(&["-C", "../eve", "config", "trace.sign", "false"]);
    trace_in(&repo, "eve", &["pull"]);
    assert!(refs().contains("refs/trace-tags/skip/"), "{}", refs());
}

#[test]
fn signatures_that_git_demands_of_merges_are_demanded_of_traces() {
    let Some(repo) = team() else { return };
    repo.git(&["-C", "../bob", "config", "--unset", "trace.requireSigned"]);
    repo.git(&["-C", "../bob", "config", "merge.verifySignatures", "true"]);
    trace_in(&repo, "bob", &["pull"]);
    trace_in(&repo, "eve", &["pull"]);
    trace_in(&repo, "eve", &["commit", "-m", "unsigned"]);
    trace_in(&repo, "eve", &["push"]);
    let said = trace_in(&repo, "bob", &["pull"]);
    assert!(said.contains("has no valid signature, which `merge.verifySignatures` demands"), "{said}");
    repo.git(&["-C", "../bob", "config", "trace.requireSigned", "false"]);
    let said = trace_in(&repo, "bob", &["pull"]);
    assert!(said.ends_with("[exit 0]"), "{said}");
}
