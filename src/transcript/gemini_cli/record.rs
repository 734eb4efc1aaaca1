//! The records of the format, as views.

use crate::transcript::raw::view;

view! {
    /// One record: a message, a change, the head, or one member of a document.
    pub(crate) Record {
        id: b"id",
        kind: b"type",
        timestamp: b"timestamp",
        content: b"content",
        thoughts: b"thoughts",
        calls: b"toolCalls",
        tokens: b"tokens",
        model: b"model",
        session: b"sessionId",
        messages: b"messages",
        set: b"$set",
        rewind: b"$rewindTo",
        project: b"projectHash",
        started: b"startTime",
        updated: b"lastUpdated",
    }
}

view! {
    /// A thought.
    pub(super) Thought { subject: b"subject", description: b"description", timestamp: b"timestamp" }
}

view! {
    /// A tool's use.
    pub(super) ToolCall {
        id: b"id",
        name: b"name",
        args: b"args",
        result: b"result",
        status: b"status",
        timestamp: b"timestamp",
    }
}

view! {
    /// A part of a message or of a result.
    pub(super) Part {
        text: b"text",
        thought: b"thought",
        inline_data: b"inlineData",
        response: b"functionResponse",
    }
}

view! {
    /// The bytes of a file.
    pub(super) Blob { mime_type: b"mimeType", data: b"data" }
}

view! {
    /// What a tool answered.
    pub(super) Response { told: b"response", output: b"output", error: b"error" }
}
