//! The part of the diagnosis that concerns forward crumbs.
//!
//! A forward crumb is written and read back in an empty repository in a temporary folder, so the examined repository stays
//! unchanged. In that one, every forward crumb is read.

use std::path::Path;

use super::doctor::{Diagnosis, Health};
use crate::base::error::Diagnostic as _;
use crate::git::{Git, GitError, ObjectFormat, Repo};
use crate::memory::forward::{self, CrumbContent, ForwardError, NewCrumb, Priority, Query};
use crate::tokens::Encoding;
use crate::trace::model::name::FORWARD_CRUMBS;
use crate::trace::store::signature::Signature;
use crate::trace::{AgentName, Time};

/// Examines the forward crumbs of a repository.
pub(crate) fn examine(repo: &Repo, now: Time) -> Result<Vec<Diagnosis>, ForwardError> {
    let mut found = vec![match round_trip(repo, now) {
        Ok(()) => diagnosis(Health::Good, "a new forward crumb can be written and read".to_owned(), ""),
        Err(cause) => {
            let remedy = "check that temporary files can be written, and that git knows your name and email";
            diagnosis(Health::Error, format!("a new forward crumb cannot be written and read: {cause}"), remedy)
        }
    }];
    for (refname, _) in repo.list_refs(FORWARD_CRUMBS)? {
        let Ok(agent) = refname[FORWARD_CRUMBS.len()..].parse::<AgentName>() else { continue };
        let damaged = forward::search(repo, &agent, &Query::all(), now)?.damaged;
        let remedy = "`git log -p` of the ref shows the text; `git fsck` checks the repository for damage";
        if let Some(first) = damaged.first() {
            let count = damaged.len();
            let message = format!(
                "agent `{agent}`: {count} forward crumbs cannot be read; the first is {}: {}",
                first.path, first.cause
            );
            found.push(diagnosis(Health::Error, message, remedy));
        }
    }
    Ok(found)
}

/// The diagnosis for a repository that cannot be opened here.
pub(crate) fn unusable(error: &GitError) -> Diagnosis {
    let remedy = error.hint().unwrap_or_default();
    diagnosis(Health::Error, format!("this repository cannot hold forward crumbs: {error}"), &remedy)
}

fn diagnosis(health: Health, message: String, remedy: &str) -> Diagnosis {
    Diagnosis { code: "forward-crumbs", health, message, remedy: remedy.to_owned() }
}

fn round_trip(repo: &Repo, now: Time) -> Result<(), String> {
    let text = |error: ForwardError| error.to_string();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let trial = empty_repository(folder.path(), repo)?;
    let signature = Signature::take(repo, now).map_err(|error| error.to_string())?;
    let agent: AgentName = "health-check".parse().map_err(|error| format!("{error}"))?;
    let content = CrumbContent { summary: "Health check test".to_owned(), ..CrumbContent::default() };
    let new = NewCrumb { priority: Priority::Low, ..NewCrumb::new(content) };
    let written = forward::add(&trial, &agent, &signature, Encoding::default(), &new).map_err(text)?;
    let query = Query { limit: 1, ..Query::default() };
    let read = forward::search(&trial, &agent, &query, signature.at).map_err(text)?;
    if read.crumbs == [written] {
        Ok(())
    } else {
        Err("the text that was read differs from the written one".to_owned())
    }
}

fn empty_repository(folder: &Path, like: &Repo) -> Result<Repo, String> {
    let format = match like.object_format() {
        ObjectFormat::Sha1 => "sha1",
        ObjectFormat::Sha256 => "sha256",
    };
    // A folder given as an argument overrides GIT_DIR in the environment.
    let path = folder.join("trial.git");
    let args = ["init", "--quiet", "--bare", "--template=", "--object-format", format, &path.to_string_lossy()]
        .map(str::to_owned);
    Git::in_folder(folder).run(&args).map_err(|error| error.to_string())?;
    Repo::open(&path, like.env().clone()).map_err(|error| error.to_string())
}
