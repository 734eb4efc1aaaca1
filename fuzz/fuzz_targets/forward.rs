//! Any text as a forward crumb: a parsed crumb survives writing and reading.

#![no_main]

use git_trace::memory::forward::text::{message_ids, parse, render, tasks, thread_ids};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for list in [tasks(text), message_ids(text), thread_ids(text)] {
        assert!(list.iter().all(|entry| !entry.is_empty()));
    }
    let Some((head, content)) = parse(text) else { return };
    let rendered = render(&head, &content);
    let again = parse(&rendered).expect("what was written is read");
    let rendered_again = render(&again.0, &again.1);
    assert_eq!(parse(&rendered_again), Some(again));
    assert_eq!(rendered_again, rendered);
});
