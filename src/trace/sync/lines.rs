//! Sharing histories of lines. The one named `<shared>` is `refs/trace-records/<shared>` on a remote, and
//! `refs/trace-remote-records/<remote>/<shared>` as last fetched.
//!
//! The shared name differs from the local one, because servers refuse refs with only one component after `refs/`. A pushed commit is
//! based on the remote's history alone, so it contains no line that was not to be pushed.

use std::hash::{BuildHasher as _, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use super::address::Target;
use super::push::see;
use crate::base::escape::shell_word;
use crate::git::{Commit, Oid, Outgoing, PushFate, PushedRef, Repo};
use crate::trace::TraceError;
use crate::trace::store::commit::{CommitBuilder, is_signing};
use crate::trace::store::line_history::LineHistory;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::{self, Purge, Tombstones};

/// How long a push is repeated while other pushes move the remote's history.
const PATIENCE: Duration = Duration::from_secs(30);

/// The refspec that fetches priorities and tombstones. The star prevents an error if the remote has none. A remote must not give the
/// name of anything that is fetched by its full name, such as `crumbs/ada`, to something else.
pub(crate) fn refspec(remote: &str) -> String {
    format!("+refs/trace-records/p*:refs/trace-remote-records/{remote}/p*")
}

pub(super) fn shared_ref(history: &LineHistory<'_>) -> String {
    if history.is_private() {
        return history.shared.to_owned();
    }
    format!("refs/trace-records/{}", history.shared)
}

/// The ref of a remote's history as last fetched, given by its full name or by that below `refs/trace-records/`.
pub(crate) fn fetched_ref(remote: &str, shared: &str) -> String {
    format!("refs/trace-remote-records/{remote}/{}", shared.strip_prefix("refs/").unwrap_or(shared))
}

/// The remote's history as last fetched; `None` also if its ref is one of [`unreadable`].
pub(crate) fn fetched_lines(repo: &Repo, remote: &str, history: &LineHistory<'_>) -> Result<Option<Oid>, TraceError> {
    find_fetched(repo, remote, history.shared)
}

/// As [`fetched_lines`]; `None` also without a signature that `trace.requireSigned` demands.
pub(crate) fn accepted_lines(repo: &Repo, remote: &str, history: &LineHistory<'_>) -> Result<Option<Oid>, TraceError> {
    Ok(fetched_lines(repo, remote, history)?.filter(|tip| history.require_signed(repo, *tip).is_ok()))
}

/// As [`fetched_lines`], by the name on the remote.
pub(super) fn find_fetched(repo: &Repo, remote: &str, shared: &str) -> Result<Option<Oid>, TraceError> {
    let tip = repo.find_ref(&fetched_ref(remote, shared))?;
    Ok(tip.filter(|tip| repo.read_commit(*tip).is_ok()))
}

/// The fetched refs that are not those of traces and whose commits cannot be read, each with the reason. A remote's ref may point to
/// anything, and no such ref must stop a pull or a push.
pub(super) fn unreadable(repo: &Repo, remote: &str) -> Result<Vec<(String, String)>, TraceError> {
    let prefix = fetched_ref(remote, "");
    let listed = repo.list_refs(&prefix)?.into_iter();
    let reason = |(refname, tip): (String, Oid)| {
        let cause = repo.read_commit(tip).err()?.to_string();
        Some((refname.strip_prefix(&prefix).unwrap_or(&refname).to_owned(), cause))
    };
    Ok(listed.filter_map(reason).collect())
}

/// The result of pushing lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PushedLines {
    /// The number of files with lines that the remote did not have.
    pub files: usize,
    /// The answer of the remote if it did not accept them, or the answer for lines that were not pushed as they are here.
    pub rejected: Option<PushedRef>,
}

/// Pushes lines to several places. One that fails stops no other.
pub(super) fn push_to_all<T>(
    places: impl IntoIterator<Item = T>,
    mut push: impl FnMut(T) -> Result<PushedLines, TraceError>,
) -> Result<PushedLines, TraceError> {
    let (mut pushed, mut failed) = (PushedLines::default(), None);
    for place in places {
        match push(place) {
            Ok(PushedLines { files, rejected }) => {
                pushed.files = pushed.files.max(files);
                pushed.rejected = pushed.rejected.or(rejected);
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(pushed), Err)
}

/// Pushes the lines that an address lacks, of the files for which `is_wanted` is true. Pushes nothing if there are none.
///
/// If another push was faster, fetches its lines and adds ours to them.
///
/// # Errors
///
/// [`TraceError::Unsigned`] or [`TraceError::SignedOtherwise`] if `trace.requireSigned` is set and the remote's history is not a signed one.
pub(super) fn push_lines(
    repo: &Repo,
    signature: &Signature,
    target: &Target,
    history: &LineHistory<'_>,
    mut is_wanted: impl FnMut(&str) -> Result<bool, TraceError>,
) -> Result<PushedLines, TraceError> {
    let Some(ours) = repo.find_ref(history.refname)?.map(|tip| repo.read_commit(tip)).transpose()? else {
        return Ok(PushedLines::default());
    };
    let (shared, fetched) = (shared_ref(history), fetched_ref(&target.remote, history.shared));
    // Lines that are here must not bring purged reasons back there.
    let purges = &tombstone::HISTORY;
    let with_purges = format!("+{}*:{}*", shared_ref(purges), fetched_ref(&target.remote, purges.shared));
    if target.fetch().address.is_some() {
        // Lines that were fetched from another address may be those that this one must not get.
        repo.delete_refs(repo.find_ref(&fetched)?.map(|_| fetched.as_str()))?;
        repo.fetch(target.fetch(), &[format!("+{shared}*:{fetched}*"), with_purges.clone()], &["--quiet"])?;
    }
    let (start, mut purged) = (Instant::now(), None);
    for attempt in 1.. {
        let theirs = accepted_lines(repo, &target.remote, purges)?;
        let tombstones = Tombstones::with_fetched(repo, theirs)?.unwrap_or_default();
        let theirs = match repo.find_ref(&fetched)?.map(|oid| repo.read_commit(oid)).transpose() {
            Ok(theirs) => theirs,
            Err(error) => {
                let rejected = PushedRef::new(shared, PushFate::Refused, error.to_string());
                return Ok(PushedLines { files: 0, rejected: Some(rejected) });
            }
        };
        let into = theirs.as_ref().map(|tip| tip.tree);
        let union = history.format.union_of_clean(repo, into, ours.tree, &mut is_wanted, |path, bytes, there| {
            let (bytes, purge) = tombstones.clean_file(path, bytes, there);
            purged = purged.take().or_else(|| purge.cloned());
            bytes
        })?;
        let files = union.paths.len();
        let cover = cover(repo, history, &ours, theirs.as_ref())?;
        if files == 0 && cover != Cover::Unsigned {
            break;
        }
        let parent = theirs.as_ref().map(|tip| tip.oid);
        if let Some(oid) = parent {
            // A signed commit on top would vouch for it.
            history.require_signed(repo, oid)?;
        }
        let builder = CommitBuilder::new(signature, union.tree, parent);
        let message = format!("share {}\n", history.noun);
        let commit = if cover == Cover::Unknown {
            repo.env().notice(&format!(
                "warning: not signed, because the remote's history of {} is not, and has lines that are not here; a push \
                 after a `git trace pull` signs them. If they are of deleted traces, start it anew: \
                 `git push {} :{shared}`, then pull and push",
                history.noun,
                shell_word(&target.remote)
            ));
            repo.write_commit(&builder.with_message(&message))?
        } else {
            builder.write_plain(repo, &message)?
        };
        // Whatever git pushes to has these lines already, or does not get them.
        let seen = parent.map(|oid| oid.to_string()).unwrap_or_default();
        let lease = Some(format!("--force-with-lease={shared}:{seen}"));
        let outgoing = Outgoing { refspec: format!("{commit}:{shared}"), lease };
        let answers = repo.push_quietly(target.push(), &outgoing)?;
        let Some(rejected) = answers.into_iter().find(|answer| !answer.is_accepted()) else {
            see(repo, signature, &fetched, commit)?;
            return Ok(PushedLines { files, rejected: purged.map(|purge| without_purged(&shared, &purge)) });
        };
        let is_behind = matches!(rejected.fate, PushFate::Behind | PushFate::Contended);
        if !is_behind || start.elapsed() >= PATIENCE {
            return Ok(PushedLines { files: 0, rejected: Some(rejected) });
        }
        wait(attempt);
        repo.delete_refs(repo.find_ref(&fetched)?.map(|_| fetched.as_str()))?;
        let refspecs = [format!("+{shared}:{fetched}"), with_purges.clone()];
        let is_there = repo.fetch(target.fetch(), &refspecs, &["--quiet"]).is_ok();
        // A remote with `<shared>/x` has no ref of this name, and cannot get one.
        if !is_there && parent.is_none() {
            return Ok(PushedLines { files: 0, rejected: Some(rejected) });
        }
    }
    Ok(PushedLines { files: 0, rejected: purged.map(|purge| without_purged(&shared, &purge)) })
}

/// The answer for lines that have something purged here.
fn without_purged(shared: &str, purge: &Purge) -> PushedRef {
    let summary = format!("[rejected] (lines contain what was {purge}; `git trace pull` takes it out here, too)");
    PushedRef::new(shared, PushFate::Refused, summary)
}

/// The lines that a signature by `trace.sign` on top of a remote's history would cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cover {
    /// Signed ones, or nothing is to be signed.
    Signed,
    /// Unsigned ones that are all here.
    Unsigned,
    /// Unsigned ones that are not all here, or other files.
    Unknown,
}

fn cover(repo: &Repo, history: &LineHistory<'_>, ours: &Commit, theirs: Option<&Commit>) -> Result<Cover, TraceError> {
    let Some(theirs) = theirs else { return Ok(Cover::Signed) };
    if !is_signing(repo)? || repo.has_valid_signature(theirs.oid)? {
        return Ok(Cover::Signed);
    }
    let unknown = history.format.union(repo, Some(ours.tree), theirs.tree, |_| Ok(true))?.paths;
    let is_known = unknown.is_empty() && !history.has_other_files(repo, theirs.tree)?;
    Ok(if is_known { Cover::Unsigned } else { Cover::Unknown })
}

/// Waits up to a second, longer with each attempt, and for a random time, so that two processes do not collide again.
pub(super) fn wait(attempt: u32) {
    let longest = (8_u64 << attempt.min(7)).min(1000);
    thread::sleep(Duration::from_millis(RandomState::new().hash_one(attempt) % longest));
}
