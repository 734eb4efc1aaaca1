//! The merge of checkpoints and of their lists: its laws, and through git itself.

use crate::base::merge::{Markers, MergeInput};
use crate::memory::checkpoint::merge;
use proptest::prelude::*;

use crate::unit::playground::sound;
use crate::unit::playground::{Playground, fixture};

fn merged(base: &str, ours: &str, theirs: &str) -> (String, bool) {
    let sides = MergeInput { base: base.as_bytes(), ours: ours.as_bytes(), theirs: theirs.as_bytes() };
    let merged = merge(sides).unwrap();
    (String::from_utf8(merged.to_bytes(&Markers::default())).unwrap(), merged.is_clean())
}

/// Merges from both sides, which must agree.
#[track_caller]
fn clean(base: &str, ours: &str, theirs: &str) -> String {
    let (one, other) = (merged(base, ours, theirs), merged(base, theirs, ours));
    assert!(one.1, "{}", one.0);
    assert_eq!(one, other);
    one.0
}

const TABLE: &str = "### Breadcrumbs\n\n| Type | Reference | Hint |\n|---|---|---|\n| file | `a.rs` | one |\n\n";

#[test]
fn additions_of_both_sides_are_kept() {
    let base = sound("", TABLE);
    let ours = base
        .replace("| file | `a.rs` | one |\n", "| file | `a.rs` | one |\n| file | `b.rs` | two |\n")
        .replace("- b\n\n### Technical", "- b\n- ours\n\n### Technical")
        .replace("last_delta: 2026-02-10T08:00:00Z", "last_delta: 2026-02-10T10:00:00Z")
        .replace("- [ ] open\n", "- [x] open\n")
        + "\n---\n\n## Delta: 2026-02-10T10:00:00Z\n\n### What Changed\n\nours\n\n### Artifacts\n";
    let theirs = base
        .replace("| file | `a.rs` | one |\n", "| file | `a.rs` | better |\n| decision | why | c |\n")
        .replace("- b\n\n### Technical", "- b\n- theirs\n\n### Technical")
        .replace("last_delta: 2026-02-10T08:00:00Z", "last_delta: 2026-02-10T09:00:00Z")
        .replace("- [ ] open\n", "- [ ] open\n- [ ] more\n")
        + "\n---\n\n## Delta: 2026-02-10T09:00:00Z\n\n### What Changed\n\ntheirs\n\n### Artifacts\n";
    let text = clean(&base, &ours, &theirs);
    for part in [
        "last_delta: 2026-02-10T10:00:00Z\n",
        "| file | `a.rs` | better |\n| decision | why | c |\n| file | `b.rs` | two |\n",
        "- b\n- ours\n- theirs\n\n### Technical",
        "- [x] open\n- [ ] more\n",
        "\n---\n\n## Delta: 2026-02-10T09:00:00Z\n\n### What Changed\n\ntheirs\n\n### Artifacts\n\n---\n\n## Delta: 2026-02-10T10:00:00Z\n",
    ] {
        assert!(text.contains(part), "{part}\n\n{text}");
    }
}

#[test]
fn deltas_of_the_same_second_are_both_kept() {
    let base = sound("", TABLE);
    let delta = |text: &str| format!("\n---\n\n## Delta: 2026-02-10T09:00:00Z\n\n### What Changed\n\n{text}\n");
    let text = clean(&base, &format!("{base}{}", delta("b")), &format!("{base}{}", delta("a")));
    assert_eq!(text, format!("{base}{}{}", delta("a"), delta("b")));
    let base = format!("{base}{}", delta("m"));
    let ours = base.replace(&delta("m"), &(delta("a") + &delta("m")));
    assert_eq!(clean(&base, &ours, &format!("{base}{}", delta("z"))), format!("{ours}{}", delta("z")));
}

#[test]
fn real_conflicts_are_marked() {
    let base = sound("", TABLE);
    let change = |hint: &str| base.replace("| one |", &format!("| {hint} |"));
    let (text, is_clean) = merged(&base, &change("two"), &change("three"));
    assert!(!is_clean);
    assert!(
        text.contains("<<<<<<< ours\n| file | `a.rs` | two |\n=======\n| file | `a.rs` | three |\n>>>>>>> theirs\n"),
        "{text}"
    );
    let change =
        |words: &str| base.replace("### Technical Context\n\nx\n", &format!("### Technical Context\n\n{words}\n"));
    let (text, is_clean) = merged(&base, &change("y"), &change("z"));
    assert!(!is_clean && text.contains("<<<<<<< ours\ny\n=======\nz\n>>>>>>> theirs\n"), "{text}");
    // One line each, apart: no conflict.
    let base = base.replace("### Technical Context\n\nx\n", "### Technical Context\n\n1\n2\n3\n");
    let text = clean(&base, &base.replace("\n1\n2", "\n1a\n2"), &base.replace("\n2\n3", "\n2\n3a"));
    assert!(text.contains("\n1a\n2\n3a\n"));
    // The earlier creation counts.
    let created = |hour: u8| base.replace("created: 2026-02-10T08", &format!("created: 2026-02-10T{hour:02}"));
    assert_eq!(clean(&base, &created(6), &created(7)), created(6));
    assert_eq!(merge(MergeInput { base: b"", ours: b"\xff", theirs: b"x" }), None);
}

#[test]
fn lists_merge_by_row_and_part() {
    let base = String::from_utf8(fixture("checkpoints/INDEX-two-active.md")).unwrap();
    let add = |name: &str| {
        let row = format!("| 2026-01-03 |\n| {name} | x | 2026-01-07 |\n");
        base.replace("| 2026-01-03 |\n", &row)
            + &format!("\n---\n\n## {name}\n\n**Problem**: p\n\n**Scope**: s\n\n**Status**: t\n")
    };
    let ours = add("chk-b").replace("| 2026-01-06 |", "| 2026-01-08 |");
    let theirs = add("chk-a").replace("| 2026-01-06 |", "| 2026-01-09 |");
    let text = clean(&base, &ours, &theirs);
    assert!(text.contains("| chk-a | x | 2026-01-07 |\n| chk-b | x | 2026-01-07 |\n"), "{text}");
    assert!(text.contains("auto-checkpointing | 2026-01-09 |"), "{text}");
    assert_eq!(crate::memory::checkpoint::validate_index(text.as_bytes(), None), []);
    // Archived on one side, while the other added one.
    let part = base.find("\n---\n\n## chk-v170").unwrap();
    let row = base.find("| chk-v170").unwrap();
    let row_end = row + base[row..].find('\n').unwrap() + 1;
    let archived = format!("{}{}", &base[..row], &base[row_end..part]);
    let text = clean(&base, &archived, &add("chk-a").replace("| 2026-01-06 |", "| 2026-01-07 |"));
    assert!(!text.contains("chk-v170") && text.contains("## chk-a\n"), "{text}");
    assert_eq!(crate::memory::checkpoint::validate_index(text.as_bytes(), None), []);
}

#[test]
fn git_merges_checkpoints_through_the_driver() {
    let place = Playground::installed();
    let path = "checkpoints/active/chk-a.md";
    let base = sound("", TABLE);
    place.write(path, &base);
    place.commit("base");
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write(path, base.replace("| one |\n", "| one |\n| file | `b.rs` | b |\n"));
    place.commit("side");
    place.git(&["checkout", "-q", "main"]);
    place.write(path, base.replace("| one |\n", "| one |\n| file | `c.rs` | c |\n"));
    place.commit("main");
    place.git(&["merge", "-q", "side"]);
    assert!(place.read(path).contains("| one |\n| file | `b.rs` | b |\n| file | `c.rs` | c |\n"));
    assert!(place.ok(&["check"]).is_empty());
}

/// Checkpoints from a tiny alphabet, so that changes meet.
fn checkpoint() -> impl Strategy<Value = String> {
    let item = prop_oneof!["a", "b", "c", "d"];
    let items = proptest::sample::subsequence(vec!["a", "b", "c", "d"], 0..4);
    let rows = proptest::collection::btree_map(item, "[xy]", 0..3);
    let deltas = proptest::sample::subsequence(vec!["1\n\nx", "1\n\ny", "2\n\nx", "3\n\nx"], 0..3);
    (items, rows, deltas, "[pq]{0,2}").prop_map(|(items, rows, deltas, words)| {
        let items: String = items.iter().map(|item| format!("- {item}\n")).collect();
        let rows: String = rows.iter().map(|(name, hint)| format!("| file | {name} | {hint} |\n")).collect();
        let delta = |delta| format!("\n---\n\n## Delta: 2026-01-0{delta}\n");
        let deltas: String = deltas.iter().map(delta).collect();
        let lines: String = words.chars().map(|c| format!("{c}\n")).collect();
        format!(
            "---\ncheckpoint: a\n---\n\n## Problem\n\n{lines}\n### Breadcrumbs\n\n| Type | Reference | Hint |\n|---|---|---|\n\
             {rows}\n### Next\n\n{items}{deltas}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_laws_of_the_merge_hold(base in checkpoint(), ours in checkpoint(), theirs in checkpoint()) {
        prop_assert_eq!(merged(&base, &base, &theirs), (theirs.clone(), true));
        prop_assert_eq!(merged(&base, &ours, &base), (ours.clone(), true));
        prop_assert_eq!(merged(&base, &ours, &ours), (ours.clone(), true));
        let (text, is_clean) = merged(&base, &ours, &theirs);
        let (other, other_is_clean) = merged(&base, &theirs, &ours);
        prop_assert_eq!(is_clean, other_is_clean);
        if is_clean {
            prop_assert_eq!(&text, &other);
        }
        // The additions of each side and the lines of both are present. Lines that occur in several deltas prove nothing.
        for line in ours.lines().filter(|line| !line.is_empty() && base.matches(line).count() < 2) {
            if !base.contains(line) || theirs.contains(line) {
                let is_row_both_changed = line.starts_with("| file");
                // Deltas have the same parts, so one side's delta may be appended to the other's.
                let is_part_of_deltas = line == "### What Changed";
                prop_assert!(text.contains(line) || is_row_both_changed || is_part_of_deltas, "{line:?} is lost in\n{text}");
            }
        }
    }

    #[test]
    fn any_text_can_be_merged(base in "(a\n|---\n|## B\n|- c\n|\\| d \\|\n|\\|--\\|\n|\n|x: y\n|e){0,9}",
                              ours in "(a\n|---\n|## B\n|- c\n|\\| d \\|\n|\\|--\\|\n|\n|x: z\n|f){0,9}",
                              theirs in "(a\n|---\n|## C\n|- c\n|\\| g \\|\n|\\|--\\|\n|\n|x: w\n|\u{feff}){0,9}") {
        let (_, is_clean) = merged(&base, &ours, &theirs);
        prop_assert_eq!(is_clean, merged(&base, &theirs, &ours).1);
        prop_assert_eq!(merged(&base, &base, &theirs).0, theirs);
    }
}
