//! A trace as an agent's own transcript, so that the agent goes on from the context as it stands now.
//!
//! What is skipped or superseded stays out. A call that nothing answers is answered by a line that says so, and a result
//! whose call is not there becomes the user's text, since providers take neither alone. Records that came from the format
//! keep their ids, so that importing the file into another trace gives the same items.

mod claude_code;
mod codex;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::claude_code::project_dir;
use super::format::Format;
use crate::base::replace::{Access, put_new};
use crate::git::Repo;
use crate::trace::model::item::{Direction, Fields, Item, ItemType, Role, Status};
use crate::trace::store::total::Reading;
use crate::trace::store::view::View;
use crate::trace::{ItemId, Time, TraceError};

/// What answers a call that nothing answered.
const UNANSWERED: &str = "(no result was recorded)";

/// What stands around a transcript's content.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// The session's id, never used before.
    pub session: String,
    /// The folder that the session is of.
    pub folder: PathBuf,
    /// The branch of the code, where there is one.
    pub branch: String,
    /// When it is written.
    pub at: Time,
}

impl Setting {
    /// A setting with an id of its own, drawn from what no two exports share.
    #[must_use]
    pub(crate) fn new(folder: &Path, branch: String, at: Time, process: u32) -> Self {
        // As agents name it, without a slash at its end.
        let folder: PathBuf = folder.components().collect();
        let seed = format!("{}\n{}\n{process}", folder.display(), at.as_nanosecond());
        Self { session: uuid(seed.as_bytes()), folder, branch, at }
    }
}

/// A transcript that was made.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// The file.
    pub bytes: Vec<u8>,
    /// How many items it says.
    pub items: usize,
    /// What could not be said as it was, in words.
    pub notes: Vec<String>,
}

/// Writes the transcript of what a view shows; `None` for a format that no agent resumes from.
///
/// # Errors
///
/// Those of reading items.
pub(crate) fn transcript(
    repo: &Repo,
    view: &View,
    format: Format,
    setting: &Setting,
) -> Result<Option<Outgoing>, TraceError> {
    let write = match format {
        Format::ClaudeCode => claude_code::write,
        Format::Codex => codex::write,
        Format::GeminiCli | Format::SweAgent => return Ok(None),
    };
    let mut outgoing = Outgoing::default();
    let items = prepare(read(repo, view)?, &mut outgoing.notes);
    write(&items, setting, &mut outgoing);
    Ok(Some(outgoing))
}

/// Where the agent looks for the transcript of a session.
#[must_use]
pub(crate) fn place(format: Format, home: &Path, setting: &Setting) -> Option<PathBuf> {
    match format {
        Format::ClaudeCode => Some(project_dir(home, &setting.folder).join(format!("{}.jsonl", setting.session))),
        Format::Codex => {
            // 2026-08-03T10:48:56.000Z
            let time = setting.at.to_string();
            let (day, clock) = (time.get(..10)?, time.get(11..19)?);
            let folder = day.split('-').fold(home.join("sessions"), |folder, part| folder.join(part));
            Some(folder.join(format!("rollout-{day}T{}-{}.jsonl", clock.replace(':', "-"), setting.session)))
        }
        Format::GeminiCli | Format::SweAgent => None,
    }
}

/// The command that goes on from a transcript.
#[must_use]
pub(crate) fn resume_command(format: Format, session: &str) -> String {
    match format {
        Format::Codex => format!("codex resume {session}"),
        _ => format!("claude --resume {session}"),
    }
}

/// Writes a transcript to a file that is not there yet, at once.
///
/// # Errors
///
/// If there is such a file, or it cannot be written.
pub(crate) fn save(bytes: &[u8], path: &Path) -> io::Result<()> {
    put_new(path, Access::Private, bytes)
}

fn read(repo: &Repo, view: &View) -> Result<Vec<Item>, TraceError> {
    let mut items = Vec::new();
    view.for_each_item(repo, |slot, Reading { item, .. }| {
        if view.left_out(slot).is_none() {
            items.push(item);
        }
        Ok(())
    })?;
    Ok(items)
}

/// Sees to it that each call has an id of its own and an answer, and each result a call.
fn prepare(items: Vec<Item>, notes: &mut Vec<String>) -> Vec<Item> {
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
                None => item = told(item, notes),
            }
        }
        prepared.push(item);
    }
    let unanswered: HashSet<String> = open.into_values().flatten().collect();
    let mut answered = Vec::with_capacity(prepared.len());
    for item in prepared {
        let call = item.fields.is_call().then(|| (item.id, item.fields.clone()));
        answered.push(item);
        if let Some((id, fields)) = call
            && fields.call_id.as_ref().is_some_and(|call| unanswered.contains(call))
        {
            notes.push(format!("call {id} has no result; it is answered by `{UNANSWERED}`"));
            answered.push(answer(id, fields));
        }
    }
    answered
}

/// A result without its call, as what the user tells.
fn told(mut item: Item, notes: &mut Vec<String>) -> Item {
    notes.push(format!("result {} has no call; the user tells it", item.id));
    let mut fields = Fields::new(ItemType::dialogue());
    fields.role = Some(Role::User);
    fields.created = item.fields.created;
    item.fields = fields;
    item
}

fn answer(call: ItemId, call_fields: Fields) -> Item {
    let mut fields = Fields::new(ItemType::tool_io());
    (fields.direction, fields.role) = (Some(Direction::Result), Some(Role::Tool));
    (fields.call_id, fields.name) = (call_fields.call_id, call_fields.name);
    (fields.status, fields.created) = (Some(Status::Error), call_fields.created);
    Item { id: call, fields, revision: 1, tokens: None, body: UNANSWERED.as_bytes().to_vec() }
}

/// A call's id in the letters that all providers take.
fn plain(id: &str) -> String {
    let plain: String =
        id.chars().take(64).map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect();
    if plain.is_empty() { "call".to_owned() } else { plain }
}

/// The items that belong to a result: the pictures and other pieces that came in it.
fn pieces_of(items: &[Item], at: usize) -> &[Item] {
    let behind = &items[at + 1..];
    let is_piece = |item: &&Item| {
        item.fields.reply_to == Some(items[at].id) && matches!(item.fields.item_type.as_str(), "artifact" | "freeform")
    };
    &behind[..behind.iter().take_while(is_piece).count()]
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A body as text.
fn text(item: &Item) -> String {
    String::from_utf8_lossy(&item.body).into_owned()
}

/// A body that is JSON on one line; white space between its tokens is of no meaning.
fn json_line(item: &Item) -> Option<String> {
    let text = std::str::from_utf8(&item.body).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(text.replace(['\n', '\r'], " "))
}

/// The type that a freeform body, kept as it stood in a file, says it is.
fn own_type(item: &Item) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(&item.body).ok()?;
    value.get("type")?.as_str().map(str::to_owned)
}

/// An id in the form of a random UUID, derived from `seed`.
fn uuid(seed: &[u8]) -> String {
    let hex = blake3::hash(seed).to_hex();
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

fn is_uuid(text: &str) -> bool {
    let at_dashes =
        |(at, b): (usize, u8)| if matches!(at, 8 | 13 | 18 | 23) { b == b'-' } else { b.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(at_dashes)
}
