//! Sessions of Factory Droid: `<home>/sessions/<folder>/<id>.jsonl`, and what `droid exec -o stream-json` prints.
//!
//! ```text
//! {"type":"session_start","id":"052c…","title":"…","version":2,"cwd":"/home/ada/engine"}
//! {"type":"message","id":"2e65…","timestamp":"…","message":{"role":"user","content":[{"type":"text","text":"…"}]}}
//!
//! {"type":"message","session_id":"…","role":"user","text":"…","id":"m1"}
//! {"type":"tool_call","session_id":"…","toolCallId":"c1","toolName":"Shell","parameters":{…}}
//! ```
//!
//! Messages are those of Anthropic's API. The model and the sum of the usage are in another file, and are not read.

use std::borrow::Cow;

use super::{AgentFormat, home_folder};
use crate::trace::model::item::Role;
use crate::transcript::read::builder::call_arguments;
use crate::transcript::read::dialect::{Dialect, Session, role};
use crate::transcript::read::header::is_listed;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| home_folder(env, "FACTORY_HOME_OVERRIDE", ".factory"),
    ..AgentFormat::of_dialect::<Droid>("Factory Droid")
};

pub(crate) struct Droid;

impl Dialect for Droid {
    const FORMAT: &'static str = "droid";
    const FILES: &'static [&'static [&'static str]] = &[&["sessions", "*", "*.jsonl"], &["sessions", "*.jsonl"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let message = record.object("message");
        let is_streamed = record.has("session_id") && record.has("id");
        match record.text("type").as_deref() {
            Some("session_start") if record.has("id") => Certainty::Sure,
            Some("message") if record.has("id") && message.has("content") && !message.has("timestamp") => {
                Certainty::Likely
            }
            Some("message") if is_streamed && record.has("text") => Certainty::Likely,
            Some("tool_call" | "tool_result") if is_streamed && record.has("toolCallId") => Certainty::Likely,
            Some("todo_state") => Certainty::Likely,
            _ => Certainty::No,
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        let is_start = record.text("type").is_some_and(|kind| kind == "session_start");
        record.text(if is_start { "id" } else { "session_id" })
    }

    fn folder<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("cwd")
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let kind = record.text("type").unwrap_or_default();
        if is_listed(&kind, "todo_state system") {
            session.set_model(record.text("model"));
            return Outcome::Ignored(kind.into_owned());
        }
        if !is_listed(&kind, "session_start message tool_call tool_result completion") {
            return Outcome::Unknown(kind.into_owned());
        }
        // Ids of the stream begin again with each run.
        let id = match (record.text("id"), record.text("session_id")) {
            (Some(id), Some(run)) => Some(format!("{run}/{id}").into()),
            (id, _) => id,
        };
        if let Some(id) = &id {
            session.enter(id, record.text("parentId").as_deref(), output);
        }
        let Some(mut builder) = session.begin(id.as_deref(), bytes, output) else { return Outcome::Repeated };
        builder.created = record.time("timestamp");
        let call_id = record.text("toolCallId");
        match &*kind {
            "session_start" => Session::title(&mut builder, record.text("title")),
            "tool_call" => {
                let arguments = call_arguments(record.any(&["parameters", "arguments"]));
                session.call(&mut builder, call_id, record.text("toolName"), arguments);
            }
            "tool_result" => {
                let failed = record.has("isError").then(|| record.is_true("isError"));
                session.result(&mut builder, call_id, failed, record.any(&["value", "error"]));
            }
            "completion" => {
                // It repeats the last text of the model.
                let text = record.text("finalText").filter(|text| session.notes.last().is_none_or(|last| last != text));
                session.text(&mut builder, Role::Assistant, &text.unwrap_or_default());
            }
            _ => {
                let message = record.object("message");
                let word = message.text("role").or_else(|| record.text("role"));
                let Some(role) = word.and_then(|word| role(&word)) else {
                    return Outcome::Unknown("message".to_owned());
                };
                if let Some(text) = record.text("text") {
                    session.text(&mut builder, role, &text);
                    session.notes = vec![text.into_owned()];
                }
                message.get("content").iter().for_each(|content| session.content(&mut builder, role, content));
                for entry in builder.entries.iter_mut().filter(|_| role == Role::Assistant) {
                    session.model.iter().for_each(|model| {
                        entry.draft.fields.meta.insert("model".to_owned(), model.as_str().into());
                    });
                }
            }
        }
        session.finish(builder, &kind, bytes, output)
    }
}
