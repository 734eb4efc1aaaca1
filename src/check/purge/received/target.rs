//! The new content of purged files.

use std::collections::BTreeSet;

use super::Survey;
use crate::check::purge::content::{Target, forget_derived};
use crate::check::purge::needle::Needle;
use crate::check::purge::rewrite::read_item;
use crate::trace::model::item_file;
use crate::trace::model::source::Source;
use crate::trace::store::tombstone::{is_marked, with_content_of};
use crate::trace::{Fields, Item, TraceError};

impl Survey<'_> {
    /// Takes what the survey has found out of it.
    pub(super) fn target(&mut self) -> Result<Target, TraceError> {
        let reason = self.purge.as_ref().map(|purge| purge.reason.as_str());
        let new = |reason| Target::new(self.items.clone(), Needle::default(), reason);
        // The reason of a remote may be anything.
        let mut target = reason.and_then(new).or_else(|| new("secret")).expect("this reason has no quote");
        let mut known = std::mem::take(&mut self.blobs);
        for (id, blob) in self.revisions.drain(..) {
            let before = read_item(id, &self.repo.read_blob(blob)?);
            let mut item = before.clone();
            let is_clean = |item: &Item| self.tombstones.of_content(item).is_none();
            let left = self.left.get(&id).filter(|left| is_clean(left));
            // The name of the file says the type. An independent purge may have left what was purged here.
            let is_usable = |left: &&Item| {
                left.fields.item_type == item.fields.item_type
                    && (!self.is_fetched || self.tombstones.of_independent(left).is_none())
            };
            match left.filter(is_usable) {
                Some(left) => {
                    item = with_content_of(&item, left);
                    clean_source(&mut item.fields, Some(&left.fields));
                }
                None => {
                    target.blank(&mut item);
                    clean_headers(&mut item.fields, left.map(|left| &left.fields));
                    forget_derived(&mut item, &before);
                }
            }
            if !is_clean(&item) {
                // It was a marker alone, and purges with other reasons left another one.
                item.body.clear();
                let reasons: BTreeSet<&str> = self.tombstones.reasons_of_id(id).collect();
                let blanked = |target: Target| {
                    let mut item = item.clone();
                    target.blank(&mut item);
                    forget_derived(&mut item, &before);
                    item
                };
                let blank = reasons.into_iter().filter_map(new).map(blanked).find(is_clean);
                item = blank.unwrap_or(item);
            }
            known.insert(blob, item_file::render(&item));
        }
        target.known = Some(known);
        Ok(target)
    }
}

/// Removes from a marker the headers of a revision that no purge has seen, unless a purge left them in another one.
fn clean_headers(fields: &mut Fields, left: Option<&Fields>) {
    let pairs =
        |fields: &Fields| [fields.kind.clone(), fields.turn.clone(), fields.name.clone(), fields.call_id.clone()];
    let [kind, turn, name, call_id] = left.map(pairs).unwrap_or_default();
    for (header, left) in [(&mut fields.kind, kind), (&mut fields.turn, turn)] {
        if *header != left {
            *header = header.take().and(left).filter(|left| is_marked(left));
        }
    }
    // A request needs these.
    for (header, left) in [(&mut fields.name, name), (&mut fields.call_id, call_id)] {
        *header = header.take().map(|header| left.filter(|left| is_marked(left)).unwrap_or(header));
    }
    clean_source(fields, left);
}

/// Removes the digest of a record that no purge has seen, unless it was removed before.
pub(super) fn clean_source(fields: &mut Fields, left: Option<&Fields>) {
    let left = left.and_then(|left| left.source.as_ref());
    if fields.source.as_ref() != left && fields.source != left.map(Source::without_record) {
        fields.source = fields.source.as_ref().map(Source::without_record);
    }
}
