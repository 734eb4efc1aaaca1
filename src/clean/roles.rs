//! The effect of a call, from its tool and arguments, as far as cleaning must know it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::tools::{EDITORS, role};
use crate::base::string_enum::string_enum;
use crate::trace::Item;
use crate::trace::model::arguments::{COMMANDS, PATHS};
use crate::trace::model::source::Source;
use crate::trace::model::trailers::one_line;

string_enum! {
    /// The kind of work that a tool does, as far as cleaning must know.
    Role("role") {
        /// Reads a file.
        Read = "read",
        /// Changes a part of a file.
        Edit = "edit",
        /// Writes a complete file.
        Write = "write",
        /// Runs a command.
        Shell = "shell",
        /// Its result is the report of a sub-agent.
        Report = "report",
        /// Its result is what the user said, a to-do list, or instructions of a skill.
        Keep = "keep",
        /// Anything else.
        Other = "other",
    }
}

/// The arguments of a call by name, not parsed further. Empty if they are not a JSON object.
pub(super) type Arguments<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// The lines that a read asks for: the first, from 1, and the last (none: to the end).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    first: u64,
    last: Option<u64>,
}

impl Range {
    const ALL: Self = Self { first: 1, last: None };

    /// The lines that arguments ask for: the first and the last, the first and their number, or a list of two.
    fn of(arguments: &Arguments<'_>) -> Self {
        let number = |key: &str| serde_json::from_str::<u64>(arguments.get(key)?.get()).ok();
        let view: Option<[i64; 2]> = arguments.get("view_range").and_then(|raw| serde_json::from_str(raw.get()).ok());
        if let Some([first, last]) = view {
            return Self { first: u64::try_from(first).unwrap_or(1).max(1), last: u64::try_from(last).ok() };
        }
        let first = ["offset", "start_line", "startLine"].into_iter().find_map(number);
        let first = first.map_or(1, |first| first.max(1));
        let last = ["end_line", "endLine"].into_iter().find_map(number);
        let last = last.or_else(|| number("limit").map(|limit| first.saturating_add(limit).saturating_sub(1)));
        Self { first, last }
    }

    pub(super) fn covers(self, other: Self) -> bool {
        let to_end = self.last.is_none_or(|last| other.last.is_some_and(|other| other <= last));
        self.first <= other.first && to_end
    }
}

/// Facts about a call from its name and arguments.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub role: Role,
    pub name: String,
    /// The files that it reads or writes, and the lines that it reads.
    pub files: Vec<(String, Range)>,
    /// What its success or failure is about: a path, the first words of a command, or the tool.
    pub target: String,
    /// The target for people, on one line.
    pub label: String,
}

impl Call {
    pub(crate) fn of(item: &Item) -> Self {
        let name = item.fields.name.clone().unwrap_or_default();
        let format = item.fields.source.as_ref().map(Source::format);
        let arguments: Arguments<'_> = serde_json::from_slice(&item.body).unwrap_or_default();
        let text = |key: &str| text(&arguments, key);
        let path = PATHS.into_iter().find_map(text);
        let role = match text("command").as_deref() {
            Some(verb) if EDITORS.contains(&&*name) => match verb {
                "view" => Role::Read,
                "create" => Role::Write,
                _ => Role::Edit,
            },
            _ => role(format, &name),
        };
        let mut files = match role {
            Role::Read | Role::Edit | Role::Write => named_files(&arguments),
            _ => Vec::new(),
        };
        if matches!(&*name, "apply_patch" | "ApplyPatch") {
            files = patched(&String::from_utf8_lossy(&item.body)).into_iter().map(|path| (path, Range::ALL)).collect();
        }
        for (path, _) in &mut files {
            *path = path.trim_start_matches("./").to_owned();
        }
        let words = || COMMANDS.iter().find_map(|name| list(arguments.get(*name)?.get()));
        let command = || COMMANDS.into_iter().chain(["keystrokes"]).find_map(text).or_else(words);
        let command = if role == Role::Shell { command() } else { None };
        let target = match (&command, files.first()) {
            (Some(command), _) => program(command),
            (None, Some((path, _))) => path.clone(),
            (None, None) => name.clone(),
        };
        let shown = ["pattern", "query", "url", "description", "skill", "prompt"];
        let lines = |range: &Range| match (role, range.first, range.last) {
            (Role::Read, first, Some(last)) => format!(" {first}-{last}"),
            (Role::Read, first @ 2.., None) => format!(" {first}-"),
            _ => String::new(),
        };
        let path = files.first().map(|(path, range)| path.clone() + &lines(range)).or(path);
        let label = command.or(path).or_else(|| shown.into_iter().find_map(text));
        let label = one_line(&label.unwrap_or_default());
        Self { role, name, files, target, label }
    }

    /// A result without its call.
    pub(super) fn unknown(name: Option<&str>) -> Self {
        let name = name.unwrap_or_default().to_owned();
        let (target, files, label) = (name.clone(), Vec::new(), String::new());
        Self { role: Role::Other, name, files, target, label }
    }
}

fn text(arguments: &Arguments<'_>, key: &str) -> Option<String> {
    serde_json::from_str(arguments.get(key)?.get()).ok()
}

/// The file that arguments name, or those of each element of a list.
fn named_files(arguments: &Arguments<'_>) -> Vec<(String, Range)> {
    if let Some(path) = PATHS.into_iter().find_map(|name| text(arguments, name)) {
        return vec![(path, Range::of(arguments))];
    }
    let list = ["files", "changes", "replacements"].into_iter().find_map(|name| arguments.get(name));
    let list = list.and_then(|list| serde_json::from_str::<Vec<Arguments<'_>>>(list.get()).ok());
    let path = |one: &Arguments<'_>| PATHS.into_iter().find_map(|name| text(one, name));
    list.into_iter().flatten().filter_map(|one| Some((path(&one)?, Range::of(&one)))).collect()
}

/// The files that a patch of Codex changes, as in `*** Update File: src/lib.rs`. The patch may be escaped in JSON.
fn patched(patch: &str) -> Vec<String> {
    let names = patch.split("*** ").filter_map(|line| line.split_once(" File: "));
    let names = names.filter(|(verb, _)| matches!(*verb, "Add" | "Update" | "Delete"));
    names.map(|(_, rest)| rest.split(['\n', '\\', '"']).next().unwrap_or_default().trim().to_owned()).collect()
}

/// A command as a list of words; a shell's script is its last word.
fn list(json: &str) -> Option<String> {
    let words: Vec<String> = serde_json::from_str(json).ok()?;
    match words.as_slice() {
        [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => Some(script.clone()),
        words => Some(words.join(" ")),
    }
}

/// The first two words of a command, after words that do not say what it does.
fn program(command: &str) -> String {
    let mut rest = script(command).unwrap_or(command).trim_start();
    loop {
        let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let next = match word {
            "cd" => after.split_once("&&").map(|(_, after)| after),
            "sudo" | "env" | "time" => Some(after),
            "timeout" => after.trim_start().split_once(char::is_whitespace).map(|(_, after)| after),
            _ => is_assignment.then_some(after),
        };
        match next.map(str::trim_start).filter(|next| !next.is_empty()) {
            Some(next) => rest = next,
            None => return rest.split_whitespace().take(2).collect::<Vec<_>>().join(" "),
        }
    }
}

/// The script of a shell, as in `/bin/zsh -lc 'cargo test'`.
fn script(command: &str) -> Option<&str> {
    let (shell, rest) = command.trim().split_once(' ')?;
    let (flag, script) = rest.trim_start().split_once(' ')?;
    let is_script = shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c');
    let script = script.trim_start();
    let quoted = ['\'', '"'].into_iter().find_map(|quote| script.strip_prefix(quote)?.strip_suffix(quote));
    is_script.then(|| quoted.unwrap_or(script))
}

#[cfg(test)]
#[path = "../../tests/unit/clean/roles.rs"]
mod tests;
