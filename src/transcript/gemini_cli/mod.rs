//! Sessions of Gemini CLI: `<home>/tmp/<project>/chats/session-<time>-<id>.json`, and `.jsonl` since 2026.
//!
//! The old files are one document with a list of messages. The new ones are a log of one object a line: a message, written
//! again whenever more of it is known, or a change of what came before:
//!
//! ```text
//! {"sessionId":"f763…","projectHash":"7e89…","startTime":"…"}
//! {"id":"98b3…","timestamp":"…","type":"gemini","content":"…","thoughts":[…],"toolCalls":[…],"tokens":{…},"model":"…"}
//! {"$set":{"lastUpdated":"…"}}
//! {"$rewindTo":"98b3…"}
//! ```
//!
//! | piece of a message | item |
//! | --- | --- |
//! | `thoughts` | `reasoning`, subject and description, without a signature |
//! | `content` | `dialogue` of the user or the model, one a part; files are `artifact` |
//! | `toolCalls` | `tool_io` call and, once it is there, result |
//! | a message of another type, as `info` | `freeform` named so, skipped: it is shown to the person only |
//!
//! - A piece is named after its message and its place there, so a message that is written again brings only what is new of
//!   it. What changed under its old name comes in beside it.
//! - `$rewindTo` takes back the message that it names and all behind it: their items get the priority skip.
//! - Messages in a `$set` come in as far as they are new. Those that it leaves away were taken back as well; or, where
//!   compactions are replayed and it begins with a new message, that takes their place.

mod discover;
mod record;
mod scribe;
mod standing;

pub(crate) use discover::newest_session;
pub(crate) use scribe::Scribe;

/// The format's name, as sources and traces spell it.
pub(crate) const FORMAT: &str = "gemini-cli";
