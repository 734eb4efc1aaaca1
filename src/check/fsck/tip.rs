//! The tree of a tip: its layout and every item file in it.

use std::collections::HashMap;
use std::rc::Rc;

use super::blobs::{TipFacts, Wanted};
use super::problem::{Problem, Repair};
use super::{Inspection, Line};
use crate::git::{Entry, Mode, Oid, TreeStore as _};
use crate::trace::model::trailers::Basis;
use crate::trace::model::tree::{self, ItemEntry, item_path};
use crate::trace::{ItemId, ItemType, Tip, TraceError};

impl Inspection<'_> {
    /// Reads a tip and checks its tree; `None` if the tip cannot be read.
    pub(crate) fn tip(&mut self, line: &Line, oid: Oid) -> Result<Option<Tip>, TraceError> {
        let Some(tip) = self.read_commit(line, oid, None)? else { return Ok(None) };
        self.shape(line, &tip);
        let slots = match tree::list_files(&self.trees, tip.commit.tree) {
            Ok(slots) => slots,
            Err(error) => {
                self.tree_problem(line, oid, &error);
                return Ok(Some(tip));
            }
        };
        self.unique(line, oid, &slots);
        let types = Rc::clone(&self.types);
        let encoding = match tip.trailers.total.map(|total| total.basis) {
            Some(Basis::Counted(encoding)) if tip.is_ours() => encoding,
            _ => self.encoding,
        };
        let mut sources: HashMap<ItemId, ItemId> = HashMap::new();
        for slot in &slots {
            self.live.insert(slot.id);
            if let Some(source) = self.item(line, oid, slot, Wanted { cost: Some(encoding), types: Some(&types) }) {
                let first = *sources.entry(source).or_insert(slot.id);
                if first != slot.id {
                    let message = format!("it says that it came from where item {first} came from");
                    let remedy = format!("delete the one that is too much: git trace delete {}", slot.id);
                    let problem = Problem::error("source-twice", &line.label, message).commit(oid).item(Some(slot.id));
                    self.problems.push(problem.remedy(remedy));
                }
            }
        }
        Ok(Some(tip))
    }

    /// Checks an item's file and returns the id that its source gives, if it has one.
    fn item(&mut self, line: &Line, commit: Oid, slot: &ItemEntry, wanted: Wanted<'_>) -> Option<ItemId> {
        let facts = match self.blobs.facts(self.repo, slot, wanted) {
            Ok(facts) => facts?,
            Err(error) => {
                self.blob_problem(line, commit, slot, &error);
                return None;
            }
        };
        let id = slot.id;
        let mut problems = Vec::new();
        let mut reported = |problem: Problem| problems.push(problem.commit(commit).item(Some(id)));
        if let Some(damage) = &facts.damage {
            let problem = Problem::error("item-damaged", &line.label, format!("its file cannot be read: {damage}"));
            let remedy = "mend it with `git trace edit`, or go back with `git trace restore <item> <revision>`";
            reported(problem.remedy(remedy));
        } else {
            if facts.id != id {
                let message = format!("its file says `id: {}`, which edits would take for its id", facts.id);
                let remedy = format!("`git trace delete {id}`, then `git trace restore {id} <revision>`");
                reported(Problem::error("name", &line.label, message).remedy(remedy));
            }
            if facts.item_type != slot.item_type {
                let message = format!("its file says `type: {}`, and its name {}", facts.item_type, slot.item_type);
                let remedy = format!("`git trace edit {id} -t <type>` makes both say one thing");
                reported(Problem::error("name", &line.label, message).remedy(remedy));
            }
            if line.holds_crumbs && facts.item_type != ItemType::freeform() {
                let message = format!("a forward crumb is freeform, not {}", facts.item_type);
                reported(Problem::error("forward", &line.label, message).remedy("delete it, and leave it anew"));
            }
        }
        let TipFacts { tokens, fields, crumb } = facts.at_tip.as_deref()?;
        if let Some((kept, true_count)) = tokens {
            let message = format!("its file says that its text has {kept} tokens, and it has {true_count}");
            let problem = Problem::error("tokens", &line.label, message);
            reported(match &line.name {
                Some(name) => problem.repair(Repair::Totals(name.clone())),
                None => problem,
            });
        }
        if let Some(cause) = fields.as_ref().filter(|_| !line.holds_crumbs) {
            let remedy = "it is read all the same; `git trace edit` brings it in line";
            reported(Problem::warning("fields", &line.label, cause.to_string()).remedy(remedy));
        }
        if let Some(cause) = crumb.as_ref().filter(|_| line.holds_crumbs) {
            let remedy = "reading passes it over; delete it, and leave it anew";
            reported(Problem::error("forward", &line.label, format!("it is no forward crumb: {cause}")).remedy(remedy));
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
            let message = format!("it stands at `{}` and at `{}`; the first one counts", known.path, slot.path);
            let problem = if known.blob == slot.blob {
                Problem::warning("id-twice", &line.label, message)
            } else {
                Problem::error("id-twice", &line.label, message + ", and the texts differ")
            };
            let remedy = "delete the item, which takes all its files out, and restore it";
            self.problems.push(problem.commit(commit).item(Some(slot.id)).remedy(remedy));
        }
    }

    /// Three levels of two digits, and nothing else.
    fn shape(&mut self, line: &Line, tip: &Tip) {
        let Some(tops) = self.folder(line, tip, tip.commit.tree) else { return };
        for top in tops {
            if !self.is_folder(line, tip, "", &top) {
                continue;
            }
            let top_name = String::from_utf8_lossy(&top.name).into_owned();
            for middle in self.folder(line, tip, top.oid).unwrap_or_default() {
                if !self.is_folder(line, tip, &format!("{top_name}/"), &middle) {
                    continue;
                }
                let folder = format!("{top_name}/{}/", String::from_utf8_lossy(&middle.name));
                for leaf in self.folder(line, tip, middle.oid).unwrap_or_default() {
                    self.leaf(line, tip, &folder, &leaf);
                }
            }
        }
    }

    fn folder(&mut self, line: &Line, tip: &Tip, oid: Oid) -> Option<Vec<Entry>> {
        let read = self.trees.read_tree(oid);
        read.map_err(|error| self.tree_problem(line, tip.commit.oid, &error)).ok()
    }

    fn is_folder(&mut self, line: &Line, tip: &Tip, above: &str, entry: &Entry) -> bool {
        let is_folder = entry.mode() == Mode::Folder;
        if !is_folder || entry.name.len() != 2 || !entry.name.iter().all(u8::is_ascii_digit) {
            self.stray(line, tip, &format!("{above}{}", String::from_utf8_lossy(&entry.name)));
        }
        is_folder
    }

    fn leaf(&mut self, line: &Line, tip: &Tip, folder: &str, leaf: &Entry) {
        let path = format!("{folder}{}", String::from_utf8_lossy(&leaf.name));
        match tree::parse_name(&leaf.name).filter(|_| leaf.mode() == Mode::File) {
            None => self.stray(line, tip, &path),
            Some((seq, item_type, id)) => {
                let place = item_path(seq, &item_type, id);
                if place != path && folder.bytes().all(|byte| byte.is_ascii_digit() || byte == b'/') {
                    let message = format!("it stands at `{path}`, and its name says `{place}`");
                    let problem = Problem::warning("misplaced", &line.label, message).commit(tip.commit.oid);
                    let remedy = "it is read where it stands; `git trace gc --renumber` puts it in its place";
                    self.problems.push(problem.item(Some(id)).remedy(remedy));
                }
            }
        }
    }

    fn stray(&mut self, line: &Line, tip: &Tip, path: &str) {
        let message = format!("`{path}` is no item's file: it is carried along and never read");
        let problem = Problem::warning("stray", &line.label, message).commit(tip.commit.oid);
        self.problems.push(problem.remedy("take it out in a worktree of the trace, if nobody needs it"));
    }
}
