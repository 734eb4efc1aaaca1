//! The next step after an error, and what is refused the same way wherever it is asked for.

use anyhow::{Error, Result};

use super::install::InstallError;
use crate::git::{Env, GitError, Repo};
use crate::materialize::MaterializeError;
use crate::memory::breadcrumb::{StoreError, StoreFile};
use crate::memory::brief::BriefError;
use crate::memory::checkpoint::CheckpointError;
use crate::memory::checkpoint::follow::FollowError;
use crate::memory::crumb::CrumbError;
use crate::memory::forward::ForwardError;
use crate::secrets::{self, Allowed, Policy};
use crate::trace::TraceError;
use crate::trace::store::settings;

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
            .or_else(|| cause.downcast_ref().and_then(MaterializeError::hint))
            .or_else(|| cause.downcast_ref().and_then(InstallError::hint))
            .or_else(|| cause.downcast_ref().and_then(TraceError::hint))
            .or_else(|| cause.downcast_ref().and_then(GitError::hint))
    })
}

/// Refuses a breadcrumb for the shared half, which is committed, whose value looks like a secret. The key may be what tells it.
pub(crate) fn refuse_secret_breadcrumb(key: &str, value: &str) -> Result<()> {
    if StoreFile::of_key(key) == StoreFile::Secret {
        return Ok(());
    }
    let message = |what: &str| format!("the value of `{key}` holds what looks like {what}, and it would be committed");
    refuse_secret(&format!("{key}={value}"), message, &format!("git trace breadcrumb set secret.{key}"))
}

/// Refuses a text for a crumb file, which is committed, that looks like a secret.
pub(crate) fn refuse_secret_text(text: &str) -> Result<()> {
    let message = |what: &str| format!("the text holds what looks like {what}, and it would be committed");
    refuse_secret(text, message, "git trace breadcrumb set secret.<name>")
}

/// Refuses a text with a secret in it. `message` is given what it looks like; `keep` is the command that keeps it elsewhere.
///
/// With `trace.secrets` at `warn` or `off` it is let in; of the former the hook tells again.
fn refuse_secret(text: &str, message: impl Fn(&str) -> String, keep: &str) -> Result<()> {
    let found = secrets::find(text.as_bytes());
    if found.is_empty() {
        return Ok(());
    }
    let (policy, allowed) = match Repo::open_from_env(Env::capture(std::env::vars_os())) {
        Ok(repo) => (settings::secrets_policy(&repo)?, settings::allowed_secrets(&repo)?),
        // Where there is no repository, or none that can be opened, nothing is set.
        Err(_) => (None, Allowed::default()),
    };
    let found = allowed.others(text.as_bytes(), found);
    let Some(secret) = found.first().filter(|_| !matches!(policy, Some(Policy::Off | Policy::Warn))) else {
        return Ok(());
    };
    let fingerprint = secret.fingerprint(text.as_bytes());
    let hint = format!(
        "keep it where git does not look: {keep}; if it is none: git config --add trace.allowSecret {fingerprint}"
    );
    Err(Advised { message: message(secret.what), hint }.into())
}
