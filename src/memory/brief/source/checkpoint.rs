//! What the current checkpoint says comes next.

use super::cause;
use crate::git::Repo;
use crate::memory::brief::section::{Kind, Section};
use crate::memory::checkpoint::folder::{checkpoints, is_current};
use crate::memory::checkpoint::{Folder, Pathspec};
use crate::trace::model::trailers::one_line;

/// Reads the next actions of the current checkpoint that are not done; there are none where none or several are current.
pub(crate) fn read(repo: &Repo) -> Result<Vec<Section>, String> {
    let Some(root) = repo.worktree() else { return Ok(Vec::new()) };
    let setting = repo.config().and_then(|config| config.text("trace.checkpoints")).map_err(|error| cause(&error))?;
    let files = Folder { root, pathspec: Pathspec::new(setting.as_deref()) }.files().map_err(|error| cause(&error))?;
    let checkpoints = checkpoints(&files);
    let mut section = Section::new(Kind::NextActions);
    let mut current = checkpoints.iter().filter(|checkpoint| is_current(checkpoint));
    match (current.next(), current.next()) {
        (Some(one), None) => {
            for action in one.document.open_actions() {
                section.push(action, &format!(" ({})", one_line(one.id())));
            }
        }
        (Some(_), Some(_)) => {
            return Err("several are current; `git trace checkpoint current <id>` leaves one".to_owned());
        }
        _ => {}
    }
    Ok(vec![section])
}
