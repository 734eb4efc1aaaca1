//! Reading loose objects: libgit2 never returns from a truncated one.
//!
//! libgit2 reads packed and missing objects. If a loose object is damaged, git is asked, which looks into packs first.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use flate2::bufread::ZlibDecoder;
use git2::{ObjectFormat, ObjectType, Repository};

use super::alternates::Alternates;
use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;
use super::process::{Answer, git};
use super::refs::files_below;
use crate::base::{bounded, effect};

/// Number of reads after which the 256 folders are listed: after `git gc`, most do not exist.
const LOOK_AFTER: usize = 64;
/// Number of folders whose alternates are read: a repository may borrow from itself by ever longer paths.
const MOST_FOLDERS: usize = 100;
/// The length of the longest kind and length of an object, and more.
const LONGEST_HEAD: usize = 32;
/// The highest compression ratio of zlib.
const MOST_PACKED: usize = 1032;

/// The folders of loose objects: those of the repository, then its alternates.
#[derive(Debug)]
pub(super) struct Loose {
    git_dir: PathBuf,
    folders: Vec<PathBuf>,
    /// Those of the folders that libgit2 does not find, because their names are quoted.
    quoted: Vec<PathBuf>,
    asked: AtomicUsize,
    /// Which folders exist. libgit2 reads from those that are created later.
    fans: OnceLock<Box<[bool; 256]>>,
    pub(super) verified: AtomicBool,
    spare: Mutex<BTreeMap<PathBuf, Oid>>,
    /// The objects that this process removed. libgit2 may still have a pack open that contained them.
    removed: RwLock<HashSet<Oid>>,
}

impl Loose {
    /// `others` is `GIT_ALTERNATE_OBJECT_DIRECTORIES`, and the folder into which git changes before it reads that.
    pub(super) fn new(git_dir: &Path, objects: &Path, others: Option<(&OsStr, Option<&Path>)>) -> Self {
        let root = others.and_then(|(_, root)| root);
        let (mut folders, mut quoted) = (vec![objects.to_owned()], Vec::new());
        let mut add = |folders: &mut Vec<PathBuf>, lender: Option<&Path>, named: Alternates<'_>| {
            for (path, is_quoted) in named {
                let path = lender.map_or_else(|| path.clone(), |lender| lender.join(&path));
                if folders.contains(&path) {
                    continue;
                }
                let is_elsewhere =
                    lender.is_some_and(|lender| root == Some(lender) || quoted.contains(&lender.to_owned()));
                if is_quoted || is_elsewhere {
                    quoted.push(path.clone());
                }
                folders.push(path);
            }
        };
        if let Some((others, _)) = others {
            let separator = if cfg!(windows) { b';' } else { b':' };
            add(&mut folders, root, Alternates { rest: others.as_encoded_bytes(), separator });
        }
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned().filter(|_| next < MOST_FOLDERS) {
            next += 1;
            let Ok(lent) = bounded::read_regular(&folder.join("info").join("alternates")) else { continue };
            add(&mut folders, Some(&folder), Alternates { rest: &lent, separator: b'\n' });
        }
        let (asked, fans, verified) = (AtomicUsize::new(0), OnceLock::new(), AtomicBool::new(false));
        let (spare, removed) = (Mutex::default(), RwLock::default());
        Self { git_dir: git_dir.to_owned(), folders, quoted, asked, fans, verified, spare, removed }
    }

    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Lets libgit2 read packs in the folders that it does not find.
    pub(super) fn lend_to(&self, repository: &Repository) -> Result<(), git2::Error> {
        if self.quoted.is_empty() {
            return Ok(());
        }
        let odb = repository.odb()?;
        let lent = self.quoted.iter().filter_map(|folder| folder.to_str()).filter(|folder| Path::new(folder).is_dir());
        lent.into_iter().try_for_each(|folder| odb.add_disk_alternate(folder))
    }

    /// `None` if the object does not seem to be loose. Fails if its file is damaged and there is no other copy.
    pub(super) fn read(&self, oid: Oid) -> Result<Option<(ObjectType, Vec<u8>)>, GitError> {
        let fan = usize::from(oid.as_bytes()[0]);
        if self.asked.fetch_add(1, Ordering::Relaxed) >= LOOK_AFTER && !self.fans.get_or_init(|| self.look())[fan] {
            return Ok(None);
        }
        let digits = oid.to_string();
        let mut damaged = Vec::new();
        let mut found = None;
        for folder in &self.folders {
            let path = folder.join(&digits[..2]).join(&digits[2..]);
            let Ok(bytes) = bounded::read_regular(&path) else { continue };
            let object = inflate(&bytes).and_then(|object| self.verify(oid, object));
            match object {
                Ok(object) => {
                    found = Some(object);
                    break;
                }
                // Another folder may have an intact copy.
                Err(source) => damaged.push((path, source)),
            }
        }
        if damaged.is_empty() {
            return Ok(found);
        }
        match found.or_else(|| self.ask_git(&digits).and_then(|object| self.verify(oid, object).ok())) {
            Some(object) => {
                let paths = damaged.into_iter().map(|(path, _)| (path, oid));
                self.spare.lock().unwrap_or_else(PoisonError::into_inner).extend(paths);
                Ok(Some(object))
            }
            None => Err(damaged.pop().map_or(GitError::MissingObject { oid }, |(path, source)| {
                GitError::DamagedObject { oid, path, source }
            })),
        }
    }

    /// Asks git, which prefers packs.
    pub(super) fn ask_git(&self, digits: &str) -> Option<(ObjectType, Vec<u8>)> {
        let mut command = git("cat-file");
        command.env("GIT_DIR", &self.git_dir).env("GIT_OBJECT_DIRECTORY", self.folders.first()?);
        command.env("GIT_NO_LAZY_FETCH", "1").args(["cat-file", "--batch"]).input(format!("{digits}\n"));
        let answer = Answer::of(&mut command).and_then(Answer::into_stdout).ok()?;
        // `<oid> <kind> <length>\n<bytes>\n`
        let end = memchr::memchr(b'\n', &answer)?;
        let mut words = std::str::from_utf8(&answer[..end]).ok()?.split(' ').skip(1);
        let (kind, len) = (ObjectType::from_str(words.next()?)?, words.next()?.parse::<usize>().ok()?);
        let bytes = answer.get(end + 1..)?.get(..len)?;
        Some((kind, bytes.to_vec()))
    }

    pub(super) fn note_removal(&self, oids: &HashSet<Oid>) {
        self.removed.write().unwrap_or_else(PoisonError::into_inner).extend(oids);
    }

    /// Whether this process removed the object. It may be here again.
    pub(super) fn was_removed(&self, oid: Oid) -> bool {
        self.removed.read().unwrap_or_else(PoisonError::into_inner).contains(&oid)
    }

    fn verify(&self, oid: Oid, (kind, bytes): (ObjectType, Vec<u8>)) -> io::Result<(ObjectType, Vec<u8>)> {
        if self.verified.load(Ordering::Relaxed) {
            let format = if oid.as_bytes().len() == 20 { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
            let is_it = git2::Oid::hash_object_ext(kind, &bytes, format).is_ok_and(|found| found == oid.0);
            if !is_it {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "it is another object"));
            }
        }
        Ok((kind, bytes))
    }

    /// Whether the object is loose and its file is empty, as after a power failure. Such a file contains no text.
    pub(super) fn is_empty(&self, oid: Oid) -> bool {
        let digits = oid.to_string();
        let paths = self.folders.iter().map(|folder| folder.join(&digits[..2]).join(&digits[2..]));
        let mut lengths = paths.filter_map(|path| fs::metadata(path).ok().map(|found| found.len())).peekable();
        lengths.peek().is_some() && lengths.all(|length| length == 0)
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

impl Repo {
    /// Moves the damaged file of a loose object to `<common dir>/trace/damaged/<oid>`. Returns whether there was one.
    ///
    /// Git neither fetches nor collects garbage beside such a file, even if only a reflog names the object. A missing object does
    /// not stop it.
    pub(crate) fn set_aside(&self, oid: Oid) -> Result<bool, GitError> {
        let digits = oid.to_string();
        let path = self.objects.join(&digits[..2]).join(&digits[2..]);
        let Ok(bytes) = fs::read(&path) else { return Ok(false) };
        if inflate(&bytes).and_then(|object| self.loose.verify(oid, object)).is_ok() {
            return Ok(false);
        }
        let folder = self.common_dir().join("trace").join("damaged");
        let failed = |source| GitError::io("create the folder", &folder, source);
        self.permissions()?.create_folders(&folder).map_err(failed)?;
        fs::rename(&path, folder.join(digits)).map_err(|source| GitError::io("move away", &path, source))?;
        effect::note_change();
        Ok(true)
    }

    /// Moves every damaged loose file away, see [`Self::set_aside`]: git keeps it instead of the object that it fetches. Reads all
    /// loose objects.
    pub(crate) fn set_aside_all(&self) -> Result<(), GitError> {
        for path in files_below(vec![self.objects.clone()]) {
            let digits = path.strip_prefix(&self.objects).ok().and_then(Path::to_str).map(|path| path.replace('/', ""));
            if let Some(oid) = digits.and_then(|digits| Oid::parse(&digits, self.object_format())) {
                self.set_aside(oid)?;
            }
        }
        Ok(())
    }

    /// The damaged files found so far of objects that were read from another copy.
    pub(crate) fn damaged_copies(&self) -> Vec<(Oid, PathBuf)> {
        let spare = self.loose.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.iter().map(|(path, oid)| (*oid, path.clone())).collect()
    }
}

/// `<kind> <length>\0<bytes>`, compressed.
fn inflate(packed: &[u8]) -> io::Result<(ObjectType, Vec<u8>)> {
    let bad = |cause: &'static str| io::Error::new(io::ErrorKind::InvalidData, cause);
    let mut decoder = ZlibDecoder::new(packed);
    // Most objects are smaller, and are decompressed at once.
    let (mut first, mut filled) = ([0; 4096], 0);
    let end = loop {
        let head = &first[..filled.min(LONGEST_HEAD)];
        if let Some(end) = memchr::memchr(0, head) {
            break end;
        }
        let read = if head.len() < LONGEST_HEAD { decoder.read(&mut first[filled..])? } else { 0 };
        if read == 0 {
            return Err(bad("its head is not an object's"));
        }
        filled += read;
    };
    let text = std::str::from_utf8(&first[..end]).map_err(|_| bad("its head is not an object's"))?;
    let (kind, len) = text.split_once(' ').ok_or_else(|| bad("its head is not an object's"))?;
    let kind = ObjectType::from_str(kind).ok_or_else(|| bad("its kind is unknown"))?;
    let len: usize = len.parse().map_err(|_| bad("its length is not a number"))?;
    let mut bytes = Vec::with_capacity(len.min(packed.len().saturating_mul(MOST_PACKED)));
    bytes.extend_from_slice(&first[end + 1..filled]);
    decoder.take((len as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() != len {
        return Err(bad("it is not as long as it says"));
    }
    Ok((kind, bytes))
}

#[cfg(test)]
#[path = "../../tests/unit/git/loose.rs"]
mod tests;
