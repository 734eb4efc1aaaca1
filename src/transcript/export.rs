//! Writes a trace as an agent's own transcript, so that the agent can resume from the context as it is now.
//!
//! Each agent's `export.rs` writes its format; this module prepares the items. Skipped and superseded items are omitted. A call
//! without a result gets one that says so, and a result without a call becomes a user message, because providers reject
//! either alone. Records that came from the same format keep their ids, so that importing the file into another trace yields
//! the same items.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::format::Format;
use super::read::builder::dialogue;
use crate::git::Repo;
use crate::trace::model::item::{Direction, Fields, Item, ItemType, Role, Status};
use crate::trace::store::tombstone::calls::PurgedCalls;
use crate::trace::store::total::Reading;
use crate::trace::store::view::View;
use crate::trace::{Time, TraceError};

/// The formats that have an exporter.
pub(crate) const RESUMED: &[&str] = &["claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "pi"];

const UNANSWERED: &str = "(no result was recorded)";

const START: &str = "(the start of this session was removed)";

pub(crate) struct Exporter {
    pub write: fn(&[Item], &NewSession, &mut ExportedTranscript),
    /// The file below `home` in which the agent looks for the session.
    pub path: fn(home: &Path, &NewSession) -> Option<PathBuf>,
    pub resume_command: &'static str,
    /// The command that takes the file in, with its path as the last argument; `None` if the agent finds the file.
    pub import_command: Option<&'static str>,
    /// The agent's form of a session's id, which is a UUID.
    pub session_id: fn(String) -> String,
}

impl Exporter {
    pub(super) const fn new(
        write: fn(&[Item], &NewSession, &mut ExportedTranscript),
        path: fn(&Path, &NewSession) -> Option<PathBuf>,
        resume_command: &'static str,
    ) -> Self {
        Self { write, path, resume_command, import_command: None, session_id: |uuid| uuid }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct NewSession {
    pub id: String,
    pub folder: PathBuf,
    pub branch: String,
    pub at: Time,
}

impl ExportedTranscript {
    pub(super) fn add_line(&mut self, record: &Value) {
        self.bytes.extend(format!("{record}\n").into_bytes());
    }

    pub(super) fn omit_file(&mut self, item: &Item) {
        self.notes.push(format!("file {} is omitted: sessions of this agent cannot contain it", item.id));
    }

    pub(super) fn omit_reasoning(&mut self, item: &Item) {
        self.notes.push(format!("reasoning {} is omitted: the provider of this agent did not sign it", item.id));
    }
}

impl NewSession {
    /// A session with an id that no two exports share.
    pub(crate) fn new(folder: &Path, branch: String, at: Time, process: u32) -> Self {
        // Agents store the path without a trailing slash.
        let folder: PathBuf = folder.components().collect();
        let seed = format!("{}\n{}\n{process}", folder.display(), at.as_nanosecond());
        Self { id: uuid(seed.as_bytes()), folder, branch, at }
    }

    /// The session with an id in the form of an agent.
    pub(crate) fn of(mut self, format: Format) -> Self {
        if let Some(exporter) = &format.agent().exporter {
            self.id = (exporter.session_id)(self.id);
        }
        self
    }

    /// The milliseconds since 1970 at which an item was made, but not after the session.
    pub(super) fn milliseconds(&self, made: Option<Time>) -> i64 {
        i64::try_from(made.unwrap_or(self.at).min(self.at).as_nanosecond() / 1_000_000).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(crate) struct ExportedTranscript {
    pub bytes: Vec<u8>,
    pub items: usize,
    pub notes: Vec<String>,
}

/// Writes the visible items as a transcript; `None` if no agent resumes from this format.
pub(crate) fn transcript(
    repo: &Repo,
    view: &View,
    format: Format,
    session: &NewSession,
) -> Result<Option<ExportedTranscript>, TraceError> {
    let Some(exporter) = &format.agent().exporter else { return Ok(None) };
    let mut exported = ExportedTranscript::default();
    let (mut items, mut purged_calls) = (Vec::new(), PurgedCalls::default());
    view.for_each_item(repo, |slot, Reading { mut item, .. }| {
        purged_calls.tie(&mut item);
        items.extend(view.left_out(slot).is_none().then_some(item));
        Ok::<_, TraceError>(())
    })?;
    items.retain(|item| !is_blank(item));
    let mut items = pair_calls(items, &mut exported.notes);
    start_with_user(&mut items);
    (exporter.write)(&items, session, &mut exported);
    Ok(Some(exported))
}

pub(crate) fn transcript_path(format: Format, home: &Path, session: &NewSession) -> Option<PathBuf> {
    let exporter = format.agent().exporter.as_ref()?;
    (exporter.path)(home, session)
}

/// The command that resumes an exported session.
pub(crate) fn resume_command(format: Format, session: &str) -> String {
    let command = format.agent().exporter.as_ref().map_or("", |exporter| exporter.resume_command);
    format!("{command}{}{session}", if command.ends_with('=') { "" } else { " " })
}

/// The command that takes an exported file in before that; `None` if the agent finds it.
pub(crate) fn import_command(format: Format) -> Option<&'static str> {
    format.agent().exporter.as_ref()?.import_command
}

/// Whether this is a message without text, which providers reject.
fn is_blank(item: &Item) -> bool {
    let is_message = matches!(item.fields.item_type.as_str(), "dialogue" | "instruction" | "output");
    is_message && item.body.trim_ascii().is_empty()
}

/// Puts a message of the user first, as providers require, if the model's is the first one.
fn start_with_user(items: &mut Vec<Item>) {
    let first = items.iter().position(|item| item.fields.item_type != ItemType::instruction());
    let Some(at) = first.filter(|at| {
        let fields = &items[*at].fields;
        fields.role == Some(Role::Assistant) || matches!(fields.item_type.as_str(), "reasoning" | "output")
    }) else {
        return;
    };
    let fields = Fields { created: items[at].fields.created, ..dialogue(Role::User) };
    items.insert(at, Item { id: items[at].id, fields, revision: 1, tokens: None, body: START.as_bytes().to_vec() });
}

/// Gives each call a unique id and a result, and each result a call.
fn pair_calls(items: Vec<Item>, notes: &mut Vec<String>) -> Vec<Item> {
    let mut open: HashMap<String, Vec<String>> = HashMap::new();
    let mut used: HashSet<String> = HashSet::new();
    let mut prepared: Vec<Item> = Vec::with_capacity(items.len());
    for mut item in items {
        let given = item.fields.call_id.clone().unwrap_or_default();
        if item.fields.is_call() {
            let mut id = plain(&given);
            while !used.insert(id.clone()) {
                id = format!("{}-{}", plain(&given), used.len());
            }
            open.entry(given).or_default().insert(0, id.clone());
            item.fields.call_id = Some(id);
        } else if item.fields.is_result() {
            match open.get_mut(&given).and_then(Vec::pop) {
                Some(id) => item.fields.call_id = Some(id),
                None => {
                    notes.push(format!("result {} has no call; it becomes a text of the user", item.id));
                    item.fields = Fields { created: item.fields.created, ..dialogue(Role::User) };
                }
            }
        }
        prepared.push(item);
    }
    let unanswered: HashSet<String> = open.into_values().flatten().collect();
    let mut answered = Vec::with_capacity(prepared.len());
    for item in prepared {
        let is_unanswered = item.fields.call_id.as_ref().is_some_and(|call| unanswered.contains(call));
        let answer = (item.fields.is_call() && is_unanswered).then(|| answer(&item));
        answered.push(item);
        if let Some(answer) = answer {
            notes.push(format!("call {} has no result; it is answered by `{UNANSWERED}`", answer.id));
            answered.push(answer);
        }
    }
    answered
}

fn answer(call: &Item) -> Item {
    let mut fields = Fields::new(ItemType::tool_io());
    (fields.direction, fields.role) = (Some(Direction::Result), Some(Role::Tool));
    (fields.call_id, fields.name) = (call.fields.call_id.clone(), call.fields.name.clone());
    (fields.status, fields.created) = (Some(Status::Error), call.fields.created);
    Item { id: call.id, fields, revision: 1, tokens: None, body: UNANSWERED.as_bytes().to_vec() }
}

/// A call id with only the characters that all providers accept.
fn plain(id: &str) -> String {
    let plain: String =
        id.chars().take(64).map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    if plain.is_empty() { "call".to_owned() } else { plain }
}

/// The images and other parts that belong to a tool result and follow it.
pub(super) fn parts_of_result(items: &[Item], at: usize) -> &[Item] {
    let following = &items[at + 1..];
    let is_part = |item: &&Item| {
        item.fields.reply_to == Some(items[at].id) && matches!(item.fields.item_type.as_str(), "artifact" | "freeform")
    };
    &following[..following.iter().take_while(is_part).count()]
}

/// What the model or the user says between two requests, and the results of the calls in it.
#[derive(Default)]
pub(super) struct Step<'i> {
    pub is_by_model: bool,
    pub items: Vec<&'i Item>,
    /// Each result with its other parts.
    pub results: Vec<(&'i Item, &'i [Item])>,
}

impl Step<'_> {
    /// The first value under a key in the metadata of the items.
    pub(super) fn meta(&self, key: &str) -> Option<&str> {
        self.items.iter().find_map(|item| item.fields.meta.get(key)?.as_str())
    }

    pub(super) fn created(&self) -> Option<Time> {
        self.items.first().and_then(|item| item.fields.created)
    }
}

/// The steps of a session. Items of one turn are one step. Without turns, a result ends a step of the model, and so does a record of
/// `format`.
pub(super) fn steps<'i>(items: &'i [Item], format: &str) -> Vec<Step<'i>> {
    let is_own = |item: &Item| item.fields.source.as_ref().is_some_and(|source| source.format() == format);
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut step_of_call = HashMap::new();
    let mut is_answered = false;
    let mut at = 0;
    while let Some(item) = items.get(at) {
        at += 1;
        let call = item.fields.call_id.as_deref().unwrap_or_default();
        if item.fields.is_result() {
            let parts = parts_of_result(items, at - 1);
            at += parts.len();
            if let Some(step) = step_of_call.get(call).and_then(|step: &usize| steps.get_mut(*step)) {
                step.results.push((item, parts));
            }
            is_answered = true;
            continue;
        }
        let is_by_model = is_by_model(item);
        let joins = steps.last().filter(|last| last.is_by_model == is_by_model).and_then(|last| last.items.last());
        let joins = joins.is_some_and(|last| match (&last.fields.turn, &item.fields.turn) {
            (Some(last), Some(own)) => last == own,
            _ if is_by_model => !(is_answered || is_own(last) && is_own(item)),
            _ => last.fields.created.is_some() && last.fields.created == item.fields.created,
        });
        if !joins {
            steps.push(Step { is_by_model, ..Step::default() });
            is_answered = false;
        }
        if item.fields.is_call() {
            step_of_call.insert(call, steps.len() - 1);
        }
        steps.last_mut().expect("there is one now").items.push(item);
    }
    steps
}

/// The ids of the records that were written.
#[derive(Default)]
pub(super) struct RecordIds(HashSet<String>);

impl RecordIds {
    /// The id of the record that an item came from, if it is free, else a new one of at most `length` digits.
    pub(super) fn free(&mut self, own: Option<String>, item: &Item, session: &NewSession, length: usize) -> String {
        let new = |number| uuid(format!("{}\n{}\n{number}", session.id, item.id).as_bytes())[..length].to_owned();
        let mut candidates = own.into_iter().chain((0_u64..).map(new));
        candidates.find(|id| self.0.insert(id.clone())).expect("there are endless candidates")
    }
}

pub(super) fn is_by_model(item: &Item) -> bool {
    let fields = &item.fields;
    match fields.item_type.as_str() {
        "reasoning" | "output" => true,
        "tool_io" => fields.is_call(),
        _ => fields.role == Some(Role::Assistant) || fields.meta.get("role").is_some_and(|role| role == "assistant"),
    }
}

/// Whether this is reasoning that a person rewrote, which is meant to be read.
pub(super) fn is_rewritten(item: &Item) -> bool {
    item.revision > 1 && item.fields.signature.is_none()
}

/// The arguments of a call as a JSON object, as providers require.
pub(super) fn arguments(call: &Item) -> Value {
    let own = serde_json::from_slice(&call.body).ok().filter(Value::is_object);
    own.unwrap_or_else(|| json!({ "input": text(call) }))
}

pub(super) fn data_url(media_type: &str, bytes: &[u8]) -> String {
    format!("data:{media_type};base64,{}", BASE64.encode(bytes))
}

pub(super) fn same_record(first: &Item, next: &Item) -> bool {
    let source = first.fields.source.as_ref().zip(next.fields.source.as_ref());
    source.is_some_and(|(first, next)| first.record() == next.record())
}

/// The signature of reasoning. One that no header can hold is in the metadata.
pub(super) fn signature(item: &Item) -> Option<&str> {
    item.fields.signature.as_deref().or_else(|| item.fields.meta.get("signature")?.as_str())
}

pub(super) fn has_flag(item: &Item, name: &str) -> bool {
    item.fields.meta.get(name).and_then(Value::as_bool) == Some(true)
}

pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

pub(super) fn text(item: &Item) -> String {
    String::from_utf8_lossy(&item.body).into_owned()
}

/// The body on one line, if it is JSON. A JSON string contains no raw line breaks.
pub(super) fn json_line(item: &Item) -> Option<String> {
    let text = std::str::from_utf8(&item.body).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(text.replace(['\n', '\r'], " "))
}

/// The `type` in a body that was stored verbatim.
pub(super) fn json_type(item: &Item) -> Option<String> {
    let value: Value = serde_json::from_slice(&item.body).ok()?;
    value.get("type")?.as_str().map(str::to_owned)
}

/// An id in the form of a random UUID, derived from `seed`.
pub(crate) fn uuid(seed: &[u8]) -> String {
    let hex = blake3::hash(seed).to_hex();
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

pub(super) fn is_uuid(text: &str) -> bool {
    let at_dashes =
        |(at, b): (usize, u8)| if matches!(at, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(at_dashes)
}
