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
#[path = "../../tests/unit/git/three_way.rs"]
mod tests;
