//! The brief: what a session needs at its start, in one text within a budget of tokens.
//!
//! It is put together from sources, each of which may have nothing to say, in the order of what matters most:
//!
//! ```text
//! # Brief for azoth
//!
//! ## Last session
//! - Split the parser from the validator. (3f9a1c2e)
//!
//! ## Open tasks
//! - Build the convergence detector (HIGH, 3f9a1c2e)
//!
//! Left out to stay within 800 tokens: 4 of Breadcrumbs, 10 of Last in the trace.
//! ```
//!
//! - What does not fit goes from the end, so the least important goes first, and the brief says how much of what.
//! - An entry is one line without control characters, so that no source forges a head or an entry of another.
//! - The same sources give the same bytes: no clock shows in it. Nothing is written.
//! - A source that cannot be read is named, and keeps no other from being told.
//!
//! Source: the compile step of the crumb format ("a single document under 800 tokens").

mod fit;
pub(crate) mod json;
mod section;
mod settings;
mod source;

use std::path::PathBuf;

use thiserror::Error;

use super::forward::ForwardError;
use crate::base::error::Diagnostic;
use crate::git::{GitError, Repo};
use crate::tokens::Encoding;
use crate::trace::{AgentName, Time, TraceError, TraceName};

pub(crate) use section::{Kind, Section};
pub(crate) use settings::of_repository;

/// The most tokens that a brief has where nobody says otherwise.
pub(crate) const DEFAULT_BUDGET: u64 = 800;

/// Whose brief it is, and what it is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    /// The agent; without one there are no forward crumbs.
    pub agent: Option<AgentName>,
    /// The most tokens that it may have.
    pub budget: u64,
    /// The encoding that they are counted with.
    pub encoding: Encoding,
    /// The agent's crumb file.
    pub crumb: Option<PathBuf>,
    /// The memory that agents share.
    pub team: Option<PathBuf>,
    /// Messages from others.
    pub inbox: Option<PathBuf>,
    /// The breadcrumbs that are asked for: keys, or what keys start with, ending in a dot.
    pub breadcrumbs: Vec<String>,
    /// The trace whose end is told.
    pub trace: TraceName,
    /// The folder from which the breadcrumb store is looked for.
    pub folder: PathBuf,
}

/// A brief.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Brief {
    /// Its text, which ends with a line break; empty where there is nothing to tell.
    pub text: String,
    /// How many tokens that is.
    pub tokens: u64,
    /// What stands in it.
    pub sections: Vec<Section>,
    /// How many entries were left out of which section.
    pub left_out: Vec<(Kind, usize)>,
    /// Sources that could not be read, and what was asked for and is not there.
    pub warnings: Vec<String>,
}

/// Why there is no brief.
#[derive(Debug, Error)]
pub(crate) enum BriefError {
    /// The repository said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The trace said no.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The agent said no.
    #[error(transparent)]
    Forward(#[from] ForwardError),
}

impl Diagnostic for BriefError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Git(error) => Some(error),
            Self::Trace(error) => Some(error),
            Self::Forward(error) => Some(error),
        }
    }
}

/// Puts a brief together, as of `now`.
///
/// Costs what the sources that are there hold near their ends; no history is walked. What a source fails with becomes one of
/// [`Brief::warnings`].
#[must_use]
pub(crate) fn compile(repo: &Repo, request: &Request, now: Time) -> Brief {
    let mut warnings = Vec::new();
    let mut sections = source::read_all(repo, request, now, &mut warnings);
    sections.retain(|section| !section.entries.is_empty());
    sections.sort_by_key(|section| section.kind);
    let title = match &request.agent {
        Some(agent) => format!("# Brief for {agent}\n"),
        None => "# Brief\n".to_owned(),
    };
    fit::fit(&title, sections, request, warnings)
}
