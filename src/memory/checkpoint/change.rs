//! What is done with the checkpoints of a working tree: each change reads the files, and replaces those that change.
//!
//! Where several files change, they do so one after the other, in an order in which a command that was stopped can be given
//! again and comes to the same: what makes it done, the checkpoint itself, is written or removed last.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::document::{Document, ReferenceKind};
use super::edit::{self, Completion, DeltaParts, RowChange};
use super::error::CheckpointError;
use super::folder::{Checkpoint, File, Folder, checkpoints, find, is_current};
use super::listing::{self, Listed};
use super::validate::{COMPLETION, completion_field};
use super::writer::{lock, replace};
use crate::base::bounded;
use crate::trace::Time;

/// The longest name of a new checkpoint.
const MAX_NAME_LEN: usize = 64;

/// A checkpoint to be made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NewCheckpoint {
    /// Its name, with `chk-` before it or without.
    pub name: String,
    /// What is wrong.
    pub problem: String,
    /// What is to be reached.
    pub intent: String,
    /// The point in the work.
    pub anchor: String,
    /// The id or name of the one it branches from.
    pub parent: Option<String>,
    /// Whether it is the current one.
    pub is_current: bool,
}

/// What is made of a checkpoint's new time: whole seconds, as people write them.
fn whole_second(now: Time) -> Time {
    Time::from_second(now.as_second())
}

/// Makes a checkpoint with all its headings in `checkpoints/active`, and lists it in the INDEX.md there. Gives its path.
///
/// First it is listed; where it is to be the current one, the others then no longer are; at last it is there.
///
/// # Errors
///
/// [`CheckpointError::BadName`], [`CheckpointError::Exists`], [`CheckpointError::Unknown`] for the parent,
/// [`CheckpointError::Io`].
pub(crate) fn create(folder: &Folder, new: &NewCheckpoint, now: Time) -> Result<String, CheckpointError> {
    let now = whole_second(now);
    let name = new.name.strip_prefix("chk-").unwrap_or(&new.name);
    let is_sign = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if name.is_empty() || name.len() > MAX_NAME_LEN || name.starts_with('.') || !name.bytes().all(is_sign) {
        return Err(CheckpointError::BadName { name: new.name.clone() });
    }
    let id = format!("chk-{name}");
    let mut turn = lock(folder)?;
    if turn.is_none() {
        let top = folder.top();
        fs::create_dir_all(&top).map_err(|source| CheckpointError::io("create the folder", top, source))?;
        turn = lock(folder)?;
    }
    let files = folder.files()?;
    let known = checkpoints(&files);
    if let Some(other) = known.iter().find(|one| one.id() == id || one.file.stem() == id) {
        return Err(CheckpointError::Exists { path: other.file.path.clone() });
    }
    let parent = new.parent.as_deref().map(|parent| find(&known, Some(parent))).transpose()?;
    let home = active_folder(folder, &known);
    let text = template(&id, new, parent.map(Checkpoint::id), now);
    let path = home.join(format!("{id}.md"));
    let others = if new.is_current { others_put_aside(&known, None)? } else { Vec::new() };
    if path.symlink_metadata().is_ok() {
        return Err(CheckpointError::Exists { path: folder.shown(&path) });
    }
    let first_line = new.problem.lines().next().unwrap_or_default();
    let listed =
        Listed { name: &id, description: first_line, problem: &new.problem, scope: &new.intent, status: "Started" };
    change_list(&home, |text| listing::add(text, &listed, now))?;
    for (file, text) in &others {
        replace(&file.location, Some(&file.bytes), text.as_bytes())?;
    }
    replace(&path, None, text.as_bytes())?;
    drop(turn);
    Ok(folder.shown(&path))
}

/// Where new checkpoints go: beside the active ones that are there, or to `active` below the folder of the pathspec.
fn active_folder(folder: &Folder, known: &[Checkpoint<'_>]) -> PathBuf {
    let beside = known.iter().find(|one| !one.file.is_archived()).and_then(|one| one.file.location.parent());
    if let Some(beside) = beside {
        return beside.to_owned();
    }
    let top = if folder.pathspec.folder().is_empty() { "checkpoints" } else { folder.pathspec.folder() };
    let active = format!("{top}/active");
    let has_active = folder.pathspec.matches(format!("{active}/chk-a.md").as_bytes());
    folder.root.join(if has_active { &active } else { top })
}

fn template(id: &str, new: &NewCheckpoint, parent: Option<&str>, now: Time) -> String {
    let quoted = |text: &str| serde_json::Value::from(edit::one_line(text)).to_string();
    let parent = parent.map_or("null".to_owned(), quoted);
    let anchor = if new.anchor.trim().is_empty() { "start" } else { &new.anchor };
    let mut text = format!(
        "---\ncheckpoint: {}\ncreated: {now}\nanchor: {}\nlast_delta: {now}\nparent: {parent}\nstatus: {}\n---\n",
        quoted(id),
        quoted(anchor),
        if new.is_current { "current" } else { "active" }
    );
    let sections =
        [("Problem", new.problem.trim()), ("Session Intent", new.intent.trim()), ("Essential Information", "")];
    for (title, body) in sections {
        text.extend(["\n## ", title, "\n"]);
        if !body.is_empty() {
            text.extend(["\n", body, "\n"]);
        }
    }
    let tables = [("Breadcrumbs", "Type | Reference | Hint"), ("Artifact Trail", "File | Status | Key Change")];
    for title in [
        "Decisions",
        "Technical Context",
        "Breadcrumbs",
        "Play-By-Play",
        "Artifact Trail",
        "Current State",
        "Next Actions",
    ] {
        text.extend(["\n### ", title, "\n"]);
        if let Some((_, columns)) = tables.iter().find(|(table, _)| *table == title) {
            let dashes: Vec<_> = columns.split(" | ").map(|column| "-".repeat(column.len() + 2)).collect();
            text.extend(["\n| ", columns, " |\n|", &dashes.join("|"), "|\n"]);
        }
    }
    text + "\n## User Rules\n"
}

/// Makes one checkpoint the current one, and all others not. Gives the paths that changed.
///
/// # Errors
///
/// [`CheckpointError::Unknown`] and its kin, [`CheckpointError::Archived`], [`CheckpointError::Front`].
pub(crate) fn set_current(folder: &Folder, name: &str) -> Result<Vec<String>, CheckpointError> {
    let _turn = lock(folder)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    let chosen = find(&known, Some(name))?;
    refuse_archived(chosen)?;
    // The old ones first: two that are current would be worse than none.
    let mut changes = others_put_aside(&known, Some(chosen))?;
    if !is_current(chosen) {
        changes.push((chosen.file, with_key(chosen, "status", "current")?));
    }
    for (file, text) in &changes {
        replace(&file.location, Some(&file.bytes), text.as_bytes())?;
    }
    Ok(changes.into_iter().map(|(file, _)| file.path.clone()).collect())
}

/// The files of those that are current, but the chosen one, with the text by which they no longer are.
fn others_put_aside<'f>(
    known: &[Checkpoint<'f>],
    chosen: Option<&Checkpoint<'_>>,
) -> Result<Vec<(&'f File, String)>, CheckpointError> {
    let is_chosen = |one: &Checkpoint<'_>| chosen.is_some_and(|chosen| chosen.file.path == one.file.path);
    let others = known.iter().filter(|one| is_current(one) && !is_chosen(one));
    others.map(|one| Ok((one.file, with_key(one, "status", "active")?))).collect()
}

fn with_key(one: &Checkpoint<'_>, key: &str, value: &str) -> Result<String, CheckpointError> {
    edit::set_key(&one.document, key, value).map_err(|problem| front(one.file, problem))
}

fn front(file: &File, problem: String) -> CheckpointError {
    CheckpointError::Front { path: file.path.clone(), problem }
}

fn refuse_archived(one: &Checkpoint<'_>) -> Result<(), CheckpointError> {
    if one.file.is_archived() { Err(CheckpointError::Archived { path: one.file.path.clone() }) } else { Ok(()) }
}

/// Appends a delta to a checkpoint, the current one without a name, and puts its date into the list. Gives path and time.
///
/// The time is later than that of the newest delta, whatever the clock says.
///
/// # Errors
///
/// [`CheckpointError::Unknown`] and its kin, [`CheckpointError::Archived`], [`CheckpointError::Empty`],
/// [`CheckpointError::Front`].
pub(crate) fn add_delta(
    folder: &Folder,
    name: Option<&str>,
    parts: &DeltaParts,
    now: Time,
) -> Result<(String, Time), CheckpointError> {
    if parts.what_changed.trim().is_empty() {
        return Err(CheckpointError::Empty { what: "what changed" });
    }
    let _turn = lock(folder)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    let one = find(&known, name)?;
    refuse_archived(one)?;
    let newest = one.document.deltas().into_iter().filter_map(|delta| delta.moment).map(|moment| moment.time).max();
    let at = whole_second(now);
    let at = newest.map_or(at, |newest| at.max(Time::from_second(newest.as_second() + 1)));
    let text = edit::append_delta(&one.document, parts, at).map_err(|problem| front(one.file, problem))?;
    // The list first: were the delta there first, a command that was stopped and is given again would add it twice.
    change_listed(one, |text, name| listing::touch(text, name, at))?;
    replace(&one.file.location, Some(&one.file.bytes), text.as_bytes())?;
    Ok((one.file.path.clone(), at))
}

/// Adds a breadcrumb to a checkpoint, the current one without a name. Gives path and what became of the row.
///
/// # Errors
///
/// [`CheckpointError::Unknown`] and its kin, [`CheckpointError::Empty`], [`CheckpointError::BadTable`].
pub(crate) fn add_breadcrumb(
    folder: &Folder,
    name: Option<&str>,
    kind: ReferenceKind,
    reference: &str,
    hint: &str,
) -> Result<(String, RowChange), CheckpointError> {
    if edit::one_line(reference).is_empty() {
        return Err(CheckpointError::Empty { what: "the reference" });
    }
    let _turn = lock(folder)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    let one = find(&known, name)?;
    refuse_archived(one)?;
    let (text, change) = edit::put_breadcrumb(&one.document, kind, reference, hint)
        .ok_or_else(|| CheckpointError::BadTable { path: one.file.path.clone() })?;
    if change != RowChange::Kept {
        replace(&one.file.location, Some(&one.file.bytes), text.as_bytes())?;
    }
    Ok((one.file.path.clone(), change))
}

/// What archiving did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Archived {
    /// Where it was.
    pub from: String,
    /// Where it is now.
    pub to: String,
    /// What was learnt, as added to LEARNINGS.md.
    pub learnings: String,
}

/// Moves a checkpoint that is completed to `archive`, collects what was learnt, and takes it off the list.
///
/// With a `completion` that part is written first. The copy in the archive is there before the original goes, so that
/// nothing is lost half-way; nothing is ever overwritten. A copy that says the same is taken for that of a command that was
/// stopped, which this one completes.
///
/// # Errors
///
/// [`CheckpointError::NoCompletion`], [`CheckpointError::ActiveChildren`], [`CheckpointError::Exists`],
/// [`CheckpointError::Completed`], [`CheckpointError::Unknown`] and its kin.
pub(crate) fn archive(
    folder: &Folder,
    name: Option<&str>,
    completion: Option<&Completion>,
    now: Time,
) -> Result<Archived, CheckpointError> {
    let now = whole_second(now);
    let _turn = lock(folder)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    let one = find(&known, name)?;
    refuse_archived(one)?;
    let path = one.file.path.clone();
    let mut text = one.document.text.to_owned();
    if let Some(completion) = completion {
        if one.document.section("Completion").is_some() {
            return Err(CheckpointError::Completed { path });
        }
        text = edit::append_completion(&one.document, completion, now);
    }
    let document = Document::parse(&text);
    let learnings = completed(&document, &path)?;
    let children = known.iter().filter(|other| {
        !other.file.is_archived() && other.file.path != path && other.document.parent() == Some(one.id())
    });
    let children: Vec<_> = children.map(|child| child.id().to_owned()).collect();
    if !children.is_empty() {
        return Err(CheckpointError::ActiveChildren { id: one.id().to_owned(), children });
    }
    if is_current(one) {
        // What is archived is not worked on.
        text = edit::set_key(&document, "status", "active").map_err(|problem| front(one.file, problem))?;
    }
    let (home, top) = archive_folder(&one.file.location);
    let target = home.join(one.file.location.file_name().unwrap_or_default());
    match read_if_there(&target)? {
        Some(copy) if is_same_but_for_date(&copy, text.as_bytes()) => {}
        Some(_) => return Err(CheckpointError::Exists { path: folder.shown(&target) }),
        None => replace(&target, None, text.as_bytes())?,
    }
    collect_learnings(&top.join("LEARNINGS.md"), one.id(), &learnings, now)?;
    change_listed(one, listing::remove)?;
    fs::remove_file(&one.file.location).map_err(|source| CheckpointError::io("remove", &one.file.location, source))?;
    Ok(Archived { from: path, to: folder.shown(&target), learnings })
}

/// Whether a text says the same, but for the date of its Completion.
fn is_same_but_for_date(copy: &[u8], text: &[u8]) -> bool {
    let is_date = |line: &[u8]| line.starts_with(b"- **Date**: ");
    let (mut copy, mut text) = (copy.split(|b| *b == b'\n'), text.split(|b| *b == b'\n'));
    loop {
        match (copy.next(), text.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one == other || is_date(one) && is_date(other) => {}
            _ => return false,
        }
    }
}

/// What was learnt, if the part Completion says all it has to.
fn completed(document: &Document<'_>, path: &str) -> Result<String, CheckpointError> {
    let missing =
        |missing: &[&str]| CheckpointError::NoCompletion { path: path.to_owned(), missing: missing.join(", ") };
    let section = document.section("Completion").ok_or_else(|| missing(&COMPLETION))?;
    let absent: Vec<_> =
        COMPLETION.into_iter().filter(|name| completion_field(document, &section, name).is_none()).collect();
    if !absent.is_empty() {
        return Err(missing(&absent));
    }
    Ok(completion_field(document, &section, "Learnings").unwrap_or_default().to_owned())
}

/// The archive that a file goes to, and the folder around it: `active` becomes `archive`.
fn archive_folder(location: &Path) -> (PathBuf, PathBuf) {
    let folder = location.parent().unwrap_or(Path::new("."));
    let top = if folder.file_name().is_some_and(|name| name == "active") { folder.parent() } else { None };
    let top = top.unwrap_or(folder);
    (top.join("archive"), top.to_owned())
}

/// Adds what was learnt, unless it is there already, of whatever day.
fn collect_learnings(path: &Path, id: &str, learnings: &str, now: Time) -> Result<(), CheckpointError> {
    let before = read_if_there(path)?;
    let mut text = before.clone().unwrap_or_else(|| b"# Learnings\n".to_vec());
    let (head, body) = (format!("\n## {id} ("), format!(")\n\n{learnings}\n"));
    let is_there = String::from_utf8_lossy(&text).split(&head).skip(1).any(|part| {
        let after_day = part.get("2026-01-01".len()..);
        after_day.is_some_and(|rest| rest.starts_with(&body))
    });
    if is_there {
        return Ok(());
    }
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend(format!("\n## {id} ({})\n\n{learnings}\n", &now.to_string()[..10]).as_bytes());
    replace(path, before.as_deref(), &text)
}

fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, CheckpointError> {
    match bounded::read_file(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CheckpointError::io("read", path, source)),
    }
}

/// Changes the list beside a checkpoint, under the name it has there; where there is none, nothing.
fn change_listed(one: &Checkpoint<'_>, change: impl Fn(&str, &str) -> String) -> Result<(), CheckpointError> {
    let Some(home) = one.file.location.parent() else { return Ok(()) };
    change_list(home, |text| {
        let text = text?;
        let changed = change(text, one.file.stem());
        let changed = if one.id() == one.file.stem() { changed } else { change(&changed, one.id()) };
        Some(changed)
    })
}

fn change_list(home: &Path, change: impl FnOnce(Option<&str>) -> Option<String>) -> Result<(), CheckpointError> {
    let path = home.join("INDEX.md");
    let before = read_if_there(&path)?;
    let text = match &before {
        // A list that is not text is left as it is; `validate` tells of it.
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(_) => return Ok(()),
        },
        None => None,
    };
    match change(text) {
        Some(changed) if Some(&*changed) != text => replace(&path, before.as_deref(), changed.as_bytes()),
        _ => Ok(()),
    }
}
