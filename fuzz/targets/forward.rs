//! Any text as a forward crumb: a parsed crumb survives writing and reading.

use crate::memory::forward::text::{message_ids, parse, render, tasks, thread_ids};

pub(super) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for list in [tasks(text), message_ids(text), thread_ids(text)] {
        assert!(list.iter().all(|entry| !entry.is_empty()));
    }
    let Some((head, content)) = parse(text) else { return };
    let rendered = render(&head, &content);
    let again = parse(&rendered).expect("what was written is read");
    let rendered_again = render(&again.0, &again.1);
    assert_eq!(parse(&rendered_again), Some(again));
    assert_eq!(rendered_again, rendered);
}
