//! The message of a rewritten commit: subject, reason, and the trailers that describe its tree.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter;

use super::{Rewriter, Role, archive, is_of_code, read_item};
use crate::check::purge::content::{Target, is_marker};
use crate::git::{Oid, RawCommit, Repo, TreeStore as _};
use crate::tokens::Counter;
use crate::trace::model::trailers::{Basis, Counted, Total, Trailers, parse_title, preview};
use crate::trace::model::tree;
use crate::trace::store::tombstone::line_of;
use crate::trace::{ItemId, TraceError};

/// The trailers whose values are never a user's text.
const FIXED: [&str; 10] = [
    "Trace-Op: ",
    "Trace-Item: ",
    "Trace-Time: ",
    "Trace-Tree: ",
    "Trace-Total: ",
    "Trace-Counted: ",
    "Trace-Next: ",
    "Trace-Title: ",
    "Trace-Code: ",
    "Trace-From: ",
];

/// How many verbs, such as `revert: revert: `, may be before a repeated subject.
const MAX_VERBS: usize = 16;

/// Whether the message of a commit names a purged item and still says something of it. If its files are gone, a marker counts as all.
pub(in crate::check::purge) fn says_more(repo: &Repo, target: &Target, oid: Oid, message: &str) -> bool {
    let named = message.lines().filter_map(|line| line.strip_prefix("Trace-Item: ")?.parse().ok());
    let named: BTreeSet<ItemId> = named.filter(|id| target.items.contains(id)).collect();
    if named.is_empty() {
        return false;
    }
    let is_all_purged = || -> Result<bool, TraceError> {
        let subject = message.lines().next().unwrap_or_default();
        let mut reasons = message.lines().filter_map(|line| line.strip_prefix("Trace-Reason: "));
        if reasons.any(|reason| !is_marker(reason.as_bytes())) {
            return Ok(false);
        }
        if is_marker(subject.as_bytes()) {
            return Ok(true);
        }
        let commit = repo.read_raw_commit(oid)?;
        let before = commit.parents.first().map(|parent| repo.read_raw_commit(*parent)).transpose()?;
        for change in tree::changes(repo, before.map(|before| before.tree), commit.tree)? {
            for entry in change.newest_first().filter(|entry| named.contains(&entry.id)) {
                let mut item = read_item(entry.id, &repo.read_blob(entry.blob)?);
                target.blank(&mut item);
                if subject.ends_with(&preview(&item)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    };
    !is_all_purged().unwrap_or_else(|_| message.contains("[purged: "))
}

/// The commit of a trace that was picked or replayed, if it is here. A remote may name any commit.
pub(in crate::check::purge) fn origin(repo: &Repo, commit: &RawCommit) -> Result<Option<Oid>, TraceError> {
    let Some(from) = Trailers::parse(&decoded(&commit.message)).from else { return Ok(None) };
    let found = repo.find_commit(&from)?;
    // A shorter name could name another commit in another clone.
    Ok(found.filter(|oid| oid.to_string() == from && !is_of_code(repo, *oid)))
}

/// A message as text. Plain git may write one in the encoding of its header; other encodings than Latin-1 are rare.
pub(in crate::check::purge) fn decoded(message: &[u8]) -> Cow<'_, str> {
    let of_latin_1 = |_| Cow::Owned(message.iter().copied().map(char::from).collect());
    std::str::from_utf8(message).map_or_else(of_latin_1, Cow::Borrowed)
}

impl Rewriter<'_> {
    pub(super) fn message(&mut self, commit: &RawCommit, message: &str) -> Result<String, TraceError> {
        let files = self.repo.tree(commit.tree)?;
        let changed = if files.entries().any(|entry| archive::FOLDERS.contains(&entry.name)) {
            self.message_of_archive(message)
        } else if let Some(changed) = self.message_of_record(commit, message)? {
            changed
        } else {
            self.message_of_items(commit, message)?
        };
        self.counts.messages += usize::from(without_fixed(&changed) != without_fixed(message));
        Ok(changed)
    }

    fn redacted(&self, text: &str) -> String {
        self.target.needle.replace_text(text, &self.target.marker).unwrap_or_else(|| text.to_owned())
    }

    /// A pattern may match the line end, which stays.
    fn redacted_line(&self, line: &str) -> String {
        let new = self.redacted(&(self.redacted(line) + "\n"));
        new.trim_end_matches('\n').to_owned()
    }

    /// An import adds these to its commits, and must not bring the text back.
    fn redacted_trailer(&mut self, line: &str) -> String {
        let new = self.redacted_line(line);
        if new != line {
            let Trailers { source, family, .. } = Trailers::parse(&format!("\n\n{line}\n"));
            self.changed_lines.extend(source.map(|mark| mark.session));
            self.changed_lines.extend(family.map(|family| family.to_string()));
        }
        new
    }

    fn message_of_items(&mut self, commit: &RawCommit, message: &str) -> Result<String, TraceError> {
        let gap = message.trim_end().rfind("\n\n").filter(|gap| message[gap + 2..].contains("Trace-"));
        let (text, between, trailers) =
            gap.map_or((message, "", ""), |gap| (&message[..gap], "\n\n", &message[gap + 2..]));
        let items = || trailers.lines().filter_map(|line| line.strip_prefix("Trace-Item: ")?.parse::<ItemId>().ok());
        let is_purged = items().any(|item| self.target.items.contains(&item));
        // A commit that changes several items names none, and one that compresses items names their summary.
        let is_compression = trailers.contains("Trace-Op: compress");
        // An expansion or a revert repeats the subject of the commit that it takes back.
        let is_repetition = trailers.contains("Trace-From: ");
        let names_none = is_compression || (is_repetition && items().next().is_none());
        let says_more = !is_purged && (names_none || trailers.contains("Trace-Reason: "));
        let is_of_purged = is_purged || (says_more && self.changes_purged(commit)?);
        let (subject, body) = text.split_at(text.find('\n').unwrap_or(text.len()));
        let previews = self.previews(commit, &items().collect())?;
        let must_go =
            (is_purged || (is_of_purged && names_none) || (is_repetition && self.repeats_purged(commit, subject)?))
                && !is_marker(subject.as_bytes())
                && !self.is_preview(commit, &items().collect(), subject)?;
        if must_go {
            self.forgotten_subjects.insert(subject.to_owned());
        }
        let new_subject = self.subject(subject, previews.as_deref(), must_go);
        let mut changed = self.redacted(&(self.redacted(&format!("{new_subject}{body}")) + between));
        if !changed.ends_with(between) {
            // A pattern may match the line breaks before the trailers, which stay.
            changed = changed.trim_end_matches('\n').to_owned() + between;
        }
        // A file that was purged shows the same in a commit that was rebased.
        let alone = items().next().filter(|_| previews.is_none());
        if !changed.starts_with(subject) {
            self.forget_words(subject);
            self.changed_lines.extend(alone.map(|item| line_of(item, subject)));
        }
        for line in trailers.split_inclusive('\n') {
            let (value, end) = line.strip_suffix('\n').map_or((line, ""), |value| (value, "\n"));
            let new = match value.split_once(": ") {
                Some(("Trace-Tree", tree)) => format!("Trace-Tree: {}", self.mapped_tree(tree)?),
                Some(("Trace-From", from)) => format!("Trace-From: {}", self.mapped_commit(from)),
                Some(("Trace-Title", title)) => format!("Trace-Title: {}", self.mapped_title(title)?),
                Some(("Trace-Total" | "Trace-Counted", _)) => match self.total(commit, message, value)? {
                    Some(total) => total,
                    None => continue,
                },
                Some(("Trace-Reason", reason)) => {
                    let is_purged = is_of_purged && !is_marker(reason.as_bytes());
                    let new = if is_purged { self.target.marker.clone() } else { self.redacted_line(reason) };
                    if new != reason {
                        self.forget_words(reason);
                        self.changed_lines.extend(items().map(|item| line_of(item, reason)));
                    }
                    format!("Trace-Reason: {new}")
                }
                _ if is_fixed(value) => value.to_owned(),
                _ => self.redacted_trailer(value),
            };
            changed.extend([&new, end]);
        }
        Ok(changed)
    }

    /// Whether a subject repeats one that was replaced, after one or more verbs.
    fn repeats_forgotten(&self, subject: &str) -> bool {
        let repeated = iter::successors(Some(subject), |rest| Some(rest.split_once(": ")?.1));
        repeated.skip(1).take(MAX_VERBS).any(|rest| self.forgotten_subjects.contains(rest))
    }

    /// Whether a subject repeats that of a commit that names or changes a purged item.
    fn repeats_purged(&mut self, commit: &RawCommit, subject: &str) -> Result<bool, TraceError> {
        if self.target.items.is_empty() {
            return Ok(false);
        }
        let Some(first) = origin(self.repo, commit)? else {
            // After a rebase, only some clones have it, but the commit that took its place has the same subject.
            return Ok(self.repeats_forgotten(subject));
        };
        let (mut subject, mut next, mut followed, mut repeats) = (subject.to_owned(), Some(first), Vec::new(), false);
        while let Some(oid) = next {
            let from = self.repo.read_raw_commit(oid)?;
            let message = decoded(&from.message);
            let repeated = message.lines().next().unwrap_or_default();
            if repeated.is_empty() || is_marker(repeated.as_bytes()) || !subject.ends_with(repeated) {
                break;
            }
            if let Some(known) = self.repetitions.get(&oid) {
                repeats = *known;
                break;
            }
            followed.push(oid);
            let mut named = message.lines().filter_map(|line| line.strip_prefix("Trace-Item: ")?.parse().ok());
            if named.any(|id| self.target.items.contains(&id)) || self.changes_purged(&from)? {
                repeats = true;
                break;
            }
            (subject, next) = (repeated.to_owned(), origin(self.repo, &from)?);
        }
        self.repetitions.extend(followed.into_iter().map(|oid| (oid, repeats)));
        Ok(repeats)
    }

    /// Whether a commit changes a purged item.
    fn changes_purged(&self, commit: &RawCommit) -> Result<bool, TraceError> {
        if self.target.items.is_empty() {
            return Ok(false);
        }
        let before = commit.parents.first().map(|parent| self.repo.read_raw_commit(*parent)).transpose()?;
        let changes = tree::changes(self.repo, before.map(|before| before.tree), commit.tree)?;
        Ok(changes.iter().any(|change| self.target.items.contains(&change.entry().id)))
    }

    /// The beginnings of the items that a commit names and changes, before and after; `None` if nothing was purged from these. Other
    /// commits do not count, so that all clones write the same message, and a repeated purge changes nothing.
    fn previews(
        &self,
        commit: &RawCommit,
        items: &BTreeSet<ItemId>,
    ) -> Result<Option<Vec<(String, String)>>, TraceError> {
        if self.changed_items.is_disjoint(items) {
            return Ok(items.is_empty().then(Vec::new));
        }
        let before = commit.parents.first().map(|parent| self.repo.read_raw_commit(*parent)).transpose()?;
        let changes = tree::changes(self.repo, before.map(|before| before.tree), commit.tree)?;
        let named: Vec<_> = changes.iter().filter(|change| items.contains(&change.entry().id)).collect();
        let sides = named.iter().flat_map(|change| change.newest_first());
        let changed = sides.filter_map(|entry| self.items.get(&entry.blob));
        let previews: Vec<_> = changed.map(|(before, after)| (preview(before), preview(after))).collect();
        Ok((named.len() < items.len() || !previews.is_empty()).then_some(previews))
    }

    /// Whether a subject ends with the beginning of an item as the purge left it. A marker alone does not show this: it may be that of
    /// another purge, beside text that this one removed.
    fn is_preview(&mut self, commit: &RawCommit, items: &BTreeSet<ItemId>, subject: &str) -> Result<bool, TraceError> {
        let (mut before, mut after) = (commit.parents.first().copied(), commit.tree);
        // The purged parents of a commit of ours were not rewritten here, but replaced.
        if self.target.known.is_some() {
            (before, after) = (before.map(|parent| self.commits[&parent]), self.tree(after, b"")?);
        }
        let before = before.map(|parent| self.repo.read_raw_commit(parent)).transpose()?.map(|before| before.tree);
        for change in tree::changes(self.repo, before, after)? {
            for entry in change.newest_first().filter(|entry| items.contains(&entry.id)) {
                let preview = match self.items.get(&entry.blob) {
                    Some((_, after)) => preview(after),
                    None => preview(&read_item(entry.id, &self.repo.read_blob(entry.blob)?)),
                };
                if subject.ends_with(&preview) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The usual subject repeats the beginning of the item, cut off if it is long.
    fn subject(&self, subject: &str, previews: Option<&[(String, String)]>, must_go: bool) -> String {
        let mut previews_here = previews.into_iter().flatten();
        if let Some((head, after)) =
            previews_here.find_map(|(before, after)| Some((subject.strip_suffix(before.as_str())?, after)))
        {
            return format!("{head}{after}");
        }
        let marker = &self.target.marker;
        if must_go {
            return marker.clone();
        }
        let cut = previews.and_then(|_| self.target.needle.replace_cuts_of(subject, marker));
        cut.unwrap_or_else(|| subject.to_owned())
    }

    fn mapped_tree(&mut self, tree: &str) -> Result<String, TraceError> {
        let Some(oid) = self.repo.find_oid(tree) else { return Ok(tree.to_owned()) };
        // A commit that plain git made may name the tree of another commit, which need not be here.
        if self.repo.tree(oid).is_err() {
            return Ok(tree.to_owned());
        }
        Ok(self.tree(oid, b"")?.to_string())
    }

    fn mapped_commit(&self, from: &str) -> String {
        let new = self.repo.find_oid(from).and_then(|oid| self.commits.get(&oid));
        new.map_or_else(|| from.to_owned(), Oid::to_string)
    }

    /// The commit that added the title is an ancestor, which a pull may have replaced without reading its files.
    fn mapped_title(&mut self, title: &str) -> Result<String, TraceError> {
        let named = parse_title(title).and_then(|(item, blob)| Some((item, self.repo.find_oid(&blob)?)));
        let is_purged = |(item, blob): &(ItemId, Oid)| self.target.items.contains(item) || self.hits.contains(blob);
        // A remote may name any blob.
        let Some((item, blob)) = named.filter(|named| is_purged(named) && self.repo.read_blob(named.1).is_ok()) else {
            return Ok(title.to_owned());
        };
        Ok(format!("{item} {}", self.file(blob, Role::Item(Some(item)))?))
    }

    /// The line of a total. A reported total is what the provider counted, so it stays. That of a counter which is not here is
    /// removed: readers count again.
    fn total(&mut self, commit: &RawCommit, message: &str, line: &str) -> Result<Option<String>, TraceError> {
        let trailers = Trailers::parse(message);
        let tree = trailers.tree.as_deref().and_then(|tree| self.repo.find_oid(tree)).unwrap_or(commit.tree);
        let mut after = |tokens: u64, id| {
            let difference = Counter::find(id).map(|counter| self.cost_difference(tree, b"", counter)).transpose()?;
            Ok::<_, TraceError>(difference.map(|difference| tokens.saturating_add_signed(difference)))
        };
        match (trailers.counted, trailers.total) {
            (Some(Counted { tokens, counter }), _) if line.starts_with("Trace-Counted") => {
                let tokens = after(tokens, counter)?;
                Ok(tokens.map(|tokens| format!("Trace-Counted: {}", Counted { tokens, counter }.render())))
            }
            (_, Some(Total { tokens, basis: Basis::Counted(counter) })) if line.starts_with("Trace-Total") => {
                Ok(after(tokens, counter)?.map(|tokens| format!("Trace-Total: {tokens} {counter}")))
            }
            _ => Ok(Some(line.to_owned())),
        }
    }

    /// `pinned <item>`, and the reason in the body; `None` if the commit did not change a purged item's priority.
    fn message_of_record(&self, commit: &RawCommit, message: &str) -> Result<Option<String>, TraceError> {
        let file = |tree: Oid, item: ItemId| -> Result<Option<Oid>, TraceError> {
            let find = |tree: Oid, name: &str| -> Result<Option<Oid>, TraceError> {
                let entries = self.repo.tree(tree)?;
                Ok(entries.entries().find(|entry| entry.name == name.as_bytes()).map(|entry| entry.oid()))
            };
            let (folder, name) = item.fan_out();
            find(tree, &folder)?.map_or(Ok(None), |folder| find(folder, &name))
        };
        for item in &self.target.items {
            let mut before = None;
            if let Some(parent) = commit.parents.first() {
                before = file(self.repo.read_commit(*parent)?.tree, *item)?;
            }
            if file(commit.tree, *item)? != before
                && let Some((subject, body)) = message.split_once("\n\n")
                && !is_marker(body.trim_end().as_bytes())
            {
                return Ok(Some(self.redacted(&format!("{subject}\n\n{}\n", self.target.marker))));
            }
        }
        Ok(None)
    }

    /// Digests of lines that changed are replaced too: they would confirm a guess of the text.
    fn message_of_archive(&self, message: &str) -> String {
        let new = |part: &str| {
            let word = part.trim_end_matches([' ', '\n']);
            self.lines.get(word).map_or_else(|| part.to_owned(), |new| new.clone() + &part[word.len()..])
        };
        self.redacted(message).split_inclusive([' ', '\n']).map(new).collect()
    }
}

fn without_fixed(message: &str) -> Vec<&str> {
    message.lines().filter(|line| !is_fixed(line)).collect()
}

pub(in crate::check::purge) fn is_fixed(line: &str) -> bool {
    FIXED.iter().any(|key| line.starts_with(key))
}

/// A message without the trailers that are ids, numbers, and times.
pub(in crate::check::purge) fn without_ids(message: &str) -> String {
    let is_id = |line: &str| {
        let value = line.split_once(": ").map_or("", |(_, value)| value);
        is_fixed(line) && value.bytes().all(|byte| byte.is_ascii_hexdigit() || b" +-.:TZ_kos".contains(&byte))
    };
    message.lines().filter(|line| !is_id(line)).flat_map(|line| [line, "\n"]).collect()
}
