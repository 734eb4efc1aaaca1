//! Git itself, run in a folder as its user would run it: for what needs no open repository, or what libgit2 cannot read.
//!
//! Nothing here asks libgit2, so sparse indexes and repositories of later versions work.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, Read, Write as _};
use std::path::{Component, Path, PathBuf, absolute};
use std::sync::LazyLock;

use super::error::GitError;
use super::open::Repo;
use super::process::{Answer, git, path_of, text_of};
use super::trust;
use crate::base::process::Process;
use crate::base::replace::canonical_path;
use crate::base::worktree_path::has_git;

/// The git directory that git finds from the current folder.
static FOUND: LazyLock<Option<PathBuf>> = LazyLock::new(|| trust::ask(None).ok());

/// The root of the work tree that git finds from the current folder.
static FOUND_ROOT: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    Answer::of(git("rev-parse").args(["rev-parse", "--show-toplevel"])).and_then(Answer::into_path).ok()
});

/// Whether a folder is in that work tree, and git would not find it from there, because settings name it.
fn is_in_found(folder: &Path) -> bool {
    let (Ok(folder), Some(root), Some(git_dir)) = (folder.canonicalize(), &*FOUND_ROOT, &*FOUND) else { return false };
    let is_nested = || folder.ancestors().take_while(|above| above != root).any(has_git);
    folder.starts_with(root) && !is_nested() && !trust::leads_to(&folder, git_dir)
}

/// Git in a folder. It inherits the environment of this process, so `GIT_DIR` and `GIT_INDEX_FILE` apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Git {
    folder: PathBuf,
    /// Whether it ignores what the environment says about the location of the repository.
    is_elsewhere: bool,
    /// Whether it reads a repository of another user, too.
    is_of_any_owner: bool,
}

impl Git {
    pub(crate) fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), is_elsewhere: false, is_of_any_owner: false }
    }

    /// Git in a folder that may be in another repository or work tree than that of this process, also in one of another user: it runs
    /// nothing there.
    pub(crate) fn elsewhere(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), is_elsewhere: true, is_of_any_owner: true }
    }

    /// Git in the work tree that a path is in: its index and its lists of ignored files decide.
    pub(crate) fn at(&self, path: &Path) -> Self {
        let full = self.folder.join(path);
        let innermost = full.ancestors().find(|above| above.is_dir()).and_then(place);
        // Variables may name a root without a `.git`.
        let root = self.toplevel().ok().and_then(|root| root.canonicalize().ok());
        match (innermost, root) {
            (Some(innermost), Some(root)) if innermost != root && innermost.starts_with(&root) => {
                Self::elsewhere(innermost)
            }
            _ => self.clone(),
        }
    }

    /// The innermost work tree around a file that tracks it: one may list files below another one in its index. As git, asks repositories of
    /// other users only if `is_of_any_owner`.
    pub(crate) fn that_tracks(path: &Path, is_of_any_owner: bool) -> Option<PathBuf> {
        let git_in = |folder: &Path| Self { is_of_any_owner, ..Self::elsewhere(folder) };
        // Where git would wait for a file, it tracks nothing.
        let is_it = |folder: &&Path| has_git(folder) && check_readable(folder).is_ok() && git_in(folder).tracks(path);
        path.ancestors().skip(1).find(is_it).map(Path::to_path_buf)
    }

    /// Whether git tracks a file. If git cannot tell, it may.
    pub(crate) fn tracks(&self, path: &Path) -> bool {
        let is_tracked = |magic: &str| {
            let mut pathspec = OsString::from(format!(":({magic})"));
            pathspec.push(path);
            let args = ["ls-files", "--error-unmatch", "--"].map(OsStr::new);
            let mut command = self.command(&[&args[..], &[&pathspec]].concat());
            let answer = Answer::of(command.env_remove("GIT_LITERAL_PATHSPECS"));
            answer.map_or(true, |answer| answer.code != Some(1) && !has_no_index(&answer))
        };
        let ignores_case = || {
            let answer = self.ask(&["config", "--type=bool", "--get", "core.ignoreCase"]);
            answer.is_ok_and(|answer| answer.stdout.starts_with(b"true"))
        };
        is_tracked("icase,literal") && (is_tracked("literal") || ignores_case())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A `git` command that takes paths literally and no lock for refreshing the index.
    fn command(&self, args: &[impl AsRef<OsStr>]) -> Process {
        let mut command = git(&args.first().map(|arg| arg.as_ref().to_string_lossy()).unwrap_or_default());
        command.current_dir(&self.folder).env("GIT_OPTIONAL_LOCKS", "0").env("GIT_LITERAL_PATHSPECS", "1");
        // Git accepts none of these together with the last one.
        for other in ["GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"] {
            command.env_remove(other);
        }
        let is_set = |name| std::env::var_os(name).is_some_and(|set| !set.is_empty());
        if self.is_elsewhere {
            let settings: &[&str] = if self.is_of_any_owner { &["-c", "safe.directory=*"] } else { &[] };
            command.elsewhere().args(settings).args(["-c", "core.fsmonitor=false"]);
            command.env("GIT_NO_LAZY_FETCH", "1");
        } else if !is_set("GIT_DIR")
            && (is_set("GIT_WORK_TREE") || is_in_found(&self.folder))
            && let Some(git_dir) = &*FOUND
        {
            // Git searches from the folder in which it starts, also if a variable or a setting names another work tree.
            command.env("GIT_DIR", git_dir);
        }
        command.args(args);
        command
    }

    pub(crate) fn ask(&self, args: &[impl AsRef<OsStr>]) -> Result<Answer, GitError> {
        if self.is_of_any_owner
            && let Some(root) = place(&self.folder)
        {
            check_readable(&root)?;
        }
        Answer::of(&mut self.command(args))
    }

    pub(super) fn ask_with(&self, args: &[&str], input: impl Into<Vec<u8>>) -> Result<Answer, GitError> {
        Answer::of(self.command(args).input(input))
    }

    /// An exit status other than 0 is an error.
    pub(crate) fn run(&self, args: &[impl AsRef<OsStr>]) -> Result<Vec<u8>, GitError> {
        self.ask(args)?.into_stdout()
    }

    /// Runs git and returns what it printed as text, without the last line end.
    pub(crate) fn line(&self, args: &[impl AsRef<OsStr>]) -> Result<String, GitError> {
        let text = text_of(&mut self.command(args))?;
        Ok(text.strip_suffix('\n').map_or(text.clone(), str::to_owned))
    }

    /// Runs git and returns the path that it printed.
    pub(crate) fn path(&self, args: &[&str]) -> Result<PathBuf, GitError> {
        Ok(self.folder.join(self.ask(args)?.into_path()?))
    }

    /// The path in a setting of the user or the system. `git config --global` reads one file, and none that it includes.
    pub(crate) fn path_of_user(&self, key: &str) -> Result<Option<PathBuf>, GitError> {
        self.last_path(&[], key, [b"system", b"global"])
    }

    /// The path in a setting of the git directory that is this folder, even if git would refuse to use it.
    pub(super) fn stored_path(&self, key: &str) -> Option<PathBuf> {
        self.last_path(&["--git-dir", "."], key, [b"local", b"worktree"]).ok()?
    }

    /// A setting of the git directory that is this folder, without those in the environment.
    pub(crate) fn setting(&self, key: &str) -> Option<String> {
        let mut command = self.command(&["--git-dir", ".", "config", "-z", "--get", key]);
        let answer = Answer::of(command.env_remove("GIT_CONFIG_COUNT").env_remove("GIT_CONFIG_PARAMETERS")).ok()?;
        String::from_utf8(answer.stdout).ok()?.strip_suffix('\0').map(str::to_owned)
    }

    fn last_path(&self, options: &[&str], key: &str, scopes: [&[u8]; 2]) -> Result<Option<PathBuf>, GitError> {
        let query = ["config", "-z", "--show-scope", "--type=path", "--get-all", key];
        let printed = self.ask(&[options, &query].concat())?.stdout;
        let values: Vec<&[u8]> = printed.split(|byte| *byte == 0).collect();
        Ok(values.chunks_exact(2).rfind(|pair| scopes.contains(&pair[0])).map(|pair| path_of(pair[1])))
    }

    /// The root of the working tree.
    pub(crate) fn toplevel(&self) -> Result<PathBuf, GitError> {
        self.path(&["rev-parse", "--show-toplevel"])
    }

    fn has_links(&self) -> Result<bool, GitError> {
        Ok(self.ask(&["config", "--type=bool", "core.symlinks"])?.stdout != b"false\n")
    }

    /// Fails if a sparse checkout leaves out the file at `path`, one below it, or one that links lead to: a new file would replace it in the
    /// next commit. Also fails if git checks a link out as a file, whose text would be the link's next target.
    pub(crate) fn check_checked_out(&self, path: &Path) -> Result<(), GitError> {
        self.check_listed(path)?;
        let full = absolute(self.folder.join(path)).unwrap_or_else(|_| path.to_owned());
        match canonical_path(&full) {
            Ok(real) if full.ancestors().any(Path::is_symlink) => self.check_listed(&real),
            _ => Ok(()),
        }
    }

    fn check_listed(&self, path: &Path) -> Result<(), GitError> {
        let full = self.folder.join(path);
        let missing = full.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err()).last();
        // A link that is left out may be in place of a folder, which has no entry itself.
        if let Some(missing) = missing {
            let here = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
            let real = canonical_path(&here.join(path)).unwrap_or_else(|_| full.clone());
            self.check_entries(missing, |name| real.starts_with(without_parents(&here.join(name))))?;
        }
        let is_outside = self.check_entries(path, |_| true)?;
        let folder = full.ancestors().find(|above| above.is_dir()).filter(|folder| *folder != self.folder);
        match folder.filter(|folder| is_outside || place(folder) != place(&self.folder)) {
            // Another work tree has its own index.
            Some(folder) => Self::elsewhere(folder).check_listed(&absolute(&full).unwrap_or_else(|_| full.clone())),
            None => Ok(()),
        }
    }

    /// Checks the entries of the index at a path or below it whose names are `wanted`. Returns whether the path is outside of the work tree.
    fn check_entries(&self, path: &Path, wanted: impl Fn(&Path) -> bool) -> Result<bool, GitError> {
        let args = [OsStr::new("ls-files"), OsStr::new("-ts"), OsStr::new("-z"), OsStr::new("--"), path.as_os_str()];
        let answer = self.ask(&args)?;
        let is = |causes: &[&str]| causes.iter().any(|cause| answer.stderr.contains(cause));
        // A path outside is invalid if its folder is missing.
        let is_outside = is(&["is outside repository", "Invalid path"]);
        // There, git cannot leave it out.
        let cannot = is_outside || has_no_index(&answer);
        if !answer.is_success() && !cannot {
            return Err(answer.into_error());
        }
        for entry in answer.stdout.split(|byte| *byte == 0) {
            // `H 100644 <oid> 0\t<path>`
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let (head, name) = (&entry[..tab], path_of(&entry[tab + 1..]));
            if !wanted(&name) {
                continue;
            }
            let there = self.folder.join(&name).symlink_metadata();
            let path = || name.to_string_lossy().into_owned();
            if head.starts_with(b"S ") && there.is_err() {
                return Err(GitError::NotCheckedOut { path: path() });
            }
            if head.get(2..).is_some_and(|mode| mode.starts_with(b"120000"))
                && there.is_ok_and(|there| there.is_file())
                && !self.has_links()?
            {
                return Err(GitError::LinkAsFile { path: path() });
            }
        }
        Ok(is_outside)
    }

    /// Whether git ignores a path. A path that is in the index is not ignored.
    pub(crate) fn is_ignored(&self, path: &Path) -> Result<bool, GitError> {
        let args = [OsStr::new("check-ignore"), OsStr::new("-q"), OsStr::new("--"), path.as_os_str()];
        let mut command = self.command(&args);
        // `git check-ignore` refuses to run with this set.
        command.env_remove("GIT_LITERAL_PATHSPECS");
        let answer = Answer::of(&mut command)?;
        match answer.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.into_error()),
        }
    }

    /// The filter that git stores the file at each path through, such as `lfs`: its blobs are not what the user sees. Without a program
    /// for a filter, git stores the file itself. `from` is the option of `git check-attr` for the attributes of the index or of a tree;
    /// without it, or with a git that does not know it, they are those of the work tree.
    pub(crate) fn filters(&self, paths: &[&[u8]], from: Option<&str>) -> Result<Vec<Option<String>>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let root = Self::in_folder(self.toplevel().unwrap_or_else(|_| self.folder.clone()));
        let input: Vec<u8> = paths.iter().flat_map(|path| [*path, b"\0"].concat()).collect();
        let list = |from: Option<&str>| {
            let args: Vec<&str> = ["check-attr"].into_iter().chain(from).chain(["-z", "--stdin", "filter"]).collect();
            root.ask_with(&args, input.clone())
        };
        let listed = Some(list(from)?).filter(|answer| from.is_none() || answer.is_success());
        let listed = listed.map_or_else(|| list(None), Ok)?.into_stdout()?;
        // `<key>\n<value>\0`; the last value counts.
        let set = root.ask(&["config", "-z", "--get-regexp", r"^filter\..*\.(clean|process)$"])?.stdout;
        let set = String::from_utf8_lossy(&set);
        let set: HashMap<&str, &str> = set.split('\0').filter_map(|entry| entry.split_once('\n')).collect();
        let has =
            |name: &str, key| set.get(&*format!("filter.{name}.{key}")).is_some_and(|program| !program.is_empty());
        let is_filter = |name: &String| has(name, "clean") || has(name, "process");
        // `<path>\0filter\0<value>\0`
        let values = listed.split(|byte| *byte == 0).skip(2).step_by(3).map(String::from_utf8_lossy);
        Ok(values.map(|value| Some(value.into_owned()).filter(is_filter)).collect())
    }

    /// Passes each blob, named as git names objects (`<commit>:<path>`), to `take` in order; `None` if it is missing.
    pub(crate) fn blobs<E: From<GitError>>(
        &self,
        names: &[String],
        mut take: impl FnMut(usize, Option<Vec<u8>>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.blob_readers(names, |index, blob| {
            let bytes = blob.map(|blob| {
                let mut bytes = Vec::new();
                blob.read_to_end(&mut bytes).map(|_| bytes)
            });
            let failed = |source| GitError::Spawn { command: "cat-file".to_owned(), source };
            take(index, bytes.transpose().map_err(failed)?)
        })
    }

    /// The same with a reader for each blob, which need not be read to its end.
    pub(crate) fn blob_readers<E: From<GitError>>(
        &self,
        names: &[String],
        mut take: impl FnMut(usize, Option<&mut dyn Read>) -> Result<(), E>,
    ) -> Result<(), E> {
        if names.is_empty() {
            return Ok(());
        }
        let mut command = self.command(&["cat-file", "--batch"]);
        let failed = |source| GitError::Spawn { command: "cat-file".to_owned(), source };
        let write = |mut stdin: std::process::ChildStdin| {
            let _ = names.iter().try_for_each(|name| writeln!(stdin, "{name}"));
        };
        let done = command.stream(write, |mut answers| {
            for (index, name) in names.iter().enumerate() {
                let head = read_head(&mut answers, name).map_err(failed)?;
                let Some((kind, len)) = head else {
                    take(index, None)?;
                    continue;
                };
                let mut bytes = answers.by_ref().take(len);
                take(index, (kind == "blob").then_some(&mut bytes))?;
                io::copy(&mut bytes, &mut io::sink()).map_err(failed)?;
                if answers.read_until(b'\n', &mut Vec::new()).map_err(failed)? == 0 {
                    return Err(failed(ended(name)).into());
                }
            }
            Ok(())
        });
        done.map_err(GitError::from)?
    }
}

/// The kind and the length of an object; `None` if it is missing.
fn read_head(answers: &mut impl BufRead, name: &str) -> io::Result<Option<(&'static str, u64)>> {
    let mut head = Vec::new();
    if answers.read_until(b'\n', &mut head)? == 0 {
        return Err(ended(name));
    }
    // `<oid> <type> <length>`, or `<name> missing`, or `<name> ambiguous`.
    let text = String::from_utf8_lossy(&head);
    let mut words = text.trim_end().rsplitn(3, ' ');
    let (len, kind) = (words.next().and_then(|len| len.parse::<u64>().ok()), words.next());
    let kind = ["blob", "tree", "commit", "tag"].into_iter().find(|known| kind == Some(known));
    Ok(kind.zip(len))
}

fn ended(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("it ended before the end of `{name}`"))
}

pub(crate) fn worktree_root(folder: &Path, opened: Result<impl Borrow<Repo>, GitError>) -> Result<PathBuf, GitError> {
    match opened {
        Ok(repo) => repo.borrow().worktree().ok_or(GitError::NoWorktree),
        // Refs and extensions do not matter here, so git may know better.
        Err(GitError::UnknownExtension { .. }) => Git::in_folder(folder).toplevel(),
        Err(error) => Err(error),
    }
}

/// Opens a file in the browser that the setting `key`, `web.browser`, or git names. A browser in the terminal is waited for.
pub(crate) fn browse(file: &Path, key: &str) -> Result<(), GitError> {
    let command = "web--browse";
    if Process::named("git", command).args([command, &format!("--config={key}")]).arg(file).interact()?.success() {
        return Ok(());
    }
    Err(GitError::Command { command: command.to_owned(), stderr: "no browser could be started".to_owned() })
}

/// Lets the user merge three files with the tool `tool`, or with the one that `merge.tool` names, by the functions that git documents for
/// this. `path` tells the path of BASE, LOCAL, REMOTE, and MERGED, to which the tool writes. Returns whether it did so.
pub(crate) fn merge_tool(
    repo: &Repo,
    tool: &str,
    has_base: bool,
    path: impl Fn(&str) -> PathBuf,
) -> Result<bool, GitError> {
    const SCRIPT: &str = r#"TOOL_MODE=merge
. "$(git --exec-path)/git-mergetool--lib" || exit
chosen=${1:-$(get_merge_tool)}
test -n "$chosen" || exit
initialize_merge_tool "$chosen" || { echo "error: unknown merge tool $chosen" >&2; exit 1; }
run_merge_tool "$chosen" "$2""#;
    let mut shell = Process::named("sh", "git mergetool");
    repo.place_of_programs().apply(&mut shell);
    shell.args(["-c", SCRIPT, "git-trace", tool, if has_base { "true" } else { "false" }]).stdout_to_stderr();
    shell.env("GIT_DIR", repo.git_dir());
    for name in ["BASE", "LOCAL", "REMOTE", "MERGED", "BACKUP"] {
        shell.env(name, path(name));
    }
    Ok(shell.interact()?.success())
}

/// Whether there is no work tree, or not that of the path, so that no index can list it.
fn has_no_index(answer: &Answer) -> bool {
    let causes = [
        "not a git repository",
        "must be run in a work tree",
        "cannot use bare repository",
        "is outside repository",
        "dubious ownership",
    ];
    causes.iter().any(|cause| answer.stderr.contains(cause))
}

/// A path in which git names folders above by `..`, without links.
fn without_parents(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            found.pop();
        } else {
            found.push(part);
        }
    }
    found
}

/// The folder with the `.git` by which git finds the work tree of a folder.
fn place(folder: &Path) -> Option<PathBuf> {
    folder.canonicalize().ok()?.ancestors().find(|above| has_git(above)).map(Path::to_path_buf)
}

/// Fails if git would wait for a file of the git folder that is in, or named in, the folder of a work tree.
fn check_readable(root: &Path) -> Result<(), GitError> {
    trust::named_by(&root.join(".git")).map_or(Ok(()), |git_dir| trust::check_regular_files(&git_dir))
}
