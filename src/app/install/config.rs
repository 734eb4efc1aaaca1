//! The sections `merge.trace` and `diff.trace-crumb` of git's config.
//!
//! ```text
//! [merge "trace"]
//!         name = git-trace: merge by meaning
//!         driver = git-trace merge-driver %O %A %B %L %P %S %X %Y; …
//!         recursive = trace
//!         installed = name:0f3a9c21 driver:77ab01de recursive:5cc1e2f0 textconv:1d90c3aa
//! [diff "trace-crumb"]
//!         textconv = git-trace crumb textconv …
//! ```
//!
//! `installed` names each value that we wrote, with a digest: a value is ours only as long as it has that digest. It is written
//! before the values, with those that they had and those that they get, so that wherever an install is stopped, what it wrote
//! is known for ours.

use super::{Action, InstallError, Mode, Setup, Step};
use crate::git::GitError;

/// Which config file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Scope {
    #[default]
    Local,
    Global,
    Worktree,
}

impl Scope {
    /// Git's flag for it.
    #[must_use]
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Local => "--local",
            Self::Global => "--global",
            Self::Worktree => "--worktree",
        }
    }
}

/// What the driver is called where git tells of it.
pub(crate) const NAME: &str = "git-trace: merge by meaning";

/// What merges the bases of a merge that has several: the driver itself, so that what both bases say is in the one that they
/// are merged into, as records and not as a conflict.
pub(crate) const RECURSIVE: &str = "trace";

/// The variables that are written, by the name that the record has for them.
const KEYS: [(&str, &str); 4] = [
    ("name", "merge.trace.name"),
    ("driver", "merge.trace.driver"),
    ("recursive", "merge.trace.recursive"),
    ("textconv", "diff.trace-crumb.textconv"),
];
const RECORD: &str = "merge.trace.installed";

/// The command of the driver. Where `program` is missing or cannot be run (126 and 127), git's own merge by lines is made.
#[must_use]
pub(crate) fn driver(program: &str) -> String {
    let program = placeholder_word(program);
    format!(
        "{program} merge-driver %O %A %B %L %P %S %X %Y; s=$?; if test $s = 126 || test $s = 127; \
         then git merge-file -L ours -L base -L theirs --marker-size=%L %A %O %B; else exit $s; fi"
    )
}

/// The command that shows a crumb file by entry in differences. Where it cannot be run, or fails, the file is shown as it
/// stands, since git would show nothing at all.
#[must_use]
pub(crate) fn textconv(program: &str) -> String {
    format!("f() {{ {} crumb textconv \"$1\" 2>/dev/null || cat \"$1\"; }}; f", shell_word(program))
}

/// A word as a shell and git's placeholders leave it.
fn placeholder_word(text: &str) -> String {
    shell_word(&text.replace('%', "%%"))
}

/// A word as a shell leaves it.
#[must_use]
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'+');
    if text.bytes().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Writes the section, as far as it is not somebody else's.
pub(crate) fn install(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    let mut record = Record::read(setup)?;
    let mut steps = Vec::new();
    let mut changes = Vec::new();
    let mut on_the_way = record.clone();
    let values_of_ours = [NAME.to_owned(), driver(&setup.program), RECURSIVE.to_owned(), textconv(&setup.program)];
    for ((name, key), value) in KEYS.into_iter().zip(values_of_ours) {
        let current = values(setup, key)?;
        let action = match &current[..] {
            [] => Action::Added,
            [current] if *current == value => Action::Kept,
            [current] if record.is_ours(name, current) => Action::Updated,
            _ => Action::LeftAlone,
        };
        if matches!(action, Action::Added | Action::Updated) {
            record.note(name, &value);
            on_the_way.note_also(name, &value);
            changes.push((key, value));
        }
        steps.push(Step { action, what: key.to_owned() });
    }
    on_the_way.write(setup)?;
    for (key, value) in changes {
        set(setup, key, &value)?;
    }
    Record { before: on_the_way.text(), ..record }.write(setup)?;
    Ok(steps)
}

/// Takes out of the section what we wrote.
pub(crate) fn uninstall(setup: &Setup) -> Result<Vec<Step>, InstallError> {
    let record = Record::read(setup)?;
    let mut steps = Vec::new();
    for (name, key) in KEYS {
        if !record.written.iter().any(|(written, _)| written == name) {
            continue;
        }
        let current = values(setup, key)?;
        let action = match &current[..] {
            [] => continue,
            [current] if record.is_ours(name, current) => Action::Removed,
            _ => Action::LeftAlone,
        };
        if action == Action::Removed {
            unset(setup, key)?;
        }
        steps.push(Step { action, what: key.to_owned() });
    }
    if !values(setup, RECORD)?.is_empty() {
        unset(setup, RECORD)?;
    }
    Ok(steps)
}

/// What we wrote: names of variables with the digests of their values, of one that is being replaced two.
#[derive(Clone)]
struct Record {
    written: Vec<(String, String)>,
    before: String,
}

impl Record {
    fn read(setup: &Setup) -> Result<Self, InstallError> {
        let before = values(setup, RECORD)?.pop().unwrap_or_default();
        let written = before.split(' ').filter_map(|word| word.split_once(':'));
        let written = written.map(|(name, digest)| (name.to_owned(), digest.to_owned())).collect();
        Ok(Self { written, before })
    }

    fn is_ours(&self, name: &str, value: &str) -> bool {
        self.written.iter().any(|(written, digest)| written == name && *digest == digest_of(value))
    }

    fn note(&mut self, name: &str, value: &str) {
        self.written.retain(|(written, _)| written != name);
        self.note_also(name, value);
    }

    fn note_also(&mut self, name: &str, value: &str) {
        if !self.is_ours(name, value) {
            self.written.push((name.to_owned(), digest_of(value)));
        }
    }

    fn text(&self) -> String {
        let words: Vec<_> = self.written.iter().map(|(name, digest)| format!("{name}:{digest}")).collect();
        words.join(" ")
    }

    fn write(&self, setup: &Setup) -> Result<(), InstallError> {
        let text = self.text();
        if text == self.before { Ok(()) } else { set(setup, RECORD, &text) }
    }
}

fn digest_of(value: &str) -> String {
    let mut digits = blake3::hash(value.as_bytes()).to_hex().to_string();
    digits.truncate(8);
    digits
}

/// All values of a key in the file of the scope.
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

fn set(setup: &Setup, key: &str, value: &str) -> Result<(), InstallError> {
    if setup.mode == Mode::Write {
        setup.git.change_setting(&[setup.scope.flag(), key, value])?;
    }
    Ok(())
}

fn unset(setup: &Setup, key: &str) -> Result<(), InstallError> {
    if setup.mode == Mode::Write {
        setup.git.change_setting(&[setup.scope.flag(), "--unset", key])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_the_shell_and_the_placeholders() {
        assert_eq!(placeholder_word("git-trace"), "git-trace");
        assert_eq!(placeholder_word("/opt/it's 100%/git-trace"), r"'/opt/it'\''s 100%%/git-trace'");
    }
}
