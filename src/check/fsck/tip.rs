//! The tree of a tip: its layout and every item file in it.

use std::collections::HashMap;
use std::rc::Rc;

use super::blobs::{Depth, TipFacts};
use super::problem::{Problem, Repair};
use super::{Inspection, Line};
use crate::git::{Entry, Mode, Oid};
use crate::tokens::Counter;
use crate::trace::model::trailers::Basis;
use crate::trace::model::tree::{self, ItemEntry, item_path};
use crate::trace::store::signature::Signature;
use crate::trace::store::total::has_name;
use crate::trace::{ItemId, ItemType, Time, Tip, TraceError};

impl Inspection<'_> {
    pub(crate) fn tip(&mut self, line: &Line, oid: Oid) -> Result<Option<Tip>, TraceError> {
        let first = self.problems.len();
        let Some(tip) = self.read_commit(line, oid, None)? else {
            self.offer_way_back(line, oid, first)?;
            return Ok(None);
        };
        if let Some(days) = Signature::days_ahead(self.clock, tip.time()) {
            let at = Time::from_second(tip.time().as_second());
            let message = format!("it is dated {at}, {days} days from now, and later commits are dated after it");
            let problem = Problem::warning("time-future", &line.label, message).commit(oid);
            self.problems.push(problem.remedy("if a clock was wrong, go back to before it with `git trace reset`"));
        }
        self.shape(line, &tip);
        let slots = match tree::list_files(&self.trees, tip.commit.tree) {
            Ok(slots) => slots,
            Err(error) => {
                self.tree_problem(line, oid, &error);
                if !self.is_partial {
                    self.offer_way_back(line, oid, first)?;
                }
                return Ok(Some(tip));
            }
        };
        self.unique(line, oid, &slots);
        let types = Rc::clone(&self.types);
        let counter = match tip.trailers.total.map(|total| total.basis) {
            Some(Basis::Counted(id)) if tip.is_ours() => Counter::find(id),
            _ => None,
        };
        let counter = counter.unwrap_or(self.counter);
        let depth = Depth { cost: Some(counter), types: Some(&types) };
        let mut sources: HashMap<ItemId, ItemId> = HashMap::new();
        for slot in &slots {
            self.live.insert(slot.id);
            if let Some(source) = self.item(line, oid, slot, depth) {
                let first = *sources.entry(source).or_insert(slot.id);
                if first != slot.id {
                    let message = format!("it has the same source as item {first}");
                    let problem = Problem::error("source-twice", &line.label, message).commit(oid).item(Some(slot.id));
                    self.problems.push(problem.remedy(format!("delete one of them: git trace delete {}", slot.id)));
                }
            }
        }
        Ok(Some(tip))
    }

    /// Checks an item's file and returns the id that its source gives, if it has one.
    fn item(&mut self, line: &Line, commit: Oid, slot: &ItemEntry, depth: Depth<'_>) -> Option<ItemId> {
        let facts = match self.blobs.facts(self.repo, slot, depth) {
            Ok(facts) => facts?,
            Err(error) => {
                self.blob_problem(line, commit, slot, &error);
                return None;
            }
        };
        let id = slot.id;
        let mut problems = Vec::new();
        let mut reported = |problem: Problem| problems.push(problem.commit(commit).item(Some(id)));
        let named = || has_name(slot, facts.id, &facts.item_type).err().map(|cause| cause.to_string().into());
        if let Some(damage) = facts.damage.clone().or_else(named) {
            let problem = Problem::error("item-damaged", &line.label, format!("its file cannot be read: {damage}"));
            let remedy = "replace it with `git trace edit`, or with `git trace restore <item> <revision>`";
            reported(problem.remedy(remedy));
        } else if line.holds_crumbs && facts.item_type != ItemType::freeform() {
            let message = format!("a forward crumb is freeform, not {}", facts.item_type);
            reported(Problem::error("forward", &line.label, message).remedy("delete it, and leave it again"));
        }
        let TipFacts { tokens, fields, crumb } = facts.at_tip.as_deref()?;
        if let Some((kept, true_count)) = tokens {
            let message = format!("its file says {kept} tokens, but its text has {true_count}");
            let problem = Problem::error("tokens", &line.label, message);
            reported(match &line.name {
                Some(name) => problem.repair(Repair::Totals(name.clone())),
                None => problem,
            });
        }
        if let Some(cause) = fields.as_ref().filter(|_| !line.holds_crumbs) {
            let remedy = "fix it with `git trace edit`; it is read nevertheless";
            reported(Problem::warning("fields", &line.label, cause.to_string()).remedy(remedy));
        }
        if let Some(cause) = crumb.as_ref().filter(|_| line.holds_crumbs) {
            let remedy = "delete it, and leave it again; readers skip it";
            reported(
                Problem::error("forward", &line.label, format!("it is not a forward crumb: {cause}")).remedy(remedy),
            );
        }
        let source = facts.source.filter(|_| facts.damage.is_none());
        self.problems.extend(problems);
        source
    }

    /// Each id occurs once. Plain git may duplicate an item: two equal files are harmless.
    fn unique(&mut self, line: &Line, commit: Oid, slots: &[ItemEntry]) {
        let mut first: HashMap<ItemId, &ItemEntry> = HashMap::new();
        for slot in slots {
            let known = *first.entry(slot.id).or_insert(slot);
            if known.path == slot.path {
                continue;
            }
            let message = format!("it is at `{}` and at `{}`; the first one counts", known.path, slot.path);
            let problem = if known.blob == slot.blob {
                Problem::warning("id-twice", &line.label, message)
            } else {
                Problem::error("id-twice", &line.label, message + ", and the texts differ")
            };
            let remedy = "delete the item, which removes all its files, and restore it";
            self.problems.push(problem.commit(commit).item(Some(slot.id)).remedy(remedy));
        }
    }

    /// Three levels of two digits, and nothing else.
    fn shape(&mut self, line: &Line, tip: &Tip) {
        for top in self.folder(line, tip.commit.oid, tip.commit.tree) {
            let Some(above) = self.folder_path(line, tip, "", &top) else { continue };
            for middle in self.folder(line, tip.commit.oid, top.oid) {
                let Some(folder) = self.folder_path(line, tip, &above, &middle) else { continue };
                for leaf in self.folder(line, tip.commit.oid, middle.oid) {
                    self.leaf(line, tip, &folder, &leaf);
                }
            }
        }
    }

    fn folder_path(&mut self, line: &Line, tip: &Tip, above: &str, entry: &Entry) -> Option<String> {
        let path = format!("{above}{}", String::from_utf8_lossy(&entry.name));
        let is_folder = entry.mode() == Mode::Folder;
        if !is_folder || entry.name.len() != 2 || !entry.name.iter().all(u8::is_ascii_digit) {
            self.stray(line, tip, &path);
        }
        is_folder.then(|| path + "/")
    }

    fn leaf(&mut self, line: &Line, tip: &Tip, folder: &str, leaf: &Entry) {
        let path = format!("{folder}{}", String::from_utf8_lossy(&leaf.name));
        let Some((seq, item_type, id)) = tree::parse_name(&leaf.name).filter(|_| leaf.mode() == Mode::File) else {
            return self.stray(line, tip, &path);
        };
        let expected = item_path(seq, &item_type, id);
        if expected != path && folder.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/') {
            let message = format!("its path is `{path}`, but its name belongs to `{expected}`");
            let problem = Problem::warning("misplaced", &line.label, message).commit(tip.commit.oid).item(Some(id));
            self.problems.push(problem.remedy("`git trace gc --renumber` moves it; it is read where it is"));
        }
    }

    fn stray(&mut self, line: &Line, tip: &Tip, path: &str) {
        let message = format!("`{path}` is not the file of an item: it is kept but never read");
        let problem = Problem::warning("stray", &line.label, message).commit(tip.commit.oid);
        self.problems.push(problem.remedy("remove it in a worktree of the trace, unless somebody needs it"));
    }
}
