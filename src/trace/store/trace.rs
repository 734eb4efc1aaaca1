//! A handle on one trace, and the move of its ref.
//!
//! A trace that existed is never started anew: a process that waits for the lock of a trace that is being renamed would
//! otherwise start a second one under the old name.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::backup::back_up;
use super::budget::BudgetPolicy;
use super::settings;
use super::signature::Signature;
use super::tip::Tip;
use super::view::View;
use crate::base::time::Time;
use crate::git::{GitError, LogLine, Oid, RefUpdate, Repo};
use crate::tokens::Encoding;
use crate::trace::error::TraceError;
use crate::trace::model::item::Item;
use crate::trace::model::name::TraceName;

/// A trace of a repository: where its items are read and changed.
///
/// The trace need not exist: the first change creates it.
#[derive(Clone)]
pub struct Trace<'r> {
    repo: &'r Repo,
    name: TraceName,
    who: Who,
    encoding: OnceCell<Encoding>,
    budget: Option<BudgetPolicy>,
    warn: Option<&'r dyn Fn(&str)>,
}

/// Who signs the changes of a [`Trace`].
#[derive(Clone, Debug)]
pub(crate) enum Who {
    Fixed(Signature),
    /// Each change is signed as git would sign it, at the time that this clock shows then.
    Clock(fn() -> Time),
}

impl From<Signature> for Who {
    fn from(signature: Signature) -> Self {
        Self::Fixed(signature)
    }
}

impl<'r> Trace<'r> {
    /// A handle that signs each change as git would, at the time of the change.
    #[must_use]
    pub fn open(repo: &'r Repo, name: TraceName) -> Self {
        Self::new(repo, name, Who::Clock(Time::now))
    }

    pub(crate) fn new(repo: &'r Repo, name: TraceName, who: impl Into<Who>) -> Self {
        Self { repo, name, who: who.into(), encoding: OnceCell::new(), budget: None, warn: None }
    }

    /// Counts with this encoding, not with the one that `trace.encoding` names.
    #[must_use]
    pub(crate) fn with_encoding(self, encoding: Encoding) -> Self {
        Self { encoding: OnceCell::from(encoding), ..self }
    }

    /// Checks changes of items against a budget.
    #[must_use]
    pub(crate) fn with_budget(self, budget: Option<BudgetPolicy>) -> Self {
        Self { budget, ..self }
    }

    /// Hands warnings about changes to `warn`: secrets that were found, a budget that is exceeded.
    #[must_use]
    pub(crate) fn with_warnings(self, warn: &'r dyn Fn(&str)) -> Self {
        Self { warn: Some(warn), ..self }
    }

    pub(crate) fn repo(&self) -> &'r Repo {
        self.repo
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &TraceName {
        &self.name
    }

    pub(crate) fn budget(&self) -> Option<&BudgetPolicy> {
        self.budget.as_ref()
    }

    pub(crate) fn warn(&self, warning: &str) {
        if let Some(warn) = self.warn {
            warn(warning);
        }
    }

    pub(crate) fn signature(&self) -> Result<Cow<'_, Signature>, TraceError> {
        match &self.who {
            Who::Fixed(signature) => Ok(Cow::Borrowed(signature)),
            Who::Clock(now) => Ok(Cow::Owned(Signature::take(self.repo, now())?)),
        }
    }

    pub(crate) fn encoding(&self) -> Result<Encoding, TraceError> {
        if let Some(encoding) = self.encoding.get() {
            return Ok(*encoding);
        }
        let encoding = settings::encoding(self.repo)?;
        Ok(*self.encoding.get_or_init(|| encoding))
    }

    pub(crate) fn tip(&self) -> Result<Tip, TraceError> {
        Tip::of_trace(self.repo, &self.name)
    }

    /// The live items with their priorities, as they are now.
    ///
    /// # Errors
    ///
    /// [`TraceError::NoSuchTrace`], and those of reading objects.
    pub fn view(&self) -> Result<View, TraceError> {
        View::open(self.repo, &self.name, None)
    }

    /// The live items in reading order, skipped ones included. Reads every item.
    ///
    /// # Errors
    ///
    /// As [`Self::view`].
    pub fn items(&self) -> Result<Vec<Item>, TraceError> {
        let view = self.view()?;
        let mut items = Vec::with_capacity(view.slots.len());
        view.for_each_item(self.repo, |_, reading| {
            items.push(reading.item);
            Ok(())
        })?;
        Ok(items)
    }

    /// Moves the trace to where `build` says; `build` sees the tip under the trace's lock.
    ///
    /// If plain git moves the ref meanwhile, `build` is called again with the new tip.
    pub(crate) fn update<T, E: From<TraceError> + From<GitError>>(
        &self,
        signature: &Signature,
        mut build: impl FnMut(Option<Tip>) -> Result<RefUpdate<T>, E>,
    ) -> Result<T, E> {
        let (repo, refname) = (self.repo, self.name.refname());
        Tip::note(repo, &self.name)?;
        let lock = repo.lock(&refname)?;
        repo.update_ref(&lock, &signature.committer, |oid| {
            if oid.is_some() {
                repo.note_there(&refname);
            } else if repo.was_there(&refname) {
                return Err(TraceError::Vanished { name: self.name.clone() }.into());
            }
            build(oid.map(|oid| Tip::read(repo, oid)).transpose()?)
        })
    }

    /// Moves the trace to a commit that need not descend from its tip, and backs up the tip; `build` decides as in
    /// [`Self::update`].
    pub(crate) fn relocate<T>(
        &self,
        mut build: impl FnMut(&Tip) -> Result<RefUpdate<T>, TraceError>,
    ) -> Result<T, TraceError> {
        let signature = self.signature()?;
        self.update(&signature, |tip| {
            let tip = tip.ok_or_else(|| self.missing())?;
            let update = build(&tip)?;
            if let RefUpdate::Move { log, .. } = &update {
                back_up(self.repo, &self.name, tip.commit.oid, LogLine { who: &signature.committer, why: log })?;
            }
            Ok(update)
        })
    }

    /// Moves the trace to `to`. Returns the tip before, or `None` if the trace was there already.
    pub(crate) fn reset(&self, to: Oid, spec: &str) -> Result<Option<Tip>, TraceError> {
        self.relocate(|tip| {
            Ok(if tip.commit.oid == to {
                RefUpdate::Keep(None)
            } else {
                RefUpdate::Move { to, log: format!("reset: to {spec}"), value: Some(tip.clone()) }
            })
        })
    }

    /// The error that the trace does not exist.
    pub(crate) fn missing(&self) -> TraceError {
        TraceError::NoSuchTrace { name: self.name.clone() }
    }
}

impl std::fmt::Debug for Trace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("name", &self.name).field("who", &self.who).finish_non_exhaustive()
    }
}
