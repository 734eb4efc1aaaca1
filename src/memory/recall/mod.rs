//! Recall: search in all memories by words, ranked.
//!
//! - Entries with more of the words, with rarer ones, and shorter entries rank higher (BM25). A word of a key or a section counts
//!   as several of the text. Of equal entries, the newest is first.
//! - Words are compared by their stems, see [`mod@words`]; `field:word` must match. Any of the other words may match.
//! - The index is derived from its sources and may be deleted at any time, see [`mod@index`].

mod codec;
mod entry;
mod index;
mod segment;
mod snippet;
mod sources;
mod words;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::io;
use std::path::Path;

pub(crate) use entry::{Entry, Kind};
pub(crate) use snippet::Snippet;

use crate::base::error::{Error, Result};
use crate::git::{Oid, Repo};
use crate::trace::Time;
use entry::FIELDS;
use index::{Index, Part};
use segment::{Row, Term, term};
use sources::Source;

/// What to search for. An entry must meet all conditions.
pub(crate) struct Query {
    /// The stems. Any of them may match.
    stems: Vec<String>,
    required: Vec<Term>,
    pub since: Option<Time>,
    pub limit: usize,
    pub traces: bool,
}

impl Query {
    /// Parses words and `field:word`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut query = Self { stems: Vec::new(), required: Vec::new(), since: None, limit: 10, traces: false };
        for word in text.split_whitespace() {
            match word.split_once(':').filter(|(field, _)| FIELDS.contains(field)) {
                Some((field, value)) => query.require(field, value)?,
                None => words::words(word, &mut |_, stem| {
                    if !query.stems.iter().any(|known| known == stem) {
                        query.stems.push(stem.to_owned());
                    }
                }),
            }
        }
        if query.stems.is_empty() && query.required.is_empty() {
            let hint = "`git trace recall 'rate limit'` searches for words, and `agent:spark` for a field";
            return Err(Error::with_hint("the query has no word", hint));
        }
        Ok(query)
    }

    pub(crate) fn require(&mut self, field: &str, value: &str) -> Result<()> {
        if field == "kind" {
            let kind: Kind = value.parse()?;
            self.traces |= kind == Kind::Trace;
        }
        let before = self.required.len();
        words::words(value, &mut |_, stem| self.required.push(term(field, stem)));
        if self.required.len() == before {
            return Err(Error::msg(format!("the field `{field}` of the query has no word")));
        }
        Ok(())
    }
}

pub(crate) struct Hit {
    pub entry: Entry,
    pub score: f32,
    pub snippet: Snippet,
}

#[derive(Default)]
pub(crate) struct Found {
    /// The best first.
    pub hits: Vec<Hit>,
    /// Sources that cannot be read.
    pub warnings: Vec<String>,
}

/// Searches the memories of a working tree; `folder` is where the search for breadcrumbs begins.
pub(crate) fn search(repo: &Repo, folder: &Path, query: &Query, now: Time) -> Result<Found> {
    let cache = index::folder(repo.git_dir(), "recall");
    let mut unread = Vec::new();
    let mut places = vec![(cache.clone(), sources::memories(repo, folder, &cache, &mut unread)?)];
    if query.traces {
        places.push((index::folder(repo.common_dir(), "recall-traces"), sources::traces(repo)?));
    }
    let mut found = Found::default();
    // Damage is found while a file is read. Then the index is made again, once.
    for attempt in 0..2 {
        found.warnings.clear();
        let mut read = |source: &Source, sink: &mut index::Sink| match sources::read(repo, source, sink) {
            Ok(()) => true,
            Err(error) => {
                found.warnings.push(format!("cannot search `{}`: {error}", source.place));
                false
            }
        };
        let opened = places.iter().map(|(folder, sources)| Index::open(folder, sources, &mut read));
        let opened = opened.collect::<io::Result<Vec<_>>>();
        match opened.and_then(|indexes| rank(repo, &indexes, query, now)) {
            Ok(hits) => {
                found.hits = hits;
                break;
            }
            Err(_) if attempt == 0 => places.iter().for_each(|(folder, _)| Index::forget(folder)),
            Err(error) => return Err(Error::msg(format!("cannot read the index: {error}"))),
        }
    }
    found.warnings.extend(unread);
    found.warnings.extend(sources::missing_breadcrumbs(repo, folder));
    Ok(found)
}

/// The weight of the first occurrences of a word over later ones: k1 of BM25.
const SATURATION: f32 = 1.2;

/// The penalty for long entries: b of BM25.
const LENGTH: f32 = 0.75;

/// Entries with their scores, in the order of their numbers in a segment.
type Scores = Vec<(u32, f32)>;

#[expect(clippy::cast_precision_loss, reason = "a rank needs no more digits")]
fn rank(repo: &Repo, indexes: &[Index], query: &Query, now: Time) -> io::Result<Vec<Hit>> {
    let parts: Vec<&Part> = indexes.iter().flat_map(|index| &index.parts).collect();
    let entries = indexes.iter().map(|index| index.entries).sum::<u64>() as f32;
    let average = (indexes.iter().map(|index| index.words).sum::<u64>() as f32 / entries.max(1.0)).max(1.0);
    let mut scores: Vec<Scores> = parts.iter().map(|_| Scores::new()).collect();
    let mut weights = Vec::new();
    for stem in &query.stems {
        let score = |count: u32, length: u32| {
            let norm = SATURATION * (1.0 - LENGTH + LENGTH * length as f32 / average);
            count as f32 * (SATURATION + 1.0) / (count as f32 + norm)
        };
        let found = parts.iter().map(|part| part.scores(term("", stem), &score)).collect::<io::Result<Vec<_>>>()?;
        let matching = found.iter().map(Vec::len).sum::<usize>() as f32;
        let weight = log2(1.0 + (entries - matching + 0.5) / (matching + 0.5));
        for (scores, mut found) in scores.iter_mut().zip(found) {
            for (_, score) in &mut found {
                *score *= weight;
            }
            *scores = if scores.is_empty() { found } else { joined(scores, &found) };
        }
        weights.push(weight);
    }
    for (number, required) in query.required.iter().enumerate() {
        for (scores, part) in scores.iter_mut().zip(&parts) {
            let found = part.scores(*required, &|_, _| 1.0)?;
            if number == 0 && query.stems.is_empty() {
                *scores = found;
            } else {
                scores.retain(|(doc, _)| found.binary_search_by_key(doc, |(doc, _)| *doc).is_ok());
            }
        }
    }
    let total = scores.iter().map(Vec::len).sum::<usize>();
    let mut wanted = query.limit.saturating_mul(2).max(64);
    loop {
        let hits = best(repo, &parts, &scores, wanted, query, &weights, now)?;
        if hits.len() >= query.limit || wanted >= total {
            return Ok(hits);
        }
        wanted = wanted.saturating_mul(8);
    }
}

/// Roughly the binary logarithm of a positive number: right for powers of two, and linear between them. `f32::log2` would load another
/// library at each start of the program.
#[expect(clippy::cast_precision_loss, reason = "it is rough anyway")]
fn log2(number: f32) -> f32 {
    number.to_bits() as f32 / (1_u32 << (f32::MANTISSA_DIGITS - 1)) as f32 - 127.0
}

/// The entries of both, with the sum of their scores.
fn joined(scores: &Scores, found: &Scores) -> Scores {
    let mut joined = Scores::with_capacity(scores.len() + found.len());
    let mut rest = &scores[..];
    for (doc, score) in found {
        while let Some((first, others)) = rest.split_first().filter(|(first, _)| first.0 < *doc) {
            joined.push(*first);
            rest = others;
        }
        let mut sum = *score;
        if let Some((first, others)) = rest.split_first().filter(|(first, _)| first.0 == *doc) {
            sum += first.1;
            rest = others;
        }
        joined.push((*doc, sum));
    }
    joined.extend_from_slice(rest);
    joined
}

/// The score that `wanted` entries have at least.
fn least(scores: &[Scores], wanted: usize) -> f32 {
    // Of positive numbers, the bits have the same order.
    let mut best = BinaryHeap::with_capacity(wanted.min(1 << 16));
    let mut least = 0;
    for (_, score) in scores.iter().flatten() {
        let bits = score.to_bits();
        if best.len() < wanted || bits > least {
            best.push(Reverse(bits));
            if best.len() > wanted {
                best.pop();
            }
            least = best.peek().map_or(0, |Reverse(bits)| *bits);
        }
    }
    if best.len() < wanted { 0.0 } else { f32::from_bits(least) }
}

/// The hits among the best `wanted` and those that are as good as the last of them.
fn best(
    repo: &Repo,
    parts: &[&Part],
    scores: &[Scores],
    wanted: usize,
    query: &Query,
    weights: &[f32],
    now: Time,
) -> io::Result<Vec<Hit>> {
    let least = least(scores, wanted);
    let mut rows: Vec<(f32, usize, Row)> = Vec::new();
    for (number, (part, scores)) in parts.iter().zip(scores).enumerate() {
        let (docs, chosen): (Vec<u32>, Vec<f32>) = scores.iter().filter(|(_, score)| *score >= least).copied().unzip();
        let read = part.segment.rows_of(&docs)?;
        rows.extend(chosen.into_iter().zip(read).map(|(score, row)| (score, number, row)));
    }
    let since = query.since.map_or(i64::MIN, Time::as_second);
    rows.retain(|(.., row)| row.time >= since);
    rows.sort_by(|(score, _, row), (other_score, _, other)| {
        let by_score = other_score.total_cmp(score);
        by_score.then(other.time.cmp(&row.time)).then(row.digest.cmp(&other.digest))
    });
    let (mut hits, mut texts): (Vec<Hit>, HashSet<String>) = (Vec::new(), HashSet::new());
    for (score, part, row) in rows {
        if hits.len() >= query.limit {
            break;
        }
        let record = parts[part].segment.record(&row)?;
        let mut entry = Entry::parse(&record).ok_or(io::ErrorKind::InvalidData)?;
        let is_expired = entry.until.is_some_and(|until| until <= now.as_second());
        // Branches have items in common.
        if is_expired || (entry.kind == Kind::Trace && !texts.insert(entry.blob.clone())) {
            continue;
        }
        if let Some(blob) = Oid::parse(&entry.blob, repo.object_format()) {
            // A missing object has no text.
            entry.text = sources::blob_text(entry.kind, &repo.read_blob(blob).unwrap_or_default());
        }
        let score = if query.stems.is_empty() { 0.0 } else { score };
        hits.push(Hit { snippet: Snippet::of(&entry.text, &query.stems, weights), entry, score });
    }
    Ok(hits)
}
