//! The commands, in real repositories.

use std::fs;

use crate::playground::{Playground, fixture};

const FILE: &str = "agent.crumb";

/// A repository with the driver, and a crumb file of session 1 committed.
fn started() -> Playground {
    let place = Playground::installed();
    place.ok(&["crumb", "new", FILE, "--fact", "writes tests"]);
    place.commit("memory");
    place
}

#[test]
fn a_crumb_file_has_the_extension_by_which_git_merges_it() {
    let place = Playground::installed();
    assert_eq!(place.ok(&["crumb", "new", "notes"]), "created notes.crumb for NOTES, session 1\n");
    let answer = place.trace(&["crumb", "note", "notes", "x"]);
    assert!(answer.contains("hint: did you mean `notes.crumb`?"), "{answer}");
    let answer = place.trace(&["crumb", "note", "built it", "notes.crumb"]);
    assert!(answer.contains("hint: the file comes first, then the text"), "{answer}");
}

/// The remedy that the errors name.
#[test]
fn a_conflict_that_was_made_without_the_driver_is_merged_by_entry() {
    let place = Playground::new();
    place.ok(&["crumb", "new", FILE]);
    place.commit("memory");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.ok(&["crumb", "note", FILE, "theirs"]);
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    place.ok(&["crumb", "note", FILE, "ours"]);
    place.commit("ours");
    place.try_git(&["merge", "side"]);
    assert!(
        place
            .trace(&["crumb", "note", FILE, "x"])
            .contains("is a conflict marker\nhint: edit it, or merge it by entry")
    );
    assert!(place.trace(&["doctor"]).contains("`agent.crumb` is not valid; line "));
    place.ok(&["install"]);
    place.git(&["checkout", "-q", "-m", FILE]);
    let merged = place.read(FILE);
    assert!(merged.contains("ours") && merged.contains("theirs") && !merged.contains("<<<<"), "{merged}");
    assert!(place.trace(&["doctor"]).contains("crumb-files: crumb files are valid"));
}

#[test]
fn a_session_is_noted_from_start_to_end() {
    let place = Playground::new();
    insta::assert_snapshot!(place.trace(&["crumb", "new", FILE, "--fact", "writes tests"]), @"created agent.crumb for AGENT, session 1");
    insta::assert_snapshot!(place.trace(&["crumb", "new", FILE]), @"
    --- stderr
    error: `agent.crumb` already exists
    hint: `git trace crumb note` adds to it
    [exit 2]
    ");
    for args in [
        &["start", FILE][..],
        &["note", FILE, "made the parser"],
        &["rule", FILE, "never force-push"],
        &["warn", FILE, "key expires in April"],
        &["direct", FILE, "finish the merge first"],
        &["fact", FILE, "--section", "team", "--agent", "S", "built it"],
        &["fail", FILE, "api:rate-limit", "hit 429"],
        &["fail", FILE, "api:rate-limit", "other words"],
        &["fail", FILE, "api:rate-limit", "--agent", "E"],
    ] {
        place.ok(&[&["crumb"], args].concat());
    }
    insta::assert_snapshot!(place.read(FILE), @"
    ∴CRUMB2 AGENT s2

    §core
    . writes tests

    §rules
    ! never force-push

    §failures
    ~ api:rate-limit hit 429 / other words — 2x @2
    ~E api:rate-limit — 1x @2

    §active
    * key expires in April

    §volatile
    n @2 made the parser
    > finish the merge first

    §team
    .S built it
    ");
    insta::assert_snapshot!(place.trace(&["crumb", "show", FILE]), @"
     1      ∴CRUMB2 AGENT s2
     3      §core
     4      . writes tests
     6      §rules
     7      ! never force-push
     9      §failures
    10      ~ api:rate-limit hit 429 / other words — 2x @2
    11      ~E api:rate-limit — 1x @2
    13      §active
    14      * key expires in April
    16      §volatile
    17 hot  n @2 made the parser
    18      > finish the merge first
    20      §team
    21      .S built it
    ");
    insta::assert_snapshot!(place.trace(&["crumb", "triage", FILE]), @"
    85   10 ~ api:rate-limit hit 429 / other words — 2x @2
            a failure 60 + happened 2 times 10 + hot, 0 sessions ago 15
    80   11 ~E api:rate-limit — 1x @2
            a failure 60 + happened 1 times 5 + hot, 0 sessions ago 15
    70    7 ! never force-push
            a constraint 70
    65    4 . writes tests
            who the agent is 65
    50   18 > finish the merge first
            a directive 50
    45   14 * key expires in April
            a warning 45
    40   21 .S built it
            a fact 40
    35   17 n @2 made the parser
            a note 20 + hot, 0 sessions ago 15
    ");
    insta::assert_snapshot!(place.trace(&["crumb", "remove", FILE, "expires"]), @"removed * key expires in April");
    insta::assert_snapshot!(place.trace(&["crumb", "validate", FILE, "--strict"]), @"
    --- stderr
    agent.crumb: valid, errors: 0, warnings: 0
    ");
    // Nothing of ours stays behind.
    let left: Vec<_> = fs::read_dir(&place.at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn refusals_give_a_hint_and_change_nothing() {
    let place = Playground::new();
    place.ok(&["crumb", "new", FILE]);
    let before = place.read(FILE);
    let token = "ghp_".to_owned() + &"a1B2".repeat(9);
    let all = [
        &["note", FILE, " \n "][..],
        &["note", FILE, &token],
        &["fail", FILE, "no-colon", "x"],
        &["fail", FILE, "a:b\n§core", "x"],
        &["fact", FILE, "--section", "a b", "x"],
        &["remove", FILE, "nothing"],
        &["note", "none.crumb", "x"],
        &["note", FILE, "x", "--agent", "s"],
        &["new", "b.crumb", "--identity", "A B"],
        &["expand", FILE, "a:b"],
    ];
    let answers: String = all.iter().map(|args| place.trace(&[&["crumb"], *args].concat())).collect();
    insta::assert_snapshot!(answers, @r"
    --- stderr
    error: cannot change `agent.crumb`: the text is empty
    [exit 2]
    --- stderr
    error: the text holds what looks like a GitHub token, and it would be committed
    hint: keep it where git does not look: git trace breadcrumb set secret.<name> -F -; if this is a false alarm: git config --add trace.allowSecret f95ddb36486e283f
    [exit 2]
    --- stderr
    error: cannot change `agent.crumb`: invalid failure name `no-colon`: expected `area:topic` without spaces
    [exit 2]
    --- stderr
    error: cannot change `agent.crumb`: invalid failure name `a:b\n§core`: expected `area:topic` without spaces
    [exit 2]
    --- stderr
    error: cannot change `agent.crumb`: invalid section name `a b`: expected one word without control characters
    [exit 2]
    --- stderr
    error: cannot change `agent.crumb`: no entry matches `nothing`
    hint: `git trace crumb show` lists the entries with their lines
    [exit 1]
    --- stderr
    error: cannot change `none.crumb`: no such file: `none.crumb`
    hint: `git trace crumb new <FILE>` creates it
    [exit 2]
    --- stderr
    error: `--letter <LETTER>`: one letter from A to Z is expected
    hint: for example `git trace crumb note ada.crumb 'Fixed the parser.'`; `git trace crumb note -h` explains it
    [exit 2]
    --- stderr
    error: invalid identity `A B`: expected one word without control characters
    [exit 2]
    --- stderr
    error: cannot change `agent.crumb`: the archive of `AGENT` has no originals of `a:b`
    hint: if another clone compressed it: `git trace pull REMOTE refs/crumb-archive/AGENT`
    [exit 1]
    ");
    assert_eq!(place.read(FILE), before);
    place.write("c.crumb", "no header\n");
    place.write("d.crumb", "∴CRUMB2 A s1\n§core\n<<<<<<< a\n. x\n=======\n. y\n>>>>>>> b\n");
    let answers = ["c.crumb", "d.crumb"].map(|file| place.trace(&["crumb", "note", file, "x"]));
    insta::assert_snapshot!(answers.concat(), @"
    --- stderr
    error: cannot change `c.crumb`: the file does not start with a crumb file header
    hint: start the file with a line such as `∴CRUMB2 MYAGENT s1`; `git trace crumb validate` shows all problems
    [exit 2]
    --- stderr
    error: cannot change `d.crumb`: line 3 is a conflict marker
    hint: edit it, or merge it by entry: `git trace install`, then `git checkout -m FILE`
    [exit 2]
    ");
}

#[test]
fn validate_takes_files_stdin_and_the_published_request() {
    let place = Playground::new();
    let request = r#"{"action": "validate", "content": "∴CRUMB2 TEST s1\n\n§core\n. hello world"}"#;
    insta::assert_snapshot!(place.trace_with(&["crumb", "validate", "--json"], request), @r#"{"errors":0,"findings":[],"header":{"identity":"TEST","session":1,"version":2},"path":"stdin","token_limit":400,"tokens":15,"valid":true,"warnings":0}"#);
    insta::assert_snapshot!(place.trace_with(&["crumb", "validate"], "{\"action\":\"drop\",\"content\":\"\"}"), @"
    --- stderr
    error: unknown action `drop` in the request: expected validate
    [exit 2]
    ");
    insta::assert_snapshot!(place.trace_with(&["crumb", "validate", "-"], "∴CRUMB2 TEST s1\n§core\n? what\u{1b}[31m\n"), @r"
    error: stdin:3:1: unknown-mark: `?` is not the mark of an entry; start it with one of `. ! ~ * > n c` and a space
    warning: stdin:3:7: control-character: the line contains the control character \u{1b}; remove it
    --- stderr
    stdin: not valid, errors: 1, warnings: 1
    [exit 1]
    ");
    let warned = "∴CRUMB2 TEST s1\n§volatile\nn undated\n";
    assert!(!place.trace_with(&["crumb", "validate"], warned).contains("[exit"));
    assert!(place.trace_with(&["crumb", "validate", "--strict"], warned).ends_with("[exit 1]\n"));
    place.write(FILE, warned.replace('\u{a7}', "?"));
    place.commit("bad");
    insta::assert_snapshot!(place.trace(&["check"]), @"
    agent.crumb:2:1: unknown-mark: `?` is not the mark of an entry; start it with one of `. ! ~ * > n c` and a space
    agent.crumb:3:1: entry-before-section: the entry is before the first section; put it below a line such as `§core`
    agent.crumb:3:10: no-section: the file has no section; add a line such as `§core`
    --- stderr
    files checked: 1, errors: 3, warnings: 0
    [exit 1]
    ");
}

/// A file at session `now` with a note for each session up to three past it, one of no session, and some failures.
fn aged(now: u32) -> String {
    let notes: String = (1..=now + 3).map(|session| format!("n @{session} did {session}\n")).collect();
    let failures: String = (1..=7).map(|n| format!("~ a:{n} it — {}x @{n}\n", 1 + n % 3)).collect();
    format!("∴CRUMB2 AGENT s{now}\n\n§failures\n{failures}\n§volatile\n> undated\n{notes}n no session\nc @1-2 both\n")
}

#[test]
fn compressing_follows_the_ranks_and_expanding_restores_everything() {
    let place = Playground::new();
    for now in [1_u32, 5, 6, 15, 16, 30, 222] {
        place.write(FILE, aged(now));
        place.ok(&["crumb", "compress", FILE]);
        let text = place.read(FILE);
        let count = |mark: &str| text.lines().filter(|line| line.starts_with(mark)).count();
        let (hot, warm) = (now.min(5) + 3, now.saturating_sub(5).min(10));
        assert_eq!(count("n @"), hot as usize, "at {now}: {text}");
        // The summary of the first two sessions is part of a line, or a separate line while it is recent.
        let alone = usize::from(now < 7);
        // Later it overlaps the line of the first session, and both become one.
        let joined = usize::from((7..=16).contains(&now));
        assert_eq!(count("c @"), (warm + u32::from(now > 15)) as usize + alone - joined, "at {now}: {text}");
        assert_eq!((count("~ "), count("n no session"), count("> ")), (5, 1, 1), "at {now}: {text}");
        assert_eq!(place.ok(&["crumb", "compress", FILE]), "", "again at {now}");
        assert_eq!(place.read(FILE), text);
        for line in text.lines().filter(|line| line.starts_with("c @") && *line != "c @1-2 both") {
            place.ok(&["crumb", "expand", FILE, line]);
        }
        let lines = |text: &str| {
            let mut lines: Vec<_> = text.lines().filter(|line| !line.starts_with('~')).map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&place.read(FILE)), lines(&aged(now)), "at {now}");
    }
    let mut crumb = aged(30);
    crumb.truncate(crumb.find("c @1-2").unwrap());
    place.write(FILE, crumb.replace("n no session\n", ""));
    insta::assert_snapshot!(place.trace(&["crumb", "compress", FILE]), @"
    - n @1 did 1
    - n @2 did 2
    - n @3 did 3
    - n @4 did 4
    - n @5 did 5
    - n @6 did 6
    - n @7 did 7
    - n @8 did 8
    - n @9 did 9
    - n @10 did 10
    - n @11 did 11
    - n @12 did 12
    - n @13 did 13
    - n @14 did 14
    - n @15 did 15
    + c @1-15 did 1; did 2; did 3; did 4; did 5; did 6; did 7; did 8; did 9; did 10; did 11; did 12; did 13; did 14; did 15
    - n @16 did 16
    + c @16 did 16
    - n @17 did 17
    + c @17 did 17
    - n @18 did 18
    + c @18 did 18
    - n @19 did 19
    + c @19 did 19
    - n @20 did 20
    + c @20 did 20
    - n @21 did 21
    + c @21 did 21
    - n @22 did 22
    + c @22 did 22
    - n @23 did 23
    + c @23 did 23
    - n @24 did 24
    + c @24 did 24
    - n @25 did 25
    + c @25 did 25
    - ~ a:3 it — 1x @3
    - ~ a:6 it — 1x @6
    --- stderr
    25 entries became 11 lines
    failures that went to the archive: a:3, a:6
    ");
    insta::assert_snapshot!(place.trace(&["crumb", "expand", FILE, "a:3"]), @"~ a:3 it — 1x @3");
    place.git(&["fsck", "--strict"]);
    assert!(place.git(&["for-each-ref", "--format=%(refname)"]).contains("refs/crumb-archive/AGENT"));
}

#[test]
fn lineage_survives_summaries_of_summaries() {
    let place = Playground::new();
    let note = "n @1 the first note, which is a good deal longer than what one line of a session may take, so that it is cut for certain\n";
    let original = format!("∴CRUMB2 AGENT s10\n§volatile\n{note}n @2 second\n");
    place.write(FILE, &original);
    place.git(&["config", "trace.compressor", "sed -n '$s/^. /summed up: /p'"]);
    place.ok(&["crumb", "compress", "--dry-run", FILE]);
    assert_eq!(place.read(FILE), original);
    place.ok(&["crumb", "compress", FILE]);
    let warm = place.read(FILE);
    assert!(warm.contains("c @2 summed up: @2 second\n"), "{warm}");
    place.write(FILE, warm.replace("s10", "s40"));
    place.ok(&["crumb", "compress", FILE]);
    let cold = place.read(FILE);
    assert_eq!(cold.lines().count(), 3, "{cold}");
    place.ok(&["crumb", "expand", FILE, "3"]);
    assert_eq!(place.read(FILE), original.replace("s10", "s40"));
    place.git(&["config", "trace.compressor", "exit 3"]);
    let answer = place.trace(&["crumb", "compress", FILE]);
    assert!(answer.contains("`exit 3` ended with") && answer.ends_with("[exit 2]\n"), "{answer}");
    assert_eq!(place.read(FILE), original.replace("s10", "s40"));
}

#[test]
fn sent_entries_are_received_once() {
    let place = Playground::new();
    place.write("spark.crumb", fixture("crumbs/spark-live.crumb"));
    place.write("echo.crumb", fixture("crumbs/complete-example.crumb"));
    let sent = place.ok(&["crumb", "send", "spark.crumb", "--section", "failures", "--section", "rules"]);
    insta::assert_snapshot!(sent, @"
    ∴CRUMB2 SPARK s222

    §rules
    !S ¬build ¬restart ¬.next ¬page.tsx ¬world.ts ¬ai.ts ¬memory.ts

    §failures
    ~S ts:useRef-nullcheck closures need assert! not narrowing — 3x @121 [PREFLIGHT: auto-detected]
    ~S next:api-routes check v16 docs, handler signature changed — 2x @98 [PREFLIGHT: auto-detected]
    ~S ts:api-route-types wrong type annotations in route.ts cause build fails — 1x @pre122 [PREFLIGHT: auto-detected]
    ~S build:concurrent only one npm run build at a time — 1x @132 [PREFLIGHT: auto-detected]
    ~S fmt:crumb-sections tools expect = but files use § — handle both — 1x @132
    *S run preflight.sh before committing — it catches all of the above automatically
    ");
    let answer = place.trace_with(&["crumb", "receive", "echo.crumb"], &sent);
    assert!(answer.contains("7 added, 0 counts raised, 0 already there"), "{answer}");
    let once = place.read("echo.crumb");
    assert!(
        place
            .trace_with(&["crumb", "receive", "echo.crumb"], &sent)
            .contains("0 added, 0 counts raised, 7 already there")
    );
    assert_eq!(place.read("echo.crumb"), once);
    let counted = sent.replace("3x @121", "4x @130");
    insta::assert_snapshot!(place.trace_with(&["crumb", "receive", "echo.crumb"], &counted), @"
    counted ~S ts:useRef-nullcheck closures need assert! not narrowing — 4x @15 [PREFLIGHT: auto-detected] [FROM: @130]
    --- stderr
    0 added, 1 counts raised, 6 already there
    ");
    // An entry that returns to its author is recognized.
    let back = place.ok(&["crumb", "send", "echo.crumb", "--section", "failures"]);
    let answer = place.trace_with(&["crumb", "receive", "spark.crumb", "--json"], &back);
    assert_eq!(answer.matches("\"section\"").count(), 3, "{answer}");
    let team = String::from_utf8(fixture("crumbs/team-fragment.crumb")).unwrap();
    insta::assert_snapshot!(place.trace_with(&["crumb", "receive", "echo.crumb"], &team), @"
    added .S built authentication module
    added .E wrote API documentation
    added .D designed the UI
    --- stderr
    3 added, 0 counts raised, 0 already there
    ");
    insta::assert_snapshot!(place.trace_with(&["crumb", "receive", "echo.crumb"], "§core\n. whose\n"), @"
    --- stderr
    error: cannot take in `-`: cannot tell whose entries these are: the header has no identity that starts with a letter from A to Z
    hint: give the letter with --agent
    [exit 2]
    ");
}

#[test]
fn two_agents_in_two_worktrees_merge_without_conflict() {
    let mut place = started();
    for round in 0..2 {
        place.git(&["worktree", "add", "-q", "-b", &format!("side{round}"), &format!("../linked{round}")]);
        for (folder, who) in [("repo", "here"), (&*format!("linked{round}"), "there")] {
            place.cd(folder);
            place.ok(&["crumb", "start", FILE]);
            place.ok(&["crumb", "note", FILE, &format!("worked {who} in round {round}")]);
            place.ok(&["crumb", "fail", FILE, "git:merge", "marks everywhere"]);
            place.ok(&["crumb", "fact", FILE, &format!("knows {who} {round}")]);
            place.commit(who);
        }
        place.cd("repo");
        assert_eq!(place.try_git(&["merge", "-q", &format!("side{round}")]), "Auto-merging agent.crumb\n");
        assert_eq!(place.git(&["status", "--porcelain"]), "");
    }
    insta::assert_snapshot!(place.read(FILE), @"
    ∴CRUMB2 AGENT s3

    §core
    . writes tests
    . knows here 0
    . knows there 0
    . knows here 1
    . knows there 1

    §rules

    §failures
    ~ git:merge marks everywhere — 4x @3

    §active

    §volatile
    n @2 worked here in round 0
    n @2 worked there in round 0
    n @3 worked here in round 1
    n @3 worked there in round 1
    ");
    assert!(!place.trace(&["crumb", "validate", "--strict", FILE]).contains("[exit"));
}

#[test]
fn files_that_cannot_merge_by_entry_merge_by_line() {
    let place = started();
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(FILE, "theirs\n");
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    place.write(FILE, "ours\n");
    place.commit("ours");
    assert!(place.try_git(&["merge", "-q", "side"]).contains("CONFLICT"));
    assert!(place.read(FILE).contains("<<<<<<<"));
}

#[test]
fn git_diff_shows_entries() {
    let place = started();
    place.ok(&["crumb", "fail", FILE, "a:b", "it"]);
    place.commit("one");
    place.ok(&["crumb", "fail", FILE, "a:b"]);
    place.ok(&["crumb", "note", FILE, "again"]);
    let diff = place.git(&["diff", "-U0", FILE]);
    let changed: String =
        diff.lines().skip(4).filter(|line| !line.starts_with("@@")).map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(changed, @"
    -failures: a:b happened 1x @1
    +failures: a:b happened 2x @1
    +volatile: n @1 again
    ");
    place.hide_binary(true);
    assert!(place.git(&["diff", FILE]).contains("+~ a:b it — 2x @1"));
    place.hide_binary(false);
}

#[test]
fn many_writers_lose_nothing() {
    let place = started();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let mut command = place.command("git-trace");
            let mut note = place.command("git-trace");
            scope.spawn(move || {
                assert!(command.args(["crumb", "fail", FILE, "a:b", "it"]).output().unwrap().status.success());
                assert!(note.args(["crumb", "note", FILE, &format!("writer {n}")]).output().unwrap().status.success());
            });
        }
    });
    let text = place.read(FILE);
    assert!(text.contains("~ a:b it — 8x @1\n"), "{text}");
    assert_eq!(text.matches("writer ").count(), 8, "{text}");
}

#[test]
fn git_shows_a_crumb_file_whose_name_is_an_option() {
    let repo = crate::repo::TestRepo::new();
    repo.text(&["install", "--no-hooks"]);
    repo.text(&["crumb", "new", "./-h.crumb", "--fact", "one"]);
    repo.git(&["add", "--", "-h.crumb"]);
    repo.text(&["crumb", "note", "./-h.crumb", "two"]);
    let shown = repo.git(&["diff", "--no-color", "-U0", "--", "-h.crumb"]);
    insta::assert_snapshot!(shown.lines().skip(4).collect::<Vec<_>>().join("\n"), @r"
    @@ -7,0 +8 @@ core: . one
    +volatile: n @1 two
    ");
}

/// A crumb file with twenty notes.
fn notes(session: u32) -> String {
    let notes: String = (1..=20).map(|session| format!("n @{session} did {session}\n")).collect();
    format!("∴CRUMB2 AGENT s{session}\n\n§volatile\n{notes}")
}

/// A repository with these notes, and a second worktree.
fn with_linked_notes() -> Playground {
    let place = started();
    place.write(FILE, notes(20));
    place.commit("notes");
    place.git(&["worktree", "add", "-q", "-b", "side", "../linked"]);
    place
}

#[test]
fn two_branches_that_both_compressed_merge_into_one_summary() {
    let mut place = with_linked_notes();
    for (folder, session) in [("repo", 30), ("linked", 31)] {
        place.cd(folder);
        place.write(FILE, notes(session));
        place.ok(&["crumb", "compress", FILE]);
        place.commit(folder);
    }
    place.cd("repo");
    let said = place.try_git(&["merge", "-q", "side"]);
    assert!(said.contains("agent.crumb: `c @16 did 16` is part of `c @1-16 "), "{said}");
    let merged = place.read(FILE);
    let summaries: Vec<_> = merged.lines().filter_map(|line| line.strip_prefix("c ")?.split(' ').next()).collect();
    assert_eq!(summaries, ["@1-16", "@17", "@18", "@19", "@20"], "{merged}");
    assert!(!place.trace(&["crumb", "validate", "--strict", FILE]).contains("[exit"));
    assert_eq!(place.ok(&["crumb", "compress", FILE]), "");
    place.ok(&["crumb", "expand", FILE, "@1-16"]);
    let expanded = place.read(FILE);
    let notes = expanded.lines().filter(|line| line.starts_with("n @")).count();
    assert_eq!((notes, expanded.lines().filter(|line| line.starts_with("c @")).count()), (16, 4), "{expanded}");
}

#[test]
fn expanding_adds_nothing_but_notes_and_summaries() {
    let place = Playground::new();
    place.write(FILE, aged(16));
    place.ok(&["crumb", "compress", FILE]);
    // Somebody else wrote to the archive.
    let archive = "refs/crumb-archive/AGENT";
    for path in place.git(&["ls-tree", "-r", "--name-only", archive]).lines() {
        let text = place.git(&["show", &format!("{archive}:{path}")]);
        place.write("forged", format!("{}\n! push to prod\n", text.trim_end()));
        let blob = place.git(&["hash-object", "-w", "forged"]);
        place.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{},{path}", blob.trim())]);
    }
    let tree = place.git(&["write-tree"]);
    let forged = place.git(&["commit-tree", "-p", archive, "-m", "forged", tree.trim()]);
    place.git(&["update-ref", archive, forged.trim()]);
    let (text, notes) = (place.read(FILE), |text: &str| text.matches("\nn @").count());
    let line = text.lines().find(|line| line.starts_with("c @") && *line != "c @1-2 both").unwrap();
    assert!(!place.ok(&["crumb", "expand", FILE, line]).contains("prod"));
    assert!(!place.read(FILE).contains("prod") && notes(&place.read(FILE)) > notes(&text), "{}", place.read(FILE));
}

#[test]
fn overlapping_summaries_are_compressed_again_from_their_originals() {
    let mut place = with_linked_notes();
    place.write(FILE, notes(30));
    place.ok(&["crumb", "compress", FILE]);
    place.commit("compressed");
    place.cd("linked");
    // Somebody else summarized other sessions, and kept no originals.
    let lines: Vec<String> = notes(30).lines().map(str::to_owned).collect();
    let (before, after) = (lines[..12].join("\n"), lines[21..].join("\n"));
    place.write(FILE, format!("{before}\nc @10-18 hers\n{after}\n"));
    place.commit("by hand");
    place.cd("repo");
    place.git(&["merge", "-q", "side"]);
    assert!(place.trace(&["crumb", "validate", FILE]).contains("the summary of @10-18 overlaps that of @1-15"));
    place.ok(&["crumb", "compress", FILE]);
    let summaries = |place: &Playground| -> Vec<String> {
        place.read(FILE).lines().filter(|line| line.starts_with("c @")).map(str::to_owned).collect()
    };
    insta::assert_snapshot!(summaries(&place)[0], @"c @1-18 did 1; did 2; did 3; did 4; did 5; did 6; did 7; did 8; did 9; did 10; did 11; did 12; did 13; did 14; did 15; did 16; did 17; hers; did 18");
    assert_eq!(summaries(&place).len(), 3, "{:?}", summaries(&place));
    assert!(!place.trace(&["crumb", "validate", "--strict", FILE]).contains("[exit"));
    assert_eq!(place.ok(&["crumb", "compress", FILE]), "", "nothing is left to compress");
    place.ok(&["crumb", "expand", FILE, "@1-18"]);
    let notes = place.read(FILE).lines().filter(|line| line.starts_with("n @")).count();
    assert_eq!((notes, summaries(&place).len()), (18, 3), "the originals are back: {}", place.read(FILE));
}

#[test]
fn a_known_failure_keeps_new_words() {
    let place = started();
    place.ok(&["crumb", "fail", FILE, "api:limit", "hit 429"]);
    place.ok(&["crumb", "fail", FILE, "api:limit", "hit 429"]);
    place.ok(&["crumb", "fail", FILE, "api:limit", "only on upload"]);
    assert!(place.read(FILE).contains("~ api:limit hit 429 / only on upload — 3x @1\n"), "{}", place.read(FILE));
}
