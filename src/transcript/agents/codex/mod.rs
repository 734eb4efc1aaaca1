//! Rollouts of Codex CLI: `<home>/sessions/2026/08/03/rollout-<time>-<session id>.jsonl`.
//!
//! One JSON object per line. Since September 2025 each has a type and a payload; older files contain the bare payload:
//!
//! ```text
//! {"timestamp":"…","type":"session_meta","payload":{"id":"019b…","cwd":"/home/ada/engine","cli_version":"0.146.0",…}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",…}]}}
//! {"timestamp":"…","type":"event_msg","payload":{"type":"user_message","message":"…"}}
//! ```
//!
//! | record | item |
//! | --- | --- |
//! | `message` | `dialogue`, one per part; a developer message before the conversation is an `instruction` |
//! | `reasoning` | `reasoning` with its summaries and texts, the encrypted content as signature, its id in meta |
//! | `function_call`, `custom_tool_call`, `local_shell_call` | `tool_io` call; custom input becomes a JSON string |
//! | their outputs | `tool_io` result, replying to the call; images follow it |
//! | any other response item | `freeform` of that name, the JSON verbatim |
//! | `base_instructions` of `session_meta` | `instruction` |
//! | `instructions` of `session_meta` | `instruction`, removed as `repeated`: a message repeats it |
//! | `compacted` | the parts that are new, removed as `compaction` if originals stay, meta `{"compact_summary":true}` |
//! | `thread_rolled_back` | the user's last turns, as many as it says, are rewound |
//! | `session_meta` that starts another file | what has its ordinal or a later one is rewound, see `segments` |
//!
//! - `event_msg` repeats, for the screen, what response items say to the model; it is counted but not imported.
//! - When compactions are replayed, the items that a compaction lists first and in their original order stay. Its other items
//!   follow them, and the last of these replaces everything else. A compaction in an old file lists no items; it keeps
//!   the messages of the user and the system.
//! - A sub-agent has a separate file, whose head names the session.
//! - Not all response items have ids, so an item's source is session, record, and the number of its occurrence.
//! - `token_count` follows the items that it covers, so reports are not used, and totals are counted.

mod compaction;
pub(crate) mod exec;
pub(crate) mod export;
mod files;
mod reader;
mod records;
mod segments;
mod usage;

pub(crate) use reader::Codex;

use super::{AgentFormat, home_folder};
use crate::transcript::export::Exporter;

pub(crate) const FORMAT: &str = "codex";

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| home_folder(env, "CODEX_HOME", ".codex"),
    sessions: files::rollouts_of,
    all: files::all,
    folder: files::folder_of,
    parts: segments::parts,
    sub_agents: files::sub_agents,
    sub_agent: files::sub_agent,
    exporter: Some(Exporter::new(export::write, export::path, "codex resume")),
    ..AgentFormat::of_lines::<Codex>("Codex")
};
