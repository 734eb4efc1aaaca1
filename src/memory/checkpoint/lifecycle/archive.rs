//! Archiving a completed checkpoint.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::write::{self, write};
use super::{
    LEARNINGS, bad_frontmatter, change, check_active, edit_index_entry, read_if_exists, set_status, truncate_to_second,
};
use crate::memory::checkpoint::document::Document;
use crate::memory::checkpoint::document::edit::{self, Completion};
use crate::memory::checkpoint::error::CheckpointError;
use crate::memory::checkpoint::folder::{Checkpoint, Folder, is_current};
use crate::memory::checkpoint::index::edit::remove;
use crate::memory::checkpoint::validate::{COMPLETION_FIELDS, completion_field, has_learnings};
use crate::trace::Time;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct ArchivedCheckpoint {
    pub from: String,
    pub to: String,
    pub learnings: String,
}

/// Moves a completed checkpoint to `archive`, collects its learnings, and removes it from the index.
///
/// `completion` is appended first, if given. The copy in the archive is written before the original is removed, and it never
/// overwrites another file. With `has_force`, it may have active children. An existing copy with the same content is one of an interrupted command, which this one completes.
pub(crate) fn archive(
    folder: &Folder,
    name: Option<&str>,
    completion: Option<&Completion>,
    has_force: bool,
    now: Time,
) -> Result<ArchivedCheckpoint, CheckpointError> {
    let now = truncate_to_second(now);
    change(folder, name, |one, known| {
        if one.file.is_archived() && one.document.is_current() {
            // A person moved it by hand.
            let text = set_status(one, "active")?;
            write(folder, &one.file.location, Some(&one.file.bytes), text.as_bytes())?;
            let path = one.file.path.clone();
            return Ok(ArchivedCheckpoint { from: path.clone(), to: path, learnings: String::new() });
        }
        check_active(one)?;
        archive_active(folder, one, known, completion, has_force, now)
    })
}

fn archive_active(
    folder: &Folder,
    one: &Checkpoint<'_>,
    known: &[Checkpoint<'_>],
    completion: Option<&Completion>,
    has_force: bool,
    now: Time,
) -> Result<ArchivedCheckpoint, CheckpointError> {
    let path = one.file.path.clone();
    let mut text = one.document.text.to_owned();
    if let Some(completion) = completion {
        if one.document.section("Completion").is_some() {
            return Err(CheckpointError::Completed { path });
        }
        text = edit::append_completion(&one.document, completion, now);
    }
    let document = Document::parse(&text);
    let learnings = completed_learnings(&document, &path)?;
    let children = known.iter().filter(|other| {
        !other.file.is_archived() && other.file.path != path && other.document.parent() == Some(one.id())
    });
    let children: Vec<_> = children.map(|child| child.id().to_owned()).collect();
    if !children.is_empty() && !has_force {
        return Err(CheckpointError::ActiveChildren { id: one.id().to_owned(), children });
    }
    if is_current(one) {
        text = edit::set_key(&document, "status", "active").map_err(|problem| bad_frontmatter(one.file, problem))?;
    }
    let (archive, top) = archive_folder(&one.file.location);
    let target = archive.join(one.file.location.file_name().unwrap_or_default());
    // Behind a link, the copy may be the original.
    write::real_path(folder, &target)?;
    if target.is_symlink() {
        return Err(CheckpointError::Exists { path: folder.shown(&target) });
    }
    // A list that cannot be written stops the command before the first change.
    for list in [top.join(LEARNINGS), one.file.location.with_file_name("INDEX.md")] {
        write::real_path(folder, &list)?;
        read_if_exists(folder, &list)?;
    }
    let copy = read_if_exists(folder, &target)?;
    if copy.as_ref().is_some_and(|copy| !equals_except_date(copy, text.as_bytes())) {
        return Err(CheckpointError::Exists { path: folder.shown(&target) });
    }
    edit_index_entry(folder, one, remove)?;
    if has_learnings(&learnings) {
        collect_learnings(folder, &top.join(LEARNINGS), one.id(), &learnings, now)?;
    }
    // After the lists: a failure there must leave no copy, which would stop a later command with another text.
    if copy.is_none() {
        write(folder, &target, None, text.as_bytes())?;
    }
    write::remove(folder, &one.file.location, one.document.text.as_bytes()).inspect_err(|_| {
        // Another program changed it, so that the copy would stop a repeated command.
        if copy.is_none() {
            let _ = write::remove(folder, &target, text.as_bytes());
        }
    })?;
    Ok(ArchivedCheckpoint { from: path, to: folder.shown(&target), learnings })
}

/// Whether two texts are equal, except for the date of the Completion.
fn equals_except_date(copy: &[u8], text: &[u8]) -> bool {
    const DATE: &[u8] = b"- **Date**: ";
    let undated = |line| if <[u8]>::starts_with(line, DATE) { DATE } else { line };
    copy.split(|b| *b == b'\n').map(undated).eq(text.split(|b| *b == b'\n').map(undated))
}

/// The learnings, if the section Completion has all its fields.
fn completed_learnings(document: &Document<'_>, path: &str) -> Result<String, CheckpointError> {
    let section = document.section("Completion");
    let field = |name: &str| completion_field(document, section.as_ref()?, name);
    let missing: Vec<_> = COMPLETION_FIELDS.into_iter().filter(|name| field(name).is_none()).collect();
    if !missing.is_empty() {
        return Err(CheckpointError::NoCompletion { path: path.to_owned(), missing: missing.join(", ") });
    }
    Ok(field("Learnings").unwrap_or_default().to_owned())
}

/// The archive for a file, and the folder that contains the archive: `active` is replaced by `archive`.
fn archive_folder(location: &Path) -> (PathBuf, PathBuf) {
    let folder = location.parent().unwrap_or(Path::new("."));
    let top = if folder.file_name().is_some_and(|name| name == "active") { folder.parent() } else { None };
    let top = top.unwrap_or(folder);
    (top.join("archive"), top.to_owned())
}

/// Learnings as LEARNINGS.md has them: a list.
pub(crate) fn list_of(learnings: &str) -> String {
    let is_item = |line: &str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark))
            || rest.len() < line.len() && rest.starts_with(". ")
    };
    if !is_item(learnings) {
        return format!("- {}", learnings.replace('\n', "\n  "));
    }
    // A list below the field is indented, except for its first line.
    let mut nested = learnings.lines().skip(1).map(|line| line.strip_prefix("  "));
    let is_nested = nested.clone().all(|line| line.is_some()) && nested.any(|line| line.is_some_and(is_item));
    if is_nested { learnings.replace("\n  ", "\n") } else { learnings.to_owned() }
}

/// Adds learnings to LEARNINGS.md, unless it contains them already under any date:
///
/// ```text
/// ## 2025-12-27 — chk-auth
/// - Start small.
/// ```
pub(crate) fn collect_learnings(
    folder: &Folder,
    path: &Path,
    id: &str,
    learnings: &str,
    now: Time,
) -> Result<(), CheckpointError> {
    let before = read_if_exists(folder, path)?;
    let mut text = before.clone().unwrap_or_else(|| b"# Learnings\n".to_vec());
    let list = list_of(learnings);
    let is_known = String::from_utf8_lossy(&text).split("\n## ").skip(1).any(|part| {
        let (head, body) = part.split_once('\n').unwrap_or((part, ""));
        // Version 0.1 wrote `## chk-auth (2025-12-27)`, and the learnings as they are.
        head.split([' ', '(']).any(|word| word == id) && [&list, learnings].contains(&body.trim())
    });
    if is_known {
        return Ok(());
    }
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend(format!("\n## {} — {id}\n{list}\n", &now.to_string()[..10]).bytes());
    write(folder, path, before.as_deref(), &text)
}
