//! Writes a transcript as Claude Code does: one content block of the model per line, each record the parent of the next.

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::FORMAT;
use crate::tokens::Encoding;
use crate::trace::model::item::{Item, Role, Status};
use crate::transcript::export::{
    ExportedTranscript, NewSession, is_uuid, json_line, json_type, parts_of_result, quoted, text, uuid,
};

/// The agent version whose files this imitates.
const VERSION: &str = "2.1.32";

/// The kind of record that an item is written to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    User,
    Assistant,
    Attachment,
    Command,
}

pub(super) fn write(items: &[Item], session: &NewSession, exported: &mut ExportedTranscript) {
    let mut writer = RecordWriter { session, used: HashSet::new(), parent: None, usage: None, context: 0 };
    let mut at = 0;
    while at < items.len() {
        let kind = kind_of(&items[at]);
        let mut end = at + 1 + parts_of_result(items, at).len();
        // Items of one imported record are written as one record again.
        while end < items.len() && kind_of(&items[end]) == kind && same_record(&items[at], &items[end], kind) {
            end += 1 + parts_of_result(items, end).len();
        }
        let before = exported.bytes.len();
        writer.record(kind, &items[at..end], exported);
        if exported.bytes.len() > before {
            exported.items += end - at;
        }
        at = end;
    }
}

fn kind_of(item: &Item) -> RecordKind {
    let fields = &item.fields;
    let by_model = fields.role == Some(Role::Assistant)
        || fields.meta.get("role").and_then(Value::as_str) == Some("assistant")
        || matches!(fields.item_type.as_str(), "reasoning" | "output");
    match fields.item_type.as_str() {
        "dialogue" if fields.meta.contains_key("queued") => RecordKind::Attachment,
        "freeform" if fields.name.as_deref() == Some("local_command") => RecordKind::Command,
        "freeform" if !by_model && json_type(item).is_some_and(|own| fields.name.as_deref() == Some(&own)) => {
            RecordKind::Attachment
        }
        // Models do not send files.
        "artifact" => RecordKind::User,
        _ if by_model => RecordKind::Assistant,
        _ => RecordKind::User,
    }
}

fn same_record(first: &Item, next: &Item, kind: RecordKind) -> bool {
    let record = |item: &Item| item.fields.source.as_ref().map(|source| source.record().to_owned());
    let turn = kind == RecordKind::User && first.fields.turn.is_some() && first.fields.turn == next.fields.turn;
    matches!(kind, RecordKind::User | RecordKind::Assistant)
        && (turn || (record(first).is_some() && record(first) == record(next)))
}

struct RecordWriter<'s> {
    session: &'s NewSession,
    used: HashSet<String>,
    parent: Option<String>,
    /// The id of the current message, and the usage on its last line.
    usage: Option<(String, String)>,
    /// The tokens of everything written so far.
    context: u64,
}

impl RecordWriter<'_> {
    fn record(&mut self, kind: RecordKind, items: &[Item], exported: &mut ExportedTranscript) {
        let Some(first) = items.first() else { return };
        let body = match kind {
            RecordKind::User => {
                let content = user_content(items);
                format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{content}}}")
            }
            RecordKind::Assistant => match self.message(items, exported) {
                Some(message) => format!("\"type\":\"assistant\",\"message\":{message}"),
                None => return,
            },
            RecordKind::Attachment => {
                let queued = || format!("{{\"type\":\"queued_command\",\"prompt\":{}}}", quoted(&text(first)));
                let own = json_line(first).filter(|_| first.fields.item_type.as_str() == "freeform");
                format!("\"type\":\"attachment\",\"attachment\":{}", own.unwrap_or_else(queued))
            }
            RecordKind::Command => {
                let content = quoted(&text(first));
                format!("\"type\":\"system\",\"subtype\":\"local_command\",\"level\":\"info\",\"content\":{content}")
            }
        };
        self.context += items.iter().map(|item| item.token_count(Encoding::default())).sum::<u64>();
        let id = self.id_of(first);
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let flag = |name: &str, key: &str| {
            let on = first.fields.meta.get(key).and_then(Value::as_bool) == Some(true);
            if on { format!(",\"{name}\":true") } else { String::new() }
        };
        let is_instruction = kind == RecordKind::User && first.fields.item_type.as_str() == "instruction";
        let flags = [
            if is_instruction { ",\"isMeta\":true".to_owned() } else { flag("isMeta", "is_meta") },
            flag("isCompactSummary", "compact_summary"),
            flag("isApiErrorMessage", "api_error"),
        ]
        .concat();
        let NewSession { id: session, folder, branch, at } = self.session;
        let time = first.fields.created.unwrap_or(*at);
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":{},\"sessionId\":{},\
             \"version\":\"{VERSION}\",\"gitBranch\":{},{body}{flags},\"uuid\":{},\"timestamp\":\"{time}\"}}\n",
            quoted(&folder.to_string_lossy()),
            quoted(session),
            quoted(branch),
            quoted(&id),
        );
        exported.bytes.extend(line.as_bytes());
        self.parent = Some(id);
    }

    /// The id of the item's original record, or a new one.
    fn id_of(&mut self, item: &Item) -> String {
        let own = item.fields.source.as_ref().filter(|source| source.format() == FORMAT && source.block() == 0);
        let own = own.map(|source| source.record().to_owned()).filter(|record| is_uuid(record));
        let mut id = own.filter(|id| !self.used.contains(id));
        let mut times = 0;
        loop {
            let fresh = || uuid(format!("{}\n{}\n{times}", self.session.id, item.id).as_bytes());
            let candidate = id.take().unwrap_or_else(fresh);
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
            times += 1;
        }
    }

    /// A message of the model; `None` if no block of it can be exported.
    fn message(&mut self, items: &[Item], exported: &mut ExportedTranscript) -> Option<String> {
        let mut content = String::new();
        for item in items {
            match block(item) {
                Some(block) => push_block(&mut content, &block),
                None => exported
                    .notes
                    .push(format!("reasoning {} is omitted: the provider of this agent did not sign it", item.id)),
            }
        }
        if content.is_empty() {
            return None;
        }
        let first = &items[0];
        let id = first.fields.turn.clone();
        let id = id.unwrap_or_else(|| format!("msg_{}", uuid(first.id.to_string().as_bytes()).replace('-', "")));
        let model = items.iter().find_map(|item| item.fields.meta.get("model")?.as_str()).unwrap_or("unknown");
        let reported = items.iter().rev().find_map(|item| item.fields.meta.get("usage")).map(Value::to_string);
        let so_far = self.usage.take().filter(|(message, _)| *message == id).map(|(_, usage)| usage);
        let usage = reported.or(so_far).unwrap_or_else(|| {
            let output: u64 = items.iter().map(|item| item.token_count(Encoding::default())).sum();
            format!("{{\"input_tokens\":{},\"output_tokens\":{output}}}", self.context)
        });
        let message = format!(
            "{{\"model\":{},\"id\":{},\"type\":\"message\",\"role\":\"assistant\",\"content\":[{content}],\
             \"stop_reason\":null,\"stop_sequence\":null,\"usage\":{usage}}}",
            quoted(model),
            quoted(&id),
        );
        self.usage = Some((id, usage));
        Some(message)
    }
}

fn push_block(content: &mut String, block: &str) {
    if !content.is_empty() {
        content.push(',');
    }
    content.push_str(block);
}

/// A block of the model; `None` for reasoning that is unsigned or signed by another provider.
fn block(item: &Item) -> Option<String> {
    let fields = &item.fields;
    Some(match fields.item_type.as_str() {
        // Reasoning that a person rewrote is not signed, and is meant to be read.
        "reasoning" if item.revision > 1 && fields.signature.is_none() => text_block(item),
        "reasoning" => {
            fields.source.as_ref().filter(|source| matches!(source.format(), FORMAT | "anthropic"))?;
            let odd = fields.meta.get("signature").and_then(Value::as_str);
            let signature = quoted(fields.signature.as_deref().or(odd)?);
            if fields.meta.get("redacted").and_then(Value::as_bool) == Some(true) {
                format!("{{\"type\":\"redacted_thinking\",\"data\":{signature}}}")
            } else {
                format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":{signature}}}", quoted(&text(item)))
            }
        }
        "tool_io" if fields.is_call() => {
            let input = json_line(item).filter(|input| input.trim_start().starts_with('{'));
            // The provider accepts only objects.
            let input = input.unwrap_or_else(|| format!("{{\"input\":{}}}", quoted(&text(item))));
            let id = quoted(fields.call_id.as_deref().unwrap_or_default());
            let name = quoted(fields.name.as_deref().unwrap_or("unknown"));
            format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{input}}}")
        }
        "freeform" if json_type(item).is_some() => json_line(item)?,
        _ => text_block(item),
    })
}

fn text_block(item: &Item) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&text(item)))
}

/// The content of a user record: a single text as a string, anything else as blocks.
fn user_content(items: &[Item]) -> String {
    if let [only] = items
        && only.fields.item_type.as_str() == "dialogue"
    {
        return quoted(&text(only));
    }
    let mut content = String::new();
    let mut at = 0;
    while at < items.len() {
        let parts = parts_of_result(items, at);
        push_block(&mut content, &user_block(&items[at], parts));
        at += 1 + parts.len();
    }
    format!("[{content}]")
}

fn user_block(item: &Item, parts: &[Item]) -> String {
    let fields = &item.fields;
    match fields.item_type.as_str() {
        "tool_io" => {
            let mut result = format!(
                "{{\"tool_use_id\":{},\"type\":\"tool_result\"",
                quoted(fields.call_id.as_deref().unwrap_or_default())
            );
            let body = quoted(&text(item));
            let content = if parts.is_empty() {
                body
            } else {
                let mut all = String::new();
                if !item.body.is_empty() {
                    all = format!("{{\"type\":\"text\",\"text\":{body}}}");
                }
                for part in parts {
                    push_block(&mut all, &user_block(part, &[]));
                }
                format!("[{all}]")
            };
            let _ = write!(result, ",\"content\":{content}");
            if fields.status == Some(Status::Error) {
                result.push_str(",\"is_error\":true");
            }
            result.push('}');
            result
        }
        "artifact" => file(item),
        "freeform" if fields.name.as_deref() == Some("image") && item.body.starts_with(b"http") => {
            let url = quoted(&text(item));
            format!("{{\"type\":\"image\",\"source\":{{\"type\":\"url\",\"url\":{url}}}}}")
        }
        "freeform" if json_type(item).is_some() => json_line(item).unwrap_or_default(),
        _ => text_block(item),
    }
}

fn file(item: &Item) -> String {
    let media_type = item.fields.media_type.as_deref();
    let kind = match item.fields.kind.as_deref() {
        Some(kind @ ("image" | "document")) => kind,
        _ if media_type.is_some_and(|media_type| media_type.starts_with("image/")) => "image",
        _ => "document",
    };
    let source = match (std::str::from_utf8(&item.body), kind) {
        (Ok(text), "document") => {
            format!(
                "{{\"type\":\"text\",\"media_type\":{},\"data\":{}}}",
                quoted(media_type.unwrap_or("text/plain")),
                quoted(text)
            )
        }
        _ => format!(
            "{{\"type\":\"base64\",\"media_type\":{},\"data\":\"{}\"}}",
            quoted(media_type.unwrap_or("application/octet-stream")),
            BASE64.encode(&item.body)
        ),
    };
    let mut block = format!("{{\"type\":\"{kind}\",\"source\":{source}");
    for key in ["title", "context"] {
        if let Some(value) = item.fields.meta.get(key) {
            let _ = write!(block, ",\"{key}\":{value}");
        }
    }
    block.push('}');
    block
}
