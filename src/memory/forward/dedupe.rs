//! Duplicates: active forward crumbs that say the same as a later one.
//!
//! Two are alike by the share of words that both have, of the words that either has (Jaccard); headers do not count. One with a
//! task that the later one lacks is no duplicate.

use std::collections::HashSet;

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
    let mut kept: Vec<(ForwardCrumb, HashSet<String>)> = Vec::new();
    let mut duplicates = Vec::new();
    for crumb in active {
        let words = words(&crumb);
        let tasks = text::tasks(&crumb.text);
        let of = kept.iter().find_map(|(later, theirs)| {
            let likeness = likeness(&words, theirs, threshold).filter(|likeness| *likeness >= threshold)?;
            let known = text::tasks(&later.text);
            tasks.iter().all(|task| known.contains(task)).then(|| (later.clone(), likeness))
        });
        match of {
            Some((of, likeness)) => duplicates.push(Duplicate { crumb, of, likeness }),
            None => kept.push((crumb, words)),
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

/// `None` if the numbers of words alone show that they are less alike than `threshold`.
#[expect(clippy::cast_precision_loss, reason = "no text has 2^53 words")]
fn likeness(one: &HashSet<String>, other: &HashSet<String>, threshold: f64) -> Option<f64> {
    let (least, most) = (one.len().min(other.len()) as f64, one.len().max(other.len()) as f64);
    if most == 0.0 || least / most < threshold {
        return None;
    }
    let common = one.intersection(other).count() as f64;
    Some(common / (least + most - common))
}
