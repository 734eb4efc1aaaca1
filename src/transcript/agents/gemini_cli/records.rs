//! Views of the format's records.

use crate::transcript::read::json::view;

view! {
    /// One record: a message, a change, the head, or one member of a document.
    Record {
        id, kind = "type", timestamp, content, thoughts, calls = "toolCalls", tokens, model, session = "sessionId",
        messages, set = "$set", rewind = "$rewindTo", project = "projectHash", started = "startTime",
        updated = "lastUpdated",
    }
}

view! { Thought { subject, description, timestamp } }

view! { GeminiToolCall { id, name, args, result, status, timestamp } }

view! { Part { text, thought, inline_data = "inlineData", response = "functionResponse", call = "functionCall" } }

view! { FunctionResponse { id } }

view! { InlineData { mime_type = "mimeType", data } }

view! {
    /// A tool's response: an object around its output or error, or that object itself.
    ToolResponse { response, output, error }
}
