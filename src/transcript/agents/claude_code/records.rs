//! Views of the format's records.

use crate::transcript::read::json::view;

view! {
    /// One record: an object of the file.
    Record {
        kind = "type", subtype, uuid, parent = "parentUuid", logical_parent = "logicalParentUuid",
        compaction = "compactMetadata", session = "sessionId", cwd, timestamp, sidechain = "isSidechain",
        agent = "agentId", is_meta = "isMeta", is_compact_summary = "isCompactSummary",
        is_api_error = "isApiErrorMessage", message, content, summary, ai_title = "aiTitle", custom_title = "customTitle",
        leaf = "leafUuid", attachment,
    }
}

view! { Compaction { preserved = "preservedSegment" } }

view! { Preserved { head = "headUuid", tail = "tailUuid" } }

view! { Message { id, model, content, usage } }

view! {
    /// A content block of a message or of a tool's result.
    Block {
        kind = "type", text, thinking, signature, data, id, name, input, call_id = "tool_use_id", content, is_error,
        source, title, context,
    }
}

view! { BlobSource { kind = "type", media_type, data, url } }

view! { Attachment { kind = "type", prompt } }

/// The arguments of the agent's own tools, the most informative first.
pub(super) const INFORMATIVE_ARGUMENTS: &str =
    "description file_path path notebook_path pattern command query url skill prompt";

/// Record kinds without content for the model, or with copies of it.
pub(super) const IGNORED: &str = "agent-color agent-name agent-setting attribution-snapshot bridge-session \
    content-replacement file-history-delta file-history-snapshot last-prompt marble-origami-commit \
    marble-origami-snapshot mode permission-mode pr-link progress queue-operation speculation-accept started tag \
    task-summary worktree-state";

/// The same among the subtypes of `system`.
pub(super) const IGNORED_SYSTEM: &str = "agents_killed api_error api_metrics bridge_status compact_boundary file_snapshot \
    microcompact_boundary stop_hook_summary turn_duration";
