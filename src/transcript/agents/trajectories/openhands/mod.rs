//! Sessions of `OpenHands`: trajectories of V0, a JSON list of events, and the events of V1, one JSON object each.
//!
//! ```text
//! {"id":7,"timestamp":"…","source":"agent","action":"run","args":{"command":"ls","thought":"…"},"tool_call_metadata":{…}}
//! {"id":8,"timestamp":"…","source":"agent","cause":7,"observation":"run","content":"…","extras":{…},"success":true}
//!
//! <home>/conversations/<id>/base_state.json
//! <home>/conversations/<id>/events/event-<n>-<id>.json
//! {"id":"e54c…","timestamp":"…","source":"agent","kind":"ActionEvent","reasoning_content":"…","tool_call":{…},"tool_call_id":"…"}
//! {"id":"d4f6…","timestamp":"…","source":"environment","kind":"ObservationEvent","tool_call_id":"…","observation":{…}}
//! ```
//!
//! - V0 repeats the model's response with each event; its call and usage are taken from there. An event without it is paired by `cause`.
//! - V1 reports running totals before the events that they include. Their difference is the usage of the next action.
//! - A condensation replaces the events that it lists. Times have no zone: they are kept as meta `local_time`.
//! - An event's source is its id; in V0, where ids count from 0, it is the content.

mod v0;
mod v1;

use std::borrow::Cow;
use std::io;
use std::path::Path;

use crate::trace::model::item::Role;
use crate::transcript::agents::search::own_files;
use crate::transcript::agents::{AgentFormat, FilePart, home_folder};
use crate::transcript::read::builder::{EntryBuilder, image};
use crate::transcript::read::dialect::{Dialect, Session};
use crate::transcript::read::header::{self, is_listed};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| home_folder(env, "OPENHANDS_PERSISTENCE_DIR", ".openhands"),
    parts,
    ..AgentFormat::of_dialect::<OpenHands>("OpenHands")
};

/// Events of V1 with content, and without.
const CONTENT: &str = "SystemPromptEvent MessageEvent ActionEvent ObservationEvent AgentErrorEvent UserRejectObservation \
    Condensation CondensationSummaryEvent ConversationErrorEvent";
const IGNORED: &str =
    "ConversationStateUpdateEvent CondensationRequest PauseEvent InterruptEvent TokenEvent LLMCompletionLogEvent";

/// Events of V0 without content.
const NOISE: &str = "change_agent_state agent_state_changed null recall_action loop_detection_recovery";

pub(crate) struct OpenHands;

impl Dialect for OpenHands {
    const FORMAT: &'static str = "openhands";
    const LIST: Option<&'static str> = Some("trajectory");
    const FILES: &'static [&'static [&'static str]] = &[&["conversations", "*", "base_state.json"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let inner = record.get("trajectory").map(Object::of);
        let event = inner.as_ref().unwrap_or(record);
        let kind = event.text("kind").unwrap_or_default();
        let is_event = event.has("id") && event.has("source") && event.has("timestamp");
        let is_observation = event.has("observation") && event.has("content") && event.has("extras");
        if is_event && (event.has("action") && event.has("args") || is_observation) {
            Certainty::Sure
        } else if is_event && (is_listed(&kind, CONTENT) || is_listed(&kind, IGNORED)) || is_state(record) {
            Certainty::Likely
        } else {
            Certainty::No
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("id").filter(|_| is_state(record))
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.object("workspace").text("working_dir").filter(|_| is_state(record))
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        if is_state(record) {
            session.set_model(record.object("agent").object("llm").text("model"));
            return Outcome::Ignored("state".to_owned());
        }
        let (inner, bytes) = match record.get("trajectory") {
            Some(raw) => (Some(Object::of(raw)), raw.get().as_bytes()),
            None => (None, bytes),
        };
        let event = inner.as_ref().unwrap_or(record);
        let kind = event.any_text(&["kind", "action", "observation"]).unwrap_or_default();
        if event.text("key").is_some_and(|key| key == "stats") {
            v1::note_usage(session, event);
        }
        if is_listed(&kind, IGNORED) || is_listed(&kind, NOISE) || kind == "recall" && event.has("action") {
            return Outcome::Ignored(kind.into_owned());
        }
        let own = event.text("id");
        if let Some(own) = &own {
            session.enter(own, None, output);
        }
        let Some(mut builder) = session.begin(own.as_deref(), bytes, output) else { return Outcome::Repeated };
        builder.created = event.time("timestamp");
        let local = event.text("timestamp").filter(|_| builder.created.is_none());
        builder.add_meta("local_time", local.and_then(|local| header::one_line(&local, 40)));
        let turn = if event.has("kind") {
            if !is_listed(&kind, CONTENT) {
                return Outcome::Unknown(kind.into_owned());
            }
            v1::read(session, &mut builder, (&kind, event), output);
            event.text("llm_response_id")
        } else if event.has("action") || event.has("observation") {
            v0::read(session, &mut builder, &kind, event)
        } else {
            return Outcome::Unknown(kind.into_owned());
        };
        if builder.entries.is_empty() {
            return session.finish(builder, &kind, bytes, output);
        }
        let turn = turn.and_then(|turn| header::id(&turn));
        for entry in builder.entries.iter_mut().filter(|entry| !entry.draft.fields.is_result()) {
            entry.draft.fields.turn.clone_from(&turn);
        }
        session.finish_in_turn(builder, &kind, output)
    }
}

fn is_state(record: &Object<'_>) -> bool {
    ["id", "agent", "workspace", "max_iterations"].iter().all(|name| record.has(name))
}

fn add_image(builder: &mut EntryBuilder, url: &str, role: Role) {
    let (fields, body) = image(url, role);
    builder.push(fields, body);
}

/// The state of a stored conversation, and its events.
fn parts(transcript: &Path) -> io::Result<Vec<FilePart>> {
    let mut found = vec![FilePart::from(transcript)];
    if let Some(folder) = transcript.parent().filter(|_| transcript.ends_with("base_state.json")) {
        let events = own_files(folder, &["events"], ".json")?;
        found.extend(events.iter().map(|event| FilePart::from(&**event)));
    }
    Ok(found)
}
