//! Examines a setup: the settings that git sees, and a trial of the merge driver and the hooks.

use std::collections::HashSet;
use std::error::Error as _;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use regex::{Captures, Regex};
use serde::Serialize;

use super::InstallError;
use super::attributes::SAMPLES;
use super::config::RECURSIVE;
use super::hooks::{CALL, HOOKS, HookFolder, HookOwner, MANAGERS, is_left_alone, legacy, owner};
use crate::base::error::Diagnostic as _;
use crate::base::finding::Weight;
use crate::base::process::Process;
use crate::base::replace;
use crate::base::worktree_path::resolve;
use crate::git::{Git, GitError, ObjectFormat, Repo};
use crate::memory::breadcrumb::check::Rules;
use crate::memory::breadcrumb::{Namespaces, Store, StoreFile, check};
use crate::memory::checkpoint::{self, Folder};
use crate::memory::crumb;
use crate::memory::forward::{self, CrumbContent, ForwardError, NewCrumb, Priority};
use crate::tokens::Counter;
use crate::trace::model::name::FORWARD_CRUMBS;
use crate::trace::model::types::{BadRule, Types};
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::{AgentName, Time, TraceName};

#[derive(Serialize)]
pub(crate) struct Diagnosis {
    pub(crate) code: &'static str,
    pub(crate) health: Health,
    pub(crate) message: String,
    pub(crate) remedy: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Good,
    Warning,
    Error,
}

impl Diagnosis {
    pub(crate) fn good(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, health: Health::Good, message: message.into(), remedy: String::new() }
    }

    pub(crate) fn warning(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code, health: Health::Warning, message: message.into(), remedy: remedy.into() }
    }

    pub(crate) fn error(code: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { health: Health::Error, ..Self::warning(code, message, remedy) }
    }
}

/// Examines the setup that git sees in its folder; `root` is that of the working tree, if there is one. `is_used`: there
/// are traces or recorded sessions, which need no merge driver.
pub(crate) fn examine(git: &Git, root: Option<&Path>, now: Time, is_used: bool) -> Result<Vec<Diagnosis>, GitError> {
    let merges = !is_used || setting(git, "merge.trace.driver")?.is_some() || root.is_some_and(has_memory_files);
    let mut found = vec![version(git)?];
    if merges {
        let (driver, recursive) = (driver(git)?, recursive(git)?);
        // Without a driver, the default for it is no news.
        let is_news = driver.health == Health::Good || recursive.health != Health::Good;
        found.extend([driver].into_iter().chain(Some(recursive).filter(|_| is_news)).chain([attributes(git)?]));
    } else {
        let message = "not set up, which only memory files need; `git trace install` sets it up";
        found.push(Diagnosis::good("merge-driver", message));
    }
    if let Some(root) = root {
        if merges {
            found.push(hooks(git)?);
        }
        found.extend(shared(git, root)?);
        let store = Store::find(git.folder(), root);
        for file in StoreFile::ALL {
            found.extend(breadcrumbs(git, &store, file, now)?);
        }
        found.extend(crumb_files(root));
    }
    Ok(found)
}

/// Examines the checkpoints together; `None` if there is none, or if they cannot be read, which `checkpoint validate` reports.
pub(crate) fn examine_checkpoints(folder: &Folder, git: &Git) -> Option<Diagnosis> {
    const CODE: &str = "checkpoints";
    if !folder.top().is_dir() {
        return None;
    }
    let problems = checkpoint::doctor::examine(folder, git).ok()?;
    let Some(first) = problems.first() else {
        return Some(Diagnosis::good(CODE, "lists and breadcrumbs are in order"));
    };
    let message = format!("problems: {}; the first: {}: {}", problems.len(), first.path, first.message);
    Some(Diagnosis::warning(CODE, message, "run `git trace checkpoint doctor`"))
}

/// The paths of the index and of the working tree.
fn paths(root: &Path) -> String {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    String::from_utf8_lossy(&Git::in_folder(root).run(&args).unwrap_or_default()).into_owned()
}

fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|own| own == ending)
}

/// Whether the index or the working tree has a file that the merge driver is for.
fn has_memory_files(root: &Path) -> bool {
    paths(root).split('\0').any(|path| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_checkpoint = folder.split('/').any(|part| part == "checkpoints") || name.starts_with("chk-");
        let is_store = path.ends_with(".synapse/breadcrumbs.jsonl");
        is_store || has_ending(path, "crumb") || (is_checkpoint && has_ending(path, "md"))
    })
}

/// Examines the crumb files; `None` if there is none.
fn crumb_files(root: &Path) -> Option<Diagnosis> {
    const CODE: &str = "crumb-files";
    let paths = paths(root);
    // A file that cannot be read was deleted or leads elsewhere; `check` reports it.
    let files = paths.split('\0').filter(|path| has_ending(path, "crumb"));
    // Any number of links may lead to one file.
    let mut examined = HashSet::new();
    for path in files {
        let Some(file) = resolve(root, path).ok().filter(|file| examined.insert(file.clone())) else { continue };
        let Ok(text) = crumb::read(&file) else {
            examined.remove(&file);
            continue;
        };
        let errors = crumb::check(&text, Counter::default());
        if let Some(first) = errors.iter().find(|finding| finding.weight == Weight::Error) {
            let message = format!("`{path}` is not valid; line {}: {}", first.position.line, first.message);
            return Some(Diagnosis::error(CODE, message, &first.remedy));
        }
    }
    (!examined.is_empty()).then(|| Diagnosis::good(CODE, "crumb files are valid"))
}

fn version(git: &Git) -> Result<Diagnosis, GitError> {
    let version = git.line(&["--version"])?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u32>().ok());
    let is_old = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < (2, 31);
    Ok(if is_old {
        Diagnosis::warning("git-version", version, "use git 2.31 or newer")
    } else {
        Diagnosis::good("git-version", version)
    })
}

fn driver(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "merge-driver";
    let Some(command) = setting(git, "merge.trace.driver")? else {
        return Ok(Diagnosis::error(CODE, "git has no merge driver `trace`", "run `git trace install`"));
    };
    Ok(match try_driver(&command) {
        Ok(()) => Diagnosis::good(CODE, "a trial merge succeeds"),
        Err(problem) => {
            let message = format!("a trial merge with `{command}` fails: {problem}");
            let remedy =
                "add git-trace to PATH, or run `git config --unset merge.trace.driver`, then `git trace install`";
            Diagnosis::error(CODE, message, remedy)
        }
    })
}

/// Merges three small stores as git would call the driver. A merge by lines would conflict.
fn try_driver(command: &str) -> Result<(), String> {
    let line = |value: &str, second: u32| {
        format!(
            "{{\"key\":\"test.doctor\",\"value\":\"{value}\",\"created_at\":\"2025-01-01T00:00:00Z\",\
             \"updated_at\":\"2025-01-01T00:00:0{second}Z\"}}\n"
        )
    };
    let folder = tempfile::tempdir().map_err(text)?;
    for (name, text_of) in [("base", line("0", 0)), ("ours", line("1", 1)), ("theirs", line("2", 2))] {
        fs::write(folder.path().join(name), text_of).map_err(text)?;
    }
    let placeholder = Regex::new("%[OABLPSXY%]").map_err(text)?;
    let filled = placeholder.replace_all(command, |found: &Captures<'_>| match &found[0] {
        "%O" => "base",
        "%A" => "ours",
        "%B" => "theirs",
        "%L" => "7",
        "%P" => ".synapse/breadcrumbs.jsonl",
        "%%" => "%",
        _ => "side",
    });
    let output = Process::shell(&filled).current_dir(folder.path()).output().map_err(text)?;
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let merged = fs::read_to_string(folder.path().join("ours")).map_err(text)?;
    match output.status.code() {
        Some(0) if merged == line("2", 2) => Ok(()),
        Some(0) => Err("the result is wrong".to_owned()),
        Some(code) if stderr.is_empty() => Err(format!("exit status {code}")),
        Some(code) => Err(format!("exit status {code}: {stderr}")),
        None => Err("it was killed by a signal".to_owned()),
    }
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn recursive(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "merge-recursive";
    Ok(match setting(git, "merge.trace.recursive")?.as_deref() {
        None | Some(RECURSIVE) => Diagnosis::good(CODE, "merges with several bases use the driver"),
        Some(other) => {
            let message = format!("merges with several bases use `{other}` for the bases");
            Diagnosis::warning(CODE, message, "set `merge.trace.recursive` to `trace`, or a revert may be lost")
        }
    })
}

fn attributes(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "attributes";
    let answer = git.run(&[&["check-attr", "-z", "merge", "--"][..], &SAMPLES].concat())?;
    let answer = String::from_utf8_lossy(&answer);
    let fields: Vec<_> = answer.split_terminator('\0').collect();
    let others = fields.chunks_exact(3).filter(|chunk| chunk[2] != "trace");
    let others: Vec<_> = others.map(|chunk| format!("`{}` ({})", chunk[0], chunk[2])).collect();
    Ok(if others.is_empty() {
        Diagnosis::good(CODE, "breadcrumbs, crumb files, and checkpoints use the driver")
    } else {
        let message = format!("git does not use the driver for {}", others.join(", "));
        Diagnosis::error(CODE, message, "run `git trace install`, or remove the attributes that override it")
    })
}

fn hooks(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "hooks";
    let folder = match HookFolder::find(git) {
        Err(InstallError::Git(error)) => return Err(error),
        Err(error) => {
            let source = error.source().map(text).unwrap_or_default();
            let remedy = "remove the link, or change `core.hooksPath`";
            return Ok(Diagnosis::error(CODE, format!("{error}: {source}"), remedy));
        }
        Ok(folder) => folder,
    };
    let root = git.toplevel().unwrap_or_default();
    let calls_us = |path: &Path| {
        let text = replace::read(path).map(|seen| seen.text).unwrap_or_default();
        ["git-trace hook", "git trace hook"].iter().any(|call| memchr::memmem::find(&text, call.as_bytes()).is_some())
    };
    let is_ours = |file: &Path| resolve(&root, file).is_ok_and(|path| calls_us(&path));
    // A hook of a hook manager runs what its configuration names.
    let is_configured = || MANAGERS.iter().any(|file| is_ours(Path::new(file)));
    for (name, _) in HOOKS {
        let path = folder.path.join(name);
        if let Some(husky) = folder.husky.as_ref().map(|husky| husky.join(name)) {
            let (what, remedy) = match (is_ours(&husky), path.exists()) {
                (false, _) => ("does not call git-trace", "run `git trace install`, which adds a line to it"),
                (true, false) => ("is run by no hook of git", "run `npx husky`, which writes the hooks of git"),
                (true, true) => continue,
            };
            return Ok(Diagnosis::warning(CODE, format!("husky's hook `{}` {what}", husky.display()), remedy));
        }
        match owner(&path) {
            HookOwner::Ours => {
                if let Err(problem) = try_hook(&path, name) {
                    let message = format!("a trial run of the hook `{name}` fails: {problem}");
                    return Ok(Diagnosis::error(CODE, message, "run `git trace install` again"));
                }
            }
            HookOwner::Theirs if calls_us(&path) || owner(&legacy(&path)) == HookOwner::Ours || is_configured() => {}
            HookOwner::Theirs => {
                let message = format!("the hook `{}` does not call git-trace", path.display());
                let manager = MANAGERS.into_iter().find(|file| root.join(file).exists());
                let remedy = match (folder.remedy(), manager) {
                    (Some(remedy), _) => remedy,
                    (None, Some(file)) => {
                        format!("add `git-trace hook pre-commit` to `{file}`, for pre-commit and pre-merge-commit")
                    }
                    // `install` would leave it alone.
                    (None, None) if is_left_alone(&path) => format!("add the line `{CALL}` to it"),
                    (None, None) => "run `git trace install`, after which both run".to_owned(),
                };
                return Ok(Diagnosis::warning(CODE, message, remedy));
            }
            HookOwner::Nobody => {
                let message = format!("git has no hook `{name}`, so commits are not checked");
                let install = || "run `git trace install`, or `git trace check` in CI".to_owned();
                return Ok(Diagnosis::warning(CODE, message, folder.remedy().unwrap_or_else(install)));
            }
        }
    }
    Ok(Diagnosis::good(CODE, "invalid commits are refused"))
}

/// Runs a copy of the hook in a new repository in which something invalid is staged.
fn try_hook(path: &Path, name: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(text)?;
    let run = |program: &OsStr, args: &[&str]| {
        let mut command = Process::new(program);
        command.elsewhere().env_remove("GIT_ATTR_SOURCE");
        command.args(args).current_dir(folder.path()).output().map_err(text)
    };
    let store = folder.path().join(".synapse");
    fs::create_dir_all(&store).map_err(text)?;
    run("git".as_ref(), &["init", "--quiet", "--template="])?;
    fs::write(store.join("breadcrumbs.jsonl"), "trial\n").map_err(text)?;
    run("git".as_ref(), &["-c", "core.safecrlf=false", "add", "--force", "."])?;
    // Alone in its folder, it does not call the hook that was there before.
    let copy = folder.path().join(name);
    fs::copy(path, &copy).map_err(text)?;
    let output = run(copy.as_os_str(), &[])?;
    match output.status.code() {
        Some(1) if memchr::memmem::find(&output.stdout, b"breadcrumbs.jsonl:1:").is_some() => Ok(()),
        Some(code) => Err(format!("exit status {code}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        None => Err("it was killed by a signal".to_owned()),
    }
}

fn shared(git: &Git, root: &Path) -> Result<Option<Diagnosis>, GitError> {
    let path = root.join(".gitattributes");
    if !path.exists() {
        return Ok(None);
    }
    let tracked = git.ask(&["ls-files".as_ref(), "--error-unmatch".as_ref(), "--".as_ref(), path.as_os_str()])?;
    let message = "`.gitattributes` is not committed";
    let diagnosis = Diagnosis::warning("attributes-shared", message, "commit it, so that other clones have it");
    Ok((tracked.code != Some(0)).then_some(diagnosis))
}

fn breadcrumbs(git: &Git, store: &Store, file: StoreFile, now: Time) -> Result<Option<Diagnosis>, GitError> {
    let path = store.path(file);
    let text = store.real_path(file).and_then(|real| crate::base::bounded::read_file(&real));
    let text = match text {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let message = format!("cannot read `{file}`: {error}");
            return Ok(Some(Diagnosis::error("breadcrumbs", message, "restore the file from git or delete it")));
        }
    };
    if file == StoreFile::Secret && !git.is_ignored(&path)? {
        let remedy = "add it to `.gitignore`; if it was committed, replace the secrets";
        return Ok(Some(Diagnosis::error("secrets", format!("git does not ignore `{file}`"), remedy)));
    }
    let namespaces = store.namespaces().unwrap_or_else(|_| Namespaces::default());
    // Only what no commit may contain matters here.
    let earlier_keys = HashSet::new();
    let rules = Rules { file, namespaces: &namespaces, now, earlier_keys: &earlier_keys, stale_before: None };
    let findings = check(&text, &rules);
    let errors: Vec<_> = findings.iter().filter(|finding| finding.weight == Weight::Error).collect();
    Ok(Some(match errors.first() {
        None => Diagnosis::good("breadcrumbs", format!("`{file}` is valid")),
        Some(first) => {
            let (count, line) = (errors.len(), first.position.line);
            let message = format!("errors in `{file}`: {count}; the first, in line {line}: {}", first.message);
            Diagnosis::error("breadcrumbs", message, &first.remedy)
        }
    }))
}

fn setting(git: &Git, key: &str) -> Result<Option<String>, GitError> {
    let answer = git.ask(&["config", "--get", key])?;
    let text = String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned();
    Ok((answer.code == Some(0)).then_some(text))
}

/// Reads the settings that a project shares, and the rules of types.
fn rules(repo: &Repo) -> Result<(), BadRule> {
    repo.shared_settings()?;
    Types::read(repo)?.check_schemas(repo)
}

/// Examines settings and forward crumbs. One is written and read back in an empty repository in a temporary folder; in `repo`, which stays
/// unchanged, every one is read.
pub(crate) fn forward_crumbs(repo: Result<&Repo, GitError>, now: Time) -> Result<Vec<Diagnosis>, ForwardError> {
    const CODE: &str = "forward-crumbs";
    let repo = match repo {
        Ok(repo) => repo,
        Err(error) => {
            let message = format!("this repository cannot hold forward crumbs: {error}");
            return Ok(vec![Diagnosis::error(CODE, message, error.hint().unwrap_or_default())]);
        }
    };
    let mut found = vec![match round_trip(repo, now) {
        Ok(()) => Diagnosis::good(CODE, "a new forward crumb can be written and read"),
        Err(cause) => {
            let remedy = "check that temporary files can be written, and that git knows your name and email";
            Diagnosis::error(CODE, format!("a new forward crumb cannot be written and read: {cause}"), remedy)
        }
    }];
    found.extend(rules(repo).err().map(|error| {
        let remedy =
            error.hint().unwrap_or_else(|| "correct the setting; until then, commits and hooks fail".to_owned());
        Diagnosis::error("settings", error.to_string(), remedy)
    }));
    for (refname, _) in repo.list_refs(FORWARD_CRUMBS)? {
        let Some(agent) = AgentName::of_ref(&refname) else { continue };
        let forward::QueryResult { crumbs, damaged, .. } = forward::search(repo, &agent, &forward::Query::all(), now)?;
        for (_, message) in forward::future(&crumbs, now) {
            found.push(Diagnosis::warning(CODE, message, forward::FUTURE_REMEDY));
        }
        if let Some(first) = damaged.first() {
            let (count, path, cause) = (damaged.len(), &first.path, &first.cause);
            let message = format!("unreadable forward crumbs of agent `{agent}`: {count}; the first, {path}: {cause}");
            let remedy = "see the text with `git log -p` of the ref; `git fsck` checks the repository for damage";
            found.push(Diagnosis::error(CODE, message, remedy));
        }
    }
    Ok(found)
}

fn round_trip(repo: &Repo, now: Time) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(text)?;
    let trial = empty_repository(folder.path(), repo)?;
    let signature = Signature::take(repo, now).map_err(text)?;
    let agent: AgentName = "health-check".parse().map_err(text)?;
    let content = CrumbContent { summary: "Health check test".to_owned(), ..CrumbContent::default() };
    let new = NewCrumb { priority: Priority::Low, ..NewCrumb::new(content) };
    let trace = Trace::new(&trial, TraceName::of_agent(&agent), signature.clone());
    let written = forward::add(&trace, &agent, &new).map_err(text)?;
    let query = forward::Query { limit: 1, ..forward::Query::default() };
    let read = forward::search(&trial, &agent, &query, signature.at).map_err(text)?;
    if read.crumbs == [written] {
        Ok(())
    } else {
        Err("the text that was read differs from the written one".to_owned())
    }
}

fn empty_repository(folder: &Path, like: &Repo) -> Result<Repo, String> {
    let format = match like.object_format() {
        ObjectFormat::Sha1 => "sha1",
        ObjectFormat::Sha256 => "sha256",
    };
    let (path, mut init) = (folder.join("trial.git"), Process::new("git"));
    init.elsewhere().args(["init", "--quiet", "--bare", "--template=", "--object-format", format]).arg(&path);
    init.output().map_err(text)?;
    Repo::open(&path, like.env().clone()).map_err(text)
}
