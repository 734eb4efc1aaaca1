//! The one way to change a trace: [`Trace::change`] locks it, lets the caller describe the new state on a
//! [`PendingChange`], checks the budget, writes the commits, and moves the ref.
//!
//! A change is recorded completely or not at all. It costs what the change writes plus the folders on the way, however long
//! the trace is.

use super::running_total::{RunningTotal, Usage};
use crate::base::time::Time;
use crate::git::{GitError, Ident, Oid, RefUpdate, Repo};
use crate::tokens::{Budget, BudgetAction, Encoding, Verdict};
use crate::trace::error::TraceError;
use crate::trace::model::file;
use crate::trace::model::id::ItemId;
use crate::trace::model::item::{Draft, Item};
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Op, Total, Trailers};
use crate::trace::model::tree::{self, CAPACITY, ItemEntry, TreeEditor, item_path};
use crate::trace::store::budget::{BudgetPolicy, make_room};
use crate::trace::store::commit::{CommitBuilder, ObjectSink};
use crate::trace::store::head;
use crate::trace::store::signature::Signature;
use crate::trace::store::tip::Tip;
use crate::trace::store::total::{item_cost, read_item};
use crate::trace::store::trace::Trace;

/// After how many positions git is asked to tidy up.
const MAINTENANCE_INTERVAL: u32 = 64;

/// The next state of a trace, on top of a tip: files that are put and removed, and commits that no ref points to yet.
pub(crate) struct PendingChange<'t> {
    pub trace: &'t Trace<'t>,
    pub signature: &'t Signature,
    pub encoding: Encoding,
    pub sink: ObjectSink<'t>,
    /// The state that the next commit is made on; `None` before the first commit of the trace.
    tip: Option<Tip>,
    parents: Vec<Oid>,
    editor: TreeEditor,
    pub total: RunningTotal<'t>,
    pub next_seq: u32,
    pub last_time: Option<Time>,
    budget: Option<Budget>,
    /// What was added and removed since the last commit.
    cost_in: u64,
    cost_out: u64,
    /// Whether the item that is added counts toward the budget; one that is skipped at once does not.
    pub is_charged: bool,
    pub usage: Usage,
    /// Why the budget does not admit the change.
    over_budget: Option<OverBudget>,
    committed: Option<Committed>,
    /// The results of three-way merges that were committed, oldest first.
    pub made: Vec<Made>,
    log: Option<String>,
}

/// A commit that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Made {
    pub commit: Oid,
    pub subject: String,
}

/// The newest commit of a change.
struct Committed {
    op: Option<Op>,
    log: String,
}

/// A total that exceeds the budget.
struct OverBudget {
    total: u64,
    basis: &'static str,
    budget: Budget,
}

impl OverBudget {
    fn error(&self, trace: &TraceName) -> TraceError {
        let Self { total, basis, budget } = *self;
        TraceError::OverBudget { trace: trace.clone(), total, basis, max: budget.max_tokens }
    }
}

/// What one attempt came to.
enum Attempt<T> {
    Done { commit: Option<Oid>, op: Option<Op>, next_seq: u32, value: T },
    OverBudget(OverBudget),
}

impl Trace<'_> {
    /// Changes the trace as `build` describes it; a change without a commit leaves the trace where it is. Returns the new
    /// tip, or `None` if the trace did not move.
    ///
    /// If plain git moves the ref meanwhile, `build` is called again with the new tip. If the budget's action is a command, it
    /// runs without a lock, and the change is tried once more.
    pub(crate) fn change<T, E: From<TraceError> + From<GitError>>(
        &self,
        mut build: impl FnMut(&mut PendingChange<'_>) -> Result<T, E>,
    ) -> Result<(Option<Oid>, T), E> {
        let signature = self.signature()?;
        let mut policy = self.budget().cloned();
        loop {
            let budget = policy.as_ref().map(|policy| policy.budget);
            let refusal = match self.attempt(&signature, budget, &mut build)? {
                Attempt::Done { commit, op, next_seq, value } => {
                    if let (Some(_), Some(op)) = (commit, op) {
                        self.follow_up(op, next_seq)?;
                    }
                    return Ok((commit, value));
                }
                Attempt::OverBudget(refusal) => refusal,
            };
            let error = refusal.error(self.name());
            match policy.map(|policy| policy.action) {
                Some(BudgetAction::Warn) => {
                    self.warn(&format!("warning: {error}"));
                    policy = None;
                }
                Some(BudgetAction::Command(command)) => {
                    let OverBudget { total, basis, budget } = refusal;
                    make_room(&command, self.name(), budget, total, basis)?;
                    policy = Some(BudgetPolicy::reject_above(budget));
                }
                Some(BudgetAction::Reject) | None => return Err(error.into()),
            }
        }
    }

    fn attempt<T, E: From<TraceError> + From<GitError>>(
        &self,
        signature: &Signature,
        budget: Option<Budget>,
        build: &mut impl FnMut(&mut PendingChange<'_>) -> Result<T, E>,
    ) -> Result<Attempt<T>, E> {
        self.update(signature, |tip| {
            let mut change = PendingChange::new(self, signature, tip)?;
            change.budget = budget;
            let value = build(&mut change)?;
            let (next_seq, to) = (change.next_seq, change.parents.first().copied());
            if let Some(refusal) = change.over_budget {
                return Ok(RefUpdate::Keep(Attempt::OverBudget(refusal)));
            }
            let (op, log) = match (change.committed, change.log) {
                (Some(committed), log) => (committed.op, log.unwrap_or(committed.log)),
                (None, Some(log)) => (None, log),
                (None, None) => (None, String::new()),
            };
            Ok(match to.filter(|_| !log.is_empty()) {
                Some(to) => RefUpdate::Move { to, log, value: Attempt::Done { commit: Some(to), op, next_seq, value } },
                None => RefUpdate::Keep(Attempt::Done { commit: None, op, next_seq, value }),
            })
        })
    }

    /// The first change makes its trace the current one, and some start git's maintenance.
    fn follow_up(&self, op: Op, next_seq: u32) -> Result<(), TraceError> {
        let repo = self.repo();
        if next_seq == 1 && *self.name() == TraceName::default_name() && head::chosen(repo)?.is_none() {
            head::switch(repo, self.name())?;
        }
        if op == Op::Append && next_seq.is_multiple_of(MAINTENANCE_INTERVAL) {
            repo.start_maintenance()?;
        }
        Ok(())
    }
}

impl<'t> PendingChange<'t> {
    pub(crate) fn new(trace: &'t Trace<'t>, signature: &'t Signature, tip: Option<Tip>) -> Result<Self, TraceError> {
        let (repo, encoding) = (trace.repo(), trace.encoding()?);
        Ok(Self {
            trace,
            signature,
            encoding,
            sink: ObjectSink::Loose(repo),
            parents: tip.iter().map(|tip| tip.commit.oid).collect(),
            editor: TreeEditor::new(repo, tip.as_ref().map(|tip| tip.commit.tree))?,
            total: RunningTotal::new(repo, encoding, tip.as_ref()),
            next_seq: tip.as_ref().map_or(Ok(0), |tip| tip.next_seq(repo))?,
            last_time: tip.as_ref().map(Tip::time),
            tip,
            budget: None,
            cost_in: 0,
            cost_out: 0,
            is_charged: true,
            usage: Usage::Unsaid,
            over_budget: None,
            committed: None,
            made: Vec::new(),
            log: None,
        })
    }

    pub(crate) fn repo(&self) -> &'t Repo {
        self.trace.repo()
    }

    pub(crate) fn tip(&self) -> Option<&Tip> {
        self.tip.as_ref()
    }

    /// The tip of a trace that must exist.
    pub(crate) fn require_tip(&self) -> Result<&Tip, TraceError> {
        self.tip.as_ref().ok_or_else(|| self.trace.missing())
    }

    /// The time that the next commit gets: later than that of the one before.
    pub(crate) fn at(&self) -> Time {
        self.signature.at.after(self.last_time)
    }

    /// The live items of the tip, in reading order.
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
        if self.next_seq < CAPACITY {
            Ok(self.next_seq)
        } else {
            Err(TraceError::Full { trace: self.trace.name().clone() })
        }
    }

    /// A draft as a new item, with the id that its author and time give it.
    pub(crate) fn new_item(&self, draft: Draft) -> Item {
        let placeholder = "0000000000000000".parse().expect("16 digits are an id");
        let mut item = Item { id: placeholder, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
        let parent = self.parents.first().map(Oid::as_bytes);
        let author = self.signature.author.person();
        item.id = ItemId::derive(parent, &file::render_without_id(&item), &author, self.at());
        item.keep_token_count(self.encoding);
        item
    }

    /// Adds an item, or the new content of one, at a position.
    pub(crate) fn put_item(&mut self, seq: u32, item: &Item) -> Result<(), TraceError> {
        let blob = self.sink.write_blob(file::render(item))?;
        self.put_blob(seq, item, blob)
    }

    /// As [`Self::put_item`], for an item whose file is written already.
    pub(crate) fn put_blob(&mut self, seq: u32, item: &Item, blob: Oid) -> Result<(), TraceError> {
        self.put_file(&item_path(seq, &item.fields.item_type, item.id), blob)?;
        self.next_seq = self.next_seq.max(seq + 1);
        self.count(item_cost(item, self.encoding), 0);
        Ok(())
    }

    /// Removes an item that costs this much.
    pub(crate) fn remove_item(&mut self, slot: &ItemEntry, cost: u64) -> Result<(), TraceError> {
        self.remove_file(&slot.path)?;
        self.count(0, cost);
        Ok(())
    }

    /// Adds what was put and removed to the total.
    pub(crate) fn count(&mut self, cost_in: u64, cost_out: u64) {
        self.total.add(cost_in, false);
        self.total.subtract(cost_out, false);
        self.cost_in += cost_in;
        self.cost_out += cost_out;
    }

    /// Puts a file without counting it.
    pub(crate) fn put_file(&mut self, path: &str, blob: Oid) -> Result<(), TraceError> {
        Ok(self.editor.put(self.repo(), path, blob)?)
    }

    /// Removes a file without counting it.
    pub(crate) fn remove_file(&mut self, path: &str) -> Result<(), TraceError> {
        Ok(self.editor.remove(self.repo(), path)?)
    }

    /// Puts `draft` in the place of `old`, which is in `slot`. Returns the new item; `None` if nothing differs.
    pub(crate) fn revise(
        &mut self,
        slot: &ItemEntry,
        old: &Item,
        mut draft: Draft,
    ) -> Result<Option<Item>, TraceError> {
        // The source stays, whatever the item says now.
        draft.fields.source.clone_from(&old.fields.source);
        let mut same = old.fields.clone();
        same.signature.clone_from(&draft.fields.signature);
        if same == draft.fields && draft.body == old.body {
            return Ok(None);
        }
        let revision = old.revision.saturating_add(1);
        let mut item = Item { id: old.id, fields: draft.fields, revision, tokens: None, body: draft.body };
        item.keep_token_count(self.encoding);
        self.remove_item(slot, item_cost(old, self.encoding))?;
        self.put_item(slot.seq, &item)?;
        Ok(Some(item))
    }

    /// Commits the change of one item.
    pub(crate) fn commit_item(
        &mut self,
        op: Op,
        item: ItemId,
        subject: &str,
        reason: Option<&str>,
    ) -> Result<(), TraceError> {
        let code = self.repo().find_ref("HEAD")?.map(|oid| oid.to_string());
        let reason = reason.map(str::to_owned);
        self.commit(subject, Trailers { op: Some(op), item: Some(item), code, reason, ..Trailers::default() }, None)
    }

    /// Writes a commit of what was put and removed. The tree, the total, the next position and, if there is none, the time
    /// are added to `trailers`.
    pub(crate) fn commit(
        &mut self,
        subject: &str,
        trailers: Trailers,
        author: Option<&Ident>,
    ) -> Result<(), TraceError> {
        let total = self.total.total(self.usage)?;
        if let Some(budget) = self.budget {
            self.over_budget = self.check_budget(budget, total, trailers.item)?;
            if self.over_budget.is_some() {
                return Ok(());
            }
        }
        let at = trailers.time.unwrap_or_else(|| self.at());
        let tree = self.editor.write(self.sink.trees())?;
        let op = trailers.op;
        let trailers = Trailers { time: Some(at), total: Some(total), next: Some(self.next_seq), ..trailers };
        let parents = std::mem::take(&mut self.parents);
        let builder = CommitBuilder::new(self.signature, tree, parents);
        let builder = author.into_iter().fold(builder, CommitBuilder::author);
        let commit = builder.write(&self.sink, subject, trailers)?;
        self.parents = vec![commit];
        self.last_time = Some(at);
        (self.cost_in, self.cost_out, self.usage) = (0, 0, Usage::Unsaid);
        let log = op.map_or_else(|| subject.to_owned(), |op| format!("{op}: {subject}"));
        self.committed = Some(Committed { op, log });
        Ok(())
    }

    /// Checks what is not skipped against the budget.
    fn check_budget(
        &mut self,
        budget: Budget,
        total: Total,
        item: Option<ItemId>,
    ) -> Result<Option<OverBudget>, TraceError> {
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
        let basis = total.basis.as_str();
        Ok(match budget.judge(tokens) {
            Verdict::Within { .. } => None,
            Verdict::Over { .. } => Some(OverBudget { total: tokens, basis, budget }),
        })
    }

    /// Continues on another commit, as on a tip that was just read.
    pub(crate) fn restart_on(&mut self, tip: Tip) -> Result<(), TraceError> {
        self.editor = TreeEditor::new(self.repo(), Some(tip.commit.tree))?;
        self.total = RunningTotal::new(self.repo(), self.encoding, Some(&tip));
        self.next_seq = tip.next_seq(self.repo())?;
        self.last_time = Some(tip.time());
        self.parents = vec![tip.commit.oid];
        self.tip = Some(tip);
        Ok(())
    }

    /// Replaces the tree by one that was written already.
    pub(crate) fn put_tree(&mut self, tree: Oid) -> Result<(), TraceError> {
        self.editor = TreeEditor::new(self.repo(), Some(tree))?;
        Ok(())
    }

    /// Adds a parent to the next commit.
    pub(crate) fn add_parent(&mut self, parent: Oid) {
        self.parents.push(parent);
    }

    /// The commit that the trace moves to.
    pub(crate) fn last(&self) -> Option<Oid> {
        self.parents.first().copied()
    }

    /// Moves the trace to a commit that exists already.
    pub(crate) fn move_to(&mut self, commit: Oid, log: String) {
        self.parents = vec![commit];
        self.log = Some(log);
    }

    /// Replaces the line of the reflog.
    pub(crate) fn log(&mut self, log: String) {
        self.log = Some(log);
    }

    /// Leaves the trace where it is, whatever was committed: the commits stay unreferenced.
    pub(crate) fn abandon(&mut self) {
        (self.committed, self.log) = (None, None);
    }
}
