//! What the merge makes of each case, by hand.

use crate::base::merge::{Markers, MergeInput, Style};
use crate::memory::breadcrumb::merge;

/// A line with a value and an hour.
fn line(key: &str, value: &str, hour: u8) -> String {
    format!("{{\"key\":\"{key}\",\"value\":\"{value}\",\"updated_at\":\"2025-01-01T{hour:02}:00:00Z\"}}\n")
}

/// The merged text with its notes behind it.
fn shown(base: &str, ours: &str, theirs: &str) -> String {
    let sides = MergeInput { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
    let merged = merge(sides);
    let markers = Markers { style: Style::Diff3, ..Markers::default() };
    let text = String::from_utf8_lossy(&merged.to_bytes(&markers)).into_owned();
    merged.notes.iter().fold(text, |text, note| format!("{text}note: {note}\n"))
}

#[test]
fn a_revert_with_an_older_time_is_a_change() {
    let (old, new, other) = (line("k", "old", 1), line("k", "new", 2), line("x", "1", 1));
    let untouched_clock = line("k", "by hand", 2);
    let both = |k: &str| format!("{k}{other}");
    assert_eq!(shown(&new, &old, &both(&new)), both(&old));
    assert_eq!(shown(&new, &untouched_clock, &both(&new)), both(&untouched_clock));
}

#[test]
fn the_later_instant_wins_not_the_greater_text() {
    let base = line("k", "base", 1);
    let ours = line("k", "ours", 9);
    let theirs = r#"{"key":"k","value":"theirs","updated_at":"2025-01-01T10:30:00+02:00"}"#.to_owned() + "\n";
    insta::assert_snapshot!(shown(&base, &ours, &theirs), @r#"
    {"key":"k","value":"ours","updated_at":"2025-01-01T09:00:00Z"}
    note: `k`: both sides changed it; took ours
    "#);
    let equal = r#"{"key":"k","value":"theirs","updated_at":"2025-01-01T11:00:00+02:00"}"#.to_owned() + "\n";
    assert_eq!(shown(&base, &ours, &equal).lines().next(), shown(&base, &equal, &ours).lines().next());
}

#[test]
fn a_merged_record_comes_from_one_side() {
    let base = r#"{"key":"k","value":"1","updated_at":"2025-01-01T01:00:00Z"}"#;
    let ours = r#"{"key":"k","value":"1","task_id":7,"updated_at":"2025-01-01T02:00:00Z","mine":1.50}"#;
    let theirs = r#"{"key":"k","value":"2","updated_at":"2025-01-01T03:00:00Z","theirs":1e2}"#;
    insta::assert_snapshot!(shown(base, ours, theirs), @r#"
    {"key":"k","value":"2","updated_at":"2025-01-01T03:00:00Z","theirs":1e2}
    note: `k`: both sides changed it; took theirs
    "#);
}

#[test]
fn a_deletion_loses_to_a_change() {
    let (a, b) = (line("a", "1", 1), line("b", "1", 1));
    let respelled = a.replace("\"value\":", "\"value\": ");
    assert_eq!(shown(&format!("{a}{b}"), &b, &format!("{respelled}{b}")), b);
    let changed = line("a", "2", 0);
    insta::assert_snapshot!(shown(&format!("{a}{b}"), &line("b", "3", 4), &format!("{changed}{b}")), @r#"
    {"key":"a","value":"2","updated_at":"2025-01-01T00:00:00Z"}
    {"key":"b","value":"3","updated_at":"2025-01-01T04:00:00Z"}
    note: `a`: ours deleted it, theirs changed it; kept
    "#);
}

#[test]
fn of_two_spellings_the_greater_bytes_win() {
    let base = line("k", "v", 1);
    let spaced = base.replace(":\"v\"", ": \"v\"");
    let escaped = base.replace(":\"v\"", ":\"\\u0076\"");
    let (x, y) = (line("x", "1", 1), line("y", "1", 1));
    for (ours, theirs, expected) in [
        (&spaced, &base, &spaced),
        (&base, &escaped, &escaped),
        (&spaced, &escaped, &escaped),
        (&escaped, &spaced, &escaped),
    ] {
        let result = shown(&base, &format!("{ours}{x}"), &format!("{theirs}{y}"));
        assert_eq!(result, format!("{expected}{x}{y}"));
    }
}

#[test]
fn the_later_of_two_lines_with_one_key_wins() {
    let (early, late) = (line("k", "early", 1), line("k", "late", 2));
    let (x, y) = (line("x", "1", 1), line("y", "1", 1));
    insta::assert_snapshot!(shown("", &format!("{late}{x}{early}"), &y), @r#"
    {"key":"k","value":"late","updated_at":"2025-01-01T02:00:00Z"}
    {"key":"x","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"y","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    note: `k`: ours has it more than once; line 3 is ignored
    "#);
    // The line that did not count was taken out by ours: that changes nothing, and their change is taken.
    let changed = line("k", "changed", 0);
    assert_eq!(shown(&format!("{early}{late}"), &late, &changed), changed);
}

#[test]
fn an_unreadable_line_on_both_sides_is_kept() {
    let (a, b, c) = (line("a", "1", 1), line("b", "1", 1), line("c", "1", 1));
    insta::assert_snapshot!(shown(&format!("{b}nonsense\n"), &format!("{a}{b}nonsense\n"), &format!("{b}nonsense\n{c}")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"b","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"c","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    nonsense
    note: kept invalid line 3: invalid JSON: expected ident
    "#);
}

#[test]
fn an_unreadable_line_added_by_one_side_is_a_conflict() {
    let (a, b) = (line("a", "1", 1), line("b", "1", 1));
    insta::assert_snapshot!(shown(&a, &format!("{a}{b}"), &format!("{a}[]\n")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"b","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    <<<<<<< ours
    ||||||| base
    =======
    []
    >>>>>>> theirs
    note: conflict: line 2 of theirs is invalid: the line is not a JSON object
    "#);
}

#[test]
fn a_truncated_line_conflicts_with_its_record() {
    let (a, b, c) = (line("a", "1", 1), line("b", "1", 1), line("c", "1", 1));
    let cut = &b[..20];
    insta::assert_snapshot!(shown(&format!("{a}{b}"), &format!("{a}{b}{c}"), &format!("{a}{cut}")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    <<<<<<< ours
    {"key":"b","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    ||||||| base
    {"key":"b","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    =======
    {"key":"b","value":"
    >>>>>>> theirs
    {"key":"c","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    note: conflict: line 2 of theirs is invalid: the line is truncated
    "#);
}

#[test]
fn a_repaired_line_stays_repaired() {
    let (a, b) = (line("a", "1", 1), line("b", "1", 1));
    insta::assert_snapshot!(shown("[]\n", &a, &format!("{b}[]\n")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"b","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    note: ours removed invalid line 2 of theirs
    "#);
}

#[test]
fn every_kind_of_unreadable_line_is_a_conflict_that_names_the_line() {
    let a = line("a", "1", 1);
    let deep = format!("{{\"key\":\"k\",\"value\":\"v\",\"d\":{}{}}}", "[".repeat(400), "]".repeat(400));
    let two = format!("{}{}", line("k", "1", 1).trim_end(), line("l", "1", 1).trim_end());
    let bad: [&[u8]; 9] = [
        b"{\"key\":\"k\",\"val",
        b"[1]",
        b"{\"key\":\"k\",\"value\":3}",
        b"<<<<<<< HEAD",
        b"\xff\xfe",
        b"\0\0",
        two.as_bytes(),
        deep.as_bytes(),
        b"{\"key\":\"k\",\"key\":\"l\",\"value\":\"\"}",
    ];
    for bad in bad {
        let theirs = [bad, b"\n"].concat();
        let ours = format!("{a}{}", line("z", "1", 1));
        let merged = merge(MergeInput { base: a.as_bytes(), ours: ours.as_bytes(), theirs: &theirs });
        assert_eq!(merged.conflict_count(), 1, "{}", String::from_utf8_lossy(bad));
        let notes: Vec<_> = merged.notes.iter().map(ToString::to_string).collect();
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("conflict: line 1 of theirs is invalid: "), "{}", notes[0]);
        let text = merged.to_bytes(&Markers::default());
        assert!(memchr::memmem::find(&text, bad).is_some(), "lost {}", String::from_utf8_lossy(bad));
    }
    let long = line("k", &"x".repeat(200_000), 1);
    assert_eq!(shown(&a, &format!("{a}{}", line("z", "1", 1)), &format!("{a}{long}")).lines().count(), 3);
}

#[test]
fn bom_and_line_endings_follow_the_side_that_changed_them() {
    let (a, b, c) = (line("a", "1", 1), line("b", "1", 1), line("c", "1", 1));
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let (ab, ac, abc) = (format!("{a}{b}"), format!("{a}{c}"), format!("{a}{b}{c}"));
    assert_eq!(
        shown(&a, &crlf(&ab), &ac),
        format!("{}note: changed the line endings of theirs to CRLF: 2\n", crlf(&abc))
    );
    assert_eq!(shown(&crlf(&a), &crlf(&ab), &crlf(&ac)), crlf(&abc));
    assert_eq!(shown(&crlf(&a), &ab, &crlf(&ac)), format!("{abc}note: changed the line endings of theirs to LF: 2\n"));
    // A side that mixes them has the one that most of its lines have.
    assert_eq!(
        shown(&a, &format!("{}{b}", crlf(&a)), &ac),
        format!("{abc}note: changed the line endings of ours to LF: 1\n")
    );
    assert_eq!(shown(&a, &format!("\u{feff}{a}{b}"), &format!("{a}{c}")), format!("\u{feff}{a}{b}{c}"));
    assert_eq!(shown(&format!("\u{feff}{a}"), &format!("\u{feff}{a}{b}"), &format!("{a}{c}")), format!("{a}{b}{c}"));
}

#[test]
fn a_base_with_conflict_markers_is_not_trusted() {
    // Two bases were merged first, each with its own unreadable line. The text between the markers was in neither.
    let a = line("a", "1", 1);
    let (x, y) = (line("x", "1", 1), line("y", "1", 1));
    let base = format!("{a}<<<<<<<<< one\n[1]\n=========\n[2]\n>>>>>>>>> two\n");
    insta::assert_snapshot!(shown(&base, &format!("{a}{x}[1]\n"), &format!("{a}{y}[2]\n")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"x","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"y","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    <<<<<<< ours
    [1]
    ||||||| base
    =======
    [2]
    >>>>>>> theirs
    note: conflict: line 3 of ours is invalid: the line is not a JSON object
    note: conflict: line 3 of theirs is invalid: the line is not a JSON object
    "#);
}

#[test]
fn lines_before_a_conflict_have_one_order() {
    let one_way = shown("", "[1]\n[2]\n[3]\n", "[2]\n[1]\n[4]\n");
    let other_way = shown("", "[2]\n[1]\n[4]\n", "[1]\n[2]\n[3]\n");
    insta::assert_snapshot!(one_way, @r#"
    [1]
    [2]
    <<<<<<< ours
    [3]
    ||||||| base
    =======
    [4]
    >>>>>>> theirs
    note: conflict: line 3 of ours is invalid: the line is not a JSON object
    note: conflict: line 3 of theirs is invalid: the line is not a JSON object
    "#);
    assert_eq!(one_way, other_way.replace("[3]", "[5]").replace("[4]", "[3]").replace("[5]", "[4]"));
}

#[test]
fn reordered_unreadable_lines_are_not_a_conflict() {
    let (a, b) = (line("a", "1", 1), line("b", "1", 1));
    let result = shown("[1]\n[2]\n", &format!("[2]\n[1]\n{a}"), &format!("[1]\n[2]\n{b}"));
    assert!(result.starts_with(&format!("{a}{b}[1]\n[2]\nnote: kept invalid line 2")), "{result}");
}

#[test]
fn committed_conflict_markers_are_one_unit() {
    let (a, b, x) = (line("a", "1", 1), line("b", "1", 1), line("x", "1", 1));
    let (b2, b3) = (line("b", "2", 2), line("b", "3", 3));
    let block = format!("{a}<<<<<<< HEAD\n{b2}||||||| 1a2b3c\n{b}=======\n{b3}>>>>>>> topic\n");
    insta::assert_snapshot!(shown(&format!("{a}{b}"), &block, &format!("{a}{b}{x}")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"b","value":"3","updated_at":"2025-01-01T03:00:00Z"}
    {"key":"x","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    note: ours contains committed conflict markers; merged the lines of both halves
    note: `b`: ours has it more than once; line 3 is ignored
    "#);
    // Who took the markers out has decided, also against the later record.
    insta::assert_snapshot!(shown(&block, &format!("{a}{b2}"), &format!("{block}{x}")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"b","value":"2","updated_at":"2025-01-01T02:00:00Z"}
    {"key":"x","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    note: theirs contains committed conflict markers; merged the lines of both halves
    note: `b`: theirs has it more than once; line 3 is ignored
    "#);
    // An unreadable line in a half is a conflict, as everywhere.
    let broken = format!("{a}<<<<<<< HEAD\n[1]\n=======\n{b3}>>>>>>> topic\n");
    insta::assert_snapshot!(shown(&format!("{a}{b}"), &broken, &format!("{a}{b}{x}")), @r#"
    {"key":"a","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    {"key":"b","value":"3","updated_at":"2025-01-01T03:00:00Z"}
    {"key":"x","value":"1","updated_at":"2025-01-01T01:00:00Z"}
    <<<<<<< ours
    [1]
    ||||||| base
    =======
    >>>>>>> theirs
    note: ours contains committed conflict markers; merged the lines of both halves
    note: conflict: line 3 of ours is invalid: the line is not a JSON object
    "#);
}
