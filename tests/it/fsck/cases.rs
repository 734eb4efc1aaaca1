//! How a repository is damaged, and what fsck finds.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use super::breakage::{blob, change, claim, files, found, item, loose, publish, sound};
use crate::repo::TestRepo;

const MAIN: &str = "refs/traces/main";
const RECORD: &str = "refs/trace-priority";
const LINE: &str = r#"{"at":"2026-02-10T09:00:00.000000001Z","by":"A <a@b>","level":"skip"}"#;

/// The damage, the command that causes it, the finding, and whether `--repair` fixes it.
type Case = (&'static str, fn(&TestRepo), &'static str, bool);

fn check(cases: &[Case]) {
    for (what, act, expected, is_repaired) in cases {
        let repo = sound();
        assert_eq!(found(&repo, &[]).1, Vec::<String>::new(), "before {what}");
        act(&repo);
        let (code, rules, report) = found(&repo, &[]);
        assert_eq!(rules.join(", "), *expected, "{what}: {report}");
        assert_eq!(code, Some(i32::from(expected.contains("error"))), "{what}: {report}");
        for finding in report["findings"].as_array().unwrap() {
            assert_eq!(finding["repairable"], *is_repaired, "{what}: {finding}");
        }
        let (code, _, report) = found(&repo, &["--repair"]);
        if *is_repaired {
            assert_eq!(code, Some(0), "{what}: {report}");
            assert_eq!(found(&repo, &[]).1, Vec::<String>::new(), "{what}, repaired");
            repo.total("main");
        } else {
            assert_eq!(report["repairs"].as_array().unwrap().len(), 0, "{what}: {report}");
        }
    }
}

#[test]
fn items_and_the_shape_of_the_tree() {
    check(&[
        ("a file is no item", |repo| change(repo, 1, "id: ", "<<<<<<< "), "error item-damaged", false),
        ("another id in the file", other_id, "error item-damaged", false),
        (
            "another type in the file",
            |repo| change(repo, 1, "type: dialogue", "type: output"),
            "error item-damaged, warning fields",
            false,
        ),
        (
            "a field that its type does not have",
            |repo| change(repo, 1, "role: user", "role: tool"),
            "warning fields",
            false,
        ),
        ("another token count", |repo| change(repo, 1, "tokens: 6 ", "tokens: 5 "), "error tokens", true),
        ("an item doubled", |repo| double(repo, ""), "warning id-twice", false),
        ("an item doubled, and one of them changed", |repo| double(repo, "!"), "error id-twice", false),
        ("two items of one source", two_of_one_source, "error source-twice", false),
        ("a file at the top", |repo| add(repo, "README", "100644", "not an item"), "warning stray", false),
        (
            "a link among items",
            |repo| add(repo, "00/00/000009-dialogue-00000000000000aa", "120000", "x"),
            "warning stray",
            false,
        ),
        (
            "a folder of another name",
            |repo| add(repo, "zz/00/README", "100644", "x"),
            "warning stray, warning stray",
            false,
        ),
        ("a file in another's folder", misplace, "warning misplaced", false),
    ]);
}

fn other_id(repo: &TestRepo) {
    let id = item(repo, 1).0.rsplit('-').next().unwrap().to_owned();
    change(repo, 1, &format!("id: {id}"), "id: 00000000000000aa");
}

fn add(repo: &TestRepo, path: &str, mode: &str, text: &str) {
    let mut files = files(repo, MAIN);
    files.insert(path.to_owned(), (mode.to_owned(), blob(repo, text)));
    publish(repo, MAIN, &files, "by hand");
}

fn double(repo: &TestRepo, more: &str) {
    let (path, text) = item(repo, 1);
    add(repo, &path.replace("000001", "000009"), "100644", &(text + more));
}

fn two_of_one_source(repo: &TestRepo) {
    for id in ["00000000000000aa", "00000000000000bb"] {
        let text = format!("id: {id}\ntype: freeform\nsource: jsonl record 0\n\ntext");
        add(repo, &format!("00/00/000009-freeform-{id}"), "100644", &text);
    }
}

fn misplace(repo: &TestRepo) {
    let mut files = files(repo, MAIN);
    let (path, file) = files.pop_last().unwrap();
    files.insert(path.replace("00/00/", "07/00/"), file);
    publish(repo, MAIN, &files, "by hand");
}

#[test]
fn trailers() {
    check(&[
        ("another total", |repo| claim(repo, "Trace-Total: 1 o200k_base\nTrace-Next: 9"), "error total", true),
        (
            "a total of another encoding",
            |repo| claim(repo, "Trace-Total: 1 cl100k_base\nTrace-Next: 9"),
            "error total",
            true,
        ),
        ("a position that is taken", |repo| claim(repo, "Trace-Next: 1"), "error next", true),
        ("an operation that was none", untrue_operation, "warning op", false),
        ("a time before the parent's", |repo| claim(repo, "Trace-Time: 2001-01-01T00:00:00Z"), "warning time", false),
        ("an edit that went back", |repo| edit_by_hand(repo, "revision: 2\n", ""), "warning revision", false),
        ("trailers of another tree", |repo| claim_of_another(repo, "Trace-Total: 1 o200k_base"), "", true),
    ]);
}

fn untrue_operation(repo: &TestRepo) {
    let id = item(repo, 0).0.rsplit('-').next().unwrap().to_owned();
    claim(repo, &format!("Trace-Op: delete\nTrace-Item: {id}"));
}

fn claim_of_another(repo: &TestRepo, trailers: &str) {
    let files = files(repo, MAIN);
    let other = "0".repeat(40);
    publish(repo, MAIN, &files, &format!("by hand\n\nTrace-Tree: {other}\n{trailers}"));
}

fn edit_by_hand(repo: &TestRepo, from: &str, to: &str) {
    let mut files = files(repo, MAIN);
    let (path, text) = item(repo, 1);
    let id = path.rsplit('-').next().unwrap().to_owned();
    assert!(text.contains(from), "{text}");
    files.insert(path, ("100644".to_owned(), blob(repo, &text.replacen(from, to, 1))));
    publish(repo, MAIN, &files, &format!("by hand\n\nTrace-Op: edit\nTrace-Item: {id}\nTrace-Tree: {{tree}}"));
}

/// The damage, how it is caused, the rule, and what the finding names besides the trace.
type Broken<'a> = (&'a str, Box<dyn Fn(&TestRepo) + 'a>, &'a str, &'a [&'a str]);

#[test]
fn missing_and_corrupt_objects() {
    let remove = |repo: &TestRepo, rev: &str| fs::remove_file(loose(repo, rev)).unwrap();
    let overwrite = |repo: &TestRepo, rev: &str, bytes: &[u8]| fs::write(loose(repo, rev), bytes).unwrap();
    let first = |repo: &TestRepo| format!("{MAIN}:{}", item(repo, 0).0);
    let cases: [Broken<'_>; 6] = [
        ("an item", Box::new(|repo| remove(repo, &first(repo))), "error object-missing", &["commit", "item"]),
        (
            "an earlier revision",
            Box::new(|repo| remove(repo, &format!("{MAIN}~1:{}", item(repo, 1).0))),
            "error object-missing",
            &["commit", "item"],
        ),
        ("the tip's parent", Box::new(|repo| remove(repo, &format!("{MAIN}~1"))), "error object-missing", &["commit"]),
        (
            "an item, cut short",
            Box::new(|repo| overwrite(repo, &first(repo), b"")),
            "error object-corrupt",
            &["commit", "item"],
        ),
        (
            "an item in place of another",
            Box::new(|repo| {
                let other = fs::read(loose(repo, &format!("{MAIN}:{}", item(repo, 2).0))).unwrap();
                overwrite(repo, &first(repo), &other);
            }),
            "error object-corrupt",
            &["commit", "item"],
        ),
        (
            "a ref to a blob",
            Box::new(|repo| {
                let blob = blob(repo, "x");
                repo.git(&["update-ref", "refs/traces/odd", &blob]);
            }),
            "error object-kind",
            &[],
        ),
    ];
    for (what, act, expected, named) in cases {
        let repo = sound();
        act(&repo);
        let (code, rules, report) = found(&repo, &["--repair"]);
        assert_eq!(code, Some(1), "{what}: {report}");
        assert_eq!(rules.first().map(String::as_str), Some(expected), "{what}: {report}");
        let finding = &report["findings"][0];
        assert!(finding["place"] == "main" || finding["place"] == "odd", "{what}: {report}");
        assert!(named.iter().all(|key| finding[key].is_string()), "{what}: {finding}");
        let objects = rules.iter().filter(|rule| rule.contains("object-"));
        assert_eq!(objects.count(), 1, "{what}: told once: {report}");
    }
}

#[test]
fn refs_reflogs_heads_and_stale_files() {
    if sound().git_dir().join("reftable").is_dir() {
        // It breaks the files that refs are.
        return;
    }
    check(&[
        (
            "a name that no command takes",
            |repo| drop(repo.git(&["update-ref", "refs/traces/-x", MAIN])),
            "warning ref-name",
            false,
        ),
        ("a ref that is cut short", |repo| fs::write(repo.git_dir().join(MAIN), "").unwrap(), "error ref-broken", true),
        ("a reflog that ends before", cut_reflog, "warning reflog", true),
        ("a detached head", detach, "error head", false),
        ("a head of the code's", |repo| head(repo, "ref: refs/heads/code\n"), "error head", false),
        ("a head of nothing", |repo| head(repo, "\u{1b}[31m"), "error head", false),
        ("a lock", leave_lock, "warning lock", true),
        (
            "a kept place of no trace",
            |repo| drop(repo.git(&["update-ref", "refs/trace-orig/a%b", MAIN])),
            "warning kept-name",
            false,
        ),
    ]);
}

/// A repair waits for the owner of git's ref lock and keeps what it wrote.
#[test]
fn a_broken_ref_is_repaired_under_its_lock() {
    let repo = TestRepo::classic(&[]);
    repo.say("one");
    repo.say("two");
    let path = repo.git_dir().join(MAIN);
    let lock = repo.git_dir().join("refs/traces/main.lock");
    let earlier = repo.git(&["rev-parse", &format!("{MAIN}~1")]);
    fs::write(&path, "").unwrap();
    fs::write(&lock, &earlier).unwrap();
    let mut repair = repo.command("git-trace");
    let repair = repair.args(["fsck", "--repair"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(fs::read(&path).unwrap(), b"", "it waits");
    fs::rename(&lock, &path).unwrap();
    let output = repair.wait_with_output().unwrap();
    let said = repo.exact(&output);
    assert!(said.contains("not repaired: ") && said.contains("moved while this command ran"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), earlier);
    assert!(!lock.exists());
}

fn cut_reflog(repo: &TestRepo) {
    let path = repo.git_dir().join("logs").join(MAIN);
    let log = fs::read_to_string(&path).unwrap();
    let kept: String = log.split_inclusive('\n').take(log.lines().count() - 1).collect();
    fs::write(path, kept).unwrap();
}

fn detach(repo: &TestRepo) {
    let tip = repo.git(&["rev-parse", MAIN]);
    head(repo, &tip);
}

fn head(repo: &TestRepo, text: &str) {
    fs::write(repo.git_dir().join("TRACE_HEAD"), text).unwrap();
}

fn leave_lock(repo: &TestRepo) {
    let path = repo.git_dir().join("refs/traces/main.lock");
    let file = fs::File::create(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
}

#[test]
fn priorities_and_their_tags() {
    check(&[
        ("a line that is none", |repo| in_record(repo, |text| text + "<<<<<<< ours\n"), "error record-line", true),
        ("lines out of order", |repo| in_record(repo, |text| text + LINE + "\n"), "warning record-order", true),
        ("a file of no item", |repo| put_in_record(repo, "README", LINE), "warning record-stray", false),
        ("a file without a line", |repo| put_in_record(repo, "00/000000000000aa", "\n"), "warning record-empty", false),
        ("a tag that is gone", |repo| drop(repo.git(&["update-ref", "-d", &tag(repo)])), "warning tag-missing", true),
        ("a tag elsewhere", |repo| drop(repo.git(&["update-ref", &tag(repo), &first(repo)])), "error tag", true),
        ("a tag of another level", |repo| move_tag(repo, "skip/"), "error tag, warning tag-missing", true),
        (
            "a tag of no item of the record",
            |repo| drop(repo.git(&["update-ref", "refs/trace-tags/skip/00000000000000aa", MAIN])),
            "error tag",
            true,
        ),
        (
            "a tag of nothing",
            |repo| drop(repo.git(&["update-ref", "refs/trace-tags/odd/x", MAIN])),
            "warning tag-name",
            false,
        ),
        ("a shared record with a line that is none", share_record, "warning record-line", false),
    ]);
}

fn tag(repo: &TestRepo) -> String {
    repo.git(&["for-each-ref", "--format=%(refname)", "refs/trace-tags/pinned/"]).trim().to_owned()
}

/// The first commit of a trace, which has one item.
fn first(repo: &TestRepo) -> String {
    repo.git(&["rev-list", "--max-parents=0", MAIN]).trim().to_owned()
}

fn move_tag(repo: &TestRepo, level: &str) {
    let tag = tag(repo);
    let at = repo.git(&["rev-parse", &tag]);
    repo.git(&["update-ref", &tag.replace("pinned/", level), at.trim()]);
    repo.git(&["update-ref", "-d", &tag]);
}

fn in_record(repo: &TestRepo, act: impl Fn(String) -> String) {
    let path = files(repo, RECORD).into_keys().next().unwrap();
    let text = repo.git(&["cat-file", "blob", &format!("{RECORD}:{path}")]);
    put_in_record(repo, &path, &act(text));
}

fn put_in_record(repo: &TestRepo, path: &str, text: &str) {
    let mut files = files(repo, RECORD);
    files.insert(path.to_owned(), ("100644".to_owned(), blob(repo, text)));
    publish(repo, RECORD, &files, "by hand");
}

fn share_record(repo: &TestRepo) {
    let files = [("00/000000000000aa".to_owned(), ("100644".to_owned(), blob(repo, "x\n")))].into();
    publish(repo, "refs/trace-records/priority", &files, "by hand");
}

#[test]
fn forward_crumbs_and_archives() {
    check(&[
        ("a crumb without its headers", damage_crumb, "error forward", false),
        (
            "an archive of no identity",
            |repo| archive(repo, "a%zz", "lines/00/000000000000aa", "x\n"),
            "warning archive-name",
            false,
        ),
        ("a file that no archive has", |repo| archive(repo, "azoth", "README", "x\n"), "warning archive-stray", false),
        (
            "originals that are none",
            |repo| archive(repo, "azoth", "lines/00/000000000000aa", "\n"),
            "error archive-file",
            false,
        ),
        (
            "a failure under another's name",
            |repo| archive(repo, "azoth", "failures/00/000000000000aa", "x y\n"),
            "error archive-file",
            false,
        ),
        (
            "an agent that is none",
            |repo| drop(repo.git(&["update-ref", "refs/crumbs/a/b", "refs/crumbs/azoth"])),
            "warning ref-name",
            false,
        ),
    ]);
}

fn damage_crumb(repo: &TestRepo) {
    let refname = "refs/crumbs/azoth";
    let mut files = files(repo, refname);
    let (path, (mode, oid)) = files.pop_first().unwrap();
    let text = repo.git(&["cat-file", "blob", &oid]).replace("crumb-priority: MEDIUM\n", "");
    files.insert(path, (mode, blob(repo, &text)));
    publish(repo, refname, &files, "by hand");
}

fn archive(repo: &TestRepo, name: &str, path: &str, text: &str) {
    let files = [(path.to_owned(), ("100644".to_owned(), blob(repo, text)))].into();
    publish(repo, &format!("refs/crumb-archive/{name}"), &files, "by hand");
}

#[test]
fn a_wrong_total_is_reported_where_it_began_and_repaired() {
    let repo = sound();
    claim(&repo, "Trace-Total: 1 o200k_base\nTrace-Next: 9");
    let began = repo.git(&["rev-parse", MAIN]);
    repo.say("and on it goes");
    let (_, rules, report) = found(&repo, &["main"]);
    assert_eq!(rules, ["error total"]);
    assert!(report["findings"][0]["message"].as_str().unwrap().ends_with(began.trim()), "{report}");
    assert_eq!(found(&repo, &["--repair"]).0, Some(0));
    let tip = repo.git(&["rev-parse", MAIN]);
    assert_eq!(found(&repo, &["--repair"]).1, Vec::<String>::new());
    assert_eq!(repo.git(&["rev-parse", MAIN]), tip, "what is in order is left alone");
    repo.fsck();
}

#[test]
fn findings_are_readable_and_escaped() {
    let repo = sound();
    add(&repo, "a\u{1b}[31m", "100644", "x");
    change(&repo, 1, "tokens: 6 ", "tokens: 5 ");
    repo.git(&["update-ref", "-d", &tag(&repo)]);
    insta::assert_snapshot!(repo.trace(&["fsck", "--repair"]), @r"
    warning: main: commit [SHORT]: stray: `a\u{1b}[31m` is not the file of an item: it is kept but never read; remove it in a worktree of the trace, unless somebody needs it
    error: main: commit [SHORT]: item [ID]: tokens: its file says [N] tokens, but its text has 6; repair it with `git trace fsck --repair`
    warning: refs/trace-tags/: commit [SHORT]: item [ID]: tag-missing: the record says that the item is pinned, but there is no tag; repair it with `git trace fsck --repair`
    repaired: set the tag of item [ID]
    repaired: correct the token counts of main in a new commit
    --- stderr
    traces checked: 2, commits: 8, items: 4, errors: 1, warnings: 2
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["fsck"]), @r"
    warning: main: commit [SHORT]: stray: `a\u{1b}[31m` is not the file of an item: it is kept but never read; remove it in a worktree of the trace, unless somebody needs it
    --- stderr
    traces checked: 2, commits: 9, items: 4, errors: 0, warnings: 1
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["fsck", "--quiet"]), @r"
    --- stderr
    traces checked: 2, commits: 9, items: 4, errors: 0, warnings: 1
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["fsck", "nope"]), @r"
    --- stderr
    error: no trace is named `nope`
    hint: `git trace branch` lists traces; `git trace import` or `git trace commit` creates one
    [exit 2]
    ");
}
