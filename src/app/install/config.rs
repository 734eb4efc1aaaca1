//! The sections `merge.trace` and `diff.trace-crumb` of git's config.
//!
//! ```text
//! [merge "trace"]
//!         name = git-trace: merge by meaning
//!         driver = git-trace merge-driver -- %O %A %B %L %P %S %X %Y; …
//!         recursive = trace
//!         installed = name:0f3a9c21 driver:77ab01de recursive:5cc1e2f0 textconv:1d90c3aa
//! [diff "trace-crumb"]
//!         textconv = git-trace crumb textconv …
//! ```
//!
//! `installed` contains a digest of each value that we wrote: a value is ours only as long as it has that digest. It is written
//! first, with the digests of the old and the new values, so that ours are recognized wherever an install is interrupted. Its other words
//! are of [`lines::state`].

mod lines;

use std::fs;
use std::path::PathBuf;

use super::{Action, InstallError, Mode, Setup, Step, digest};
use crate::base::escape::shell_word;
use crate::git::{GitError, rewrite_settings};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Local,
    Global,
    Worktree,
}

impl Scope {
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Local => "--local",
            Self::Global => "--global",
            Self::Worktree => "--worktree",
        }
    }
}

const NAME: &str = "git-trace: merge by meaning";

/// The driver that merges the bases of a merge with several: ours again, so that they are merged by record, without conflicts.
pub(crate) const RECURSIVE: &str = "trace";

/// The variables, by their names in `installed`.
const KEYS: [(&str, &str); 4] = [
    ("name", "merge.trace.name"),
    ("driver", "merge.trace.driver"),
    ("recursive", "merge.trace.recursive"),
    ("textconv", "diff.trace-crumb.textconv"),
];
const RECORD: &str = "merge.trace.installed";

/// The command of the driver. If `program` is missing or cannot be run (126 and 127), git merges by lines.
fn driver(program: &str) -> String {
    let program = placeholder_word(program);
    format!(
        "{program} merge-driver -- %O %A %B %L %P %S %X %Y; s=$?; if test $s = 126 || test $s = 127; \
         then git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B; else exit $s; fi"
    )
}

/// The command that shows a crumb file by entry in differences. If it fails, the file is shown unchanged: git would show nothing.
fn textconv(program: &str) -> String {
    format!("f() {{ {} crumb textconv -- \"$1\" 2>/dev/null || cat -- \"$1\"; }}; f", shell_word(program))
}

pub(crate) fn placeholder_word(text: &str) -> String {
    shell_word(text.replace('%', "%%"))
}

pub(crate) fn install(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    let before = values(setup, RECORD)?.pop().unwrap_or_default();
    let mut record: Vec<String> = words(&before).map(str::to_owned).collect();
    if let Some(file) = file(setup)?.filter(|_| before.is_empty()) {
        record = lines::state(fs::read(file).ok().as_deref());
    }
    let mut interim = record.clone();
    let mut steps = Vec::new();
    let mut changes = Vec::new();
    let our_values = [NAME.to_owned(), driver(&setup.program), RECURSIVE.to_owned(), textconv(&setup.program)];
    for ((name, key), value) in KEYS.into_iter().zip(our_values) {
        let action = match &values(setup, key)?[..] {
            [] => Action::Added,
            [current] if *current == value => Action::Kept,
            [current] if record.contains(&word(name, current)) => Action::Updated,
            _ => Action::LeftAlone,
        };
        if matches!(action, Action::Added | Action::Updated) {
            let word = word(name, &value);
            record.retain(|word| !is_of(word, name));
            record.push(word.clone());
            if !interim.contains(&word) {
                interim.push(word);
            }
            changes.push((key, value));
        }
        steps.push(Step { action, what: key.to_owned(), hint: None });
    }
    let (interim, record) = (interim.join(" "), record.join(" "));
    if !changes.is_empty() && interim != before {
        set(setup, &[RECORD, &interim])?;
    }
    for (key, value) in changes {
        set(setup, &[key, &value])?;
    }
    if record != interim {
        set(setup, &[RECORD, &record])?;
    }
    Ok(steps)
}

pub(crate) fn uninstall(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    let record = values(setup, RECORD)?;
    let words: Vec<&str> = record.last().into_iter().flat_map(|record| words(record)).collect();
    let mut steps = Vec::new();
    let mut ours = vec![RECORD];
    for (name, key) in KEYS {
        let action = match &values(setup, key)?[..] {
            [] => continue,
            _ if !words.iter().any(|word| is_of(word, name)) => continue,
            [current] if words.contains(&word(name, current).as_str()) => Action::Removed,
            _ => Action::LeftAlone,
        };
        if action == Action::Removed {
            ours.push(key);
        }
        steps.push(Step { action, what: key.to_owned(), hint: None });
    }
    if record.is_empty() || setup.mode == Mode::DryRun {
        return Ok(steps);
    }
    if let Some(file) = file(setup)? {
        rewrite_settings(&file, |text| lines::without(text, &ours, &words))?;
    }
    // Settings that are not written as git writes them.
    for key in ours {
        if !values(setup, key)?.is_empty() {
            set(setup, &["--unset", key])?;
        }
    }
    Ok(steps)
}

/// The file of the scope; `None` for that of the user, which only git finds.
fn file(setup: &Setup) -> Result<Option<PathBuf>, InstallError> {
    let has_own = || -> Result<bool, GitError> {
        let answer = setup.git.ask(&["config", "--type=bool", "--get", "extensions.worktreeConfig"])?;
        Ok(answer.stdout.starts_with(b"true"))
    };
    let name = match setup.scope {
        Scope::Global => return Ok(None),
        Scope::Worktree if has_own()? => "config.worktree",
        Scope::Local | Scope::Worktree => "config",
    };
    Ok(Some(setup.git.path(&["rev-parse", "--git-path", name])?))
}

/// The words of `installed`: `<name>:<digest>`. A variable that is being replaced has two.
fn words(record: &str) -> impl Iterator<Item = &str> {
    record.split(' ').filter(|word| word.contains(':'))
}

fn word(name: &str, value: &str) -> String {
    format!("{name}:{}", digest(value.as_bytes(), 8))
}

fn is_of(word: &str, name: &str) -> bool {
    word.split_once(':').is_some_and(|(written, _)| written == name)
}

fn values(setup: &Setup, key: &str) -> Result<Vec<String>, InstallError> {
    let answer = setup.git.ask(&["config", setup.scope.flag(), "-z", "--get-all", key])?;
    match answer.code {
        Some(0) => {
            let text = String::from_utf8_lossy(&answer.stdout).into_owned();
            Ok(text.split_terminator('\0').map(str::to_owned).collect())
        }
        Some(1) => Ok(Vec::new()),
        _ => Err(GitError::Command { command: "config".to_owned(), stderr: answer.stderr }.into()),
    }
}

fn set(setup: &Setup, args: &[&str]) -> Result<(), InstallError> {
    if setup.mode == Mode::Write {
        setup.git.change_setting(&[&[setup.scope.flag()], args].concat())?;
    }
    Ok(())
}
