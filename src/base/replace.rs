//! Atomic file replacement, with one writer at a time.

use std::borrow::Cow;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;
use thiserror::Error;

use super::bounded;
use super::effect;
use super::error::Diagnostic;
use super::folders::create_folders;
use super::worktree_path::{MAX_LINKS, check_regular};

/// How long to wait for other writers.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 10 });

/// How often [`update`] tries again because a program that does not take our lock changed the file.
const MAX_ATTEMPTS: usize = 10;

/// Why a file could not be read or changed.
#[derive(Debug, Error)]
pub(crate) enum FileError {
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`: the file is read-only", path.display())]
    ReadOnly { path: PathBuf },
    #[error("cannot write `{}`: another process holds the lock", path.display())]
    Busy { path: PathBuf },
    #[error("cannot write `{}`: another program keeps changing it", path.display())]
    Changing { path: PathBuf },
}

impl Diagnostic for FileError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Busy { .. } | Self::Changing { .. } => Some("try again when the other process has ended".to_owned()),
            Self::ReadOnly { .. } => Some("make the file writable, and try again".to_owned()),
            Self::Read { .. } | Self::Write { .. } => None,
        }
    }
}

/// How a writer names its own files next to the target: `<stem>-….tmp` while it writes, `<stem>.lock` if folders cannot be
/// locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stem(pub(crate) &'static str);

const TEMPORARY_SUFFIX: &str = ".tmp";
/// Number of letters and digits in place of the `…`.
const TEMPORARY_LEN: usize = 6;

/// The permission bit of a file that is not finished, by which the next writer knows that it may remove it: git checks no file out
/// with it. Not all systems keep it for files. There, the file of a killed writer stays.
#[cfg(unix)]
const UNFINISHED: u32 = 0o1000;

impl Stem {
    /// Whether a file is being written by a writer, or was left by one that died.
    pub(crate) fn is_temporary(self, name: &str) -> bool {
        let random = name.strip_prefix(self.0).and_then(|rest| rest.strip_prefix('-')?.strip_suffix(TEMPORARY_SUFFIX));
        random.is_some_and(|text| text.len() == TEMPORARY_LEN && text.bytes().all(|b| b.is_ascii_alphanumeric()))
    }
}

/// A lock on replacing files in a folder. The kernel releases it when the process ends, even if it is killed.
#[derive(Debug)]
pub(crate) struct Lock {
    _held: File,
}

impl Lock {
    /// Waits for the lock of `folder`; `None` if others keep it. The folder itself is locked, because a lock file could be
    /// committed. If folders cannot be locked, a file in it is.
    pub(crate) fn take(folder: &Path, stem: Stem) -> io::Result<Option<Self>> {
        let started = Instant::now();
        let mut on_folder = cfg!(unix);
        loop {
            let file = if on_folder {
                check_regular(folder)?;
                File::open(folder)?
            } else {
                File::options().create(true).append(true).open(folder.join(format!("{}.lock", stem.0)))?
            };
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { _held: file })),
                Err(TryLockError::Error(_)) if on_folder => on_folder = false,
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if started.elapsed() >= PATIENCE => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

/// The path that symbolic links lead to, which need not exist.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    // Without a slash at the end, which would lead through a link.
    let mut path: PathBuf = path.components().collect();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target).components().collect(),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// As [`real_path`], also without links among the folders on the way.
pub(crate) fn canonical_path(path: &Path) -> io::Result<PathBuf> {
    let (mut path, mut missing) = (path.to_owned(), Vec::new());
    // A link may lead below itself.
    for _ in 0..path.components().count() + MAX_LINKS {
        if let Ok(real) = path.canonicalize() {
            return Ok(missing.iter().rev().fold(real, |folder, name| folder.join(name)));
        }
        path = real_path(&path)?;
        let Some(name) = path.file_name().map(ToOwned::to_owned) else { break };
        missing.push(name);
        path.pop();
    }
    Err(io::Error::other("too many symbolic links"))
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileVersion {
    len: u64,
    modified: Option<std::time::SystemTime>,
    inode: u64,
}

impl FileVersion {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { len: metadata.len(), modified: metadata.modified().ok(), inode }
    }

    /// A word that is another one if the file is.
    pub(crate) fn word(&self) -> String {
        let since = self.modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        format!("{} {} {}", self.inode, since.unwrap_or_default().as_nanos(), self.len)
    }

    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        Ok(find_metadata(path)?.as_ref().map(Self::of))
    }
}

fn find_metadata(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// A file as it was read; empty and without a version if it does not exist.
#[derive(Default)]
pub(crate) struct FileSnapshot {
    pub(crate) text: Vec<u8>,
    pub(crate) version: Option<FileVersion>,
    pub(crate) is_read_only: bool,
    /// The part of the file that the text is, if it is not all.
    pub(crate) part: Option<(File, Range<u64>)>,
}

/// Fails for anything but a regular file, which could not be replaced.
pub(crate) fn read(path: &Path) -> io::Result<FileSnapshot> {
    read_part(path, |_, _| Ok(None))
}

fn read_part(
    path: &Path,
    find_part: impl FnOnce(&File, u64) -> io::Result<Option<Range<u64>>>,
) -> io::Result<FileSnapshot> {
    check_regular(path)?;
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileSnapshot::default()),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let (version, is_read_only) = (Some(FileVersion::of(&metadata)), metadata.permissions().readonly());
    let part = find_part(&file, metadata.len())?;
    file.seek(SeekFrom::Start(part.as_ref().map_or(0, |part| part.start)))?;
    let Some(part) = part else {
        return Ok(FileSnapshot { text: bounded::read_opened(&file)?, version, is_read_only, part: None });
    };
    let text = bounded::read_all((&file).take(part.end - part.start))?;
    Ok(FileSnapshot { text, version, is_read_only, part: Some((file, part)) })
}

/// Permissions of a new file. An existing file keeps its own, unless it becomes a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Usual,
    Private,
    /// As `Usual`, and executable.
    Program,
    /// As `Private`, and not synced, because it can be made again.
    Cache,
}

/// A new text, in parts that are written one after the other: most of a large one is often the old text.
pub(crate) type Parts<'t> = Vec<Cow<'t, [u8]>>;

fn is_equal(parts: &Parts<'_>, text: &[u8]) -> bool {
    let mut rest = text;
    let mut is_next = |part: &Cow<'_, [u8]>| rest.strip_prefix(&**part).inspect(|after| rest = after).is_some();
    parts.iter().map(|part| part.len()).sum::<usize>() == text.len() && parts.iter().all(&mut is_next)
}

/// Changes the file at `path`, which may be a symbolic link; returns the result of `change`.
///
/// `change` returns the new text, or `None` to leave the file alone. It is called again if another program changed the file.
pub(crate) fn update<T, E: From<FileError>>(
    path: &Path,
    stem: Stem,
    access: Access,
    change: impl for<'t> FnMut(&'t FileSnapshot) -> Result<(Option<Parts<'t>>, T), E>,
) -> Result<T, E> {
    update_part(path, stem, access, |_, _| Ok(None), change)
}

/// As [`update`], but `change` sees and replaces only the part that `find_part` finds in the file of this length. The system copies
/// the rest of a large file faster than it is read into memory and written.
pub(crate) fn update_part<T, E: From<FileError>>(
    path: &Path,
    stem: Stem,
    access: Access,
    find_part: impl Fn(&File, u64) -> io::Result<Option<Range<u64>>>,
    mut change: impl for<'t> FnMut(&'t FileSnapshot) -> Result<(Option<Parts<'t>>, T), E>,
) -> Result<T, E> {
    let path = path.to_owned();
    let write_error = |source| FileError::Write { path: path.clone(), source };
    let real = real_path(&path).map_err(write_error)?;
    let Some(_lock) = Lock::take(folder_of(&real), stem).map_err(write_error)? else {
        return Err(FileError::Busy { path }.into());
    };
    for _ in 0..MAX_ATTEMPTS {
        let seen = read_part(&real, &find_part).map_err(|source| FileError::Read { path: path.clone(), source })?;
        let (text, result) = change(&seen)?;
        let Some(text) = text.filter(|text| seen.version.is_none() || !is_equal(text, &seen.text)) else {
            return Ok(result);
        };
        if seen.is_read_only {
            return Err(FileError::ReadOnly { path }.into());
        }
        if replace_in_parts(&real, stem, &seen, access, &text).map_err(write_error)? {
            return Ok(result);
        }
    }
    Err(FileError::Changing { path }.into())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Replaces the file at `path`. The caller holds the [`Lock`] of its folder.
///
/// The bytes are synced before the file is renamed. Returns false and changes nothing if the file no longer has the version
/// `seen`, because a program without our lock changed it. Permissions and group stay the same.
pub(crate) fn replace(
    path: &Path,
    stem: Stem,
    seen: Option<&FileVersion>,
    access: Access,
    bytes: &[u8],
) -> io::Result<bool> {
    let seen = FileSnapshot { version: seen.cloned(), ..FileSnapshot::default() };
    replace_in_parts(path, stem, &seen, access, &[bytes.into()])
}

fn replace_in_parts(
    path: &Path,
    stem: Stem,
    seen: &FileSnapshot,
    access: Access,
    text: &[Cow<'_, [u8]>],
) -> io::Result<bool> {
    let folder = folder_of(path);
    remove_leftovers(folder, stem);
    let temporary = temporary(folder, stem, access)?;
    if !write_text(temporary.as_file(), seen, text)? {
        return Ok(false);
    }
    // The old file may not be executable.
    if let Some(old) = find_metadata(path)?.filter(|_| access != Access::Program) {
        keep_access(temporary.as_file(), &old)?;
    }
    if access != Access::Cache {
        temporary.as_file().sync_all()?;
    }
    if FileVersion::at(path)? != seen.version {
        return Ok(false);
    }
    // A dangling link has no version, but it exists.
    let file = if seen.version.is_none() && path.symlink_metadata().is_err() {
        match temporary.persist_noclobber(path) {
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            done => done.map_err(|error| error.error)?,
        }
    } else {
        temporary.persist(path).map_err(|error| error.error)?
    };
    finish(file);
    // Syncing the folder makes the rename durable. Some file systems cannot do this; the rename is atomic anyway.
    if access != Access::Cache {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    effect::note_change();
    Ok(true)
}

/// A new file in `folder`, which [`remove_leftovers`] removes if its writer is killed before it has its name.
pub(crate) fn temporary(folder: &Path, stem: Stem, access: Access) -> io::Result<NamedTempFile> {
    let prefix = format!("{}-", stem.0);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY_SUFFIX).rand_bytes(TEMPORARY_LEN);
    #[cfg(unix)]
    {
        // Before the umask.
        let mode = match access {
            Access::Usual => 0o666,
            Access::Program => 0o777,
            Access::Private | Access::Cache => 0o600,
        };
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode | UNFINISHED));
    }
    #[cfg(not(unix))]
    let _ = access;
    builder.tempfile_in(folder)
}

/// Marks a [`temporary`] file as finished once it has its name, and not before: a writer that is killed in between must leave no file that
/// nobody removes. The mark does no harm.
pub(crate) fn finish(file: File) {
    #[cfg(unix)]
    let _ = set_mode(&file, |mode| mode & !UNFINISHED);
    drop(file);
}

/// Writes the new text between what surrounds it in the old file; returns false if that has become shorter.
fn write_text(mut new: &File, seen: &FileSnapshot, text: &[Cow<'_, [u8]>]) -> io::Result<bool> {
    let copy = |mut new: &File, range: Range<u64>| {
        let Some((mut old, _)) = seen.part.as_ref().map(|(file, part)| (file, part)) else { return Ok(true) };
        old.seek(SeekFrom::Start(range.start))?;
        let len = range.end.saturating_sub(range.start);
        io::copy(&mut old.take(len), &mut new).map(|copied| copied == len)
    };
    let len = seen.version.as_ref().map_or(0, |version| version.len);
    let part = seen.part.as_ref().map_or(0..len, |(_, part)| part.clone());
    if !copy(new, 0..part.start)? {
        return Ok(false);
    }
    let mut writer = BufWriter::new(&mut new);
    text.iter().try_for_each(|part| writer.write_all(part))?;
    writer.flush()?;
    drop(writer);
    copy(new, part.end..len)
}

/// How the names of our temporary files begin.
pub(crate) const STEM: Stem = Stem(".git-trace");

pub(crate) fn put(path: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    put_where(path, access, bytes, |_| true)
}

pub(crate) fn put_new(path: &Path, access: Access, bytes: &[u8]) -> io::Result<()> {
    put_where(path, access, bytes, |seen| seen.is_none())
}

fn put_where(
    path: &Path,
    access: Access,
    bytes: &[u8],
    may_replace: impl FnOnce(Option<&FileVersion>) -> bool,
) -> io::Result<()> {
    let folder = folder_of(path);
    create_folders(folder)?;
    let Some(_lock) = Lock::take(folder, STEM)? else {
        return Err(io::Error::other("other processes keep writing there"));
    };
    let seen = FileVersion::at(path)?;
    if !may_replace(seen.as_ref()) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let is_done = replace(path, STEM, seen.as_ref(), access, bytes)?;
    if is_done { Ok(()) } else { Err(io::Error::other("another program changed it meanwhile; try again")) }
}

fn keep_access(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Without the right to do so, the file belongs to its writer, as with any editor.
            let _ = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
        }
        let mode = old.mode();
        // FreeBSD refuses the bit to users.
        set_mode(file, |_| mode | UNFINISHED).or_else(|_| set_mode(file, |_| mode))
    }
    #[cfg(not(unix))]
    file.set_permissions(old.permissions())
}

#[cfg(unix)]
fn set_mode(file: &File, change: impl FnOnce(u32) -> u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = file.metadata()?.permissions();
    permissions.set_mode(change(permissions.mode()) & 0o7777);
    file.set_permissions(permissions)
}

/// Removes temporary files of killed writers. Every writer holds the lock that our caller holds, so none of them is alive. A file with
/// such a name that somebody committed stays.
pub(crate) fn remove_leftovers(folder: &Path, stem: Stem) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(|name| stem.is_temporary(name)) && is_unfinished(&entry) {
            // A file that cannot be removed is harmless.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_unfinished(entry: &fs::DirEntry) -> bool {
    #[cfg(unix)]
    {
        let mode = |metadata: Metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
        entry.metadata().is_ok_and(|metadata| metadata.is_file() && mode(metadata) & UNFINISHED != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = entry;
        false
    }
}
