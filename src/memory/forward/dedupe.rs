//! Duplicates: active forward crumbs that say the same as a later one.
//!
//! Two are alike by the share of words that both have, of the words that either has (Jaccard); headers do not count. One with a
//! task that the later one lacks is no duplicate.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::crumb::{CrumbStatus, ForwardCrumb};
use super::error::ForwardError;
use super::query::{Query, search};
use super::text;
use crate::git::Repo;
use crate::trace::{AgentName, Time};

/// A forward crumb, the later one that says the same, and how alike they are, from 0 to 1.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Duplicate {
    pub crumb: ForwardCrumb,
    pub of: ForwardCrumb,
    pub likeness: f64,
}

/// The active forward crumbs that are as alike as `threshold` to a later one that stays, newest first.
pub(crate) fn duplicates(
    repo: &Repo,
    agent: &AgentName,
    threshold: f64,
    now: Time,
) -> Result<Vec<Duplicate>, ForwardError> {
    let active = search(repo, agent, &Query { status: Some(CrumbStatus::Active), ..Query::all() }, now)?.crumbs;
    let texts = ranked(&active.iter().map(words).collect::<Vec<_>>());
    let mut kept: Vec<(ForwardCrumb, Vec<u32>)> = Vec::new();
    // By each of the rarest words, which of those that stay have it: two that are alike have one of them in common.
    let mut with_word: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut duplicates = Vec::new();
    for (crumb, words) in active.into_iter().zip(texts) {
        let rarest = &words[..rarest_of(words.len(), threshold)];
        let tasks = text::tasks(&crumb.text);
        let candidates: BTreeSet<usize> =
            rarest.iter().filter_map(|word| with_word.get(word)).flatten().copied().collect();
        let of = candidates.into_iter().find_map(|candidate| {
            let (later, theirs) = &kept[candidate];
            let likeness = Some(likeness(&words, theirs)).filter(|likeness| *likeness >= threshold)?;
            let known = text::tasks(&later.text);
            tasks.iter().all(|task| known.contains(task)).then(|| (later.clone(), likeness))
        });
        match of {
            Some((of, likeness)) => duplicates.push(Duplicate { crumb, of, likeness }),
            None => {
                for word in rarest {
                    with_word.entry(*word).or_default().push(kept.len());
                }
                kept.push((crumb, words));
            }
        }
    }
    Ok(duplicates)
}

fn words(crumb: &ForwardCrumb) -> HashSet<String> {
    // The published header has six lines, which differ in every forward crumb.
    let header = if text::parse(&crumb.text).is_some() { 6 } else { 0 };
    let lines = crumb.text.lines().skip(header).filter(|line| !text::is_structure(line));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The words of each text as numbers: the rarer a word is, the lower is its number. Sorted.
fn ranked(texts: &[HashSet<String>]) -> Vec<Vec<u32>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in texts.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut rare_first: Vec<(usize, &str)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    rare_first.sort_unstable();
    let numbers: HashMap<&str, u32> = rare_first.into_iter().map(|(_, word)| word).zip(0..).collect();
    let numbered = |words: &HashSet<String>| {
        let mut words: Vec<u32> = words.iter().map(|word| numbers[&**word]).collect();
        words.sort_unstable();
        words
    };
    texts.iter().map(numbered).collect()
}

/// How many of the rarest words of a text must be compared. Two texts that are alike by at least `threshold` share one of these: the
/// words that may differ are fewer.
#[expect(clippy::cast_precision_loss, reason = "no text has 2^53 words")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the number of words")]
fn rarest_of(words: usize, threshold: f64) -> usize {
    // A little less, in case the product was rounded up.
    let common = (threshold * words as f64 - 1e-6).ceil().max(0.0) as usize;
    (words - common + 1).min(words)
}

#[expect(clippy::cast_precision_loss, reason = "no text has 2^53 words")]
fn likeness(one: &[u32], other: &[u32]) -> f64 {
    let common = one.iter().filter(|word| other.binary_search(word).is_ok()).count() as f64;
    common / ((one.len() + other.len()) as f64 - common)
}

#[cfg(test)]
#[path = "../../../tests/unit/forward/dedupe.rs"]
mod tests;
