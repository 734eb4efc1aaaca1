//! Why something could not be done with forward crumbs.

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::git::GitError;
use crate::trace::model::name::BadAgentName;
use crate::trace::model::schema::SchemaError;
use crate::trace::{AgentName, ItemId, TraceError};

/// Why something could not be done with forward crumbs.
#[derive(Debug, Error)]
pub(crate) enum ForwardError {
    /// The trace that holds them said no.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The repository said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Nobody said whose crumb it is.
    #[error("whose crumb is it? no agent was named")]
    NoAgent,
    /// The agent that the environment or the configuration names cannot be one.
    #[error("cannot use `{place}`")]
    BadAgent {
        /// Where it stands.
        place: &'static str,
        /// What is the matter with it.
        source: BadAgentName,
    },
    /// No crumb of this agent has this name.
    #[error("agent `{agent}` has no crumb `{}`", spec.escape_debug())]
    UnknownCrumb {
        /// Whose crumbs were looked through.
        agent: AgentName,
        /// What the user wrote.
        spec: String,
    },
    /// Several crumbs begin with these digits.
    #[error("`{spec}` could be any of {}", candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    AmbiguousCrumb {
        /// What the user wrote.
        spec: String,
        /// Whom it may mean, ten at most.
        candidates: Vec<ItemId>,
    },
    /// A crumb that is there, but cannot be read.
    #[error("crumb {id} cannot be read: {cause}")]
    Damaged {
        /// The crumb.
        id: ItemId,
        /// What is wrong with it.
        cause: String,
    },
    /// A part of a crumb that is to be left is not what it should be.
    #[error("{part}: {cause}")]
    BadPart {
        /// Which part.
        part: &'static str,
        /// What is wrong with it.
        cause: String,
    },
    /// A crumb that is to be imported is not one; nothing was imported.
    #[error("crumb {number} of the input: {cause}")]
    BadCrumb {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
        cause: String,
    },
    /// The input is not an export.
    #[error("this is not an export of forward crumbs: {cause}")]
    BadExport {
        /// What is wrong with it.
        cause: String,
    },
    /// The input has crumbs of another agent; nothing was imported.
    #[error("crumb {number} of the input is of agent `{}`, not of `{agent}`", theirs.escape_debug())]
    OtherAgent {
        /// Its number, from 1.
        number: usize,
        /// Whose it is.
        theirs: String,
        /// Whose crumbs it was to be among.
        agent: AgentName,
    },
}

impl From<SchemaError> for ForwardError {
    fn from(error: SchemaError) -> Self {
        Self::Trace(error.into())
    }
}

impl Diagnostic for ForwardError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoAgent | Self::BadAgent { .. } => {
                "name it with --agent, GITTRACE_AGENT, or `git config trace.agent NAME`".to_owned()
            }
            Self::UnknownCrumb { .. } | Self::AmbiguousCrumb { .. } => {
                "`git trace forward get --all --lookback-hours 999999 --limit 999999` lists them".to_owned()
            }
            Self::OtherAgent { theirs, .. } => {
                format!("crumbs of an agent are its own; import them with --agent {}", theirs.escape_debug())
            }
            _ => return None,
        })
    }

    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Trace(error) => Some(error),
            Self::Git(error) => Some(error),
            _ => None,
        }
    }
}
