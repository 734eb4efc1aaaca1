//! What commits have in common: as git says it, whatever their dates are.

use std::collections::HashSet;

use crate::git::{Env, Oid, Repo};
use proptest::prelude::*;

use crate::unit::repo::{TestRepo, run};

/// A commit: which of those before it are its parents, modulo how many there are, and its date.
type Node = (Vec<usize>, i64);

fn node() -> impl Strategy<Value = Node> {
    (prop::collection::vec(0..40_usize, 0..=3), 0..6_i64)
}

/// Makes the commits in a fresh repository, one parent first.
fn history(nodes: &[Node]) -> (TestRepo, Vec<Oid>) {
    let repo = TestRepo::init(&["--bare"]);
    let mut stream = String::new();
    for (number, (parents, date)) in nodes.iter().enumerate() {
        let mark = number + 1;
        let date = 1_700_000_000 + date;
        let head = format!("commit refs/heads/n{mark}\nmark :{mark}\ncommitter A <a@b> {date} +0000\ndata 0\n");
        stream.push_str(&head);
        let mut named = HashSet::new();
        // Mostly the one before, so that there are lines.
        let parents = parents.iter().map(|pick| if pick % 2 == 0 { number.checked_sub(1) } else { Some(pick % mark) });
        for (place, parent) in parents.flatten().filter(|parent| *parent < number && named.insert(*parent)).enumerate()
        {
            let word = if place == 0 { "from" } else { "merge" };
            stream.extend([word, " :", &(parent + 1).to_string(), "\n"]);
        }
        stream.extend(["M 644 inline n", &mark.to_string(), "\ndata 0\n\n"]);
    }
    let output = run(repo.command("git").args(["fast-import", "--quiet"]), stream.as_bytes());
    assert!(output.status.success(), "{}", repo.exact(&output));
    let format = opened(&repo).object_format();
    let listed = repo.git(&["for-each-ref", "--sort=version:refname", "--format=%(objectname)", "refs/heads"]);
    let oids = listed.lines().map(|oid| Oid::parse(oid, format).unwrap()).collect();
    (repo, oids)
}

fn opened(repo: &TestRepo) -> Repo {
    Repo::open(&repo.git_dir(), Env::default()).unwrap()
}

fn listed(repo: &TestRepo, args: &[&str]) -> Vec<String> {
    let output = run(repo.command("git").args(args), b"");
    assert!(output.status.code() <= Some(1), "{}", repo.exact(&output));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn check(repo: &TestRepo, one: Oid, two: Oid) {
    let ours = opened(repo);
    let (a, b) = (one.to_string(), two.to_string());
    let texts = |oids: Vec<Oid>| -> Vec<String> { oids.iter().map(Oid::to_string).collect() };

    let mut bases = texts(ours.merge_bases(one, two).unwrap());
    bases.sort();
    let mut said = listed(repo, &["merge-base", "--all", &a, &b]);
    said.sort();
    assert_eq!(bases, said, "merge bases of {a} {b}");

    let says = run(repo.command("git").args(["merge-base", "--is-ancestor", &a, &b]), b"").status.success();
    assert_eq!(ours.is_ancestor(one, two).unwrap(), says, "{a} in {b}");

    // Not `a..b`: where dates are odd, git itself may list too much.
    let hidden: HashSet<String> = listed(repo, &["rev-list", &b]).into_iter().collect();
    let mut said = listed(repo, &["rev-list", "--topo-order", "--reverse", &a]);
    said.retain(|oid| !hidden.contains(oid));
    assert_eq!(texts(ours.commits_beyond(one, Some(two)).unwrap()), said, "{a} and not {b}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn merge_bases_match_git(
        nodes in prop::collection::vec(node(), 2..14),
        pairs in prop::collection::vec((0..14_usize, 0..14_usize), 5),
    ) {
        let (repo, oids) = history(&nodes);
        for (one, two) in pairs {
            check(&repo, oids[one % oids.len()], oids[two % oids.len()]);
        }
    }
}

#[test]
fn a_missing_commit_is_reported_without_waiting() {
    let repo = TestRepo::classic(&[]);
    for n in 0..4 {
        repo.say(&format!("item {n}"));
    }
    repo.git(&["update-ref", "refs/traces/idea", "refs/traces/main~3"]);
    for n in 0..3 {
        repo.text(&["--trace", "idea", "commit", "-m", &format!("idea {n}")]);
    }
    let lost = repo.git(&["rev-parse", "refs/traces/main~1"]).trim().to_owned();
    let path = repo.git_dir().join("objects").join(&lost[..2]).join(&lost[2..]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    repo.git(&["config", "remote.origin.url", "nowhere"]);
    repo.git(&["update-ref", "refs/trace-remotes/origin/traces/main", "refs/traces/idea"]);
    let commands: [&[&str]; 6] = [
        &["merge", "idea"],
        &["rebase", "idea"],
        &["--trace", "idea", "rebase", "main"],
        &["diff", "idea...main"],
        &["materialize", "--as-of", "refs/traces/main~2"],
        &["show", &lost],
    ];
    for command in commands {
        let mut child = repo.command("git-trace");
        let mut child = child
            .args(command)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut waited = 0;
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if waited > 1000 => {
                    child.kill().unwrap();
                    panic!("{command:?} hangs");
                }
                None => waited += 1,
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        };
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
        assert_eq!(status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("error: ") && said.contains(&lost[2..]), "{command:?}: {said}");
    }
}
