//! The commit message in a trace: a subject and git trailers.
//!
//! ```text
//! tool_io result grep: 3 matches in src/lib.rs
//!
//! Trace-Op: append
//! Trace-Item: 0be7719d3a2f61c8
//! Trace-Time: 2026-02-10T09:00:00.125000001Z
//! Trace-Tree: 6b0c…
//! Trace-Total: 12345 o200k_base
//! Trace-Counted: 12345 o200k_base 2
//! Trace-Next: 44
//! ```
//!
//! - Trailers are in the last paragraph, and every value is one line, so no subject, name, or reason can forge one.
//! - A commit made by plain git may have no trailers or those of another tree; [`Trailers::tree`] names their tree.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use memchr::memmem;
use serde_json::{Value, json};

use super::id::ItemId;
use super::item::{Item, ItemType};
use super::name::TraceName;
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
use crate::tokens::CounterId;

/// The maximum length of a subject made from an item, in characters.
pub(crate) const SUBJECT_LEN: usize = 72;

string_enum! {
    /// The operation of a commit.
    Op {
        Append = "append",
        Edit = "edit",
        Delete = "delete",
        /// An item was restored, or returned to an earlier revision.
        Restore = "restore",
        Merge = "merge",
        Pick = "pick",
        Compress = "compress",
        Import = "import",
        /// The trace was written as a new session of an agent. No item changes.
        Export = "export",
        /// Items were cut and deleted, as presets or a person selected them.
        Clean = "clean",
    }
}

/// The size of a trace: every live item as a separate message, including skipped items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Total {
    pub tokens: u64,
    pub basis: Basis,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Basis {
    Counted(CounterId),
    /// A provider reported the size of the context. Counts of items that changed since then are added or subtracted.
    Reported,
}

/// The tokens of a tree as git-trace counts them, whatever a provider reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub tokens: u64,
    pub counter: CounterId,
}

/// The positions of the tree that imports left empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Vacant {
    pub count: u32,
    /// Only those before this position count; `None`: all. From there on, items of others come between those of the imports.
    pub before: Option<u32>,
}

impl Vacant {
    fn parse(value: &str) -> Option<Self> {
        let (count, before) = value.split_once(' ').map_or((value, None), |(count, before)| (count, Some(before)));
        Some(Self { count: count.parse().ok()?, before: before.map(str::parse).transpose().ok()? })
    }

    fn render(self) -> String {
        let Self { count, before } = self;
        before.map_or_else(|| count.to_string(), |before| format!("{count} {before}"))
    }

    fn counts(self, seq: u32) -> bool {
        self.before.is_none_or(|before| seq < before)
    }

    /// An import removed the item at a position.
    pub(crate) fn leave(&mut self, seq: u32) {
        self.count += u32::from(self.counts(seq));
    }

    /// An item returned to its position.
    pub(crate) fn refill(&mut self, seq: u32) {
        self.count = self.count.saturating_sub(u32::from(self.counts(seq)));
    }

    pub(crate) fn end_before(&mut self, seq: u32) {
        self.before = Some(self.before.map_or(seq, |before| before.min(seq)));
    }
}

impl Counted {
    /// The version of the rules for items that are not text. Version 1, which counted the bytes of images, is not written.
    const RULES: &str = "2";

    pub(crate) fn render(self) -> String {
        format!("{} {} {}", self.tokens, self.counter, Self::RULES)
    }

    fn parse(value: &str) -> Option<Self> {
        let value = value.strip_suffix(Self::RULES)?.strip_suffix(' ')?;
        let (tokens, counter) = value.split_once(' ')?;
        Some(Self { tokens: tokens.parse().ok()?, counter: counter.parse().ok()? })
    }
}

impl Total {
    pub(crate) fn to_json(self) -> Value {
        let mut tokens = json!({ "total": self.tokens, "source": self.basis.source() });
        if let Basis::Counted(counter) = self.basis {
            tokens["encoding"] = counter.to_string().into();
        }
        tokens
    }
}

impl Basis {
    /// `counted` or `reported`.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::Counted(_) => "counted",
            Self::Reported => "reported",
        }
    }
}

/// The id of the counter, or `reported`.
impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted(counter) => counter.fmt(f),
            Self::Reported => f.write_str("reported"),
        }
    }
}

/// Follows the digest if compactions were replayed.
const AS_SEEN: &str = " as-seen";

/// The position up to which a file was imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ImportPosition {
    pub session: String,
    pub offset: u64,
    /// Hex digest of the last part of those bytes.
    pub digest: String,
    /// Whether its compactions were replayed. All imports of a session into a trace agree on this.
    pub as_seen: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Trailers {
    pub op: Option<Op>,
    pub item: Option<ItemId>,
    /// The items after the first, if there are several.
    pub more_items: Vec<ItemId>,
    pub time: Option<Time>,
    /// The tree to which the totals and the next position belong, in hex.
    pub tree: Option<String>,
    pub total: Option<Total>,
    /// Our own count; `None` if the total is that count, or in a commit of version 0.1.
    pub counted: Option<Counted>,
    pub next: Option<u32>,
    pub(crate) vacant: Option<Vacant>,
    pub source: Option<ImportPosition>,
    /// The trace of the first session of the family. Each commit copies it from its parent.
    pub family: Option<TraceName>,
    /// The removed item that is the session's title, and its blob, in hex. Each commit copies it from its parent.
    pub title: Option<(ItemId, String)>,
    pub code: Option<String>,
    /// The commit, in hex, that was picked, reverted, or replayed.
    pub from: Option<String>,
    pub reason: Option<String>,
}

impl Trailers {
    /// Reads the trailers of a message. An unreadable trailer counts as absent.
    pub(crate) fn parse(message: &str) -> Self {
        let mut trailers = Self::default();
        let message = message.trim_end();
        let Some(gap) = memmem::rfind(message.as_bytes(), b"\n\n") else { return trailers };
        for line in message[gap + 2..].lines() {
            let Some((key, value)) = line.split_once(": ") else { continue };
            match key {
                "Trace-Op" => trailers.op = value.parse().ok(),
                "Trace-Item" if trailers.item.is_some() => trailers.more_items.extend(value.parse::<ItemId>().ok()),
                "Trace-Item" => trailers.item = value.parse().ok(),
                "Trace-Time" => trailers.time = value.parse().ok(),
                "Trace-Tree" => trailers.tree = Some(value.to_owned()),
                "Trace-Total" => trailers.total = parse_total(value),
                "Trace-Counted" => trailers.counted = Counted::parse(value),
                "Trace-Next" => trailers.next = value.parse().ok(),
                "Trace-Vacant" => trailers.vacant = Vacant::parse(value),
                "Trace-Source" => trailers.source = parse_source(value),
                "Trace-Family" => trailers.family = value.parse().ok(),
                "Trace-Title" => trailers.title = parse_title(value),
                "Trace-Code" => trailers.code = Some(value.to_owned()),
                "Trace-From" => trailers.from = Some(value.to_owned()),
                "Trace-Reason" => trailers.reason = Some(value.to_owned()),
                _ => {}
            }
        }
        trailers
    }

    pub(crate) fn render(&self, subject: &str) -> String {
        let mut message = one_line(subject);
        if message.is_empty() {
            message.push_str("(no subject)");
        }
        message.push_str("\n\n");
        let source = self.source.as_ref().map(|mark| {
            let as_seen = if mark.as_seen { AS_SEEN } else { "" };
            format!("{} {} {}{as_seen}", mark.session, mark.offset, mark.digest)
        });
        let trailers = [
            ("Trace-Op", self.op.map(|op| op.to_string())),
            ("Trace-Item", self.item.map(|item| item.to_string())),
            ("Trace-Time", self.time.map(|time| time.to_string())),
            ("Trace-Tree", self.tree.clone()),
            ("Trace-Total", self.total.map(|total| format!("{} {}", total.tokens, total.basis))),
            ("Trace-Counted", self.counted.map(Counted::render)),
            ("Trace-Next", self.next.map(|next| next.to_string())),
            ("Trace-Vacant", self.vacant.map(Vacant::render)),
            ("Trace-Source", source),
            ("Trace-Family", self.family.as_ref().map(ToString::to_string)),
            ("Trace-Title", self.title.as_ref().map(|(item, blob)| format!("{item} {blob}"))),
            ("Trace-Code", self.code.clone()),
            ("Trace-From", self.from.clone()),
            ("Trace-Reason", self.reason.clone()),
        ];
        let more_items = self.more_items.iter().map(|item| ("Trace-Item", Some(item.to_string())));
        let [op, item, rest @ ..] = trailers;
        for (key, value) in [op, item].into_iter().chain(more_items).chain(rest) {
            let line = one_line(&value.unwrap_or_default());
            if !line.is_empty() {
                // Writing to a String cannot fail.
                let _ = writeln!(message, "{key}: {line}");
            }
        }
        message
    }
}

fn parse_total(value: &str) -> Option<Total> {
    let (tokens, basis) = value.split_once(' ')?;
    let basis = match basis {
        "reported" => Basis::Reported,
        counter => Basis::Counted(counter.parse().ok()?),
    };
    let tokens = tokens.parse().ok().filter(|tokens| *tokens <= MAX_TOTAL)?;
    Some(Total { tokens, basis })
}

/// A commit of somebody else may say anything. Sums of totals up to this one do not overflow.
const MAX_TOTAL: u64 = 1 << 48;

pub(crate) fn parse_title(value: &str) -> Option<(ItemId, String)> {
    let (item, blob) = value.split_once(' ')?;
    Some((item.parse().ok()?, blob.to_owned()))
}

fn parse_source(value: &str) -> Option<ImportPosition> {
    let (value, as_seen) = value.strip_suffix(AS_SEEN).map_or((value, false), |value| (value, true));
    let mut words = value.rsplitn(3, ' ');
    let digest = words.next()?.to_owned();
    let offset = words.next()?.parse().ok()?;
    Some(ImportPosition { session: words.next()?.to_owned(), offset, digest, as_seen })
}

/// Converts a text to one line: each run of white space and control characters becomes one space.
pub(crate) fn one_line(text: &str) -> String {
    // Most texts are one line already, and lists show thousands of them.
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && text.trim_ascii() == text && !text.contains("  ") {
        return text.to_owned();
    }
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The default subject of a commit: the type of the item and its first words.
pub(crate) fn preview(item: &Item) -> String {
    let fields = &item.fields;
    let mut subject = fields.item_type.to_string();
    let detail = fields.direction.map(super::item::Direction::as_str);
    let speaker = (fields.item_type == ItemType::dialogue()).then_some(fields.role).flatten();
    let parts = [detail, speaker.map(super::item::Role::as_str), fields.name.as_deref(), fields.path.as_deref()];
    for part in parts.into_iter().flatten() {
        subject.push(' ');
        subject.push_str(part);
    }
    subject.push_str(": ");
    subject.push_str(&head(&item.body));
    shortened(one_line(&subject).trim_end_matches(':'))
}

/// The first words of a text, on one line, or the size of other content.
pub(crate) fn first_words(body: &[u8]) -> String {
    shortened(&one_line(&head(body)))
}

/// The start of a text, or the size of other content.
fn head(body: &[u8]) -> Cow<'_, str> {
    // A character has at most four bytes, so the rest of a long body is not needed.
    let head = &body[..body.len().min(SUBJECT_LEN * 8)];
    match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_some() => Cow::Owned(format!("{} bytes", body.len())),
        _ => String::from_utf8_lossy(head),
    }
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= SUBJECT_LEN {
        return line.to_owned();
    }
    let kept: String = line.chars().take(SUBJECT_LEN - 1).collect();
    format!("{}…", kept.trim_end())
}
