//! Recognizing notes and their tasks.

use crate::memory::forward::migrate::{content, is_note};

#[test]
fn notes_are_recognized_by_their_words() {
    assert!(is_note("Session 4 SUMMARY"));
    assert!(is_note("note to self for the next session"));
    assert!(!is_note("a summary") && !is_note("the session ended") && !is_note(""));
}

#[test]
fn tasks_of_a_note_end_with_the_section() {
    let note =
        "# Session summary\nDid it.\n\n## Unfinished\n* write the docs\n- [ ] ask about it\n\n## Links\n- a link\n";
    assert_eq!(content(note).unfinished, ["write the docs", "[ ] ask about it"]);
    for heading in ["UNFINISHED BUSINESS:", "**Still unfinished:**", "Unfinished", "_unfinished work_"] {
        assert_eq!(content(&format!("Did it.\n{heading}\n- write the docs\n")).unfinished, ["write the docs"]);
    }
}

#[test]
fn neither_quotations_nor_sentences_are_tasks() {
    for note in [
        "Session summary. She wrote:\n> UNFINISHED BUSINESS:\n> - continue to wire the money\n",
        "Session summary. Nothing was left unfinished by me.\n- the money is wired\n",
        "## Unfinished\n> I need the money\n",
    ] {
        assert_eq!(content(note).unfinished, [""; 0], "{note}");
    }
}
