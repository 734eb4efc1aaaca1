//! The checkpoints of a working tree: which files there are, and which one a name means.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::error::CheckpointError;
use super::pathspec::{Pathspec, is_archived};
use crate::base::bounded;
use crate::base::merge::FileKind;

/// A working tree with checkpoints in it.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// Root of the working tree.
    pub root: PathBuf,
    /// Which files are checkpoints.
    pub pathspec: Pathspec,
}

/// A checkpoint, or a list of them, as it is on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct File {
    /// Its path below the root, with slashes; what is not UTF-8 in it is shown as U+FFFD.
    pub path: String,
    /// Where it is.
    pub location: PathBuf,
    /// What it is.
    pub kind: FileKind,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl File {
    /// Reads one file.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Io`].
    pub(crate) fn read(location: &Path, path: String, kind: FileKind) -> Result<Self, CheckpointError> {
        let bytes = bounded::read_file(location).map_err(|source| CheckpointError::io("read", location, source))?;
        Ok(Self { path, location: location.to_owned(), kind, bytes })
    }

    /// Reads a file that was named by itself: a list where its name starts with `INDEX` (it may be kept under another one,
    /// such as `INDEX-archive.md`), else a checkpoint.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Io`].
    pub(crate) fn read_named(location: &Path, path: String) -> Result<Self, CheckpointError> {
        let is_list = location.file_name().is_some_and(|name| name.to_string_lossy().starts_with("INDEX"));
        Self::read(location, path, if is_list { FileKind::CheckpointIndex } else { FileKind::Checkpoint })
    }

    /// Its text.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::NotUtf8`].
    pub(crate) fn text(&self) -> Result<&str, CheckpointError> {
        std::str::from_utf8(&self.bytes).map_err(|_| CheckpointError::NotUtf8 { path: self.path.clone() })
    }

    /// Its name without `.md`.
    #[must_use]
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// Its folder below the root, with a slash at the end; empty for the root.
    #[must_use]
    pub(crate) fn parent(&self) -> &str {
        self.path.rfind('/').map_or("", |slash| &self.path[..=slash])
    }

    /// Whether it is archived.
    #[must_use]
    pub(crate) fn is_archived(&self) -> bool {
        is_archived(self.path.as_bytes())
    }
}

/// A checkpoint, read.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint<'f> {
    /// Its file.
    pub file: &'f File,
    /// What it says.
    pub document: Document<'f>,
}

impl Checkpoint<'_> {
    /// Its id; the name of its file where it has none.
    #[must_use]
    pub(crate) fn id(&self) -> &str {
        self.document.id().unwrap_or_else(|| self.file.stem())
    }
}

impl Folder {
    /// The checkpoints and lists, by path. Links are not followed.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Io`] where a folder or a file cannot be read.
    pub(crate) fn files(&self) -> Result<Vec<File>, CheckpointError> {
        let mut files = Vec::new();
        let top = self.top();
        match fs::symlink_metadata(&top) {
            Ok(metadata) if metadata.is_dir() => self.collect(&top, &mut files)?,
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(CheckpointError::io("read", top, source));
            }
            _ => {}
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(files)
    }

    /// The folder that all of them are below; there need not be one.
    pub(crate) fn top(&self) -> PathBuf {
        self.root.join(self.pathspec.folder())
    }

    fn collect(&self, folder: &Path, files: &mut Vec<File>) -> Result<(), CheckpointError> {
        let failed = |source| CheckpointError::io("read the folder", folder, source);
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let file_type = entry.file_type().map_err(failed)?;
            let location = entry.path();
            if file_type.is_dir() {
                if entry.file_name() != ".git" {
                    self.collect(&location, files)?;
                }
            } else if file_type.is_file() {
                let path = self.shown(&location);
                if let Some(kind) = self.pathspec.kind(path.as_bytes()) {
                    files.push(File::read(&location, path, kind)?);
                }
            }
        }
        Ok(())
    }

    /// A location as a path below the root, with slashes.
    #[must_use]
    pub(crate) fn shown(&self, location: &Path) -> String {
        let below = location.strip_prefix(&self.root).unwrap_or(location);
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        parts.join("/")
    }
}

/// The checkpoints among files that can be read as text; the others are left out, see [`File::text`].
#[must_use]
pub(crate) fn checkpoints(files: &[File]) -> Vec<Checkpoint<'_>> {
    let of_kind = files.iter().filter(|file| file.kind == FileKind::Checkpoint);
    of_kind.filter_map(|file| Some(Checkpoint { file, document: Document::parse(file.text().ok()?) })).collect()
}

/// The checkpoint that a name means: an id, the name of a file with or without `chk-` and `.md`, or a path.
///
/// Active ones go before archived ones. Without a name it is the current one.
///
/// # Errors
///
/// [`CheckpointError::Unknown`], [`CheckpointError::Ambiguous`], [`CheckpointError::NoCurrent`].
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
        &|one| one.file.stem().strip_prefix("chk-") == Some(plain),
    ];
    for is_meant in ranks {
        for archived in [false, true] {
            let meant: Vec<_> = checkpoints.iter().filter(|one| one.file.is_archived() == archived).collect();
            let meant: Vec<_> = meant.into_iter().filter(|one| is_meant(one)).collect();
            if let Some(found) = one_of(&meant, name) {
                return found;
            }
        }
    }
    Err(CheckpointError::Unknown { name: name.to_owned() })
}

/// Whether a checkpoint is the one that is worked on; an archived one is not.
#[must_use]
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
