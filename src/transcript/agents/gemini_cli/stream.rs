//! What `gemini -p … -o stream-json` prints. The same session is stored as a chat, which has more.
//!
//! ```text
//! {"type":"init","timestamp":"…","session_id":"5b0b…","model":"gemini-3-pro-preview"}
//! {"type":"message","timestamp":"…","role":"assistant","content":"I will look at the ","delta":true}
//! {"type":"tool_use","timestamp":"…","tool_name":"read_file","tool_id":"read_file-17…","parameters":{…}}
//! {"type":"tool_result","timestamp":"…","tool_id":"read_file-17…","status":"success","output":"…"}
//! {"type":"result","timestamp":"…","status":"success","stats":{"input_tokens":21390,"cached":14820,"output_tokens":212,…}}
//! ```
//!
//! - Parts of a message (`delta`) are joined until another record, or the end of the file. The first part is the message's source.
//! - `output` is what the user sees of a result. The stream has no thoughts and no folder.
//! - The usage is the sum of all requests. It is stored with the last item, but is not the size of the context.

use std::borrow::Cow;

use crate::tokens::TokenUsage;
use crate::trace::change::bulk::Removal;
use crate::trace::model::item::Role;
use crate::transcript::agents::AgentFormat;
use crate::transcript::read::builder::{call_arguments, freeform};
use crate::transcript::read::dialect::{Dialect, Session, role, store_usage};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_dialect::<GeminiStream>("Gemini CLI stream");

pub(crate) struct GeminiStream;

impl Dialect for GeminiStream {
    const FORMAT: &'static str = "gemini-stream-json";

    fn certainty(record: &Object<'_>) -> Certainty {
        let has = |names: &[&str]| record.has("timestamp") && names.iter().all(|name| record.has(name));
        match record.text("type").as_deref() {
            Some("init") if has(&["session_id", "model"]) => Certainty::Likely,
            Some("message") if has(&["role", "content"]) && record.is_true("delta") => Certainty::Likely,
            Some("tool_use") if has(&["tool_name", "tool_id", "parameters"]) => Certainty::Sure,
            Some("tool_result") if has(&["tool_id", "status"]) => Certainty::Likely,
            Some("result") if has(&["stats", "status"]) => Certainty::Likely,
            _ => Certainty::No,
        }
    }

    fn session<'a>(record: &Object<'a>) -> Option<Cow<'a, str>> {
        record.text("session_id")
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let kind = record.text("type").unwrap_or_default();
        let speaker = record.text("role").unwrap_or_default();
        let content = record.text("content").unwrap_or_default();
        let is_part = kind == "message" && record.is_true("delta");
        if let [_, of, text] = &mut session.notes[..]
            && is_part
            && *of == speaker
        {
            text.push_str(&content);
            return Outcome::Imported;
        }
        Self::end(session, output);
        match &*kind {
            "init" => {
                session.set_model(record.text("model"));
                session.enter_session(&record.text("session_id").unwrap_or_default(), output);
                output.awaits_usage = true;
                return Outcome::Ignored(kind.into_owned());
            }
            "message" if role(&speaker).is_some() => {
                session.notes = vec![String::from_utf8_lossy(bytes).into_owned(), speaker.into(), content.into()];
                if !is_part {
                    Self::end(session, output);
                }
                return Outcome::Imported;
            }
            "tool_use" | "tool_result" | "error" => {}
            "result" => {
                let stats = record.object("stats");
                let [prompt, cached, answer] =
                    ["input_tokens", "cached", "output_tokens"].map(|name| stats.count(name));
                store_usage(&mut output.entries, TokenUsage::of_prompt(prompt, cached, answer));
                output.awaits_usage = false;
                if !record.has("error") {
                    return Outcome::Ignored(kind.into_owned());
                }
            }
            _ => return Outcome::Unknown(kind.into_owned()),
        }
        let Some(mut builder) = session.begin(None, bytes, output) else { return Outcome::Repeated };
        builder.created = record.time("timestamp");
        let error = record.object("error").text("message").or_else(|| record.text("message"));
        let id = record.text("tool_id");
        match &*kind {
            "tool_use" => {
                builder.add_meta("model", session.model.clone());
                let arguments = call_arguments(record.get("parameters"));
                session.call(&mut builder, id, record.text("tool_name"), arguments);
            }
            "tool_result" => {
                let failed = record.text("status").map(|status| status != "success");
                let shown = record.get("output").filter(|shown| shown.get() != "\"\"");
                builder.add_meta("error", error.filter(|_| shown.is_some()).map(Cow::into_owned));
                session.result(&mut builder, id, failed, shown.or_else(|| record.get("error")));
            }
            _ => {
                builder.removal = Some(Removal::Interface);
                builder.push(freeform(&kind, None), error.unwrap_or_default().into_owned());
            }
        }
        session.finish(builder, &kind, bytes, output)
    }

    /// Adds the message whose parts were joined.
    fn end(session: &mut Session, output: &mut Output) {
        let Ok([first, speaker, text]) = <[String; 3]>::try_from(std::mem::take(&mut session.notes)) else { return };
        let record: Object<'_> = serde_json::from_str(&first).unwrap_or_default();
        let role = role(&speaker).unwrap_or(Role::Assistant);
        let Some(mut builder) = session.begin(None, first.as_bytes(), output) else { return };
        builder.created = record.time("timestamp");
        builder.add_meta("model", session.model.clone().filter(|_| role == Role::Assistant));
        session.text(&mut builder, role, &text);
        session.finish(builder, "message", b"", output);
    }
}
