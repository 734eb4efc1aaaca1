//! The message of a trace's commit: a subject and git trailers.
//!
//! ```text
//! tool_io result grep: 3 matches in src/lib.rs
//!
//! Trace-Op: append
//! Trace-Item: 0be7719d3a2f61c8
//! Trace-Time: 2026-02-10T09:00:00.125000001Z
//! Trace-Tree: 6b0c…
//! Trace-Total: 12345 o200k_base
//! Trace-Next: 44
//! ```
//!
//! - Only the last paragraph is read for trailers, and every value is one line, so no subject, name or reason can forge one.
//! - A commit made by plain git may lack trailers or carry those of another tree; [`Trailers::tree`] says whose they are.

use std::fmt::{Display, Write as _};

use memchr::memmem;

use super::id::ItemId;
use super::item::{Item, ItemType};
use crate::base::string_enum::string_enum;
use crate::base::time::Time;
use crate::tokens::Encoding;

/// The longest preview in a subject, in characters.
pub(crate) const SUBJECT_LEN: usize = 72;

string_enum! {
    /// What a commit did.
    Op {
        /// An item came in.
        Append = "append",
        /// An item's content was replaced.
        Edit = "edit",
        /// An item was taken out of this trace.
        Delete = "delete",
        /// An item was put back, or back to an earlier revision.
        Restore = "restore",
        /// Two lines of context were joined.
        Merge = "merge",
        /// An item came in from another trace.
        Pick = "pick",
        /// Items were replaced by a summary.
        Compress = "compress",
        /// An item came in from a file.
        Import = "import",
    }
}

/// What a trace counts for: every live item as a message of its own, skipped ones included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Total {
    /// Tokens with framing.
    pub tokens: u64,
    /// Where the figure comes from.
    pub basis: Basis,
}

/// Where a total comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// Every item was counted with this encoding.
    Counted(Encoding),
    /// A provider reported what the context took; what came, went or changed since then is added and taken off as counted.
    Reported,
}

impl Basis {
    /// `counted` or `reported`.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::Counted(_) => "counted",
            Self::Reported => "reported",
        }
    }

    /// The word for it beside a figure: the encoding's name, or `reported`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counted(encoding) => encoding.as_str(),
            Self::Reported => "reported",
        }
    }
}

/// What follows the digest where compactions were replayed.
const AS_SEEN: &str = " as-seen";

/// How far an imported file was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportPosition {
    /// The session, as its file names it.
    pub session: String,
    /// Bytes read, as whole records.
    pub offset: u64,
    /// Hex digest of the last stretch of those bytes.
    pub digest: String,
    /// Whether its compactions were replayed; that holds for all imports of the session into the trace.
    pub as_seen: bool,
}

/// What a commit's trailers say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trailers {
    /// What it did.
    pub op: Option<Op>,
    /// To which item.
    pub item: Option<ItemId>,
    /// When, to the nanosecond.
    pub time: Option<Time>,
    /// The tree that the total and the next position are true of, in hex.
    pub tree: Option<String>,
    /// The total.
    pub total: Option<Total>,
    /// The next position to be given out.
    pub next: Option<u32>,
    /// How far a file was read.
    pub source: Option<ImportPosition>,
    /// The commit of the code at that moment, in hex.
    pub code: Option<String>,
    /// The commit, in hex, that an item was picked from, or whose doing was reverted or replayed.
    pub from: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

impl Trailers {
    /// Reads the trailers of a message; what cannot be read counts as absent.
    #[must_use]
    pub fn parse(message: &str) -> Self {
        let mut trailers = Self::default();
        let message = message.trim_end();
        let Some(gap) = memmem::rfind(message.as_bytes(), b"\n\n") else { return trailers };
        for line in message[gap + 2..].lines() {
            let Some((key, value)) = line.split_once(": ") else { continue };
            match key {
                "Trace-Op" => trailers.op = value.parse().ok(),
                "Trace-Item" => trailers.item = value.parse().ok(),
                "Trace-Time" => trailers.time = value.parse().ok(),
                "Trace-Tree" => trailers.tree = Some(value.to_owned()),
                "Trace-Total" => trailers.total = parse_total(value),
                "Trace-Next" => trailers.next = value.parse().ok(),
                "Trace-Source" => trailers.source = parse_source(value),
                "Trace-Code" => trailers.code = Some(value.to_owned()),
                "Trace-From" => trailers.from = Some(value.to_owned()),
                "Trace-Reason" => trailers.reason = Some(value.to_owned()),
                _ => {}
            }
        }
        trailers
    }

    /// Writes the whole message.
    #[must_use]
    pub fn render(&self, subject: &str) -> String {
        let mut message = one_line(subject);
        if message.is_empty() {
            message.push_str("(no subject)");
        }
        message.push_str("\n\n");
        let total = self.total.map(|total| format!("{} {}", total.tokens, total.basis.as_str()));
        let source = self.source.as_ref().map(|mark| {
            let as_seen = if mark.as_seen { AS_SEEN } else { "" };
            format!("{} {} {}{as_seen}", mark.session, mark.offset, mark.digest)
        });
        push(&mut message, "Trace-Op", self.op.as_ref());
        push(&mut message, "Trace-Item", self.item.as_ref());
        push(&mut message, "Trace-Time", self.time.as_ref());
        push(&mut message, "Trace-Tree", self.tree.as_ref());
        push(&mut message, "Trace-Total", total.as_ref());
        push(&mut message, "Trace-Next", self.next.as_ref());
        push(&mut message, "Trace-Source", source.as_ref());
        push(&mut message, "Trace-Code", self.code.as_ref());
        push(&mut message, "Trace-From", self.from.as_ref());
        push(&mut message, "Trace-Reason", self.reason.as_ref());
        message
    }
}

fn push(message: &mut String, key: &str, value: Option<&impl Display>) {
    if let Some(value) = value {
        let line = one_line(&value.to_string());
        if !line.is_empty() {
            // Writing to a String cannot fail.
            let _ = writeln!(message, "{key}: {line}");
        }
    }
}

fn parse_total(value: &str) -> Option<Total> {
    let (tokens, basis) = value.split_once(' ')?;
    let basis = match basis {
        "reported" => Basis::Reported,
        encoding => Basis::Counted(encoding.parse().ok()?),
    };
    Some(Total { tokens: tokens.parse().ok()?, basis })
}

fn parse_source(value: &str) -> Option<ImportPosition> {
    let (value, as_seen) = value.strip_suffix(AS_SEEN).map_or((value, false), |value| (value, true));
    let mut words = value.rsplitn(3, ' ');
    let digest = words.next()?.to_owned();
    let offset = words.next()?.parse().ok()?;
    Some(ImportPosition { session: words.next()?.to_owned(), offset, digest, as_seen })
}

/// Makes a text one line: every run of white space and control characters becomes one space.
#[must_use]
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(256));
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// The subject a commit gets where its writer gave none: what the item is, and its first words.
#[must_use]
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
    // Four bytes a character at most; the rest of a long body is not looked at.
    let head = &item.body[..item.body.len().min(SUBJECT_LEN * 8)];
    match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_some() => {
            let _ = write!(subject, "{} bytes", item.body.len());
        }
        _ => subject.push_str(&String::from_utf8_lossy(head)),
    }
    shortened(one_line(&subject).trim_end_matches(':'))
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= SUBJECT_LEN {
        return line.to_owned();
    }
    let kept: String = line.chars().take(SUBJECT_LEN - 1).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn trailers_read_back() {
        let trailers = Trailers {
            op: Some(Op::Append),
            item: "0be7719d3a2f61c8".parse().ok(),
            time: "2026-02-10T09:00:00.125000001Z".parse().ok(),
            tree: Some("6b0c".to_owned()),
            total: Some(Total { tokens: 12345, basis: Basis::Reported }),
            next: Some(44),
            source: Some(ImportPosition {
                session: "a b".to_owned(),
                offset: 7,
                digest: "ff".to_owned(),
                as_seen: true,
            }),
            code: Some("beef".to_owned()),
            from: Some("feed".to_owned()),
            reason: Some("superseded".to_owned()),
        };
        assert_eq!(Trailers::parse(&trailers.render("subject")), trailers);
    }

    proptest! {
        #[test]
        fn hostile_texts_forge_no_trailer(subject in "(Trace-Op: delete|\n|\r|[a: \u{85}\u{2028}]){0,8}", reason in "(\nTrace-Item: 0be7719d3a2f61c8|\n| |a){0,6}") {
            let trailers = Trailers { op: Some(Op::Append), reason: Some(reason), ..Trailers::default() };
            let read = Trailers::parse(&trailers.render(&subject));
            prop_assert_eq!(read.op, Some(Op::Append));
            prop_assert_eq!(read.item, None);
        }
    }
}
