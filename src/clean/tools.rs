//! What the tools of each agent do, by their names.
//!
//! A tool that is not here does something else. Formats that hold sessions of any agent have no table: for them, the tables of all
//! agents count.

use super::roles::Role;

type Tools = &'static [(Role, &'static [&'static str])];

const CLAUDE_CODE: Tools = &[
    (Role::Read, &["Read", "NotebookRead"]),
    (Role::Edit, &["Edit", "MultiEdit", "NotebookEdit"]),
    (Role::Write, &["Write"]),
    (Role::Shell, &["Bash", "PowerShell"]),
    (Role::Report, &["Agent", "Task", "AgentOutputTool", "TaskOutput"]),
    (Role::Keep, &["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "exit_plan_mode", "Skill", "SlashCommand"]),
    (Role::Keep, &["TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoRead", "TodoWrite"]),
];

const CODEX: Tools = &[
    (Role::Edit, &["apply_patch"]),
    (Role::Shell, &["container.exec", "exec_command", "local_shell", "local_shell_call", "shell", "shell_command"]),
    (Role::Report, &["spawn_agent", "wait", "wait_agent"]),
    (Role::Keep, &["request_user_input", "update_plan"]),
];

/// The output of `codex exec` names the kinds of its items.
const CODEX_EXEC: Tools =
    &[(Role::Shell, &["command_execution"]), (Role::Edit, &["file_change"]), (Role::Report, &["collab_tool_call"])];

const GEMINI_CLI: Tools = &[
    (Role::Read, &["read_file"]),
    (Role::Edit, &["edit", "replace"]),
    (Role::Write, &["write_file"]),
    (Role::Shell, &["run_shell_command"]),
    (Role::Report, &["codebase_investigator", "delegate_to_agent"]),
    (Role::Keep, &["activate_skill", "ask_user", "save_memory", "write_todos"]),
];

/// Qwen Code has the tools of Gemini CLI, too.
const QWEN_CODE: Tools =
    &[(Role::Report, &["task"]), (Role::Keep, &["ask_user_question", "exit_plan_mode", "skill", "todo_write"])];

const SWE_AGENT: Tools =
    &[(Role::Read, &["open"]), (Role::Edit, &["edit"]), (Role::Write, &["create"]), (Role::Shell, &["bash"])];

const OPENCODE: Tools = &[
    (Role::Read, &["read"]),
    (Role::Edit, &["edit", "multiedit", "patch", "apply_patch"]),
    (Role::Write, &["write"]),
    (Role::Shell, &["bash"]),
    (Role::Report, &["task"]),
    (Role::Keep, &["question", "skill", "todoread", "todowrite", "plan_enter", "plan_exit"]),
];

const PI: Tools =
    &[(Role::Read, &["read"]), (Role::Edit, &["edit"]), (Role::Write, &["write"]), (Role::Shell, &["bash"])];

const COPILOT_CLI: Tools = &[
    (Role::Read, &["view"]),
    (Role::Edit, &["edit", "apply_patch"]),
    (Role::Write, &["create"]),
    (Role::Shell, &["bash", "powershell", "shell"]),
    (Role::Report, &["task", "read_agent"]),
    (Role::Keep, &["ask_user", "exit_plan_mode", "skill", "update_todo"]),
];

const VSCODE_COPILOT: Tools = &[
    (Role::Read, &["read_file"]),
    (Role::Edit, &["apply_patch", "edit_notebook_file", "insert_edit_into_file"]),
    (Role::Edit, &["multi_replace_string_in_file", "replace_string_in_file"]),
    (Role::Write, &["create_file"]),
    (Role::Shell, &["run_in_terminal"]),
    (Role::Report, &["runSubagent"]),
    (Role::Keep, &["manage_todo_list", "vscode_askQuestions"]),
];

const CURSOR: Tools = &[
    (Role::Read, &["Read", "read_file"]),
    (Role::Edit, &["ApplyPatch", "Edit", "EditNotebook", "StrReplace", "edit_file", "search_replace"]),
    (Role::Write, &["Write"]),
    (Role::Shell, &["Bash", "Shell", "run_terminal_cmd"]),
    (Role::Report, &["Task"]),
    (Role::Keep, &["AskQuestion", "CreatePlan", "SwitchMode", "TodoWrite", "todo_write"]),
];

const DROID: Tools = &[
    (Role::Read, &["Read"]),
    (Role::Edit, &["ApplyPatch", "Edit", "MultiEdit"]),
    (Role::Write, &["Create"]),
    (Role::Shell, &["Execute", "Shell"]),
    (Role::Report, &["Task"]),
    (Role::Keep, &["AskUser", "ExitSpecMode", "Skill", "TodoWrite"]),
];

/// Cline and Roo Code; the plurals are of newer versions of Cline.
const CLINE: Tools = &[
    (Role::Read, &["read_file", "read_files"]),
    (Role::Edit, &["apply_diff", "apply_patch", "editor", "edit_file", "insert_content", "replace_in_file"]),
    (Role::Edit, &["search_and_replace", "search_replace"]),
    (Role::Write, &["write_to_file"]),
    (Role::Shell, &["execute_command", "run_commands"]),
    (Role::Report, &["new_task", "spawn_agent", "use_subagents"]),
    (Role::Keep, &["ask_followup_question", "ask_question", "attempt_completion", "plan_mode_respond"]),
    (Role::Keep, &["skill", "skills", "switch_mode", "update_todo_list", "use_skill"]),
];

const OPENHANDS: Tools = &[
    (Role::Edit, &["apply_patch", "edit_file"]),
    (Role::Shell, &["execute_bash", "terminal"]),
    (Role::Report, &["delegate"]),
    (Role::Keep, &["finish", "task_tracker"]),
];

/// The agents of Terminal-Bench.
const TERMINUS: Tools = &[(Role::Shell, &["bash_command"])];

const AGENTS: [(&str, Tools); 18] = [
    ("claude-code", CLAUDE_CODE),
    ("codex", CODEX),
    ("codex-exec", CODEX),
    ("codex-exec", CODEX_EXEC),
    ("gemini-cli", GEMINI_CLI),
    ("gemini-stream-json", GEMINI_CLI),
    ("qwen-code", GEMINI_CLI),
    ("qwen-code", QWEN_CODE),
    ("swe-agent", SWE_AGENT),
    ("opencode", OPENCODE),
    ("pi", PI),
    ("copilot-cli", COPILOT_CLI),
    ("vscode-copilot", VSCODE_COPILOT),
    ("cursor", CURSOR),
    ("droid", DROID),
    ("cline", CLINE),
    ("openhands", OPENHANDS),
    ("terminus", TERMINUS),
];

/// Editors that do everything with one tool, and name what they do in an argument.
pub(super) const EDITORS: [&str; 4] =
    ["str_replace_editor", "str_replace_based_edit_tool", "file_editor", "text_editor"];

/// The role of a tool in the tables of its agent, or, of unknown agents, in any table.
pub(super) fn role(format: Option<&str>, name: &str) -> Role {
    let is_known = AGENTS.iter().any(|(agent, _)| Some(*agent) == format);
    let tables = AGENTS.iter().filter(|(agent, _)| !is_known || Some(*agent) == format);
    let mut tools = tables.flat_map(|(_, tools)| *tools);
    tools.find(|(_, names)| names.contains(&name)).map_or(Role::Other, |(role, _)| *role)
}
