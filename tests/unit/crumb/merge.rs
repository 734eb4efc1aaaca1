//! The result of a merge, line by line.

use crate::base::merge::{Markers, MergeInput, Style};
use crate::memory::crumb::merge;

/// Sections with their entries as one text, the header first.
fn file(session: u32, body: &str) -> String {
    format!("∴CRUMB2 A s{session}\n\n{body}")
}

fn merged(base: &str, ours: &str, theirs: &str) -> String {
    let sides = MergeInput { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
    let Some(merged) = merge(sides) else { return "by lines".to_owned() };
    let markers = Markers { style: Style::Diff3, ..Markers::default() };
    let notes: String = merged.notes.iter().map(|note| format!("{note}\n")).collect();
    notes + &String::from_utf8(merged.to_bytes(&markers)).unwrap()
}

#[test]
fn two_sessions_merge() {
    let base = file(7, "§core\n. a\n\n§failures\n~ a:b it — 2x @3 [T]\n~ a:c it\n\n§volatile\nn @7 old\n");
    let ours = file(
        8,
        "§core\n. a\n. ours\n\n§failures\n~ a:b it — 3x @8 [T]\n~ a:c it\n~ a:d new — 1x @8\n\n§volatile\nn @7 old\nn @8 ours\n",
    );
    let theirs = file(
        9,
        "§core\n. theirs\n\n§failures\n~ a:b it — 5x @s9 [T]\n~ a:d new — 2x @9\n\n§active\n* w\n\n§volatile\nn @7 old\nn @9 theirs\n",
    );
    insta::assert_snapshot!(merged(&base, &ours, &theirs), @"
    ∴CRUMB2 A s9

    §core
    . ours
    . theirs

    §failures
    ~ a:b it — 6x @s9 [T]
    ~ a:d new — 3x @9

    §active
    * w

    §volatile
    n @7 old
    n @8 ours
    n @9 theirs
    ");
}

#[test]
fn a_failure_removed_by_one_side_stays_if_the_other_changed_it() {
    let base = file(7, "§failures\n~ a:b it — 2x @3\n~ a:c it — 2x @3\n\n§core\n. a\n");
    let ours = file(8, "§failures\n~ a:b it — 3x @8\n~ a:c it — 2x @3\n\n§core\n. b\n");
    let theirs = file(8, "§core\n. a\n");
    insta::assert_snapshot!(merged(&base, &ours, &theirs), @"
    `a:b`: theirs deleted it, ours changed it; kept
    ∴CRUMB2 A s8

    §failures
    ~ a:b it — 3x @8

    §core
    . b
    ");
}

#[test]
fn only_the_identity_can_conflict() {
    let base = file(1, "§core\n. a\n");
    let ours = base.replace(" A ", " B ");
    let theirs = base.replace(" A ", " C ") + ". b\n";
    insta::assert_snapshot!(merged(&base, &ours, &theirs), @"
    conflict: both sides changed the identity
    <<<<<<< ours
    ∴CRUMB2 B s1
    ||||||| base
    ∴CRUMB2 A s1
    =======
    ∴CRUMB2 C s1
    >>>>>>> theirs

    §core
    . a
    . b
    ");
    insta::assert_snapshot!(merged(&base, &ours, &(file(2, "=core\n. a\n. b") + "\n=team\nfS x\n")), @"
    ∴CRUMB2 B s2

    =core
    . a
    . b

    =team
    fS x
    ");
    assert_eq!(merged(&base, "<<<<<<< a\n", "x\n"), "by lines");
    assert_eq!(merged(&base, &ours, "no header\n"), "by lines");
}

/// What ends a file does not depend on which of two new sections comes last.
#[test]
fn new_sections_end_in_the_same_order() {
    let base = file(7, "§core\n. x\n");
    let own_last = file(7, "§core\n. x\n\n§team\n. x\n\n§own\n. x\n");
    let team = file(7, "§core\n. x\n\n§team\n. x\n");
    let own = file(7, "§core\n. x\n\n§own\n. x\n");
    let both = merged(&base, &own, &team);
    assert_eq!(both, file(7, "§core\n. x\n\n§own\n. x\n\n§team\n. x\n"));
    assert_eq!(merged(&base, &both, &own_last), both);
    assert_eq!(merged(&base, &merged(&base, &own_last, &team), &own), both);
}

#[test]
fn a_wider_summary_takes_the_place_of_narrower_ones() {
    let base = file(20, "§volatile\nn @15 a\nn @16 b\n");
    let ours = file(30, "§volatile\nc @1-15 a\nc @16 b\ncS @16 theirs\n");
    let theirs = file(31, "§volatile\nc @1-16 a; b\nc @14-17 other\n");
    insta::assert_snapshot!(merged(&base, &ours, &theirs), @"
    `c @1-15 a` is part of `c @1-16 a; b`
    `c @16 b` is part of `c @1-16 a; b`
    ∴CRUMB2 A s31

    §volatile
    c @1-16 a; b
    cS @16 theirs
    c @14-17 other
    ");
}

#[test]
fn words_and_tags_of_a_failure_are_kept_from_both_sides() {
    let base = file(7, "§failures\n~ a:b hit 429 — 2x @3 [T: u]\n");
    let ours = file(8, "§failures\n~ a:b hit 429 when batched — 3x @8 [T: u] [FIX: retry]\n");
    let theirs = file(9, "§failures\n~ a:b hit 429 / on upload — 3x @9 [T: u] [OWNER: S]\n");
    insta::assert_snapshot!(merged(&base, &ours, &theirs), @"
    ∴CRUMB2 A s9

    §failures
    ~ a:b hit 429 when batched / on upload — 4x @9 [T: u] [FIX: retry] [OWNER: S]
    ");
}

#[test]
fn words_that_are_part_of_longer_ones_are_kept() {
    let base = file(7, "§failures\n~ db:x — 1x @3\n");
    let ours = file(8, "§failures\n~ db:x lock — 2x @8\n");
    let theirs = file(8, "§failures\n~ db:x deadlock found — 2x @8\n");
    assert!(merged(&base, &ours, &theirs).contains("~ db:x deadlock found / lock — 3x @8"));
}

#[test]
fn sections_merge_without_case_and_a_new_one_has_its_place() {
    let base = file(7, "§core\n. a\n");
    let ours = file(8, "§Core\n. a\n. b\n\n§volatile\nn @8 b\n");
    let theirs = file(9, "§core\n. a\n. c\n\n§rules\n! c\n\n§team\n. c\n");
    insta::assert_snapshot!(merged(&base, &ours, &theirs), @"
    ∴CRUMB2 A s9

    §Core
    . a
    . b
    . c

    §rules
    ! c

    §team
    . c

    §volatile
    n @8 b
    ");
}
