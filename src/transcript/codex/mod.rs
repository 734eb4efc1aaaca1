//! Rollouts of Codex CLI: `<home>/sessions/2026/08/03/rollout-<time>-<session id>.jsonl`.
//!
//! One JSON object a line. Since September 2025 each has a type and a payload; before, what is a payload now stood bare:
//!
//! ```text
//! {"timestamp":"…","type":"session_meta","payload":{"id":"019b…","cwd":"/home/ada/engine","cli_version":"0.146.0",…}}
//! {"timestamp":"…","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",…}]}}
//! {"timestamp":"…","type":"event_msg","payload":{"type":"user_message","message":"…"}}
//! ```
//!
//! | record | item |
//! | --- | --- |
//! | `message` | `dialogue`, one a part; a developer's before anything was said is an `instruction` |
//! | `reasoning` | `reasoning` of its summaries and texts, what is encrypted as signature, its id in meta |
//! | `function_call`, `custom_tool_call`, `local_shell_call` | `tool_io` call; free input as a text in JSON |
//! | their outputs | `tool_io` result, replying to the call; pictures beside it |
//! | any other response item | `freeform` of that name, the JSON as it stands |
//! | `base_instructions` of `session_meta` | `instruction` |
//! | `instructions` of it | `instruction`, skipped: a message says it again |
//! | `compacted` | what of it was not said before, skipped where something was, meta `{"compact_summary":true}` |
//! | `thread_rolled_back` | what the person said last, so many turns of it, gets the priority skip |
//!
//! - `event_msg` says again, for the screen, what response items say to the model; it is counted and not imported.
//! - Where compactions are replayed, what a compaction left stands: the items it names first, as long as they come in the
//!   order in which they were said, stay as they are, the others come in behind them, and the last of these takes the place
//!   of all else. One of old files, which names none, leaves what the person and the system said.
//! - Response items have ids only sometimes, so an item is named after session and record, and how often the same came.
//! - `token_count` comes after the items that it is of, so reports are not used, and totals are counted.

mod compaction;
mod discover;
mod record;
mod scribe;
mod standing;

pub(crate) use discover::newest_rollout;
pub(crate) use scribe::Scribe;

/// The format's name, as sources and traces spell it.
pub(crate) const FORMAT: &str = "codex";
