//! Purged content in a history.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{HISTORY, Line, PURGED, Purge, SHORTEST_COPY, Tombstones, digest, forms_of_text, purges_of};
use crate::git::{Oid, Repo, short_oid};
use crate::trace::store::line_history::{NewState, change, list_files, list_files_beyond};
use crate::trace::store::priority::{Setting, item_of};
use crate::trace::store::signature::Signature;
use crate::trace::store::total::Reading;
use crate::trace::store::walk::changes_of;
use crate::trace::{ItemId, Tip, TraceError, TraceName};

const REASON: &str = "Trace-Reason: ";

/// A subject or reason with the item that its commit names: nobody can guess it without knowing the trace.
pub(crate) fn line_of(item: ItemId, text: &str) -> String {
    format!("{item} {text}")
}

/// Whether a purge left a marker in a text.
pub(crate) fn is_marked(text: &str) -> bool {
    text.contains("[purged: ")
}

impl Purge {
    fn marker(&self) -> String {
        format!("[purged: {}]", self.reason)
    }
}

impl Tombstones {
    /// The purge that removed a subject or a reason. One that names no item is only recognized if it is long.
    fn of_words(&self, item: Option<ItemId>, text: &str) -> Option<&Purge> {
        let of_item = item.and_then(|item| self.of_line(&line_of(item, text)));
        of_item.or_else(|| self.of_line(text).filter(|_| text.len() >= SHORTEST_COPY))
    }

    /// The purge that removed a line of a priority record or an archive, or the reason in it. Another clone may have other bytes
    /// around the same reason. `item` is the one that the path of the file names.
    pub(crate) fn of_setting(&self, item: Option<ItemId>, line: &str) -> Option<&Purge> {
        let reason = || item.and_then(|_| Setting::parse(line)?.reason);
        self.of_line(line).or_else(|| self.of_words(item, &reason()?))
    }

    /// A line without what was purged, and the purge: a priority has a marker for its reason, and anything else is removed. `None` if
    /// nothing in the line was purged.
    pub(crate) fn clean_line(&self, item: Option<ItemId>, line: &str) -> Option<(Option<String>, &Purge)> {
        let purge = self.of_setting(item, line)?;
        let clean = |setting| Setting { reason: Some(purge.marker()), ..setting }.render();
        let clean = Setting::parse(line).map(clean);
        (clean.as_deref() != Some(line)).then_some((clean, purge))
    }

    /// The file of a priority record or an archive without what was purged, and a purge of something in it. `there` is the file to which
    /// it is added: the form of a line that the purge left there stays the only one.
    pub(crate) fn clean_file(&self, path: &str, bytes: Vec<u8>, there: &[u8]) -> (Vec<u8>, Option<&Purge>) {
        let (item, text) = (item_of(path), String::from_utf8_lossy(&bytes));
        let digest = |line: &str| Setting::parse(line).map(|setting| setting.digest());
        let there = LazyCell::new(|| -> HashSet<String> {
            String::from_utf8_lossy(there).lines().filter_map(digest).collect()
        });
        let (mut clean, mut found) = (String::new(), None);
        for line in text.lines() {
            match self.clean_line(item, line) {
                None => clean.extend([line, "\n"]),
                Some((new, purge)) => {
                    found = Some(purge);
                    let new = new.filter(|line| digest(line).is_none_or(|digest| !there.contains(&digest)));
                    clean.extend(new.iter().flat_map(|line| [line, "\n"]));
                }
            }
        }
        if found.is_some() { (clean.into_bytes(), found) } else { (bytes, None) }
    }

    /// The message of a commit with markers in place of purged subjects and reasons, and whether one was purged with the item of the
    /// commit; `None` if there is nothing purged in it.
    pub(crate) fn clean_message(&self, tip: &Tip) -> Option<(String, &Purge, bool)> {
        let (item, mut is_named) = (tip.item(), false);
        let mut of_words = |text: &str| {
            let found = self.of_words(item, text);
            is_named |= item.is_some_and(|item| self.of_line(&line_of(item, text)).is_some());
            found
        };
        let (mut clean, mut found) = (String::new(), None);
        for (index, line) in tip.commit.message.split_inclusive('\n').enumerate() {
            let text = line.trim_end_matches('\n');
            let key = if index == 0 { Some("") } else { text.starts_with(REASON).then_some(REASON) };
            match key.and_then(|key| Some((key, of_words(&text[key.len()..])?))) {
                Some((key, purge)) => {
                    clean.extend([key, &purge.marker(), &line[text.len()..]]);
                    found.get_or_insert(purge);
                }
                None => clean += line,
            }
        }
        Some((clean, found?, is_named))
    }

    /// The purged commits and files in the history of `tip` that the history of `known` does not have, and those with purged content or a
    /// purged subject or reason.
    /// Reads each file once.
    pub(crate) fn in_history(
        &self,
        repo: &Repo,
        tip: Oid,
        known: Option<Oid>,
    ) -> Result<Vec<(Oid, &Purge)>, TraceError> {
        let (mut found, mut files) = (Vec::new(), BTreeMap::new());
        for oid in repo.commits_beyond(tip, known)? {
            let tip = Tip::read(repo, oid)?;
            let of_message = || self.clean_message(&tip).map(|(_, purge, _)| purge);
            found.extend(self.of_object(oid).or_else(of_message).map(|purge| (oid, purge)));
            for change in changes_of(repo, &tip)? {
                let Some(entry) = change.sides().1 else { continue };
                match self.of_object(entry.blob) {
                    Some(purge) => found.push((entry.blob, purge)),
                    // Nothing that is not a file has content; [`crate::trace::store::foreign`] refuses it.
                    None if !files.contains_key(&entry.blob) && !repo.is_blob(entry.blob)? => {}
                    None => files.entry(entry.blob).or_insert_with(|| (entry.clone(), Vec::new())).1.push(oid),
                }
            }
        }
        // The same text may be stored with another count of tokens, or written again.
        repo.for_each_blob(files.into_iter().map(|(blob, file)| (file, blob)), |(entry, commits), blob, bytes| {
            if let Some(purge) = self.of_content(&Reading::of(&entry, bytes).item) {
                found.extend(commits.into_iter().chain([blob]).map(|oid| (oid, purge)));
            }
            Ok::<_, TraceError>(())
        })?;
        Ok(found)
    }

    /// Whether there is a purged commit in the history of `tip`.
    pub(crate) fn has_commit_of(&self, repo: &Repo, tip: Oid) -> Result<bool, TraceError> {
        Ok(repo.commits_beyond(tip, None)?.into_iter().any(|oid| self.of_object(oid).is_some()))
    }

    /// The purged commits in the history of `tip` that the history of `known` does not have, and the files of these commits and at
    /// `tip` that are purged or have a purged line. For histories of lines.
    pub(crate) fn in_lines(&self, repo: &Repo, tip: Oid, known: Option<Oid>) -> Result<Vec<(Oid, &Purge)>, TraceError> {
        let of_commit = |oid: Oid| Some((oid, self.of_object(oid)?));
        let mut found: Vec<_> = repo.commits_beyond(tip, known)?.into_iter().filter_map(of_commit).collect();
        for (file, path) in list_files_beyond(repo, tip, known)? {
            let text = String::from_utf8_lossy(&repo.read_blob(file)?).into_owned();
            let of_line = || text.lines().find_map(|line| self.of_setting(item_of(&path), line));
            found.extend(self.of_object(file).or_else(of_line).map(|purge| (file, purge)));
        }
        Ok(found)
    }

    /// A reason, or the marker of the purge that removed it.
    pub(crate) fn reason(&self, item: ItemId, reason: String) -> String {
        let purge = self.of_line(&reason).or_else(|| self.of_words(Some(item), &reason));
        purge.map_or(reason, Purge::marker)
    }

    /// Refuses a commit whose history has something purged that the history of `known` does not have.
    pub(crate) fn refuse(&self, repo: &Repo, what: &str, tip: Oid, known: Option<Oid>) -> Result<(), TraceError> {
        match self.in_history(repo, tip, known)?.first() {
            Some((_, purge)) => Err(purge.refusal(what)),
            None => Ok(()),
        }
    }

    /// Refuses a trace and another state if only one of them has something purged.
    pub(crate) fn refuse_either(
        &self,
        repo: &Repo,
        name: &TraceName,
        ours: Option<Oid>,
        theirs: Oid,
    ) -> Result<(), TraceError> {
        self.refuse(repo, &format!("commit {}", short_oid(theirs)), theirs, ours)?;
        ours.map_or(Ok(()), |ours| self.refuse(repo, &format!("trace `{name}`"), ours, Some(theirs)))
    }
}

/// Adds the digests of removed texts that the commit `from` of a remote's tombstones has, if they are those of long `texts`, which
/// were removed here. Somebody could publish a short answer and purge it, to take it out of other traces. False if all are known.
pub(crate) fn accept_texts(
    repo: &Repo,
    signature: &Signature,
    from: Oid,
    texts: &HashSet<Vec<u8>>,
) -> Result<bool, TraceError> {
    let (mut by_salt, mut found) = (HashMap::new(), Vec::new());
    let forms: HashSet<_> = texts.iter().flat_map(|text| forms_of_text(text)).collect();
    let long = || forms.iter().filter(|text| text.len() >= SHORTEST_COPY);
    for (id, file) in list_files(repo, repo.read_commit(from)?.tree)? {
        if !(HISTORY.format.is_path)(&id) {
            continue;
        }
        let text = String::from_utf8_lossy(&repo.read_blob(file)?).into_owned();
        let parse = |line| Some((line, serde_json::from_str(line).ok()?));
        let (lines, parsed): (Vec<&str>, Vec<Line>) = text.lines().filter_map(parse).unzip();
        let salts: Vec<_> = purges_of(&parsed).into_iter().map(|purge| purge.salt).collect();
        for salt in &salts {
            let digests = || long().map(|text| digest(salt, "body", text)).collect::<Vec<_>>();
            by_salt.entry(salt.clone()).or_insert_with(digests);
        }
        let digests: HashSet<&String> = salts.iter().flat_map(|salt| &by_salt[salt]).collect();
        let removed = lines
            .into_iter()
            .zip(&parsed)
            .filter(|(_, parsed)| matches!(parsed, Line::Body { body } if digests.contains(body)));
        let lines: Vec<String> = removed.map(|(line, _)| line.to_owned()).collect();
        if !lines.is_empty() {
            found.push((id, lines));
        }
    }
    change(repo, signature, &repo.lock(PURGED)?, |tip| {
        let before = tip.map(|tip| tip.tree);
        let tree = HISTORY.format.with_lines(repo, before, found.clone(), |lines, _| Ok(lines))?;
        let state = (before != Some(tree) && !found.is_empty()).then(|| {
            let message = format!("merge {}\n", HISTORY.noun);
            NewState { tree, merged: None, message }
        });
        let is_new = state.is_some();
        Ok::<_, TraceError>((state, is_new))
    })
}
