//! Refusing secrets in what will be committed with the code.

use anyhow::Result;

use super::error::Advised;
use crate::git::{Env, Repo};
use crate::secrets::{self, Allowed, Policy};
use crate::trace::settings;

/// Refuses a text with a secret in it. `message` is given what it looks like; `keep` is the command that keeps it elsewhere.
///
/// With `trace.secrets` at `warn` or `off` it is let in; of the former the hook tells again.
pub(super) fn refuse(text: &str, message: impl Fn(&str) -> String, keep: &str) -> Result<()> {
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
