//! Sessions of Cline: `<home>/.cline/data/sessions/<id>/<id>.messages.json` with a manifest, `<id>.json`; and what its extension for
//! VS Code and Roo Code show of a task, `ui_messages.json` in a folder of the task.
//!
//! ```text
//! {"session_id":"1784…","cwd":"/home/ada/engine","model":"…",…}
//! {"version":1,"sessionId":"1784…","messages":[{"id":"msg_7m","role":"assistant","content":[…],"ts":1783…,"metrics":{…}}],
//!  "system_prompt":"…"}
//!
//! [{"ts":1740…,"type":"say","say":"text","text":"…"},{"ts":1740…,"type":"say","say":"api_req_started","text":"{\"tokensIn\":100,…}"}]
//! ```
//!
//! - Messages are those of Anthropic's API. A file with the messages after a compaction repeats the ids of those that were kept.
//! - In `ui_messages.json`, the first text is the task, and its time is the id of the session. Calls have no results, except commands.
//!   The usage of a request precedes what the model wrote.
//! - The folder is in the manifest, or in the text of a request.

mod shown;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use crate::tokens::TokenUsage;
use crate::trace::model::item::{Fields, ItemType, Role};
use crate::transcript::agents::search::is_own_file;
use crate::transcript::agents::{AgentFormat, FilePart};
use crate::transcript::format::head;
use crate::transcript::read::builder::{artifact, part_text};
use crate::transcript::read::dialect::{self, Dialect, Session, add_usage, role};
use crate::transcript::read::document::{DocumentLines, JoinedLines};
use crate::transcript::read::header;
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output, Transcript};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| env.os("HOME").map(PathBuf::from),
    parts: |transcript| Ok(parts(transcript)),
    open,
    resume: |_, _, _, _| None,
    ..AgentFormat::of_dialect::<Cline>("Cline")
};

const CLINE: &str = "saoudrizwan.claude-dev";
const ROO: &str = "rooveterinaryinc.roo-cline";

pub(crate) struct Cline;

impl Dialect for Cline {
    const FORMAT: &'static str = "cline";
    const FILES: &'static [&'static [&'static str]] = &[
        &[".cline", "data", "sessions", "*", "*.json"],
        &[".config", "Code", "User", "globalStorage", CLINE, "tasks", "*", "ui_messages.json"],
        &[".config", "Code", "User", "globalStorage", ROO, "tasks", "*", "ui_messages.json"],
        &["Library", "Application Support", "Code", "User", "globalStorage", CLINE, "tasks", "*", "ui_messages.json"],
        &["Library", "Application Support", "Code", "User", "globalStorage", ROO, "tasks", "*", "ui_messages.json"],
    ];

    fn certainty(record: &Object<'_>) -> Certainty {
        let message = record.object("messages");
        let is_message = ["id", "role", "content", "ts"].iter().all(|name| message.has(name));
        if is_shown(record) {
            Certainty::Sure
        } else if is_message || is_manifest(record) {
            Certainty::Likely
        } else {
            Certainty::No
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        let of_task = record.get("ts").filter(|_| is_shown(record)).map(|at| at.get().into());
        record.any_text(&["session_id", "sessionId"]).or(of_task)
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        if is_manifest(record) {
            return record.text("cwd");
        }
        let request =
            record.text("text").filter(|_| record.text("say").is_some_and(|kind| kind == "api_req_started"))?;
        let request: Object<'_> = serde_json::from_str(&request).ok()?;
        let text = request.text("request")?;
        let (_, after) = text.split_once("# Current W")?;
        let (folder, _) = after.split_once("Directory (")?.1.split_once(") Files")?;
        Some(folder.to_owned().into())
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        if is_shown(record) {
            return shown::read(session, record, bytes, output);
        }
        if is_manifest(record) {
            session.set_model(record.text("model"));
            return Outcome::Ignored("manifest".to_owned());
        }
        if let Some(raw) = record.get("messages") {
            return read_message(session, raw, output);
        }
        if record.has("role") {
            return serde_json::from_slice(bytes)
                .map_or_else(|_| Outcome::Unknown(String::new()), |raw| read_message(session, raw, output));
        }
        if let Some(prompt) = record.text("system_prompt").filter(|prompt| !prompt.is_empty()) {
            let Some(mut builder) = session.begin(None, prompt.as_bytes(), output) else { return Outcome::Repeated };
            builder.push(Fields::new(ItemType::instruction()), prompt.into_owned());
            return session.finish(builder, "system_prompt", b"", output);
        }
        let known = ["version", "updated_at", "agent", "sessionId", "system_prompt", "messages"];
        let known = known.into_iter().find(|name| record.has(name));
        known.map_or_else(|| Outcome::Unknown("(another member)".to_owned()), |name| Outcome::Ignored(name.to_owned()))
    }
}

/// The manifest, if it is there, becomes a line; so does each message.
fn open<'r>(mut reader: Box<dyn Read + 'r>) -> io::Result<Box<dyn Transcript + 'r>> {
    let mut manifest = head(&mut *reader)?;
    let mut values = serde_json::Deserializer::from_slice(&manifest).into_iter::<Object<'_>>();
    let has_manifest = values.next().is_some_and(|first| first.is_ok_and(|first| is_manifest(&first)));
    let rest = manifest.split_off(if has_manifest { values.byte_offset() } else { 0 });
    let mut line = Vec::new();
    JoinedLines::new(&manifest[..]).read_to_end(&mut line)?;
    line.push(b'\n');
    let lines = Cursor::new(line).chain(DocumentLines::new(Cursor::new(rest).chain(reader)));
    Ok(dialect::open_lines::<Cline>(Box::new(lines)))
}

/// Whether a record is one that an extension shows.
fn is_shown(record: &Object<'_>) -> bool {
    record.has("ts") && record.text("type").is_some_and(|kind| matches!(&*kind, "say" | "ask") && record.has(&kind))
}

fn is_manifest(record: &Object<'_>) -> bool {
    ["session_id", "cwd", "workspace_root", "provider"].iter().all(|name| record.has(name))
}

fn read_message(session: &mut Session, raw: &RawValue, output: &mut Output) -> Outcome {
    let message = Object::of(raw);
    let content = message.get("content");
    // A message that was kept in a compaction has other metadata.
    let bytes = content.map_or(raw.get(), RawValue::get).as_bytes();
    let is_summary = message.object("metadata").text("kind").is_some_and(|kind| kind == "compaction");
    let id = message.text("id").filter(|_| !is_summary);
    if let Some(id) = &id {
        session.enter(id, None, output);
    }
    let Some(mut builder) = session.begin(id.as_deref(), bytes, output) else { return Outcome::Repeated };
    builder.created = message.time("ts");
    let blocks = content.map(|content| json::list(content).unwrap_or_else(|| vec![content])).unwrap_or_default();
    let role = message.text("role").and_then(|word| role(&word)).unwrap_or(Role::User);
    if is_summary {
        let texts: Vec<Cow<'_, str>> = blocks.into_iter().filter_map(part_text).collect();
        session.summary(&mut builder, &texts.join("\n\n"), output, None);
        return session.finish(builder, "message", bytes, output);
    }
    if role == Role::Assistant {
        session.set_model(message.object("modelInfo").text("id"));
        builder.add_meta("model", session.model.clone());
    }
    for raw in blocks {
        let block = Object::of(raw);
        match block.text("content").filter(|_| block.text("type").is_some_and(|kind| kind == "file")) {
            Some(text) => {
                let mut fields = artifact("", role);
                fields.path = block.text("path").and_then(|path| header::one_line(&path, 4096));
                builder.push(fields, text.into_owned());
            }
            None => session.block(&mut builder, role, raw),
        }
    }
    let metrics = message.object("metrics");
    let [prompt, cached, written, output_tokens] =
        ["inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens"].map(|name| metrics.count(name));
    let input_tokens = prompt.saturating_sub(cached).saturating_sub(written);
    let usage = TokenUsage { input_tokens, cache_read_tokens: cached, cache_write_tokens: written, output_tokens };
    add_usage(&mut builder.entries, usage);
    session.finish(builder, "message", bytes, output)
}

/// The manifest of a session, and its messages. The user names only one of these files. So links are not followed.
fn parts(transcript: &Path) -> Vec<FilePart> {
    let name = transcript.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let stem = name.strip_suffix(".messages.json").or_else(|| name.strip_suffix(".json")).unwrap_or(name);
    let files = [".json", ".messages.json"].map(|end| transcript.with_file_name(format!("{stem}{end}")));
    let both = files.iter().all(|file| is_own_file(file));
    if both { files.iter().map(|file| FilePart::from(&**file)).collect() } else { vec![transcript.into()] }
}
