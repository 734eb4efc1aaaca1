//! The merge of one failure: counts are added, words and tags of both sides are kept, and each other part is merged on its own.

use std::borrow::Cow;

use super::pick;
use crate::base::merge::Side;
use crate::memory::crumb::exchange::FROM;
use crate::memory::crumb::grammar::entry::{Counter, Entry, SEPARATOR, SPACE, SessionRange, Tag};

/// Merges the lines of one failure; returns `None` if it is deleted. Also returns the side that deleted it, if it was kept
/// because the other side changed it.
pub(crate) fn merge<'c>(
    base: Option<&Cow<'c, str>>,
    ours: Option<&Cow<'c, str>>,
    theirs: Option<&Cow<'c, str>>,
) -> (Option<Cow<'c, str>>, Option<Side>) {
    match (ours, theirs) {
        _ if ours == base => (theirs.cloned(), None),
        _ if theirs == base => (ours.cloned(), None),
        (Some(ours), Some(theirs)) => (Some(merge_changed(base, ours, theirs)), None),
        (Some(ours), None) => (Some(ours.clone()), Some(Side::Theirs)),
        (None, theirs) => (theirs.cloned(), theirs.map(|_| Side::Ours)),
    }
}

fn merge_changed<'c>(base: Option<&Cow<'c, str>>, ours: &Cow<'c, str>, theirs: &Cow<'c, str>) -> Cow<'c, str> {
    let (Some(o), Some(t)) = (Entry::parse(ours), Entry::parse(theirs)) else { return ours.max(theirs).clone() };
    let b = base.and_then(|text| Entry::parse(text));
    let b = b.as_ref();
    let counter = (o.counter.is_some() || t.counter.is_some()).then(|| {
        let count = |entry: &Entry<'_>| i128::from(entry.counter.map_or(1, |counter| counter.count));
        let sum = count(&o) + count(&t) - b.map_or(0, count);
        let last = |entry: &Entry<'_>| entry.counter.map(|counter| (counter.last.latest(), counter.last));
        let last = pick(&b.and_then(last), &last(&o), &last(&t)).map(|(_, last)| last);
        let last = last.or(o.counter.or(t.counter).map(|counter| counter.last));
        last.map(|last| Counter { count: u64::try_from(sum.max(1)).unwrap_or(u64::MAX), last })
    });
    let part = |of: &dyn for<'e> Fn(&Entry<'e>) -> String| pick(&b.map(of), &Some(of(&o)), &Some(of(&t)));
    let text = merge_text(b.map_or("", |base| base.text), o.text, t.text);
    let tags = merge_tags(b, &o, &t);
    let reference = part(&|entry| entry.reference.map(|reference| reference.to_string()).unwrap_or_default());
    let reference = reference.as_deref().and_then(SessionRange::parse);
    let merged = Entry { reference, text: &text, counter: counter.flatten(), tags_text: &tags, ..o };
    Cow::Owned(merged.render())
}

/// The parts that both sides keep, and those that each side added. A part whose words are also in another one is there once.
fn merge_text(base: &str, ours: &str, theirs: &str) -> String {
    if ours == base || ours == theirs {
        return theirs.to_owned();
    }
    if theirs == base {
        return ours.to_owned();
    }
    let name = ours.split(SPACE).next().unwrap_or_default();
    let words = |text: &str| -> Vec<String> {
        let words = text.strip_prefix(name).unwrap_or(text).split(SEPARATOR).map(|part| part.trim_matches(SPACE));
        words.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let [base, ours, theirs] = [base, ours, theirs].map(words);
    let mut new: Vec<&String> = ours.iter().chain(&theirs).filter(|part| !base.contains(part)).collect();
    new.sort();
    new.dedup();
    let padded = |part: &str| format!(" {part} ");
    let is_part = |part: &&String| new.iter().any(|other| other != part && padded(other).contains(&padded(part)));
    let kept = base.iter().filter(|part| ours.contains(part) && theirs.contains(part));
    let parts: Vec<&str> = kept.chain(new.iter().copied().filter(|part| !is_part(part))).map(String::as_str).collect();
    if parts.is_empty() { name.to_owned() } else { format!("{name} {}", parts.join(SEPARATOR)) }
}

/// Each tag is merged on its own, by its name: that of the side that changed it, or, if both did, the one with the greater text.
fn merge_tags(base: Option<&Entry<'_>>, ours: &Entry<'_>, theirs: &Entry<'_>) -> String {
    let base_text = base.map_or("", |base| base.tags_text);
    if ours.tags_text == base_text || ours.tags_text == theirs.tags_text {
        return theirs.tags_text.to_owned();
    }
    if theirs.tags_text == base_text {
        return ours.tags_text.to_owned();
    }
    let [base, ours, theirs] =
        [base, Some(ours), Some(theirs)].map(|entry| numbered(entry.map_or(&[], |entry| &entry.tags)));
    let mut new: Vec<TagId<'_>> = ours.iter().chain(&theirs).map(|(id, _)| *id).collect();
    new.retain(|id| find(&base, *id).is_none());
    new.sort_unstable();
    new.dedup();
    let mut ids: Vec<TagId<'_>> = base.iter().map(|(id, _)| *id).chain(new).collect();
    // A tag with the sender's sessions must be the last one.
    ids.sort_by_key(|(name, _)| *name == FROM);
    let merged = ids.into_iter().filter_map(|id| {
        let tag = pick(&find(&base, id), &find(&ours, id), &find(&theirs, id))?;
        Some(format!("[{tag}]"))
    });
    merged.collect::<Vec<_>>().join(" ")
}

/// The name of a tag, and the number of earlier tags with that name.
type TagId<'t> = (&'t str, usize);

/// What the brackets of a tag contain.
fn find(tags: &[(TagId<'_>, Tag<'_>)], id: TagId<'_>) -> Option<String> {
    let (_, tag) = tags.iter().find(|(other, _)| *other == id)?;
    Some(tag.text.map_or_else(|| tag.name.to_owned(), |text| format!("{}: {text}", tag.name)))
}

fn numbered<'t>(tags: &[Tag<'t>]) -> Vec<(TagId<'t>, Tag<'t>)> {
    let earlier = |index: usize, tag: &Tag<'_>| tags[..index].iter().filter(|other| other.name == tag.name).count();
    tags.iter().enumerate().map(|(index, tag)| ((tag.name, earlier(index, tag)), *tag)).collect()
}
