//! Blocks of a Markdown text.

use crate::memory::checkpoint::document::markdown::{Markdown, plain};

#[test]
fn only_top_level_headings_count() {
    let text = "# A\n\n```\n## fenced\n```\n\n~~~md\n## tilde\n```\n## still\n~~~\n\n> ## quoted\n\n- ## item\n\n\
                <!--\n## comment\n-->\n\n    ## indented\n\nunderlined\n---\n\n## B ##\n### C#\r\n####### no\n";
    let markdown = Markdown::parse(text, 0);
    let titles: Vec<_> = markdown.headings.iter().map(|heading| (heading.level, &*heading.title)).collect();
    assert_eq!(titles, [(1, "A"), (2, "B"), (3, "C#")]);
}

#[test]
fn rows_have_the_cells_of_their_line() {
    let text = "| a | b |\n|---|---|\n| 1 | 2 | 3 |\n| x \\| y |\n|  | |\n";
    let markdown = Markdown::parse(text, 0);
    let rows: Vec<_> = markdown.tables[0].rows.iter().map(|row| row.cells.clone()).collect();
    assert_eq!(markdown.tables[0].head.cells, ["a", "b"]);
    assert_eq!(rows, [vec!["1", "2", "3"], vec!["x | y"], vec!["", ""]]);
    assert_eq!(plain("`a/b.rs`"), "a/b.rs");
    assert_eq!(plain("<https://a.b>"), "https://a.b");
    assert_eq!(plain("`"), "`");
}

#[test]
fn list_items_have_checkboxes_and_text() {
    let text = "- [x] **Done** `it`\n- [ ] open\n  - [x] nested\n- plain\n\n1. first\n   more\n\n2. second\n";
    let markdown = Markdown::parse(text, 0);
    let items: Vec<_> = markdown.items.iter().map(|item| (item.checked, &*item.text)).collect();
    assert_eq!(
        items,
        [(Some(true), "Done it"), (Some(false), "open"), (None, "plain"), (None, "first more"), (None, "second")]
    );
}
