//! Any bytes as a checkpoint and as a list of checkpoints: findings are inside the text, and parsed values occur in it.

use super::lie_within;
use crate::memory::checkpoint::{Document, Rules, validate, validate_index};
use crate::trace::Time;

pub(super) fn run(data: &[u8]) {
    let now = Some(Time::from_second(1_770_714_000));
    for is_archived in [false, true] {
        assert!(lie_within(&validate(data, Rules { advise_at: now, is_archived }), data));
    }
    assert!(lie_within(&validate_index(data, Some(&[])), data));
    let Ok(text) = std::str::from_utf8(data) else { return };
    let document = Document::parse(text);
    let _ = (document.id(), document.parent(), document.created(), document.is_current(), document.last_change());
    let _ = (document.deltas(), document.breadcrumbs(), document.artifacts(), document.open_actions());
    assert!(document.problem_line().is_none_or(|line| text.contains(line)));
    for title in ["Problem", "Essential Information", "Completion", "Next Actions"] {
        if let Some(section) = document.section(title) {
            assert!(text.contains(document.body(&section)));
            let _ = (document.point_count(&section), document.word_count(&section), document.table(&section));
        }
    }
}
