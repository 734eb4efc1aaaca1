//! `git trace breadcrumb resolve`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::BreadcrumbContext;
use crate::app::breadcrumbs::large_file;
use crate::app::cli::{ExitStatus, Result};
use crate::base::escape::Plain;
use crate::base::merge::Markers;
use crate::base::replace::FileError;
use crate::git::Git;
use crate::memory::breadcrumb::{Stages, StoreFile, resolve_file};

/// Resolve conflict markers in a store file, as the merge driver would
///
/// For merges that were made without the driver. While the merge is in progress, git supplies the common base version, and all
/// versions if the markers in the file cannot be parsed.
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
            None => context
                .store
                .real_path(StoreFile::Shared)
                .map_err(|source| FileError::Read { path: context.store.path(StoreFile::Shared), source })?,
        };
        let stages = stages(&context.git, &path)?;
        let markers = Markers { size: self.marker_size, ..Markers::default() };
        let resolved = resolve_file(&path, stages.as_ref(), &markers)?;
        if let Some(note) = resolved.is_changed.then(|| large_file(context, &context.store)).flatten() {
            context.ui.note(note);
        }
        let shown = context.relative(&path).to_string();
        let shown = Plain(&shown);
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

/// The versions in the index while a merge is in progress, as git would check them out.
fn stages(git: &Git, path: &Path) -> Result<Option<Stages>> {
    let args = ["ls-files", "-u", "-z", "--full-name", "--"].map(OsStr::new);
    let Ok(listed) = git.run(&[&args[..], &[path.as_os_str()]].concat()) else { return Ok(None) };
    // `<mode> <oid> <stage>\t<path>\0`
    let text = String::from_utf8_lossy(&listed);
    let mut stages = Stages::default();
    for entry in text.split_terminator('\0') {
        let Some((head, path)) = entry.split_once('\t') else { continue };
        let [_, oid, stage] = head.split(' ').collect::<Vec<_>>()[..] else { continue };
        let version = match stage {
            "1" => &mut stages.base,
            "2" => &mut stages.ours,
            _ => &mut stages.theirs,
        };
        *version = Some(git.run(&["cat-file", "--filters", &format!("--path={path}"), oid])?);
    }
    let Some((_, path)) = text.split_terminator('\0').find_map(|entry| entry.split_once('\t')) else { return Ok(None) };
    stages.is_filtered = git.filters(&[path.as_bytes()], None)? != [None];
    Ok(Some(stages))
}
