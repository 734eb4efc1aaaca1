//! The records of the format, as views.

use crate::transcript::raw::view;

view! {
    /// One record: an object of the file. Of an old file, a response item itself or the head.
    pub(crate) Record {
        timestamp: b"timestamp",
        kind: b"type",
        payload: b"payload",
        state: b"record_type",
        id: b"id",
        cwd: b"cwd",
        instructions: b"instructions",
    }
}

view! {
    /// What `session_meta` says.
    pub(super) Head { id: b"id", cwd: b"cwd", instructions: b"instructions", base_instructions: b"base_instructions" }
}

view! {
    /// A response item.
    pub(super) Item {
        kind: b"type",
        id: b"id",
        role: b"role",
        content: b"content",
        summary: b"summary",
        encrypted_content: b"encrypted_content",
        call_id: b"call_id",
        name: b"name",
        namespace: b"namespace",
        arguments: b"arguments",
        input: b"input",
        action: b"action",
        output: b"output",
    }
}

view! {
    /// A part of a message, of a summary or of an output.
    pub(super) Part { kind: b"type", text: b"text", image_url: b"image_url" }
}

view! {
    /// An output that says how it went.
    pub(super) Output { kind: b"type", text: b"text", content: b"content", success: b"success" }
}

view! {
    /// What a compaction left.
    pub(super) Compacted { message: b"message", replacement_history: b"replacement_history" }
}

view! {
    /// What `thread_rolled_back` says.
    pub(super) RolledBack { turns: b"num_turns" }
}

/// Events that show what response items say, or what was going on.
pub(super) const EVENTS: [&str; 63] = [
    "agent_message",
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "entered_review_mode",
    "error",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "exited_review_mode",
    "guardian_assessment",
    "image_generation_begin",
    "image_generation_end",
    "item_completed",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "patch_apply_begin",
    "patch_apply_end",
    "plan_delta",
    "plan_update",
    "raw_response_item",
    "reasoning_content_delta",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_settings_applied",
    "token_count",
    "turn_aborted",
    "turn_diff",
    "undo_completed",
    "user_message",
    "view_image_tool_call",
    "warning",
    "web_search_end",
];

/// Response items that hold nothing the model saw.
pub(super) const IGNORED: [&str; 1] = ["ghost_snapshot"];

/// Records that hold nothing the model saw, or only doubles of it.
pub(super) const IGNORED_RECORDS: [&str; 5] =
    ["turn_context", "world_state", "inter_agent_communication_metadata", "session_state", "history_metadata"];

/// Whether a bare record's type is one of a response item.
pub(super) fn is_response_item(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "local_shell_call")
        || kind.ends_with("_call")
        || kind.ends_with("_call_output")
        || IGNORED.contains(&kind)
}
