//! Chunks of a text.

use crate::memory::checkpoint::merge::chunks::{blocks, sections};

#[test]
fn chunks_concatenate_to_the_text() {
    let text = "---\na: b\n---\n\n# T\n\nx\n\n## A\n\n- one\n- two\n\nwords\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n\
                ## Delta: 1\n\n### What Changed\n\ny\n";
    let chunks = sections(text);
    let joined: String = chunks.iter().map(|chunk| chunk.text).collect();
    assert_eq!(joined, text);
    let keys: Vec<_> = chunks.iter().map(|chunk| &*chunk.key).collect();
    assert_eq!(keys, ["front", "1 T", "2 A", "2 Delta: 1"]);
    assert_eq!(chunks[3].text, "\n---\n\n## Delta: 1\n\n### What Changed\n\ny\n");
    let blocks = blocks(chunks[2].text);
    let shown: Vec<_> = blocks.iter().map(|chunk| (&*chunk.key, chunk.text)).collect();
    assert_eq!(
        shown,
        [
            ("heading", "\n## A\n"),
            ("list", "\n- one\n- two\n"),
            ("text\u{0}1", "\nwords\n"),
            ("table", "\n| a | b |\n|---|---|\n| 1 | 2 |\n")
        ]
    );
}
