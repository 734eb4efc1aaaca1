//! `git trace breadcrumb resolve`.

use std::path::{Path, PathBuf};

use super::BreadcrumbContext;
use crate::app::cli::{ErrorContext as _, ExitStatus, Result};
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
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<ExitStatus> {
        let path = match &self.file {
            Some(path) => path.clone(),
            None => context.store.real_path(StoreFile::Shared).context("cannot open the breadcrumbs")?,
        };
        let base = base_in_index(&context.git, &path);
        let markers = Markers { size: self.marker_size, ..Markers::default() };
        let resolved = resolve_file(&path, base.as_deref(), &markers)?;
        let shown = context.relative(&path);
        for note in &resolved.notes {
            context.ui.note(format!("{shown}: {note}"));
        }
        if resolved.conflict_count > 0 {
            context.ui.note(format!("{shown}: conflicts left to resolve: {}", resolved.conflict_count));
            return Ok(ExitStatus::No);
        }
        context.ui.write_content(if resolved.is_changed {
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
    let mut heads = text.split('\0').filter_map(|entry| Some(entry.split_once('\t')?.0));
    match heads.find_map(|head| head.strip_suffix(" 1")?.split(' ').nth(1)) {
        Some(oid) => git.run(&["cat-file", "blob", oid]).ok(),
        None => (!text.is_empty()).then(Vec::new),
    }
}
