//! Selecting an entry of a file.

use std::convert::Infallible;
use std::str::FromStr;

use crate::memory::crumb::error::CrumbError;
use crate::memory::crumb::grammar::document::CrumbFile;

/// Names an entry by its line number; by its complete line, failure name, sessions (`@10-13`), or content; or by a part of the
/// line that is in no other entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Selector(String);

impl Selector {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Selector {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// The index of the line that a selector names.
pub(crate) fn select(crumb: &CrumbFile<'_>, selector: &Selector) -> Result<usize, CrumbError> {
    let wanted = selector.as_str();
    let no_such = || CrumbError::NoSuchEntry { selector: wanted.to_owned() };
    if wanted.trim().is_empty() {
        return Err(no_such());
    }
    if wanted.bytes().all(|b| b.is_ascii_digit()) {
        let index = wanted.parse::<usize>().ok().and_then(|line| line.checked_sub(1));
        return crumb.entries().map(|(at, ..)| at).find(|at| Some(*at) == index).ok_or_else(no_such);
    }
    let exact: Vec<usize> = crumb
        .entries()
        .filter(|(index, _, entry)| {
            crumb.lines[*index].text == wanted
                || entry.key() == Some(wanted)
                || entry.content == wanted
                || entry.reference.is_some_and(|reference| reference.to_string() == wanted)
        })
        .map(|(index, ..)| index)
        .collect();
    let found = if exact.is_empty() {
        crumb.entries().map(|(index, ..)| index).filter(|index| crumb.lines[*index].text.contains(wanted)).collect()
    } else {
        exact
    };
    match found[..] {
        [] => Err(no_such()),
        [index] => Ok(index),
        _ => {
            let lines = found.iter().take(10).map(|index| index + 1).collect();
            Err(CrumbError::Ambiguous { selector: wanted.to_owned(), lines })
        }
    }
}
