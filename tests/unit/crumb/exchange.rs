//! Entries received from another agent, whose sessions are not ours.

use crate::base::finding::Weight;
use crate::memory::crumb::{CrumbFile, check, receive, send};
use crate::tokens::Counter;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::unit::playground::Playground;

/// Sessions that are still to come here become the one of receiving; a tag keeps what was said.
#[test]
fn received_entries_are_valid_and_recognized_again() {
    let place = Playground::new();
    place.write("echo.crumb", "∴CRUMB2 ECHO s15\n\n§volatile\nn @15 own\n");
    let sent = "∴CRUMB2 SPARK s222\n\n§failures\n~ ts:nullcheck — 3x @121 [PREFLIGHT: auto]\n\n§volatile\n\
        n @3 began\nn  @200 twice\nn @201 twice\nc @10-130 much\n~ @8 a:b both — 2x @s99\n";
    let answer = place.trace_with(&["crumb", "receive", "echo.crumb"], sent);
    assert!(answer.contains("6 added, 0 counts raised, 0 already there"), "{answer}");
    insta::assert_snapshot!(place.read("echo.crumb"), @"
    ∴CRUMB2 ECHO s15

    §failures
    ~S ts:nullcheck — 3x @15 [PREFLIGHT: auto] [FROM: @121]

    §volatile
    n @15 own
    nS @3 began
    nS @15 twice [FROM: @200]
    nS @15 twice [FROM: @201]
    cS @15 much [FROM: @10-130]
    ~S @8 a:b both — 2x @15 [FROM: @8 @s99]
    ");
    place.ok(&["crumb", "validate", "--strict", "echo.crumb"]);
    // In a later session, when some of their entries are no longer sent, all of them are still known.
    let aged = place.read("echo.crumb").replace("s15", "s210");
    place.write("echo.crumb", aged);
    let once = place.read("echo.crumb");
    let answer = place.trace_with(&["crumb", "receive", "echo.crumb"], sent);
    assert!(answer.contains("0 added, 0 counts raised, 6 already there"), "{answer}");
    assert_eq!(place.read("echo.crumb"), once);
    insta::assert_snapshot!(place.trace_with(&["crumb", "receive", "echo.crumb"], &sent.replace("3x @121", "4x @122")), @"
    counted ~S ts:nullcheck — 4x @122 [PREFLIGHT: auto]
    --- stderr
    0 added, 1 counts raised, 5 already there
    ");
    // By way of a third agent it is the same.
    place.write("drift.crumb", "∴CRUMB2 DRIFT s5\n\n§core\n");
    place.trace_with(&["crumb", "receive", "drift.crumb"], sent);
    let passed_on = place.ok(&["crumb", "send", "echo.crumb", "--section", "volatile"]);
    let answer = place.trace_with(&["crumb", "receive", "drift.crumb"], &passed_on);
    assert!(answer.contains("1 added, 0 counts raised, 5 already there"), "{answer}");
}

#[test]
fn agents_with_the_same_letter_are_distinguished() {
    let place = Playground::new();
    place.write("spark.crumb", "∴CRUMB2 SPARK s5\n\n§core\n. own\n");
    let sent = "∴CRUMB2 SAGE s5\n\n§core\n.S theirs\n.E another's\n";
    insta::assert_snapshot!(place.trace_with(&["crumb", "receive", "spark.crumb"], sent), @"
    --- stderr
    error: cannot take in `-`: `SAGE` and `SPARK` have the same letter S
    hint: give the sender another letter with --agent
    [exit 2]
    ");
    insta::assert_snapshot!(place.trace_with(&["crumb", "receive", "spark.crumb", "--agent", "G"], sent), @"
    added .G theirs
    added .E another's
    --- stderr
    2 added, 0 counts raised, 0 already there
    ");
    insta::assert_snapshot!(place.trace_with(&["crumb", "receive", "spark.crumb"], "∴CRUMB2 ECHO s5\n§core\nn @x bad\n"), @"
    --- stderr
    error: cannot take in `-`: line 3: `@x` does not name a session
    hint: `git trace crumb validate` shows all problems
    [exit 2]
    ");
}

fn entry() -> impl Strategy<Value = String> {
    let point = || (select(vec!["", "s", "pre"]), 1..30_u64).prop_map(|(form, number)| format!("{form}{number}"));
    let tag = select(vec!["", " [T]", " [FROM: @9]", " [FROM: x]", " [FROM: @9 @8]"]);
    prop_oneof![
        (select(vec!["n", "c", "nE", "n "]), point(), select(vec!["a", "b"]), tag.clone())
            .prop_map(|(mark, point, text, tag)| format!("{mark} @{point} {text}{tag}")),
        (point(), point(), tag.clone()).prop_map(|(a, b, tag)| format!("c @{a}-{b} a{tag}")),
        (select(vec!["~", "~ @3", "~ @28"]), select(vec!["a:b", "a:c"]), 1..4_u64, point(), tag)
            .prop_map(|(mark, key, count, point, tag)| format!("{mark} {key} x — {count}x @{point}{tag}")),
        Just(". a".to_owned()),
    ]
}

proptest! {
    #[test]
    fn receiving_keeps_a_file_valid_and_is_idempotent(
        lines in vec((select(vec!["failures", "volatile"]), entry()), 0..6),
        here in 1..30_u64,
        later in 0..30_u64,
    ) {
        let mut sent = "∴CRUMB2 SPARK s30\n".to_owned();
        for (section, entry) in &lines {
            sent.extend(["§", *section, "\n", entry.as_str(), "\n"]);
        }
        let sent = CrumbFile::parse(sent.as_bytes()).unwrap();
        let sent = if lines.is_empty() { sent } else { CrumbFile::parse(send(&sent, &[], None).unwrap().leak().as_bytes()).unwrap() };
        let ours = format!("∴CRUMB2 ECHO s{here}\n§core\n");
        let mut ours = CrumbFile::parse(ours.as_bytes()).unwrap();
        receive(&mut ours, &sent, None).unwrap();
        let once = ours.print();
        for finding in check(&once, Counter::default()) {
            prop_assert_ne!(finding.weight, Weight::Error);
            prop_assert_ne!(finding.code, "future-session");
        }
        let aged = String::from_utf8(once).unwrap().replacen(&format!(" s{here}\n"), &format!(" s{}\n", here + later), 1);
        let mut again = CrumbFile::parse(aged.as_bytes()).unwrap();
        let received = receive(&mut again, &sent, None).unwrap();
        prop_assert!(received.added.is_empty() && received.counted.is_empty(), "{:?}", received);
        prop_assert_eq!(String::from_utf8(again.print()).unwrap(), aged);
    }
}
