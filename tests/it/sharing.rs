//! Pushing, fetching and pulling between clones. Real servers and races: `tests/sharing/run`.

use crate::repo::{TestRepo, run};

/// A bare repository and two clones of it, with a first code commit.
struct Team {
    home: TestRepo,
}

impl Team {
    fn new() -> Self {
        let home = TestRepo::new();
        home.git(&["commit", "--quiet", "--allow-empty", "-m", "code"]);
        home.git(&["clone", "--quiet", "--bare", ".", "../shared.git"]);
        for name in ["ada", "bob"] {
            home.git(&["clone", "--quiet", "../shared.git", &format!("../{name}")]);
        }
        Self { home }
    }

    fn run(&self, who: &str, args: &[&str]) -> (Option<i32>, String) {
        let folder = self.home.home().join(who);
        let output = run(self.home.command("git-trace").args(args).current_dir(folder), b"");
        let mut said = String::from_utf8(output.stdout.clone()).unwrap();
        if !output.status.success() {
            said += &String::from_utf8_lossy(&output.stderr);
        }
        (output.status.code(), said)
    }

    fn ok(&self, who: &str, args: &[&str]) -> String {
        let (code, said) = self.run(who, args);
        assert_eq!(code, Some(0), "{who} {args:?}: {said}");
        said
    }

    fn git(&self, who: &str, args: &[&str]) -> String {
        let folder = self.home.home().join(who);
        self.home.git(&[&["-C", folder.to_str().unwrap()], args].concat())
    }

    fn messages(&self, who: &str) -> String {
        self.ok(who, &["materialize", "--format", "text"])
    }
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
        "tags are brought in line"
    );

    // A plain clone brings none of it.
    team.home.git(&["clone", "--quiet", "../shared.git", "../plain"]);
    assert!(!team.git("plain", &["for-each-ref"]).contains("trace"));
}

#[test]
fn repeating_an_interrupted_fetch_sets_its_tags() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "one", "-p", "skip"]);
    team.ok("ada", &["push"]);
    team.git("bob", &["update-ref", "refs/trace-tags/skip", "HEAD"]);
    let (code, said) = team.run("bob", &["fetch"]);
    assert_eq!(code, Some(2), "no tag fits below another: {said}");
    team.git("bob", &["update-ref", "-d", "refs/trace-tags/skip"]);
    assert!(team.ok("bob", &["fetch", "--json"]).contains(r#""priorities":1"#), "it is still to be done");
    assert_eq!(team.git("bob", &["for-each-ref", "refs/trace-tags/skip"]).lines().count(), 1);
}

#[test]
fn published_items_come_first_when_both_sides_advanced() {
    let team = Team::new();
    team.ok("ada", &["commit", "-m", "shared"]);
    team.ok("ada", &["push"]);
    team.ok("bob", &["pull"]);
    team.ok("ada", &["commit", "-m", "by ada"]);
    team.ok("bob", &["commit", "-m", "by bob"]);
    team.ok("bob", &["pin", "#0", "-m", "bob needs it"]);
    team.ok("ada", &["skip", "#1", "-m", "ada does not"]);
    team.ok("ada", &["push"]);
    let (code, said) = team.run("bob", &["push"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`git trace pull` first"), "{said}");
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
    assert!(said.contains("ours, revision 2: dialogue user: text of bob"), "{said}");
    assert!(said.contains("theirs, revision 2: dialogue user: text of ada"), "{said}");
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
    assert_eq!((code, said.as_str()), (Some(2), "error: there is no remote `elsewhere`: `git remote add` makes one\n"));
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
