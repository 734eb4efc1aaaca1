//! Any bytes as a transcript of each format: read completely, and truncated at any point and read on from there.
//!
//! The first byte selects the format, the next two the point.

use std::io::Cursor;

use crate::trace::change::bulk::Usage;
use crate::trace::model::schema;
use crate::transcript::TranscriptEntry;
use crate::transcript::format::{Format, InputFormat};
use crate::transcript::read::reader::Transcript;

/// Reads all entries.
#[expect(clippy::while_let_on_iterator, reason = "a trait object has no `by_ref`")]
fn all(format: Format, reader: &mut dyn Transcript) -> Vec<TranscriptEntry> {
    let mut entries = Vec::new();
    while let Some(entry) = reader.next() {
        let mut entry = entry.expect("nothing in a file is fatal");
        if matches!(format, Format::Codex | Format::Opencode | Format::CodexExec) {
            // The usage of a request comes after its entries.
            entry.usage = Usage::Unsaid;
            entry.draft.fields.meta.remove("usage");
        }
        entries.push(entry);
    }
    entries
}

pub(super) fn run(data: &[u8]) {
    let [pick, low, high, bytes @ ..] = data else { return };
    let formats: Vec<Format> = Format::all().collect();
    let format = formats[usize::from(*pick) % formats.len()];
    let cut = usize::from(u16::from_le_bytes([*low, *high])) % (bytes.len() + 1);
    let _ = InputFormat::detect(bytes);

    let mut reader = (format.agent().open)(Box::new(bytes)).expect("a slice can be read");
    let whole = all(format, &mut *reader);
    for entry in &whole {
        schema::validate(&entry.draft).expect("every draft is what its type asks for");
        assert!(entry.end_offset <= bytes.len() as u64 || reader.output().is_document);
        assert!(entry.subject.as_ref().is_none_or(|subject| subject.chars().count() <= 72));
    }
    assert!(reader.output().tally.damaged_lines.len() <= 20);
    if matches!(format, Format::Aider | Format::GeminiStream | Format::VsCodeCopilot) {
        // The last answer of the first two may be incomplete, and its text has no sign of that. An edit of VS Code changes what is
        // before it.
        return;
    }

    let mut part = (format.agent().open)(Box::new(&bytes[..cut])).expect("a slice can be read");
    let first = all(format, &mut *part);
    assert!(first.len() <= whole.len());
    assert_eq!(first, whole[..first.len()], "a cut file gives the first entries");
    if part.output().is_document {
        return;
    }
    let position = part.consumed();
    let Some(state) = part.saved_state() else { return };
    let mut rest = Cursor::new(bytes);
    let window = position.find(&mut rest).expect("a slice can be read").expect("the same bytes are there");
    let resumed = (format.agent().resume)(Box::new(rest), &position, window, &state);
    let mut resumed = resumed.expect("the state is that of the position");
    let rest = all(format, &mut *resumed);
    assert_eq!(rest, whole[first.len()..], "reading on gives the rest");
    let mut rewound = part.output().rewound.clone();
    rewound.extend(resumed.output().rewound.clone());
    assert_eq!(rewound, reader.output().rewound);

    let mut skipping = (format.agent().open)(Box::new(bytes)).expect("a slice can be read");
    assert!(skipping.skip_to(&position).expect("a slice can be read"));
    assert_eq!(all(format, &mut *skipping), rest, "passing over gives the rest");
}
