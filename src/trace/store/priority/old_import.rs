//! Priorities that imports of version 0.1 set.
//!
//! Those imports gave noise, summaries, and rewound items the priority skip, which applies in every trace. Imports now delete such
//! items, in one trace. A skip of an old import is recognized by its reason and by a line without `after`, as version 0.1 wrote it. It
//! applies only in traces that descend from that import: the tag of the item points to the commit that imported it.

use std::collections::HashMap;

use super::record::{Levels, Setting};
use super::tags;
use crate::git::{Oid, Repo};
use crate::trace::model::level::Level;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{ItemId, Op, Tip, TraceError};

const REASONS: [&str; 7] = [
    "compaction summary; its originals are here",
    "compaction summary; what took its place is here",
    "session title, not said to the model",
    "shown to the person, not said to the model",
    "said again by a message",
    "left by a rewind",
    "taken up again in the session",
];

impl Setting {
    pub(crate) fn is_by_old_import(&self) -> bool {
        self.after.is_none() && self.reason.as_deref().is_some_and(|reason| REASONS.contains(&reason))
    }
}

/// The tags that show skips: the commits to which they point, by item.
pub(crate) fn skip_tags(repo: &Repo) -> Result<HashMap<ItemId, Oid>, TraceError> {
    let prefix = format!("{}{}/", tags::prefix(repo)?, Level::Skip);
    let listed = repo.list_refs(&prefix)?.into_iter();
    Ok(listed.filter_map(|(refname, oid)| Some((refname.strip_prefix(&*prefix)?.parse().ok()?, oid))).collect())
}

impl Levels {
    /// The levels that apply in a trace. Walks its history if an old import skipped some of its items.
    pub(crate) fn within(self, repo: &Repo, tip: &Tip) -> Result<Self, TraceError> {
        let mut prefix = None;
        self.within_tagged(repo, tip, |item| {
            let prefix = match &mut prefix {
                Some(prefix) => prefix,
                none => none.insert(tags::prefix(repo)?),
            };
            Ok(repo.find_ref(&format!("{prefix}{}/{item}", Level::Skip))?)
        })
    }

    /// As [`Self::within`], with other tags than those of now.
    pub(super) fn within_tagged(
        mut self,
        repo: &Repo,
        tip: &Tip,
        mut tag: impl FnMut(ItemId) -> Result<Option<Oid>, TraceError>,
    ) -> Result<Self, TraceError> {
        let is_old_skip = |setting: &Setting| setting.level == Level::Skip && setting.is_by_old_import();
        let skipped = self.set.iter().filter(|(_, set)| is_old_skip(set)).map(|(id, _)| *id);
        // The commit that imported an item; `None` if its tag is missing, as in a new clone.
        let mut wanted: HashMap<ItemId, Option<Oid>> =
            skipped.map(|item| Ok((item, tag(item)?))).collect::<Result<_, TraceError>>()?;
        if wanted.is_empty() {
            return Ok(self);
        }
        for earlier in Walk::new(repo, tip.clone(), Parents::All) {
            if wanted.is_empty() {
                return Ok(self);
            }
            let earlier = earlier?;
            let Some(item) = earlier.item().filter(|_| earlier.trailers.op == Some(Op::Import)) else { continue };
            if wanted.get(&item).is_some_and(|commit| commit.is_none_or(|commit| commit == earlier.commit.oid)) {
                wanted.remove(&item);
            }
        }
        self.set.retain(|id, _| !wanted.contains_key(id));
        Ok(self)
    }

    pub(crate) fn has_old_imports(&self) -> bool {
        self.set.values().any(Setting::is_by_old_import)
    }
}
