//! Changing priorities: lines in the record, then the tags.

use std::collections::{BTreeMap, HashMap};

use super::heads::heads;
use super::record::{Record, Setting, parse};
use super::{HISTORY, RECORD, path_of, tags};
use crate::base::time::Time;
use crate::git::{GitError, Oid, RefLock, RefUpdate, Repo};
use crate::trace::model::level::Level;
use crate::trace::model::trailers::one_line;
use crate::trace::model::tree::{self, TreeEditor};
use crate::trace::model::types::level_in_meta;
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::line_history::{self, NewState};
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::require_no_purge;
use crate::trace::{Item, ItemId, Tip, Trace, TraceError, TraceName};

/// Which changes of the item the writer of a change knew.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Knows {
    /// It is made now, after all that are here.
    AllHere,
    /// It was made elsewhere, and names these digests; `None` if it is a line of version 0.1. Its time stays.
    Elsewhere(Option<Vec<String>>),
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub item: ItemId,
    pub level: Level,
    pub reason: Option<String>,
    pub seq: Option<u32>,
    /// The time, which becomes later if the item's last change is not earlier.
    pub at: Time,
    pub knows: Knows,
    /// `Name <email>`; `None` for the author of the commit.
    pub by: Option<String>,
    /// The commit that introduced the item, to which the tag will point.
    pub introduced: Oid,
}

impl Request {
    /// A change that is made now, without a reason.
    pub(crate) fn now(item: ItemId, level: Level, at: Time, introduced: Oid) -> Self {
        Self { item, level, reason: None, seq: None, at, knows: Knows::AllHere, by: None, introduced }
    }
}

/// The requests that give items a level.
pub(crate) fn requests(
    repo: &Repo,
    (name, tip): (&TraceName, &Tip),
    signature: &Signature,
    items: &[ItemId],
    (level, reason): (Level, Option<&str>),
) -> Result<Vec<Request>, TraceError> {
    signature.warn_if_earlier(repo, name, tip.time());
    let introduced = tags::introductions(repo, tip, items.iter().copied())?;
    let slots = tree::list(repo, tip.commit.tree)?;
    let seqs: HashMap<ItemId, u32> = slots.into_iter().map(|slot| (slot.id, slot.seq)).collect();
    let at = signature.at.apart_after(Some(tip.time()));
    let request = |&item| Request {
        reason: reason.map(str::to_owned),
        seq: seqs.get(&item).copied(),
        ..Request::now(item, level, at, introduced.get(&item).copied().unwrap_or(tip.commit.oid))
    };
    Ok(items.iter().map(request).collect())
}

/// Records changes of priority in one commit, and sets the tags.
pub(crate) fn set(repo: &Repo, signature: &Signature, requests: &[Request]) -> Result<(), TraceError> {
    if requests.is_empty() {
        return Ok(());
    }
    set_under(&repo.lock(RECORD)?, repo, signature, requests)
}

/// As [`set`], under the lock of the record.
pub(crate) fn set_under(
    lock: &RefLock,
    repo: &Repo,
    signature: &Signature,
    requests: &[Request],
) -> Result<(), TraceError> {
    tags::prefix(repo)?;
    // A purge may have replaced what the tags would lead to, while this process waited for the lock.
    let _purges = require_no_purge(repo)?;
    line_history::change(repo, signature, lock, |record| {
        let tree = with_requests(repo, record.map(|record| record.tree), signature, requests)?;
        Ok::<_, TraceError>((Some(NewState { tree, merged: None, message: message(requests) }), ()))
    })?;
    // Keep the lock, so that tags change in the same order as the record.
    // A change that is made now applies.
    let is_now = requests.iter().all(|request| request.knows == Knows::AllHere);
    let record = if is_now { None } else { Some(Record::open(repo)?) };
    let point = |request: &Request| -> Result<_, TraceError> {
        let now = record.as_ref().map_or(Ok(None), |record| record.in_force(repo, request.item))?;
        Ok((request.item, now.map_or(request.level, |now| now.setting.level), request.introduced))
    };
    tags::point(repo, requests.iter().map(point).collect::<Result<Vec<_>, _>>()?)
}

/// The subject of a commit of the record that takes lines out, or gives them back.
pub(crate) const RESTORING: &str = "restore priorities";

/// The file of an item without lines that came from elsewhere, or with them again.
#[derive(Debug)]
pub(crate) struct Restored {
    pub item: ItemId,
    /// `None` if no line is left.
    pub file: Option<Oid>,
}

/// Gives items these files, under the lock of the record, and sets their tags. The history begins anew: its earlier commits have lines that
/// somebody may purge. `tips` are those of all traces.
pub(crate) fn restore_under(
    lock: &RefLock,
    repo: &Repo,
    signature: &Signature,
    files: &[Restored],
    tips: &[Oid],
) -> Result<(), TraceError> {
    // A repair would take the level of a tag without a line for one of this user.
    tags::remove(repo, files.iter().filter(|restored| restored.file.is_none()).map(|restored| restored.item))?;
    repo.update_ref(lock, &signature.committer, |tip| {
        let tip = tip.map(|tip| repo.read_commit(tip)).transpose()?;
        let mut editor = TreeEditor::new(repo, tip.map(|tip| tip.tree))?;
        for Restored { item, file } in files {
            match file {
                Some(file) => editor.put(repo, &path_of(*item), *file)?,
                None => editor.remove(repo, &path_of(*item))?,
            }
        }
        let commit = CommitBuilder::new(signature, editor.write(repo)?, None);
        let to = commit.write_plain(repo, &format!("{RESTORING}\n"))?;
        Ok::<_, GitError>(RefUpdate::Move { to, log: RESTORING.to_owned(), value: () })
    })?;
    tags::point_at_levels(repo, files.iter().map(|restored| restored.item), tips)
}

fn with_requests(
    repo: &Repo,
    tree: Option<Oid>,
    signature: &Signature,
    requests: &[Request],
) -> Result<Oid, TraceError> {
    let mut by_item: BTreeMap<ItemId, Vec<&Request>> = BTreeMap::new();
    for request in requests {
        by_item.entry(request.item).or_default().push(request);
    }
    let files = by_item.into_iter().map(|(item, requests)| (path_of(item), (item, requests)));
    HISTORY.format.with_lines(repo, tree, files, |(item, requests), before| {
        let settings = parse(item, before)?;
        // A line after one of the far future has its own time.
        let is_plausible = |at: &Time| Signature::days_ahead(signature.clock.max(signature.at), *at).is_none();
        let mut last = settings.iter().map(|setting| setting.at).rfind(is_plausible);
        let mut seen: Vec<String> = heads(&settings).into_iter().map(|head| settings[head].digest()).collect();
        let lines = requests.into_iter().map(|request| {
            let Request { level, seq, ref reason, .. } = *request;
            let by = request.by.clone().unwrap_or_else(|| signature.author.person());
            let reason = reason.clone();
            if let Knows::Elsewhere(after) = &request.knows {
                let setting = Setting { at: request.at, by, level, seq, reason, after: after.clone() };
                seen.retain(|head| !after.iter().flatten().any(|known| known == head));
                seen.push(setting.digest());
                return setting.render();
            }
            let (at, after) = (request.at.apart_after(last), Some(std::mem::take(&mut seen)));
            let setting = Setting { at, by, level, seq, reason, after };
            (last, seen) = (Some(at), vec![setting.digest()]);
            setting.render()
        });
        Ok(lines.collect())
    })
}

fn message(requests: &[Request]) -> String {
    let subject = match requests {
        [only] => format!("{} {}", only.level, only.item),
        _ => format!("set the priority of {} items", requests.len()),
    };
    let reason = requests.iter().find_map(|request| request.reason.as_deref()).map(one_line);
    match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{subject}\n\n{reason}\n"),
        None => format!("{subject}\n"),
    }
}

/// Sets the level in an edited item's meta key `priority`, unless it is in force already.
pub(crate) fn follow_meta(trace: &Trace<'_>, item: &Item, seq: u32) -> Result<(), TraceError> {
    let repo = trace.repo();
    let Some(level) = level_in_meta(&item.fields) else { return Ok(()) };
    let now = Record::open(repo)?.in_force(repo, item.id)?;
    if now.is_some_and(|now| now.setting.level == level && now.rivals.is_empty()) {
        return Ok(());
    }
    let (tip, signature) = (trace.tip()?, trace.signature()?);
    let introduced = tags::introduction(repo, &tip, item.id)?.unwrap_or(tip.commit.oid);
    let at = signature.at.apart_after(Some(tip.time()));
    set(repo, &signature, &[Request { seq: Some(seq), ..Request::now(item.id, level, at, introduced) }])
}
