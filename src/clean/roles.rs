//! What the tools of each agent do: one table per agent, by tool name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::base::string_enum::string_enum;
use crate::trace::Item;
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

type Tools = &'static [(&'static str, Role)];

const CLAUDE_CODE: Tools = &[
    ("Read", Role::Read),
    ("NotebookRead", Role::Read),
    ("Edit", Role::Edit),
    ("MultiEdit", Role::Edit),
    ("NotebookEdit", Role::Edit),
    ("Write", Role::Write),
    ("Bash", Role::Shell),
    ("PowerShell", Role::Shell),
    ("Agent", Role::Report),
    ("Task", Role::Report),
    ("AgentOutputTool", Role::Report),
    ("TaskOutput", Role::Report),
    ("AskUserQuestion", Role::Keep),
    ("EnterPlanMode", Role::Keep),
    ("ExitPlanMode", Role::Keep),
    ("exit_plan_mode", Role::Keep),
    ("Skill", Role::Keep),
    ("SlashCommand", Role::Keep),
    ("TaskCreate", Role::Keep),
    ("TaskGet", Role::Keep),
    ("TaskList", Role::Keep),
    ("TaskUpdate", Role::Keep),
    ("TodoRead", Role::Keep),
    ("TodoWrite", Role::Keep),
];

const CODEX: Tools = &[
    ("apply_patch", Role::Edit),
    ("container.exec", Role::Shell),
    ("exec_command", Role::Shell),
    ("local_shell", Role::Shell),
    ("local_shell_call", Role::Shell),
    ("shell", Role::Shell),
    ("shell_command", Role::Shell),
    ("spawn_agent", Role::Report),
    ("wait", Role::Report),
    ("wait_agent", Role::Report),
    ("request_user_input", Role::Keep),
    ("update_plan", Role::Keep),
];

const GEMINI_CLI: Tools = &[
    ("read_file", Role::Read),
    ("edit", Role::Edit),
    ("replace", Role::Edit),
    ("write_file", Role::Write),
    ("run_shell_command", Role::Shell),
    ("codebase_investigator", Role::Report),
    ("delegate_to_agent", Role::Report),
    ("activate_skill", Role::Keep),
    ("ask_user", Role::Keep),
    ("save_memory", Role::Keep),
    ("write_todos", Role::Keep),
];

const SWE_AGENT: Tools = &[("open", Role::Read), ("edit", Role::Edit), ("create", Role::Write), ("bash", Role::Shell)];

const AGENTS: [(&str, Tools); 4] =
    [("claude-code", CLAUDE_CODE), ("codex", CODEX), ("gemini-cli", GEMINI_CLI), ("swe-agent", SWE_AGENT)];

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
    /// The files that it reads or writes.
    pub paths: Vec<String>,
    pub range: Range,
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
        let text = |key: &str| -> Option<String> { serde_json::from_str(arguments.get(key)?.get()).ok() };
        let number = |key: &str| -> Option<u64> { serde_json::from_str(arguments.get(key)?.get()).ok() };
        let path = ["file_path", "absolute_path", "path", "notebook_path"].into_iter().find_map(text);
        let role = match name.as_str() {
            // The editors of Anthropic's API do everything with one tool.
            "str_replace_editor" | "str_replace_based_edit_tool" => match text("command").as_deref() {
                Some("view") => Role::Read,
                Some("create") => Role::Write,
                _ => Role::Edit,
            },
            name => role(format, name),
        };
        let mut paths: Vec<String> = match role {
            Role::Read | Role::Edit | Role::Write => path.clone().into_iter().collect(),
            _ => Vec::new(),
        };
        if name == "apply_patch" {
            paths = patched(&String::from_utf8_lossy(&item.body));
        }
        for path in &mut paths {
            *path = path.trim_start_matches("./").to_owned();
        }
        let command = || text("command").or_else(|| text("cmd")).or_else(|| list(arguments.get("command")?.get()));
        let command = if role == Role::Shell { command() } else { None };
        let first = number("offset").map_or(1, |offset| offset.max(1));
        let last = number("limit").map(|limit| first.saturating_add(limit).saturating_sub(1));
        let target = match (&command, paths.first()) {
            (Some(command), _) => program(command),
            (None, Some(path)) => path.clone(),
            (None, None) => name.clone(),
        };
        let shown = ["pattern", "query", "url", "description", "skill", "prompt"];
        let lines = match (role, first, last) {
            (Role::Read, first, Some(last)) => format!(" {first}-{last}"),
            (Role::Read, 2.., None) => format!(" {first}-"),
            _ => String::new(),
        };
        let path = paths.first().map(|path| path.clone() + &lines).or(path);
        let label = command.or(path).or_else(|| shown.into_iter().find_map(text));
        let label = one_line(&label.unwrap_or_default());
        Self { role, name, range: Range { first, last }, paths, target, label }
    }

    /// A result without its call.
    pub(super) fn unknown(name: Option<&str>) -> Self {
        let name = name.unwrap_or_default().to_owned();
        let (target, paths, label) = (name.clone(), Vec::new(), String::new());
        Self { role: Role::Other, name, paths, range: Range::ALL, target, label }
    }
}

/// The role of a tool in the table of its agent, or, of unknown agents, in any table.
fn role(format: Option<&str>, name: &str) -> Role {
    let own = AGENTS.iter().filter(|(agent, _)| Some(*agent) == format);
    let mut tables = own.clone().chain(AGENTS.iter().filter(|_| own.clone().next().is_none()));
    tables.find_map(|(_, tools)| tools.iter().find(|(tool, _)| *tool == name)).map_or(Role::Other, |(_, role)| *role)
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
    let mut rest = command.trim_start();
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

#[cfg(test)]
#[path = "../../tests/unit/clean/roles.rs"]
mod tests;
