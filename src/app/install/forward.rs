//! The part of the diagnosis about forward crumbs.
//!
//! A forward crumb is written and read back in an empty repository in a temporary folder. In the examined repository, which
//! stays unchanged, every forward crumb is read.

use std::path::Path;

use super::doctor::{Diagnosis, text};
use crate::base::error::Diagnostic as _;
use crate::git::{Git, GitError, ObjectFormat, Repo};
use crate::memory::forward::{self, CrumbContent, ForwardError, NewCrumb, Priority, Query};
use crate::trace::model::name::FORWARD_CRUMBS;
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::{AgentName, Time, TraceName};

const CODE: &str = "forward-crumbs";

pub(crate) fn examine(repo: &Repo, now: Time) -> Result<Vec<Diagnosis>, ForwardError> {
    let mut found = vec![match round_trip(repo, now) {
        Ok(()) => Diagnosis::good(CODE, "a new forward crumb can be written and read"),
        Err(cause) => {
            let remedy = "check that temporary files can be written, and that git knows your name and email";
            Diagnosis::error(CODE, format!("a new forward crumb cannot be written and read: {cause}"), remedy)
        }
    }];
    for (refname, _) in repo.list_refs(FORWARD_CRUMBS)? {
        let Ok(agent) = refname[FORWARD_CRUMBS.len()..].parse::<AgentName>() else { continue };
        let damaged = forward::search(repo, &agent, &Query::all(), now)?.damaged;
        if let Some(first) = damaged.first() {
            let (count, path, cause) = (damaged.len(), &first.path, &first.cause);
            let message = format!("unreadable forward crumbs of agent `{agent}`: {count}; the first, {path}: {cause}");
            let remedy = "see the text with `git log -p` of the ref; `git fsck` checks the repository for damage";
            found.push(Diagnosis::error(CODE, message, remedy));
        }
    }
    Ok(found)
}

/// The diagnosis for a repository that cannot be opened here.
pub(crate) fn unusable(error: &GitError) -> Diagnosis {
    let message = format!("this repository cannot hold forward crumbs: {error}");
    Diagnosis::error(CODE, message, error.hint().unwrap_or_default())
}

fn round_trip(repo: &Repo, now: Time) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(text)?;
    let trial = empty_repository(folder.path(), repo)?;
    let signature = Signature::take(repo, now).map_err(text)?;
    let agent: AgentName = "health-check".parse().map_err(text)?;
    let content = CrumbContent { summary: "Health check test".to_owned(), ..CrumbContent::default() };
    let new = NewCrumb { priority: Priority::Low, ..NewCrumb::new(content) };
    let trace = Trace::new(&trial, TraceName::of_agent(&agent), signature.clone());
    let written = forward::add(&trace, &agent, &new).map_err(text)?;
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
    Git::in_folder(folder).run(&args).map_err(text)?;
    Repo::open(&path, like.env().clone()).map_err(text)
}
