//! The union of histories of lines.

use proptest::prelude::*;

use crate::trace::store::priority::HISTORY;

fn line(second: u32, level: &str) -> String {
    format!(r#"{{"at":"2026-02-10T09:00:{second:02}.000000000Z","by":"A <a@b>","level":"{level}"}}"#)
}

fn union(ours: &str, theirs: &str) -> String {
    HISTORY.format.union_of_lines(ours.as_bytes(), theirs.as_bytes()).unwrap_or_else(|| ours.to_owned())
}

#[test]
fn lines_of_both_occur_once_in_order_of_time() {
    let (one, two, three) = (line(1, "skip"), line(2, "normal"), line(3, "pinned"));
    assert_eq!(
        union(&format!("{one}\n{three}\n"), &format!("{two}\n{one}\nnot a line\n")),
        format!("{one}\n{two}\n{three}\n")
    );
    let unread = format!("{one}\nbroken\n");
    assert_eq!(HISTORY.format.union_of_lines(format!("{one}\n").as_bytes(), unread.as_bytes()), None);
}

#[test]
fn damaged_lines_of_ours_stay_in_front() {
    let (one, two) = (line(1, "skip"), line(2, "normal"));
    assert_eq!(union(&format!("{two}\nbroken\n"), &format!("{one}\n")), format!("broken\n{one}\n{two}\n"));
}

#[test]
fn a_file_in_another_order_is_put_in_order_where_both_have_its_lines() {
    let (one, two) = (line(1, "skip"), line(2, "normal"));
    let (sorted, unsorted) = (format!("{one}\n{two}\n"), format!("{two}\n{one}\n"));
    assert_eq!(union(&unsorted, &sorted), sorted);
    assert_eq!(union(&sorted, &unsorted), sorted);
    assert_eq!(union(&unsorted, &format!("{one}\n")), unsorted, "the next push orders it on the remote");
}

fn files() -> impl Strategy<Value = String> {
    let line =
        (0..6_u32, prop::sample::select(vec!["skip", "normal", "pinned"])).prop_map(|(at, level)| line(at, level));
    let file = prop::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n"));
    file.prop_map(|text| HISTORY.format.normalized(text.as_bytes()))
}

proptest! {
    #[test]
    fn union_is_commutative_associative_and_idempotent(one in files(), two in files(), three in files()) {
        prop_assert_eq!(union(&one, &two), union(&two, &one));
        prop_assert_eq!(union(&union(&one, &two), &three), union(&one, &union(&two, &three)));
        prop_assert_eq!(union(&one, &one), one.clone());
        let all = union(&one, &two);
        prop_assert!(one.lines().chain(two.lines()).all(|line| all.lines().any(|kept| kept == line)));
    }
}
