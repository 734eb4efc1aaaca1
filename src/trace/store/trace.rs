//! The handle of a trace, and the move of its ref.
//!
//! A change never creates a trace again that existed before. Otherwise a process that waits for the lock of a trace while another
//! one renames it would create a second trace under the old name.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::budget_policy::BudgetPolicy;
use super::signature::Signature;
use super::{archived, settings};
use crate::base::time::Time;
use crate::git::{Oid, RefUpdate, Repo};
use crate::tokens::Counter;
use crate::trace::model::name::BadTraceName;
use crate::trace::{Item, Tip, TraceError, TraceName, View};

/// A trace of a repository, to read and change.
///
/// The first change creates the trace if it does not exist.
#[derive(Clone)]
pub struct Trace<'r> {
    repo: &'r Repo,
    name: TraceName,
    /// Signs all changes; `None`: each is signed as git would, at the time of the change.
    signature: Option<Signature>,
    counter: OnceCell<Counter>,
    budget: Option<BudgetPolicy>,
    family: Option<TraceName>,
    warn: Option<&'r dyn Fn(&str)>,
}

impl Repo {
    /// The handle of the trace of this name.
    pub fn trace(&self, name: &str) -> Result<Trace<'_>, BadTraceName> {
        Ok(Trace::open(self, name.parse()?))
    }
}

impl<'r> Trace<'r> {
    /// The handle of a trace. Each change is signed as git would sign it, at the time of the change.
    #[must_use]
    pub fn open(repo: &'r Repo, name: TraceName) -> Self {
        Self { repo, name, signature: None, counter: OnceCell::new(), budget: None, family: None, warn: None }
    }

    pub(crate) fn new(repo: &'r Repo, name: TraceName, signature: Signature) -> Self {
        Self { signature: Some(signature), ..Self::open(repo, name) }
    }

    /// Counts with this counter instead of the configured one.
    #[cfg(test)]
    pub(crate) fn with_counter(self, counter: Counter) -> Self {
        Self { counter: OnceCell::from(counter), ..self }
    }

    pub(crate) fn with_budget(self, budget: Option<BudgetPolicy>) -> Self {
        Self { budget, ..self }
    }

    /// The family of sessions that changes add the trace to if it belongs to none.
    pub(crate) fn with_family(self, family: TraceName) -> Self {
        Self { family: Some(family), ..self }
    }

    pub(crate) fn without_family_if(self, is_refused: impl Fn(&TraceName) -> bool) -> Self {
        Self { family: self.family.filter(|family| !is_refused(family)), ..self }
    }

    pub(crate) fn with_warnings(self, warn: &'r dyn Fn(&str)) -> Self {
        Self { warn: Some(warn), ..self }
    }

    pub(crate) fn repo(&self) -> &'r Repo {
        self.repo
    }

    /// The name of the trace.
    #[must_use]
    pub fn name(&self) -> &TraceName {
        &self.name
    }

    pub(crate) fn budget(&self) -> Option<&BudgetPolicy> {
        self.budget.as_ref()
    }

    pub(crate) fn family(&self) -> Option<&TraceName> {
        self.family.as_ref()
    }

    pub(crate) fn warn(&self, warning: &str) {
        if let Some(warn) = self.warn {
            warn(warning);
        }
    }

    pub(crate) fn signature(&self) -> Result<Cow<'_, Signature>, TraceError> {
        match &self.signature {
            Some(signature) => Ok(Cow::Borrowed(signature)),
            None => Ok(Cow::Owned(Signature::take(self.repo, Time::now())?)),
        }
    }

    pub(crate) fn counter(&self) -> Result<Counter, TraceError> {
        if let Some(counter) = self.counter.get() {
            return Ok(*counter);
        }
        let counter = settings::counter(self.repo, Some(&self.name))?;
        Ok(*self.counter.get_or_init(|| counter))
    }

    pub(crate) fn tip(&self) -> Result<Tip, TraceError> {
        Tip::of_trace(self.repo, &self.name)
    }

    /// Lists the live items with their current priorities.
    ///
    /// # Errors
    ///
    /// [`TraceError::NoSuchTrace`] if the trace has no commit yet.
    pub fn view(&self) -> Result<View, TraceError> {
        View::open(self.repo, &self.name, None)
    }

    /// Reads all live items in reading order, including skipped ones. Fails as [`Self::view`] does.
    pub fn items(&self) -> Result<Vec<Item>, TraceError> {
        let view = self.view()?;
        let mut items = Vec::with_capacity(view.slots.len());
        view.for_each_item(self.repo, |_, reading| {
            items.push(reading.item);
            Ok(())
        })?;
        Ok(items)
    }

    /// Moves the trace as `build` decides, which gets the tip under the trace's lock.
    ///
    /// If plain git moves the ref meanwhile, `build` is called again with the new tip.
    pub(crate) fn update<T>(
        &self,
        signature: &Signature,
        mut build: impl FnMut(Option<Tip>) -> Result<RefUpdate<T>, TraceError>,
    ) -> Result<T, TraceError> {
        self.update_from(signature, |oid| build(oid.map(|oid| Tip::read(self.repo, oid)).transpose()?))
    }

    /// As [`Self::update`], without reading the tip.
    pub(crate) fn update_from<T>(
        &self,
        signature: &Signature,
        mut build: impl FnMut(Option<Oid>) -> Result<RefUpdate<T>, TraceError>,
    ) -> Result<T, TraceError> {
        let (repo, refname) = (self.repo, self.name.refname());
        Tip::note(repo, &self.name)?;
        let lock = repo.lock(&refname)?;
        repo.update_ref(&lock, &signature.committer, |oid| {
            if oid.is_some() {
                repo.note_there(&refname);
            } else if repo.was_there(&refname) {
                return Err(TraceError::Vanished { name: self.name.clone() });
            }
            let update = build(oid)?;
            if let (None, RefUpdate::Move { to, .. }) = (oid, &update) {
                archived::refuse_name(repo, &self.name, Some(*to))?;
            }
            Ok(update)
        })
    }

    pub(crate) fn missing(&self) -> TraceError {
        Tip::missing(self.repo, &self.name)
    }
}

impl std::fmt::Debug for Trace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("name", &self.name).finish_non_exhaustive()
    }
}
