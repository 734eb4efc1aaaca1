//! The archive: the originals of compressed entries, as a history under `refs/crumb-archive/<identity>`.
//!
//! ```text
//! lines/3f/9a1c2e7b10d4e5      originals of the line with this digest, one per line
//! failures/81/d2f0a94c55b9a0   the archived failures of one name, one line per agent
//! ```
//!
//! A path contains the first 16 hex digits of the BLAKE3 digest of the line or name, so the crumb file needs no reference to
//! it. An original may itself be a summary with originals. The refs are private: plain pushes and clones do not copy them.

use std::collections::{BTreeMap, HashMap, HashSet};

use percent_encoding::percent_decode_str;

use crate::git::{Mode, Oid, Repo, TreeStore};
use crate::memory::crumb::Entry;
use crate::memory::crumb::compress::{CompressionPlan, failure_name};
use crate::memory::crumb::error::CrumbError;
use crate::trace::model::trailers::one_line;
use crate::trace::model::tree::TreeEditor;
use crate::trace::store::line_history::{self, LineFormat, LineHistory, NewState};
use crate::trace::store::signature::Signature;

pub(crate) const ARCHIVES: &str = "refs/crumb-archive/";

/// The ref of the archive of an identity. Each byte that a refname cannot contain becomes `%` and two hex digits.
pub(crate) fn refname(identity: &str) -> String {
    let encoded = |is_plain: &dyn Fn(char) -> bool| {
        let mut name = ARCHIVES.to_owned();
        for c in identity.chars() {
            if is_plain(c) {
                name.push(c);
            } else {
                let mut bytes = [0; 4];
                name.extend(c.encode_utf8(&mut bytes).bytes().map(|b| format!("%{b:02x}")));
            }
        }
        name
    };
    let with_dots = encoded(&|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if Repo::is_refname(&with_dots) { with_dots } else { encoded(&|c| c.is_alphanumeric() || matches!(c, '-' | '_')) }
}

/// Whether a ref is the archive of some identity.
pub(crate) fn is_refname(name: &str) -> bool {
    let identity = name.strip_prefix(ARCHIVES).map(|encoded| percent_decode_str(encoded).decode_utf8());
    matches!(identity, Some(Ok(identity)) if refname(&identity) == name)
}

/// The digests under which a line is stored: its own, and that of the failure's name if it is one.
pub(crate) fn digests_of(line: &str) -> impl Iterator<Item = String> {
    let name = Entry::parse(line).map(|entry| digest(&failure_name(&entry)));
    std::iter::once(digest(line)).chain(name)
}

/// The paths of the failures in a file of failures.
pub(crate) fn failure_paths(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| Some(failure_path(&failure_name(&Entry::parse(line)?))))
}

/// Originals are ordered by session, and by bytes within one, if two clones archived different ones of a line.
const FORMAT: LineFormat = LineFormat {
    is_path: |path| {
        let mut parts = path.split('/');
        let is_hex =
            |part: &str, len| part.len() == len && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        matches!(parts.next(), Some("lines" | "failures"))
            && parts.next().is_some_and(|part| is_hex(part, 2))
            && parts.next().is_some_and(|part| is_hex(part, 14))
            && parts.next().is_none()
    },
    is_line: |line| Entry::parse(line).is_some(),
    sort: |lines| lines.sort_by_key(|line| Entry::parse(line).and_then(|entry| entry.latest())),
};

/// The archive with this refname.
pub(crate) fn history(refname: &str) -> LineHistory<'_> {
    LineHistory { refname, shared: refname, noun: "archived entries", format: FORMAT }
}

/// An archive as of its tip.
#[derive(Debug)]
pub(crate) struct Archive<'r> {
    repo: &'r Repo,
    tree: Option<Oid>,
}

impl<'r> Archive<'r> {
    /// Opens the archive of an identity, which is empty if it does not exist.
    pub(crate) fn open(repo: &'r Repo, identity: &str) -> Result<Self, CrumbError> {
        let tip = repo.find_ref(&refname(identity))?.map(|tip| repo.read_commit(tip)).transpose()?;
        Ok(Self { repo, tree: tip.map(|commit| commit.tree) })
    }

    /// The originals of a line, in which summaries are replaced by their own originals; `None` if it has none.
    pub(crate) fn originals(&self, line: &str) -> Result<Option<Vec<String>>, CrumbError> {
        let mut seen = vec![line.to_owned()];
        self.trace_back(line, &mut seen)
    }

    fn trace_back(&self, line: &str, seen: &mut Vec<String>) -> Result<Option<Vec<String>>, CrumbError> {
        let Some(lines) = self.read(&line_path(line))? else { return Ok(None) };
        let (mut originals, mut older) = (Vec::new(), Vec::new());
        for original in lines {
            let mut found = None;
            if !seen.contains(&original) {
                seen.push(original.clone());
                found = self.trace_back(&original, seen)?;
            }
            match found {
                Some(found) => older.push(found),
                None => originals.push(original),
            }
        }
        for found in older {
            // Two summaries of the same sessions have originals in common.
            let mut known: HashMap<&str, usize> = HashMap::new();
            for line in &originals {
                let line: &String = line;
                *known.entry(line).or_default() += 1;
            }
            let mut is_new = |line: &String| match known.get_mut(line.as_str()) {
                Some(count @ 1..) => {
                    *count -= 1;
                    false
                }
                _ => true,
            };
            let new: Vec<String> = found.into_iter().filter(|line| is_new(line)).collect();
            originals.extend(new);
        }
        originals.sort_by_key(|line| Entry::parse(line).and_then(|entry| entry.latest()));
        Ok(Some(originals))
    }

    /// The archived failures of a name, one per agent: the latest, if clones archived different ones.
    pub(crate) fn failure(&self, name: &str) -> Result<Vec<String>, CrumbError> {
        let mut lines = self.read(&failure_path(name))?.unwrap_or_default();
        let mut agents = HashSet::new();
        lines.reverse();
        lines.retain(|line| agents.insert(Entry::parse(line).map(|entry| entry.agent)));
        lines.reverse();
        Ok(lines)
    }

    pub(crate) fn failures(&self) -> Result<Vec<String>, CrumbError> {
        let mut failures = Vec::new();
        let Some(tree) = self.tree else { return Ok(failures) };
        for top in self.repo.read_tree(tree)?.into_iter().filter(|entry| entry.name == b"failures") {
            for middle in self.repo.read_tree(top.oid)?.into_iter().filter(|entry| entry.mode() == Mode::Folder) {
                for file in self.repo.read_tree(middle.oid)? {
                    failures.extend(self.lines_of(file.oid)?);
                }
            }
        }
        failures.sort();
        Ok(failures)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<String>>, CrumbError> {
        let file = self.tree.map_or(Ok(None), |tree| line_history::find_file(self.repo, tree, path))?;
        file.map(|blob| self.lines_of(blob)).transpose()
    }

    fn lines_of(&self, blob: Oid) -> Result<Vec<String>, CrumbError> {
        let text = String::from_utf8_lossy(&self.repo.read_blob(blob)?).into_owned();
        Ok(text.split_terminator('\n').map(str::to_owned).collect())
    }

    /// The tree after adding the lines that a plan removes.
    fn with(&self, plan: &CompressionPlan) -> Result<Oid, CrumbError> {
        let mut editor = TreeEditor::new(self.repo, self.tree)?;
        for group in &plan.groups {
            let line = group.line();
            let mut originals = Vec::new();
            for member in &group.members {
                // If a member already has this text, its originals are those of the new line.
                let before = if member.line == line { self.read(&line_path(&line))? } else { None };
                originals.extend(before.unwrap_or_else(|| vec![member.line.clone()]));
            }
            let blob = self.repo.write_blob((originals.join("\n") + "\n").as_bytes())?;
            editor.put(self.repo, &line_path(&line), blob)?;
        }
        let mut failures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for evicted in &plan.evicted {
            failures.entry(&evicted.name).or_default().push(evicted.line.clone());
        }
        for (name, new) in failures {
            let agent = |line: &str| Entry::parse(line).and_then(|entry| entry.agent);
            let mut lines = self.failure(name)?;
            lines.retain(|line| !new.iter().any(|new| agent(new) == agent(line)));
            lines.extend(new);
            let blob = self.repo.write_blob((lines.join("\n") + "\n").as_bytes())?;
            editor.put(self.repo, &failure_path(name), blob)?;
        }
        Ok(editor.write(self.repo)?)
    }
}

/// Archives the lines that a plan removes, in one commit.
pub(crate) fn store(
    repo: &Repo,
    identity: &str,
    session: u64,
    plan: &CompressionPlan,
    signature: &Signature,
) -> Result<(), CrumbError> {
    let message = message(identity, session, plan);
    line_history::change(repo, signature, &repo.lock(&refname(identity))?, |tip| {
        let archive = Archive { repo, tree: tip.map(|commit| commit.tree) };
        let tree = archive.with(plan)?;
        let state = NewState { tree, merged: None, message: message.clone() };
        Ok(((Some(tree) != archive.tree).then_some(state), ()))
    })
}

/// Keeps the originals of summaries that a merge dropped, with those of the summary that covers them.
///
/// If those are not archived here, the summary itself is one of its originals, so that expanding it loses nothing.
pub(crate) fn store_subsumed(
    repo: &Repo,
    identity: &str,
    subsumed: &[(&str, &str)],
    signature: &Signature,
) -> Result<(), CrumbError> {
    let message = one_line(&format!("merge {identity}: {} summaries are parts of others", subsumed.len())) + "\n";
    line_history::change(repo, signature, &repo.lock(&refname(identity))?, |tip| {
        let archive = Archive { repo, tree: tip.map(|commit| commit.tree) };
        let mut editor = TreeEditor::new(repo, archive.tree)?;
        let mut paths: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (kept, dropped) in subsumed {
            let path = line_path(kept);
            if !paths.contains_key(&path) {
                let known = archive.read(&path)?.unwrap_or_else(|| vec![(*kept).to_owned()]);
                paths.insert(path.clone(), known);
            }
            let lines = paths.entry(path).or_default();
            if !lines.iter().any(|line| line == dropped) {
                lines.push((*dropped).to_owned());
            }
        }
        for (path, lines) in paths {
            let text = FORMAT.normalized((lines.join("\n") + "\n").as_bytes());
            let blob = repo.write_blob(text.as_bytes())?;
            editor.put(repo, &path, blob)?;
        }
        let tree = editor.write(repo)?;
        let state = NewState { tree, merged: None, message: message.clone() };
        Ok(((Some(tree) != archive.tree).then_some(state), ()))
    })
}

fn message(identity: &str, session: u64, plan: &CompressionPlan) -> String {
    let count: usize = plan.groups.iter().map(|group| group.members.len()).sum();
    let subject = one_line(&format!(
        "compress {identity}: {count} entries into {} lines, {} failures archived",
        plan.groups.len(),
        plan.evicted.len()
    ));
    let mut message = format!("{subject}\n\nCrumb-Session: {session}\n");
    for group in &plan.groups {
        let line = group.line();
        message.extend(["Crumb-Line: ", &digest(&line), " ", &group.reference.to_string(), "\n"]);
        for member in &group.members {
            message.extend(["Crumb-Original: ", &digest(&member.line), "\n"]);
        }
    }
    for evicted in &plan.evicted {
        message.extend(["Crumb-Failure: ", &digest(&evicted.name), " ", &one_line(&evicted.name), "\n"]);
    }
    message
}

fn digest(text: &str) -> String {
    let mut digits = blake3::hash(text.as_bytes()).to_hex().to_string();
    digits.truncate(16);
    digits
}

fn line_path(line: &str) -> String {
    let digits = digest(line);
    format!("lines/{}/{}", &digits[..2], &digits[2..])
}

fn failure_path(name: &str) -> String {
    let digits = digest(name);
    format!("failures/{}/{}", &digits[..2], &digits[2..])
}
