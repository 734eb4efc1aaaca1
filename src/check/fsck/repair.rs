//! Putting right what can be derived again, under the locks that every writer takes. History is never rewritten.

use std::collections::BTreeSet;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use super::fault::{Fault, Repair};
use super::record::mended;
use crate::git::{GitError, LOCK_PATIENCE, LogLine, Mode, NewCommit, Oid, Repo, TreeStore as _};
use crate::tokens::framing::PER_REPLY;
use crate::trace::model::file;
use crate::trace::model::item::TokenCache;
use crate::trace::model::trailers::{Basis, Total, Trailers};
use crate::trace::model::tree::{self, TreeEditor};
use crate::trace::store::advance::{Advance, advance};
use crate::trace::store::priority::{RECORD, Record, tags};
use crate::trace::store::sign;
use crate::trace::store::total::{Reading, item_cost};
use crate::trace::store::write::{Signature, encoding};
use crate::trace::{ItemId, Tip, TraceError, TraceName};

/// What came of one repair.
#[derive(Debug)]
pub(crate) struct Repaired {
    /// What was to be done.
    pub repair: Repair,
    /// What kept it from being done.
    pub error: Option<TraceError>,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lock(refname) => write!(f, "remove the left-over lock of {refname}"),
            Self::Ref(refname) => write!(f, "point {refname} at where its reflog ends"),
            Self::Reflog(refname) => write!(f, "log the last move of {refname}"),
            Self::Record => write!(f, "put the record of priorities in order"),
            Self::Tag(item, _) => write!(f, "set the tag of item {item}"),
            Self::StaleTag(refname) => write!(f, "remove the tag {refname}"),
            Self::Totals(name) => write!(f, "count {name} anew, in a commit of its own"),
        }
    }
}

/// Does each repair that the faults name, once; what is in order meanwhile is left as it is.
pub(crate) fn repair(repo: &Repo, signature: &Signature, faults: &[Fault]) -> Vec<Repaired> {
    let wanted: BTreeSet<Repair> = faults.iter().filter_map(|fault| fault.repair.clone()).collect();
    let done = wanted.into_iter().map(|repair| {
        let error = one(repo, signature, &repair).err();
        Repaired { repair, error }
    });
    done.collect()
}

fn one(repo: &Repo, signature: &Signature, repair: &Repair) -> Result<(), TraceError> {
    match repair {
        Repair::Lock(refname) => {
            if repo.remove_left_over_lock(refname)? {
                return Ok(());
            }
            Err(GitError::RefLocked { refname: refname.clone() }.into())
        }
        Repair::Ref(refname) => {
            let _lock = repo.lock(refname)?;
            let last = repo.read_reflog(refname)?.pop();
            last.map_or(Ok(()), |last| repo.mend_ref(refname, last.new, &signature.committer).map_err(TraceError::from))
        }
        Repair::Reflog(refname) => {
            let _lock = repo.lock(refname)?;
            Ok(repo.close_reflog(refname, &signature.committer)?)
        }
        Repair::Record => record(repo, signature),
        Repair::Tag(item, introduced) => {
            let _lock = repo.lock(RECORD)?;
            match Record::open(repo)?.history(repo, *item)?.pop() {
                Some(setting) => tags::point(repo, *item, setting.level, *introduced),
                None => Ok(()),
            }
        }
        Repair::StaleTag(refname) => stale_tag(repo, refname),
        Repair::Totals(name) => totals(repo, signature, name),
    }
}

/// Removes a tag, unless the record says by now what it shows.
fn stale_tag(repo: &Repo, refname: &str) -> Result<(), TraceError> {
    let _lock = repo.lock(RECORD)?;
    let item: Option<ItemId> = refname.rsplit('/').next().and_then(|digits| digits.parse().ok());
    let is_known = match item {
        Some(item) => !Record::open(repo)?.history(repo, item)?.is_empty(),
        None => false,
    };
    if is_known { Ok(()) } else { Ok(repo.delete_refs([refname])?) }
}

/// Writes the record's files anew with the lines that can be read, in order of time.
fn record(repo: &Repo, signature: &Signature) -> Result<(), TraceError> {
    let _lock = repo.lock(RECORD)?;
    let start = Instant::now();
    let who = &signature.committer;
    loop {
        let Some(commit) = Record::open(repo)?.commit else { return Ok(()) };
        let tree = mended_tree(repo, commit.tree)?;
        if tree == commit.tree {
            return Ok(());
        }
        let subject = "fsck: put the lines in order";
        let message = format!("{subject}\n");
        let parents = [commit.oid];
        let new = NewCommit { tree, parents: &parents, author: &signature.author, committer: who, message: &message };
        let new = repo.write_commit(&new)?;
        match repo.move_ref(RECORD, Some(commit.oid), new, LogLine { who, why: subject }) {
            Ok(()) => return Ok(()),
            Err(GitError::RefMoved { .. } | GitError::RefLocked { .. }) if start.elapsed() < LOCK_PATIENCE => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn mended_tree(repo: &Repo, tree: Oid) -> Result<Oid, TraceError> {
    let mut editor = TreeEditor::new(repo, Some(tree))?;
    for folder in repo.read_tree(tree)?.into_iter().filter(|entry| entry.mode() == Mode::Folder) {
        for entry in repo.read_tree(folder.oid)?.into_iter().filter(|entry| entry.mode() == Mode::File) {
            let digits = [folder.name.as_slice(), &entry.name].concat();
            let item = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse::<ItemId>().ok());
            let Some((folder, name)) = item.filter(|_| folder.name.len() == 2).map(ItemId::fan_out) else { continue };
            let bytes = repo.read_blob(entry.oid)?;
            let lines = mended(&bytes);
            let path = format!("{folder}/{name}");
            if lines.is_empty() {
                editor.remove(repo, &path)?;
            } else if lines.as_bytes() != bytes {
                editor.put(repo, &path, repo.write_blob(lines.as_bytes())?)?;
            }
        }
    }
    Ok(editor.write(repo)?)
}

/// Puts a commit on the trace whose trailers are true, with true token counts in its items. Nothing else changes.
fn totals(repo: &Repo, signature: &Signature, name: &TraceName) -> Result<(), TraceError> {
    let configured = encoding(repo)?;
    let subject = "fsck: count anew";
    advance(repo, name, &signature.committer, |tip| {
        let Some(tip) = tip else { return Ok((None, ())) };
        let commit = counted_anew(repo, signature, tip, configured, subject)?;
        Ok((commit.map(|to| Advance { to, log: subject.to_owned() }), ()))
    })?;
    Ok(())
}

/// The commit of [`totals`]; `None` where the tip's own trailers are true.
fn counted_anew(
    repo: &Repo,
    signature: &Signature,
    tip: &Tip,
    configured: crate::tokens::Encoding,
    subject: &str,
) -> Result<Option<Oid>, TraceError> {
    let said = tip.trailers.total.filter(|_| tip.is_ours());
    let encoding = match said.map(|total| total.basis) {
        Some(Basis::Counted(encoding)) => encoding,
        _ => configured,
    };
    let mut editor = TreeEditor::new(repo, Some(tip.commit.tree))?;
    let slots = tree::list(repo, tip.commit.tree)?;
    let (mut counted, mut grown) = (PER_REPLY, 0);
    for slot in &slots {
        let Reading { mut item, damage } = Reading::of(slot, &repo.read_blob(slot.blob)?);
        let before = item_cost(&item, encoding);
        if let Some(kept) = item.tokens.filter(|kept| damage.is_none() && item.cached_tokens(kept.encoding).is_some()) {
            let count = kept.encoding.count(&item.body);
            if count != kept.count {
                item.tokens = Some(TokenCache { count, ..kept });
                editor.put(repo, &slot.path, repo.write_blob(&file::render(&item))?)?;
            }
        }
        let after = item_cost(&item, encoding);
        counted += after;
        grown += after.cast_signed() - before.cast_signed();
    }
    let tree = editor.write(repo)?;
    let total = match said {
        Some(Total { tokens, basis: Basis::Reported }) => {
            Total { tokens: tokens.saturating_add_signed(grown), basis: Basis::Reported }
        }
        _ => Total { tokens: counted, basis: Basis::Counted(encoding) },
    };
    let next = slots.last().map_or(0, |slot| slot.seq + 1);
    let next = tip.trailers.next.filter(|_| tip.is_ours()).map_or(next, |said| said.max(next));
    if tree == tip.commit.tree && said == Some(total) && tip.trailers.next == Some(next) {
        return Ok(None);
    }
    let trailers = Trailers {
        time: Some(signature.at.after(Some(tip.time()))),
        tree: Some(tree.to_string()),
        total: Some(total),
        next: Some(next),
        ..Trailers::default()
    };
    let message = trailers.render(subject);
    let parents = [tip.commit.oid];
    let (author, committer) = (&signature.author, &signature.committer);
    let commit = NewCommit { tree, parents: &parents, author, committer, message: &message };
    Ok(Some(sign::write_commit(repo, &commit)?))
}
