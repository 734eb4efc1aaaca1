//! Opening paths that come from a repository: fixed names, names in its files, and arguments of tools.
//!
//! A clone may contain any link. Links that stay inside the work tree are followed; one that leaves it or enters a git directory
//! is refused, and so is whatever is neither a file nor a folder: opening a FIFO would wait for a writer.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Linux follows as many links.
pub(crate) const MAX_LINKS: usize = 40;

const ENDLESS: [&str; 4] = ["/dev/full", "/dev/random", "/dev/urandom", "/dev/zero"];

const LEAVES: &str = "leaves the work tree";
const ENTERS: &str = "enters a git directory";

/// The real path of `path`, which is relative to the work tree at `root` or below it, and need not exist. Another work tree below it
/// confines its own links.
pub(crate) fn resolve(root: &Path, path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let path = path.as_ref().strip_prefix(root).unwrap_or(path.as_ref());
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let confined = Rc::new(Origin { link: None, root: Some(real_root.clone()) });
    let below = confined.below(path).ok_or_else(|| refused(None, LEAVES))?;
    let innermost = |link: &Path| {
        let mut folders = link.ancestors().skip(1).take_while(|folder| **folder != *real_root);
        folders.find(|folder| has_git(folder)).map(Path::to_path_buf)
    };
    follow(real_root.clone(), below, Some(&confined), innermost, |_, _| ())
}

/// Fails if a link in a work tree leads out of it, or into a git directory, on the way to `path`. `root_of` finds the real root of the work
/// tree by which a link is judged, whose folder is real; elsewhere, it may lead anywhere.
pub(crate) fn check_configured(path: &Path, root_of: impl FnMut(&Path) -> Option<PathBuf>) -> io::Result<()> {
    follow(PathBuf::new(), &std::path::absolute(path)?, None, root_of, |_, _| ()).map(drop)
}

/// Fails if links lead from a path that the user named into a git directory that it does not name. A clone may contain such links, and
/// nobody writes there on purpose.
pub(crate) fn check_outside_git(path: &Path) -> io::Result<()> {
    let start = if path.is_relative() { std::env::current_dir()? } else { PathBuf::new() };
    let (mut inside, mut through, mut left) = (git_directory_of(&start), None, None);
    let entered = |at: &Path, origin: Option<&Origin>| {
        let now = git_directory_of(at);
        // A work tree need not have a `.git`, and may be inside of its git directory. A link out of it passes that directory.
        if now != inside || (origin.is_some() && now.as_deref() == Some(at)) {
            let link = origin.and_then(|origin| origin.link.clone());
            // Another link, as of the folder of hooks, leads on from there.
            if inside.is_some() && link.is_some() && link != through {
                left = left.take().or(through.take());
            }
            // A name in a git directory, such as `modules/x`, may lead into another one.
            if link.is_some() || inside.is_none() || now.is_none() {
                through = link;
            }
            inside = now;
        }
    };
    follow(start.clone(), path, None, |_| None, entered)?;
    let Some((from, target)) = left.or(through.filter(|_| inside.is_some())) else { return Ok(()) };
    let from = from.strip_prefix(&start).map(Path::to_path_buf).unwrap_or(from);
    Err(refused(Some(&(from, target)), ENTERS))
}

/// The git directory that a path is in, unless a work tree is between them.
fn git_directory_of(path: &Path) -> Option<PathBuf> {
    let mut folders = path.ancestors().take_while(|folder| is_named_git(folder) || !has_git(folder));
    folders.find(|folder| is_named_git(folder) || is_git_directory(folder)).map(Path::to_path_buf)
}

/// Where a name of a path comes from.
struct Origin {
    /// The link whose target has it, and that target.
    link: Option<(PathBuf, PathBuf)>,
    /// The real work tree that it must stay in.
    root: Option<PathBuf>,
}

impl Origin {
    /// A path relative to the root; `None` if it is absolute and not below it. Other links may lead to the root.
    fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let below = self.root.as_ref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        if !below.has_root() {
            return Some(below);
        }
        let is_root = |above: &&Path| above.canonicalize().ok() == self.root;
        path.strip_prefix(path.ancestors().find(is_root)?).ok()
    }
}

/// The real path behind `path`, which need not exist. Each name is looked at once, links included. `origin` is that of all names in
/// `path`; `None` if the user named it. `root_of` finds the work tree that confines the target of a link; without one, the target is
/// confined as the link is. `entered` is called with each place on the way, and the origin of its name.
fn follow(
    start: PathBuf,
    path: &Path,
    origin: Option<&Rc<Origin>>,
    mut root_of: impl FnMut(&Path) -> Option<PathBuf>,
    mut entered: impl FnMut(&Path, Option<&Origin>),
) -> io::Result<PathBuf> {
    let (mut at, mut pending, mut link_count) = (start, names(path, origin), 0);
    while let Some((name, origin)) = pending.pop() {
        let root = origin.as_ref().and_then(|origin| origin.root.as_ref());
        let refuse = |why| Err(refused(origin.as_ref().and_then(|origin| origin.link.as_ref()), why));
        let next = at.join(&name);
        if name == ".." {
            // A folder that is created there later would give the path another meaning.
            if !at.is_dir() {
                return Err(io::Error::other(format!("`..` follows `{}`, which is no folder", at.display())));
            }
            if root == Some(&at) {
                return refuse(LEAVES);
            }
            at.pop();
            entered(&at, origin.as_deref());
            continue;
        }
        if root.is_some() && is_named_git(&next) {
            return refuse(ENTERS);
        }
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
            let root = root_of(&next).or_else(|| root.cloned());
            let from = root.as_ref().and_then(|root| next.strip_prefix(root).ok()).unwrap_or(&next).to_owned();
            let new = Rc::new(Origin { link: Some((from, target.clone())), root });
            let inside = match &new.root {
                Some(root) => {
                    if target.has_root() {
                        at.clone_from(root);
                    }
                    new.below(&target).ok_or_else(|| refused(new.link.as_ref(), LEAVES))?
                }
                None => &target,
            };
            pending.extend(names(inside, Some(&new)));
            continue;
        }
        if let Some(metadata) = metadata {
            let is_regular = metadata.is_dir() || metadata.is_file();
            if !is_regular && (root.is_some() || root_of(&next).is_some()) {
                return refuse("is not a regular file");
            }
            if root.is_some() && is_git_directory(&next) {
                return refuse(ENTERS);
            }
        }
        at = next;
        entered(&at, origin.as_deref());
    }
    Ok(at)
}

/// The names in a path, the last one first.
fn names(path: &Path, origin: Option<&Rc<Origin>>) -> Vec<(OsString, Option<Rc<Origin>>)> {
    let parts = path.components().rev().filter(|part| *part != Component::CurDir);
    parts.map(|part| (part.as_os_str().to_owned(), origin.cloned())).collect()
}

/// The second is the short name of `.git` on Windows.
fn is_named_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1"))
}

/// Whether a folder is the root of a work tree: it need not be one that git can open.
pub(crate) fn has_git(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Whether a folder looks like a git directory. Git demands more of it.
pub(crate) fn is_git_directory(folder: &Path) -> bool {
    // As for git, `HEAD` may be a link to a branch that does not exist yet, and the objects may be elsewhere.
    folder.join("HEAD").symlink_metadata().is_ok()
        && ["objects", "refs", "commondir"].iter().any(|name| folder.join(name).exists())
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

/// As [`check_regular`], for a file that is only read: one that is already open, as in `<(command)`, may be a pipe or a terminal.
pub(crate) fn check_regular_or_open(path: &Path) -> io::Result<()> {
    // In zsh, it may be the last.
    let folders = ["/dev/fd", "/dev/stdin", "/dev/tty", "/dev/null", "/proc/self/fd"];
    let is_endless = || path.canonicalize().is_ok_and(|real| ENDLESS.iter().any(|device| real == Path::new(device)));
    if folders.iter().any(|folder| path.starts_with(folder)) && !is_endless() { Ok(()) } else { check_regular(path) }
}
