//! Reading loose objects: libgit2 never comes back from one whose file was cut off.
//!
//! Only that: what is packed, and what is not where it should be, is libgit2's.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use flate2::bufread::ZlibDecoder;
use git2::{ObjectFormat, ObjectType, Oid};

use super::error::GitError;

/// After how many objects it pays to know which of the 256 folders there are: after `git gc` most are gone.
const LOOK_AFTER: usize = 64;
/// zlib packs no run tighter than this.
const MOST_PACKED: usize = 1032;

/// The folders in which loose objects are: the repository's own, then those it borrows from.
#[derive(Debug)]
pub(super) struct Loose {
    folders: Vec<PathBuf>,
    asked: AtomicUsize,
    /// Which fan-out folders were there; one that comes later is left to libgit2.
    fans: OnceLock<Box<[bool; 256]>>,
    /// Whether what is read must have the name that its bytes give it.
    pub(super) verified: AtomicBool,
}

impl Loose {
    pub(super) fn new(objects: &Path) -> Self {
        let mut folders = vec![objects.to_owned()];
        if let Ok(lent) = fs::read_to_string(objects.join("info").join("alternates")) {
            let lines = lent.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            folders.extend(lines.map(|line| objects.join(line)));
        }
        Self { folders, asked: AtomicUsize::new(0), fans: OnceLock::new(), verified: AtomicBool::new(false) }
    }

    /// Reads an object; `None` if it is not loose, as far as can be told.
    ///
    /// # Errors
    ///
    /// [`GitError::DamagedObject`] if the file is not what it should be.
    pub(super) fn read(&self, oid: Oid) -> Result<Option<(ObjectType, Vec<u8>)>, GitError> {
        let fan = usize::from(oid.as_bytes()[0]);
        if self.asked.fetch_add(1, Ordering::Relaxed) >= LOOK_AFTER && !self.fans.get_or_init(|| self.look())[fan] {
            return Ok(None);
        }
        let digits = oid.to_string();
        let mut damaged = None;
        for folder in &self.folders {
            let path = folder.join(&digits[..2]).join(&digits[2..]);
            let Ok(bytes) = fs::read(&path) else { continue };
            let object = inflate(&bytes).and_then(|object| self.verify(oid, object));
            match object {
                Ok(object) => return Ok(Some(object)),
                // Another of them may have it whole.
                Err(source) => damaged = Some(GitError::DamagedObject { oid, path, source }),
            }
        }
        damaged.map_or(Ok(None), Err)
    }

    fn verify(&self, oid: Oid, (kind, bytes): (ObjectType, Vec<u8>)) -> io::Result<(ObjectType, Vec<u8>)> {
        if self.verified.load(Ordering::Relaxed) {
            let format = if oid.as_bytes().len() == 20 { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
            let is_it = Oid::hash_object_ext(kind, &bytes, format).is_ok_and(|found| found == oid);
            if !is_it {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "it is another object"));
            }
        }
        Ok((kind, bytes))
    }

    fn look(&self) -> Box<[bool; 256]> {
        let mut fans = Box::new([false; 256]);
        for folder in &self.folders {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let fan =
                    name.to_str().filter(|name| name.len() == 2).and_then(|name| u8::from_str_radix(name, 16).ok());
                if let Some(fan) = fan {
                    fans[usize::from(fan)] = true;
                }
            }
        }
        fans
    }
}

/// `<kind> <length>\0<bytes>`, packed.
fn inflate(packed: &[u8]) -> io::Result<(ObjectType, Vec<u8>)> {
    let bad = |cause: &'static str| io::Error::new(io::ErrorKind::InvalidData, cause);
    let mut decoder = ZlibDecoder::new(packed);
    let mut head = Vec::with_capacity(32);
    while head.last() != Some(&0) {
        let mut byte = [0];
        decoder.read_exact(&mut byte)?;
        head.push(byte[0]);
        if head.len() > 32 {
            return Err(bad("its head is not an object's"));
        }
    }
    let text = std::str::from_utf8(&head[..head.len() - 1]).map_err(|_| bad("its head is not an object's"))?;
    let (kind, len) = text.split_once(' ').ok_or_else(|| bad("its head is not an object's"))?;
    let kind = ObjectType::from_str(kind).ok_or_else(|| bad("its kind is unknown"))?;
    let len: usize = len.parse().map_err(|_| bad("its length is not a number"))?;
    let mut bytes = Vec::with_capacity(len.min(packed.len().saturating_mul(MOST_PACKED)));
    decoder.by_ref().take((len as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() != len {
        return Err(bad("it is not as long as it says"));
    }
    Ok((kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_or_changed_is_told_and_never_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let repo = git2::Repository::init_bare(folder.path()).unwrap();
        let text = b"what the object holds, and some more of it".repeat(9);
        let oid = repo.blob(&text).unwrap();
        let digits = oid.to_string();
        let objects = folder.path().join("objects");
        let path = objects.join(&digits[..2]).join(&digits[2..]);
        let whole = fs::read(&path).unwrap();
        assert_eq!(Loose::new(&objects).read(oid).unwrap(), Some((ObjectType::Blob, text)));
        fs::remove_file(&path).unwrap();
        for len in 0..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            // All but the checksum of the end is needed; that is checked where it is there.
            let read = Loose::new(&objects).read(oid);
            assert!(matches!(read, Err(GitError::DamagedObject { .. })) || len + 4 >= whole.len(), "{len}: {read:?}");
        }
        for at in 2..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            fs::write(&path, &changed).unwrap();
            assert!(matches!(Loose::new(&objects).read(oid), Err(GitError::DamagedObject { .. })), "byte {at}");
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(Loose::new(&objects).read(oid).unwrap(), None);
    }
}
