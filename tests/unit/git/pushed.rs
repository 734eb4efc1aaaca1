//! Tests of the private parts of `src/git/pushed.rs`.

use super::*;

#[test]
fn porcelain_lines_tell_what_became_of_each_ref() {
    for (line, fate) in [
        (" \trefs/traces/a:refs/traces/a\t1234567..89abcde", Some(PushFate::Moved)),
        ("*\trefs/traces/a:refs/traces/a\t[new reference]", Some(PushFate::Moved)),
        ("=\trefs/traces/a:refs/traces/a\t[up to date]", Some(PushFate::UpToDate)),
        ("!\trefs/traces/a:refs/traces/a\t[rejected] (fetch first)", Some(PushFate::Behind)),
        (
            "!\trefs/traces/a:refs/traces/a\t[remote rejected] (cannot lock ref 'refs/traces/a')",
            Some(PushFate::Contended),
        ),
        ("!\trefs/traces/a:refs/traces/a\t[remote rejected] (failed to lock)", Some(PushFate::Contended)),
        ("!\trefs/traces/a:refs/traces/a\t[remote rejected] (hook declined)", Some(PushFate::Refused)),
        ("!\trefs/traces/a:refs/traces/a\t[remote rejected] (blocked: unlock it)", Some(PushFate::Refused)),
        ("To ../bare.git", None),
        ("Done", None),
    ] {
        assert_eq!(pushed_ref(line).map(|pushed| pushed.fate), fate, "{line}");
    }
}
