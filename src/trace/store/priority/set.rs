//! Changing priorities: lines in the record, then the tags.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use super::record::{Record, Setting};
use super::{RECORD, tags};
use crate::base::time::Time;
use crate::git::{Oid, RefLock, RefUpdate, Repo};
use crate::trace::model::level::Level;
use crate::trace::model::trailers::one_line;
use crate::trace::model::tree::TreeEditor;
use crate::trace::model::types::level_in_meta;
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::signature::Signature;
use crate::trace::{Item, ItemId, Tip, Trace, TraceError, TraceName};

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub item: ItemId,
    pub level: Level,
    pub reason: Option<String>,
    pub seq: Option<u32>,
    /// The time, which becomes later if the item's last change is not earlier.
    pub at: Time,
    /// `Name <email>`; `None` for the author of the commit.
    pub by: Option<String>,
    /// The commit that introduced the item, to which the tag will point.
    pub introduced: Oid,
}

/// The requests that give a level to the items that `specs` name, each item once.
pub(crate) fn requests<S: AsRef<str>>(
    repo: &Repo,
    name: &TraceName,
    tip: &Tip,
    signature: &Signature,
    specs: &[S],
    (level, reason): (Level, Option<&str>),
) -> Result<Vec<Request>, TraceError> {
    let resolver = Resolver::new(repo, name, tip)?;
    let mut items = specs.iter().map(|spec| resolver.item(spec.as_ref())).collect::<Result<Vec<_>, _>>()?;
    let mut seen = HashSet::new();
    items.retain(|item| seen.insert(*item));
    let introduced = tags::introductions(repo, tip, items.iter().copied())?;
    let request = |item| Request {
        item,
        level,
        reason: reason.map(str::to_owned),
        seq: resolver.find_live(item).map(|slot| slot.seq),
        at: signature.at.after(Some(tip.time())),
        by: None,
        introduced: introduced.get(&item).copied().unwrap_or(tip.commit.oid),
    };
    Ok(items.into_iter().map(request).collect())
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
    repo.update_ref(lock, &signature.committer, |oid| {
        let record = Record::at(repo, oid)?;
        let (to, log) = write(repo, &record, signature, requests)?;
        Ok::<_, TraceError>(RefUpdate::Move { to, log, value: () })
    })?;
    // Keep the lock, so that tags change in the same order as the record.
    tags::point(repo, requests.iter().map(|request| (request.item, request.level, request.introduced)))
}

fn write(
    repo: &Repo,
    record: &Record,
    signature: &Signature,
    requests: &[Request],
) -> Result<(Oid, String), TraceError> {
    let mut editor = TreeEditor::new(repo, record.commit.as_ref().map(|commit| commit.tree))?;
    let mut files: BTreeMap<ItemId, Vec<Setting>> = BTreeMap::new();
    for request in requests {
        let settings = match files.entry(request.item) {
            Entry::Occupied(begun) => begun.into_mut(),
            Entry::Vacant(fresh) => fresh.insert(record.history(repo, request.item)?),
        };
        settings.push(Setting {
            at: request.at.after(settings.last().map(|last| last.at)),
            by: request.by.clone().unwrap_or_else(|| signature.author.person()),
            level: request.level,
            seq: request.seq,
            reason: request.reason.clone(),
        });
    }
    for (item, settings) in &files {
        let text: String = settings.iter().map(|setting| setting.render() + "\n").collect();
        let (folder, file) = item.fan_out();
        editor.put(repo, &format!("{folder}/{file}"), repo.write_blob(text.as_bytes())?)?;
    }
    let tree = editor.write(repo)?;
    let subject = match requests {
        [only] => format!("{} {}", only.level, only.item),
        _ => format!("set the priority of {} items", requests.len()),
    };
    let reason = requests.iter().find_map(|request| request.reason.as_deref()).map(one_line);
    let message = match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{subject}\n\n{reason}\n"),
        None => format!("{subject}\n"),
    };
    let parent = record.commit.as_ref().map(|commit| commit.oid);
    Ok((CommitBuilder::new(signature, tree, parent).write_plain(repo, &message)?, subject))
}

/// Sets the level in an edited item's meta key `priority`, unless it is in force already.
pub(crate) fn follow_meta(trace: &Trace<'_>, item: &Item, seq: u32) -> Result<(), TraceError> {
    let repo = trace.repo();
    let Some(level) = level_in_meta(&item.fields) else { return Ok(()) };
    if Record::open(repo)?.history(repo, item.id)?.last().is_some_and(|last| last.level == level) {
        return Ok(());
    }
    let (tip, signature) = (trace.tip()?, trace.signature()?);
    let introduced = tags::introduction(repo, &tip, item.id)?.unwrap_or(tip.commit.oid);
    let at = signature.at.after(Some(tip.time()));
    set(repo, &signature, &[Request { item: item.id, level, reason: None, seq: Some(seq), at, by: None, introduced }])
}
