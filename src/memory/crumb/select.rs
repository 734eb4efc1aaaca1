//! Selecting an entry of a file.

use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::CrumbFile;

/// The index of the line of an entry.
///
/// An entry is named by its line number; by its complete line, failure name, sessions (`@10-13`), or content; or by a part of
/// the line that is in no other entry.
pub(crate) fn select(crumb: &CrumbFile<'_>, selector: &str) -> Result<usize, CrumbError> {
    let no_such = || CrumbError::NoSuchEntry { selector: selector.to_owned() };
    if selector.trim().is_empty() {
        return Err(no_such());
    }
    if selector.bytes().all(|b| b.is_ascii_digit()) {
        let index = selector.parse::<usize>().ok().and_then(|line| line.checked_sub(1));
        return crumb.entries().map(|(at, ..)| at).find(|at| Some(*at) == index).ok_or_else(no_such);
    }
    let exact: Vec<usize> = crumb
        .entries()
        .filter(|(index, _, entry)| {
            crumb.lines[*index].text == selector
                || entry.key() == Some(selector)
                || entry.content == selector
                || entry.reference.is_some_and(|reference| reference.to_string() == selector)
        })
        .map(|(index, ..)| index)
        .collect();
    let found = if exact.is_empty() {
        crumb.entries().map(|(index, ..)| index).filter(|index| crumb.lines[*index].text.contains(selector)).collect()
    } else {
        exact
    };
    match found[..] {
        [] => Err(no_such()),
        [index] => Ok(index),
        _ => {
            let lines = found.iter().take(10).map(|index| index + 1).collect();
            Err(CrumbError::Ambiguous { selector: selector.to_owned(), lines })
        }
    }
}
