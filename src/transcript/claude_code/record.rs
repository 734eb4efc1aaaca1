//! The records of the format, as views.

use crate::transcript::raw::view;

view! {
    /// One record: an object of the file.
    pub(crate) Record {
        kind: b"type",
        subtype: b"subtype",
        uuid: b"uuid",
        parent: b"parentUuid",
        logical_parent: b"logicalParentUuid",
        compaction: b"compactMetadata",
        session: b"sessionId",
        cwd: b"cwd",
        timestamp: b"timestamp",
        sidechain: b"isSidechain",
        agent: b"agentId",
        is_meta: b"isMeta",
        is_compact_summary: b"isCompactSummary",
        is_api_error: b"isApiErrorMessage",
        message: b"message",
        content: b"content",
        summary: b"summary",
        leaf: b"leafUuid",
        attachment: b"attachment",
    }
}

view! {
    /// What a compaction tells of itself.
    pub(super) Compaction { preserved: b"preservedSegment" }
}

view! {
    /// The records, from one to another, that a compaction left as they were, behind its summary.
    pub(super) Preserved { head: b"headUuid", tail: b"tailUuid" }
}

view! {
    /// The provider's message in a record of kind `user` or `assistant`.
    pub(super) Message { id: b"id", model: b"model", content: b"content", usage: b"usage" }
}

view! {
    /// A content block of a message or of a tool's result.
    pub(super) Block {
        kind: b"type",
        text: b"text",
        thinking: b"thinking",
        signature: b"signature",
        data: b"data",
        id: b"id",
        name: b"name",
        input: b"input",
        call_id: b"tool_use_id",
        content: b"content",
        is_error: b"is_error",
        source: b"source",
        title: b"title",
        context: b"context",
    }
}

view! {
    /// Where the bytes of an image or document are.
    pub(super) BlobSource { kind: b"type", media_type: b"media_type", data: b"data", url: b"url" }
}

view! {
    /// What the agent told the model beside the messages.
    pub(super) Attachment { kind: b"type", prompt: b"prompt" }
}

view! {
    /// The arguments that say most about a call of one of the agent's own tools, the most telling first.
    pub(super) Arguments {
        description: b"description",
        file_path: b"file_path",
        path: b"path",
        notebook_path: b"notebook_path",
        pattern: b"pattern",
        command: b"command",
        query: b"query",
        url: b"url",
        skill: b"skill",
        prompt: b"prompt",
    }
}

impl<'a> Arguments<'a> {
    pub(super) fn in_order(&self) -> [Option<&'a serde_json::value::RawValue>; 10] {
        [
            self.description,
            self.file_path,
            self.path,
            self.notebook_path,
            self.pattern,
            self.command,
            self.query,
            self.url,
            self.skill,
            self.prompt,
        ]
    }
}

/// Kinds of records that hold nothing the model saw, or only doubles of it.
pub(super) const IGNORED: [&str; 23] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "custom-title",
    "file-history-delta",
    "file-history-snapshot",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "speculation-accept",
    "started",
    "tag",
    "task-summary",
    "worktree-state",
];

/// The same among the subtypes of `system`.
pub(super) const IGNORED_SYSTEM: [&str; 9] = [
    "agents_killed",
    "api_error",
    "api_metrics",
    "bridge_status",
    "compact_boundary",
    "file_snapshot",
    "microcompact_boundary",
    "stop_hook_summary",
    "turn_duration",
];

/// Attachments that are shown to the person and not said to the model.
pub(super) const UNSAID_ATTACHMENTS: [&str; 9] = [
    "already_read_file",
    "command_permissions",
    "dynamic_skill",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_system_message",
    "structured_output",
];
