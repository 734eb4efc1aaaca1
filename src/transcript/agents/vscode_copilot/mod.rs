//! Chats of GitHub Copilot in VS Code: `<home>/workspaceStorage/<hash>/chatSessions/<id>.json`, or a log of edits, `<id>.jsonl`.
//!
//! ```text
//! {"version":3,"sessionId":"331f…","requests":[{"requestId":"…","message":{"text":"…"},"response":[…],"modelId":"…",
//!   "result":{"metadata":{"renderedUserMessage":[…],"toolCallRounds":[{"response":"…","toolCalls":[{"id":"c1",…}]}],
//!                         "toolCallResults":{"c1":{"content":[…]}}}}},…]}
//! ```
//!
//! - A request without a result is not complete yet.
//! - `renderedUserMessage` is what the model was sent of a prompt; what the user typed is meta `typed` then.
//! - Rounds have the model's texts and calls; `response`, which repeats them for the eye, is read only without rounds.

mod answer;
mod log;

use std::borrow::Cow;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use serde_json::value::RawValue;

use self::answer::{round, shown};
use self::log::replay;
use super::search::matching;
use super::{AgentFormat, newest_first, read_small};
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::format::{first_lines, head};
use crate::transcript::read::builder::freeform;
use crate::transcript::read::dialect::{self, Dialect, Session};
use crate::transcript::read::document::DocumentLines;
use crate::transcript::read::header::is_listed;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| {
        if let Some(roaming) = env.os("APPDATA") {
            return Some(Path::new(&roaming).join("Code/User"));
        }
        let home = PathBuf::from(env.os("HOME")?);
        let of_macos = home.join("Library/Application Support/Code/User");
        Some(if of_macos.is_dir() { of_macos } else { home.join(".config/Code/User") })
    },
    sessions: |home, folder, is_wanted| {
        let mut files = matching(home, VsCodeCopilot::FILES)?;
        files.retain(|file| folder_of(file).is_some_and(|own| own == folder));
        Ok(Box::new(newest_first(files, is_wanted)?))
    },
    all: |home| {
        let files = newest_first(matching(home, VsCodeCopilot::FILES)?, |_, _| true)?;
        Ok(files.filter_map(|file| Some((folder_of(&file)?, file))).collect())
    },
    folder: |home, session| {
        let mut files = matching(home, VsCodeCopilot::FILES)?.into_iter();
        Ok(files.find(|file| file.file_stem().is_some_and(|stem| stem == session)).and_then(|file| folder_of(&file)))
    },
    open: |mut reader| {
        let head = head(&mut *reader)?;
        let is_log = first_lines(&head).next().is_some_and(|line| {
            line.starts_with(b"{\"kind\"")
                || serde_json::from_slice(line).is_ok_and(|first: Object<'_>| first.has("kind"))
        });
        let reader: Box<dyn Read + '_> = Box::new(Cursor::new(head).chain(reader));
        Ok(dialect::open_lines::<VsCodeCopilot>(if is_log {
            Box::new(Cursor::new(replay(reader)?))
        } else {
            Box::new(DocumentLines::new(reader))
        }))
    },
    resume: |_, _, _, _| None,
    ..AgentFormat::of_dialect::<VsCodeCopilot>("VS Code Copilot Chat")
};

/// Members of a session without messages.
const IGNORED: &str = "version sessionId creationDate lastMessageDate isImported initialLocation hasPendingEdits inputState mode \
    requesterUsername requesterAvatarIconUri responderUsername responderAvatarIconUri repoData pendingRequests selectedModel";

pub(crate) struct VsCodeCopilot;

impl Dialect for VsCodeCopilot {
    const FORMAT: &'static str = "vscode-copilot";
    const FILES: &'static [&'static [&'static str]] =
        &[&["workspaceStorage", "*", "chatSessions", "*.json"], &["workspaceStorage", "*", "chatSessions", "*.jsonl"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let is_chat = |chat: &Object<'_>| chat.has("requests") && chat.has("responderUsername");
        let request = record.object("requests");
        if is_chat(record) || record.has("kind") && is_chat(&record.object("v")) {
            Certainty::Sure
        } else if request.has("requestId") && request.has("response") {
            Certainty::Likely
        } else {
            Certainty::No
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("sessionId")
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        if let Some(raw) = record.any(&["requests", "rewound"]) {
            return request(session, raw, record.has("rewound"), output);
        }
        if let Some(title) = record.text("customTitle") {
            let Some(mut builder) = session.begin(None, bytes, output) else { return Outcome::Repeated };
            Session::title(&mut builder, Some(title));
            return session.finish(builder, "title", b"", output);
        }
        let name = record.names().next().unwrap_or_default().to_owned();
        if is_listed(&name, IGNORED) || name == "requests" { Outcome::Ignored(name) } else { Outcome::Unknown(name) }
    }
}

fn request(session: &mut Session, raw: &RawValue, is_rewound: bool, output: &mut Output) -> Outcome {
    let request = Object::of(raw);
    let (result, id) = (request.object("result"), request.text("requestId").unwrap_or_default());
    if result.is_empty() && !request.is_true("isCanceled") && !is_rewound {
        output.tally.cut = true;
        return Outcome::Ignored("request/incomplete".to_owned());
    }
    let before = output.entries.len();
    let metadata = result.object("metadata");
    session.set_model(request.text("modelId"));
    let begin = |session: &mut Session, source: &str, output: &Output| {
        let mut builder = session.begin(Some(source).filter(|_| !id.is_empty()), raw.get().as_bytes(), output)?;
        builder.created = request.time("timestamp");
        builder.removal = is_rewound.then_some(Removal::Rewound);
        Some(builder)
    };
    if let Some(mut builder) = begin(session, &id, output) {
        if !session.started {
            session.text(&mut builder, Role::System, &rendered(&metadata.list("renderedGlobalContext")));
        }
        let typed = request.text("message").or_else(|| request.object("message").text("text")).unwrap_or_default();
        let sent = Some(rendered(&metadata.list("renderedUserMessage"))).filter(|sent| !sent.is_empty());
        builder.add_meta("typed", sent.as_ref().filter(|sent| **sent != *typed).map(|_| typed.to_string()));
        session.text(&mut builder, Role::User, &sent.unwrap_or_else(|| typed.into_owned()));
        for variable in request.object("variableData").list("variables") {
            builder.push(freeform("attachment", Some(Role::User)), variable.get());
        }
        session.finish(builder, "request", b"", output);
    }
    let results = metadata.object("toolCallResults");
    let rounds = metadata.list("toolCallRounds");
    for (number, raw) in rounds.iter().enumerate() {
        let Some(mut builder) = begin(session, &format!("{id}/{number}"), output) else { continue };
        builder.add_meta("model", session.model.clone());
        round(session, &mut builder, &Object::of(raw), &results);
        session.finish(builder, "round", b"", output);
    }
    if let Some(mut builder) = begin(session, &format!("{id}/response"), output) {
        builder.add_meta("model", session.model.clone());
        if rounds.is_empty() {
            shown(session, &mut builder, &request.list("response"));
        }
        if let Some(error) = result.object("errorDetails").text("message") {
            builder.removal = builder.removal.or(Some(Removal::Interface));
            builder.push(freeform("error", None), error.into_owned());
        }
        session.finish(builder, "response", b"", output);
    }
    output.rewound.extend(output.entries.range(before..).filter(|_| is_rewound).map(|entry| (entry.id, true)));
    if output.entries.len() > before { Outcome::Imported } else { Outcome::Repeated }
}

/// The texts of a message as the model was sent it.
fn rendered(parts: &[&RawValue]) -> String {
    parts.iter().filter_map(|part| Object::of(part).text("text")).collect()
}

/// The folder of a chat: that of its workspace.
fn folder_of(chat: &Path) -> Option<PathBuf> {
    let workspace = read_small(&chat.parent()?.parent()?.join("workspace.json"))?;
    let uri = serde_json::from_slice::<Object<'_>>(&workspace).ok()?.text("folder")?.into_owned();
    Some(percent_decode_str(uri.strip_prefix("file://")?).decode_utf8().ok()?.into_owned().into())
}
