//! Conversations of `ChatGPT`: `conversations.json` in the export of an account.
//!
//! ```text
//! {"title":"…","conversation_id":"…","current_node":"b","mapping":{"a":{"id":"a","parent":null,"children":["b"],"message":{
//!   "id":"a","author":{"role":"user"},"create_time":1.7e9,"content":{"content_type":"text","parts":["…"]},"metadata":{…}}},…}}
//! ```
//!
//! - The nodes are a tree. Messages that are not on the path to the current node are rewound.
//! - A message to a `recipient` is a call. Calls have no ids: the next message of a tool is the result.
//! - Images are in other files of the export; their address is kept.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::AgentFormat;
use super::tree::branches;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::read::builder::{EntryBuilder, arguments, freeform, reasoning};
use crate::transcript::read::dialect::{Dialect, Session, role};
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_conversations::<ChatGpt>("ChatGPT");

pub(crate) struct ChatGpt;

impl Dialect for ChatGpt {
    const FORMAT: &'static str = "chatgpt";

    fn certainty(record: &Object<'_>) -> Certainty {
        let mapping = record.object("mapping");
        let first = mapping.names().next().map(|name| mapping.object(name)).unwrap_or_default();
        if !first.has("message") || !(first.has("children") || first.has("parent")) {
            Certainty::No
        } else if record.has("title") || record.has("current_node") {
            Certainty::Sure
        } else {
            Certainty::Likely
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.any_text(&["conversation_id", "id"])
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        if !record.has("mapping") {
            return Outcome::Unknown("record".to_owned());
        }
        session.next_conversation(Self::session(record), output);
        add_title(session, record.text("title"), record, output);
        let mapping = record.object("mapping");
        let nodes: Vec<(&str, Object<'_>)> = mapping.members().map(|(id, raw)| (id, Object::of(raw))).collect();
        let parents: Vec<Option<Cow<'_, str>>> = nodes.iter().map(|(_, node)| node.text("parent")).collect();
        let tree: Vec<_> = nodes.iter().zip(&parents).map(|((id, _), parent)| (*id, parent.as_deref())).collect();
        for (number, is_current) in branches(&tree, record.text("current_node").as_deref()) {
            let Some(raw) = nodes[number].1.get("message") else { continue };
            let message = Object::of(raw);
            let id = message.text("id").unwrap_or_else(|| nodes[number].0.into());
            let Some(mut builder) = session.begin(Some(&id), raw.get().as_bytes(), output) else { continue };
            builder.created = message.time("create_time");
            add_message(session, &mut builder, &message);
            finish(session, builder, is_current, output);
        }
        if output.entries.is_empty() { Outcome::Ignored("conversation/empty".to_owned()) } else { Outcome::Imported }
    }
}

/// Adds the title of a conversation.
pub(super) fn add_title(session: &mut Session, title: Option<Cow<'_, str>>, record: &Object<'_>, output: &mut Output) {
    let source = format!("title\n{}", title.as_deref().unwrap_or_default());
    if let Some(mut builder) = session.begin(None, source.as_bytes(), output) {
        builder.created = record.any(&["create_time", "created_at"]).and_then(crate::transcript::read::object::time);
        Session::title(&mut builder, title);
        session.finish(builder, "title", b"", output);
    }
}

/// Passes on a message, and whether it is on the current branch, which is another one in another export.
pub(super) fn finish(session: &mut Session, builder: EntryBuilder, is_current: Option<bool>, output: &mut Output) {
    if let Some(is_current) = is_current {
        let shown = builder.entries.iter().filter(|entry| entry.removal.is_none());
        output.rewound.extend(shown.map(|entry| (entry.id, !is_current)));
    }
    session.finish(builder, "message", b"", output);
}

fn add_message(session: &mut Session, builder: &mut EntryBuilder, message: &Object<'_>) {
    let (author, content, metadata) = (message.object("author"), message.object("content"), message.object("metadata"));
    let word = author.text("role").unwrap_or_default();
    let role = role(&word).unwrap_or(Role::User);
    let kind = content.text("content_type").unwrap_or_default();
    let parts = content.list("parts");
    let mut texts: Vec<Cow<'_, str>> = parts.iter().filter_map(|part| json::text(part)).collect();
    texts.extend(content.any_text(&["text", "result", "model_set_context"]));
    let text = texts.join("\n");
    if role == Role::Assistant {
        session.set_model(metadata.text("model_slug"));
        builder.add_meta("model", session.model.clone());
    }
    let recipient = message.text("recipient").filter(|recipient| recipient != "all");
    match (&*kind, recipient) {
        ("thoughts", _) => {
            for thought in content.list("thoughts").into_iter().map(Object::of) {
                let texts: Vec<_> = [thought.text("summary"), thought.text("content")].into_iter().flatten().collect();
                builder.push(reasoning(None), texts.join("\n"));
            }
        }
        ("reasoning_recap", _) => {
            builder.removal = Some(Removal::Interface);
            let text = content.text("content").unwrap_or_default();
            builder.push(freeform("reasoning_recap", None), text.into_owned());
        }
        (_, Some(recipient)) if role == Role::Assistant => {
            session.call(builder, None, Some(recipient), arguments(&text));
        }
        (
            "text"
            | "multimodal_text"
            | "code"
            | "execution_output"
            | "tether_browsing_display"
            | "tether_quote"
            | "sonic_webpage"
            | "model_editable_context",
            _,
        ) => {
            let answered = role == Role::Tool && {
                let raw = RawValue::from_string(serde_json::Value::from(&*text).to_string()).ok();
                session.result(builder, None, None, raw.as_deref()).is_some()
            };
            let others = parts.iter().filter(|part| json::text(part).is_none());
            if role == Role::Tool && !answered && !text.is_empty() {
                let name = author.text("name");
                builder.push(freeform(name.as_deref().unwrap_or("tool"), Some(Role::User)), text);
            } else if !answered {
                session.text(builder, role, &text);
            }
            for part in others {
                let kind = Object::of(part).text("content_type");
                let role = if role == Role::Tool { Role::User } else { role };
                builder.push(freeform(kind.as_deref().unwrap_or("part"), Some(role)), part.get());
            }
        }
        (kind, _) => {
            let shown_as = Some(if role == Role::Tool { Role::User } else { role });
            let raw = message.get("content").map(RawValue::get).unwrap_or_default();
            builder.push(freeform(if kind.is_empty() { "content" } else { kind }, shown_as), raw);
        }
    }
    // An image is also a part.
    let is_image =
        |file: &Object<'_>| file.any_text(&["mime_type", "mimeType"]).is_some_and(|kind| kind.starts_with("image/"));
    for raw in metadata.list("attachments").into_iter().filter(|raw| !is_image(&Object::of(raw))) {
        builder.push(freeform("attachment", Some(role)), raw.get());
    }
}
