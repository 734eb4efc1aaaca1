//! Refusing text that looks like a secret before it is written to a file that is committed.

use crate::base::error::{Error, Result};
use crate::git::{Env, Repo};
use crate::memory::breadcrumb::StoreFile;
use crate::secrets::{self, Allowed, Policy};
use crate::trace::store::settings;

/// Refuses a breadcrumb for the committed file whose value looks like a secret. The key is scanned too: it may give the value away.
pub(crate) fn refuse_secret_breadcrumb(key: &str, value: &str) -> Result<()> {
    if StoreFile::of_key(key) == StoreFile::Secret {
        return Ok(());
    }
    let message = |what: &str| format!("the value of `{key}` holds what looks like {what}, and it would be committed");
    refuse_secret(&format!("{key}={value}"), message, &format!("git trace breadcrumb set secret.{key}"))
}

/// Refuses text for a crumb file, which is committed, that looks like a secret.
pub(crate) fn refuse_secret_text(text: &str) -> Result<()> {
    let message = |what: &str| format!("the text holds what looks like {what}, and it would be committed");
    refuse_secret(text, message, "git trace breadcrumb set secret.<name>")
}

/// `message` is given what the secret looks like; `keep` is the command that stores it elsewhere.
///
/// With `trace.secrets` at `warn` or `off` the text is accepted; with `warn` the pre-commit hook warns about it.
fn refuse_secret(text: &str, message: impl Fn(&str) -> String, keep: &str) -> Result<()> {
    let found = secrets::find(text.as_bytes());
    if found.is_empty() {
        return Ok(());
    }
    let (policy, allowed) = match Repo::open_from_env(Env::capture(std::env::vars_os())) {
        Ok(repo) => (settings::secrets_policy(&repo)?, settings::allowed_secrets(&repo)?),
        // Without a repository that can be opened there are no settings.
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
    Err(Error::with_hint(message(secret.what), hint))
}
