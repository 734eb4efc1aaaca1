//! Creating a checkpoint.

use std::path::PathBuf;

use super::write::{lock_new, write};
use super::{deactivate_others, edit_index, truncate_to_second};
use crate::base::merge::FileKind;
use crate::memory::checkpoint::document::REFERENCE_COLUMNS;
use crate::memory::checkpoint::document::markdown::render_table;
use crate::memory::checkpoint::error::CheckpointError;
use crate::memory::checkpoint::folder::{Checkpoint, Folder, checkpoints, find};
use crate::memory::checkpoint::index::edit::{IndexEntry, add};
use crate::trace::Time;
use crate::trace::model::trailers::one_line;

const MAX_NAME_LEN: usize = 64;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct NewCheckpoint {
    /// With or without `chk-` and `.md`.
    pub name: String,
    pub problem: String,
    pub intent: String,
    pub anchor: String,
    pub parent: Option<String>,
    pub is_current: bool,
}

/// Creates a checkpoint with all sections in `checkpoints/active` and adds it to the INDEX.md there. Returns its path.
///
/// The index is written first, then the checkpoints that are no longer current, then the new one.
pub(crate) fn create(folder: &Folder, new: &NewCheckpoint, now: Time) -> Result<String, CheckpointError> {
    let now = truncate_to_second(now);
    let name = new.name.strip_suffix(".md").unwrap_or(&new.name);
    let name = name.strip_prefix("chk-").unwrap_or(name);
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if name.is_empty() || name.len() > MAX_NAME_LEN || name.starts_with('.') || !name.bytes().all(is_allowed) {
        return Err(CheckpointError::BadName { name: new.name.clone() });
    }
    let id = format!("chk-{name}");
    let held = lock_new(folder)?;
    let files = folder.files()?;
    let known = checkpoints(&files);
    if let Some(other) = known.iter().find(|one| one.id() == id || one.file.stem() == id) {
        return Err(CheckpointError::Exists { path: other.file.path.clone() });
    }
    let parent = new.parent.as_deref().map(|parent| find(&known, Some(parent))).transpose()?;
    let active = active_folder(folder, &known);
    let text = template(&id, new, parent.map(Checkpoint::id), now);
    let path = active.join(format!("{id}.md"));
    let shown = folder.shown(&path);
    if folder.pathspec.kind(shown.as_bytes()) != Some(FileKind::Checkpoint) {
        return Err(CheckpointError::NotMatched { path: shown });
    }
    let others = if new.is_current { deactivate_others(&known, None)? } else { Vec::new() };
    if path.symlink_metadata().is_ok() {
        return Err(CheckpointError::Exists { path: folder.shown(&path) });
    }
    let description = new.problem.lines().next().unwrap_or_default();
    let entry = IndexEntry { name: &id, description, problem: &new.problem, scope: &new.intent, status: "Started" };
    edit_index(folder, &active, |text| add(text, &entry, now))?;
    for (file, text) in &others {
        write(folder, &file.location, Some(&file.bytes), text.as_bytes())?;
    }
    write(folder, &path, None, text.as_bytes())?;
    drop(held);
    Ok(folder.shown(&path))
}

/// The folder of the active checkpoints, or else `active` below the folder of the pathspec.
fn active_folder(folder: &Folder, known: &[Checkpoint<'_>]) -> PathBuf {
    let existing = known.iter().find(|one| !one.file.is_archived()).and_then(|one| one.file.location.parent());
    if let Some(existing) = existing {
        return existing.to_owned();
    }
    let top = if folder.pathspec.folder().is_empty() { "checkpoints" } else { folder.pathspec.folder() };
    let active = format!("{top}/active");
    let allows_active = folder.pathspec.matches(format!("{active}/chk-a.md").as_bytes());
    folder.root.join(if allows_active { &active } else { top })
}

fn template(id: &str, new: &NewCheckpoint, parent: Option<&str>, now: Time) -> String {
    let quoted = |text: &str| serde_json::Value::from(one_line(text)).to_string();
    let parent = parent.map_or("null".to_owned(), quoted);
    let anchor = if new.anchor.trim().is_empty() { "start" } else { &new.anchor };
    let mut text = format!(
        "---\ncheckpoint: {}\ncreated: {now}\nanchor: {}\nlast_delta: {now}\nparent: {parent}\nstatus: {}\n---\n",
        quoted(id),
        quoted(anchor),
        if new.is_current { "current" } else { "active" }
    );
    for (title, body) in [("Problem", new.problem.trim()), ("Session Intent", new.intent.trim())] {
        text.extend(["\n## ", title, "\n"]);
        if !body.is_empty() {
            text.extend(["\n", body, "\n"]);
        }
    }
    text += "\n## Essential Information\n";
    for (title, columns) in [
        ("Decisions", None),
        ("Technical Context", None),
        ("Breadcrumbs", Some(REFERENCE_COLUMNS)),
        ("Play-By-Play", None),
        ("Artifact Trail", Some(["File", "Status", "Key Change"])),
        ("Current State", None),
        ("Next Actions", None),
    ] {
        let table = columns.map_or(String::new(), |columns| format!("\n{}", render_table(columns, &[])));
        text.extend(["\n### ", title, "\n", &table]);
    }
    text + "\n## User Rules\n"
}
