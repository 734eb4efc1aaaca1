//! Pushing, fetching and pulling between clones. Real servers and races: `tests/sharing/run`.

use crate::repo::{TestRepo, redact, run};

/// A bare repository and two clones of it, with a first code commit.
pub(crate) struct Team {
    pub(crate) home: TestRepo,
}

impl Team {
    pub(crate) fn new() -> Self {
        let home = TestRepo::new();
        home.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
        home.git(&["clone", "--quiet", "--bare", ".", "../shared.git"]);
        for name in ["ada", "bob"] {
            home.git(&["clone", "--quiet", "../shared.git", &format!("../{name}")]);
        }
        Self { home }
    }

    pub(crate) fn run(&self, who: &str, args: &[&str]) -> (Option<i32>, String) {
        self.run_at(who, args, None)
    }

    /// As `run`, at a time in seconds.
    fn run_at(&self, who: &str, args: &[&str], at: Option<u32>) -> (Option<i32>, String) {
        let mut command = self.home.command("git-trace");
        command.args(args).current_dir(self.home.home().join(who));
        if let Some(at) = at {
            command.env("GIT_COMMITTER_DATE", format!("{at} +0000"));
        }
        let output = run(&mut command, b"");
        let mut said = String::from_utf8(output.stdout.clone()).unwrap();
        if !output.status.success() {
            said += &String::from_utf8_lossy(&output.stderr);
        }
        (output.status.code(), said)
    }

    pub(crate) fn ok(&self, who: &str, args: &[&str]) -> String {
        let (code, said) = self.run(who, args);
        assert_eq!(code, Some(0), "{who} {args:?}: {said}");
        said
    }

    pub(crate) fn feed(&self, who: &str, args: &[&str], input: &str) {
        let mut command = self.home.command("git-trace");
        let output = run(command.args(args).current_dir(self.home.home().join(who)), input.as_bytes());
        assert!(output.status.success(), "{output:?}");
    }

    pub(crate) fn git(&self, who: &str, args: &[&str]) -> String {
        let folder = self.home.home().join(who);
        self.home.git(&[&["-C", folder.to_str().unwrap()], args].concat())
    }

    /// Ada pushes a commit after `rev`, or a first one if there is no such commit, as plain git can: with a tree by the lines of `git ls-tree -r`.
    pub(crate) fn push_tree(
        &self,
        rev: &str,
        to: &str,
        message: &str,
        change: impl FnOnce(Vec<String>, &dyn Fn(&str) -> String) -> Vec<String>,
    ) {
        let ada = self.home.home().join("ada");
        let feed = |args: &[&str], input: &str| {
            let mut command = self.home.command("git");
            let output = run(command.args(args).current_dir(&ada).env("GIT_INDEX_FILE", "../index"), input.as_bytes());
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let is_there = run(self.home.command("git").args(["rev-parse", "--verify", "-q", rev]).current_dir(&ada), b"");
        let is_there = is_there.status.success();
        let listed = if is_there { self.git("ada", &["ls-tree", "-r", rev]) } else { String::new() };
        let blob = |text: &str| feed(&["hash-object", "-w", "--stdin"], text);
        feed(&["read-tree", "--empty"], "");
        let lines = change(listed.lines().map(str::to_owned).collect(), &blob);
        feed(&["update-index", "--index-info"], &(lines.join("\n") + "\n"));
        let tree = feed(&["write-tree"], "");
        let parents = if is_there { vec!["-p", rev] } else { Vec::new() };
        let commit = self.git("ada", &[&["commit-tree", &tree, "-m", message][..], &parents].concat());
        self.git("ada", &["push", "--quiet", "origin", &format!("{}:{to}", commit.trim())]);
    }

    pub(crate) fn messages(&self, who: &str) -> String {
        self.ok(who, &["materialize", "--format", "text"])
    }
}

#[test]
fn traces_that_began_apart_are_joined_with_a_warning() {
    let team = Team::new();
    for who in ["ada", "bob"] {
        team.ok(who, &["commit", "-m", who]);
    }
    team.ok("ada", &["push"]);
    let mut command = team.home.command("git-trace");
    let output = run(command.arg("pull").current_dir(team.home.home().join("bob")), b"");
    insta::assert_snapshot!(team.home.snapshot(&output), @"
    main: merged at [SHORT]; 1 local items follow theirs, 0 edited, 0 removed
    --- stderr
    warning: two traces that began apart were joined in `main`; `git trace undo` separates them
    [exit 0]
    ");
    team.ok("bob", &["undo"]);
    assert!(!team.messages("bob").contains("ada"));
}

#[test]
fn pull_gets_what_was_pushed_including_priorities() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["commit", "-m", "two", "-p", "skip", "--reason", "noise"]);
    team.ok("ada", &["--trace", "private", "commit", "-m", "secret", "-p", "pinned"]);
    team.ok("ada", &["push"]);
    assert_eq!(team.git("shared.git", &["for-each-ref", "--format=%(refname)", "refs/trac*"]), "");
    let refs = team.git("shared.git", &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/code\nrefs/trace-records/priority\nrefs/traces/main\n", "no other trace leaves");
    let record = team.git("shared.git", &["ls-tree", "-r", "--name-only", "refs/trace-records/priority"]);
    assert_eq!(record.lines().count(), 1, "nor a priority of another trace's item");

    team.ok("bob", &["pull"]);
    assert_eq!(team.messages("bob"), team.messages("ada"));
    assert_eq!(team.ok("bob", &["priority", "--list", "skip"]), team.ok("ada", &["priority", "--list", "skip"]));
    assert_eq!(
        team.git("bob", &["for-each-ref", "refs/trace-tags/skip"]).lines().count(),
        1,
        "tags are updated to match"
    );

    // A plain clone brings none of it.
    team.home.git(&["clone", "--quiet", "../shared.git", "../plain"]);
    assert!(!team.git("plain", &["for-each-ref"]).contains("trace"));
}

/// Bob has the first of ada's two items. In the tip that she published, a text was replaced.
fn forged(from: &str, to: &str) -> Team {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.ok("ada", &["commit", "-m", "two"]);
    team.ok("ada", &["push"]);
    forge_tip(&team, from, to);
    team
}

/// Replaces a text in the tip of the published trace `main`.
fn forge_tip(team: &Team, from: &str, to: &str) {
    let commit = team.git("shared.git", &["cat-file", "commit", "refs/traces/main"]);
    assert!(commit.contains(from), "{commit}");
    let file = team.home.home().join("forged");
    std::fs::write(&file, commit.replace(from, to)).unwrap();
    let oid = team.git("shared.git", &["hash-object", "-w", "-t", "commit", file.to_str().unwrap()]);
    team.git("shared.git", &["update-ref", "refs/traces/main", oid.trim_end()]);
}

#[test]
fn wrong_totals_of_a_remote_are_corrected() {
    for is_ahead in [false, true] {
        let team = forged("Trace-Total: 11 ", "Trace-Total: 90000 ");
        if is_ahead {
            team.ok("bob", &["commit", "-m", "three"]);
        }
        team.git("bob", &["config", "trace.budget", "1000"]);
        let pull = |who: &str| {
            let folder = team.home.home().join(who);
            let output = run(team.home.command("git-trace").arg("pull").current_dir(folder), b"");
            assert!(output.status.success(), "{}", team.home.exact(&output));
            String::from_utf8(output.stderr).unwrap()
        };
        let said = redact(&pull("bob"));
        assert!(said.contains("warning: the totals in commit [SHORT] were wrong, and were counted again"), "{said}");
        team.ok("bob", &["fsck"]);
        assert_eq!(pull("bob"), "", "it is corrected once");
        team.ok("bob", &["push"]);
        assert_eq!(pull("ada"), "", "for all");
    }
}

#[test]
fn a_commit_of_a_remote_that_leaves_few_positions_is_refused() {
    let team = forged("Trace-Next: 2", "Trace-Next: 999999");
    let refused = |who: &str| {
        let (code, said) = team.run(who, &["pull"]);
        assert_eq!(code, Some(2), "{said}");
        insta::allow_duplicates! { insta::assert_snapshot!(redact(&said), @"
        error: commit [SHORT] has 2 items, but its next position is #999999
        hint: where it was made, `git trace gc --renumber` closes the gaps
        ") };
    };
    refused("bob");
    team.ok("bob", &["commit", "-m", "three"]);
    refused("bob");
    team.ok("bob", &["commit", "-m", "four"]);
    team.git("bob", &["update-ref", "refs/traces/main", "refs/trace-remotes/origin/main"]);
    let (_, said) = team.run("bob", &["fsck"]);
    assert!(said.contains("positions: the next position is #999999, but there are only 2 items"), "{said}");
    team.ok("bob", &["gc", "--renumber", "--quiet"]);
    team.ok("bob", &["fsck"]);
}

/// A state that only a remote has is checked by each command that continues there, however it is named.
#[test]
fn a_trace_that_starts_at_a_fetched_state_is_checked() {
    let team = forged("Trace-Total: 11 ", "Trace-Total: 90000 ");
    team.ok("bob", &["fetch"]);
    let tip = team.git("bob", &["rev-parse", "refs/trace-remotes/origin/main"]).trim().to_owned();
    let total = |rev: &str| team.git("bob", &["log", "-1", "--format=%(trailers:key=Trace-Total)", rev]);
    for (number, from) in ["origin/main", "refs/trace-remotes/origin/main", &tip].into_iter().enumerate() {
        team.ok("bob", &["branch", &format!("branch{number}"), from]);
        team.ok("bob", &["switch", "-c", &format!("switch{number}"), from]);
        team.ok("bob", &["switch", "main"]);
        for name in ["branch", "switch"] {
            assert_eq!(total(&format!("refs/traces/{name}{number}")).trim(), "Trace-Total: 11 o200k_base");
        }
        team.ok("bob", &["branch", "-D", &format!("branch{number}"), &format!("switch{number}")]);
        let said = team.ok("bob", &["reset", "--json", from]);
        let now = team.git("bob", &["rev-parse", "refs/traces/main"]);
        assert!(said.contains(now.trim()), "{said}");
        assert_eq!(total("refs/traces/main").trim(), "Trace-Total: 11 o200k_base");
        team.ok("bob", &["undo"]);
        team.ok("bob", &["fsck"]);
    }

    forge_tip(&team, "Trace-Next: 2", "Trace-Next: 999999");
    team.ok("bob", &["fetch"]);
    let before = team.git("bob", &["for-each-ref", "refs/traces"]);
    let tip = team.git("bob", &["rev-parse", "refs/trace-remotes/origin/main"]).trim().to_owned();
    for from in ["origin/main", &tip] {
        for args in [&["branch", "new", from][..], &["switch", "-c", "new", from], &["reset", from], &["rebase", from]]
        {
            let (code, said) = team.run("bob", args);
            assert_eq!(code, Some(2), "{args:?}: {said}");
            assert!(redact(&said).contains("commit [SHORT] has 2 items, but its next position is #999999"), "{said}");
        }
    }
    assert_eq!(team.git("bob", &["for-each-ref", "refs/traces"]), before);
}

#[test]
fn a_commit_of_a_remote_with_one_file_for_many_items_is_refused() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "large"]);
    team.ok("ada", &["push"]);
    let shared = team.home.home().join("shared.git");
    let folder = |listing: &str| {
        let output = run(team.home.command("git").arg("mktree").current_dir(&shared), listing.as_bytes());
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    };
    let publish = |items: usize| {
        let file = team.git("ada", &["ls-tree", "refs/traces/main:00/00"]);
        let file = &file[..file.trim_end().len() - 2];
        let files: String = (0..items).map(|n| format!("{file}{n:02}\n")).collect();
        let middle = folder(&format!("040000 tree {}\t00\n", folder(&files)));
        let top = folder(&format!("040000 tree {middle}\t00\n"));
        let commit = team.git("shared.git", &["commit-tree", "-p", "refs/traces/main", "-m", "many", &top]);
        team.git("shared.git", &["update-ref", "refs/traces/main", commit.trim_end()]);
    };
    publish(9);
    let (code, said) = team.run("bob", &["pull"]);
    assert_eq!(code, Some(2), "{said}");
    insta::assert_snapshot!(redact(&said), @"
    error: commit [SHORT] has one file, [SHORT], for 9 items
    hint: where it was made, `git trace fsck` names the items
    ");
    publish(8);
    team.ok("bob", &["pull"]);
}

#[test]
fn configured_refspecs_move_no_local_trace() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.ok("bob", &["commit", "-m", "not pushed"]);
    team.git("bob", &["config", "--add", "remote.origin.fetch", "+refs/traces/*:refs/traces/*"]);
    let before = team.git("bob", &["rev-parse", "refs/traces/main"]);
    team.ok("bob", &["fetch"]);
    team.ok("bob", &["pull"]);
    assert_eq!(team.git("bob", &["rev-parse", "refs/traces/main"]), before);
}

#[test]
fn settings_of_git_push_nothing_else() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.git("ada", &["tag", "-a", "-m", "not for others", "private", "refs/traces/main"]);
    for (key, value) in [("push.followTags", "true"), ("push.recurseSubmodules", "only")] {
        team.git("ada", &["config", key, value]);
    }
    team.ok("ada", &["push"]);
    let refs = team.git("shared.git", &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/code\nrefs/traces/main\n");
}

#[test]
fn a_remote_cannot_give_the_name_of_forward_crumbs_to_something_else() {
    let team = team_with_three_items();
    team.ok("ada", &["forward", "leave", "--agent", "ada", "--summary", "The parser works."]);
    team.ok("ada", &["forward", "push", "--agent", "ada"]);
    team.git("shared.git", &["update-ref", "refs/trace-records/crumbs/ada", "refs/heads/code"]);
    team.ok("bob", &["fetch"]);
    assert_eq!(team.git("bob", &["for-each-ref", "refs/trace-remote-records/origin/crumbs"]), "");
    team.ok("bob", &["forward", "pull", "--agent", "ada"]);
    assert!(team.ok("bob", &["forward", "get", "--agent", "ada"]).contains("The parser works."));
}

#[test]
fn a_pull_names_forward_crumbs_that_somebody_edited_or_deleted() {
    let team = Team::new();
    let leave = |who: &str, summary: &str| {
        team.ok(who, &["forward", "leave", "--agent", "ada", "--summary", summary]);
    };
    let pull = |who: &str| team.ok(who, &["forward", "pull", "--agent", "ada"]);
    leave("ada", "Never push to prod.");
    leave("ada", "The parser works.");
    team.ok("ada", &["forward", "push", "--agent", "ada"]);
    pull("bob");
    leave("ada", "The tests pass.");
    leave("bob", "The tests fail.");
    team.ok("bob", &["forward", "push", "--agent", "ada"]);
    let merged = pull("ada");
    assert!(!merged.contains("by the pull"), "{merged}");
    team.ok("ada", &["forward", "push", "--agent", "ada"]);
    pull("bob");
    team.git("bob", &["update-ref", "refs/traces/x", "refs/crumbs/ada"]);
    team.ok("bob", &["--trace", "x", "edit", "#0", "-m", "Push to prod."]);
    team.ok("bob", &["--trace", "x", "delete", "#1"]);
    team.git("bob", &["push", "-q", "origin", "refs/traces/x:refs/crumbs/ada"]);
    insta::assert_snapshot!(redact(&pull("ada")), @"
    refs/crumbs/ada: fast-forwarded to [SHORT]
    refs/crumbs/ada: edited by the pull: [ID]
    refs/crumbs/ada: removed by the pull: [ID]
    ");
}

#[test]
fn a_repair_sets_the_tags_that_an_interrupted_pull_did_not_set() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one", "-p", "skip"]);
    team.ok("ada", &["push"]);
    team.git("bob", &["update-ref", "refs/trace-tags/skip", "HEAD"]);
    let (code, said) = team.run("bob", &["pull"]);
    assert_eq!(code, Some(1), "the trace moved, but no tag fits below another: {said}");
    team.git("bob", &["update-ref", "-d", "refs/trace-tags/skip"]);
    assert_eq!(team.ok("bob", &["priority", "--json"]).matches("skip").count(), 1, "the record decides");
    team.run("bob", &["fsck", "--repair"]);
    assert_eq!(team.git("bob", &["for-each-ref", "refs/trace-tags/skip"]).lines().count(), 1);
}

/// Ada has published three items, and Bob has pulled them.
fn team_with_three_items() -> Team {
    let team = Team::new();
    for who in ["ada", "bob"] {
        team.git(who, &["config", "user.name", who]);
    }
    for text in ["Never push to prod.", "two", "three"] {
        team.ok("ada", &["commit", "-m", text]);
    }
    team.ok("ada", &["pin", "#0"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team
}

#[test]
fn fetch_applies_nothing_and_pull_lists_each_change() {
    let team = team_with_three_items();
    team.ok("ada", &["skip", "#0", "--reason", "we do now"]);
    team.ok("ada", &["pin", "#2"]);
    team.ok("ada", &["push"]);
    let refs = |who| team.git(who, &["for-each-ref", "refs/trace-priority", "refs/trace-tags", "refs/traces"]);
    let (before, prompt) = (refs("bob"), team.messages("bob"));
    insta::assert_snapshot!(redact(&team.ok("bob", &["fetch"])), @"origin/main [SHORT]");
    assert_eq!((refs("bob"), team.messages("bob")), (before, prompt), "a fetch changes nothing");
    insta::assert_snapshot!(redact(&team.ok("bob", &["pull"])), @r#"
    main: up to date
    main: 2 priorities changed by A U Thor: skipped #0 ("we do now"), pinned #2
    "#);
    assert!(!team.messages("bob").contains("Never push to prod."));
    insta::assert_snapshot!(team.ok("bob", &["pull"]), @"main: up to date");
    team.ok("ada", &["unpin", "#0"]);
    team.ok("ada", &["push"]);
    let answer: serde_json::Value = serde_json::from_str(&team.ok("bob", &["pull", "--json"])).unwrap();
    let change = &answer["changed_priorities"][0];
    assert_eq!((&change["seq"], &change["before"], &change["level"]), (&0.into(), &"skip".into(), &"normal".into()));
}

#[test]
fn a_pull_that_does_not_merge_applies_no_priority() {
    let team = team_with_three_items();
    team.ok("ada", &["edit", "#1", "-m", "two of ada"]);
    team.ok("ada", &["skip", "#0"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["edit", "#1", "-m", "two of bob"]);
    let prompt = team.messages("bob");
    assert_eq!(team.run("bob", &["pull"]).0, Some(1));
    assert_eq!(team.messages("bob"), prompt);
    let said = team.ok("bob", &["pull", "--strategy", "ours"]);
    assert!(said.ends_with("main: 1 priority changed by A U Thor: skipped #0\n"), "{said}");
}

#[test]
fn a_rejected_trace_stops_no_other_and_none_of_its_priorities_is_published() {
    let team = team_with_three_items();
    team.ok("ada", &["commit", "-m", "four"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["skip", "#1"]);
    team.ok("bob", &["--trace", "idea", "commit", "-m", "idea", "-p", "pinned"]);
    let record = |who| team.git(who, &["ls-tree", "-r", "--name-only", "refs/trace-records/priority"]);
    let before = record("shared.git");
    let (code, said) = team.run("bob", &["push", "origin", "main", "idea"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("idea → origin: [new reference]\n"), "{said}");
    let hints: Vec<&str> = said.lines().filter(|line| line.starts_with("hint:")).collect();
    assert_eq!(
        hints,
        [
            "hint: the remote has commits that this trace lacks: `git trace pull` merges them, `git trace push --force` drops them"
        ]
    );
    assert!(said.contains("and the priority of 1 item\n"), "{said}");
    let levels = team.ok("bob", &["priority", "--json"]);
    let skipped = serde_json::from_str::<serde_json::Value>(levels.lines().nth(1).unwrap()).unwrap();
    let path = skipped["id"].as_str().unwrap().to_owned();
    assert_eq!(record("shared.git").lines().count(), before.lines().count() + 1);
    assert!(!record("shared.git").contains(&path[2..]), "the item of the rejected trace");

    // The record moves only if there are new lines.
    let tip = |who| team.git(who, &["rev-parse", "refs/trace-records/priority"]);
    let before = tip("shared.git");
    team.ok("bob", &["push", "origin", "idea"]);
    assert_eq!(tip("shared.git"), before);
    team.ok("bob", &["pull"]);
    team.ok("bob", &["push"]);
    assert!(record("shared.git").contains(&path[2..]));
}

#[test]
fn concurrent_priorities_are_resolved_alike_and_reported_until_someone_sets_one() {
    let team = team_with_three_items();
    team.ok("bob", &["skip", "#1"]);
    team.ok("ada", &["skip", "#0"]);
    team.ok("ada", &["pin", "#1"]);
    team.ok("bob", &["unpin", "#0"]);
    team.ok("ada", &["push"]);
    insta::assert_snapshot!(team.ok("bob", &["pull"]), @"
    main: up to date
    main: 1 priority changed by A U Thor: pinned #1
    main: #1 was changed concurrently: pinned by A U Thor, skip by A U Thor; pinned applies until someone sets it again
    main: #0 was changed concurrently: normal by A U Thor, skip by A U Thor; normal applies until someone sets it again
    ");
    team.ok("bob", &["push"]);
    team.ok("ada", &["pull"]);
    let record = |who| team.git(who, &["grep", "-h", "", "refs/trace-priority"]);
    assert_eq!(record("ada"), record("bob"), "all clones have the same bytes");
    for who in ["ada", "bob"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(redact(&team.ok(who, &["priority"])), @"
            normal #0 dialogue user: Never push to prod. [ID]
              was changed concurrently: normal by A U Thor, skip by A U Thor; normal applies until someone sets it again
            pinned #1 dialogue user: two [ID]
              was changed concurrently: pinned by A U Thor, skip by A U Thor; pinned applies until someone sets it again
            ");
        }
        let status = team.ok(who, &["status"]);
        assert!(
            status.ends_with("2 priorities were changed concurrently: `git trace priority` shows them\n"),
            "{status}"
        );
        team.ok(who, &["fsck"]);
    }
    team.ok("ada", &["skip", "#1"]);
    team.ok("ada", &["push"]);
    insta::assert_snapshot!(team.ok("bob", &["pull"]), @"
    main: up to date
    main: 1 priority changed by A U Thor: skipped #1
    ");
    assert!(team.ok("bob", &["status", "--json"]).contains(r#""disputed_priorities":1"#));
}

#[test]
fn bad_refs_of_a_remote_are_reported_and_skipped() {
    let team = team_with_three_items();
    team.ok("ada", &["commit", "-m", "four"]);
    team.ok("ada", &["push"]);
    let blob = team.git("shared.git", &["rev-parse", "refs/traces/main:00/00"]);
    team.git("shared.git", &["update-ref", "refs/traces/blob", blob.trim_end()]);
    for head in ["HEAD", "TRACE_HEAD"] {
        team.git("shared.git", &["update-ref", &format!("refs/traces/{head}"), "refs/heads/code"]);
    }
    let (code, said) = team.run("bob", &["pull"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(redact(&said), @"
    main: fast-forwarded to [SHORT]
    warning: skipped origin/HEAD: a trace cannot have this name
    warning: skipped origin/TRACE_HEAD: a trace cannot have this name
    warning: skipped origin/blob: object [OID] is not a commit
    ");
    let (code, said) = team.run("bob", &["fetch", "--json"]);
    assert_eq!(code, Some(1));
    assert!(said.contains(r#""skipped":[{"cause":"a trace cannot have this name","name":"HEAD"}"#), "{said}");
    team.ok("bob", &["pull", "origin", "main"]);
}

#[test]
fn a_pull_lists_priorities_of_items_that_the_pulled_trace_removed() {
    let team = team_with_three_items();
    team.ok("ada", &["branch", "idea"]);
    team.ok("ada", &["switch", "idea"]);
    team.ok("ada", &["skip", "#0", "--reason", "we do now"]);
    team.ok("ada", &["delete", "#0"]);
    team.ok("ada", &["push"]);
    insta::assert_snapshot!(redact(&team.ok("bob", &["pull", "origin", "idea"])), @r#"
    idea: new, at [SHORT]
    main: 1 priority changed by A U Thor: skipped #0 ("we do now")
    "#);
    assert!(!team.messages("bob").contains("Never push to prod."));
    team.ok("bob", &["undo"]);
    assert!(team.messages("bob").contains("Never push to prod."));
}

#[test]
fn a_trace_with_a_name_that_a_terminal_obeys_is_skipped() {
    let team = team_with_three_items();
    for name in ["a\u{9b}31mb", "a\u{202e}b"] {
        team.git("shared.git", &["update-ref", &format!("refs/traces/{name}"), "refs/traces/main"]);
    }
    let (code, said) = team.run("bob", &["pull"]);
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(redact(&said), @r"
    main: up to date
    warning: skipped origin/a\u009b31mb: a trace cannot have this name
    warning: skipped origin/a\u202eb: a trace cannot have this name
    ");
    assert_eq!(team.ok("bob", &["branch", "--json"]).matches("\"trace\"").count(), 1);
}

#[test]
fn a_push_below_the_name_of_another_trace_is_refused_at_once() {
    let team = team_with_three_items();
    team.ok("bob", &["branch", "idea/one"]);
    team.git("shared.git", &["update-ref", "refs/traces/idea", "refs/traces/main"]);
    let (code, said) = team.run("bob", &["push", "origin", "idea/one"]);
    assert_eq!(code, Some(1));
    // Each attempt prints git's message.
    assert_eq!(said.matches("cannot create").count(), 1, "{said}");
    assert!(said.contains("idea/one → origin: [rejected] (the remote has `refs/traces/idea`, and a name"), "{said}");
}

#[test]
fn published_items_come_first_when_both_sides_advanced() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "shared"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.ok("ada", &["commit", "-m", "by ada"]);
    team.ok("bob", &["commit", "-m", "by bob"]);
    team.ok("bob", &["pin", "#0", "--reason", "bob needs it"]);
    team.ok("ada", &["skip", "#1", "--reason", "ada does not"]);
    team.ok("ada", &["push"]);
    let (code, said) = team.run("bob", &["push"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`git trace pull` merges them"), "{said}");
    team.ok("bob", &["pull"]);
    team.ok("bob", &["push"]);
    team.ok("ada", &["pull"]);
    let listed = team.ok("ada", &["export"]);
    let order: Vec<_> = ["shared", "by ada", "by bob"].map(|text| listed.find(text).unwrap()).into();
    assert!(order.is_sorted(), "{listed}");
    assert_eq!(team.messages("bob"), team.messages("ada"));
    assert_eq!(team.ok("ada", &["priority", "--json"]), team.ok("bob", &["priority", "--json"]));
    for who in ["ada", "bob", "shared.git"] {
        team.git(who, &["fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn a_pull_resolves_a_conflict() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "text"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.ok("ada", &["edit", "#0", "-m", "text of ada"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["edit", "#0", "-m", "text of bob"]);
    let (code, said) = team.run("bob", &["pull"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("<<<<<<< ours\n  text of bob\n"), "{said}");
    assert!(said.contains("=======\n  text of ada\n  >>>>>>> theirs\n"), "{said}");
    team.ok("bob", &["pull", "--strategy", "ours"]);
    assert!(team.messages("bob").contains("text of bob"));
}

#[test]
fn names_globs_and_invalid_arguments() {
    let team = Team::new();
    for name in ["codex/1", "codex/2", "main"] {
        team.ok("ada", &["--trace", name, "commit", "-m", name]);
    }
    team.ok("ada", &["push", "origin", "codex/*"]);
    let (code, said) = team.run("ada", &["push", "origin", "nothing*"]);
    assert_eq!(
        (code, said.as_str()),
        (Some(2), "error: no trace is named `nothing*`\nhint: `git trace branch` lists traces\n")
    );
    let (code, said) = team.run("ada", &["push", "elsewhere"]);
    assert_eq!(
        (code, said.as_str()),
        (Some(2), "error: there is no remote `elsewhere`\nhint: `git remote add elsewhere URL` adds it\n")
    );
    let (_, said) = team.run("ada", &["push", "main"]);
    assert_eq!(
        said,
        "error: there is no remote `main`\nhint: that is a trace; name the remote before it: `origin main`\n"
    );
    team.ok("bob", &["fetch", "origin", "codex/1"]);
    assert_eq!(
        team.git("bob", &["for-each-ref", "--format=%(refname)", "refs/trace-remotes"]),
        "refs/trace-remotes/origin/codex/1\n"
    );
    assert_eq!(team.git("bob", &["for-each-ref", "refs/traces"]), "", "a fetch changes no local trace");
    team.ok("bob", &["--trace", "mine", "merge", "origin/codex/1"]);
    team.ok("bob", &["remote", "origin", "--follow"]);
    team.git("bob", &["fetch", "--quiet"]);
    assert!(team.git("bob", &["for-each-ref", "refs/trace-remotes"]).contains("codex/2"));
    team.ok("bob", &["remote", "origin", "--unfollow"]);
    assert_eq!(team.git("bob", &["config", "--get-all", "remote.origin.fetch"]).lines().count(), 1);
    // `git remote rename` keeps the refspecs of the earlier name.
    team.ok("bob", &["remote", "origin", "--follow"]);
    team.git("bob", &["remote", "rename", "origin", "hub"]);
    team.ok("bob", &["remote", "hub", "--follow"]);
    let refspecs = || team.git("bob", &["config", "--get-all", "remote.hub.fetch"]);
    assert!(!refspecs().contains("/origin/"), "{}", refspecs());
    team.git("bob", &["remote", "rename", "hub", "origin"]);
    team.ok("bob", &["remote", "origin", "--unfollow"]);
    assert_eq!(team.git("bob", &["config", "--get-all", "remote.origin.fetch"]).lines().count(), 1);
}

#[test]
fn credentials_in_an_address_to_push_to_are_as_allowed_as_by_git() {
    let team = Team::new();
    let hub = team.path("shared.git");
    let (plain, secret) = (format!("file://{hub}"), format!("file://u:p@localhost{hub}"));
    team.git("ada", &["remote", "set-url", "origin", &plain]);
    team.git("ada", &["config", "transfer.credentialsInUrl", "die"]);
    team.git("ada", &["config", &format!("url.{secret}.pushInsteadOf"), &plain]);
    team.git("ada", &["push", "--quiet", "origin", "HEAD"]);
    team.ok("ada", &["commit", "-m", "a"]);
    team.ok("ada", &["pin", "#0"]);
    team.ok("ada", &["push", "origin"]);
    team.ok("bob", &["pull"]);
    assert!(team.git("bob", &["for-each-ref", "refs/trace-tags"]).contains("pinned"));
}

#[test]
fn a_rebased_trace_is_pushed_with_a_lease() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["commit", "-m", "two"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.git("ada", &["update-ref", "refs/traces/main", "refs/traces/main~1"]);
    team.ok("ada", &["commit", "-m", "other two"]);
    assert_eq!(team.run("ada", &["push"]).0, Some(1));
    team.ok("ada", &["push", "--force"]);
    team.ok("bob", &["commit", "-m", "three"]);
    team.ok("bob", &["pull"]);
    team.ok("bob", &["push"]);
    team.git("ada", &["update-ref", "refs/traces/main", "refs/traces/main~1"]);
    assert_eq!(team.run("ada", &["push", "--force"]).0, Some(1), "bob's push is not thrown away");
}

#[test]
fn archives_of_crumb_files_merge_by_line() {
    let team = Team::new();
    let compress = |who: &str, note: &str| {
        let path = team.home.home().join(who).join("agent.crumb");
        let notes: String = (1..9).map(|n| format!("n @{n} {note} {n}\n")).collect();
        std::fs::write(path, format!("\u{2234}CRUMB2 AGENT s40\n\u{a7}volatile\n{notes}")).unwrap();
        team.ok(who, &["crumb", "compress", "agent.crumb"]);
    };
    let archive = "refs/crumb-archive/AGENT";
    compress("ada", "by ada");
    compress("bob", "by bob");
    team.ok("ada", &["push", "origin", archive]);
    let before = team.git("bob", &["rev-parse", archive]);
    team.ok("bob", &["fetch", "origin", archive]);
    assert_eq!(team.git("bob", &["rev-parse", archive]), before, "a fetch changes nothing");
    insta::assert_snapshot!(team.ok("bob", &["pull", "origin", archive]), @"refs/crumb-archive/AGENT: merged");
    insta::assert_snapshot!(team.ok("bob", &["pull", "origin", archive]), @"refs/crumb-archive/AGENT: up to date");
    insta::assert_snapshot!(team.ok("bob", &["push", "origin", archive]), @"refs/crumb-archive/AGENT → origin: new lines");
    insta::assert_snapshot!(team.ok("bob", &["push", "origin", archive]), @"refs/crumb-archive/AGENT: up to date");
    // Ada pushes without a pull, because lines never conflict.
    compress("ada", "later by ada");
    team.ok("ada", &["push", "origin", archive]);
    for who in ["ada", "bob"] {
        team.ok(who, &["pull", "origin", archive]);
    }
    let lines = |who| team.git(who, &["grep", "-h", "", archive]);
    assert_eq!(lines("ada"), lines("bob"));
    assert!(lines("ada").contains("by ada 3") && lines("ada").contains("by bob 3"));
    team.ok("ada", &["fsck"]);
}

#[test]
fn forward_crumbs_are_fetched_apart_and_pulled_by_name() {
    let team = Team::new();
    let leave = |who: &str, text: &str| {
        team.ok(who, &["forward", "leave", "--agent", "azoth", "--summary", text]);
    };
    leave("ada", "one");
    team.ok("ada", &["push", "origin", "refs/crumbs/azoth"]);
    team.ok("bob", &["fetch", "origin", "refs/crumbs/azoth"]);
    assert_eq!(team.git("bob", &["for-each-ref", "refs/crumbs"]), "");
    insta::assert_snapshot!(redact(&team.ok("bob", &["pull", "origin", "refs/crumbs/azoth"])), @"refs/crumbs/azoth: new, at [SHORT]");
    leave("ada", "two");
    team.ok("ada", &["push", "origin", "refs/crumbs/azoth"]);
    leave("bob", "three");
    let rejected = team.run("bob", &["forward", "push", "--agent", "azoth"]).1;
    assert!(
        rejected.contains("hint: another clone pushed forward crumbs: `git trace forward pull --agent azoth`"),
        "{rejected}"
    );
    let pulled = redact(&team.ok("bob", &["pull", "origin", "refs/crumbs/azoth"]));
    insta::assert_snapshot!(pulled, @"refs/crumbs/azoth: merged at [SHORT]; local forward crumbs sorted in among theirs: 1");
}

#[test]
fn a_remote_without_forward_crumbs_of_an_agent_says_so() {
    let team = Team::new();
    let run = |args: &[&str]| {
        let mut command = team.home.command("git-trace");
        team.home.snapshot(&run(command.args(args).current_dir(team.home.home().join("bob")), b""))
    };
    for command in ["pull", "fetch"] {
        assert_eq!(
            run(&["forward", command, "--agent", "azoth"]),
            "--- stderr\n`origin` has no forward crumbs of agent `azoth`\n[exit 0]"
        );
    }
    insta::assert_snapshot!(run(&["forward", "push", "--agent", "azoth"]), @"
    --- stderr
    error: agent `azoth` has no forward crumbs
    [exit 2]
    ");
    team.ok("ada", &["forward", "leave", "--agent", "azoth", "--summary", "one"]);
    team.ok("ada", &["forward", "push", "--agent", "azoth"]);
    insta::assert_snapshot!(run(&["forward", "pull", "--agent", "azoht", "--json"]), @r#"
    {"remote":"origin","skipped":[],"traces":[]}
    --- stderr
    `origin` has no forward crumbs of agent `azoht`; did you mean `azoth`?
    [exit 0]
    "#);
    team.ok("bob", &["forward", "leave", "--agent", "AZOTH", "--summary", "two"]);
    insta::assert_snapshot!(run(&["pull", "origin", "refs/crumbs/azoth"]), @"
    --- stderr
    error: agent `azoth` differs from `AZOTH` only by case
    hint: name the agent with --agent AZOTH
    [exit 2]
    ");
}

#[test]
fn forward_crumbs_of_two_clones_merge_by_union_whoever_merges() {
    let team = Team::new();
    let forward = |who: &str, at: u32, args: &[&str]| {
        let args: Vec<&str> = ["forward"].iter().chain(args).chain(&["--agent", "azoth"]).copied().collect();
        let (status, out) = team.run_at(who, &args, Some(1_790_000_000 + at));
        assert_eq!(status, Some(0), "{args:?}: {out}");
        out
    };
    let leave = |who: &str, at: u32, text: &str| forward(who, at, &["leave", "--summary", text]);
    let id = |line: &str| line.split(' ').next().unwrap().to_owned();
    let tree = |who: &str| team.git(who, &["ls-tree", "-r", "refs/crumbs/azoth"]);
    // No common history yet. Later times are in the middle, and one clone merges before the other pushes.
    let first = id(&leave("ada", 1, "by ada, first"));
    leave("bob", 2, "by bob, second");
    leave("ada", 3, "by ada, third");
    leave("bob", 4, "by bob, fourth");
    forward("ada", 5, &["push", "origin"]);
    forward("bob", 6, &["pull", "origin"]);
    let summaries = |who: &str| {
        let export: serde_json::Value = serde_json::from_str(&forward(who, 90, &["export"])).unwrap();
        let texts = export["crumbs"].as_array().unwrap().iter();
        texts.map(|one| one["text"].as_str().unwrap().lines().nth(8).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(summaries("bob"), ["by ada, first", "by bob, second", "by ada, third", "by bob, fourth"]);
    let files = tree("bob");
    let headers = team.git("bob", &["grep", "-h", "^newest:", "refs/crumbs/azoth"]);
    insta::assert_snapshot!(headers, @"
    newest: 0 2026-09-21T14:13:21Z
    newest: 1 2026-09-21T14:13:22Z
    newest: 2 2026-09-21T14:13:23Z
    newest: 3 2026-09-21T14:13:24Z
    ");
    // Both set the status of one, and the later change wins on both sides. Both leave one more.
    forward("bob", 7, &["push", "origin"]);
    forward("ada", 8, &["pull", "origin"]);
    assert_eq!(tree("ada"), files);
    forward("ada", 10, &["status", &first, "completed"]);
    forward("bob", 11, &["status", &first, "superseded"]);
    leave("ada", 20, "by ada, sixth");
    leave("bob", 19, "by bob, fifth");
    forward("ada", 21, &["push", "origin"]);
    assert_eq!(team.run("bob", &["forward", "push", "origin", "--agent", "azoth"]).0, Some(1), "pull first");
    forward("bob", 22, &["fetch", "origin"]);
    // Ada merges bob's crumbs without the server, and bob those that ada pushed: both get the same files.
    team.git("ada", &["fetch", "-q", "../bob", "+refs/crumbs/azoth:refs/trace-remote-records/origin/crumbs/azoth"]);
    team.git("ada", &["remote", "add", "bob", "../bob"]);
    forward("ada", 23, &["pull", "bob"]);
    forward("bob", 24, &["pull", "origin"]);
    assert_eq!(tree("ada"), tree("bob"));
    assert_eq!(summaries("ada")[4..], ["by bob, fifth", "by ada, sixth"]);
    let show = forward("ada", 90, &["show", &first, "--json"]);
    assert!(show.contains("superseded"), "{show}");
    // Two merges of the same two sides merge without a conflict.
    forward("bob", 25, &["push", "origin"]);
    forward("ada", 26, &["pull", "origin"]);
    assert_eq!(tree("ada"), tree("bob"));
    for who in ["ada", "bob"] {
        team.ok(who, &["fsck"]);
    }
}

#[test]
fn a_pull_names_the_items_that_others_edited_and_took_out() {
    let mut repo = TestRepo::new();
    repo.git(&["commit", "-q", "--allow-empty", "-m", "code"]);
    let format = repo.git(&["rev-parse", "--show-object-format"]);
    repo.git(&["init", "-q", "--bare", "--object-format", format.trim(), "../origin.git"]);
    repo.git(&["remote", "add", "origin", "../origin.git"]);
    for text in ["Never delete files.", "two", "three"] {
        repo.say(text);
    }
    repo.git(&["push", "-q", "origin", "HEAD:refs/heads/code"]);
    repo.text(&["push"]);
    repo.git(&["clone", "-q", "../origin.git", "../clone"]);
    let clone = repo.home().join("clone");
    repo.within(&clone, |repo| {
        repo.text(&["pull"]);
        repo.text(&["edit", "#0", "-m", "Always delete files."]);
        repo.text(&["delete", "#1"]);
        repo.say("four");
        repo.text(&["push"]);
    });
    let pulled = repo.json(&["pull", "--json"]);
    assert_eq!(
        (&pulled["changed"][0]["edited"], &pulled["changed"][0]["removed"]),
        (&serde_json::json!([0]), &serde_json::json!([1]))
    );
    repo.text(&["undo"]);
    let pulled = repo.text(&["pull"]);
    let listed = "main: edited by the pull: #0\nmain: removed by the pull: #1\n";
    assert!(pulled.starts_with("main: fast-forwarded to ") && pulled.ends_with(listed), "{pulled}");
}

#[test]
fn a_glob_that_matches_nothing_is_refused_as_a_name_is() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["push"]);
    for act in ["fetch", "pull"] {
        for glob in ["nosuch*", "refs/traces/*such"] {
            let (code, said) = team.run("bob", &[act, "origin", glob]);
            let hint = "hint: `git trace fetch origin` fetches and lists all of its traces";
            assert_eq!((code, said), (Some(2), format!("error: `origin` has no trace `{glob}`\n{hint}\n")));
        }
    }
    assert!(team.git("bob", &["for-each-ref", "refs/traces/"]).is_empty());
    team.ok("bob", &["pull", "origin", "ma*"]);
}

/// Runs a command where all arguments together must be shorter than 256 KiB.
#[cfg(unix)]
fn with_short_arguments(team: &Team, who: &str, args: &[&str]) -> String {
    let folder = team.home.home().join(who);
    let mut shell = team.home.command("sh");
    shell.args(["-c", "ulimit -s 1024 && exec git-trace \"$@\"", "sh"]).args(args);
    let output = run(shell.current_dir(folder), b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn any_number_of_traces_is_pushed_and_fetched() {
    const COUNT: usize = 1000;
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    let tip = team.git("ada", &["rev-parse", "refs/traces/main"]);
    let tip = tip.trim_end();
    let name = |number: usize| format!("codex/{number:04}/{}", "x".repeat(200));
    let lines: String = (0..COUNT).map(|number| format!("create refs/traces/{} {tip}\n", name(number))).collect();
    let folder = team.home.home().join("ada");
    run(team.home.command("git").args(["update-ref", "--stdin"]).current_dir(&folder), lines.as_bytes());
    team.git("ada", &["pack-refs", "--all"]);

    let pushed = with_short_arguments(&team, "ada", &["push", "origin", "codex/*"]);
    assert_eq!(pushed.lines().count(), COUNT);
    assert_eq!(pushed.lines().next(), Some(&*format!("{} → origin: [new reference]", name(0))));
    let there = team.git("shared.git", &["for-each-ref", "--format=%(refname)", "refs/traces/"]);
    assert_eq!(there.lines().count(), COUNT, "and not `main`");
    let again = with_short_arguments(&team, "ada", &["push", "origin", "codex/*"]);
    assert_eq!(again, "1000 traces: up to date\n");

    let some: Vec<String> = (0..700).map(name).collect();
    let named: Vec<&str> = ["fetch", "origin"].into_iter().chain(some.iter().map(String::as_str)).collect();
    let fetched = with_short_arguments(&team, "bob", &named);
    assert_eq!(fetched.lines().count(), 700);
    let known = team.git("bob", &["for-each-ref", "--format=%(refname)", "refs/trace-remotes/"]);
    assert_eq!(known.lines().count(), 700);
}

/// Ada replaces the tree of her trace as plain git can, by the lines of `git ls-tree -r`, and pushes it.
pub(crate) fn pushed_by_hand(change: impl FnOnce(Vec<String>, &dyn Fn(&str) -> String) -> Vec<String>) -> Team {
    let team = Team::new();
    team.ok("ada", &["commit", "-t", "instruction", "--name", "rule", "-m", "Never push to prod."]);
    for text in ["one", "two", "three"] {
        team.ok("ada", &["commit", "-m", text]);
    }
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.push_tree("refs/traces/main", "refs/traces/main", "by hand", change);
    team
}

/// The output of a pull by Bob after that.
fn pulled_after(change: impl FnOnce(Vec<String>, &dyn Fn(&str) -> String) -> Vec<String>) -> String {
    let said = pushed_by_hand(change).ok("bob", &["pull"]);
    said.split_once('\n').unwrap().1.to_owned()
}

#[test]
fn a_pull_lists_what_a_handmade_tree_changes_in_the_prompt() {
    // A second file of an item that comes first, with another text.
    let second = |mut lines: Vec<String>, blob: &dyn Fn(&str) -> String| {
        let (entry, path) = lines[0].split_once('\t').unwrap();
        let text = format!("id: {}\ntype: dialogue\nrole: user\n\nAlways push.", path.rsplit_once('-').unwrap().1);
        let path = path.replace("instruction", "dialogue");
        let oid = entry.rsplit(' ').next().unwrap();
        lines.push(format!("{}\t{path}", entry.replace(oid, &blob(&text))));
        lines
    };
    assert_eq!(pulled_after(second), "main: edited by the pull: #0\n");
    // A file becomes a link.
    let link = |mut lines: Vec<String>, _: &dyn Fn(&str) -> String| {
        lines[0] = lines[0].replace("100644", "120000");
        lines
    };
    assert_eq!(pulled_after(link), "main: removed by the pull: #0\n");
    let moved = |mut lines: Vec<String>, _: &dyn Fn(&str) -> String| {
        lines[1] = lines[1].replace("000001-", "000050-");
        lines
    };
    assert_eq!(pulled_after(moved), "main: moved by the pull: #50\n");
    let retyped = |mut lines: Vec<String>, _: &dyn Fn(&str) -> String| {
        lines[0] = lines[0].replace("-instruction-", "-freeform-");
        lines
    };
    assert_eq!(pulled_after(retyped), "main: edited by the pull: #0\n");
    let disguised = |mut lines: Vec<String>, blob: &dyn Fn(&str) -> String| {
        let text = "id: aaaaaaaaaaaaaaaa\ntype: instruction\n\nAlways push.";
        lines.push(format!("100644 blob {}\t00/00/000004-dialogue-aaaaaaaaaaaaaaaa", blob(text)));
        lines
    };
    // Its text, not what its header says.
    assert_eq!(pulled_after(disguised), "");
}

#[test]
fn a_pull_lists_changed_priorities_of_every_trace_that_has_the_item() {
    let team = Team::new();
    team.ok("ada", &["commit", "-t", "instruction", "--name", "rule", "-m", "Never push to prod."]);
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["branch", "side"]);
    team.ok("ada", &["push", "origin", "*"]);
    team.ok("bob", &["pull"]);
    team.ok("ada", &["skip", "#0"]);
    team.ok("ada", &["push", "origin", "side"]);
    let said = team.ok("bob", &["pull", "origin", "side"]);
    for name in ["main", "side"] {
        assert!(said.contains(&format!("{name}: 1 priority changed by ")), "{said}");
    }
}

#[test]
fn an_import_lists_the_priorities_that_it_changes_in_other_traces() {
    let team = Team::new();
    team.ok("ada", &["commit", "-t", "instruction", "--name", "rule", "-m", "Never push to prod."]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.ok("ada", &["skip", "#0"]);
    team.ok("ada", &["export", "-o", "../export.jsonl"]);
    let said = team.ok("bob", &["--trace", "theirs", "import", "jsonl", "../export.jsonl"]);
    assert!(said.contains("1 imported into trace `theirs`\nmain: 1 priority changed by "), "{said}");
    assert!(!said.contains("theirs: 1 priority"), "{said}");
}

/// Three strands of commits: each commit merges all three of the level before.
#[test]
fn a_history_with_many_merge_bases_is_merged() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "base"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    let base = team.git("ada", &["rev-parse", "refs/traces/main"]);
    let (mut stream, mut mark, mut strands) = (String::new(), 0, vec![base.trim().to_owned(); 3]);
    for level in 0..30 {
        let before = strands.clone();
        for (strand, parent) in before.iter().enumerate() {
            mark += 1;
            let at = 1_795_675_901 + level;
            stream.extend([format!(
                "commit refs/tmp/s{strand}\nmark :{mark}\ncommitter s{strand} <a@b> {at} +0000\ndata 2\nx\nfrom {parent}\n"
            )]);
            let others = before.iter().filter(|other| level > 0 && *other != parent);
            stream.extend(others.map(|other| format!("merge {other}\n")));
            stream += "\n";
            strands[strand] = format!(":{mark}");
        }
    }
    let ada = team.home.home().join("ada");
    let output = run(team.home.command("git").args(["fast-import", "--quiet"]).current_dir(ada), stream.as_bytes());
    assert!(output.status.success(), "{output:?}");
    team.git("ada", &["push", "--quiet", "origin", "refs/tmp/s0:refs/traces/main"]);
    team.ok("bob", &["pull"]);
    team.ok("bob", &["commit", "-m", "own"]);
    team.git("ada", &["push", "--quiet", "--force", "origin", "refs/tmp/s1:refs/traces/main"]);
    let said = team.ok("bob", &["pull"]);
    assert!(said.starts_with("main: merged at "), "{said}");
}

#[test]
fn what_was_fetched_from_an_earlier_address_does_not_count() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["pin", "#0", "--reason", "why"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    // Another hub gets all, although the remote-tracking refs say that it has all.
    team.git("ada", &["init", "--quiet", "--bare", "../other.git"]);
    team.git("ada", &["remote", "set-url", "origin", "../other.git"]);
    team.ok("ada", &["push"]);
    assert!(team.git("ada", &["ls-remote", "origin"]).contains("refs/trace-records/priority"));
    // What only the first hub has is not pulled from an empty one.
    team.git("bob", &["init", "--quiet", "--bare", "../empty.git"]);
    team.git("bob", &["remote", "set-url", "origin", "../empty.git"]);
    team.ok("bob", &["init", "own"]);
    team.ok("bob", &["branch", "-D", "main"]);
    assert!(team.ok("bob", &["pull"]).starts_with("main: no longer on `origin` (was "));
    assert!(!team.ok("bob", &["branch"]).contains("main"));
}

#[test]
fn a_push_to_another_address_than_the_fetched_one_contains_no_priorities_of_other_traces() {
    let team = Team::new();
    team.ok("ada", &["--trace", "secret", "commit", "-m", "hidden"]);
    team.ok("ada", &["--trace", "secret", "pin", "#0", "--reason", "a customer was hacked"]);
    team.ok("ada", &["push", "origin", "secret"]);
    team.ok("bob", &["commit", "-m", "public"]);
    team.ok("bob", &["pin", "#0", "--reason", "a rule"]);
    team.ok("bob", &["fetch"]);
    team.git("bob", &["init", "--quiet", "--bare", "../fork.git"]);
    team.git("bob", &["config", "remote.origin.pushurl", "../fork.git"]);
    for reason in ["a rule", "another rule"] {
        team.ok("bob", &["pin", "#0", "--reason", reason]);
        team.ok("bob", &["push", "origin", "main"]);
    }
    let reasons = team.git("bob", &["--git-dir=../fork.git", "grep", "-h", "reason", "refs/trace-records/priority"]);
    assert!(reasons.contains("another rule") && !reasons.contains("hacked"), "{reasons}");
}

impl Team {
    /// A clone that pushed a trace with a reason that is for the first address only. `other.git` is empty.
    fn with_a_secret_reason() -> Self {
        let team = Self::new();
        team.git("ada", &["init", "--quiet", "--bare", "../other.git"]);
        team.ok("ada", &["--trace", "secret", "commit", "-m", "hidden"]);
        team.ok("ada", &["--trace", "secret", "skip", "#0", "--reason", "a customer was hacked"]);
        team
    }

    fn path(&self, name: &str) -> String {
        self.home.home().join(name).display().to_string()
    }

    fn reasons_at(&self, who: &str, hub: &str) -> String {
        let git_dir = format!("--git-dir=../{hub}");
        self.git(who, &[&git_dir, "log", "-p", "--format=", "refs/trace-records/priority"])
    }

    /// Pushes a trace with a public reason, and checks that a hub gets this one only.
    fn push_public(&self, who: &str, hub: &str) {
        self.ok(who, &["--trace", "open", "commit", "-m", "public"]);
        for reason in ["a rule", "another rule"] {
            self.ok(who, &["--trace", "open", "pin", "#0", "--reason", reason]);
            self.ok(who, &["push", "origin", "open"]);
            let reasons = self.reasons_at(who, hub);
            assert!(reasons.contains(reason) && !reasons.contains("hacked"), "{reasons}");
        }
    }
}

#[test]
fn a_push_to_an_address_that_a_setting_replaces_contains_no_other_reasons() {
    for key in ["pushInsteadOf", "insteadOf"] {
        let team = Team::with_a_secret_reason();
        team.ok("ada", &["push", "origin", "secret"]);
        let url = team.git("ada", &["remote", "get-url", "origin"]);
        team.git("ada", &["config", &format!("url.{}.{key}", team.path("other.git")), url.trim()]);
        team.push_public("ada", "other.git");
        // A second replacement of the new address does not count.
        let elsewhere = format!("url.{}.{key}", team.path("nowhere.git"));
        team.git("ada", &["config", &elsewhere, &team.path("other")]);
        team.ok("ada", &["--trace", "open", "pin", "#0", "--reason", "a last rule"]);
        team.ok("ada", &["push", "origin", "open"]);
        let reasons = team.reasons_at("ada", "other.git");
        assert!(reasons.contains("a last rule") && !reasons.contains("hacked"), "{reasons}");
    }
}

#[test]
fn priorities_go_only_where_git_pushes() {
    for (push, rules, hubs) in [
        // A `pushurl` is exempt from rules for pushes.
        (vec!["b.git", "shared.git"], vec![("c.git", "pushInsteadOf", "b.git")], ["b.git", "shared.git"]),
        // Git replaces an address once.
        (
            vec!["b.git", "c.git"],
            vec![("b.git", "insteadOf", "c.git"), ("c.git", "insteadOf", "b.git")],
            ["b.git", "c.git"],
        ),
        (vec!["a.git"], vec![("b.git", "insteadOf", "a.git"), ("c.git", "insteadOf", "b.git")], ["b.git", "b.git"]),
    ] {
        let team = Team::new();
        for hub in ["a.git", "b.git", "c.git"] {
            team.git("ada", &["init", "--quiet", "--bare", &format!("../{hub}")]);
        }
        for address in &push {
            team.git("ada", &["config", "--add", "remote.origin.pushurl", &team.path(address)]);
        }
        for (base, key, address) in rules {
            team.git("ada", &["config", &format!("url.{}.{key}", team.path(base)), &team.path(address)]);
        }
        team.ok("ada", &["commit", "-m", "a"]);
        for reason in ["a rule", "another rule"] {
            team.ok("ada", &["pin", "#0", "--reason", reason]);
            team.ok("ada", &["push", "origin"]);
        }
        for hub in ["a.git", "b.git", "c.git", "shared.git"] {
            let listed = team.git("ada", &["ls-remote", &format!("file://{}", team.path(hub)), "refs/trace*"]);
            assert_eq!(listed.lines().count(), if hubs.contains(&hub) { 2 } else { 0 }, "{push:?}: {hub}: {listed}");
            assert!(listed.is_empty() || team.reasons_at("ada", hub).contains("another rule"), "{push:?}: {hub}");
        }
    }
}

#[test]
fn the_address_that_rejects_a_trace_is_named_with_a_way_to_merge_it() {
    for is_fetched_only in [false, true] {
        let team = Team::new();
        team.ok("ada", &["commit", "-m", "one"]);
        team.ok("ada", &["push"]);
        team.git("ada", &["clone", "--quiet", "--mirror", "../shared.git", "../other.git"]);
        team.git("bob", &["remote", "set-url", "origin", "../other.git"]);
        team.ok("bob", &["pull"]);
        team.ok("bob", &["commit", "-m", "theirs"]);
        team.ok("bob", &["push"]);
        for address in ["../other.git", "../shared.git"].iter().take(if is_fetched_only { 1 } else { 2 }) {
            team.git("ada", &["config", "--add", "remote.origin.pushurl", address]);
        }
        team.ok("ada", &["commit", "-m", "ours"]);
        team.ok("ada", &["pin", "#0", "--reason", "a rule"]);
        let output = run(team.home.command("git-trace").arg("push").current_dir(team.path("ada")), b"");
        assert_eq!(output.status.code(), Some(1));
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(stdout.contains("main → ../other.git: [rejected]"), "{stdout}");
        // Each address gets the priorities of the traces that it took.
        let records = team.git("ada", &["ls-remote", "../other.git", "refs/trace-records/*"]);
        assert_eq!(records, "");
        assert!(is_fetched_only || team.reasons_at("ada", "shared.git").contains("a rule"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        let hint = "hint: ../other.git has commits that are not at the address that is fetched from: \
            `git remote add NAME ../other.git` and `git trace pull NAME` merge them\n";
        assert!(stderr.ends_with(hint), "{stderr}");
        team.git("ada", &["remote", "add", "other", "../other.git"]);
        team.ok("ada", &["pull", "other"]);
        team.ok("ada", &["push", "origin"]);
        team.ok("bob", &["pull"]);
        let log = |who| team.git(who, &["log", "--format=%s", "refs/traces/main"]);
        assert_eq!(log("ada"), log("bob"));
        // No address is forgotten because another one answers.
        team.git("ada", &["config", "--add", "remote.origin.pushurl", "../nowhere.git"]);
        team.ok("ada", &["commit", "-m", "more"]);
        assert_eq!(team.run("ada", &["push", "origin"]).0, Some(1));
        // The hook knows the remote by its name.
        let hook = team.path("ada/.git/hooks/pre-push");
        std::fs::write(&hook, "#!/bin/sh\n[ \"$1\" != origin ]\n").unwrap();
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        team.ok("ada", &["commit", "-m", "not yet"]);
        assert_eq!(team.run("ada", &["push", "origin"]).0, Some(2));
        assert!(!team.git("ada", &["log", "--format=%s", "refs/trace-remotes/origin/main"]).contains("not yet"));
    }
}

#[test]
fn a_remote_that_mirrors_gets_traces_and_priorities() {
    let team = Team::new();
    team.git("ada", &["init", "--quiet", "--bare", "../mirror.git"]);
    team.git("ada", &["remote", "add", "--mirror=push", "backup", "../mirror.git"]);
    team.ok("ada", &["commit", "-m", "a"]);
    team.ok("ada", &["pin", "#0", "--reason", "a rule"]);
    team.ok("ada", &["push", "backup"]);
    let refs = team.git("ada", &["--git-dir=../mirror.git", "for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/trace-records/priority\nrefs/traces/main\n");
}

#[test]
fn a_branch_that_tracks_no_named_remote_does_not_change_the_default() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "a"]);
    let key = format!("branch.{}.remote", team.git("ada", &["symbolic-ref", "--short", "HEAD"]).trim());
    for remote in [".", "https://example.com/fork.git"] {
        team.git("ada", &["config", &key, remote]);
        team.ok("ada", &["push"]);
        team.ok("ada", &["fetch"]);
        assert_eq!(team.ok("ada", &["pull"]), "main: up to date\n", "{remote}");
    }
    team.git("ada", &["remote", "rename", "origin", "hub"]);
    team.git("ada", &["config", &key, "hub"]);
    assert_eq!(team.ok("ada", &["push"]), "main: up to date\n");
    // Git knows a remote that only has an address for pushing.
    team.git("ada", &["clone", "--quiet", "--bare", "../shared.git", "../other.git"]);
    team.git("ada", &["config", "remote.only.pushurl", "../other.git"]);
    team.git("ada", &["config", &key, "only"]);
    team.ok("ada", &["commit", "-m", "b"]);
    team.ok("ada", &["push"]);
    let tip = team.git("ada", &["rev-parse", "refs/traces/main"]);
    assert!(team.git("ada", &["ls-remote", "../other.git", "refs/traces/main"]).starts_with(tip.trim()));
}

#[test]
fn a_push_to_a_second_address_contains_no_other_reasons() {
    let team = Team::with_a_secret_reason();
    team.ok("ada", &["push", "origin", "secret"]);
    let url = team.git("ada", &["remote", "get-url", "origin"]);
    for address in [url.trim(), "../other.git"] {
        team.git("ada", &["config", "--add", "remote.origin.pushurl", address]);
    }
    team.push_public("ada", "other.git");
    assert!(team.reasons_at("ada", "shared.git").contains("another rule"));
}

#[test]
fn priorities_are_pushed_to_an_address_as_to_its_remote() {
    let team = Team::new();
    team.git("ada", &["init", "--quiet", "--bare", "../other.git"]);
    for pack in ["receive", "upload"] {
        let wrapper = format!("echo {pack} >> '{}'; git-{pack}-pack", team.path("log"));
        team.git("ada", &["config", &format!("remote.origin.{pack}pack"), &wrapper]);
    }
    let count = |pack: &str| {
        let log = std::fs::read_to_string(team.path("log")).unwrap_or_default();
        log.lines().filter(|line| *line == pack).count()
    };
    let (shared, other) = (team.git("ada", &["remote", "get-url", "origin"]), team.path("other.git"));
    let shared = shared.trim();
    team.git("ada", &["tag", "mine"]);
    team.git("ada", &["tag", "moved"]);
    team.git("ada", &["push", "--quiet", &other, "moved"]);
    team.git("ada", &["-c", "user.name=a", "-c", "user.email=a", "commit", "--quiet", "--allow-empty", "-m", "next"]);
    team.git("ada", &["tag", "--force", "moved"]);
    team.git(&other, &["tag", "theirs", "moved"]);
    team.git("ada", &["config", "fetch.pruneTags", "true"]);
    team.ok("ada", &["commit", "-m", "a"]);
    let (one, replaced) = (format!("remote.origin.pushurl={other}"), format!("url.{other}.pushInsteadOf={shared}"));
    let two = format!("remote.origin.pushurl={shared}");
    for (prune, settings, addresses) in
        [("true", vec![&one], 1), ("false", vec![&one], 1), ("true", vec![&one, &two], 2), ("true", vec![&replaced], 1)]
    {
        let reason = format!("rule {}.", count("receive"));
        team.ok("ada", &["pin", "#0", "--reason", &reason]);
        team.git("ada", &["config", "fetch.prune", prune]);
        let before = [count("receive"), count("upload")];
        let settings = settings.iter().flat_map(|setting| ["-c", setting]);
        let push: Vec<&str> = settings.chain(["trace", "push"]).collect();
        team.git("ada", &push);
        // The trace and its priorities are pushed, after those of the address were fetched.
        assert!(count("receive") >= before[0] + 2 * addresses, "{push:?}");
        assert!(count("upload") >= before[1] + addresses, "{push:?}");
        assert_eq!(team.git("ada", &["tag"]), "mine\nmoved\n", "{push:?}");
        assert!(team.reasons_at("ada", "other.git").contains(&reason), "{push:?}");
    }
}

#[test]
fn a_push_after_the_list_of_addresses_was_reset_contains_no_other_reasons() {
    let team = Team::with_a_secret_reason();
    team.git("ada", &["config", "remote.origin.pushurl", "../other.git"]);
    team.ok("ada", &["push", "origin", "secret"]);
    team.git("ada", &["config", "--add", "remote.origin.pushurl", ""]);
    // Git before 2.46 pushes to the first one.
    if team.git("ada", &["remote", "get-url", "--push", "origin"]).contains("shared.git") {
        team.push_public("ada", "shared.git");
    }
}

#[test]
fn a_push_after_plain_git_fetched_from_another_address_contains_no_other_reasons() {
    let team = Team::with_a_secret_reason();
    team.ok("ada", &["push", "origin", "secret"]);
    for by_hand in [false, true] {
        let who = if by_hand { "bob" } else { "eve" };
        team.git("ada", &["clone", "--quiet", "../shared.git", &format!("../{who}2")]);
        let who = &*format!("{who}2");
        if by_hand {
            let refspec = "+refs/trace-records/p*:refs/trace-remote-records/origin/p*";
            team.git(who, &["config", "--add", "remote.origin.fetch", refspec]);
        } else {
            team.ok(who, &["remote", "origin", "--follow"]);
        }
        team.git(who, &["fetch", "-q", "origin"]);
        team.git(who, &["rev-parse", "refs/trace-remote-records/origin/priority"]);
        let hub = format!("of-{who}.git");
        team.git(who, &["init", "--quiet", "--bare", &format!("../{hub}")]);
        team.git(who, &["remote", "set-url", "origin", &format!("../{hub}")]);
        team.push_public(who, &hub);
    }
}

#[test]
fn priorities_go_to_each_address_of_a_remote() {
    let team = Team::with_a_secret_reason();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["pin", "#0", "--reason", "first"]);
    team.ok("ada", &["push", "origin", "main"]);
    team.git("ada", &["remote", "set-url", "--add", "origin", "../other.git"]);
    for reason in ["second", "third"] {
        team.ok("ada", &["skip", "#0", "--reason", reason]);
        team.ok("ada", &["push", "origin", "main"]);
        for hub in ["shared.git", "other.git"] {
            assert!(team.reasons_at("ada", hub).contains(reason), "{hub} {reason}");
        }
    }
    // One that refuses them stops no other, and is reported.
    let hook = team.home.home().join("other.git/hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\ncase $1 in refs/trace-records/*) exit 1;; esac\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    team.ok("ada", &["skip", "#0", "--reason", "fourth"]);
    let (code, said) = team.run("ada", &["push", "origin", "main"]);
    assert!(code == Some(1) && said.contains("hook declined"), "{said}");
    assert!(team.reasons_at("ada", "shared.git").contains("fourth"));
    // So does one that cannot be reached.
    std::fs::remove_file(&hook).unwrap();
    team.git("ada", &["remote", "set-url", "--add", "origin", "../gone.git"]);
    team.git("ada", &["init", "--quiet", "--bare", "../third.git"]);
    team.git("ada", &["remote", "set-url", "--add", "origin", "../third.git"]);
    team.ok("ada", &["commit", "-m", "two"]);
    team.ok("ada", &["skip", "#0", "--reason", "fifth"]);
    let (code, said) = team.run("ada", &["push", "origin", "main"]);
    assert!(code == Some(1) && said.contains("error: nothing was pushed to `../gone.git`"), "{said}");
    for hub in ["shared.git", "other.git", "third.git"] {
        assert!(team.reasons_at("ada", hub).contains("fifth"), "{hub}");
    }
    let seen = team.git("ada", &["rev-parse", "refs/trace-remotes/origin/main"]);
    assert_eq!(seen, team.git("ada", &["rev-parse", "refs/traces/main"]));
}

#[test]
fn a_push_reports_the_traces_although_a_hook_refuses_the_priorities() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["pin", "#0"]);
    let hook = team.home.home().join("ada/.git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let script = "#!/bin/sh\nwhile read -r a b name c; do case $name in refs/trace-records/*) exit 1;; esac; done\n";
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (code, said) = team.run("ada", &["push", "--json", "origin", "main"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(r#""name":"main","result":"pushed""#), "{said}");
    assert!(said.contains("error: priorities were not pushed"), "{said}");
    std::fs::remove_file(hook).unwrap();
    assert!(team.ok("ada", &["push", "origin", "main"]).contains("and the priority of 1 item"));
}

#[test]
fn a_trace_that_was_deleted_on_the_remote_and_here_stays_deleted() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["branch", "old"]);
    team.ok("ada", &["push", "origin", "*"]);
    team.ok("bob", &["pull"]);
    team.git("ada", &["push", "--quiet", "origin", ":refs/traces/old"]);
    team.ok("bob", &["branch", "-D", "old"]);
    team.ok("bob", &["pull"]);
    assert!(!team.ok("bob", &["branch"]).contains("old"));
}

#[test]
fn two_traces_of_a_remote_that_cannot_exist_together_stop_no_other() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.ok("ada", &["branch", "zz"]);
    team.ok("ada", &["push", "origin", "*"]);
    team.ok("bob", &["pull"]);
    // A trace takes the place of a folder of traces.
    team.ok("ada", &["commit", "-m", "two"]);
    team.git("ada", &["push", "--quiet", "origin", ":refs/traces/zz"]);
    team.git("ada", &["push", "--quiet", "origin", "refs/traces/main", "refs/traces/zz:refs/traces/zz/x"]);
    let said = team.ok("bob", &["pull", "origin", "main"]);
    assert!(said.starts_with("main: fast-forwarded to "), "{said}");
    let (code, said) = team.run("bob", &["pull"]);
    assert_eq!(code, Some(2), "the local trace `zz` is in the way: {said}");
    team.ok("bob", &["branch", "-D", "zz"]);
    assert!(team.ok("bob", &["pull"]).contains("zz/x: new, at "));
}

#[test]
fn a_remote_with_a_trace_below_another_one_stops_no_other() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    let tip = team.git("ada", &["rev-parse", "refs/traces/main"]);
    team.ok("ada", &["push"]);
    team.git("ada", &["push", "--quiet", "origin", "refs/traces/main:refs/traces/zz"]);
    // Git itself refuses to make such refs.
    let hub = team.home.home().join("shared.git");
    if !hub.join("refs/heads").is_dir() {
        return;
    }
    let packed = format!("# pack-refs with: peeled fully-peeled sorted \n{} refs/traces/zz/x\n", tip.trim());
    std::fs::write(hub.join("packed-refs"), packed).unwrap();
    let mut pull = team.home.command("git-trace");
    let output = run(pull.arg("pull").current_dir(team.home.home().join("bob")), b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("zz/x") && said.contains("a name cannot also be a folder"), "{said}");
    assert!(team.ok("bob", &["branch"]).contains("main"));
}

#[test]
fn priorities_of_an_export_are_imported_into_a_shallow_clone() {
    let team = Team::new();
    for text in ["one", "two", "three", "four"] {
        team.ok("ada", &["commit", "-m", text]);
    }
    team.ok("ada", &["skip", "#1"]);
    let export = team.ok("ada", &["export"]);
    team.ok("ada", &["push"]);
    let address = format!("file://{}", team.path("shared.git"));
    team.git("bob", &["fetch", "--quiet", "--depth=2", &address, "+refs/traces/*:refs/traces/*"]);
    let output = run(
        team.home.command("git-trace").args(["import", "jsonl", "-"]).current_dir(team.path("bob")),
        export.as_bytes(),
    );
    assert!(output.status.success(), "{output:?}");
    assert!(!team.messages("bob").contains("two"));
}

#[test]
fn the_hint_of_a_rejected_push_names_the_remote_unless_it_is_the_default() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one"]);
    team.git("ada", &["init", "--quiet", "--bare", "../fork.git"]);
    for who in ["ada", "bob"] {
        team.git(who, &["remote", "add", "fork", "../fork.git"]);
    }
    team.ok("ada", &["push", "fork"]);
    team.ok("bob", &["pull", "fork"]);
    team.ok("bob", &["commit", "-m", "two"]);
    team.ok("bob", &["push", "fork"]);
    team.ok("ada", &["commit", "-m", "three"]);
    assert!(team.run("ada", &["push", "fork"]).1.contains("`git trace pull fork` merges them"));
    team.git("ada", &["config", "remote.pushDefault", "fork"]);
    assert!(team.run("ada", &["push"]).1.contains("`git trace pull fork` merges them"));
    team.git("ada", &["config", "trace.contextRemote", "fork"]);
    assert!(team.run("ada", &["push"]).1.contains("`git trace pull` merges them"));
}

#[test]
fn addresses_with_passwords_are_pushed_to_whatever_the_command_line_sets() {
    let team = Team::new();
    for hub in ["a.git", "b.git"] {
        team.git("ada", &["init", "--quiet", "--bare", &format!("../{hub}")]);
        let address = format!("file://user:word@localhost{}", team.path(hub));
        team.git("ada", &["config", "--add", "remote.origin.pushurl", &address]);
    }
    team.ok("ada", &["commit", "-m", "a"]);
    team.ok("ada", &["pin", "#0", "--reason", "isn't it? a = b!"]);
    team.git("ada", &["-c", "transfer.credentialsInUrl=die", "trace", "push"]);
    for hub in ["a.git", "b.git"] {
        assert!(team.reasons_at("ada", hub).contains("isn't it?"));
    }
}

#[test]
fn a_remote_of_the_user_may_have_an_address_for_pushes_only() {
    let team = Team::new();
    team.git("ada", &["config", "--global", "remote.backup.pushurl", "../shared.git"]);
    team.ok("ada", &["commit", "-m", "a"]);
    team.ok("ada", &["push", "backup"]);
    team.git("ada", &["config", "--global", "--unset", "remote.backup.pushurl"]);
    team.git("ada", &["-c", "remote.backup.pushurl=../shared.git", "trace", "push", "backup"]);
}

#[test]
fn a_fetch_forgets_nothing_of_a_remote_below_the_name_of_another_one() {
    let team = Team::new();
    team.git("ada", &["init", "--quiet", "--bare", "../other.git"]);
    team.git("ada", &["remote", "add", "team/private", "../other.git"]);
    team.git("ada", &["remote", "add", "team", "../shared.git"]);
    team.ok("ada", &["commit", "-m", "a"]);
    team.ok("ada", &["pin", "#0"]);
    for remote in ["team/private", "team"] {
        team.ok("ada", &["push", remote]);
    }
    team.ok("ada", &["fetch", "team/private"]);
    let fetched = || {
        team.git("ada", &["for-each-ref", "refs/trace-remotes/team/private", "refs/trace-remote-records/team/private"])
    };
    let before = fetched();
    assert_eq!(before.lines().count(), 2);
    team.git("ada", &["remote", "set-url", "team", &team.path("shared.git")]);
    team.ok("ada", &["fetch", "team"]);
    assert_eq!(fetched(), before);
}
