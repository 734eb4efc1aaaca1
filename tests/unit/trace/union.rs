//! The union of priority records.

use crate::trace::store::priority::union::union_of_lines;

fn line(second: u32, level: &str) -> String {
    format!(r#"{{"at":"2026-02-10T09:00:{second:02}.000000000Z","by":"A <a@b>","level":"{level}"}}"#)
}

#[test]
fn lines_of_both_stand_once_in_order_of_time() {
    let (one, two, three) = (line(1, "skip"), line(2, "normal"), line(3, "pinned"));
    let merged =
        union_of_lines(format!("{one}\n{three}\n").as_bytes(), format!("{two}\n{one}\nnot a line\n").as_bytes());
    assert_eq!(merged, Some(format!("{one}\n{two}\n{three}\n")));
    assert_eq!(union_of_lines(format!("{one}\n").as_bytes(), format!("{one}\nbroken\n").as_bytes()), None);
}
