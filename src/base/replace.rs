//! Replacing a file whole: one writer at a time, and at every moment either the old file or the new one.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::bounded;

/// What the files that a writer leaves beside its own are called: `<stem>-….tmp` while it is filled, `<stem>.lock` where
/// folders cannot be locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stem(pub(crate) &'static str);

const TEMPORARY_SUFFIX: &str = ".tmp";
/// How many letters and digits stand for the `…`.
const TEMPORARY_LEN: usize = 6;

impl Stem {
    /// Whether a file is one that a writer fills, or was filling when it died.
    pub(crate) fn is_temporary(self, name: &str) -> bool {
        let random = name.strip_prefix(self.0).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(TEMPORARY_SUFFIX));
        random.is_some_and(|text| text.len() == TEMPORARY_LEN && text.bytes().all(|b| b.is_ascii_alphanumeric()))
    }
}

/// The right to replace files in a folder. The kernel takes it back when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _held: File,
}

impl Lock {
    /// Waits for the right to replace files in `folder`; `None` if others kept it for all of `patience`.
    ///
    /// The lock is on the folder itself, so that no file lies around that somebody could commit; where folders cannot be
    /// locked, on a file in it.
    pub(crate) fn take(folder: &Path, stem: Stem, patience: Duration) -> io::Result<Option<Self>> {
        let started = Instant::now();
        let mut on_folder = cfg!(unix);
        loop {
            let file = if on_folder {
                File::open(folder)?
            } else {
                File::options().create(true).append(true).open(folder.join(format!("{}.lock", stem.0)))?
            };
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _held: file })),
                Err(TryLockError::Error(_)) if on_folder => on_folder = false,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if started.elapsed() >= patience => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

/// The file behind a path: where its symbolic links lead, though nothing be there yet.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// What tells whether a file is still the one that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<std::time::SystemTime>,
    inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { len: metadata.len(), modified: metadata.modified().ok(), inode }
    }

    fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A file as it was read; empty and without a stamp where there is none.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) text: Vec<u8>,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) is_read_only: bool,
}

/// Reads a file that is to be replaced.
pub(crate) fn read(path: &Path) -> io::Result<Seen> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::default()),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let text = bounded::read_opened(&file)?;
    Ok(Seen { text, stamp: Some(Stamp::of(&metadata)), is_read_only: metadata.permissions().readonly() })
}

/// Who may read a file that is new; an old one keeps what it has, but for a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Whoever the process's mask allows.
    Usual,
    /// Only its owner.
    Private,
    /// As `Usual`, and whoever may read it may run it.
    Program,
}

impl Access {
    /// The permissions that the process's mask is taken from; none: those of a temporary file.
    #[cfg(unix)]
    fn mode(self) -> Option<u32> {
        match self {
            Self::Usual => Some(0o666),
            Self::Program => Some(0o777),
            Self::Private => None,
        }
    }
}

/// Puts what `write` writes in the place of the file at `path`, under the caller's [`Lock`] of its folder.
///
/// The bytes are on disk before the name is. False, and nothing done, if the file is not the one that `seen` tells of:
/// somebody without our lock changed it meanwhile. Permissions and group stay as they were.
pub(crate) fn replace(
    path: &Path,
    stem: Stem,
    seen: Option<&Stamp>,
    access: Access,
    write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<bool> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = format!("{}-", stem.0);
    remove_leftovers(folder, stem);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY_SUFFIX).rand_bytes(TEMPORARY_LEN);
    #[cfg(unix)]
    if let Some(mode) = access.mode() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = access;
    let mut temporary = builder.tempfile_in(folder)?;
    let mut out = BufWriter::with_capacity(128 * 1024, temporary.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    match fs::metadata(path) {
        // A program may stand in the place of something that is none.
        Ok(_) if access == Access::Program => {}
        Ok(metadata) => keep_access(temporary.as_file(), &metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    temporary.as_file().sync_all()?;
    if Stamp::at(path)?.as_ref() != seen {
        return Ok(false);
    }
    // What a link leads to that leads nowhere has no stamp, and is there all the same.
    if seen.is_none() && path.symlink_metadata().is_err() {
        match temporary.persist_noclobber(path) {
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            done => done.map_err(|error| error.error)?,
        };
    } else {
        temporary.persist(path).map_err(|error| error.error)?;
    }
    // The name is on disk once the folder is. Some file systems cannot do this; the rename was atomic all the same.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(true)
}

/// What files are called while they are written that have no other stem.
const STEM: Stem = Stem(".git-trace");

/// How long [`put`] waits for other writers of the folder.
const PATIENCE: Duration = Duration::from_secs(10);

/// Puts bytes in the place of the file at `path`, whatever it holds; its folder is made where there is none.
pub(crate) fn put(path: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    put_where(path, access, bytes, |_| Ok(()))
}

/// Puts bytes where there is no file yet.
pub(crate) fn put_new(path: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    put_where(path, access, bytes, |there| match there {
        Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
        None => Ok(()),
    })
}

fn put_where(
    path: &Path,
    access: Access,
    bytes: &[u8],
    judge: impl FnOnce(Option<&Stamp>) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let lock = Lock::take(folder, STEM, PATIENCE)?;
    if lock.is_none() {
        return Err(io::Error::other("other processes keep writing there"));
    }
    let seen = Stamp::at(path)?;
    judge(seen.as_ref())?;
    let is_done = replace(path, STEM, seen.as_ref(), access, |out| out.write_all(bytes))?;
    if is_done { Ok(()) } else { Err(io::Error::other("another program changed it meanwhile; try again")) }
}

fn keep_access(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Not everybody may; then the file belongs to who wrote it, as with any editor.
            let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
        }
    }
    file.set_permissions(old.permissions())
}

/// Removes what writers left behind that were killed; all writers hold the lock that our caller holds, so none is at work.
pub(crate) fn remove_leftovers(folder: &Path, stem: Stem) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(|name| stem.is_temporary(name)) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}
