//! The next step after an error, and what is refused the same way wherever it is asked for.

use anyhow::Error;

use crate::breadcrumb::{Half, StoreError};
use crate::brief::BriefError;
use crate::check::secret;
use crate::checkpoint::CheckpointError;
use crate::checkpoint::follow::FollowError;
use crate::crumb::CrumbError;
use crate::forward::ForwardError;
use crate::git::GitError;
use crate::trace::TraceError;

/// An error with a next step of its own.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Advised {
    /// What is wrong.
    pub(crate) message: String,
    /// What to do.
    pub(crate) hint: String,
}

/// The next step, where an error in the chain knows one.
pub(crate) fn hint(error: &Error) -> Option<String> {
    error.chain().find_map(|cause| {
        let advised = cause.downcast_ref::<Advised>().map(|advised| advised.hint.clone());
        advised
            .or_else(|| cause.downcast_ref().and_then(StoreError::hint))
            .or_else(|| cause.downcast_ref().and_then(ForwardError::hint))
            .or_else(|| cause.downcast_ref().and_then(BriefError::hint))
            .or_else(|| cause.downcast_ref().and_then(CrumbError::hint))
            .or_else(|| cause.downcast_ref().and_then(CheckpointError::hint))
            .or_else(|| cause.downcast_ref().and_then(FollowError::hint))
            .or_else(|| cause.downcast_ref().and_then(TraceError::hint))
            .or_else(|| cause.downcast_ref().and_then(GitError::hint))
    })
}

/// Refuses a breadcrumb for the shared half, which is committed, whose value looks like a secret.
pub(crate) fn refuse_secret_breadcrumb(key: &str, value: &str) -> Result<(), Advised> {
    let found = if Half::of_key(key) == Half::Shared { secret::find(value.as_bytes()) } else { Vec::new() };
    let Some(secret) = found.first() else { return Ok(()) };
    let message = format!("the value of `{key}` holds what looks like {}, and it would be committed", secret.what);
    Err(Advised { message, hint: format!("keep it where git does not look: git trace breadcrumb set secret.{key}") })
}

/// Refuses a text for a crumb file, which is committed, that looks like a secret.
pub(crate) fn refuse_secret_text(text: &str) -> Result<(), Advised> {
    let found = secret::find(text.as_bytes());
    let Some(secret) = found.first() else { return Ok(()) };
    let message = format!("the text holds what looks like {}, and it would be committed", secret.what);
    let hint = "keep it where git does not look: git trace breadcrumb set secret.<name>".to_owned();
    Err(Advised { message, hint })
}
