//! Selecting an entry of a file.

use crate::memory::crumb::Entry;
use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::CrumbFile;

impl CrumbFile<'_> {
    /// The index of the line of an entry.
    ///
    /// An entry is named by its line number; by its complete line, failure name, sessions (`@10-13`), or content; or by a part of
    /// the line that is in no other entry.
    pub(crate) fn select(&self, selector: &str) -> Result<usize, CrumbError> {
        let no_such = || CrumbError::NoSuchEntry { selector: selector.to_owned() };
        if selector.trim().is_empty() {
            return Err(no_such());
        }
        if selector.bytes().all(|b| b.is_ascii_digit()) {
            let index = selector.parse::<usize>().ok().and_then(|line| line.checked_sub(1));
            return self.entries().map(|(at, ..)| at).find(|at| Some(*at) == index).ok_or_else(no_such);
        }
        let find = |is_meant: &dyn Fn(&str, &Entry<'_>) -> bool| -> Vec<usize> {
            let entries = self.entries().filter(|(index, _, entry)| is_meant(&self.lines[*index].text, entry));
            entries.map(|(index, ..)| index).collect()
        };
        let mut found = find(&|line, entry| {
            line == selector
                || entry.key() == Some(selector)
                || entry.content == selector
                || entry.reference.is_some_and(|reference| reference.to_string() == selector)
        });
        if found.is_empty() {
            found = find(&|line, _| line.contains(selector));
        }
        match found[..] {
            [] => Err(no_such()),
            [index] => Ok(index),
            _ => {
                let lines = found.iter().take(10).map(|index| index + 1).collect();
                Err(CrumbError::Ambiguous { selector: selector.to_owned(), lines })
            }
        }
    }
}
