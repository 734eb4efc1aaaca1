//! Testing a set-up: what git is told, and whether a merge comes out right.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::attributes::SAMPLES;
use super::config::RECURSIVE;
use super::hooks::{HOOKS, Place, Standing, standing};
use crate::base::finding::Weight;
use crate::base::process::Process;
use crate::git::{Git, GitError};
use crate::memory::breadcrumb::check::Rules;
use crate::memory::breadcrumb::{Namespaces, Store, StoreFile, check};
use crate::trace::Time;
use crate::transcript::import::hook;

/// What was looked at and how it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Diagnosis {
    pub code: &'static str,
    pub health: Health,
    pub message: String,
    /// What to do about it; empty where there is nothing to do.
    pub remedy: String,
}

/// How something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    Good,
    Warning,
    /// It does not work.
    Error,
}

fn good(code: &'static str, message: impl Into<String>) -> Diagnosis {
    Diagnosis { code, health: Health::Good, message: message.into(), remedy: String::new() }
}

fn bad(code: &'static str, health: Health, message: impl Into<String>, remedy: &str) -> Diagnosis {
    Diagnosis { code, health, message: message.into(), remedy: remedy.to_owned() }
}

/// Examines the set-up that git sees from where it is called; `root` is that of the working tree, where there is one.
pub(crate) fn examine(git: &Git, root: Option<&Path>, now: Time) -> Result<Vec<Diagnosis>, GitError> {
    let mut found = vec![version(git)?, driver(git)?, recursive(git)?, attributes(git)?];
    found.extend(recording(git)?);
    if let Some(root) = root {
        found.push(hooks(git)?);
        found.extend(shared(git, root)?);
        let store = Store::find(git.folder(), root);
        for file in StoreFile::ALL {
            found.extend(breadcrumbs(git, &store, file, now)?);
        }
    }
    Ok(found)
}

fn version(git: &Git) -> Result<Diagnosis, GitError> {
    let version = git.line(&["--version"])?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse::<u32>().ok());
    let is_old = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < (2, 31);
    Ok(if is_old {
        bad("git-version", Health::Warning, version, "use git 2.31 or newer")
    } else {
        good("git-version", version)
    })
}

fn driver(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "merge-driver";
    let Some(command) = setting(git, "merge.trace.driver")? else {
        return Ok(bad(CODE, Health::Error, "git knows no driver `trace`", "run `git trace install`"));
    };
    Ok(match try_driver(&command) {
        Ok(()) => good(CODE, "a trial merge comes out right"),
        Err(problem) => {
            let message = format!("a trial merge with `{command}` goes wrong: {problem}");
            bad(CODE, Health::Error, message, "put git-trace on the path, or run `git trace install` again")
        }
    })
}

/// Merges three small stores with the driver's command, as git would call it. Lines alone could not settle them.
fn try_driver(command: &str) -> Result<(), String> {
    let line = |value: &str, second: u32| {
        format!(
            "{{\"key\":\"test.doctor\",\"value\":\"{value}\",\"created_at\":\"2025-01-01T00:00:00Z\",\
             \"updated_at\":\"2025-01-01T00:00:0{second}Z\"}}\n"
        )
    };
    let io_problem = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(io_problem)?;
    for (name, text) in [("base", line("0", 0)), ("ours", line("1", 1)), ("theirs", line("2", 2))] {
        fs::write(folder.path().join(name), text).map_err(io_problem)?;
    }
    let mut words = command.split('%');
    let mut filled = words.next().unwrap_or_default().to_owned();
    while let Some(word) = words.next() {
        let (filling, rest) = match word.chars().next() {
            Some('O') => ("base", &word[1..]),
            Some('A') => ("ours", &word[1..]),
            Some('B') => ("theirs", &word[1..]),
            Some('L') => ("7", &word[1..]),
            Some('P') => (".synapse/breadcrumbs.jsonl", &word[1..]),
            Some('S' | 'X' | 'Y') => ("side", &word[1..]),
            None => ("%", words.next().unwrap_or_default()),
            Some(_) => ("%", word),
        };
        filled = filled + filling + rest;
    }
    let output = Process::shell(&filled).current_dir(folder.path()).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let merged = fs::read_to_string(folder.path().join("ours")).map_err(io_problem)?;
    match output.status.code() {
        Some(0) if merged == line("2", 2) => Ok(()),
        Some(0) => Err("the result is wrong".to_owned()),
        Some(code) if said.is_empty() => Err(format!("exit status {code}")),
        Some(code) => Err(format!("exit status {code}: {said}")),
        None => Err("it was killed".to_owned()),
    }
}

fn recursive(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "merge-recursive";
    Ok(match setting(git, "merge.trace.recursive")?.as_deref() {
        None | Some(RECURSIVE) => good(CODE, "bases of merges with several are merged by the driver"),
        Some(other) => {
            let message = format!("bases of merges with several are merged by `{other}`");
            bad(CODE, Health::Warning, message, "set `merge.trace.recursive` to `trace`, or a revert may be lost")
        }
    })
}

fn attributes(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "attributes";
    let args = [&["check-attr", "-z", "merge", "--"][..], &SAMPLES].concat();
    let answer = git.run(&args)?;
    let answer = String::from_utf8_lossy(&answer);
    let fields: Vec<_> = answer.split_terminator('\0').collect();
    let others: Vec<_> = fields
        .chunks_exact(3)
        .filter(|chunk| chunk[2] != "trace")
        .map(|chunk| format!("`{}` to `{}`", chunk[0], chunk[2]))
        .collect();
    Ok(if others.is_empty() {
        good(CODE, "breadcrumbs, crumb files and checkpoints are handed to the driver")
    } else {
        let message = format!("git hands {}", others.join(", "));
        bad(CODE, Health::Error, message, "run `git trace install`, or take out the lines that say so")
    })
}

/// Whether what is staged is judged before it is committed.
fn hooks(git: &Git) -> Result<Diagnosis, GitError> {
    const CODE: &str = "hooks";
    let (Place::Own(folder) | Place::Foreign(folder)) = Place::find(git)?;
    let calls = |name: &str| {
        let text = fs::read(folder.join(name)).unwrap_or_default();
        ["git-trace hook", "git trace hook"].iter().any(|call| memchr::memmem::find(&text, call.as_bytes()).is_some())
    };
    for (name, _) in HOOKS {
        let path = folder.join(name);
        match standing(&path) {
            Standing::Ours => {
                if let Err(problem) = try_hook(&path, name) {
                    let message = format!("a trial of the hook `{name}` goes wrong: {problem}");
                    return Ok(bad(CODE, Health::Error, message, "run `git trace install` again"));
                }
            }
            // Somebody's own way of calling us.
            Standing::Theirs if calls(name) => {}
            Standing::Theirs => {
                let message = format!("the hook `{}` is not ours", path.display());
                let remedy = "fine if it calls `git trace hook pre-commit` in some way, else run `git trace install`";
                return Ok(bad(CODE, Health::Warning, message, remedy));
            }
            Standing::Nothing => {
                let message = format!("git has no hook `{name}`, so what is committed is not judged");
                return Ok(bad(CODE, Health::Warning, message, "run `git trace install`, or `git trace check` in CI"));
            }
        }
    }
    Ok(good(CODE, "what must not be committed is refused"))
}

/// Has git call a copy of the hook in a repository of its own, where something is staged that must be refused.
fn try_hook(path: &Path, name: &str) -> Result<(), String> {
    let io_problem = |error: std::io::Error| error.to_string();
    let folder = tempfile::tempdir().map_err(io_problem)?;
    let run = |program: &std::ffi::OsStr, args: &[&str]| {
        let mut command = Process::new(program);
        // Of the caller's repository nothing holds here.
        for variable in
            ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"]
        {
            command.env_remove(variable);
        }
        command.args(args).current_dir(folder.path()).output().map_err(|error| error.to_string())
    };
    let store = folder.path().join(".synapse");
    fs::create_dir_all(&store).map_err(io_problem)?;
    run("git".as_ref(), &["init", "--quiet", "--template="])?;
    fs::write(store.join("breadcrumbs.jsonl"), "trial\n").map_err(io_problem)?;
    run("git".as_ref(), &["add", "--force", "."])?;
    // Alone in its folder, it does not call what it was put in front of.
    let copy = folder.path().join(name);
    fs::copy(path, &copy).map_err(io_problem)?;
    let output = run(copy.as_os_str(), &[])?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(1) if said.contains("breadcrumbs.jsonl:1:") => Ok(()),
        Some(code) => Err(format!("exit status {code}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        None => Err("it was killed".to_owned()),
    }
}

/// Whether colleagues get the attributes.
fn shared(git: &Git, root: &Path) -> Result<Option<Diagnosis>, GitError> {
    let path = root.join(".gitattributes");
    if !path.exists() {
        return Ok(None);
    }
    let tracked = git.ask(&["ls-files".as_ref(), "--error-unmatch".as_ref(), "--".as_ref(), path.as_os_str()])?;
    Ok((tracked.code != Some(0)).then(|| {
        let message = "`.gitattributes` is not committed";
        bad("attributes-shared", Health::Warning, message, "commit it, so that other clones have it")
    }))
}

/// What went wrong in agents' hooks, which may not say so themselves.
fn recording(git: &Git) -> Result<Option<Diagnosis>, GitError> {
    let common_dir = git.folder().join(git.line(&["rev-parse", "--git-common-dir"])?);
    let failures = hook::failures(&common_dir).unwrap_or_default();
    Ok(failures.last().map(|last| {
        let message = format!("agents' hooks failed {} times; the last: {last}", failures.len());
        let remedy = format!("once that is settled, remove `{}`", hook::log_path(&common_dir).display());
        bad("recording", Health::Warning, message, &remedy)
    }))
}

fn breadcrumbs(git: &Git, store: &Store, file: StoreFile, now: Time) -> Result<Option<Diagnosis>, GitError> {
    let path = store.path(file);
    let Ok(text) = crate::base::bounded::read_file(&path) else { return Ok(None) };
    if file == StoreFile::Secret && !git.is_ignored(&path)? {
        let message = format!("git does not ignore `{file}`");
        let remedy = "add it to `.gitignore`, and if it was committed, replace what it holds";
        return Ok(Some(bad("secrets", Health::Error, message, remedy)));
    }
    let namespaces = store.namespaces().unwrap_or_else(|_| Namespaces::default());
    let findings = check(&text, &Rules { file, namespaces: &namespaces, now });
    let errors: Vec<_> = findings.iter().filter(|finding| finding.weight == Weight::Error).collect();
    Ok(Some(match errors.first() {
        None => good("breadcrumbs", format!("`{file}` can be read")),
        Some(first) => {
            let (count, line) = (errors.len(), first.position.line);
            let message = format!("`{file}` has {count} errors; the first is in line {line}: {}", first.message);
            bad("breadcrumbs", Health::Error, message, &first.remedy)
        }
    }))
}

/// The last value of a setting as git sees it, from any file.
fn setting(git: &Git, key: &str) -> Result<Option<String>, GitError> {
    let answer = git.ask(&["config", "--get", key])?;
    let text = String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned();
    Ok((answer.code == Some(0)).then_some(text))
}
