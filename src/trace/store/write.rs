//! Recording one change of a trace: objects, then the ref, from where it was seen.

use jiff::Timestamp;

use super::advance::{Advance, advance};
use super::head;
use super::settings;
use super::sign;
use super::tip::Tip;
use super::view::View;
use crate::base::time::Time;
use crate::git::{Ident, NewCommit, Oid, Repo};
use crate::tokens::framing::PER_REPLY;
use crate::tokens::{Budget, Encoding, Verdict};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::{Basis, Op, Total, Trailers};
use crate::trace::model::tree::{CAPACITY, ItemEntry, TreeEditor};

/// Every how many positions git is asked to tidy up.
const MAINTENANCE_INTERVAL: u32 = 64;

/// Who writes, and when.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Who is the author.
    pub author: Ident,
    /// Who commits.
    pub committer: Ident,
    /// The moment, to the nanosecond.
    pub at: Time,
}

impl Signature {
    /// Takes both persons as git would choose them. A committer date fixed in the environment fixes the moment too.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::NoIdentity`] with git's advice.
    pub fn take(repo: &Repo, clock: Time) -> Result<Self, TraceError> {
        let now = Timestamp::from_nanosecond(clock.as_nanosecond()).unwrap_or_default();
        let committer = repo.committer(now)?;
        let at = if committer.seconds() == clock.as_second() { clock } else { Time::from_second(committer.seconds()) };
        Ok(Self { author: repo.author(now)?, committer, at })
    }
}

/// One change of a trace, about to become a commit.
#[derive(Debug)]
pub(crate) struct Step {
    /// What is done.
    pub op: Op,
    /// To which item.
    pub item: ItemId,
    /// The commit's first line.
    pub subject: String,
    /// Why.
    pub reason: Option<String>,
    /// Files written and removed, in this order, by path.
    pub files: Vec<(String, Option<Oid>)>,
    /// What the items that come in cost.
    pub cost_in: u64,
    /// What the items that go out cost.
    pub cost_out: u64,
    /// The next position after this change.
    pub next_seq: u32,
    /// Whether the item is charged to the budget; one that comes in skipped is not.
    pub charged: bool,
    /// What a provider reported the whole context to take, this change included.
    pub reported_tokens: Option<u64>,
}

/// How changes are counted, and what they are held against.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Accounting {
    /// The encoding that costs are counted with.
    pub encoding: Encoding,
    /// The most that the trace may count for; a change that goes over it is refused.
    pub budget: Option<Budget>,
}

impl Accounting {
    /// Counting with an encoding, without a budget.
    #[must_use]
    pub fn counting(encoding: Encoding) -> Self {
        Self { encoding, budget: None }
    }
}

/// The state a change is made on.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    /// The trace.
    pub name: &'a TraceName,
    /// Its tip; `None` before the first commit.
    pub tip: Option<&'a Tip>,
    /// The moment the change gets: later than the tip's.
    pub at: Time,
    /// The encoding that costs are counted with.
    pub encoding: Encoding,
}

impl Ground<'_> {
    /// The position that an item that comes in now gets.
    ///
    /// # Errors
    ///
    /// [`TraceError::Full`] where there is none left.
    pub(crate) fn free_seq(&self, repo: &Repo) -> Result<u32, TraceError> {
        let seq = self.tip.map_or(Ok(0), |tip| tip.next_seq(repo))?;
        if seq < CAPACITY { Ok(seq) } else { Err(TraceError::Full { trace: self.name.clone() }) }
    }

    /// The tip; a change of something that is there needs one.
    ///
    /// # Errors
    ///
    /// [`TraceError::NoSuchTrace`] where there is none.
    pub(crate) fn require_tip(&self) -> Result<&Tip, TraceError> {
        self.tip.ok_or_else(|| TraceError::NoSuchTrace { name: self.name.clone() })
    }
}

/// Records the change that `build` makes of the trace's tip, under the trace's lock; `build` says `None` for no change.
///
/// If somebody without our lock moved the ref meanwhile, `build` is called again with the new tip. What is returned was
/// committed. Reads the tip, writes what the step names, three trees and a commit, whatever the length of the trace.
///
/// # Errors
///
/// What `build` returns, and the errors of [`advance`]; then nothing was changed.
pub(crate) fn record<T>(
    repo: &Repo,
    name: &TraceName,
    signature: &Signature,
    accounting: Accounting,
    mut build: impl FnMut(&Ground<'_>) -> Result<(Option<Step>, T), TraceError>,
) -> Result<(Option<Oid>, T), TraceError> {
    let (commit, (answer, step)) = advance(repo, name, &signature.committer, |tip| {
        let at = signature.at.after(tip.map(Tip::time));
        let ground = Ground { name, tip, at, encoding: accounting.encoding };
        let (step, answer) = build(&ground)?;
        let Some(step) = step else { return Ok((None, (answer, None))) };
        let total = total_after(repo, &ground, &step)?;
        if let Some(budget) = accounting.budget {
            hold_against(repo, &ground, &step, total, budget)?;
        }
        let commit = write_step(repo, &ground, signature, &step, total)?;
        let advance = Advance { to: commit, log: format!("{}: {}", step.op, step.subject) };
        Ok((Some(advance), (answer, Some(step))))
    })?;
    if let Some(step) = step {
        settle(repo, name, &step)?;
    }
    Ok((commit, answer))
}

fn write_step(
    repo: &Repo,
    ground: &Ground<'_>,
    signature: &Signature,
    step: &Step,
    total: Total,
) -> Result<Oid, TraceError> {
    let mut editor = TreeEditor::new(repo, ground.tip.map(|tip| tip.commit.tree))?;
    for (path, blob) in &step.files {
        match blob {
            Some(blob) => editor.put(repo, path, *blob)?,
            None => editor.remove(repo, path)?,
        }
    }
    let tree = editor.write(repo)?;
    let trailers = Trailers {
        op: Some(step.op),
        item: Some(step.item),
        time: Some(ground.at),
        tree: Some(tree.to_string()),
        total: Some(total),
        next: Some(step.next_seq),
        source: None,
        code: repo.find_ref("HEAD")?.map(|oid| oid.to_string()),
        from: None,
        reason: step.reason.clone(),
    };
    let message = trailers.render(&step.subject);
    let parents: Vec<Oid> = ground.tip.map(|tip| tip.commit.oid).into_iter().collect();
    let commit = NewCommit {
        tree,
        parents: &parents,
        author: &signature.author,
        committer: &signature.committer,
        message: &message,
    };
    sign::write_commit(repo, &commit)
}

/// What the whole tree counts for after a step, skipped items included.
///
/// What a provider reports leaves out what was skipped, so that is added: reading takes it off again.
fn total_after(repo: &Repo, ground: &Ground<'_>, step: &Step) -> Result<Total, TraceError> {
    if let Some(reported) = step.reported_tokens {
        let skipped = match ground.tip {
            Some(tip) => View::at(repo, tip.clone(), None)?.left_out_cost(repo, ground.encoding)?,
            None => 0,
        };
        return Ok(Total { tokens: reported.saturating_add(skipped), basis: Basis::Reported });
    }
    let before = match ground.tip {
        Some(tip) => tip.total(repo, ground.encoding)?,
        None => Total { tokens: PER_REPLY, basis: Basis::Counted(ground.encoding) },
    };
    Ok(Total { tokens: before.tokens.saturating_add(step.cost_in).saturating_sub(step.cost_out), ..before })
}

/// Refuses a step that takes what is not skipped over the budget.
fn hold_against(repo: &Repo, ground: &Ground<'_>, step: &Step, total: Total, budget: Budget) -> Result<(), TraceError> {
    let (skipped, is_skipped) = match ground.tip {
        Some(tip) => {
            let view = View::at(repo, tip.clone(), None)?;
            let is_left_out = |slot: &ItemEntry| slot.id == step.item && view.left_out(slot).is_some();
            (view.left_out_cost(repo, ground.encoding)?, view.slots.iter().any(is_left_out))
        }
        None => (0, false),
    };
    let mut tokens = total.tokens.saturating_sub(skipped);
    if !step.charged {
        tokens = tokens.saturating_sub(step.cost_in);
    } else if is_skipped {
        tokens = tokens.saturating_add(step.cost_out).saturating_sub(step.cost_in);
    }
    match budget.judge(tokens) {
        Verdict::Within { .. } => Ok(()),
        Verdict::Over { .. } => Err(TraceError::OverBudget {
            trace: ground.name.clone(),
            total: tokens,
            basis: total.basis.as_str(),
            max: budget.max_tokens,
        }),
    }
}

/// What follows a recorded change: the first one makes its trace the current one, and some start git's maintenance.
fn settle(repo: &Repo, name: &TraceName, step: &Step) -> Result<(), TraceError> {
    if step.next_seq == 1 && *name == TraceName::default_name() && head::chosen(repo)?.is_none() {
        head::switch(repo, name)?;
    }
    if step.op == Op::Append && step.next_seq.is_multiple_of(MAINTENANCE_INTERVAL) {
        repo.start_maintenance()?;
    }
    Ok(())
}

/// The encoding that `trace.encoding` chooses, in git config or else in the project's shared settings.
///
/// # Errors
///
/// [`crate::git::GitError::BadSetting`] if it names none that is known.
pub(crate) fn encoding(repo: &Repo) -> Result<Encoding, TraceError> {
    const KEY: &str = "trace.encoding";
    let Some(value) = settings::text(repo, KEY)? else { return Ok(Encoding::default()) };
    if let Ok(encoding) = value.parse() {
        return Ok(encoding);
    }
    let expected = "the name of an encoding, such as o200k_base or cl100k_base";
    Err(settings::bad(repo, KEY, value, expected)?.into())
}
