//! Tests of the private parts of `src/check/staged/other.rs`.

use super::*;
use crate::git::Env;
use crate::unit::repo::TestRepo;

/// Searches a text in a new repository.
fn search_in(text: &[u8], limit: u64) -> Option<Vec<Finding>> {
    let (test, mut text) = (TestRepo::new(), text);
    let git = Git::in_folder(test.folder());
    search(&mut text, limit, &Settings::new(&git, Env::capture([]))).unwrap()
}

fn token() -> String {
    "ghp_".to_owned() + &"a1B2".repeat(9)
}

#[test]
fn a_secret_in_a_long_text_is_found_at_its_place() {
    // The pieces of a text end at line ends, or within a long line.
    for filler in
        ["all work and no play\n".repeat(150_000), "wörk ".repeat(400_000), "x\n".repeat(30) + &"y ".repeat(900_000)]
    {
        let text = format!("{filler}{} {filler}\n  {}\n", token(), token());
        let index = LineIndex::new(text.as_bytes());
        let found = search_in(text.as_bytes(), u64::MAX).unwrap();
        let expected: Vec<_> = text.match_indices("ghp_").map(|(at, _)| (at, index.position(at))).collect();
        assert_eq!(found.iter().map(|found| (found.span.start, found.position)).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn binary_files_are_not_searched() {
    assert_eq!(search_in(format!("\0 {}", token()).as_bytes(), u64::MAX), None);
    let late = "x\n".repeat(5000) + "\0 " + &token();
    assert_eq!(search_in(late.as_bytes(), u64::MAX).unwrap().len(), 1);
}

#[test]
fn the_end_of_a_huge_file_is_not_searched_and_that_is_told() {
    let text = format!("{}{}\n", "x\n".repeat(5000), token());
    let codes = |limit| search_in(text.as_bytes(), limit).unwrap().iter().map(|found| found.code).collect::<Vec<_>>();
    assert_eq!(codes(text.len() as u64), ["secret"]);
    assert_eq!(codes(9000), ["not-searched"]);
}
