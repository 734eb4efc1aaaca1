//! The objects that anything but our refs leads to: branches, tags, stashes, reflogs, and indexes. They belong to the code.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};

use crate::base::bounded;
use crate::base::process::Process;
use crate::git::call::Git;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::open::Repo;
use crate::git::process::{Answer, git, path_of, text_of};
use crate::git::refs::files_below;
use crate::git::trust;

/// `HEAD`, and the names that git gives to commits during a merge, a rebase, or a similar operation. Often no ref leads to these.
pub(super) const PSEUDO_REFS: [&str; 8] = [
    "HEAD",
    "ORIG_HEAD",
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "AUTO_MERGE",
    "NOTES_MERGE_PARTIAL",
];

/// Those with a line for each of several commits.
pub(super) const LISTS: [&str; 2] = ["FETCH_HEAD", "MERGE_HEAD"];

/// How `FETCH_HEAD` names our refs, whose commits are not the code's. Git does not keep them either.
const OURS: [&str; 2] = ["'refs/trace", "'refs/crumb"];

/// Where git keeps the state of a rebase or a series of picks, in files with oids, also short ones: the stashed changes, and the commits
/// to come.
pub(super) const STATE_FOLDERS: [&str; 3] = ["rebase-apply", "rebase-merge", "sequencer"];

/// Refs and commits that are not the code's.
pub(crate) trait Ours {
    /// Whether a ref is ours.
    fn has_ref(&self, refname: &str) -> bool;

    /// Whether a commit is ours that some reflog names.
    fn has_commit(&self, oid: Oid) -> bool;
}

impl Repo {
    /// Those of `wanted` that a ref other than `ours`, its reflog, a `HEAD`, an index, or an unfinished rebase leads to, in any
    /// worktree, with a path of each; commits have an empty one.
    pub(crate) fn held_by_code(
        &self,
        ours: Option<&dyn Ours>,
        wanted: &HashSet<Oid>,
    ) -> Result<HashMap<Oid, String>, GitError> {
        let mut held = HashMap::new();
        if wanted.is_empty() {
            return Ok(held);
        }
        self.walk_code(ours, &["--objects", "--indexed-objects"], |oid, path| {
            if wanted.contains(&oid) {
                held.insert(oid, path.to_owned());
            }
        })?;
        Ok(held)
    }

    /// Those of `wanted` that anything leads to, as for git: without them, the repository is damaged.
    pub(crate) fn needed(&self, wanted: &HashSet<Oid>) -> Result<HashMap<Oid, String>, GitError> {
        self.held_by_code(None, wanted)
    }

    /// Commits that [`Self::reflogs`] may lack: with reftable, the older side of a line after one that `git gc` removed, and the reflog of a
    /// ref that leads nowhere. These are the commits that any line names; with files, none.
    pub(crate) fn hidden_in_reflogs(&self) -> Result<HashSet<Oid>, GitError> {
        self.list_reflogs(&[])
    }

    fn list_reflogs(&self, options: &[&str]) -> Result<HashSet<Oid>, GitError> {
        if self.has_refs_as_files() {
            return Ok(HashSet::new());
        }
        // Without `--stdin`, git wants a revision if there is no reflog.
        let usual = ["--reflog", "--no-walk", "--ignore-missing", "--stdin"];
        let listed = text_of(self.git("rev-list").args(usual).args(options).input(String::new()))?;
        let oids = listed.lines().filter_map(|line| line.split(' ').next());
        Ok(oids.filter_map(|oid| Oid::parse(oid, self.object_format())).collect())
    }

    /// An object that is missing, although `roots` lead to it.
    pub(crate) fn find_missing(&self, roots: &[Oid]) -> Result<Option<Oid>, GitError> {
        let roots: String = roots.iter().flat_map(|root| [root.to_string(), "\n".to_owned()]).collect();
        let options = ["--objects", "--no-object-names", "--ignore-missing", "--missing=print", "--stdin"];
        let listed = text_of(self.git("rev-list").args(options).env("GIT_NO_LAZY_FETCH", "1").input(roots))?;
        Ok(listed.lines().find_map(|line| Oid::parse(line.strip_prefix('?')?, self.object_format())))
    }

    /// All commits that [`Self::held_by_code`] would find. Reads no trees.
    pub(crate) fn commits_held_by_code(&self, ours: Option<&dyn Ours>) -> Result<HashSet<Oid>, GitError> {
        let mut commits = HashSet::new();
        self.walk_code(ours, &[], |oid, _| {
            commits.insert(oid);
        })?;
        Ok(commits)
    }

    /// Whether a commit leads to one of `wanted`.
    pub(crate) fn leads_to(&self, commit: Oid, wanted: &HashSet<Oid>) -> Result<bool, GitError> {
        let mut is_found = false;
        self.walk(&HashSet::from([commit]), &["--objects"], |oid, _| is_found |= wanted.contains(&oid))?;
        Ok(is_found)
    }

    fn walk_code(
        &self,
        ours: Option<&dyn Ours>,
        options: &[&str],
        visit: impl FnMut(Oid, &str),
    ) -> Result<(), GitError> {
        self.walk(&self.roots_of_code(ours)?, options, visit)
    }

    /// Passes everything that `roots` lead to to `visit`, with its path.
    fn walk(&self, roots: &HashSet<Oid>, options: &[&str], mut visit: impl FnMut(Oid, &str)) -> Result<(), GitError> {
        let write = |mut stdin: std::process::ChildStdin| {
            let _ = roots.iter().try_for_each(|root| writeln!(stdin, "{root}"));
        };
        let failed = |source| GitError::Spawn { command: "rev-list".to_owned(), source };
        let mut command = self.git("rev-list");
        command.args(options).args(["--ignore-missing", "--missing=allow-any", "--stdin"]);
        // In a hook of `git commit FILE`, git has another index than later.
        let done = command.env("GIT_NO_LAZY_FETCH", "1").env_remove("GIT_INDEX_FILE").stream_all(write, |answers| {
            for line in answers.split(b'\n') {
                let line = String::from_utf8_lossy(&line.map_err(failed)?).into_owned();
                let (oid, path) = line.split_once(' ').unwrap_or((&line, ""));
                visit(self.parse_oid(oid)?, path);
            }
            Ok::<_, GitError>(())
        });
        done.map_err(GitError::from)?
    }

    /// Git in a worktree of this repository.
    pub(super) fn git_in(&self, git_dir: &Path, subcommand: &str) -> Process {
        self.git_in_with(&[], git_dir, subcommand)
    }

    pub(super) fn git_in_with(&self, settings: &[&str], git_dir: &Path, subcommand: &str) -> Process {
        let mut command = self.git_with(settings, subcommand);
        self.in_worktree(&mut command, git_dir);
        command
    }

    /// Runs git in a worktree that may belong to a colleague: it fetches nothing, which would run a program of his.
    fn in_worktree<'p>(&self, command: &'p mut Process, git_dir: &Path) -> &'p mut Process {
        // That of the settings may be gone.
        if let Some(root) = self.worktree().filter(|root| root.exists()) {
            command.env("GIT_WORK_TREE", root);
        }
        command.env("GIT_DIR", git_dir).env("GIT_NO_LAZY_FETCH", "1")
    }

    fn roots_of_code(&self, ours: Option<&dyn Ours>) -> Result<HashSet<Oid>, GitError> {
        let is_ours = |refname: &str| ours.is_some_and(|ours| ours.has_ref(refname));
        let mut roots = HashSet::new();
        for git_dir in self.worktree_git_dirs()? {
            // A worktree has its own `refs/worktree`, `refs/bisect`, and `refs/rewritten`.
            let mut command = self.git_in(&git_dir, "for-each-ref");
            let listed = text_of(command.arg("--format=%(objectname) %(refname)"))?;
            for (oid, refname) in listed.lines().filter_map(|line| line.split_once(' ')) {
                if !is_ours(refname) {
                    roots.insert(self.parse_oid(oid)?);
                }
            }
            roots.extend(self.named_by(&git_dir, PSEUDO_REFS.into_iter())?);
            let files = files_below(STATE_FOLDERS.map(|folder| git_dir.join(folder)).into());
            let lists = LISTS.map(|name| git_dir.join(name)).into_iter().filter(|path| path.is_file());
            for path in files.into_iter().chain(lists) {
                let text = fs::read(&path).map_err(|source| GitError::io("read", &path, source))?;
                let text = String::from_utf8_lossy(&text);
                let lines = text.lines().filter(|line| !OURS.iter().any(|ours| line.contains(ours)));
                let is_oid = |word: &&str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
                roots.extend(self.named_by(&git_dir, lines.flat_map(str::split_whitespace).filter(is_oid))?);
            }
            let logs = self.reflogs(&git_dir, &|refname| !is_ours(refname))?;
            roots.extend(logs.into_iter().flat_map(|log| log.oids));
        }
        let commits = self.hidden_in_reflogs()?;
        // Git shows no line of a reftable that names a tag, a tree, or a file. None of ours does.
        for oid in self.list_reflogs(&["--objects", "--filter=tree:0"])? {
            let is_our_commit = || commits.contains(&oid) && ours.is_some_and(|ours| ours.has_commit(oid));
            if !roots.contains(&oid) && !is_our_commit() {
                roots.insert(oid);
            }
        }
        Ok(roots)
    }

    /// The objects that words name in a worktree: refs, oids, or the beginnings of oids. Those that are missing are left out.
    fn named_by<'w>(&self, git_dir: &Path, words: impl Iterator<Item = &'w str>) -> Result<Vec<Oid>, GitError> {
        let input: String = words.flat_map(|word| [word, "\n"]).collect();
        if input.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.git_in(git_dir, "cat-file");
        let command = command.args(["--batch-check=%(objectname)", "--buffer"]).env("GIT_NO_LAZY_FETCH", "1");
        let printed = text_of(command.input(input))?;
        Ok(printed.lines().filter_map(|line| Oid::parse(line, self.object_format())).collect())
    }

    /// The reflogs of a worktree that `is_wanted` accepts by the name of the ref; those of deleted refs too.
    pub(crate) fn reflogs(&self, git_dir: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Reflog>, GitError> {
        let mut reflogs = Vec::new();
        if self.has_refs_as_files() {
            let logs = git_dir.join("logs");
            for path in files_below(vec![logs.clone()]) {
                let refname = path.strip_prefix(&logs).ok().and_then(Path::to_str).unwrap_or_default().to_owned();
                if is_wanted(&refname) {
                    let text = fs::read(&path).map_err(|source| GitError::io("read the reflog", &path, source))?;
                    let words =
                        |line: &[u8]| String::from_utf8_lossy(line).split(' ').take(2).map(str::to_owned).collect();
                    let words: Vec<Vec<String>> = text.split(|byte| *byte == b'\n').map(words).collect();
                    let oids = words.iter().flatten().filter_map(|word| Oid::parse(word, self.object_format()));
                    reflogs.push(Reflog { refname, oids: oids.collect(), text });
                }
            }
            return Ok(reflogs);
        }
        let listed = text_of(self.git_in(git_dir, "reflog").arg("list"))?;
        for refname in listed.lines().filter(|refname| is_wanted(refname)) {
            let mut command = self.show_reflog("--format=%H %gs", refname);
            let text = match Answer::of(self.in_worktree(&mut command, git_dir))?.into_stdout() {
                // Its ref leads nowhere, as a branch without a commit. `hidden_in_reflogs` has its commits.
                Err(GitError::Command { stderr, .. }) if stderr.contains("bad revision") => continue,
                text => text?,
            };
            let lines = String::from_utf8_lossy(&text);
            let words = lines.lines().filter_map(|line| line.split(' ').next());
            let mut oids: Vec<Oid> = words.filter_map(|oid| Oid::parse(oid, self.object_format())).collect();
            // Git prints only the newer side of a line. In a log of N lines, `@{N}` is where the oldest one begins, if anywhere.
            let oldest = format!("{refname}@{{{}}}", oids.len());
            let options = ["--quiet", "--verify", &oldest];
            let begins = text_of(self.git_in(git_dir, "rev-parse").args(options));
            oids.extend(begins.ok().and_then(|oid| Oid::parse(oid.trim_end(), self.object_format())));
            reflogs.push(Reflog { refname: refname.to_owned(), oids, text });
        }
        Ok(reflogs)
    }

    /// The work trees, each with the files in its index and those that git would add. Linked ones that are not where git expects them
    /// are added to `absent`.
    pub(crate) fn worktree_files(&self, absent: &mut Vec<PathBuf>) -> Result<Vec<(PathBuf, Vec<PathBuf>)>, GitError> {
        let mut found = Vec::new();
        let list = |options: &[&str]| Answer::of(self.git("worktree").args(["list", "--porcelain"]).args(options));
        let listed = match list(&["-z"])? {
            // Git before 2.36.
            answer if answer.stderr.contains("unknown switch") => {
                list(&[])?.into_stdout()?.into_iter().map(|byte| if byte == b'\n' { 0 } else { byte }).collect()
            }
            answer => answer.into_stdout()?,
        };
        let mut roots: Vec<PathBuf> = Vec::new();
        for line in listed.split(|byte| *byte == 0) {
            if let Some(root) = line.strip_prefix(b"worktree ") {
                roots.push(path_of(root));
            } else if line == b"bare" {
                roots.pop();
            }
        }
        let git_dirs = self.worktree_git_dirs()?;
        let known: Vec<PathBuf> = git_dirs.iter().filter_map(|git_dir| git_dir.canonicalize().ok()).collect();
        let is_there = |root: &PathBuf| trust::named_by(&root.join(".git")).is_some_and(|found| known.contains(&found));
        let (mut roots, missing): (Vec<PathBuf>, Vec<PathBuf>) = roots.into_iter().partition(is_there);
        // The main one is the first. For one that is elsewhere, git lists its git folder.
        let main = listed.strip_prefix(b"worktree ").and_then(|rest| rest.split(|byte| *byte == 0).next()).map(path_of);
        let is_same = |one: &Path, other: &Path| one.canonicalize().ok() == other.canonicalize().ok();
        // `core.worktree` and `GIT_WORK_TREE` may name a folder that git does not list.
        let elsewhere = self.worktree().filter(|own| !roots.iter().any(|root| is_same(root, own)));
        if let Some(own) = &elsewhere {
            roots.retain(|root| !is_same(&root.join(".git"), self.git_dir()));
            roots.push(own.clone());
        }
        // It may be this one, which was moved.
        let moved = bounded::read_file(&self.git_dir().join("gitdir")).ok().filter(|_| elsewhere.is_some());
        let moved = moved.map(|text| self.git_dir().join(path_of(text.trim_ascii_end())));
        let own = if self.git_dir() == self.common_dir() {
            main
        } else {
            moved.and_then(|dot_git| Some(dot_git.parent()?.to_owned()))
        };
        absent.extend(missing.into_iter().filter(|root| Some(root) != own.as_ref()));
        for root in roots {
            const LIST: [&str; 5] = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
            let listed = if elsewhere.as_ref() == Some(&root) {
                let mut command = git("ls-files");
                command.current_dir(&root).env("GIT_DIR", self.git_dir()).env("GIT_WORK_TREE", &root);
                Answer::of(command.env_remove("GIT_INDEX_FILE").args(LIST))?.into_stdout()?
            } else {
                // It may belong to a colleague.
                Git::elsewhere(&root).run(&LIST)?
            };
            let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            found.push((root, names.map(path_of).collect()));
        }
        Ok(found)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reflog {
    pub(crate) refname: String,
    pub(crate) oids: Vec<Oid>,
    /// Its lines, in the form in which they are stored or printed.
    pub(crate) text: Vec<u8>,
}
