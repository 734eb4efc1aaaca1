//! What the blocks of a message become.
//!
//! | block, by its `type` | item |
//! | --- | --- |
//! | `text`, a plain string, or a part with `text` | `dialogue` of the message's role; `reasoning` if it is marked as a thought |
//! | `thinking`, `reasoning` | `reasoning`, with its signature |
//! | `tool_use`, `toolCall`, `tool_call`, `functionCall` | `tool_io` call; the arguments byte for byte |
//! | `tool_result`, `toolResult`, `tool_call_response`, `functionResponse` | `tool_io` result, replying to its call |
//! | a file with its bytes | `artifact`, decoded |
//! | anything else | `freeform` of that name, the JSON verbatim |
//!
//! A call without an id gets its number in the session as its id. A result that names no known call answers the oldest of these.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::builder::{
    EntryBuilder, artifact, call_arguments, decode, freeform, image, message_fields, reasoning, result,
};
use super::dialect::Session;
use super::json;
use super::object::Object;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::{Fields, Role, Status};
use crate::transcript::TranscriptEntry;

impl Session {
    pub(crate) fn knows_call(&self, id: &str) -> bool {
        self.calls.contains(id)
    }

    /// Whether a call without an id has no result yet.
    pub(crate) fn has_open_call(&self) -> bool {
        !self.unnamed.is_empty()
    }

    /// Adds the thoughts of a message that are beside its content: blocks with signatures, or else a text.
    pub(crate) fn thoughts(&mut self, builder: &mut EntryBuilder, message: &Object<'_>) {
        let blocks = message.list("thinking_blocks");
        for block in &blocks {
            self.block(builder, Role::Assistant, block);
        }
        let text = message.text("reasoning_content").filter(|text| blocks.is_empty() && !text.trim().is_empty());
        if let Some(text) = text {
            builder.push(reasoning(None), text.into_owned());
        }
    }

    /// Adds content: one text, or a list of blocks.
    pub(crate) fn content(&mut self, builder: &mut EntryBuilder, role: Role, content: &RawValue) {
        for block in json::list(content).unwrap_or_else(|| vec![content]) {
            self.block(builder, role, block);
        }
    }

    /// Adds the title of the session.
    pub(crate) fn title(builder: &mut EntryBuilder, title: Option<Cow<'_, str>>) {
        if let Some(title) = title.filter(|title| !title.is_empty()) {
            builder.removal = Some(Removal::Title);
            builder.push(freeform("title", None), title.into_owned());
        }
    }

    pub(crate) fn text(&mut self, builder: &mut EntryBuilder, role: Role, text: &str) {
        if !text.is_empty() {
            builder.push(message_fields(role, !self.started), text);
            self.started |= builder.conversation().next().is_some();
            if role == Role::User {
                self.unnamed.clear();
            }
        }
    }

    pub(crate) fn block(&mut self, builder: &mut EntryBuilder, role: Role, raw: &RawValue) {
        if let Some(text) = json::text(raw) {
            return self.text(builder, role, &text);
        }
        let block = Object::of(raw);
        let kind = block.text("type").unwrap_or_default();
        let text = || block.any_text(&["text", "content", "value"]);
        let done = match &*kind {
            "thinking" | "reasoning" => {
                block.any_text(&["thinking", "text", "content", "reasoning", "value"]).map(|text| {
                    let signature = block.any_text(&["signature", "thinkingSignature"]);
                    builder.push(reasoning(signature.as_deref()), text.into_owned());
                })
            }
            "redacted_thinking" => block.text("data").map(|data| {
                let entry = builder.push(reasoning(Some(&data)), "");
                entry.draft.fields.meta.insert("redacted".to_owned(), true.into());
            }),
            "tool_call" if block.has("value") => self.calls_in(builder, &block.text("value").unwrap_or_default()),
            "tool_use" | "toolCall" | "tool_call" => {
                let arguments = call_arguments(block.any(&["input", "arguments"]));
                self.call(builder, block.text("id"), block.text("name"), arguments)
            }
            "tool_result" | "toolResult" | "tool_call_response" => {
                let failed = block.any(&["is_error", "isError"]).map(|failed| json::is_true(Some(failed)));
                let id = block.any_text(&["tool_use_id", "toolCallId", "id"]);
                let content = block.any(&["content", "response", "result", "output"]);
                self.result(builder, id, failed, content)
            }
            "" | "text" | "input_text" | "output_text" if text().is_some() => {
                let text = text().unwrap_or_default();
                if block.is_true("thought") {
                    builder.push(reasoning(None), text.into_owned());
                } else {
                    self.text(builder, role, &text);
                }
                Some(())
            }
            "" => self.gemini_part(builder, role, &block),
            _ => None,
        };
        if done.is_none() {
            add_file(builder, role, raw);
        }
    }

    fn gemini_part(&mut self, builder: &mut EntryBuilder, role: Role, part: &Object<'_>) -> Option<()> {
        if let Some(call) = part.get("functionCall").map(Object::of) {
            return self.call(builder, call.text("id"), call.text("name"), json::json_or(call.get("args"), "{}"));
        }
        if let Some(answer) = part.get("functionResponse").map(Object::of) {
            let response = answer.object("response");
            let failed = response.get("error").is_some();
            return self.result(builder, answer.text("id"), Some(failed), answer.get("response"));
        }
        let (fields, body) = media(&part.object("inlineData"), role)?;
        builder.push(fields, body);
        Some(())
    }

    /// Adds a call; `None` if it has no name.
    pub(crate) fn call(
        &mut self,
        builder: &mut EntryBuilder,
        id: Option<Cow<'_, str>>,
        name: Option<Cow<'_, str>>,
        arguments: Vec<u8>,
    ) -> Option<()> {
        self.call_count += 1;
        self.started = true;
        let own = id.filter(|id| !id.is_empty());
        let is_named = own.is_some();
        let id = own.unwrap_or_else(|| format!("call-{}", self.call_count).into());
        let block = builder.entries.len();
        builder.push_call(block, &mut self.calls, &id, &name?, arguments)?;
        if !is_named {
            self.unnamed.push_back(id.into_owned());
        }
        Some(())
    }

    /// Adds the calls in a text that is JSON: an object with a name and arguments, or a list of these; `None` if it is not.
    pub(crate) fn calls_in(&mut self, builder: &mut EntryBuilder, text: &str) -> Option<()> {
        let value: &RawValue = serde_json::from_str(text).ok()?;
        let calls = json::list(value).unwrap_or_else(|| vec![value]);
        let calls: Option<Vec<_>> = calls.into_iter().map(|raw| Some((Object::of(raw).text("name")?, raw))).collect();
        for (name, raw) in calls.filter(|calls| !calls.is_empty())? {
            let arguments = call_arguments(Object::of(raw).any(&["arguments", "parameters"]));
            self.call(builder, None, Some(name), arguments);
        }
        Some(())
    }

    /// Adds the result of a call; `None` if it does not tell which.
    pub(crate) fn result(
        &mut self,
        builder: &mut EntryBuilder,
        id: Option<Cow<'_, str>>,
        failed: Option<bool>,
        content: Option<&RawValue>,
    ) -> Option<()> {
        let id = match id.filter(|id| !id.is_empty()) {
            Some(id) if self.calls.contains(&id) => id,
            id => self.unnamed.pop_front().map(Cow::Owned).or(id)?,
        };
        let mut fields = result(&id, self.calls.get(&id), builder.thread.as_deref())?;
        fields.status = failed.map(|failed| if failed { Status::Error } else { Status::Ok });
        let mut others = Vec::new();
        let body = content.map(|content| text_of(content, &mut others)).unwrap_or_default();
        let answer = builder.push(fields, body).id;
        for part in others {
            add_file(builder, Role::User, part).draft.fields.reply_to = Some(answer);
        }
        Some(())
    }
}

/// The text of a result, and its other parts.
fn text_of<'a>(content: &'a RawValue, others: &mut Vec<&'a RawValue>) -> String {
    if let Some(text) = json::text(content) {
        return text.into_owned();
    }
    // Elements without a type are data, not parts of a message.
    let is_part = |part: &&RawValue| json::text(part).is_some() || Object::of(part).any(&["type", "text"]).is_some();
    if let Some(parts) = json::list(content).filter(|parts| parts.iter().all(is_part)) {
        let mut texts = Vec::new();
        for part in parts {
            match json::text(part).or_else(|| Object::of(part).text("text")) {
                Some(text) => texts.push(text),
                None => others.push(part),
            }
        }
        return texts.join("\n");
    }
    let object = Object::of(content);
    let text = object.any_text(&["output", "content", "text_result_for_llm", "text", "error", "message"]);
    text.map_or_else(|| content.get().to_owned(), Into::into)
}

/// Adds a file, or any other block as its JSON.
pub(crate) fn add_file<'b>(builder: &'b mut EntryBuilder, role: Role, raw: &RawValue) -> &'b mut TranscriptEntry {
    let block = Object::of(raw);
    let (fields, body) = media(&block, role).unwrap_or_else(|| {
        let kind = block.text("type").filter(|kind| !kind.is_empty());
        (freeform(kind.as_deref().unwrap_or("part"), Some(role)), raw.get().into())
    });
    builder.push(fields, body)
}

/// A file with its bytes; an address of a file is no file.
fn media(block: &Object<'_>, role: Role) -> Option<(Fields, Vec<u8>)> {
    let inner = block.any(&["source", "image_url"]).map(Object::of).filter(|inner| !inner.is_empty());
    let file = inner.as_ref().unwrap_or(block);
    if let Some(url) = file.any_text(&["url", "uri", "image_url"]).filter(|url| url.starts_with("data:")) {
        return Some(image(&url, role));
    }
    let media_type = file.any_text(&["media_type", "mimeType", "mime_type", "mime"])?;
    let bytes = decode(&file.any_text(&["data", "content", "blob"])?)?;
    Some((artifact(&media_type, role), bytes))
}
