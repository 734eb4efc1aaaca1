//! The one way to change a trace: [`Trace::change`] locks it, lets the caller describe the new state on a
//! [`PendingChange`], checks the budget, writes the commits, and moves the ref.
//!
//! A change is recorded completely or not at all. It costs what the change writes plus the folders on the way, however long
//! the trace is.

use super::merge::three_way::Merged;
use super::running_total::{RunningTotal, Usage};
use crate::base::time::Time;
use crate::git::{Ident, Oid, RefUpdate, Repo};
use crate::tokens::{Budget, BudgetAction, Counter, Verdict, counter};
use crate::trace::error::Addition;
use crate::trace::model::item_file;
use crate::trace::model::trailers::{Total, Trailers, Vacant};
use crate::trace::model::tree::{self, CAPACITY, TreeEditor, item_path};
use crate::trace::store::budget_policy::{BudgetPolicy, make_room};
use crate::trace::store::commit::{CommitBuilder, ObjectSink};
use crate::trace::store::head;
use crate::trace::store::signature::Signature;
use crate::trace::store::total::{item_cost, read_item};
use crate::trace::{Draft, Item, ItemEntry, ItemId, Op, Tip, Trace, TraceError, TraceName};

/// The number of positions between two runs of git's maintenance.
const MAINTENANCE_INTERVAL: u32 = 64;

/// The next state of a trace, on top of a tip: files that are put and removed, and commits that no ref points to yet.
pub(crate) struct PendingChange<'t> {
    pub trace: &'t Trace<'t>,
    pub signature: &'t Signature,
    pub counter: Counter,
    pub sink: ObjectSink<'t>,
    /// The state that the next commit is made on; `None` before the first commit of the trace.
    tip: Option<Tip>,
    parents: Vec<Oid>,
    editor: TreeEditor,
    pub total: RunningTotal<'t>,
    pub next_seq: u32,
    /// The positions that imports left empty.
    pub vacant: Vacant,
    pub last_time: Option<Time>,
    family: Option<TraceName>,
    /// The title of the recorded session.
    pub title: Option<(ItemId, Oid)>,
    budget: Option<Budget>,
    freed: u64,
    /// The cost of additions and removals since the last commit.
    cost_in: u64,
    cost_out: u64,
    /// Whether the added item counts toward the budget; one that is skipped at once does not.
    pub is_charged: bool,
    pub usage: Usage,
    /// The results of three-way merges that were committed, oldest first.
    pub made: Vec<Made>,
    op: Option<Op>,
    /// The line of the reflog; `None` leaves the trace where it is.
    log: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Made {
    pub commit: Oid,
    pub subject: String,
}

impl Trace<'_> {
    /// Changes the trace as `build` describes it. Returns the new tip, or `None` if the trace did not move.
    ///
    /// If plain git moves the ref meanwhile, `build` is called again with the new tip. If the change exceeds the budget and the
    /// budget's action makes room, this happens without the lock of the trace, and the change is tried again.
    pub(crate) fn change<T>(
        &self,
        mut build: impl FnMut(&mut PendingChange<'_>) -> Result<T, TraceError>,
    ) -> Result<(Option<Oid>, T), TraceError> {
        let signature = self.signature()?;
        let Some(policy @ BudgetPolicy { budget, action, .. }) = self.budget() else {
            return self.attempt(&signature, None, 0, &mut build);
        };
        match (self.attempt(&signature, Some(*budget), 0, &mut build), action) {
            (Err(refusal @ TraceError::OverBudget { .. }), BudgetAction::Warn) => {
                self.warn(&format!("warning: {refusal}"));
                self.attempt(&signature, None, 0, &mut build)
            }
            (Err(TraceError::OverBudget { .. }), BudgetAction::Clean(_) | BudgetAction::Compress(_)) => {
                self.make_room(policy, |freed| self.attempt(&signature, Some(*budget), freed, &mut build))
            }
            (Err(TraceError::OverBudget { total, basis, .. }), BudgetAction::Command(command)) => {
                make_room(self.repo(), command, self.name(), *budget, total, &basis)?;
                self.attempt(&signature, Some(*budget), 0, &mut build)
            }
            (result, _) => result,
        }
    }

    /// `freed`: tokens that were removed since a provider reported the size that `build` states.
    fn attempt<T>(
        &self,
        signature: &Signature,
        budget: Option<Budget>,
        freed: u64,
        build: &mut impl FnMut(&mut PendingChange<'_>) -> Result<T, TraceError>,
    ) -> Result<(Option<Oid>, T), TraceError> {
        let (moved, value) = self.update(signature, |tip| {
            let mut change = PendingChange { budget, freed, ..PendingChange::new(self, signature, tip)? };
            let value = build(&mut change)?;
            counter::check()?;
            let PendingChange { op, next_seq, .. } = change;
            Ok(match (change.parents.first(), change.log) {
                (Some(&to), Some(log)) => RefUpdate::Move { to, log, value: (Some((to, op, next_seq)), value) },
                _ => RefUpdate::Keep((None, value)),
            })
        })?;
        if let Some((_, Some(op), next_seq)) = moved {
            self.follow_up(op, next_seq, &signature.committer)?;
        }
        Ok((moved.map(|(to, ..)| to), value))
    }

    /// The first change makes its trace the current one, and some start git's maintenance.
    fn follow_up(&self, op: Op, next_seq: u32, who: &Ident) -> Result<(), TraceError> {
        let repo = self.repo();
        if next_seq == 1 && *self.name() == TraceName::default_name() && matches!(head::chosen(repo), Ok(None)) {
            head::switch(repo, self.name(), who)?;
        }
        if op == Op::Append && next_seq.is_multiple_of(MAINTENANCE_INTERVAL) {
            repo.start_maintenance()?;
        }
        Ok(())
    }
}

impl<'t> PendingChange<'t> {
    pub(crate) fn new(trace: &'t Trace<'t>, signature: &'t Signature, tip: Option<Tip>) -> Result<Self, TraceError> {
        let (repo, counter) = (trace.repo(), trace.counter()?);
        if let Some(tip) = &tip {
            signature.warn_if_earlier(repo, trace.name(), tip.time());
        }
        Ok(Self {
            trace,
            signature,
            counter,
            sink: ObjectSink::Loose(repo),
            parents: tip.iter().map(|tip| tip.commit.oid).collect(),
            editor: TreeEditor::new(repo, tip.as_ref().map(|tip| tip.commit.tree))?,
            total: RunningTotal::new(repo, counter, tip.as_ref()),
            next_seq: tip.as_ref().map_or(Ok(0), |tip| tip.next_seq(repo))?,
            vacant: tip.as_ref().map_or(Ok(Vacant::default()), |tip| tip.vacant_gaps(repo))?,
            last_time: tip.as_ref().map(Tip::time),
            family: tip.as_ref().and_then(Tip::family).or(trace.family()).cloned(),
            title: tip.as_ref().and_then(|tip| tip.title(repo)),
            tip,
            budget: None,
            freed: 0,
            cost_in: 0,
            cost_out: 0,
            is_charged: true,
            usage: Usage::Unsaid,
            made: Vec::new(),
            op: None,
            log: None,
        })
    }

    pub(crate) fn repo(&self) -> &'t Repo {
        self.trace.repo()
    }

    pub(crate) fn tip(&self) -> Option<&Tip> {
        self.tip.as_ref()
    }

    pub(crate) fn require_tip(&self) -> Result<&Tip, TraceError> {
        self.tip.as_ref().ok_or_else(|| self.trace.missing())
    }

    /// The time of the next commit, which is later than that of the previous one.
    pub(crate) fn at(&self) -> Time {
        self.signature.at.after(self.last_time)
    }

    pub(crate) fn slots(&self) -> Result<Vec<ItemEntry>, TraceError> {
        Ok(self.tip.as_ref().map_or(Ok(Vec::new()), |tip| tree::list(self.repo(), tip.commit.tree))?)
    }

    pub(crate) fn live_item(&self, id: ItemId) -> Result<(ItemEntry, Item), TraceError> {
        self.require_tip()?;
        let slot = self.slots()?.into_iter().find(|slot| slot.id == id);
        let slot = slot.ok_or_else(|| TraceError::NotLive { item: id, trace: self.trace.name().clone() })?;
        let item = read_item(self.repo(), &slot)?;
        Ok((slot, item))
    }

    /// The position of an item that is added at the end.
    pub(crate) fn free_seq(&self) -> Result<u32, TraceError> {
        let full = || TraceError::Full { trace: self.trace.name().clone() };
        (self.next_seq < CAPACITY).then_some(self.next_seq).ok_or_else(full)
    }

    /// A draft as a new item, with the id that its author and time give it.
    pub(crate) fn new_item(&self, draft: Draft) -> Item {
        let placeholder = "0000000000000000".parse().expect("16 digits are an id");
        let mut item = Item::new(placeholder, draft);
        let parent = self.parents.first().map(Oid::as_bytes);
        let author = self.signature.author.person();
        item.id = ItemId::derive(parent, &item_file::render_without_id(&item), &author, self.at(), self.signature.at);
        item.keep_token_count(self.counter);
        item
    }

    /// Adds an item, or the new content of one, at a position.
    pub(crate) fn put_item(&mut self, seq: u32, item: &Item) -> Result<(), TraceError> {
        let blob = self.sink.write_blob(item_file::render(item))?;
        self.put_blob(seq, item, blob)
    }

    /// As [`Self::put_item`], for an item whose file is written already.
    pub(crate) fn put_blob(&mut self, seq: u32, item: &Item, blob: Oid) -> Result<(), TraceError> {
        self.put_file(&item_path(seq, &item.fields.item_type, item.id), blob)?;
        self.next_seq = self.next_seq.max(seq + 1);
        self.count(item_cost(item, self.counter), 0);
        Ok(())
    }

    /// Adds the cost of additions and removals to the total.
    pub(crate) fn count(&mut self, cost_in: u64, cost_out: u64) {
        self.total.add(cost_in, false);
        self.total.subtract(cost_out, false);
        self.cost_in += cost_in;
        self.cost_out += cost_out;
    }

    pub(crate) fn put_file(&mut self, path: &str, blob: Oid) -> Result<(), TraceError> {
        Ok(self.editor.put(self.repo(), path, blob)?)
    }

    pub(crate) fn remove_file(&mut self, path: &str) -> Result<(), TraceError> {
        Ok(self.editor.remove(self.repo(), path)?)
    }

    /// Replaces the item `old` in `slot`. Returns the new item; `None` if nothing differs.
    pub(crate) fn revise(
        &mut self,
        slot: &ItemEntry,
        old: &Item,
        mut draft: Draft,
    ) -> Result<Option<Item>, TraceError> {
        // An edit does not change where an item came from.
        draft.fields.source.clone_from(&old.fields.source);
        let mut same = old.fields.clone();
        same.signature.clone_from(&draft.fields.signature);
        if same == draft.fields && draft.body == old.body {
            return Ok(None);
        }
        let mut item = Item { revision: old.revision.saturating_add(1), ..Item::new(old.id, draft) };
        item.keep_token_count(self.counter);
        self.remove_file(&slot.path)?;
        self.count(0, item_cost(old, self.counter));
        self.put_item(slot.seq, &item)?;
        Ok(Some(item))
    }

    pub(crate) fn commit_item(
        &mut self,
        op: Op,
        item: ItemId,
        subject: &str,
        reason: Option<&str>,
    ) -> Result<(), TraceError> {
        self.commit(subject, self.trailers(op, Some(item), reason)?, None)
    }

    /// Trailers with the operation and the commit of the code.
    pub(crate) fn trailers(&self, op: Op, item: Option<ItemId>, reason: Option<&str>) -> Result<Trailers, TraceError> {
        let code = self.repo().find_ref("HEAD")?.map(|oid| oid.to_string());
        Ok(Trailers { op: Some(op), item, code, reason: reason.map(str::to_owned), ..Trailers::default() })
    }

    /// Writes a commit of the items that were put and removed, and adds the tree, the total, the next position, and, if absent, the
    /// time to `trailers`. Fails with [`TraceError::OverBudget`] if the budget does not admit it.
    pub(crate) fn commit(
        &mut self,
        subject: &str,
        trailers: Trailers,
        author: Option<&Ident>,
    ) -> Result<(), TraceError> {
        let before = self.total.before()?.tokens;
        let total = self.total.total(self.usage.minus(self.freed))?;
        let counted = self.total.trailer(total, self.next_seq)?;
        if let Some(budget) = self.budget {
            self.check_budget(budget, before, total, trailers.item)?;
        }
        let at = trailers.time.unwrap_or_else(|| self.at());
        let tree = self.editor.write(self.sink.trees())?;
        self.op = trailers.op;
        let (family, next) = (self.family.clone(), Some(self.next_seq));
        let vacant = Some(self.vacant).filter(|vacant| vacant.count > 0);
        let title = self.title.map(|(item, blob)| (item, blob.to_string()));
        let trailers =
            Trailers { time: Some(at), total: Some(total), counted, next, vacant, family, title, ..trailers };
        let parents = std::mem::take(&mut self.parents);
        let builder = CommitBuilder::new(self.signature, tree, parents);
        let builder = author.into_iter().fold(builder, CommitBuilder::author);
        self.parents = vec![builder.write(&self.sink, subject, trailers)?];
        self.last_time = Some(at);
        (self.cost_in, self.cost_out, self.usage) = (0, 0, Usage::Unsaid);
        self.log = Some(self.op.map_or_else(|| subject.to_owned(), |op| format!("{op}: {subject}")));
        Ok(())
    }

    fn check_budget(
        &mut self,
        budget: Budget,
        before: u64,
        total: Total,
        item: Option<ItemId>,
    ) -> Result<(), TraceError> {
        let skipped = self.total.skipped_in_base()?;
        let is_skipped = self
            .total
            .base_view()?
            .is_some_and(|view| view.slots.iter().any(|slot| Some(slot.id) == item && view.left_out(slot).is_some()));
        let mut tokens = total.tokens.saturating_sub(skipped);
        if !self.is_charged {
            tokens = tokens.saturating_sub(self.cost_in);
        } else if is_skipped {
            tokens = tokens.saturating_add(self.cost_out).saturating_sub(self.cost_in);
        }
        let (trace, max, basis) = (self.trace.name().clone(), budget.max_tokens, total.basis.to_string().into());
        match budget.judge(tokens) {
            Verdict::Within { .. } => Ok(()),
            Verdict::Over { .. } => {
                let added = tokens.saturating_sub(before.saturating_sub(skipped));
                let addition = Box::new(Addition { tokens: added, item });
                Err(TraceError::OverBudget { trace, total: tokens, basis, max, addition })
            }
        }
    }

    /// Continues on another commit, as if it were the tip.
    pub(crate) fn restart_on(&mut self, tip: Tip) -> Result<(), TraceError> {
        self.editor = TreeEditor::new(self.repo(), Some(tip.commit.tree))?;
        self.total = RunningTotal::new(self.repo(), self.counter, Some(&tip));
        self.next_seq = tip.next_seq(self.repo())?;
        self.vacant = tip.vacant_gaps(self.repo())?;
        self.last_time = Some(tip.time());
        self.family = tip.family().cloned().or_else(|| self.family.take());
        self.title = tip.title(self.repo());
        self.parents = vec![tip.commit.oid];
        self.tip = Some(tip);
        Ok(())
    }

    pub(crate) fn set_tree(&mut self, tree: Oid) -> Result<(), TraceError> {
        self.editor = TreeEditor::new(self.repo(), Some(tree))?;
        Ok(())
    }

    /// Admits a change that adds nothing.
    pub(crate) fn lift_budget(&mut self) {
        self.budget = None;
    }

    pub(crate) fn add_parent(&mut self, parent: Oid) {
        self.parents.push(parent);
    }

    pub(crate) fn last(&self) -> Option<Oid> {
        self.parents.first().copied()
    }

    pub(crate) fn move_to(&mut self, commit: Oid, log: String) {
        self.parents = vec![commit];
        self.log = Some(log);
    }

    pub(crate) fn log(&mut self, log: String) {
        self.log = Some(log);
    }

    /// Leaves the trace where it is: no ref will point to the commits that were made.
    pub(crate) fn abandon(&mut self) {
        self.log = None;
    }

    /// Commits the result of a three-way merge into the newest commit.
    pub(crate) fn commit_merged(
        &mut self,
        merged: &Merged,
        subject: &str,
        trailers: Trailers,
        author: Option<&Ident>,
    ) -> Result<(), TraceError> {
        self.set_tree(merged.tree)?;
        self.count(merged.cost_in, merged.cost_out);
        self.next_seq = merged.next_seq;
        merged.refilled.iter().for_each(|seq| self.vacant.refill(*seq));
        if let Some(apart) = merged.apart {
            self.vacant.end_before(apart);
        }
        self.commit(subject, trailers, author)?;
        self.made.extend(self.last().map(|commit| Made { commit, subject: subject.to_owned() }));
        Ok(())
    }
}
