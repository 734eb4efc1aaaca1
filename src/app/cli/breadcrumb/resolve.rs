//! `git trace breadcrumb resolve`.

use crate::base::error::Result;
use std::path::{Path, PathBuf};

use super::{ExitStatus, Place};
use crate::base::merge::Markers;
use crate::git::Git;
use crate::memory::breadcrumb::{StoreFile, resolve_file};

/// Resolve conflict markers in a store file, as the merge driver would
///
/// For merges that were made without the driver. While the merge is in progress, git supplies the common base version.
/// Conflicts that cannot be resolved stay between markers, and the exit status is 1.
#[derive(clap::Args, Debug)]
pub(crate) struct ResolveArgs {
    /// File [default: the store file]
    file: Option<PathBuf>,

    /// Length of the shortest marker
    #[arg(long, value_name = "N", default_value_t = Markers::DEFAULT_SIZE, value_parser = marker_size)]
    marker_size: usize,
}

fn marker_size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|size| (1..=1000).contains(size));
    size.ok_or_else(|| "expected a number from 1 to 1000".into())
}

impl ResolveArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let path = self.file.clone().unwrap_or_else(|| place.store.path(StoreFile::Shared));
        let base = base_in_index(&place.git, &path);
        let markers = Markers { size: self.marker_size, ..Markers::default() };
        let resolved = resolve_file(&path, base.as_deref(), &markers)?;
        let shown = path.strip_prefix(&place.root).unwrap_or(&path).display();
        for note in &resolved.notes {
            place.ui.note(format!("{shown}: {note}"));
        }
        if resolved.conflict_count > 0 {
            place.ui.note(format!("{shown}: conflicts left to resolve: {}", resolved.conflict_count));
            return Ok(ExitStatus::No);
        }
        place.ui.write_content(if resolved.is_changed {
            format!("resolved {shown}; now `git add` it\n")
        } else {
            format!("{shown} has no conflicts\n")
        })?;
        Ok(ExitStatus::Success)
    }
}

/// The base version in the index while a merge is in progress. git stores none for a file that both sides added.
fn base_in_index(git: &Git, path: &Path) -> Option<Vec<u8>> {
    let listed = git.run(&["ls-files".as_ref(), "-u".as_ref(), "-z".as_ref(), "--".as_ref(), path.as_os_str()]).ok()?;
    // `<mode> <oid> <stage>\t<path>\0`
    let text = String::from_utf8_lossy(&listed);
    let mut entries = text.split('\0').filter_map(|entry| entry.split_once('\t')).map(|(head, _)| head);
    let mut is_unmerged = false;
    let oid = entries.find_map(|head| {
        is_unmerged = true;
        let mut words = head.split(' ');
        let (_, oid, stage) = (words.next()?, words.next()?, words.next()?);
        (stage == "1").then(|| oid.to_owned())
    });
    match oid {
        Some(oid) => git.run(&["cat-file", "blob", &oid]).ok(),
        None => is_unmerged.then(Vec::new),
    }
}
