//! The records of the format, as views.

use crate::transcript::raw::view;

view! {
    /// One record: an object of the file. Of an old file, a response item itself or the head.
    pub Record {
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
