//! The transcript as Claude Code writes it: one content block of the model's a line, each record the next one's parent.

use std::collections::HashSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::{Outgoing, Setting, is_uuid, json_line, own_type, pieces_of, quoted, text, uuid};
use crate::tokens::Encoding;
use crate::trace::model::item::{Item, Role, Status};
use crate::transcript::claude_code::FORMAT;

/// The version whose files this follows.
const VERSION: &str = "2.1.32";

/// What sort of record an item goes into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Assistant,
    Attachment,
    Command,
}

pub(super) fn write(items: &[Item], setting: &Setting, outgoing: &mut Outgoing) {
    let mut writer = Writer { setting, used: HashSet::new(), parent: None, usage: None, context: 0 };
    let mut at = 0;
    while at < items.len() {
        let kind = kind_of(&items[at]);
        let mut end = at + 1 + pieces_of(items, at).len();
        // What came in one record goes into one again.
        while end < items.len() && kind_of(&items[end]) == kind && same_record(&items[at], &items[end], kind) {
            end += 1 + pieces_of(items, end).len();
        }
        let before = outgoing.bytes.len();
        writer.record(kind, &items[at..end], outgoing);
        if outgoing.bytes.len() > before {
            outgoing.items += end - at;
        }
        at = end;
    }
}

fn kind_of(item: &Item) -> Kind {
    let fields = &item.fields;
    let by_model = fields.role == Some(Role::Assistant)
        || fields.meta.get("role").and_then(Value::as_str) == Some("assistant")
        || matches!(fields.item_type.as_str(), "reasoning" | "output");
    match fields.item_type.as_str() {
        "dialogue" if fields.meta.contains_key("queued") => Kind::Attachment,
        "freeform" if fields.name.as_deref() == Some("local_command") => Kind::Command,
        "freeform" if !by_model && own_type(item).is_some_and(|own| fields.name.as_deref() == Some(&own)) => {
            Kind::Attachment
        }
        // The model sends no files.
        "artifact" => Kind::User,
        _ if by_model => Kind::Assistant,
        _ => Kind::User,
    }
}

fn same_record(first: &Item, next: &Item, kind: Kind) -> bool {
    let record = |item: &Item| item.fields.source.as_ref().map(|source| source.record().to_owned());
    let turn = kind == Kind::User && first.fields.turn.is_some() && first.fields.turn == next.fields.turn;
    matches!(kind, Kind::User | Kind::Assistant) && (turn || (record(first).is_some() && record(first) == record(next)))
}

struct Writer<'s> {
    setting: &'s Setting,
    used: HashSet<String>,
    parent: Option<String>,
    /// The message that is being written, and what its last line said of its cost.
    usage: Option<(String, String)>,
    /// The tokens of all that was written.
    context: u64,
}

impl Writer<'_> {
    fn record(&mut self, kind: Kind, items: &[Item], outgoing: &mut Outgoing) {
        let Some(first) = items.first() else { return };
        let body = match kind {
            Kind::User => {
                let content = user_content(items);
                format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":{content}}}")
            }
            Kind::Assistant => match self.message(items, outgoing) {
                Some(message) => format!("\"type\":\"assistant\",\"message\":{message}"),
                None => return,
            },
            Kind::Attachment => {
                let queued = || format!("{{\"type\":\"queued_command\",\"prompt\":{}}}", quoted(&text(first)));
                let own = json_line(first).filter(|_| first.fields.item_type.as_str() == "freeform");
                format!("\"type\":\"attachment\",\"attachment\":{}", own.unwrap_or_else(queued))
            }
            Kind::Command => {
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
        let told = kind == Kind::User && first.fields.item_type.as_str() == "instruction";
        let flags = [
            if told { ",\"isMeta\":true".to_owned() } else { flag("isMeta", "is_meta") },
            flag("isCompactSummary", "compact_summary"),
            flag("isApiErrorMessage", "api_error"),
        ]
        .concat();
        let Setting { session, folder, branch, at } = self.setting;
        let time = first.fields.created.unwrap_or(*at);
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":{},\"sessionId\":{},\
             \"version\":\"{VERSION}\",\"gitBranch\":{},{body}{flags},\"uuid\":{},\"timestamp\":\"{time}\"}}\n",
            quoted(&folder.to_string_lossy()),
            quoted(session),
            quoted(branch),
            quoted(&id),
        );
        outgoing.bytes.extend(line.as_bytes());
        self.parent = Some(id);
    }

    /// The id that the item's record had, or one made up.
    fn id_of(&mut self, item: &Item) -> String {
        let own = item.fields.source.as_ref().filter(|source| source.format() == FORMAT && source.block() == 0);
        let own = own.map(|source| source.record().to_owned()).filter(|record| is_uuid(record));
        let mut id = own.filter(|id| !self.used.contains(id));
        let mut times = 0;
        loop {
            let fresh = || uuid(format!("{}\n{}\n{times}", self.setting.session, item.id).as_bytes());
            let candidate = id.take().unwrap_or_else(fresh);
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
            times += 1;
        }
    }

    /// A message of the model's; `None` where nothing of it can be said.
    fn message(&mut self, items: &[Item], outgoing: &mut Outgoing) -> Option<String> {
        let mut content = String::new();
        for item in items {
            match block(item) {
                Some(block) => list(&mut content, &block),
                None => outgoing
                    .notes
                    .push(format!("thought {} is left out: it is not signed for this agent's provider", item.id)),
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

fn list(content: &mut String, block: &str) {
    if !content.is_empty() {
        content.push(',');
    }
    content.push_str(block);
}

/// One block of the model's; `None` for a thought that another provider signed, or none.
fn block(item: &Item) -> Option<String> {
    let fields = &item.fields;
    Some(match fields.item_type.as_str() {
        // What somebody wrote anew is no thought that a provider signed, and was written to be read.
        "reasoning" if item.revision > 1 && fields.signature.is_none() => said(item),
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
            // The provider takes objects only.
            let input = input.unwrap_or_else(|| format!("{{\"input\":{}}}", quoted(&text(item))));
            let id = quoted(fields.call_id.as_deref().unwrap_or_default());
            let name = quoted(fields.name.as_deref().unwrap_or("unknown"));
            format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{input}}}")
        }
        "freeform" if own_type(item).is_some() => json_line(item)?,
        _ => said(item),
    })
}

fn said(item: &Item) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&text(item)))
}

/// What a record of the user's says: a text alone as such, all else as blocks.
fn user_content(items: &[Item]) -> String {
    if let [only] = items
        && only.fields.item_type.as_str() == "dialogue"
    {
        return quoted(&text(only));
    }
    let mut content = String::new();
    let mut at = 0;
    while at < items.len() {
        let pieces = pieces_of(items, at);
        list(&mut content, &user_block(&items[at], pieces));
        at += 1 + pieces.len();
    }
    format!("[{content}]")
}

fn user_block(item: &Item, pieces: &[Item]) -> String {
    let fields = &item.fields;
    match fields.item_type.as_str() {
        "tool_io" => {
            let mut result = format!(
                "{{\"tool_use_id\":{},\"type\":\"tool_result\"",
                quoted(fields.call_id.as_deref().unwrap_or_default())
            );
            let body = quoted(&text(item));
            let content = if pieces.is_empty() {
                body
            } else {
                let mut all = String::new();
                if !item.body.is_empty() {
                    all = format!("{{\"type\":\"text\",\"text\":{body}}}");
                }
                for piece in pieces {
                    list(&mut all, &user_block(piece, &[]));
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
        "freeform" if own_type(item).is_some() => json_line(item).unwrap_or_default(),
        _ => said(item),
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
