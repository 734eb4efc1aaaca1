//! The checkpoint files of a work tree, and how a name is resolved to one of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::error::{CheckpointError, read_error};
use super::pathspec::{Pathspec, is_archived};
use super::validate::has_conflict;
use crate::base::bounded;
use crate::base::merge::FileKind;
use crate::base::worktree_path::{check_regular_or_open, resolve};

#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub root: PathBuf,
    pub pathspec: Pathspec,
}

/// A checkpoint file, or an INDEX.md, as read from disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct File {
    pub path: String,
    pub location: PathBuf,
    pub kind: FileKind,
    pub bytes: Vec<u8>,
}

impl File {
    pub(crate) fn read(location: &Path, path: String, kind: FileKind) -> Result<Self, CheckpointError> {
        let bytes = bounded::read_file(location).map_err(read_error(location))?;
        Ok(Self { path, location: location.to_owned(), kind, bytes })
    }

    /// Reads a file named by the user: an index if its name starts with `INDEX`, such as `INDEX-archive.md`, else a checkpoint.
    pub(crate) fn read_named(location: &Path, path: String) -> Result<Self, CheckpointError> {
        check_regular_or_open(location).map_err(read_error(location))?;
        let is_list = location.file_name().is_some_and(|name| name.to_string_lossy().starts_with("INDEX"));
        Self::read(location, path, if is_list { FileKind::CheckpointIndex } else { FileKind::Checkpoint })
    }

    pub(crate) fn text(&self) -> Result<&str, CheckpointError> {
        std::str::from_utf8(&self.bytes).map_err(|_| CheckpointError::NotUtf8 { path: self.path.clone() })
    }

    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// Whether a merge left conflict markers.
    pub(crate) fn has_conflict(&self) -> bool {
        self.text().is_ok_and(has_conflict)
    }

    /// The path of the folder with a final slash; empty for the root.
    pub(crate) fn parent(&self) -> &str {
        self.path.rfind('/').map_or("", |slash| &self.path[..=slash])
    }

    pub(crate) fn is_archived(&self) -> bool {
        is_archived(self.path.as_bytes())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Checkpoint<'f> {
    pub file: &'f File,
    pub document: Document<'f>,
}

impl Checkpoint<'_> {
    /// The id, or else the file name without `.md`.
    pub(crate) fn id(&self) -> &str {
        self.document.id().unwrap_or_else(|| self.file.stem())
    }
}

impl Folder {
    /// The checkpoints and indexes, sorted by path. Symbolic links are not followed.
    pub(crate) fn files(&self) -> Result<Vec<File>, CheckpointError> {
        self.paths()?.into_iter().map(|(path, location, kind)| File::read(&location, path, kind)).collect()
    }

    /// The paths of these files below the root, and where they are.
    pub(crate) fn paths(&self) -> Result<Vec<(String, PathBuf, FileKind)>, CheckpointError> {
        let mut files = Vec::new();
        let top = self.top();
        self.resolved(&top).map_err(read_error(&top))?;
        match fs::symlink_metadata(&top) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(read_error(&top)(source)),
            Ok(metadata) if metadata.is_dir() => self.collect(&top, &mut files)?,
            _ => {}
        }
        files.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        Ok(files)
    }

    /// The folder that contains all checkpoints; it may not exist.
    pub(crate) fn top(&self) -> PathBuf {
        self.root.join(self.pathspec.folder())
    }

    /// The real path of a file to change. Fails as [`Self::resolved`], and for one in a folder that is a link: git lists no files behind
    /// a link, so nothing would find it.
    pub(crate) fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        let real = self.resolved(path)?;
        let below = path.ancestors().skip(1).take_while(|above| *above != self.root);
        match below.filter(|above| above.is_symlink()).last().map(|link| self.shown(link)) {
            Some(link) => Err(io::Error::other(format!("`{link}` is a link, and checkpoints are not behind links"))),
            None => Ok(real),
        }
    }

    /// The real path of a path below the root. Fails if it is in another repository, whose files are not changed.
    pub(super) fn resolved(&self, path: &Path) -> io::Result<PathBuf> {
        let (real, root) = (resolve(&self.root, path)?, self.root.canonicalize()?);
        match real.ancestors().take_while(|folder| *folder != root).find(|folder| is_repository(folder)) {
            Some(_) => Err(io::Error::other("it is in another repository; change the setting `trace.checkpoints`")),
            None => Ok(real),
        }
    }

    fn collect(&self, folder: &Path, files: &mut Vec<(String, PathBuf, FileKind)>) -> Result<(), CheckpointError> {
        for entry in fs::read_dir(folder).map_err(read_error(folder))? {
            let entry = entry.map_err(read_error(folder))?;
            let file_type = entry.file_type().map_err(read_error(folder))?;
            let location = entry.path();
            if file_type.is_dir() {
                if entry.file_name() != ".git" && !is_repository(&location) {
                    self.collect(&location, files)?;
                }
            } else if file_type.is_file() {
                let path = self.shown(&location);
                if let Some(kind) = self.pathspec.kind(path.as_bytes()) {
                    files.push((path, location, kind));
                }
            }
        }
        Ok(())
    }

    /// A path relative to the root, with slashes.
    pub(crate) fn shown(&self, location: &Path) -> String {
        path_below(&self.root, location)
    }
}

/// Whether a folder is the work tree of a repository, a submodule, or a linked worktree.
pub(super) fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

pub(crate) fn path_below(root: &Path, location: &Path) -> String {
    let below = location.strip_prefix(root).unwrap_or(location);
    let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// Parses the checkpoints among files; those that are not UTF-8 are skipped.
pub(crate) fn checkpoints(files: &[File]) -> Vec<Checkpoint<'_>> {
    let of_kind = files.iter().filter(|file| file.kind == FileKind::Checkpoint);
    of_kind.filter_map(|file| Some(Checkpoint { file, document: Document::parse(file.text().ok()?) })).collect()
}

/// The checkpoint with this id or file name (with or without `chk-` and `.md`), or path; without a name, the current one.
///
/// Active checkpoints are preferred to archived ones.
pub(crate) fn find<'c, 'f>(
    checkpoints: &'c [Checkpoint<'f>],
    name: Option<&str>,
) -> Result<&'c Checkpoint<'f>, CheckpointError> {
    let Some(name) = name else {
        let current: Vec<_> = checkpoints.iter().filter(|one| is_current(one)).collect();
        return one_of(&current, "current").unwrap_or(Err(CheckpointError::NoCurrent));
    };
    let plain = name.strip_suffix(".md").unwrap_or(name).trim_start_matches("./");
    let ranks: [&dyn Fn(&Checkpoint<'_>) -> bool; 3] = [
        &|one| one.file.path == name.trim_start_matches("./"),
        &|one| one.document.id() == Some(name) || one.file.stem() == plain,
        &|one| {
            [Some(one.file.stem()), one.document.id()]
                .into_iter()
                .flatten()
                .any(|id| id.strip_prefix("chk-") == Some(plain))
        },
    ];
    let ranks = ranks.iter().flat_map(|is_meant| [(is_meant, false), (is_meant, true)]);
    let mut found = ranks.filter_map(|(is_meant, archived)| {
        let of_rank = checkpoints.iter().filter(|one| one.file.is_archived() == archived && is_meant(one));
        one_of(&of_rank.collect::<Vec<_>>(), name)
    });
    found.next().unwrap_or_else(|| Err(CheckpointError::Unknown { name: name.to_owned() }))
}

/// Whether a checkpoint is the current one; an archived one never is.
pub(crate) fn is_current(checkpoint: &Checkpoint<'_>) -> bool {
    checkpoint.document.is_current() && !checkpoint.file.is_archived()
}

fn one_of<'c, 'f>(meant: &[&'c Checkpoint<'f>], name: &str) -> Option<Result<&'c Checkpoint<'f>, CheckpointError>> {
    match meant {
        [] => None,
        [one] => Some(Ok(one)),
        several => {
            let paths = several.iter().map(|one| one.file.path.clone()).collect();
            Some(Err(CheckpointError::Ambiguous { name: name.to_owned(), paths }))
        }
    }
}
