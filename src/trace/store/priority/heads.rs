//! Which change of an item's priority applies.
//!
//! Each line names the latest lines that its writer saw, by their digests. Lines that no other line knew of are the heads. Usually
//! there is one, and its level applies. Several heads were written in clones that did not know of each other: the level that keeps
//! more in the prompt applies, until a line names them all. The answer depends on the set of lines only, so all clones agree.
//!
//! Lines of version 0.1 name none. They form one chain, ordered by time, then by bytes.

use std::collections::{HashMap, HashSet};

use super::record::Setting;

/// The number of hex digits of a digest.
const DIGITS: usize = 16;

impl Setting {
    /// The digest by which a later line names this one: of time, author, and level. It does not cover `after`, which version 0.1
    /// drops from all lines of a file to which it adds one, nor texts that may have to be removed from history.
    pub(super) fn digest(&self) -> String {
        let Self { at, level, .. } = *self;
        let named = Self { at, by: self.by.clone(), level, seq: None, reason: None, after: None };
        blake3::hash(named.render().as_bytes()).to_hex()[..DIGITS].to_owned()
    }
}

/// The indexes of the heads of an item's lines, which are in order of time, then bytes.
pub(super) fn heads(settings: &[Setting]) -> Vec<usize> {
    if settings.len() < 2 || settings.iter().all(|setting| setting.after.is_none()) {
        return settings.len().checked_sub(1).into_iter().collect();
    }
    let digests: Vec<String> = settings.iter().map(Setting::digest).collect();
    // Of lines with one digest, the last represents all.
    let index: HashMap<&str, usize> = digests.iter().enumerate().map(|(at, digest)| (digest.as_str(), at)).collect();
    let mut is_head: Vec<bool> = digests.iter().enumerate().map(|(at, digest)| index[digest.as_str()] == at).collect();
    let mut chain: Option<usize> = None;
    let mut chained = HashSet::new();
    for (setting, digest) in settings.iter().zip(&digests) {
        let Some(after) = &setting.after else {
            let own = index[digest.as_str()];
            if chained.insert(own)
                && let Some(before) = chain.replace(own)
            {
                is_head[before] = false;
            }
            continue;
        };
        for seen in after.iter().filter_map(|digest| index.get(digest.as_str())) {
            // A writer dates its line after all that it saw. The condition excludes forged cycles.
            if settings[*seen].at < setting.at {
                is_head[*seen] = false;
            }
        }
    }
    (0..settings.len()).filter(|at| is_head[*at]).collect()
}

/// The index of the line that applies; `None` if there are no lines.
pub(super) fn deciding(settings: &[Setting]) -> Option<usize> {
    strongest(settings, &heads(settings))
}

/// The head that applies.
pub(super) fn strongest(settings: &[Setting], heads: &[usize]) -> Option<usize> {
    heads.iter().copied().max_by_key(|head| (settings[*head].level, *head))
}

/// Puts the lines of a file in order: by time, then bytes, except that the one that applies is last.
pub(super) fn sort(lines: &mut Vec<&str>) {
    let mut read: Vec<(Setting, &str)> = lines.iter().filter_map(|line| Some((Setting::parse(line)?, *line))).collect();
    read.sort_by(|(one, line), (other, other_line)| (one.at, line).cmp(&(other.at, other_line)));
    let settings: Vec<Setting> = read.iter().map(|(setting, _)| setting.clone()).collect();
    if let Some(last) = deciding(&settings) {
        let last = read.remove(last);
        read.push(last);
    }
    *lines = read.into_iter().map(|(_, line)| line).collect();
}

#[cfg(test)]
#[path = "../../../../tests/unit/trace/store/priority/heads.rs"]
mod tests;
