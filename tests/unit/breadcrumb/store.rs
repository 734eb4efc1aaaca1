//! The store on disk.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::base::replace::FileError;
use crate::base::time::Time;
use crate::memory::breadcrumb::check::Rules;
use crate::memory::breadcrumb::exchange::{self, Format, OnConflict};
use crate::memory::breadcrumb::query::{Expired, Order, Sort};
use crate::memory::breadcrumb::store::write::{Expiry, Imported, SetRequest};
use crate::memory::breadcrumb::{Key, Namespaces, Query, Record, Store, StoreError, StoreFile, Writer, check};

const NOW: &str = "2026-02-10T09:00:00.5Z";

struct TestStore {
    folder: tempfile::TempDir,
    store: Store,
}

impl TestStore {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::find(folder.path(), folder.path());
        Self { folder, store }
    }

    fn of(text: impl AsRef<[u8]>) -> Self {
        let place = Self::new();
        fs::create_dir(place.store.folder()).unwrap();
        fs::write(place.path(), text).unwrap();
        place
    }

    fn path(&self) -> PathBuf {
        self.store.path(StoreFile::Shared)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    fn writer(&self) -> Writer<'_> {
        Writer::new(&self.store, &|_| true)
    }

    fn set(&self, key: &str, value: &str) -> Result<bool, StoreError> {
        set(&self.writer(), key, value, NOW)
    }

    fn value(&self, key: &str) -> Option<String> {
        self.store.lookup(key, time(NOW)).unwrap().record.map(|record| record.value.into_owned())
    }

    /// Names of all files that are there.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.store.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn time(text: &str) -> Time {
    text.parse().unwrap()
}

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn set(writer: &Writer<'_>, name: &str, value: &str, now: &str) -> Result<bool, StoreError> {
    let setting = SetRequest { key: &key(name), value, task_id: None, expiry: Expiry::Kept, metadata: &[] };
    writer.set(&setting, time(now)).map(|set| set.is_new)
}

fn line(key: &str, value: &str) -> String {
    format!(
        "{{\"key\":\"{key}\",\"value\":\"{value}\",\"created_at\":\"2025-01-01T00:00:00Z\",\
         \"updated_at\":\"2025-01-01T00:00:00Z\"}}\n"
    )
}

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/breadcrumbs").join(name);
    fs::read_to_string(path).unwrap()
}

#[test]
fn set_records_are_found_and_written_in_order() {
    let place = TestStore::new();
    assert_eq!(place.value("auth.method"), None);
    assert!(place.set("auth.method", "JWT <a&b> \"q\"\n\tolá").unwrap());
    assert!(place.set("api.base_url", "https://api.example.com").unwrap());
    let setting =
        SetRequest { key: &key("auth.method"), value: "OAuth", task_id: Some(15), expiry: Expiry::Kept, metadata: &[] };
    let done = place.writer().set(&setting, time("2026-02-10T08:00:00Z")).unwrap();
    assert!(!done.is_new);
    // The clock was set back: the time moves forward all the same.
    insta::assert_snapshot!(place.text(), @r#"
    {"key":"api.base_url","value":"https://api.example.com","created_at":"2026-02-10T09:00:00.5Z","updated_at":"2026-02-10T09:00:00.5Z"}
    {"key":"auth.method","value":"OAuth","task_id":15,"created_at":"2026-02-10T09:00:00.5Z","updated_at":"2026-02-10T09:00:00.500000001Z"}
    "#);
    assert_eq!(place.files(), ["breadcrumbs.jsonl"]);
}

#[test]
fn files_written_by_synapse_are_read_and_kept() {
    let text = fixture("written-by-synapse-1.0.7.jsonl");
    let place = TestStore::of(&text);
    let listing = place.store.list(&Query::default(), time(NOW)).unwrap();
    assert_eq!((listing.total, listing.skipped_lines.len()), (8, 0));
    assert_eq!(place.value("api.base_url").unwrap(), "https://api.example.com/v2?a=1&b=<two>");
    place.set("zz.new", "1").unwrap();
    assert!(place.text().starts_with(&text));
    assert!(place.writer().delete("zz.new").unwrap().is_some());
    assert_eq!(place.text(), text);
    for name in ["design-document.jsonl", "written-by-synapse-1.0.7.jsonl", "upstream-repository.jsonl"] {
        let rules = Rules {
            file: StoreFile::Shared,
            namespaces: &Namespaces::default(),
            now: time(NOW),
            earlier_keys: &HashSet::new(),
            stale_before: None,
        };
        assert_eq!(check(fixture(name).as_bytes(), &rules), [], "{name}");
    }
}

#[test]
fn unknown_members_survive_an_update() {
    let place =
        TestStore::of(r#"{"key":"k","value":"1","created_at":"odd","updated_at":"2027-01-01T00:00:00Z","n":1.50}"#);
    place.set("k", "2").unwrap();
    insta::assert_snapshot!(
        place.text(),
        @r#"{"key":"k","value":"2","created_at":"odd","updated_at":"2027-01-01T00:00:00.000000001Z","n":1.50}"#
    );
}

#[test]
fn an_unreadable_line_blocks_writes_but_not_reads() {
    let text = format!("{}{}nonsense\n{}", line("a", "1"), "{\"key\":\"b\",\"val\n", line("c", "1"));
    let place = TestStore::of(&text);
    for result in [place.set("a", "2").err(), place.writer().delete("c").err(), place.writer().prune(time(NOW)).err()] {
        let Some(StoreError::InvalidLines { path, first, count }) = result else { panic!("{result:?}") };
        assert_eq!((path, first.line, count), (place.path(), 2, 2));
    }
    assert_eq!(place.text(), text);
    assert_eq!(place.value("c").as_deref(), Some("1"));
    let listing = place.store.list(&Query::default(), time(NOW)).unwrap();
    assert_eq!(listing.total, 2);
    let lines: Vec<_> = listing.skipped_lines.iter().map(|skipped| skipped.invalid.line).collect();
    assert_eq!(lines, [2, 3]);
}

#[test]
fn a_large_file_is_searched_by_key() {
    let mut text: String = (0..20_000).map(|n| line(&format!("k.{n:05}"), &n.to_string())).collect();
    let place = TestStore::of(&text);
    for n in [0, 1, 9_999, 19_998, 19_999] {
        assert_eq!(place.value(&format!("k.{n:05}")), Some(n.to_string()));
    }
    assert_eq!(place.value("k.20000"), None);
    text += &line("a.by_hand", "late");
    text += "nonsense\n";
    fs::write(place.path(), &text).unwrap();
    assert_eq!(place.value("a.by_hand").as_deref(), Some("late"));
    assert_eq!(place.store.lookup("none", time(NOW)).unwrap().skipped_lines[0].invalid.line, 20_002);
    let query = Query { prefix: "k.1999".to_owned(), ..Query::default() };
    assert_eq!(place.store.list(&query, time(NOW)).unwrap().total, 10);
}

#[test]
fn lists_are_filtered_sorted_and_limited() {
    let text = concat!(
        r#"{"key":"a","value":"","task_id":1,"created_at":"2026-01-03T00:00:00Z","updated_at":"2026-02-01T00:00:00Z"}"#,
        "\n",
        r#"{"key":"b","value":"","task_id":2,"created_at":"2026-01-02T00:00:00Z","updated_at":"2026-02-03T00:00:00Z"}"#,
        "\n",
        r#"{"key":"c","value":"","task_id":1,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-02-02T00:00:00Z"}"#,
        "\n",
        r#"{"key":"d","value":"","updated_at":"nonsense","expires_at":"2026-02-10T09:00:00Z"}"#,
        "\n",
    );
    let place = TestStore::of(text);
    let keys = |query: Query| -> (String, usize) {
        let listing = place.store.list(&query, time(NOW)).unwrap();
        (listing.records.iter().map(|record| record.key.to_string()).collect(), listing.total)
    };
    let all = Query { expired: Expired::Shown, ..Query::default() };
    assert_eq!(keys(Query::default()), ("abc".to_owned(), 3));
    assert_eq!(keys(Query { order: Order::Descending, limit: Some(2), ..all.clone() }), ("dc".to_owned(), 4));
    assert_eq!(keys(Query { sort: Sort::Created, ..all.clone() }), ("dcba".to_owned(), 4));
    assert_eq!(keys(Query { sort: Sort::Updated, order: Order::Descending, ..all.clone() }), ("bcad".to_owned(), 4));
    assert_eq!(keys(Query { task_id: Some(1), ..Query::default() }), ("ac".to_owned(), 2));
    let moment = Some(time("2026-02-02T00:00:00Z"));
    assert_eq!(keys(Query { updated_before: moment, ..all.clone() }), ("ad".to_owned(), 2));
    assert_eq!(keys(Query { updated_after: moment, ..all }), ("b".to_owned(), 1));
}

#[test]
fn duplicate_keys_read_as_the_later_and_a_write_leaves_one() {
    let late = line("k", "late").replace("updated_at\":\"2025", "updated_at\":\"2026");
    let place = TestStore::of(format!("{late}{}{}", line("x", "1"), line("k", "early")));
    assert_eq!(place.value("k").as_deref(), Some("late"));
    assert_eq!(place.store.list(&Query::default(), time(NOW)).unwrap().total, 2);
    assert!(!place.set("k", "new").unwrap());
    assert_eq!(place.text().lines().count(), 2);
    assert!(place.text().starts_with("{\"key\":\"k\",\"value\":\"new\""));
}

#[test]
fn expired_records_are_hidden_until_set_again() {
    let place = TestStore::new();
    let until =
        |expiry| SetRequest { key: &*Box::leak(Box::new(key("k"))), value: "v", task_id: None, expiry, metadata: &[] };
    place.writer().set(&until(Expiry::At(time("2026-02-10T10:00:00Z"))), time(NOW)).unwrap();
    assert_eq!(place.value("k").as_deref(), Some("v"));
    let later = time("2026-02-10T10:00:00Z");
    assert!(place.store.lookup("k", later).unwrap().record.is_none());
    let before = place.text();
    assert!(place.writer().prune(time(NOW)).unwrap().is_empty());
    assert_eq!(place.text(), before);
    place.writer().set(&until(Expiry::Kept), time(NOW)).unwrap();
    assert!(place.text().contains("expires_at"));
    place.writer().set(&until(Expiry::Kept), later).unwrap();
    assert!(!place.text().contains("expires_at"));
    place.writer().set(&until(Expiry::At(later)), later).unwrap();
    assert_eq!(place.writer().prune(later).unwrap().len(), 1);
    assert_eq!(place.text(), "");
}

#[test]
fn secrets_are_written_only_where_git_ignores_them() {
    let place = TestStore::new();
    let refusing = Writer::new(&place.store, &|_| false);
    let path = place.store.path(StoreFile::Secret);
    let result = set(&refusing, "secret.token", "s3cret", NOW);
    assert!(matches!(result, Err(StoreError::NotIgnored { path: refused }) if refused == path));
    assert!(!place.store.folder().exists());
    place.set("secret.token", "s3cret").unwrap();
    assert!(path.exists() && !place.path().exists());
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o777, 0o600);
    assert_eq!(place.value("secret.token").as_deref(), Some("s3cret"));
    assert_eq!(place.store.list(&Query::default(), time(NOW)).unwrap().total, 1);
    let result = place.writer().rename("secret.token", &key("auth.token"), false, time(NOW));
    assert!(matches!(result, Err(StoreError::LeavesSecret { .. })));
    place.set("auth.token", "t").unwrap();
    place.writer().rename("auth.token", &key("secret.other"), false, time(NOW)).unwrap();
    assert_eq!((place.text().len(), place.value("secret.other").as_deref()), (0, Some("t")));
}

#[test]
fn a_rename_keeps_the_record_and_overwrites_only_on_request() {
    let place = TestStore::of(format!("{}{}{}", line("a", "1"), line("b key", "2"), line("c", "3")));
    let writer = place.writer();
    let result = writer.rename("a", &key("c"), false, time(NOW));
    assert!(matches!(result, Err(StoreError::KeyTaken { .. })));
    let result = writer.rename("nope", &key("d"), false, time(NOW));
    assert!(matches!(result, Err(StoreError::NoSuchKey { .. })));
    writer.rename("b key", &key("d"), false, time(NOW)).unwrap();
    writer.rename("a", &key("c"), true, time(NOW)).unwrap();
    insta::assert_snapshot!(place.text(), @r#"
    {"key":"c","value":"1","created_at":"2025-01-01T00:00:00Z","updated_at":"2026-02-10T09:00:00.5Z"}
    {"key":"d","value":"2","created_at":"2025-01-01T00:00:00Z","updated_at":"2026-02-10T09:00:00.5Z"}
    "#);
}

#[test]
fn an_export_imports_elsewhere() {
    let place = TestStore::of(fixture("written-by-synapse-1.0.7.jsonl"));
    let listing = place.store.list(&Query::default(), time(NOW)).unwrap();
    let mut exported = Vec::new();
    exchange::export(&listing.records, Format::Json, &mut exported).unwrap();
    let other = TestStore::of(line("auth.method", "older") + &line("zz", "1"));
    let import = |existing| other.writer().import(exchange::parse(&exported).unwrap(), existing, time(NOW)).unwrap();
    assert_eq!(import(OnConflict::Keep), Imported { added: 7, replaced: 0, kept: 1 });
    assert_eq!(other.value("auth.method").as_deref(), Some("older"));
    assert_eq!(import(OnConflict::Newest), Imported { added: 0, replaced: 1, kept: 7 });
    assert_eq!(import(OnConflict::Replace), Imported { added: 0, replaced: 0, kept: 8 });
    assert_eq!(other.text().lines().count(), 9);
    let record: Record<'_> = Record::parse(other.text().lines().nth(1).unwrap().as_bytes()).unwrap().into_owned();
    assert_eq!((&*record.key, record.task_id), ("auth.method", Some(15)));
}

#[test]
fn an_unchanged_store_is_not_written() {
    let place = TestStore::new();
    assert!(place.writer().delete("a").unwrap().is_none());
    assert!(place.writer().prune(time(NOW)).unwrap().is_empty() && place.writer().delete_task(1).unwrap().is_empty());
    assert!(!place.store.folder().exists());
    // Out of order and with a blank line: only a change puts it in order.
    let text = format!("{}\n{}", line("b", "1"), line("a", "1"));
    let place = TestStore::of(&text);
    let modified = fs::metadata(place.path()).unwrap().modified().unwrap();
    assert!(place.writer().delete("c").unwrap().is_none());
    assert_eq!(place.writer().import(Vec::new(), OnConflict::Newest, time(NOW)).unwrap(), Imported::default());
    assert_eq!((place.text(), fs::metadata(place.path()).unwrap().modified().unwrap()), (text, modified));
    place.set("c", "1").unwrap();
    let keys: Vec<_> = place.text().lines().map(|line| line[8..9].to_owned()).collect();
    assert_eq!(keys, ["a", "b", "c"]);
}

#[test]
fn values_over_ten_kibibytes_are_refused() {
    let place = TestStore::new();
    place.set("k", &"x".repeat(10 * 1024)).unwrap();
    assert!(matches!(place.set("k", &"x".repeat(10 * 1024 + 1)), Err(StoreError::ValueTooLong { len: 10_241, .. })));
}

#[test]
fn the_nearest_store_in_the_working_tree_is_used() {
    let place = TestStore::new();
    let top = place.folder.path();
    let deep = top.join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    let root = top.canonicalize().unwrap();
    assert_eq!(Store::find(&deep, top).folder(), root.join(".synapse"));
    fs::create_dir(top.join("a/.synapse")).unwrap();
    assert_eq!(Store::find(&deep, top).folder(), root.join("a/.synapse"));
    assert_eq!(Store::find(top, &deep).folder(), root.join("a/b/c/.synapse"));
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept_and_read_only_files_are_not_written() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = TestStore::new();
    let elsewhere = place.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::create_dir(place.store.folder()).unwrap();
    symlink("../elsewhere/kept.jsonl", place.path()).unwrap();
    place.set("a", "1").unwrap();
    let real = elsewhere.join("kept.jsonl");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    place.set("b", "1").unwrap();
    assert!(place.path().is_symlink() && real.is_file());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o640);
    assert_eq!(place.text().lines().count(), 2);
    fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
    assert!(matches!(place.set("c", "1"), Err(StoreError::File(FileError::ReadOnly { .. }))));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
}

#[test]
fn temporary_files_of_killed_writers_are_removed() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = TestStore::of("");
    for (name, mode) in [(".breadcrumbs-x1y2z3.tmp", 0o1644), (".breadcrumbs-c0mm1t.tmp", 0o644)] {
        let file = place.store.folder().join(name);
        fs::write(&file, "half a li").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }
    place.set("a", "1").unwrap();
    assert_eq!(place.files(), [".breadcrumbs-c0mm1t.tmp", "breadcrumbs.jsonl"], "git may have checked one of them out");
    assert_eq!(fs::metadata(place.path()).unwrap().permissions().mode() & 0o7000, 0);
}

#[test]
fn forty_threads_set_forty_keys() {
    let place = TestStore::new();
    std::thread::scope(|scope| {
        for n in 0..40 {
            let store = &place.store;
            scope.spawn(move || {
                let writer = Writer::new(store, &|_| true);
                set(&writer, &format!("thread.k{n}"), "v", NOW).unwrap();
            });
        }
    });
    assert_eq!(place.store.list(&Query::default(), time(NOW)).unwrap().total, 40);
}

/// Starts this very program again to set `key` over and over, `times` times.
fn setter(store: &Store, key: &str, times: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "unit::breadcrumb::store::sets_a_key_for_another_test", "--ignored"]);
    command.env("TEST_STORE", store.folder()).env("TEST_KEY", key).env("TEST_TIMES", times.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
#[ignore = "what the processes of other tests run"]
fn sets_a_key_for_another_test() {
    let of = |name| std::env::var(name).unwrap();
    let store = Store::in_folder(of("TEST_STORE"));
    let writer = Writer::new(&store, &|_| true);
    for n in 0..of("TEST_TIMES").parse().unwrap() {
        set(&writer, &of("TEST_KEY"), &n.to_string(), NOW).unwrap();
    }
}

#[test]
fn forty_processes_set_forty_keys() {
    let place = TestStore::new();
    let processes: Vec<_> =
        (0..40).map(|n| setter(&place.store, &format!("process.k{n}"), 1).spawn().unwrap()).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(place.store.list(&Query::default(), time(NOW)).unwrap().total, 40);
}

#[test]
fn a_killed_writer_leaves_the_old_file_or_the_new_one() {
    let text: String = (0..3000).map(|n| line(&format!("k.{n:05}"), "1")).collect();
    let place = TestStore::of(&text);
    for round in 0..12_u64 {
        let mut process = setter(&place.store, "k.99999", 100_000).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(20 + round * 3));
        process.kill().unwrap();
        process.wait().unwrap();
        let now = place.text();
        let rest = now.strip_prefix(&text).expect("all other lines are there");
        assert!(rest.is_empty() || Record::parse(rest.as_bytes()).is_ok_and(|_| rest.ends_with('\n')), "{rest}");
    }
    assert!(place.text().len() > text.len(), "no writer got to write");
    place.set("k.99999", "last").unwrap();
    assert_eq!(place.files(), ["breadcrumbs.jsonl"]);
}

#[test]
fn a_check_names_every_line_and_its_fix() {
    let text = concat!(
        "\u{feff}{\"key\":\"b.x\",\"value\":\"1\",\"created_at\":\"2025-01-01T00:00:00+01:00\",\"updated_at\":\"soon\"}\n",
        "{\"key\":\"auth.x\",\"value\":\"1\",\"created_at\":\"2025-01-01T00:00:00Z\",\"updated_at\":\"2025-01-01T00:00:00Z\"}\n",
        "<<<<<<< HEAD\n",
        "{\"key\":\"b.x\",\"value\":\"2\",\"updated_at\":\"2025-01-01T00:00:00Z\"}\n",
        "{\"key\":\"Error.X\",\"value\":\"\",\"created_at\":\"2025-01-02T00:00:00Z\",\"updated_at\":\"2025-01-01T00:00:00Z\",",
        "\"expires_at\":\"2025-02-01T00:00:00Z\"}\n",
        "{\"key\":\"no good\",\"value\":\"\",\"created_at\":\"2025-01-01T00:00:00Z\",\"updated_at\":\"2025-01-01T00:00:00Z\"}\n",
        "{\"key\":\"secret.x\",\"value\":7}\n",
        "{\"key\":\"secret.y\",\"value\":\"\",\"created_at\":\"2025-01-01T00:00:00Z\",\"updated_at\":\"2025-01-01T00:00:00Z\"}",
    );
    let namespaces = Namespaces::parse(br#"{"breadcrumb_namespaces":{"b":"Ours"}}"#).unwrap();
    let rules = Rules {
        file: StoreFile::Shared,
        namespaces: &namespaces,
        now: time(NOW),
        earlier_keys: &HashSet::new(),
        stale_before: None,
    };
    let findings = check(text.as_bytes(), &rules);
    let report: Vec<_> =
        findings.iter().map(|finding| format!("{} {}", finding.weight, finding.in_file("b.jsonl"))).collect();
    insta::assert_snapshot!(report.join("\n"), @r#"
    warning b.jsonl:1:1: byte-order-mark: the file starts with a byte order mark; save it without the byte order mark
    warning b.jsonl:1:2: not-utc: `created_at` of `b.x` is not in UTC: `2025-01-01T00:00:00+01:00`; write it in UTC, with a `Z`
    error b.jsonl:1:2: bad-time: `updated_at` of `b.x` is not a valid time: `soon`; write RFC 3339 in UTC, such as 2026-02-10T09:00:00Z
    error b.jsonl:2:1: unsorted: `auth.x` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    error b.jsonl:3:1: conflict-marker: the line is a conflict marker; `git trace breadcrumb resolve` merges both sides
    error b.jsonl:4:1: missing-time: `b.x` has no `created_at`; set it again
    error b.jsonl:4:1: duplicate-key: `b.x` is already on line 1; keep the correct line
    warning b.jsonl:5:1: key-style: key `Error.X` does not follow the naming convention; use lowercase letters and no empty segments
    warning b.jsonl:5:1: unknown-namespace: namespace `Error` is neither standard nor declared; declare it in `.synapse/config.json`: {"breadcrumb_namespaces": {"Error": "DESCRIPTION"}}
    warning b.jsonl:5:1: time-order: `Error.X` was updated before it was created; correct one of the two times
    warning b.jsonl:5:1: expired: `Error.X` expired at 2025-02-01T00:00:00Z; remove it with `breadcrumb prune`
    error b.jsonl:5:1: unsorted: `Error.X` follows a greater key; sort the lines by key; any `breadcrumb set` does that
    error b.jsonl:6:1: bad-key: invalid key `no good`: ' ' is not an ASCII letter, digit, dot, or underscore; rename it with `breadcrumb rename`
    error b.jsonl:7:1: wrong-type: `value` is not a string; correct the record or delete the line
    error b.jsonl:8:1: secret-in-shared-file: secret `secret.y` is in the file that is committed; delete the line, set it again, and replace the secret if it was pushed
    warning b.jsonl:8:102: no-final-newline: the last line has no line ending; add a line feed
    "#);
    assert!(findings.iter().all(|finding| finding.span.end <= text.len()));
}
