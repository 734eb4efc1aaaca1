//! Two texts compared by line: a diff with full context contains both.

use super::versions;
use crate::trace::query::diff::lines::{Fate, diff};

pub(super) fn run(data: &[u8]) {
    let [_, old, new] = versions(data);
    let (Ok(old), Ok(new)) = (str::from_utf8(&old), str::from_utf8(&new)) else { return };
    let _ = diff(old, new, 0);
    let whole = diff(old, new, usize::MAX);
    let side = |without: Fate| -> String {
        let lines = whole.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.fate != without);
        let text = |line: &crate::trace::query::diff::lines::Line| {
            line.parts.iter().map(|(_, part)| part.as_str()).collect::<String>() + if line.ended { "\n" } else { "" }
        };
        lines.map(text).collect()
    };
    if old != new {
        assert_eq!((side(Fate::Added).as_str(), side(Fate::Removed).as_str()), (old, new));
    }
}
