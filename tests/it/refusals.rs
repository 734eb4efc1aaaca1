//! Refusals: status 2, a message with the reason, and no ref moved.

mod disk;
mod item;
mod repository;
mod trace;

use crate::repo::TestRepo;

/// Two items whose ids begin with the same digits, and a trace beside theirs.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    let input = br#"{"op":"append","id":"abcd000000000001","text":"one"}
{"op":"append","id":"abcd000000000002","text":"two"}
"#;
    repo.bytes_with(&["import", "jsonl", "-"], input);
    repo.text(&["commit", "--trace", "other", "-m", "elsewhere"]);
    repo
}
