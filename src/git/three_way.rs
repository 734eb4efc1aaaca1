//! Three-way merge by lines, as in `git merge-file`.

use git2::MergeFileInput;

use super::error::GitError;

/// `None` on a conflict, or if a text is binary.
pub(crate) fn merge_lines(base: &[u8], ours: &[u8], theirs: &[u8]) -> Result<Option<Vec<u8>>, GitError> {
    if ours == theirs || theirs == base {
        return Ok(Some(ours.to_vec()));
    }
    if ours == base {
        return Ok(Some(theirs.to_vec()));
    }
    if [base, ours, theirs].iter().any(|text| memchr::memchr(0, text).is_some()) {
        return Ok(None);
    }
    // Creating an object initializes libgit2; `merge_file` does not.
    let _ = git2::Config::new();
    let mut inputs = [MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new()];
    for (input, text) in inputs.iter_mut().zip([base, ours, theirs]) {
        input.content(text);
    }
    let merged = git2::merge_file(&inputs[0], &inputs[1], &inputs[2], None)
        .map_err(|source| GitError::store("merge three versions of a text", source))?;
    Ok(merged.is_automergeable().then(|| merged.content().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        let merged = merge_lines(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()).unwrap();
        merged.map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn lines_apart_merge_and_lines_that_clash_do_not() {
        assert_eq!(merged("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n").as_deref(), Some("A\nb\nc\nD\n"));
        assert_eq!(merged("a\n", "b\n", "c\n"), None);
        assert_eq!(merged("a", "b", "a").as_deref(), Some("b"));
        assert_eq!(merged("", "same", "same").as_deref(), Some("same"));
        assert_eq!(merged("a\0", "b\0", "c\0"), None);
    }
}
