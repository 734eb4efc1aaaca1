//! Changing priorities: a line in the record, then the tags.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use super::line::Setting;
use super::record::Record;
use super::{RECORD, tags};
use crate::base::time::Time;
use crate::git::{Oid, RefUpdate, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::id::ItemId;
use crate::trace::model::level::Level;
use crate::trace::model::name::TraceName;
use crate::trace::model::trailers::one_line;
use crate::trace::model::tree::TreeEditor;
use crate::trace::store::commit::CommitBuilder;
use crate::trace::store::resolve::Resolver;
use crate::trace::store::signature::Signature;
use crate::trace::store::tip::Tip;

/// A change of one item's priority that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub item: ItemId,
    pub level: Level,
    pub reason: Option<String>,
    pub seq: Option<u32>,
    /// When; moved on where the item's last change is not earlier.
    pub at: Time,
    /// Who, as `Name <email>`; none: whoever writes.
    pub by: Option<String>,
    /// The commit that brought the item in, which the tag will point at.
    pub introduced: Oid,
}

/// What is to be asked so that the items that `specs` name in a trace with this tip get a level; each item once.
pub(crate) fn requests<S: AsRef<str>>(
    repo: &Repo,
    name: &TraceName,
    tip: &Tip,
    signature: &Signature,
    specs: &[S],
    (level, reason): (Level, Option<&str>),
) -> Result<Vec<Request>, TraceError> {
    let resolver = Resolver::new(repo, name, tip)?;
    let mut seen = HashSet::new();
    let mut items = Vec::with_capacity(specs.len());
    for spec in specs {
        let item = resolver.item(spec.as_ref())?;
        if seen.insert(item) {
            items.push(item);
        }
    }
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

/// Records changes of priority, all in one commit of the record, and sets the tags.
pub(crate) fn set(repo: &Repo, signature: &Signature, requests: &[Request]) -> Result<(), TraceError> {
    if requests.is_empty() {
        return Ok(());
    }
    let lock = repo.lock(RECORD)?;
    repo.update_ref(&lock, &signature.committer, |oid| {
        let record = Record::at(repo, oid)?;
        let (to, log) = write(repo, &record, signature, requests)?;
        Ok::<_, TraceError>(RefUpdate::Move { to, log, value: () })
    })?;
    // Still under the lock, so that tags follow the record in its own order.
    tags::follow(repo, requests)
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
    let reasons: Vec<String> = requests.iter().filter_map(|request| request.reason.as_deref()).map(one_line).collect();
    let message = match reasons.first() {
        Some(reason) if !reason.is_empty() => format!("{subject}\n\n{reason}\n"),
        _ => format!("{subject}\n"),
    };
    let parent = record.commit.as_ref().map(|commit| commit.oid);
    Ok((CommitBuilder::new(signature, tree, parent).write_plain(repo, &message)?, subject))
}
