//! Imports a transcript: its main thread into one trace, each sub-agent's into a trace of its own.
//!
//! - [`session`] imports a session's files, [`hook`] does so when an agent calls, [`sessions`] lists what was imported.
//! - The last commit of each import records how far the file was read. The next import continues there if the file still has
//!   the same bytes before that position; [`resume`] caches the reader's state. A rewritten file is read from its start,
//!   and known records are skipped.
//! - Traces of sub-agents are written before the main one, so that the next import completes an interrupted one.

pub(crate) mod hook;
pub(crate) mod input;
mod resume;
pub(crate) mod rewind;
pub(crate) mod session;
pub(crate) mod sessions;

use std::collections::{BTreeMap, VecDeque};
use std::io;

use self::input::{Input, ProgressFn, TrackedFile};
use super::format::Format;
use super::read::reader::Transcript;
use super::{Position, Tally, TranscriptEntry, TranscriptError};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::change::bulk::{self, Feed, Incoming, Report};
use crate::trace::model::trailers::{ImportPosition, Op};
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::{Item, TraceError, TraceName};

/// How many entries are read to find the session's id.
const READ_AHEAD: usize = 1000;

/// The session of a transcript that does not name one.
const UNNAMED: &str = "unnamed";

/// The trace that a transcript's main thread is imported into.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    Trace(TraceName),
    /// `<agent>/<session id>`, with the id in the transcript, else this one.
    Session(Option<String>),
}

/// The result of an import.
#[derive(Debug)]
pub(crate) struct Imported {
    /// The traces, the main thread's first, and what was recorded in each.
    pub traces: Vec<(TraceName, Report)>,
    /// Covers what was read, from `from` on.
    pub tally: Tally,
    /// The byte at which reading started; an earlier import covered the bytes before it.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests read it"))]
    pub from: u64,
}

/// What an import needs besides the transcript.
#[derive(Clone, Copy)]
pub(crate) struct ImportContext<'r> {
    pub repo: &'r Repo,
    pub signature: &'r Signature,
    pub encoding: Encoding,
    pub compactions: CompactionMode,
}

/// How an agent's compactions are imported. A session that was imported before continues in its mode.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum CompactionMode {
    /// The original messages stay, and the summary is skipped.
    #[default]
    KeepOriginals,
    /// The summary replaces what it summarizes, so that the trace contains what the model saw; but a session that was
    /// imported with its originals keeps them.
    PreferReplay,
    /// The same, but it is an error if the session was imported with its originals.
    RequireReplay,
}

impl CompactionMode {
    /// Reads the setting `trace.asSeen`.
    pub(crate) fn from_settings(repo: &Repo) -> Result<Self, TraceError> {
        let replay = repo.config()?.boolean("trace.asSeen")? == Some(true);
        Ok(if replay { Self::PreferReplay } else { Self::KeepOriginals })
    }
}

/// Imports a transcript, from where the last import of it ended.
///
/// Items that the trace contains or once contained are skipped, so a file that has grown adds only what is new. The main
/// thread is streamed; the entries of sub-agents are held in memory until the end. On an error the trace stays unchanged.
pub(crate) fn transcript(
    context: ImportContext<'_>,
    format: Format,
    destination: Destination,
    input: Input<'_>,
) -> Result<Imported, TraceError> {
    let replays = context.compactions != CompactionMode::KeepOriginals;
    let mut opened = OpenTranscript::open(format, input, replays).map_err(read_error)?;
    // Titles may precede the first record that names the session.
    while opened.transcript.session_id().is_none() && opened.ahead.len() < READ_AHEAD {
        match opened.transcript.next().transpose()? {
            Some(entry) => opened.ahead.push_back(entry),
            None => break,
        }
    }
    let session = opened.transcript.session_id().map(str::to_owned);
    let (name, session) = match destination {
        Destination::Trace(name) => (name, session.unwrap_or_else(|| UNNAMED.to_owned())),
        Destination::Session(fallback) => {
            let session = session.or(fallback).unwrap_or_else(|| UNNAMED.to_owned());
            (TraceName::of_session(format.as_str(), &session), session)
        }
    };
    let mut from = 0;
    let has_position = opened.transcript.is_appended();
    if has_position && let Some(mark) = bulk::last_mark(context.repo, &name, &session)? {
        let must_match = context.compactions == CompactionMode::RequireReplay || opened.file.is_none();
        if mark.as_seen != opened.replays && must_match {
            return Err(TraceError::SeenOtherwise { trace: name, as_seen: mark.as_seen });
        }
        from = opened.continue_at(context.repo, &name, mark)?;
    }
    let mut main = MainThread {
        context,
        name: name.clone(),
        opened,
        session,
        has_position,
        threads: BTreeMap::new(),
        reports: vec![],
    };
    let report = record(context, &name, &mut main)?;
    let mut transcript = main.opened.transcript;
    rewind::apply(context, &name, &transcript.take_rewound())?;
    if report.recorded > 0
        && has_position
        && let Some(state) = transcript.saved_state()
    {
        resume::write(context.repo, &name, &main.session, &state);
    }
    let mut traces = vec![(name, report)];
    traces.append(&mut main.reports);
    Ok(Imported { traces, tally: transcript.tally().clone(), from })
}

/// A transcript that is being read, and its file, to read it again.
struct OpenTranscript<'w> {
    format: Format,
    transcript: Box<dyn Transcript + 'w>,
    /// Entries that were read before the import started.
    ahead: VecDeque<TranscriptEntry>,
    file: Option<(std::fs::File, ProgressFn<'w>)>,
    replays: bool,
}

impl<'w> OpenTranscript<'w> {
    fn open(format: Format, input: Input<'w>, replays: bool) -> io::Result<Self> {
        let open = format.agent().open;
        let (mut transcript, file) = match input {
            Input::File(file, progress) => {
                (open(Box::new(TrackedFile::new(&file, progress)?))?, Some((file, progress)))
            }
            Input::Stream(stream) => (open(stream)?, None),
        };
        transcript.set_replays_compactions(replays);
        Ok(Self { format, transcript, ahead: VecDeque::new(), file, replays })
    }

    /// Continues where an earlier import ended, or at the start if the file is another; returns the position.
    fn continue_at(&mut self, repo: &Repo, name: &TraceName, mark: ImportPosition) -> Result<u64, TraceError> {
        let Some((file, progress)) = &self.file else { return Ok(0) };
        let tracked = || TrackedFile::new(file, *progress).map_err(read_error);
        let agent = self.format.agent();
        let ImportPosition { session, offset, digest, as_seen } = mark;
        self.replays = as_seen;
        self.ahead.clear();
        let position = Position { offset, digest };
        if let Some(state) = resume::read(repo, name, &session)
            && let Some(resumed) = (agent.resume)(Box::new(tracked()?), &position, &state).map_err(read_error)?
        {
            self.transcript = resumed;
            return Ok(offset);
        }
        let open = || -> Result<_, TraceError> {
            let mut transcript = (agent.open)(Box::new(tracked()?)).map_err(read_error)?;
            transcript.set_replays_compactions(as_seen);
            Ok(transcript)
        };
        self.transcript = open()?;
        let same = self.transcript.skip_to(&position)?;
        if !same {
            self.transcript = open()?;
        }
        Ok(if same { offset } else { 0 })
    }
}

fn record(context: ImportContext<'_>, name: &TraceName, feed: &mut dyn Feed) -> Result<Report, TraceError> {
    let trace = Trace::new(context.repo, name.clone(), context.signature.clone()).with_encoding(context.encoding);
    bulk::import(&trace, feed)
}

impl From<TranscriptError> for TraceError {
    fn from(error: TranscriptError) -> Self {
        read_error(error.source)
    }
}

fn read_error(source: io::Error) -> TraceError {
    TraceError::Stream { action: "read the transcript", source }
}

fn incoming(entry: TranscriptEntry) -> Incoming {
    let TranscriptEntry { id, draft, skip, replaces, subject, usage, .. } = entry;
    let at = draft.fields.created;
    let item = Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
    Incoming { op: Op::Import, item, seq: None, subject, reason: None, by: None, at, skip, replaces, usage, line: 0 }
}

/// Feeds the entries of the main thread. Collects the others, and records them before it ends.
struct MainThread<'w> {
    context: ImportContext<'w>,
    name: TraceName,
    opened: OpenTranscript<'w>,
    session: String,
    has_position: bool,
    threads: BTreeMap<String, Vec<TranscriptEntry>>,
    reports: Vec<(TraceName, Report)>,
}

impl Feed for MainThread<'_> {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        loop {
            let entry = match self.opened.ahead.pop_front() {
                Some(entry) => entry,
                None => match self.opened.transcript.next().transpose()? {
                    Some(entry) => entry,
                    None => break,
                },
            };
            match &entry.thread {
                Some(thread) => self.threads.entry(thread.clone()).or_default().push(entry),
                None => return Ok(Some(incoming(entry))),
            }
        }
        for (thread, entries) in std::mem::take(&mut self.threads) {
            let name = self.name.of_sub_agent(&thread);
            let report = record(self.context, &name, &mut SubAgentThread(entries.into_iter()))?;
            self.reports.push((name, report));
        }
        Ok(None)
    }

    fn mark(&self) -> Option<ImportPosition> {
        let Position { offset, digest } = self.opened.transcript.consumed();
        let mark = ImportPosition { session: self.session.clone(), offset, digest, as_seen: self.opened.replays };
        self.has_position.then_some(mark)
    }
}

struct SubAgentThread(std::vec::IntoIter<TranscriptEntry>);

impl Feed for SubAgentThread {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        Ok(self.0.next().map(incoming))
    }

    fn mark(&self) -> Option<ImportPosition> {
        None
    }
}
