//! The differences within an item: headers and body.

use super::ItemDiff;
use super::lines::{self, LineDiff};
use crate::git::Repo;
use crate::trace::model::item_file;
use crate::trace::store::total::read_item;
use crate::trace::{Item, TraceError};

#[derive(Debug)]
pub(crate) struct Content {
    pub before: Option<Item>,
    pub after: Option<Item>,
}

#[derive(Debug)]
pub(crate) enum Body {
    Same,
    Text(LineDiff),
    /// At least one side is not text: the sizes in bytes.
    Binary(Option<usize>, Option<usize>),
}

/// A header that differs: its name, its value before and after.
pub(crate) type Header = (String, Option<String>, Option<String>);

impl Content {
    pub(crate) fn read(repo: &Repo, item: &ItemDiff) -> Result<Self, TraceError> {
        let before = item.before.as_ref().map(|slot| read_item(repo, slot)).transpose()?;
        let after = item.after.as_ref().map(|slot| read_item(repo, slot)).transpose()?;
        Ok(Self { before, after })
    }

    /// The new item, or the old one if it was removed.
    pub(crate) fn item(&self) -> Option<&Item> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// The difference of the bodies, with `context` lines around each change.
    pub(crate) fn body(&self, context: usize) -> Body {
        let len = |item: &Option<Item>| item.as_ref().map(|item| item.body.len());
        if self.before.as_ref().map(|item| &item.body) == self.after.as_ref().map(|item| &item.body) {
            return Body::Same;
        }
        let text = |item| Option::map_or(item, Some(""), Item::text);
        match (text(self.before.as_ref()), text(self.after.as_ref())) {
            (Some(old), Some(new)) => Body::Text(lines::diff(old, new, context)),
            _ => Body::Binary(len(&self.before), len(&self.after)),
        }
    }

    /// The headers that differ, of an item on both sides, except for those that git-trace computes (revision, token count).
    pub(crate) fn headers(&self) -> Vec<Header> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Vec::new() };
        let (before, after) = (header_lines(before), header_lines(after));
        let find = |lines: &[(String, String)], key: &str| -> Option<String> {
            lines.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        let mut keys: Vec<&String> = before.iter().chain(&after).map(|(key, _)| key).collect();
        let mut seen = std::collections::HashSet::new();
        keys.retain(|key| seen.insert(*key));
        let changed = keys.into_iter().map(|key| (key.clone(), find(&before, key), find(&after, key)));
        changed.filter(|(_, before, after)| before != after).collect()
    }
}

fn header_lines(item: &Item) -> Vec<(String, String)> {
    let bytes = item_file::render_without_id(item);
    let header = String::from_utf8_lossy(&bytes[..bytes.len() - item.body.len()]).into_owned();
    let lines = header.lines().filter_map(|line| line.split_once(": "));
    let own = |key: &str| matches!(key, "revision" | "tokens");
    lines.filter(|(key, _)| !own(key)).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
