//! Sessions of opencode: what `opencode export` and `opencode run --format json` print, the messages of its server, and the files
//! that versions before 1.2 stored. Later versions store a database, which `opencode export` reads.
//!
//! ```text
//! {"info":{"id":"ses_38…","directory":"…"},"messages":[{"info":{"id":"msg_c7…","role":"user",…},"parts":[{"type":"text",…}]}]}
//! {"type":"tool_use","timestamp":1767036061199,"sessionID":"ses_49…","part":{"type":"tool","callID":"…","state":{…}}}
//!
//! <home>/storage/session/<project>/<session>.json    {"id":"ses_38…","directory":"…"}
//! <home>/storage/message/<session>/<message>.json    {"id":"msg_c7…","sessionID":"ses_38…","role":"user",…}
//! <home>/storage/part/<message>/<part>.json          {"id":"prt_c7…","messageID":"msg_c7…","type":"text","text":"…"}
//! ```
//!
//! | part | item |
//! | --- | --- |
//! | `text`, `reasoning`, `file` | `dialogue`, `reasoning`, `artifact`; a file without its bytes is `freeform` |
//! | `tool` | `tool_io` call and, once it is there, result |
//! | `step-finish` | the usage of the items before it |
//! | any other | `freeform`, removed as `interface`, except `subtask` |
//!
//! A part's source is its id, whatever the file. The messages from `revert` on are rewound. A message that summarizes a compaction
//! replaces the earlier ones.

mod export;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::search::{own_files, said_by};
use super::{AgentFormat, FilePart};
use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::export::Exporter;
use crate::transcript::read::blocks::add_file;
use crate::transcript::read::builder::{EntryBuilder, call_arguments, freeform};
use crate::transcript::read::dialect::{Dialect, Session, add_usage, role};
use crate::transcript::read::header::{self, is_listed};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| {
        let data = env.os("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
        let data = data.or_else(|| Some(Path::new(&env.os("HOME")?).join(".local/share")))?;
        Some(data.join("opencode"))
    },
    parts,
    exporter: Some(Exporter {
        import_command: Some("opencode import"),
        session_id: |uuid| format!("ses_{}", &uuid.replace('-', "")[..26]),
        ..Exporter::new(
            export::write,
            |home, session| Some(home.join("git-trace").join(format!("{}.json", session.id))),
            "opencode --session",
        )
    }),
    ..AgentFormat::of_dialect::<Opencode>("opencode")
};

/// Parts without content for the model.
const NOISE: &str = "step-start step-finish snapshot patch";

pub(crate) struct Opencode;

impl Dialect for Opencode {
    const FORMAT: &'static str = "opencode";
    const LIST: Option<&'static str> = Some("messages");
    const FILES: &'static [&'static [&'static str]] = &[&["storage", "session", "*", "*.json"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let message = record.get("messages").map(Object::of).filter(|message| message.has("parts"));
        let info = message.as_ref().unwrap_or(record).object("info");
        let is_message = info.has("role") && info.has("sessionID");
        if is_message || info.has("projectID") && info.has("directory") || record.object("part").has("messageID") {
            Certainty::Sure
        } else if record.has("projectID") && record.has("directory") {
            Certainty::Likely
        } else {
            Certainty::No
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        let info = record.object("info");
        let message = record.object("messages").object("info");
        let header = if info.has("role") { None } else { info.text("id") };
        let own = record.text("id").filter(|_| record.has("projectID"));
        header.or(own).or_else(|| [record, &info, &message].iter().find_map(|object| object.text("sessionID")))
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        let info = record.object("info");
        let message = record.object("messages").object("info").object("path").text("cwd");
        record.text("directory").or_else(|| info.text("directory")).or(message)
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let message = record.get("messages").map(Object::of);
        if let Some(message) = message.as_ref().or_else(|| record.has("parts").then_some(record)) {
            return read_message(session, message, output);
        }
        if let Some(raw) = record.get("part").filter(|_| record.has("type")) {
            // The stream has no prompts.
            let at = record.get("timestamp").map_or("null", RawValue::get);
            let info = format!("{{\"role\":\"assistant\",\"time\":{at}}}");
            return read_event(session, raw, &info, output);
        }
        if record.has("messageID") {
            let info = session.notes.pop().unwrap_or_default();
            let outcome = serde_json::from_slice(bytes)
                .map_or_else(|_| Outcome::Unknown(String::new()), |raw| read_event(session, raw, &info, output));
            session.notes.push(info);
            return outcome;
        }
        if record.has("role") && record.has("sessionID") {
            // Its parts follow.
            session.notes = vec![String::from_utf8_lossy(bytes).into_owned()];
            return Outcome::Ignored("message".to_owned());
        }
        match (record.get("info"), record.has("projectID")) {
            (Some(info), _) => read_head(session, &Object::of(info), output),
            (None, true) => read_head(session, record, output),
            (None, false) => Outcome::Unknown(String::new()),
        }
    }
}

fn read_head(session: &mut Session, head: &Object<'_>, output: &mut Output) -> Outcome {
    session.reverted = head.object("revert").text("messageID").map(Into::into);
    let title = head.text("title").unwrap_or_default();
    let Some(mut builder) = session.begin(None, title.as_bytes(), output) else { return Outcome::Repeated };
    Session::title(&mut builder, Some(title));
    session.finish(builder, "session", b"", output)
}

fn read_message(session: &mut Session, message: &Object<'_>, output: &mut Output) -> Outcome {
    let Some(info) = message.get("info") else { return Outcome::Unknown("message".to_owned()) };
    let mut outcome = Outcome::Ignored("message/empty".to_owned());
    let before = output.entries.len();
    let parts = message.list("parts");
    for raw in &parts {
        match read_part(session, raw, info.get(), output) {
            unknown @ Outcome::Unknown(_) => return unknown,
            imported_or_repeated @ (Outcome::Imported | Outcome::Repeated) if outcome != Outcome::Imported => {
                outcome = imported_or_repeated;
            }
            _ => {}
        }
    }
    let finished = |raw: &&&RawValue| Object::of(raw).text("type").is_some_and(|kind| kind == "step-finish");
    let of_steps =
        parts.iter().rfind(finished).map(|raw| usage(&Object::of(raw))).filter(|usage| usage.context_tokens() > 0);
    add_usage(output.entries.range_mut(before..), of_steps.unwrap_or_else(|| usage(&Object::of(info))));
    outcome
}

/// Reads a part that is a separate record. The usage follows at the end of its step.
fn read_event(session: &mut Session, raw: &RawValue, info: &str, output: &mut Output) -> Outcome {
    let part = Object::of(raw);
    match part.text("type").as_deref() {
        Some("step-start") => output.awaits_usage = true,
        Some("step-finish") => {
            add_usage(&mut output.entries, usage(&part));
            output.awaits_usage = false;
        }
        _ => {}
    }
    read_part(session, raw, info, output)
}

/// Reads a part of the message that `info` describes.
fn read_part(session: &mut Session, raw: &RawValue, info: &str, output: &mut Output) -> Outcome {
    let info: Object<'_> = serde_json::from_str(info).unwrap_or_default();
    let part = Object::of(raw);
    let kind = part.text("type").unwrap_or_default();
    if is_listed(&kind, NOISE) {
        return Outcome::Ignored(kind.into_owned());
    }
    let Some(role) = info.text("role").and_then(|word| role(&word)) else {
        return Outcome::Unknown("message".to_owned());
    };
    let id = part.text("id");
    let Some(mut builder) = session.begin(id.as_deref(), raw.get().as_bytes(), output) else {
        return Outcome::Repeated;
    };
    let (state, time) = (part.object("state"), part.object("time"));
    let of_message = info.object("time").time("created").or_else(|| info.time("time"));
    builder.ids = export::items_of(id.as_deref().unwrap_or_default());
    builder.created = time.time("start").or_else(|| state.object("time").time("start")).or(of_message);
    let message = info.text("id").or_else(|| part.text("messageID")).unwrap_or_default();
    let is_reverted = session.reverted.as_ref().is_some_and(|first| *message >= **first);
    builder.removal = is_reverted.then_some(Removal::Rewound);
    if role == Role::Assistant {
        session.set_model(info.text("modelID"));
        builder.add_meta("model", session.model.clone());
        builder.add_meta("provider", info.text("providerID").and_then(|provider| header::one_line(&provider, 128)));
    }
    let text = part.text("text").unwrap_or_default();
    match &*kind {
        "text" => {
            builder.add_meta("synthetic", part.is_true("synthetic").then_some(true));
            if part.is_true("ignored") {
                builder.removal = builder.removal.or(Some(Removal::Interface));
            }
            if info.is_true("summary") && role == Role::Assistant {
                session.summary(&mut builder, &text, output, None);
            } else {
                session.text(&mut builder, role, &text);
            }
        }
        "reasoning" => {
            // It contains the signature of the provider.
            let metadata = part.get("metadata").and_then(|metadata| serde_json::from_str(metadata.get()).ok());
            builder.add_meta("metadata", metadata.filter(serde_json::Value::is_object));
            session.block(&mut builder, role, raw);
        }
        "file" => session.block(&mut builder, role, raw),
        "tool" => tool(session, &mut builder, raw),
        _ => {
            if kind != "subtask" {
                builder.removal = builder.removal.or(Some(Removal::Interface));
            }
            builder.push(freeform(if kind.is_empty() { "part" } else { &kind }, Some(role)), raw.get());
        }
    }
    let turn = header::id(&message).filter(|_| role == Role::Assistant);
    for entry in builder.entries.iter_mut().filter(|entry| !entry.draft.fields.is_result()) {
        entry.draft.fields.turn.clone_from(&turn);
    }
    session.finish_in_turn(builder, &kind, output)
}

fn tool(session: &mut Session, builder: &mut EntryBuilder, raw: &RawValue) {
    let part = Object::of(raw);
    let state = part.object("state");
    let id = part.text("callID");
    if session.call(builder, id.clone(), part.text("tool"), call_arguments(state.get("input"))).is_none() {
        builder.push(freeform("tool", Some(Role::Assistant)), raw.get());
        return;
    }
    let failed = match state.text("status").as_deref() {
        Some("completed") => false,
        Some("error") => true,
        _ => return,
    };
    builder.created = state.object("time").time("end").or(builder.created);
    session.result(builder, id, Some(failed), state.any(if failed { &["error", "output"] } else { &["output"] }));
    let answer = builder.entries.last().map(|entry| entry.id);
    for file in state.list("attachments") {
        add_file(builder, Role::User, file).draft.fields.reply_to = answer;
    }
}

fn usage(of: &Object<'_>) -> TokenUsage {
    let tokens = of.object("tokens");
    let cache = tokens.object("cache");
    TokenUsage {
        input_tokens: tokens.count("input"),
        cache_read_tokens: cache.count("read"),
        cache_write_tokens: cache.count("write"),
        output_tokens: tokens.count("output").saturating_add(tokens.count("reasoning")),
    }
}

/// The messages of a stored session, each with its parts, and then the session. The ids in them name folders.
fn parts(transcript: &Path) -> io::Result<Vec<FilePart>> {
    let mut found = Vec::new();
    let storage = transcript.ancestors().nth(2).filter(|folder| folder.ends_with("session")).and_then(Path::parent);
    if let Some(storage) = storage {
        for message in files_of(storage, "message", transcript)? {
            found.push(FilePart::from(&*message));
            found.extend(files_of(storage, "part", &message)?.iter().map(|part| FilePart::from(&**part)));
        }
    }
    found.push(transcript.into());
    Ok(found)
}

/// The files in the folder that is named by the id in a file, in the order of their names.
fn files_of(storage: &Path, kind: &str, owner: &Path) -> io::Result<Vec<PathBuf>> {
    let id = said_by(owner, |record| record.text("id"));
    let is_name = |id: &String| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let Some(id) = id.filter(is_name) else { return Ok(Vec::new()) };
    own_files(storage, &[kind, &id], ".json")
}
