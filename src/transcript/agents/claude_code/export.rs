//! Writes a transcript as Claude Code does: one content block of the model per line, each record the parent of the next.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::FORMAT;
use crate::trace::model::item::{Item, Role, Status};
use crate::transcript::export::{
    ExportedTranscript, NewSession, RecordIds, has_flag, is_uuid, json_line, json_type, parts_of_result, quoted,
    same_record, signature, text, uuid,
};

/// The agent version whose files this imitates.
const VERSION: &str = "2.1.32";

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    User,
    Assistant,
    Attachment,
    Command,
}

pub(super) fn write(items: &[Item], session: &NewSession, exported: &mut ExportedTranscript) {
    let mut writer = RecordWriter { session, used: RecordIds::default(), parent: None };
    let mut at = 0;
    while at < items.len() {
        let kind = kind_of(&items[at]);
        let mut end = at + 1 + parts_of_result(items, at).len();
        // Items of one imported record are written as one record again.
        while end < items.len() && kind_of(&items[end]) == kind && in_same_record(&items[at], &items[end], kind) {
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
        "freeform" if attachment(item).is_some() => RecordKind::Attachment,
        "freeform" if !by_model && json_type(item).is_some_and(|own| fields.name.as_deref() == Some(&own)) => {
            RecordKind::Attachment
        }
        // Models do not send files.
        "artifact" => RecordKind::User,
        _ if by_model => RecordKind::Assistant,
        _ => RecordKind::User,
    }
}

/// The attachment that an item was made of, unless somebody edited its text since.
fn attachment(item: &Item) -> Option<String> {
    item.fields.meta.get("attachment").filter(|_| item.revision == 1).map(Value::to_string)
}

fn in_same_record(first: &Item, next: &Item, kind: RecordKind) -> bool {
    let same_turn = first.fields.turn.is_some() && first.fields.turn == next.fields.turn;
    match kind {
        RecordKind::User => same_turn || same_record(first, next),
        RecordKind::Assistant => same_record(first, next),
        RecordKind::Attachment | RecordKind::Command => false,
    }
}

/// The usage that was reported for the recorded request is not true of the exported one. The agent takes zero as no report.
const USAGE: &str = r#"{"input_tokens":0,"output_tokens":0}"#;

struct RecordWriter<'s> {
    session: &'s NewSession,
    used: RecordIds,
    parent: Option<String>,
}

impl RecordWriter<'_> {
    fn record(&mut self, kind: RecordKind, items: &[Item], exported: &mut ExportedTranscript) {
        let Some(first) = items.first() else { return };
        let body = match kind {
            RecordKind::User => {
                let content = user_content(items);
                format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{content}}}")
            }
            RecordKind::Assistant => match Self::message(items, exported) {
                Some(message) => format!("\"type\":\"assistant\",\"message\":{message}"),
                None => return,
            },
            RecordKind::Attachment => {
                let queued = || format!("{{\"type\":\"queued_command\",\"prompt\":{}}}", quoted(&text(first)));
                let own = || json_line(first).filter(|_| first.fields.item_type.as_str() == "freeform");
                let own = attachment(first).or_else(own);
                format!("\"type\":\"attachment\",\"attachment\":{}", own.unwrap_or_else(queued))
            }
            RecordKind::Command => {
                let content = quoted(&text(first));
                format!("\"type\":\"system\",\"subtype\":\"local_command\",\"level\":\"info\",\"content\":{content}")
            }
        };
        let id = self.id_of(first);
        let parent = self.parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
        let is_instruction = kind == RecordKind::User && first.fields.item_type.as_str() == "instruction";
        let flags = [
            (is_instruction || has_flag(first, "is_meta"), ",\"isMeta\":true"),
            (has_flag(first, "compact_summary"), ",\"isCompactSummary\":true"),
            (has_flag(first, "api_error"), ",\"isApiErrorMessage\":true"),
        ];
        let flags: String = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).collect();
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

    fn id_of(&mut self, item: &Item) -> String {
        let own = item.fields.source.as_ref().filter(|source| source.format() == FORMAT && source.block() == 0);
        let own = own.map(|source| source.record().to_owned()).filter(|record| is_uuid(record));
        self.used.free(own, item, self.session, 36)
    }

    /// A message of the model; `None` if no block of it can be exported.
    fn message(items: &[Item], exported: &mut ExportedTranscript) -> Option<String> {
        let mut content = Vec::new();
        for item in items {
            match block(item) {
                Some(block) => content.push(block),
                None => exported.omit_reasoning(item),
            }
        }
        let first = items.first().filter(|_| !content.is_empty())?;
        let content = content.join(",");
        let id = first.fields.turn.clone();
        let id = id.unwrap_or_else(|| format!("msg_{}", uuid(first.id.to_string().as_bytes()).replace('-', "")));
        let model = items.iter().find_map(|item| item.fields.meta.get("model")?.as_str()).unwrap_or("unknown");
        let message = format!(
            "{{\"model\":{},\"id\":{},\"type\":\"message\",\"role\":\"assistant\",\"content\":[{content}],\
             \"stop_reason\":null,\"stop_sequence\":null,\"usage\":{USAGE}}}",
            quoted(model),
            quoted(&id),
        );
        Some(message)
    }
}

/// A block of the model; `None` for reasoning that is unsigned or signed by another provider.
fn block(item: &Item) -> Option<String> {
    let fields = &item.fields;
    Some(match fields.item_type.as_str() {
        // Reasoning that a person rewrote is not signed, and is meant to be read.
        "reasoning" if item.revision > 1 && fields.signature.is_none() => text_block(item),
        "reasoning" => {
            fields.source.as_ref().filter(|source| matches!(source.format(), FORMAT | "anthropic"))?;
            let signature = quoted(signature(item)?);
            if has_flag(item, "redacted") {
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
    let mut content = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let parts = parts_of_result(items, at);
        content.push(user_block(&items[at], parts));
        at += 1 + parts.len();
    }
    format!("[{}]", content.join(","))
}

fn user_block(item: &Item, parts: &[Item]) -> String {
    let fields = &item.fields;
    match fields.item_type.as_str() {
        "tool_io" => {
            let id = quoted(fields.call_id.as_deref().unwrap_or_default());
            let content = if parts.is_empty() {
                quoted(&text(item))
            } else {
                let body = (!item.body.is_empty()).then(|| text_block(item));
                let all: Vec<_> = body.into_iter().chain(parts.iter().map(|part| user_block(part, &[]))).collect();
                format!("[{}]", all.join(","))
            };
            let error = if fields.status == Some(Status::Error) { ",\"is_error\":true" } else { "" };
            format!("{{\"tool_use_id\":{id},\"type\":\"tool_result\",\"content\":{content}{error}}}")
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
            let media_type = quoted(media_type.unwrap_or("text/plain"));
            format!("{{\"type\":\"text\",\"media_type\":{media_type},\"data\":{}}}", quoted(text))
        }
        _ => {
            let media_type = quoted(media_type.unwrap_or("application/octet-stream"));
            let data = BASE64.encode(&item.body);
            format!("{{\"type\":\"base64\",\"media_type\":{media_type},\"data\":\"{data}\"}}")
        }
    };
    let meta = |key| item.fields.meta.get(key).map(|value| format!(",\"{key}\":{value}"));
    let meta: String = ["title", "context"].into_iter().filter_map(meta).collect();
    format!("{{\"type\":\"{kind}\",\"source\":{source}{meta}}}")
}
