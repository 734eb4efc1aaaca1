//! Refusing text that looks like a secret before it is written to a file that is committed.

use super::ui::note;
use crate::base::error::{Error, Result};
use crate::git::{Env, Repo};
use crate::memory::breadcrumb::StoreFile;
use crate::secrets::{self, Allowed, Policy};
use crate::trace::store::settings;

/// Who reads the hint: a model calls tools, and asks the user to change settings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    Person,
    Model,
}

/// Refuses a breadcrumb for the committed file whose value looks like a secret. The key is scanned too: it may give the value away.
pub(crate) fn refuse_secret_breadcrumb(caller: Caller, key: &str, value: &str) -> Result<()> {
    if StoreFile::of_key(key) == StoreFile::Secret {
        return Ok(());
    }
    let message = |what: &str| format!("the value of `{key}` holds what looks like {what}, and it would be committed");
    refuse_secret(caller, &format!("{key}={value}"), message, &format!("secret.{key}"))
}

/// Refuses text for a crumb file, which is committed, that looks like a secret.
pub(crate) fn refuse_secret_text(caller: Caller, text: &str) -> Result<()> {
    let message = |what: &str| format!("the text holds what looks like {what}, and it would be committed");
    refuse_secret(caller, text, message, "secret.<name>")
}

/// `message` is given what the secret looks like; `key` is that of a breadcrumb that git does not see.
///
/// With `trace.secrets` at `warn` or `off` the text is accepted; with `warn`, a warning is written to stderr, which no model sees, and the
/// pre-commit hook warns again.
fn refuse_secret(caller: Caller, text: &str, message: impl Fn(&str) -> String, key: &str) -> Result<()> {
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
    let Some(secret) = found.first().filter(|_| policy != Some(Policy::Off)) else { return Ok(()) };
    if policy == Some(Policy::Warn) {
        note(&format!("warning: {}", message(secret.what)));
        return Ok(());
    }
    let fingerprint = secret.fingerprint(text.as_bytes());
    let allow = format!("git config --add trace.allowSecret {fingerprint}");
    let hint = match caller {
        Caller::Person => {
            format!(
                "keep it where git does not look: git trace breadcrumb set {key} -F -; if this is a false alarm: {allow}"
            )
        }
        Caller::Model => {
            format!(
                "keep it where git does not look: `set_breadcrumb` with the key `{key}`; if this is a false alarm, ask the user to run: {allow}"
            )
        }
    };
    Err(Error::with_hint(message(secret.what), hint))
}
