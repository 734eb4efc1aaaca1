//! Code spans in Markdown.

use crate::trace::query::diff::markdown::{code, longest_run};

#[test]
fn backticks_in_a_text_do_not_end_its_code_span() {
    assert_eq!(code("plain"), "`plain`");
    assert_eq!(code("`a` @x"), "`` `a` @x ``");
    assert_eq!(code("a``b\nc"), "```a``b c```");
    assert_eq!(code("\n") + &code("a`@x"), "` ```a`@x``");
    assert_eq!(code("a\u{202e}b"), "`a\\u202eb`");
    assert_eq!(longest_run("a```` ``b"), 4);
}
