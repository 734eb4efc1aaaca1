//! Opening only what git would open, with the configuration that git would read.
//!
//! libgit2 does not know `safe.bareRepository`, and some forms and places of `safe.directory`. In these cases, and in a repository of
//! another owner, git is asked.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use git2::{ConfigLevel, ErrorCode, Repository};

use super::call::Git;
use super::env::Env;
use super::error::GitError;
use super::open::Repo;
use super::process::{Answer, git, path_of};
use crate::base::bounded;
use crate::base::worktree_path::{check_regular, has_git, is_git_directory};

/// Opens the repository that `folder` is in, whatever the environment says about its location. Git finds it: libgit2 also searches other file
/// systems, and ignores `GIT_CEILING_DIRECTORIES`.
pub(super) fn open_containing(folder: &Path) -> Result<Repository, GitError> {
    set_up();
    check_settings(folder)?;
    let opened = open_unchecked(Some(&ask(Some(folder))?)).map_err(GitError::opening)?;
    opened.remove_namespace().map_err(GitError::opening)?;
    with_worktree_of_git(opened, Git::elsewhere(folder).ask(&TOPLEVEL)?)
}

/// Opens the repository at `place`, or the one that the environment or the current folder names.
pub(super) fn open(place: Option<&Path>, env: &Env) -> Result<Repository, GitError> {
    set_up();
    check_settings(place.unwrap_or_else(|| Path::new(env.os("GIT_DIR").unwrap_or(OsStr::new(".")))))?;
    let opened = match Repo::open_place(place) {
        Err(error) if error.code() == ErrorCode::Owner => {
            ask(place)?;
            open_unchecked(place)
        }
        Ok(opened) if place.is_none() && !is_own(&opened) => {
            ask(place)?;
            Ok(opened)
        }
        Err(error) if error.code() == ErrorCode::NotFound => match ask(place) {
            Ok(git_dir) if git_dir.join("HEAD").is_symlink() => return Err(GitError::LinkedHead { git_dir }),
            // libgit2 searches a relative `GIT_WORK_TREE` in the git folder.
            Ok(git_dir) => open_unchecked(Some(&git_dir)),
            Err(_) => Err(error),
        },
        opened => opened,
    };
    let opened = opened.map_err(GitError::opening)?;
    // Local commands of git ignore `GIT_NAMESPACE`, which is for those that serve the repository to others.
    opened.remove_namespace().map_err(GitError::opening)?;
    if place.is_some() {
        return Ok(opened);
    }
    if env.is_set("GIT_DIR") {
        if !has_plain_head(opened.path()) {
            ask(None)?;
        }
    } else if let Some(other) = found_instead(opened.path())? {
        return Err(GitError::OtherRepository { path: opened.path().to_owned(), other });
    }
    with_worktree(opened, env)
}

/// Gives a repository the working tree that git uses. libgit2 also takes it from files that variables name. It ignores where a linked worktree was
/// moved or copied to, and takes the folder above any git directory.
fn with_worktree(opened: Repository, env: &Env) -> Result<Repository, GitError> {
    let config = opened.config().map_err(GitError::opening)?;
    let is_own = |entry: git2::ConfigEntry<'_>| {
        entry.include_depth() == 0 && matches!(entry.level(), ConfigLevel::Local | ConfigLevel::Worktree)
    };
    let is_known = || {
        let Some(known) = opened.workdir() else { return true };
        let here = Path::new(".").canonicalize().unwrap_or_default();
        // As for git. A worktree may have been moved to a folder below its earlier place.
        let of_this = |folder: &Path| named_by(&folder.join(".git")) == opened.path().canonicalize().ok();
        let found = || here.ancestors().find(|folder| has_git(folder)).filter(|folder| of_this(folder));
        let root = if env.is_set("GIT_DIR") { Some(&*here) } else { found() };
        // Git needs a working tree in the folder of a linked worktree. This one is known.
        let is_in_own_folder = !env.is_set("GIT_DIR") && opened.is_worktree() && here.starts_with(opened.path());
        is_in_own_folder || known.canonicalize().is_ok_and(|known| Some(&*known) == root)
    };
    if !["GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE"].iter().any(|variable| env.is_set(variable))
        && ["core.worktree", "core.bare"].iter().all(|key| config.get_entry(key).map_or(true, is_own))
        && is_known()
    {
        return Ok(opened);
    }
    with_worktree_of_git(opened, Answer::of(git("rev-parse").args(TOPLEVEL))?)
}

/// The question for the root of the working tree.
const TOPLEVEL: [&str; 2] = ["rev-parse", "--show-toplevel"];

fn with_worktree_of_git(opened: Repository, answer: Answer) -> Result<Repository, GitError> {
    if answer.stderr.contains("must be run in a work tree") {
        return Repository::open_bare(opened.path()).map_err(GitError::opening);
    }
    opened.set_workdir(&answer.into_path()?, false).map_err(GitError::opening)?;
    Ok(opened)
}

/// Whether all that git checks belongs to the user. libgit2 finds fewer settings of `safe.directory`.
fn is_own(repository: &Repository) -> bool {
    // Git checks the folder around `.git` before it reads `core.bare`.
    let here = Path::new(".").canonicalize().unwrap_or_default();
    let found = here.ancestors().find(|folder| has_git(folder)).map(Path::to_owned);
    let folders = repository.workdir().map(Path::to_owned).into_iter().chain(found);
    let mut paths = folders.flat_map(|folder| [folder.join(".git"), folder]).chain([repository.path().to_owned()]);
    paths.all(|path| belongs_to_user(&path))
}

/// Whether a file belongs to the user, or does not exist.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library has no such call")]
fn belongs_to_user(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // SAFETY: the call cannot fail and has no argument.
    let user = unsafe { libc::geteuid() };
    path.symlink_metadata().map_or(true, |found| found.uid() == user)
}

#[cfg(not(unix))]
fn belongs_to_user(_path: &Path) -> bool {
    true
}

/// Refuses settings of the repository that libgit2 reads in another way than git: an `objectFormat` without a value, at which it crashes,
/// and a line that ends with `\` before an empty one, whose value it continues with the line after that.
fn check_settings(folder: &Path) -> Result<(), GitError> {
    const KEY: &str = "extensions.objectformat";
    let Ok(git_dir) = Repository::discover_path(folder, [""; 0]) else { return Ok(()) };
    check_regular_files(&git_dir)?;
    let path = common_dir(&git_dir).join("config");
    let text = text_at(&path);
    let is_named = String::from_utf8_lossy(&text).to_ascii_lowercase().contains("objectformat");
    if is_named && git2::Config::open(&path).is_ok_and(|file| file.get_entry(KEY).is_ok_and(|entry| !entry.has_value()))
    {
        return Err(GitError::BadSetting { key: KEY.to_owned(), value: String::new(), expected: "sha1 or sha256" });
    }
    for path in [path, git_dir.join("config.worktree")] {
        if let Some(line) = continued_line(&text_at(&path)) {
            return Err(GitError::ContinuedLine { path, line });
        }
    }
    Ok(())
}

/// Fails for a FIFO, a device, or a socket in place of a file of a git folder, for which git would wait if it trusts the owner.
pub(super) fn check_regular_files(git_dir: &Path) -> Result<(), GitError> {
    let check = |folder: &Path, names: &[&str]| {
        names
            .iter()
            .map(|name| folder.join(name))
            .try_for_each(|path| check_regular(&path).map_err(|source| GitError::Io { action: "read", path, source }))
    };
    check(git_dir, &["HEAD", "commondir", "config.worktree", "index"])?;
    check(&common_dir(git_dir), &["config", "packed-refs", "shallow", "info/grafts"])
}

/// The git folder that the worktrees share.
fn common_dir(git_dir: &Path) -> PathBuf {
    git_dir.join(path_of(text_at(&git_dir.join("commondir")).trim_ascii_end()))
}

/// The number of a line that ends with `\` before an empty line or a comment, with which its value ends for git, if more follows.
fn continued_line(text: &[u8]) -> Option<usize> {
    let lines: Vec<&[u8]> =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
    let is_comment = |line: &[u8]| matches!(line.trim_ascii_start().first(), Some(b'#' | b';'));
    let is_passed = |line: &[u8]| line.trim_ascii().is_empty() || is_comment(line);
    let is_continued = |line: &[u8]| line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    let is_odd = |at: &usize| {
        let (line, next) = (lines[*at], &lines[at + 1..]);
        !is_comment(line) && is_continued(line) && is_passed(next[0]) && !next.iter().all(|line| is_passed(line))
    };
    (0..lines.len().saturating_sub(1)).find(is_odd).map(|at| at + 1)
}

/// The content of a file; empty if it cannot be read, or is a device, which may have no end.
fn text_at(path: &Path) -> Vec<u8> {
    if path.is_file() { bounded::read_file(path).unwrap_or_default() } else { Vec::new() }
}

/// The git folder that git finds if it is not `git_dir`, which libgit2 found. Git also decides about `safe.bareRepository`. It is asked
/// unless `git_dir` is the first `.git` on the way up, or what that file names.
fn found_instead(git_dir: &Path) -> Result<Option<PathBuf>, GitError> {
    let found = git_dir.canonicalize().ok();
    // For git, one without a folder of objects is none.
    let has_objects = std::env::var_os("GIT_OBJECT_DIRECTORY").is_none_or(|objects| Path::new(&objects).is_dir());
    if has_objects && found.as_ref().is_some_and(|found| is_first(found, Path::new("."))) {
        return Ok(None);
    }
    let other = ask(None)?;
    Ok((other.canonicalize().ok() != found).then_some(other))
}

/// Whether git certainly finds `git_dir` from `folder`. A committed folder can look like a bare repository, and git before 2.44 refuses one named
/// `.git`, too, if `safe.bareRepository` is `explicit`.
fn is_first(git_dir: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    for folder in folder.ancestors() {
        let dot_git = folder.join(".git");
        if dot_git.symlink_metadata().is_ok() {
            return named_by(&dot_git).as_deref() == Some(git_dir) && has_plain_head(git_dir);
        }
        if is_git_directory(folder) {
            return false;
        }
    }
    false
}

/// The git folder at `.git`, or the one of a linked worktree or of a submodule that this file names.
pub(super) fn named_by(dot_git: &Path) -> Option<PathBuf> {
    if !dot_git.is_file() {
        return dot_git.canonicalize().ok();
    }
    let text = bounded::read_file(dot_git).ok()?;
    let path = path_of(text.strip_prefix(b"gitdir: ")?.trim_ascii_end());
    dot_git.with_file_name(path).canonicalize().ok()
}

/// Whether git finds a git directory from a folder, also without variables and settings.
pub(super) fn leads_to(folder: &Path, git_dir: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let found = folder.ancestors().find(|above| has_git(above)).and_then(|root| named_by(&root.join(".git")));
    found.is_some() && found == git_dir.canonicalize().ok()
}

/// Whether git certainly accepts `HEAD` in a git folder. libgit2 accepts any file.
fn has_plain_head(git_dir: &Path) -> bool {
    let path = git_dir.join("HEAD");
    if let Ok(target) = fs::read_link(&path) {
        return target.to_str().is_some_and(|target| target.starts_with("refs/"));
    }
    let text = text_at(&path);
    match text.strip_prefix(b"ref:") {
        Some(target) => target.trim_ascii_start().starts_with(b"refs/"),
        None => text.get(..40).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
    }
}

/// The git folder that git finds at `place`, or as the environment says.
pub(super) fn ask(place: Option<&Path>) -> Result<PathBuf, GitError> {
    let mut command = git("rev-parse");
    if let Some(place) = place {
        command.current_dir(place).env_remove("GIT_DIR").env_remove("GIT_WORK_TREE");
    }
    let answer = Answer::of(command.args(["rev-parse", "--absolute-git-dir"]))?;
    if answer.stderr.contains("dubious ownership") {
        return Err(GitError::UnsafeOwner);
    }
    if let Some((_, rest)) = answer.stderr.split_once("cannot use bare repository '")
        && let Some((path, _)) = rest.rsplit_once("' (safe.bareRepository is")
    {
        return Err(GitError::BareRepository { path: path.into() });
    }
    answer.into_path()
}

/// Opens a repository that git trusts.
#[allow(unsafe_code, reason = "libgit2 has one switch for the whole process")]
fn open_unchecked(place: Option<&Path>) -> Result<Repository, git2::Error> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: this writes a static variable of libgit2, which is read when a repository is opened. The lock keeps others from
    // writing it. Threads that open a repository meanwhile open the same one, to read its objects.
    let _ = unsafe { git2::opts::set_verify_owner_validation(false) };
    let opened = Repo::open_place(place);
    // SAFETY: as above.
    let _ = unsafe { git2::opts::set_verify_owner_validation(true) };
    opened
}

/// Makes libgit2 open repositories with reftable, whose refs it cannot read, and partial clones, and read the settings of the repository
/// only, which are those that git opens it by.
#[allow(unsafe_code, reason = "libgit2 has one list of extensions and of search paths for the whole process")]
fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: these write static variables of libgit2, which are read when a repository is opened. Nothing else in this crate
        // writes them, `Once` lets only one thread do so, and every repository is opened after this call. If it fails, such
        // repositories are refused.
        let _ = unsafe { git2::opts::set_extensions(&["refstorage", "partialclone", "noop-v1"]) };
        for level in [ConfigLevel::ProgramData, ConfigLevel::System, ConfigLevel::XDG, ConfigLevel::Global] {
            // SAFETY: as above.
            let _ = unsafe { git2::opts::set_search_path(level, "") };
        }
    });
}
