//! Data sets for fine-tuning: `ShareGPT`, and the messages of `ChatML` with lists of files. A record is a conversation.
//!
//! ```text
//! {"conversations":[{"from":"human","value":"…"},{"from":"function_call","value":"{\"name\":…}"}],"system":"…"}
//! {"messages":[{"role":"user","content":"<image>Who is it?"},{"role":"assistant","content":"…"}],"images":["1.jpg"]}
//! {"messages":[{"role":"assistant","content":[{"type":"reasoning","value":"…"},{"type":"tool_call","value":"{…}"}]}]}
//! ```
//!
//! Messages that are nothing but Chat Completions are read as a request of `OpenAI`'s API.
//!
//! - Calls have no ids: a result answers the oldest call without one. A result that is a list with `tool_call_id` answers several.
//! - A text of the model may begin with reasoning in `<think>`, and contain calls in `<tool_call>`.
//! - Each `<image>`, `<video>`, or `<audio>` is the place of the next file of that list. Declarations of tools are not read.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::value::RawValue;

use super::{AgentFormat, message};
use crate::trace::model::item::Role;
use crate::transcript::read::builder::{EntryBuilder, freeform, image, reasoning};
use crate::transcript::read::dialect::{Dialect, Session, role};
use crate::transcript::read::json;
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat::of_conversations::<ShareGpt>("ShareGPT");

/// Marks in texts, and the lists with the files.
const MARKS: [(&str, &str); 3] = [("<image>", "images"), ("<video>", "videos"), ("<audio>", "audios")];

/// The files of a record that are not used yet.
type Files<'a> = [VecDeque<&'a RawValue>; 3];

pub(crate) struct ShareGpt;

impl Dialect for ShareGpt {
    const FORMAT: &'static str = "sharegpt";

    fn certainty(record: &Object<'_>) -> Certainty {
        let elements = |name: &str| {
            let value = record.get(name);
            let list = value.map(|value| json::list(value).unwrap_or_else(|| vec![value])).unwrap_or_default();
            list.into_iter().map(Object::of).collect::<Vec<_>>()
        };
        let has_turns = elements("conversations").iter().any(|turn| turn.has("from") && turn.has("value"));
        let messages = elements("messages");
        let has_files = MARKS.iter().any(|(_, list)| !record.list(list).is_empty());
        let is_own = |message: &Object<'_>| {
            let content = message.list("content").into_iter().map(Object::of);
            message.has("role") && content.into_iter().any(|block| block.has("type") && block.has("value"))
        };
        if has_turns || messages.iter().any(is_own) || has_files && messages.iter().any(|message| message.has("role")) {
            Certainty::Sure
        } else {
            Certainty::No
        }
    }

    fn session<'a>(_: &Object<'a>) -> Option<Cow<'a, str>> {
        None
    }

    fn read(session: &mut Session, record: &Object<'_>, _: &[u8], output: &mut Output) -> Outcome {
        let turns = record.any(&["conversations", "messages"]).and_then(json::list);
        let Some(turns) = turns else { return Outcome::Unknown("record".to_owned()) };
        session.next_conversation(None, output);
        let mut files = MARKS.map(|(_, list)| record.list(list).into());
        if let Some(system) = record.get("system") {
            add(session, system, output, |session, builder| session.content(builder, Role::System, system));
        }
        for raw in turns {
            add(session, raw, output, |session, builder| turn(session, builder, raw, &mut files));
        }
        for ((_, list), file) in
            MARKS.into_iter().zip(files).flat_map(|(mark, files)| files.into_iter().map(move |file| (mark, file)))
        {
            add(session, file, output, |_, builder| add_file(builder, Role::User, list, file));
        }
        if output.entries.is_empty() { Outcome::Ignored("record/empty".to_owned()) } else { Outcome::Imported }
    }
}

fn add(session: &mut Session, raw: &RawValue, output: &mut Output, fill: impl FnOnce(&mut Session, &mut EntryBuilder)) {
    if let Some(mut builder) = session.begin(None, raw.get().as_bytes(), output) {
        fill(session, &mut builder);
        session.finish(builder, "message", raw.get().as_bytes(), output);
    }
}

fn turn(session: &mut Session, builder: &mut EntryBuilder, raw: &RawValue, files: &mut Files<'_>) {
    let turn = Object::of(raw);
    let word = turn.any_text(&["from", "role"]).unwrap_or_default();
    let text = turn.any(&["value", "content"]).and_then(text_of);
    let done = match (&*word, text) {
        ("function_call" | "tool_call", Some(text)) => session.calls_in(builder, &text),
        ("observation" | "tool" | "function_response" | "tool_response", Some(text)) => {
            results(session, builder, turn.text("tool_call_id"), &text)
        }
        (word, Some(text)) => speaker(word).map(|role| {
            message::add_reasoning(builder, &turn);
            texts(session, builder, role, &text, files);
            message::add_calls(session, builder, &turn);
        }),
        (_, None) => message::add(session, builder, &turn),
    };
    if done.is_none() {
        builder.push(freeform(if word.is_empty() { "message" } else { &word }, Some(Role::User)), raw.get());
    }
}

fn speaker(word: &str) -> Option<Role> {
    match word {
        "gpt" | "chatgpt" | "bing" | "bard" => Some(Role::Assistant),
        word => role(word).filter(|role| *role != Role::Tool),
    }
}

/// A text, or that of a list with one text.
fn text_of(content: &RawValue) -> Option<Cow<'_, str>> {
    json::text(content).or_else(|| match &json::list(content)?[..] {
        [only] => {
            Object::of(only).text("value").filter(|_| Object::of(only).text("type").is_some_and(|kind| kind == "text"))
        }
        _ => None,
    })
}

/// Adds the result of the oldest open call, or of several.
fn results(session: &mut Session, builder: &mut EntryBuilder, id: Option<Cow<'_, str>>, text: &str) -> Option<()> {
    let list = serde_json::from_str::<&RawValue>(text).ok().and_then(json::list).unwrap_or_default();
    let answers: Vec<Object<'_>> = list.into_iter().map(Object::of).collect();
    if !answers.is_empty() && answers.iter().all(|answer| answer.has("tool_call_id") && answer.has("content")) {
        let add =
            |answer: &Object<'_>| session.result(builder, answer.text("tool_call_id"), None, answer.get("content"));
        return answers.iter().map(add).collect();
    }
    let raw = RawValue::from_string(serde_json::Value::from(text).to_string()).ok()?;
    session.result(builder, id, None, Some(&raw))
}

/// Adds a text, with files in place of their marks.
fn texts(session: &mut Session, builder: &mut EntryBuilder, role: Role, text: &str, files: &mut Files<'_>) {
    let mut rest = text;
    let next = |rest: &str, files: &Files<'_>| {
        let is_mark = |at: usize, kind: &usize| rest[at..].starts_with(MARKS[*kind].0) && !files[*kind].is_empty();
        rest.match_indices('<').find_map(|(at, _)| Some((at, (0..MARKS.len()).find(|kind| is_mark(at, kind))?)))
    };
    while let Some((at, kind)) = next(rest, files) {
        say(session, builder, role, &rest[..at]);
        if let Some(file) = files[kind].pop_front() {
            add_file(builder, role, MARKS[kind].1, file);
        }
        rest = &rest[at + MARKS[kind].0.len()..];
    }
    say(session, builder, role, rest);
}

fn add_file(builder: &mut EntryBuilder, role: Role, list: &str, file: &RawValue) {
    let address = json::text(file).unwrap_or_else(|| file.get().into());
    let (fields, body) = match list {
        "images" => image(&address, role),
        _ => (freeform(list.trim_end_matches('s'), Some(role)), address.as_bytes().to_vec()),
    };
    builder.push(fields, body);
}

fn say(session: &mut Session, builder: &mut EntryBuilder, role: Role, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if role != Role::Assistant {
        return session.text(builder, role, text);
    }
    let mut rest = text;
    let thought = rest.trim_start().strip_prefix("<think>").and_then(|inner| inner.split_once("</think>"));
    if let Some((thought, after)) = thought {
        if !thought.trim().is_empty() {
            builder.push(reasoning(None), thought.trim());
        }
        rest = after.trim_start();
    }
    while let Some((before, (call, after))) =
        rest.split_once("<tool_call>").and_then(|(before, after)| Some((before, after.split_once("</tool_call>")?)))
    {
        session.text(builder, role, before.trim_end());
        if session.calls_in(builder, call).is_none() {
            session.text(builder, role, &format!("<tool_call>{call}</tool_call>"));
        }
        rest = after.trim_start();
    }
    session.text(builder, role, rest);
}
