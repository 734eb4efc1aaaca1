//! Importing a transcript: its main line into one trace, each sub-agent's into a trace of its own.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;

use super::claude_code::{FORMAT, Reader};
use super::{Entry, Tally, TranscriptError};
use crate::git::Repo;
use crate::tokens::{Encoding, parse_usage};
use crate::trace::bulk::{self, Feed, Incoming, Report, Usage};
use crate::trace::message::{Op, SourceMark};
use crate::trace::write::Stamp;
use crate::trace::{Item, TraceError, TraceName, priority};

/// How many entries are read in search of the session's id.
const READ_AHEAD: usize = 1000;

/// The session of a transcript that nobody named.
const UNNAMED: &str = "unnamed";

/// Where a transcript's main line goes.
#[derive(Clone, Debug)]
pub enum Destination {
    /// Into this trace.
    Trace(TraceName),
    /// Into the trace of its session, `<agent>/<session id>`: of the session that the transcript tells, or of this one.
    Session(Option<String>),
}

/// What an import did.
#[derive(Debug)]
pub struct Imported {
    /// The traces, the main line's first, and what was recorded in each.
    pub traces: Vec<(TraceName, Report)>,
    /// What was met beside content.
    pub tally: Tally,
}

/// Imports a transcript of Claude Code.
///
/// Items that a trace has or once had are passed over, so a file that has grown brings only what is new. Compaction
/// summaries and other doubles come in with the priority skip. The main line is streamed; what sub-agents said is held in
/// memory until it has been read.
///
/// # Errors
///
/// [`TraceError`] if it cannot be read or recorded; the trace being written is as it was then.
pub fn claude_code(
    repo: &Repo,
    destination: Destination,
    stamp: &Stamp,
    encoding: Encoding,
    input: impl Read,
) -> Result<Imported, TraceError> {
    let mut reader = Reader::new(input);
    // Titles may stand before the first record that tells whose transcript this is.
    let mut ahead = VecDeque::new();
    while reader.session_id().is_none() && ahead.len() < READ_AHEAD {
        match reader.next().transpose().map_err(unreadable)? {
            Some(entry) => ahead.push_back(entry),
            None => break,
        }
    }
    let session = reader.session_id().map(str::to_owned);
    let (name, session) = match destination {
        Destination::Trace(name) => (name, session.unwrap_or_else(|| UNNAMED.to_owned())),
        Destination::Session(file) => {
            let session = session.or(file).unwrap_or_else(|| UNNAMED.to_owned());
            (TraceName::of_session(FORMAT, &session), session)
        }
    };
    let mut main = MainLine { reader, ahead, threads: BTreeMap::new(), session, meter: Meter::default() };
    let report = record(repo, &name, stamp, encoding, &mut main)?;
    let MainLine { reader, threads, .. } = main;
    let mut traces = vec![(name.clone(), report)];
    for (thread, entries) in threads {
        let name = name.of_sub_agent(&thread);
        let mut feed = Thread { entries: entries.into_iter(), meter: Meter::default() };
        let report = record(repo, &name, stamp, encoding, &mut feed)?;
        traces.push((name, report));
    }
    Ok(Imported { traces, tally: reader.tally().clone() })
}

fn record(
    repo: &Repo,
    name: &TraceName,
    stamp: &Stamp,
    encoding: Encoding,
    feed: &mut dyn Feed,
) -> Result<Report, TraceError> {
    let report = bulk::import(repo, name, stamp, encoding, feed)?;
    priority::set(repo, stamp, &report.priorities)?;
    Ok(report)
}

fn unreadable(error: TranscriptError) -> TraceError {
    let TranscriptError::Read { source, .. } = error;
    TraceError::Stream { action: "read the transcript", source }
}

/// What a transcript's entries say of the context's size.
///
/// A provider reports what the model saw. From a compaction on that is not what the trace holds (the originals, and the
/// summary skipped), so reports count no more.
#[derive(Default)]
struct Meter {
    compacted: bool,
}

impl Meter {
    fn read(&mut self, entry: &Entry) -> Usage {
        let meta = &entry.draft.fields.meta;
        if !self.compacted && entry.skip.is_some() && meta.contains_key("compact_summary") {
            self.compacted = true;
            return Usage::Void;
        }
        let reported = meta.get("usage").filter(|_| !self.compacted);
        let usage = reported.and_then(|usage| parse_usage(usage.to_string().as_bytes()).ok());
        usage.map_or(Usage::Unsaid, |usage| Usage::Reported(usage.context_tokens()))
    }
}

fn incoming(entry: Entry, meter: &mut Meter) -> Incoming {
    let usage = meter.read(&entry);
    let Entry { id, draft, skip, subject, .. } = entry;
    let at = draft.fields.created;
    let item = Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
    Incoming { op: Op::Import, item, seq: None, subject, reason: None, by: None, at, skip, usage, line: 0 }
}

/// The entries of the main line; the others are put aside.
struct MainLine<R> {
    reader: Reader<R>,
    ahead: VecDeque<Entry>,
    threads: BTreeMap<String, Vec<Entry>>,
    session: String,
    meter: Meter,
}

impl<R: Read> Feed for MainLine<R> {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        loop {
            let entry = match self.ahead.pop_front() {
                Some(entry) => entry,
                None => match self.reader.next().transpose().map_err(unreadable)? {
                    Some(entry) => entry,
                    None => return Ok(None),
                },
            };
            match &entry.thread {
                Some(thread) => self.threads.entry(thread.clone()).or_default().push(entry),
                None => return Ok(Some(incoming(entry, &mut self.meter))),
            }
        }
    }

    fn mark(&self) -> Option<SourceMark> {
        let position = self.reader.position();
        Some(SourceMark { session: self.session.clone(), offset: position.offset, digest: position.digest })
    }
}

/// The entries of one sub-agent.
struct Thread {
    entries: std::vec::IntoIter<Entry>,
    meter: Meter,
}

impl Feed for Thread {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        Ok(self.entries.next().map(|entry| incoming(entry, &mut self.meter)))
    }

    fn mark(&self) -> Option<SourceMark> {
        None
    }
}
