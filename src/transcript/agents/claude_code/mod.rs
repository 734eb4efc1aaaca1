//! Transcripts of Claude Code: `<config>/projects/<folder>/<session id>.jsonl`.
//!
//! One JSON object per line. The kinds `user` and `assistant` contain a message of the provider's API:
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
//! | `tool_result` | `tool_io` result, replying to its call; text blocks are joined by line breaks |
//! | `image`, `document` | `artifact`, decoded, meta `{"role":…}`, replying to a result that contains it; a URL is `freeform` |
//! | any other block | `freeform` of that name, the JSON verbatim |
//! | `summary` | `freeform`, removed as `title` |
//! | `isCompactSummary` | `dialogue`, removed as `compaction` if its originals stay, meta `{"compact_summary":true}` |
//! | a plan that clears the context | `dialogue` that replaces what is before it, meta `{"clears_context":true}` |
//! | `attachment` | a queued prompt: `dialogue`, meta `{"queued":true}`; else `freeform`: the text that the model is sent, meta `{"attachment":{…}}`, or, if there is none, the JSON verbatim, removed as `interface` |
//! | `system` with content | `freeform` named after its subtype, removed as `interface` unless it is `local_command` |
//!
//! - The agent writes one block of a message per line; `turn`, the message's id, groups them. A user record with several
//!   items is a separate turn, named by its uuid.
//! - Items are in file order. Of the tree that `parentUuid` forms, only the user's prompts decide: what is not on the path
//!   to the last one was rewound and is removed. Parallel calls look like forks too; they follow their turn.
//! - When compactions are replayed, a summary replaces the earlier messages of its thread.
//! - The agent repeats usage on each line of a message, and the last one counts. It is stored, as meta `usage`, on the last
//!   item of a record whenever it changes; the last item of a turn that has it has the final value.
//! - A compaction writes earlier records again under their old uuids. A record with the same content is yielded once; one
//!   with other content under a known uuid gets its own source, so that nothing is lost.
//! - Sub-agents' records (`isSidechain`) belong to the thread of their `agentId` or, in old files, to one named after the
//!   first record of their chain.

mod attachments;
mod content;
pub(crate) mod export;
mod files;
mod reader;
mod records;
mod turns;

pub(crate) use reader::ClaudeCode;

use super::{AgentFormat, home_folder};
use crate::transcript::export::Exporter;

#[cfg(test)]
pub(crate) type Reader<R> = super::TranscriptReader<R, ClaudeCode>;

pub(crate) const FORMAT: &str = "claude-code";

pub(crate) const AGENT: AgentFormat = AgentFormat {
    home: |env| home_folder(env, "CLAUDE_CONFIG_DIR", ".claude"),
    sessions: files::transcripts_of,
    all: files::all,
    folder: files::folder_of,
    sub_agents: files::sub_agents,
    exporter: Some(Exporter::new(
        export::write,
        |home, session| Some(files::project_dir(home, &session.folder).join(format!("{}.jsonl", session.id))),
        "claude --resume",
    )),
    ..AgentFormat::of_lines::<ClaudeCode>("Claude Code")
};
