//! Transcripts of Cursor's agents: `<home>/projects/<folder>/agent-transcripts/<id>/<id>.jsonl`, with those of sub-agents in
//! `subagents` in the same folder.
//!
//! ```text
//! {"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nMake a list.\n</user_query>"}]}}
//! {"role":"assistant","message":{"content":[{"type":"text","text":"…"},{"type":"tool_use","name":"Read","input":{…}}]}}
//! ```
//!
//! Cursor writes no ids, times, models, usage, or results of tools, and `[REDACTED]` in place of reasoning. The text between the
//! tags is the prompt.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::search::{matching, own_files};
use super::{AgentFormat, SubAgent, home_folder, newest_first};
use crate::trace::model::item::Role;
use crate::transcript::read::dialect::{Dialect, Session, role};
use crate::transcript::read::object::Object;
use crate::transcript::read::reader::{Certainty, Outcome, Output};

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| home_folder(env, "CURSOR_CONFIG_DIR", ".cursor"),
    sessions: |home, folder, is_wanted| {
        let dashed = dashed(folder);
        let mut files = matching(home, Cursor::FILES)?;
        files.retain(|file| file.strip_prefix(home.join("projects")).is_ok_and(|below| below.starts_with(&dashed)));
        Ok(Box::new(newest_first(files, is_wanted)?))
    },
    sub_agents,
    ..AgentFormat::of_dialect::<Cursor>("Cursor")
};

pub(crate) struct Cursor;

impl Dialect for Cursor {
    const FORMAT: &'static str = "cursor";
    const FILES: &'static [&'static [&'static str]] =
        &[&["projects", "*", "agent-transcripts", "*.jsonl"], &["projects", "*", "agent-transcripts", "*", "*.jsonl"]];

    fn certainty(record: &Object<'_>) -> Certainty {
        let message = record.object("message");
        let is_known = record.text("role").is_some_and(|role| matches!(&*role, "user" | "assistant"));
        let has_blocks = message.get("content").is_some_and(|content| content.get().starts_with('['));
        let is_other = ["type", "uuid", "id", "sessionId"].iter().any(|name| record.has(name)) || message.has("role");
        if is_known && has_blocks && !is_other { Certainty::Likely } else { Certainty::No }
    }

    fn session<'a>(_: &Object<'a>) -> Option<Cow<'a, str>> {
        None
    }

    fn read(session: &mut Session, record: &Object<'_>, bytes: &[u8], output: &mut Output) -> Outcome {
        let message = record.object("message");
        let role = record.text("role").and_then(|word| role(&word));
        let Some((role, content)) = role.zip(message.get("content")) else {
            return Outcome::Unknown(record.any_text(&["type", "role"]).unwrap_or_default().into_owned());
        };
        let Some(mut builder) = session.begin(None, bytes, output) else { return Outcome::Repeated };
        session.content(&mut builder, role, content);
        for entry in builder.entries.iter_mut().filter(|_| role == Role::User) {
            if let Some(prompt) = prompt(&entry.draft.body) {
                entry.draft.body = prompt.to_vec();
            }
        }
        session.finish(builder, "message", bytes, output)
    }
}

/// The text between the tags, if nothing is outside of them.
fn prompt(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii().strip_prefix(b"<user_query>")?.strip_suffix(b"</user_query>")?;
    Some(text.trim_ascii())
}

/// The folder's name below `projects`: its path with a dash for all that is neither a letter nor a digit.
fn dashed(folder: &Path) -> String {
    let path = folder.to_string_lossy();
    let dashed: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    dashed.trim_matches('-').to_owned()
}

fn sub_agents(transcript: &Path) -> io::Result<Vec<SubAgent>> {
    let Some(folder) = transcript.parent().filter(|folder| folder.file_name() == transcript.file_stem()) else {
        return Ok(Vec::new());
    };
    let files = own_files(folder, &["subagents"], ".jsonl")?.into_iter();
    let mut found: Vec<_> = files.filter_map(SubAgent::named_by_file).collect();
    found.sort();
    Ok(found)
}
