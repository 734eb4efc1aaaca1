//! Views of the format's records.

use crate::transcript::read::json::view;

view! {
    /// One record: an object of the file. In an old file, a response item or the head itself.
    Record {
        timestamp, ordinal, kind = "type", payload, state = "record_type", id, cwd, instructions, role, content, call_id,
    }
}

view! {
    Head {
        id, cwd, instructions, base_instructions, provider = "model_provider", base = "history_base",
        session = "session_id", parent = "parent_thread_id",
    }
}

view! {
    /// The last record of another file that a session continues.
    Base { file = "thread_id", length = "end_byte_offset" }
}

view! {
    ResponseItem {
        kind = "type", id, role, content, summary, encrypted_content, call_id, name, namespace, arguments, input, action,
        output,
    }
}

view! { Part { kind = "type", text, image_url } }

view! { ToolOutput { text, content, success } }

view! { Compacted { message, replacement_history } }

view! { RolledBack { turns = "num_turns" } }

view! { TokenCount { info } }

view! { TokenInfo { total = "total_token_usage", last = "last_token_usage", window = "model_context_window" } }

/// Events that repeat response items for the screen, or report progress.
pub(super) const EVENTS: &str = "agent_message agent_message_content_delta agent_message_delta agent_reasoning agent_reasoning_delta \
    agent_reasoning_raw_content agent_reasoning_raw_content_delta agent_reasoning_section_break \
    apply_patch_approval_request background_event collab_agent_interaction_begin collab_agent_interaction_end \
    collab_agent_spawn_begin collab_agent_spawn_end collab_close_begin collab_close_end collab_waiting_begin \
    collab_waiting_end context_compacted deprecation_notice dynamic_tool_call_request dynamic_tool_call_response \
    entered_review_mode error exec_approval_request exec_command_begin exec_command_end exec_command_output_delta \
    exited_review_mode guardian_assessment image_generation_begin image_generation_end item_completed item_started \
    mcp_startup_complete mcp_startup_update mcp_tool_call_begin mcp_tool_call_end model_reroute patch_apply_begin \
    patch_apply_end plan_delta plan_update raw_response_item reasoning_content_delta session_configured \
    shutdown_complete stream_error sub_agent_activity task_complete task_started terminal_interaction \
    thread_goal_updated thread_name_updated thread_settings_applied token_count turn_aborted turn_diff \
    undo_completed user_message view_image_tool_call warning web_search_end";

/// A response item without content for the model.
pub(super) const IGNORED_ITEM: &str = "ghost_snapshot";

/// Records without content for the model, or with copies of it.
pub(super) const IGNORED_RECORDS: &str =
    "turn_context world_state inter_agent_communication_metadata session_state history_metadata token_usage_record";

/// Those among them that say what the agent told the model about its settings.
pub(super) const SETTINGS: &str = "turn_context world_state";

/// Whether the type of a bare record is that of a response item.
pub(super) fn is_response_item(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "local_shell_call" | IGNORED_ITEM)
        || kind.ends_with("_call")
        || kind.ends_with("_call_output")
}
