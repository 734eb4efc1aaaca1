//! Conversations of `Claude.ai`: one, or `conversations.json` in the export of an account.
//!
//! ```text
//! {"uuid":"…","name":"…","model":"…","current_leaf_message_uuid":"b","chat_messages":[{"uuid":"a","sender":"human","text":"…",
//!   "content":[{"type":"text","text":"…"}],"created_at":"…","attachments":[…],"files":[…],"parent_message_uuid":"…"},…]}
//! ```
//!
//! - The messages are a tree if they name their parents. Others than those on the path to the current leaf are rewound.
//! - `text` repeats the content. The export has the text of attachments, and of other files only the address.

use std::borrow::Cow;

use super::AgentFormat;
use super::chatgpt::{add_title, finish};
use super::tree::branches;
use crate::trace::model::item::Role;
use crate::transcript::read::builder::{EntryBuilder, artifact, freeform};
use crate::transcript::read::dialect::{Dialect, Session, role};
use crate::transcript::read::header;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_conversations::<ClaudeAi>("Claude.ai");

pub(crate) struct ClaudeAi;

impl Dialect for ClaudeAi {
    const FORMAT: &'static str = "claude-export";

    fn certainty(record: &Object<'_>) -> Certainty {
        let messages = record.list("chat_messages");
        let first = messages.first().map_or_else(|| record.object("chat_messages"), |first| Object::of(first));
        if first.has("sender") && first.has("uuid") {
            Certainty::Sure
        } else if record.has("chat_messages") && record.has("uuid") {
            Certainty::Likely
        } else {
            Certainty::No
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("uuid")
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        if !record.has("chat_messages") {
            return Outcome::Unknown("record".to_owned());
        }
        session.next_conversation(Self::session(record), output);
        session.set_model(record.text("model"));
        add_title(session, record.text("name"), record, output);
        let list = record.list("chat_messages");
        let messages: Vec<Object<'_>> = list.iter().map(|raw| Object::of(raw)).collect();
        let ids: Vec<Cow<'_, str>> = messages.iter().map(|message| message.text("uuid").unwrap_or_default()).collect();
        let parents: Vec<Option<Cow<'_, str>>> =
            messages.iter().map(|message| message.text("parent_message_uuid")).collect();
        let before = std::iter::once(None).chain(ids.iter().map(|id| Some(&**id)));
        let tree = ids.iter().zip(&parents).zip(before);
        let tree: Vec<_> = tree.map(|((id, parent), before)| (&**id, parent.as_deref().or(before))).collect();
        for (number, is_current) in branches(&tree, record.text("current_leaf_message_uuid").as_deref()) {
            let message = &messages[number];
            let bytes = list[number].get().as_bytes();
            let Some(mut builder) = session.begin(Some(&ids[number]), bytes, output) else { continue };
            builder.created = message.time("created_at");
            let sender = message.text("sender").unwrap_or_default();
            match role(&sender) {
                Some(role) => add_message(session, &mut builder, message, role),
                None => _ = builder.push(freeform("message", Some(Role::User)), bytes),
            }
            finish(session, builder, is_current, output);
        }
        if output.entries.is_empty() { Outcome::Ignored("conversation/empty".to_owned()) } else { Outcome::Imported }
    }
}

fn add_message(session: &mut Session, builder: &mut EntryBuilder, message: &Object<'_>, role: Role) {
    if role == Role::Assistant {
        builder.add_meta("model", session.model.clone());
    }
    for attached in message.list("attachments") {
        let file = Object::of(attached);
        let Some(text) = file.text("extracted_content") else {
            builder.push(freeform("attachment", Some(role)), attached.get());
            continue;
        };
        let kind = file.text("file_type").filter(|kind| kind.contains('/')).unwrap_or("text/plain".into());
        let mut fields = artifact(&kind, role);
        fields.path = file.text("file_name").and_then(|name| header::one_line(&name, 256));
        builder.push(fields, text.into_owned());
    }
    let files = message.list("files");
    for file in if files.is_empty() { message.list("files_v2") } else { files } {
        let kind = Object::of(file).text("file_kind").filter(|kind| !kind.is_empty());
        builder.push(freeform(kind.as_deref().unwrap_or("file"), Some(role)), file.get());
    }
    let before = builder.entries.len();
    for block in message.list("content") {
        if Object::of(block).text("type").is_none_or(|kind| kind != "token_budget") {
            session.block(builder, role, block);
        }
    }
    if builder.entries.len() == before {
        session.text(builder, role, &message.text("text").unwrap_or_default());
    }
}
