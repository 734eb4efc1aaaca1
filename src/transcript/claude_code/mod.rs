//! Transcripts of Claude Code: `<config>/projects/<folder>/<session id>.jsonl`.
//!
//! One JSON object a line, of which kinds `user` and `assistant` carry a message of the provider's API:
//!
//! ```text
//! {"type":"assistant","uuid":"6b2e…","parentUuid":"58f5…","sessionId":"419f…","isSidechain":false,"timestamp":"…",
//!  "message":{"id":"msg_01B","model":"…","content":[{"type":"tool_use","id":"toolu_01A",…}],"usage":{…}}}
//! ```
//!
//! | block or record | item |
//! | --- | --- |
//! | `text`, a plain string | `dialogue` of the record's role |
//! | `thinking` | `reasoning` with its signature |
//! | `redacted_thinking` | `reasoning`, empty, meta `{"redacted":true}`, the data as signature |
//! | `tool_use` | `tool_io` call; the body is `input`, byte for byte |
//! | `tool_result` | `tool_io` result, replying to its call; pieces of text are joined by a line break |
//! | `image`, `document` | `artifact`, decoded, meta `{"role":…}`; in a result, replying to it; an address is `freeform` |
//! | any other block | `freeform` of that name, the JSON as it stands |
//! | `summary` | `freeform`, skipped: a session's title |
//! | `isCompactSummary` | `dialogue`, skipped where what it sums up stands before it, meta `{"compact_summary":true}` |
//! | `attachment` | a queued prompt: `dialogue`, meta `{"queued":true}`; else `freeform`, the JSON as it stands |
//! | `system` with content | `freeform` named as its subtype, skipped unless it is `local_command` |
//!
//! - A message is written one block a line; `turn`, the message's id, says what belongs together. A record of the user's
//!   that gives several items makes a turn of its own, by its uuid.
//! - Items are in the file's order. Of the tree that `parentUuid` makes only what the person said decides: whatever is not on
//!   the way to it was left by a rewind and gets the priority skip. Parallel calls, which look like forks as
//!   well, go with the turn that they are of.
//! - Where compactions are replayed, a summary takes the place of what its thread said before it.
//! - Usage is repeated on each line of a message, and the last counts. It is kept, as meta `usage`, on the record's last
//!   item whenever it differs from the line before: of the items of a turn, the last that has it has the right one.
//! - Compacting writes earlier records again under their old uuids. A record that says the same is given once; one that
//!   says something else under a uuid that was there gets a source of its own, so that nothing is lost.
//! - Sub-agents' records (`isSidechain`) belong to the thread of their `agentId` or, in old files, to one that is named by
//!   the record their chain starts with.

mod discover;
mod item;
mod record;
mod scribe;
mod standing;
mod turns;

pub(crate) use discover::{newest_transcript, project_dir, sub_agents};
pub(crate) use scribe::Scribe;

/// Reads a transcript of this format.
pub(crate) type Reader<R> = super::reader::Reader<R, Scribe>;

/// The format's name, as sources and traces spell it.
pub(crate) const FORMAT: &str = "claude-code";
