//! Refs as files, read without a scan of all of them: one ref, or those of a folder.
//!
//! A ref is in a file of its name, or in the sorted lines of `packed-refs`, where it is found by binary search, as in git. libgit2
//! instead reads and copies all of `packed-refs` for the first look-up, which took most of the time of a command beside 100,000 refs.
//!
//! - A ref's own file is read before `packed-refs` is opened: git packs a ref before it removes its file.
//! - Whatever is unusual, such as a damaged file or lines that are not sorted, is `None`, and is left to libgit2 and its errors.

#![expect(
    clippy::option_option,
    reason = "the outer `None` leaves a ref to libgit2, the inner one says that there is none"
)]

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::worktree::is_local_refname;
use crate::base::bounded;
use crate::base::replace::FileVersion;
use crate::git::oid::Oid;
use crate::git::open::Repo;

const PACKED: &str = "packed-refs";

/// How many symbolic refs git follows.
const MAX_DEPTH: usize = 5;

/// From this number of bytes on, lines are read one after the other instead of searched.
const PAGE: u64 = 4096;

/// How many bytes a step of the search reads: two lines.
const PROBE: usize = 512;

/// Folders of refs that belong to one worktree.
const OF_WORKTREE: [&str; 3] = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Oid(Oid),
    Ref(String),
}

impl Repo {
    /// The oid of a ref, through symbolic refs. The outer `None`: libgit2 has to read it.
    pub(super) fn find_directly(&self, refname: &str) -> Option<Option<Oid>> {
        let mut refname = refname.to_owned();
        for _ in 0..MAX_DEPTH {
            if !is_local_refname(&refname) || is_of_worktree(&refname) {
                return None;
            }
            match self.read_ref_file(&refname)? {
                Some(Target::Oid(oid)) => return Some(Some(oid)),
                Some(Target::Ref(target)) => refname = target,
                None if refname.starts_with("refs/") => return self.find_packed(&refname),
                None => return Some(None),
            }
        }
        None
    }

    /// The target of a symbolic ref, which is never packed.
    pub(super) fn find_symbolic_directly(&self, refname: &str) -> Option<Option<String>> {
        if !is_local_refname(refname) || is_of_worktree(refname) {
            return None;
        }
        Some(match self.read_ref_file(refname)? {
            Some(Target::Ref(target)) => Some(target),
            _ => None,
        })
    }

    /// Whether all refs below a folder are in the folder that the worktrees share. A linked one also has separate refs.
    fn is_of_common_folder(&self, folder: &str) -> bool {
        let is_shared = folder != "refs/" || self.git_dir() == self.common_dir();
        folder.starts_with("refs/") && is_shared && !is_of_worktree(folder)
    }

    /// The refs below a folder, which ends in `/`, each once and sorted by name; symbolic ones too.
    pub(super) fn list_directly(&self, folder: &str) -> Option<Vec<(String, Target)>> {
        if !self.is_of_common_folder(folder) {
            return None;
        }
        let mut files = self.list_ref_files(folder)?;
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        let packed = match Packed::open(self.common_dir()).ok()? {
            Opened::Missing => return Some(files),
            Opened::Unsorted => return None,
            Opened::Sorted(mut packed) => {
                packed.below(folder, |digits| Oid::parse(digits, self.object_format())).ok()?
            }
        };
        // Both are sorted, and the ref's own file counts.
        let mut listed = Vec::with_capacity(files.len() + packed.len());
        let mut files = files.into_iter().peekable();
        for (refname, oid) in packed {
            while let Some(file) = files.next_if(|(name, _)| *name < refname) {
                listed.push(file);
            }
            let own = files.next_if(|(name, _)| *name == refname);
            listed.push(own.unwrap_or((refname, Target::Oid(oid))));
        }
        listed.extend(files);
        Some(listed)
    }

    /// Only the symbolic refs below a folder, each with its target.
    pub(super) fn list_symbolic_directly(&self, folder: &str) -> Option<Vec<(String, String)>> {
        if !self.is_of_common_folder(folder) {
            return None;
        }
        let symbolic = |(refname, target)| match target {
            Target::Ref(target) => Some((refname, target)),
            Target::Oid(_) => None,
        };
        let mut listed: Vec<_> = self.list_ref_files(folder)?.into_iter().filter_map(symbolic).collect();
        listed.sort();
        Some(listed)
    }

    fn find_packed(&self, refname: &str) -> Option<Option<Oid>> {
        match Packed::open(self.common_dir()).ok()? {
            Opened::Missing => Some(None),
            Opened::Unsorted => None,
            Opened::Sorted(mut packed) => match packed.find(refname).ok()? {
                Some(digits) => Oid::parse(&digits, self.object_format()).map(Some),
                None => Some(None),
            },
        }
    }

    /// A ref's own file. The inner `None`: there is none.
    fn read_ref_file(&self, refname: &str) -> Option<Option<Target>> {
        let path = self.ref_path(refname);
        match bounded::read_regular(&path) {
            Ok(text) => self.parse_ref_file(&text).map(Some),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Some(None),
            Err(error) if error.kind() == ErrorKind::IsADirectory => Some(None),
            // Git may know a shorter path.
            Err(error) if error.kind() == ErrorKind::InvalidFilename => Some(
                self.list_targets_by_git(refname)?
                    .into_iter()
                    .find(|(name, _)| name == refname)
                    .map(|(_, target)| target),
            ),
            Err(_) => None,
        }
    }

    fn parse_ref_file(&self, text: &[u8]) -> Option<Target> {
        let text = std::str::from_utf8(text).ok()?.trim_ascii_end();
        match text.strip_prefix("ref:") {
            Some(target) => Some(Target::Ref(target.trim_ascii().to_owned())),
            None => Oid::parse(text, self.object_format()).map(Target::Oid),
        }
    }

    fn list_ref_files(&self, folder: &str) -> Option<Vec<(String, Target)>> {
        let mut listed = Vec::new();
        let mut folders: Vec<(String, PathBuf)> = vec![(folder.to_owned(), self.common_dir().join(folder))];
        while let Some((prefix, path)) = folders.pop() {
            let entries = match fs::read_dir(&path) {
                Ok(entries) => entries,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
                Err(error) if error.kind() == ErrorKind::InvalidFilename => return self.list_targets_by_git(folder),
                Err(_) => return None,
            };
            for entry in entries {
                let entry = entry.ok()?;
                let refname = format!("{prefix}{}", entry.file_name().to_str()?);
                if entry.file_type().ok()?.is_dir() {
                    folders.push((format!("{refname}/"), entry.path()));
                } else if entry.path().extension().is_none_or(|extension| extension != "lock") {
                    if !Self::is_refname(&refname) {
                        return None;
                    }
                    match self.read_ref_file(&refname) {
                        Some(Some(target)) => listed.push((refname, target)),
                        // It may be packed or deleted meanwhile.
                        Some(None) => {}
                        None => return None,
                    }
                }
            }
        }
        Some(listed)
    }

    fn list_targets_by_git(&self, folder: &str) -> Option<Vec<(String, Target)>> {
        let plain = self.list_by_git(&[folder]).ok()?.into_iter().map(|(refname, oid)| (refname, Target::Oid(oid)));
        let symbolic = self.list_symbolic_by_git(folder).ok()?.into_iter();
        Some(plain.chain(symbolic.map(|(refname, target)| (refname, Target::Ref(target)))).collect())
    }
}

/// The refs below a folder, in a form that shows a change without reading all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RefsState {
    /// The version of all refs but those with own files.
    pub(crate) packed: String,
    /// The refs with own files, except symbolic ones.
    pub(crate) own_files: Vec<(String, Oid)>,
}

impl Repo {
    /// The state of the refs below a folder, which ends in `/`; `None` if something is unusual.
    pub(crate) fn refs_state(&self, folder: &str) -> Option<RefsState> {
        if !self.has_refs_as_files() {
            // Every change gives a list of tables with new, unique names.
            let tables = fs::read(self.common_dir().join("reftable/tables.list")).ok()?;
            let packed = format!("reftable {}", blake3::hash(&tables).to_hex());
            return Some(RefsState { packed, own_files: Vec::new() });
        }
        // First: a ref that is packed meanwhile is then in a new version of `packed-refs`.
        let plain = |(refname, target)| match target {
            Target::Oid(oid) => Some((refname, oid)),
            Target::Ref(_) => None,
        };
        let own_files = self.list_ref_files(folder)?.into_iter().filter_map(plain).collect();
        let packed = match fs::metadata(self.common_dir().join(PACKED)) {
            // Git writes each version to a new file.
            Ok(metadata) => FileVersion::of(&metadata).word(),
            Err(error) if error.kind() == ErrorKind::NotFound => "none".to_owned(),
            Err(_) => return None,
        };
        Some(RefsState { packed, own_files })
    }
}

fn is_of_worktree(refname: &str) -> bool {
    OF_WORKTREE.iter().any(|folder| refname.starts_with(folder))
}

enum Opened {
    Missing,
    Unsorted,
    Sorted(Packed),
}

/// `packed-refs` with sorted lines `<oid> <refname>`. A line `^<oid>` after one names the target of that tag.
struct Packed {
    file: File,
    /// Where the lines of refs begin.
    start: u64,
    length: u64,
}

impl Packed {
    fn open(common_dir: &Path) -> io::Result<Opened> {
        let mut file = match File::open(common_dir.join(PACKED)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Opened::Missing),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length == 0 {
            return Ok(Opened::Missing);
        }
        let mut head = Vec::new();
        BufReader::with_capacity(PROBE, &mut file).read_until(b'\n', &mut head)?;
        let traits = head.strip_prefix(b"# pack-refs with:").unwrap_or_default().trim_ascii_end();
        let is_sorted = traits.split(|byte| *byte == b' ').any(|word| word == b"sorted");
        if !is_sorted {
            return Ok(Opened::Unsorted);
        }
        Ok(Opened::Sorted(Self { file, start: head.len() as u64, length }))
    }

    /// The digits of a ref's oid.
    fn find(&mut self, refname: &str) -> io::Result<Option<String>> {
        let start = self.first_page(refname)?;
        let mut found = None;
        self.walk(start, |digits, name| {
            if name == refname {
                found = Some(digits.to_owned());
            }
            name < refname
        })?;
        Ok(found)
    }

    fn below(&mut self, folder: &str, parse: impl Fn(&str) -> Option<Oid>) -> io::Result<Vec<(String, Oid)>> {
        let start = self.first_page(folder)?;
        let (mut listed, mut is_damaged) = (Vec::new(), false);
        self.walk(start, |digits, name| {
            if name.starts_with(folder) {
                match parse(digits) {
                    Some(oid) => listed.push((name.to_owned(), oid)),
                    None => is_damaged = true,
                }
                return !is_damaged;
            }
            name < folder
        })?;
        if is_damaged { Err(ErrorKind::InvalidData.into()) } else { Ok(listed) }
    }

    /// The start of a line that is at most [`PAGE`] bytes before the first ref that is not less than `refname`.
    fn first_page(&mut self, refname: &str) -> io::Result<u64> {
        let (mut low, mut high) = (self.start, self.length);
        let (mut lines, mut line) = (BufReader::with_capacity(PROBE, &self.file), Vec::new());
        while high - low > PAGE {
            let middle = low + (high - low) / 2;
            lines.seek(SeekFrom::Start(middle))?;
            // The first line of a ref that starts behind the middle.
            line.clear();
            let mut at = middle + lines.read_until(b'\n', &mut line)? as u64;
            loop {
                line.clear();
                let length = lines.read_until(b'\n', &mut line)?;
                if !line.starts_with(b"^") {
                    break;
                }
                at += length as u64;
            }
            if at >= high {
                break;
            }
            let name = line.iter().position(|byte| *byte == b' ').ok_or(ErrorKind::InvalidData)? + 1;
            if *line[name..].trim_ascii_end() < *refname.as_bytes() { low = at } else { high = at }
        }
        Ok(low)
    }

    /// Passes each ref from the line at `start` on to `take`, with the digits of its oid, until that returns false.
    fn walk(&mut self, start: u64, mut take: impl FnMut(&str, &str) -> bool) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(start))?;
        // A page for one ref; a folder of many is read in larger steps from then on.
        let mut lines = BufReader::with_capacity(1 << 14, &self.file);
        let mut line = String::new();
        while lines.read_line(&mut line)? > 0 {
            let text = line.strip_suffix('\n').ok_or(ErrorKind::InvalidData)?;
            if !text.starts_with('^') {
                let (digits, name) = text.split_once(' ').ok_or(ErrorKind::InvalidData)?;
                if !take(digits, name) {
                    break;
                }
            }
            line.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/git/packed.rs"]
mod tests;
