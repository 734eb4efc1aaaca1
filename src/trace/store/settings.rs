//! Settings of traces: git's own, and those that the project shares.
//!
//! What git config says comes first. Of the shared file ([`SHARED_SETTINGS`]) only what is listed here counts, beside the
//! types of items: nothing that runs a command or weakens a check, since it comes with whatever is checked out. The list of
//! secrets that are allowed is no exception: each entry is good for one text only.

use crate::git::{GitError, Repo, SHARED_SETTINGS, parse_number};
use crate::secrets::{Allowed, Policy};
use crate::tokens::Encoding;

/// What the shared file may set, beside `traceType.*`.
const SHARED: [&str; 3] = ["trace.encoding", "trace.budget", "trace.checkpoints"];

/// A setting as text: git's, or where git has none and it may be shared, the project's.
pub(crate) fn text(repo: &Repo, key: &str) -> Result<Option<String>, GitError> {
    let own = repo.config()?.text(key)?;
    if own.is_some() || !SHARED.contains(&key) {
        return Ok(own);
    }
    let shared = repo.shared_settings()?.iter().rev().find(|(shared, _)| shared == key);
    Ok(shared.map(|(_, value)| value.clone()))
}

/// A setting as a number, see [`text`].
pub(crate) fn number(repo: &Repo, key: &str) -> Result<Option<u64>, GitError> {
    let Some(value) = text(repo, key)? else { return Ok(None) };
    match parse_number(&value) {
        Some(number) => Ok(Some(number)),
        None => Err(bad(repo, key, value, "a number from 0")?),
    }
}

/// The encoding that `trace.encoding` names.
pub(crate) fn encoding(repo: &Repo) -> Result<Encoding, GitError> {
    const KEY: &str = "trace.encoding";
    let Some(value) = text(repo, KEY)? else { return Ok(Encoding::default()) };
    if let Ok(encoding) = value.parse() {
        return Ok(encoding);
    }
    let expected = "the name of an encoding, such as o200k_base or cl100k_base";
    Err(bad(repo, KEY, value, expected)?)
}

/// What is done about secrets: `trace.secrets`, where it is set.
pub(crate) fn secrets_policy(repo: &Repo) -> Result<Option<Policy>, GitError> {
    let Some(value) = repo.config()?.text("trace.secrets")? else { return Ok(None) };
    let Ok(policy) = value.parse() else {
        let (key, expected) = ("trace.secrets".to_owned(), "`warn`, `refuse`, `redact` or `off`");
        return Err(GitError::BadSetting { key, value, expected });
    };
    Ok(Some(policy))
}

/// The secrets that may be seen: every `trace.allowSecret` of git's settings and of the project's.
pub(crate) fn allowed_secrets(repo: &Repo) -> Result<Allowed, GitError> {
    let mut values = repo.config()?.texts("trace.allowSecret")?;
    let shared = repo.shared_settings()?.iter().filter(|(key, _)| key == "trace.allowsecret");
    values.extend(shared.map(|(_, value)| value.clone()));
    Ok(Allowed::new(values))
}

/// The error that a setting is not what it should be; it says where the setting stands.
pub(crate) fn bad(repo: &Repo, key: &str, value: String, expected: &'static str) -> Result<GitError, GitError> {
    Ok(match repo.config()?.text(key)? {
        Some(_) => GitError::BadSetting { key: key.to_owned(), value, expected },
        None => GitError::BadShared {
            path: SHARED_SETTINGS.to_owned(),
            cause: format!("`{key}` is `{}`, which is not {expected}", value.escape_debug()),
        },
    })
}
