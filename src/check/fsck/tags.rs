//! Priority tags: one per item of the record, at the commit that introduced the item, if that commit is here.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::Inspection;
use super::problem::{Problem, Repair};
use crate::git::{GitError, Oid, RefListing};
use crate::trace::ItemId;
use crate::trace::model::level::Level;
use crate::trace::model::tree;

impl Inspection<'_> {
    pub(crate) fn tags(&mut self, listing: &RefListing) {
        let mut tagged: HashSet<ItemId> = HashSet::new();
        let mut problems = Vec::new();
        for (refname, target) in &listing.refs {
            let Some(name) = refname.strip_prefix(&self.prefix) else { continue };
            let parts = name.split_once('/').map(|(level, item)| (level.parse::<Level>(), item.parse::<ItemId>()));
            let Some((Ok(level), Ok(item))) = parts else {
                let message = "this is not a level and an item";
                problems.push(Problem::warning("tag-name", refname, message).commit(*target));
                continue;
            };
            let error = |message: String, repair| {
                Problem::error("tag", refname, message).commit(*target).item(Some(item)).repair(repair)
            };
            if self.is_record_partial && !self.levels.contains_key(&item) {
                continue;
            }
            let Some(recorded) = self.levels.get(&item) else {
                let message = "the record has no priority for this item".to_owned();
                problems.push(error(message, Repair::RecordTag(Reverse(level), item, *target)));
                continue;
            };
            let brought_in = self.introductions.get(&item);
            let beginning = brought_in.and_then(|commits| commits.last()).copied();
            let repair = Repair::Tag(item, beginning.unwrap_or(*target));
            if *recorded != level {
                problems.push(error(format!("the record says that the item is {recorded}"), repair));
                continue;
            }
            tagged.insert(item);
            if let (Some(commits), Some(beginning)) = (brought_in, beginning)
                && !commits.contains(target)
                && !self.has_item(*target, item)
            {
                let message = format!("it points to a commit without the item, which {beginning} introduced");
                problems.push(error(message, repair));
            }
        }
        let mut missing: Vec<_> = self.levels.iter().filter(|(item, _)| !tagged.contains(item)).collect();
        missing.sort();
        for (item, level) in missing {
            if let Some(commit) = self.introductions.get(item).and_then(|commits| commits.last()) {
                let message = format!("the record says that the item is {level}, but there is no tag");
                let problem = Problem::warning("tag-missing", &self.prefix, message).commit(*commit).item(Some(*item));
                problems.push(problem.repair(Repair::Tag(*item, *commit)));
            }
        }
        self.problems.extend(problems);
    }

    /// Whether a commit has an item. It need not be the one that introduced it: that one may no longer be in the history of a trace, as
    /// after a rebase by plain git, and a shallow clone may not have had it when the tag was set.
    fn has_item(&self, commit: Oid, item: ItemId) -> bool {
        let slots = self.repo.read_commit(commit).and_then(|found| tree::list(self.repo, found.tree));
        match slots {
            Ok(slots) => slots.iter().any(|slot| slot.id == item),
            // A partial clone cannot tell.
            Err(GitError::MissingObject { .. }) => self.is_partial,
            Err(_) => false,
        }
    }
}
