//! Opening paths that come from a repository: fixed names, names in its files, and arguments of tools.
//!
//! A clone may contain any link. Links that stay inside the work tree are followed; one that leaves it or enters a git directory
//! is refused, and so is whatever is neither a file nor a folder: opening a FIFO would wait for a writer.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// Linux follows as many links.
pub(crate) const MAX_LINKS: usize = 40;

const LEAVES: &str = "leaves the work tree";
const ENTERS: &str = "enters a git directory";

/// The real path of `path`, which is relative to the work tree at `root` or below it, and need not exist.
pub(crate) fn resolve(root: &Path, path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref();
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let below = |path: &Path| -> Option<PathBuf> {
        let below = path.strip_prefix(root).or_else(|_| path.strip_prefix(&real_root)).unwrap_or(path);
        (!below.has_root()).then(|| below.to_owned())
    };
    let mut pending = names(&below(path).ok_or_else(|| refused(None, LEAVES))?);
    let (mut at, mut link, mut link_count) = (real_root.clone(), None, 0);
    while let Some(name) = pending.pop() {
        let refuse = |why| Err(refused(link.as_ref(), why));
        if name == ".." {
            if at == real_root {
                return refuse(LEAVES);
            }
            at.pop();
            continue;
        }
        // The second is the short name of `.git` on Windows.
        if name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1") {
            return refuse(ENTERS);
        }
        let next = at.join(&name);
        let metadata = match fs::symlink_metadata(&next) {
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Err(error),
            found => found.ok(),
        };
        if metadata.as_ref().is_some_and(Metadata::is_symlink) {
            link_count += 1;
            if link_count > MAX_LINKS {
                return refuse("leads through too many links");
            }
            let target = fs::read_link(&next)?;
            let from = next.strip_prefix(&real_root).unwrap_or(&next).to_owned();
            let inside = below(&target);
            if target.has_root() {
                at.clone_from(&real_root);
            }
            let link = link.insert((from, target));
            pending.extend(names(&inside.ok_or_else(|| refused(Some(link), LEAVES))?));
            continue;
        }
        if let Some(metadata) = metadata {
            if !metadata.is_dir() && !metadata.is_file() {
                return refuse("is not a regular file");
            }
            if is_git_directory(&next) {
                return refuse(ENTERS);
            }
        }
        at = next;
    }
    Ok(at)
}

/// Fails if a link in a work tree leads out of it, or into a git directory, on the way to `path`. `root_of` finds the real root of the work
/// tree by which a link is judged, whose folder is real; elsewhere, it may lead anywhere.
pub(crate) fn check_configured(path: &Path, mut root_of: impl FnMut(&Path) -> Option<PathBuf>) -> io::Result<()> {
    let mut path = std::path::absolute(path)?;
    for _ in 0..MAX_LINKS {
        let Some(next) = check_to_next_link(&path, &mut root_of)? else { return Ok(()) };
        path = next;
    }
    Ok(())
}

/// Checks a path up to its first link outside of work trees. Returns where the path leads behind that.
fn check_to_next_link(path: &Path, root_of: &mut impl FnMut(&Path) -> Option<PathBuf>) -> io::Result<Option<PathBuf>> {
    check_turns(path)?;
    let mut ways: Vec<&Path> = path.ancestors().collect();
    ways.reverse();
    for way in ways {
        let Some((parent, name)) = way.parent().zip(way.file_name()) else { continue };
        let Ok(parent) = parent.canonicalize() else { break };
        let real = parent.join(name);
        let below = |root: &Path| real.strip_prefix(root).map(Path::to_path_buf).unwrap_or_default();
        let found = root_of(&real).map(|root| (below(&root), root));
        // No commit contains a git directory.
        if let Some((below, root)) = found.filter(|(below, _)| below.iter().all(|part| part != ".git")) {
            resolve(&root, below)?;
        } else if let Ok(target) = fs::read_link(way) {
            let rest = path.strip_prefix(way).unwrap_or(Path::new(""));
            return Ok(Some(parent.join(target).join(rest)));
        }
    }
    Ok(None)
}

/// Fails if `..` follows what is no folder, as it does for git and the system. A folder that is created there later would give the path
/// another meaning than the one that was checked.
fn check_turns(path: &Path) -> io::Result<()> {
    let turns = path.ancestors().filter(|way| way.components().next_back() == Some(Component::ParentDir));
    let mut before = turns.filter_map(Path::parent).filter(|before| !before.as_os_str().is_empty());
    match before.find(|before| !before.is_dir()) {
        Some(missing) => Err(io::Error::other(format!("`..` follows `{}`, which is no folder", missing.display()))),
        None => Ok(()),
    }
}

/// Fails if links lead from a path that the user named into a git directory that it does not name. A clone may contain such links, and
/// nobody writes there on purpose.
pub(crate) fn check_outside_git(path: &Path) -> io::Result<()> {
    let is_git = |name: &std::ffi::OsStr| name.eq_ignore_ascii_case(".git");
    if path.components().any(|part| is_git(part.as_os_str())) {
        return Ok(());
    }
    // The file need not exist, nor the target of a link.
    let (mut at, mut link) = (path.to_owned(), None);
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&at) else { break };
        let next = at.parent().unwrap_or(Path::new("")).join(&target);
        link = Some((at, target));
        at = next;
    }
    check_turns(&at)?;
    let folder = at.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let linked = || folder.ancestors().find_map(|at| Some((at.to_owned(), fs::read_link(at).ok()?)));
    // Without a link, the user may be in a git directory.
    let Some(link) = link.or_else(linked) else { return Ok(()) };
    // Its last folders may be created later, which may give a link a target that it does not have yet.
    let mut missing = folder.ancestors().take_while(|folder| folder.canonicalize().is_err());
    if let Some((at, target)) = missing.find_map(|at| Some((at.to_owned(), fs::read_link(at).ok()?))) {
        return Err(refused(Some(&(at, target)), "leads to no folder"));
    }
    let Some(folder) = folder.ancestors().find_map(|folder| folder.canonicalize().ok()) else { return Ok(()) };
    let names_git = at.components().chain(folder.components()).any(|part| is_git(part.as_os_str()));
    // A work tree may be below the bare repository that it belongs to.
    let mut below = folder.ancestors().take_while(|above| above.join(".git").symlink_metadata().is_err());
    // Links above the folder that the user named do not matter.
    let is_named = |folder: &Path| {
        let ways = path.ancestors().filter(|way| !way.is_symlink());
        ways.filter_map(|way| way.canonicalize().ok()).any(|way| way == folder)
    };
    if names_git || below.any(|above| is_git_directory(above) && !is_named(above)) {
        return Err(refused(Some(&link), ENTERS));
    }
    Ok(())
}

/// Whether a folder looks like a git directory. Git demands more of it.
pub(crate) fn is_git_directory(folder: &Path) -> bool {
    // As for git, `HEAD` may be a link to a branch that does not exist yet, and the objects may be elsewhere.
    folder.join("HEAD").symlink_metadata().is_ok()
        && ["objects", "refs", "commondir"].iter().any(|name| folder.join(name).exists())
}

/// The names in a path, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

fn refused(link: Option<&(PathBuf, PathBuf)>, why: &str) -> io::Error {
    io::Error::other(match link {
        Some((from, to)) => format!("`{}` is a link to `{}`, which {why}", from.display(), to.display()),
        None => format!("it {why}"),
    })
}

/// Fails for a FIFO, a device, or a socket, which a path that the user named may lead to.
pub(crate) fn check_regular(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() && !metadata.is_file() => Err(refused(None, "is not a regular file")),
        _ => Ok(()),
    }
}

/// As [`check_regular`], for a file that is only read: one that is already open, as in `<(command)`, may be a pipe.
pub(crate) fn check_regular_or_open(path: &Path) -> io::Result<()> {
    let is_open = path.starts_with("/dev") && !path.starts_with("/dev/shm");
    if is_open { Ok(()) } else { check_regular(path) }
}
