//! Which change of an item's priority applies.
//!
//! Each line names the latest lines that its writer saw, by their digests. Lines that no other line knew of are the heads. Usually
//! there is one, and its level applies. Several heads were written in clones that did not know of each other: the level that keeps
//! more in the prompt applies, until a line names them all. The answer depends on the set of lines only, so all clones agree. It
//! does not depend on their times, so one that is dated in the year 9999 does not rule.
//!
//! Lines of version 0.1 name none. They form one chain, ordered by time, then by bytes.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::record::Setting;

/// The number of hex digits of a digest.
const DIGITS: usize = 16;

impl Setting {
    /// The digest by which a later line names this one: of time, author, and level. It does not cover `after`, which version 0.1
    /// drops from all lines of a file to which it adds one, nor texts that may have to be removed from history.
    pub(crate) fn digest(&self) -> String {
        let Self { at, level, .. } = *self;
        let named = Self { at, by: self.by.clone(), level, seq: None, reason: None, after: None };
        blake3::hash(named.render().as_bytes()).to_hex()[..DIGITS].to_owned()
    }
}

/// The indexes of the heads of an item's lines, which are in order of time, then bytes. Takes linear time.
pub(super) fn heads(settings: &[Setting]) -> Vec<usize> {
    if settings.len() < 2 || settings.iter().all(|setting| setting.after.is_none()) {
        return settings.len().checked_sub(1).into_iter().collect();
    }
    let digests: Vec<String> = settings.iter().map(Setting::digest).collect();
    // Of lines with one digest, the last represents all.
    let index: HashMap<&str, usize> = digests.iter().enumerate().map(|(at, digest)| (digest.as_str(), at)).collect();
    // The lines that the writer of each line knew. Times do not count: a clock, or a forger, may date a line in the far future.
    let mut known = vec![Vec::new(); settings.len()];
    let (mut chain, mut chained): (Option<usize>, _) = (None, HashSet::new());
    for (setting, digest) in settings.iter().zip(&digests) {
        let own = index[digest.as_str()];
        match &setting.after {
            Some(after) => known[own].extend(after.iter().filter_map(|digest| index.get(digest.as_str()))),
            None if chained.insert(own) => known[own].extend(chain.replace(own)),
            None => {}
        }
    }
    let mut by_level: Vec<usize> = (0..settings.len()).filter(|at| index[digests[*at].as_str()] == *at).collect();
    by_level.sort_unstable_by_key(|at| Reverse((settings[*at].level, *at)));
    let mut heads = unknown_to_others(&known, by_level);
    heads.sort_unstable();
    heads
}

/// The lines that no others knew. Only forged lines know each other in a circle: the first one in `order` represents such a circle.
///
/// In the order in which a search in depth leaves the lines, the last one is unknown to all but its own circle. The lines that
/// it knew are known; of the others, the last one is unknown, and so on.
fn unknown_to_others(known: &[Vec<usize>], order: Vec<usize>) -> Vec<usize> {
    let mut left = Vec::with_capacity(order.len());
    let mut is_reached = vec![false; known.len()];
    for start in order {
        visit(known, start, &mut is_reached, |line| left.push(line));
    }
    is_reached.fill(false);
    left.into_iter().rev().filter(|line| visit(known, *line, &mut is_reached, |_| ())).collect()
}

/// Visits what can be reached from `start`, and passes each line on after those that it knew. Returns false if `start` was reached
/// before.
fn visit(known: &[Vec<usize>], start: usize, is_reached: &mut [bool], mut leave: impl FnMut(usize)) -> bool {
    if std::mem::replace(&mut is_reached[start], true) {
        return false;
    }
    // Not recursive: a record may have any number of lines.
    let mut path = vec![(start, known[start].iter())];
    while let Some((line, rest)) = path.last_mut() {
        match rest.find(|next| !std::mem::replace(&mut is_reached[**next], true)) {
            Some(next) => path.push((*next, known[*next].iter())),
            None => {
                leave(*line);
                path.pop();
            }
        }
    }
    true
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
