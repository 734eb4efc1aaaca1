//! The texts that the agent adds to the user's messages, which its file contains as attachments.
//!
//! The agent writes what it knows (`{"type":"skill_listing","content":"- pdf: …"}`) and makes a text of it for each request. The
//! same text is made here, for the kinds whose text is mostly their own content. All other kinds are instructions that the
//! agent adds again when it needs them, or that only the user sees.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::transcript::read::header::is_listed;
use crate::transcript::read::json;

/// Kinds that are shown to the user, or whose text consists of the agent's own instructions.
const NOT_SENT: &str = "agent_mention already_read_file async_hook_response auto_mode auto_mode_exit budget_usd \
    command_permissions compact_file_reference compaction_reminder context_efficiency context_tip current_session_memory \
    date_change deferred_tools_delta diagnostics dynamic_skill edited_image_file edited_text_file goal_status \
    hook_cancelled hook_deferred_tool hook_error_during_execution hook_non_blocking_error hook_permission_decision \
    hook_success hook_system_message invoked_skills max_turns_reached mcp_instructions_delta mcp_resource memory_update \
    opened_file_in_ide output_style output_token_usage pdf_reference plan_file_reference plan_mode plan_mode_exit \
    plan_mode_reentry relevant_memories selected_lines_in_diff selected_lines_in_ide structured_output task_progress \
    task_reminder task_status team_context teammate_mailbox teammate_shutdown_batch thinking_reminder todo todo_reminder \
    token_usage tool_search_usage_reminder ultra_effort_exit ultramemory ultrathink_effort verify_plan_reminder \
    workflow_keyword_request";

/// The events whose hooks speak to the model.
const HOOK_EVENTS: &str = "SessionStart UserPromptSubmit UserPromptExpansion";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Rendered {
    /// The text that the model is sent.
    Sent(String),
    NotSent,
    UnknownKind,
}

pub(super) fn render(kind: &str, attachment: &RawValue) -> Rendered {
    let value: Value = json::value(attachment.get().as_bytes()).unwrap_or_default();
    match text(kind, &value).filter(|text| !text.is_empty()) {
        Some(text) => Rendered::Sent(format!("<system-reminder>\n{text}\n</system-reminder>")),
        None if is_listed(kind, NOT_SENT) || is_known(kind) => Rendered::NotSent,
        None => Rendered::UnknownKind,
    }
}

/// Whether [`text`] knows the kind, which may be empty.
fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "skill_listing"
            | "agent_listing_delta"
            | "hook_additional_context"
            | "hook_blocking_error"
            | "hook_stopped_continuation"
            | "nested_memory"
            | "critical_system_reminder"
            | "total_tokens_reminder"
            | "file"
            | "directory"
    )
}

fn text(kind: &str, value: &Value) -> Option<String> {
    let member = |name: &str| value[name].as_str().filter(|text| !text.is_empty());
    let hook = member("hookName").unwrap_or_default();
    Some(match kind {
        "skill_listing" => {
            format!("The following skills are available for use with the Skill tool:\n\n{}", member("content")?)
        }
        "agent_listing_delta" => agent_listing(value),
        "mcp_instructions_delta" => {
            let blocks = texts(&value["addedBlocks"], "\n\n");
            (!blocks.is_empty()).then(|| format!("{MCP_HEAD}\n\n{blocks}"))?
        }
        "hook_success" if is_listed(member("hookEvent")?, HOOK_EVENTS) => {
            format!("{hook} hook success: {}", member("content")?)
        }
        "hook_additional_context" => {
            let lines = lines(&value["content"]);
            (!lines.is_empty()).then(|| format!("{hook} hook additional context: {lines}"))?
        }
        "hook_blocking_error" => {
            let error = &value["blockingError"];
            let [command, text] = ["command", "blockingError"].map(|name| error[name].as_str().unwrap_or_default());
            format!("{hook} hook blocking error from command: \"{command}\": {text}")
        }
        "hook_stopped_continuation" => format!("{hook} hook stopped continuation: {}", member("message")?),
        "nested_memory" => {
            let content = &value["content"];
            format!("Contents of {}:\n\n{}", content["path"].as_str()?, content["content"].as_str()?)
        }
        "critical_system_reminder" => member("content")?.to_owned(),
        "total_tokens_reminder" => member("text")?.to_owned(),
        "file" => file(value)?,
        "directory" => directory(value)?,
        _ => return None,
    })
}

fn agent_listing(value: &Value) -> String {
    let is_initial = value["isInitial"] == true;
    let mut parts = Vec::new();
    let added = lines(&value["addedLines"]);
    if !added.is_empty() {
        let head = if is_initial { "Available agent types for" } else { "New agent types are now available for" };
        parts.push(format!("{head} the Agent tool:\n{added}"));
    }
    let removed = value["removedTypes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let removed: Vec<String> = removed.iter().filter_map(Value::as_str).map(|name| format!("- {name}")).collect();
    if !removed.is_empty() {
        parts.push(format!("The following agent types are no longer available:\n{}", removed.join("\n")));
    }
    if is_initial && value["showConcurrencyNote"] == true {
        parts.push(CONCURRENCY_NOTE.to_owned());
    }
    parts.join("\n\n")
}

const CONCURRENCY_NOTE: &str = "When you launch multiple agents for independent work, send them in a single message with \
    multiple tool uses so they run concurrently.";

const MCP_HEAD: &str = "# MCP Server Instructions\n\n\
    The following MCP servers have provided instructions for how to use their tools and resources:";

/// A folder that the user mentioned: it is sent as a call of the shell with its result.
fn directory(value: &Value) -> Option<String> {
    let path = value["path"].as_str()?;
    let is_plain = |c: char| c.is_alphanumeric() || "/\\.:_-+,@%=".contains(c);
    let quoted = if path.chars().all(is_plain) { path.to_owned() } else { format!("'{path}'") };
    let input = json!({ "command": format!("ls {quoted}"), "description": format!("Lists files in {path}") });
    Some(called("Bash", &input, value["content"].as_str()?))
}

fn called(tool: &str, input: &Value, result: &str) -> String {
    format!("Called the {tool} tool with the following input: {input}\nResult of calling the {tool} tool:\n{result}")
}

/// A text file that the user mentioned: it is sent as a call of the tool that reads files, with its result.
fn file(value: &Value) -> Option<String> {
    let file = &value["content"]["file"];
    let first = file["startLine"].as_u64().unwrap_or(1);
    let numbered = file["content"].as_str()?.split('\n').zip(first..).map(|(line, number)| format!("{number}\t{line}"));
    let input = json!({ "file_path": value["filename"].as_str()? });
    let numbered: Vec<String> = numbered.collect();
    Some(called("Read", &input, &numbered.join("\n")))
}

/// The texts of a list, one per line.
fn lines(value: &Value) -> Cow<'_, str> {
    texts(value, "\n")
}

fn texts<'v>(value: &'v Value, separator: &str) -> Cow<'v, str> {
    match value {
        Value::String(text) => text.into(),
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(separator).into(),
        _ => "".into(),
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/transcript/agents/claude_code/attachments.rs"]
mod tests;
