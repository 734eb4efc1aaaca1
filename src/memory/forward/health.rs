//! Whether crumbs can be left and read.
//!
//! A crumb is left, found and read back in an empty repository in a temporary folder, so the one that is examined is as it
//! was, to the last object; of that one it is looked whether every crumb that is there can be read.

use std::path::Path;

use super::crumb::Priority;
use super::error::ForwardError;
use super::leave::{Note, leave};
use super::read::{Query, get};
use super::text::Content;
use crate::app::install::doctor::{Diagnosis, Health};
use crate::base::error::Diagnostic as _;
use crate::git::{Git, GitError, Repo};
use crate::tokens::Encoding;
use crate::trace::model::name::FORWARD_CRUMBS;
use crate::trace::store::signature::Signature;
use crate::trace::{AgentName, Time};

const CODE: &str = "forward-crumbs";

/// Examines the forward crumbs of a repository.
///
/// # Errors
///
/// Those of reading objects.
pub(crate) fn examine(repo: &Repo, now: Time) -> Result<Vec<Diagnosis>, ForwardError> {
    let mut found = vec![match round_trip(repo, now) {
        Ok(()) => diagnosis(Health::Good, "a crumb that is left is found again".to_owned(), ""),
        Err(cause) => {
            let remedy = "look whether temporary files can be written, and whether git knows who you are";
            diagnosis(Health::Error, format!("a crumb that is left is not found again: {cause}"), remedy)
        }
    }];
    for (refname, _) in repo.list_refs(FORWARD_CRUMBS)? {
        let Ok(agent) = refname[FORWARD_CRUMBS.len()..].parse::<AgentName>() else { continue };
        let damaged = get(repo, &agent, &Query::all(), now)?.damaged;
        let remedy = "`git log -p` of the ref shows its text; `git fsck` says whether the repository is damaged";
        if let Some(first) = damaged.first() {
            let count = damaged.len();
            let message =
                format!("agent `{agent}`: {count} cannot be read; the first is {}: {}", first.path, first.cause);
            found.push(diagnosis(Health::Error, message, remedy));
        }
    }
    Ok(found)
}

/// What is said of a repository that cannot be opened here.
#[must_use]
pub(crate) fn unusable(error: &GitError) -> Diagnosis {
    let remedy = error.hint().unwrap_or_default();
    diagnosis(Health::Error, format!("this repository cannot hold any: {error}"), &remedy)
}

fn diagnosis(health: Health, message: String, remedy: &str) -> Diagnosis {
    Diagnosis { code: CODE, health, message, remedy: remedy.to_owned() }
}

fn round_trip(repo: &Repo, now: Time) -> Result<(), String> {
    let said = |error: ForwardError| error.to_string();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let trial = empty_repository(folder.path(), repo)?;
    let signature = Signature::take(repo, now).map_err(|error| error.to_string())?;
    let agent: AgentName = "health-check".parse().map_err(|error| format!("{error}"))?;
    let content = Content { summary: "Health check test".to_owned(), ..Content::default() };
    let note = Note { priority: Priority::Low, ..Note::new(content) };
    let left = leave(&trial, &agent, &signature, Encoding::default(), &note).map_err(said)?;
    let found = get(&trial, &agent, &Query { limit: 1, ..Query::default() }, signature.at).map_err(said)?;
    if found.crumbs == [left] { Ok(()) } else { Err("what was read is not what was left".to_owned()) }
}

fn empty_repository(folder: &Path, like: &Repo) -> Result<Repo, String> {
    let format = match like.object_format() {
        crate::git::ObjectFormat::Sha1 => "sha1",
        crate::git::ObjectFormat::Sha256 => "sha256",
    };
    // A folder as an argument outranks what the environment says of places.
    let path = folder.join("trial.git");
    let args = ["init", "--quiet", "--bare", "--template=", "--object-format", format, &path.to_string_lossy()]
        .map(str::to_owned);
    Git::in_folder(folder).run(&args).map_err(|error| error.to_string())?;
    Repo::open(&path, like.env().clone()).map_err(|error| error.to_string())
}
