//! The merge of one failure: counts are added, and each other part is merged on its own.

use std::borrow::Cow;

use super::pick;
use crate::base::merge::Side;
use crate::memory::crumb::grammar::entry::{Counter, Entry, SessionRange};

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
    let text = part(&|entry| entry.text.to_owned()).unwrap_or_default();
    let tags = part(&|entry| entry.tags_text.to_owned()).unwrap_or_default();
    let reference = part(&|entry| entry.reference.map(|reference| reference.to_string()).unwrap_or_default());
    let reference = reference.as_deref().and_then(SessionRange::parse);
    let merged = Entry { reference, text: &text, counter: counter.flatten(), tags_text: &tags, ..o };
    Cow::Owned(merged.render())
}
