//! Imports a file with several independent conversations, each into its own trace.
//!
//! The file is read once, and no more than one conversation is in memory.

use std::collections::HashSet;

use super::input::Input;
use super::{ImportContext, Imported, OpenTranscript, incoming, read_error, record, spool};
use crate::trace::change::bulk::{Feed, Incoming, Rewind};
use crate::trace::store::settings;
use crate::trace::sync::bring_back_if_archived;
use crate::trace::{TraceError, TraceName};
use crate::transcript::format::Format;

/// The trace of a conversation with a number in the file, from 1, and an id, if the format has ids.
pub(crate) type NameOf<'n> = &'n dyn Fn(usize, Option<&str>) -> TraceName;

/// Imports each conversation of a file. On an error, those before it stay.
pub(crate) fn conversations(
    context: ImportContext<'_>,
    format: Format,
    input: Input<'_>,
    name_of: NameOf<'_>,
) -> Result<Imported, TraceError> {
    let (replays, usage) = (context.compactions.replays, settings::usage(context.repo)?);
    let spooled;
    let (file, progress) = match input {
        Input::File(file, progress) => (file, progress),
        Input::Stream(stream) => {
            spooled = spool(context.repo, stream).map_err(read_error)?;
            (&spooled, &(|_| ()) as &dyn Fn(u64))
        }
    };
    let opened = OpenTranscript::open(format, file, progress, (replays, usage)).map_err(read_error)?;
    let (mut next, mut traces, mut names) = (Conversation { opened, number: 0 }, Vec::new(), HashSet::new());
    while next.opened.has_more()? {
        let output = next.opened.transcript.output();
        next.number = output.conversations;
        let mut name = name_of(next.number, output.session_id.as_deref());
        // An id that occurs twice does not join two conversations.
        if names.contains(name.as_str()) {
            name = name_of(next.number, None);
        }
        names.insert(name.to_string());
        bring_back_if_archived(context.repo, context.signature, &name)?;
        let report = record(context, &name, &name, &mut next)?;
        traces.push((name, report));
    }
    let base = traces.first().map_or_else(TraceName::default_name, |(name, _)| name.clone());
    let tally = next.opened.transcript.output().tally.clone();
    Ok(Imported { traces, family: base.clone(), base, tally, from: 0 })
}

/// Feeds the entries of one conversation.
struct Conversation<'w> {
    opened: OpenTranscript<'w>,
    number: usize,
}

impl Conversation<'_> {
    /// Whether what was read last belongs to it.
    fn is_current(&self) -> bool {
        self.opened.transcript.output().conversations == self.number
    }
}

impl Feed for Conversation<'_> {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        let has_more = self.opened.has_more()? && self.is_current();
        Ok(has_more.then(|| self.opened.ahead.pop_front().map(incoming)).flatten())
    }

    fn rewinds(&mut self) -> Vec<Rewind> {
        if self.is_current() { self.opened.transcript.output_mut().rewound.drain().collect() } else { Vec::new() }
    }
}
