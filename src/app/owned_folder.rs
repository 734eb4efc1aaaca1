//! A folder that one command keeps up to date, and that a manifest in it marks as its own.
//!
//! A clone may contain such a folder. So nothing outside of it is read or written, whatever links and the manifest in it say.

use std::fs;
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::base::error::{Context as _, Error, Result, bail};
use crate::base::replace::{Access, STEM, put};
use crate::base::worktree_path::{check_outside_git, resolve};

/// A manifest as it is written: `{"version":1, …}`.
#[derive(Serialize, Deserialize)]
struct Versioned<M> {
    version: u32,
    #[serde(flatten)]
    manifest: M,
}

#[derive(Clone, Copy)]
pub(crate) struct OwnedFolder<'f> {
    pub folder: &'f Path,
    /// The name of the manifest.
    pub name: &'static str,
    pub version: u32,
    /// What the command writes: `export`.
    pub what: &'static str,
}

impl OwnedFolder<'_> {
    /// Reads the manifest. Creates the folder and an empty manifest if the folder is missing or empty, and refuses one with other files.
    pub(crate) fn open<M: DeserializeOwned + Serialize + Default>(&self) -> Result<M> {
        let Self { folder, version, what, .. } = *self;
        check_outside_git(folder).with_context(|| format!("cannot write `{}`", folder.display()))?;
        let refused =
            |why: &str| Error::with_hint(format!("`{}` {why}", folder.display()), "name a new or empty folder");
        if folder.exists() && !folder.is_dir() {
            return Err(refused("is not a folder"));
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        let path = folder.join(self.name);
        let text = match resolve(folder, &path).and_then(fs::read) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A killed first export leaves the unfinished manifest, which the next writer removes.
                let is_left = |entry: io::Result<fs::DirEntry>| {
                    entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(|name| STEM.is_temporary(name)))
                };
                let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_left));
                if !is_empty {
                    return Err(refused(&format!("has other files and no earlier {what}")));
                }
                let new = M::default();
                self.write(&new)?;
                return Ok(new);
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        };
        match serde_json::from_slice::<Versioned<M>>(&text) {
            Ok(found) if found.version == version => Ok(found.manifest),
            Ok(found) => bail!("`{}` has version {}, and only {version} is known", path.display(), found.version),
            Err(error) => {
                let message = format!("`{}` is damaged: {error}", path.display());
                Err(Error::with_hint(message, format!("{what} to a new folder")))
            }
        }
    }

    pub(crate) fn write<M: Serialize>(&self, manifest: &M) -> Result<()> {
        let path = self.folder.join(self.name);
        let write = || {
            let bytes = serde_json::to_vec(&Versioned { version: self.version, manifest })?;
            put(&resolve(self.folder, &path)?, Access::Usual, &bytes)
        };
        write().with_context(|| format!("cannot write `{}`", path.display()))
    }
}
