//! Globs of trace names.

use crate::trace::sync::matches;

#[test]
fn a_star_matches_any_text() {
    for (glob, name, fits) in [
        ("main", "main", true),
        ("main", "mainly", false),
        ("*", "claude-code/6b2e", true),
        ("claude-code/*", "claude-code/6b2e", true),
        ("claude-code/*", "codex/1", false),
        ("a*a", "a", false),
        ("a*a", "aa", true),
    ] {
        assert_eq!(matches(glob, name), fits, "{glob} {name}");
    }
}
