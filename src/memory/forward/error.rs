//! Errors of forward crumbs.

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::git::GitError;
use crate::trace::model::name::BadAgentName;
use crate::trace::{AgentName, ItemId, TraceError};

#[derive(Debug, Error)]
pub(crate) enum ForwardError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("no agent is named")]
    NoAgent,
    #[error("cannot use `{place}`")]
    BadAgent { place: &'static str, source: BadAgentName },
    #[error("agent `{agent}` differs from `{known}` only by case")]
    OtherCase { agent: AgentName, known: AgentName },
    #[error("agent `{agent}` has no forward crumb `{}`", spec.escape_debug())]
    UnknownCrumb { agent: AgentName, spec: String },
    #[error("`{spec}` is ambiguous: it matches {}", candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    AmbiguousCrumb { spec: String, candidates: Vec<ItemId> },
    #[error("cannot read forward crumb {id}: {cause}")]
    Damaged { id: ItemId, cause: String },
    #[error("{field}: {cause}")]
    BadField { field: &'static str, cause: String },
    /// Entries are counted from 1; one invalid entry prevents the import.
    #[error("entry {number} of the input: {cause}")]
    BadEntry { number: usize, cause: String },
    #[error("the input is not an export of forward crumbs: {cause}")]
    BadExport { cause: String },
    #[error("entry {number} of the input is of the category `{}`, not `forward_crumb`", category.escape_debug())]
    OtherCategory { number: usize, category: String },
    #[error("entry {number} of the input belongs to agent `{}`, not to `{agent}`", theirs.escape_debug())]
    OtherAgent { number: usize, theirs: String, agent: AgentName },
}

impl Diagnostic for ForwardError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoAgent | Self::BadAgent { .. } => {
                Some("name the agent with --agent, GITTRACE_AGENT, or `git config trace.agent NAME`".to_owned())
            }
            Self::UnknownCrumb { .. } | Self::AmbiguousCrumb { .. } => {
                let list = "`git trace forward get --all --lookback-hours 999999 --limit 999999`";
                Some(format!("list all forward crumbs with {list}"))
            }
            Self::OtherCase { known, .. } => Some(format!("name the agent with --agent {known}")),
            Self::OtherAgent { theirs, .. } => {
                Some(format!("import forward crumbs of that agent with --agent {}", theirs.escape_debug()))
            }
            _ => None,
        }
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Trace(error) => Some(error),
            Self::Git(error) => Some(error),
            _ => None,
        }
    }
}
