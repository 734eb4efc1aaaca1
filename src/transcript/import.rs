//! Importing a transcript: its main line into one trace, each sub-agent's into a trace of its own.
//!
//! Each import's last commit says how far the file was read. The next one goes on from there, if the file still has the same
//! bytes there; one that was rewritten is read from its start and matched by record. Sub-agents' traces move before the main
//! one does, so that an import that was interrupted is made up for by the next.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use super::format::Format;
use super::input::{Input, Watch, Watched};
use super::reader::Transcript;
use super::{Entry, Position, Tally, TranscriptError, memory, rewind};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::change::bulk::{self, Feed, Incoming, Report};
use crate::trace::model::trailers::{ImportPosition, Op};
use crate::trace::store::write::Signature;
use crate::trace::{Item, TraceError, TraceName};

/// How many entries are read in search of the session's id.
const READ_AHEAD: usize = 1000;

/// The session of a transcript that nobody named.
const UNNAMED: &str = "unnamed";

/// Where a transcript's main line goes.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    /// Into this trace.
    Trace(TraceName),
    /// Into the trace of its session, `<agent>/<session id>`: of the session that the transcript tells, or of this one.
    Session(Option<String>),
}

/// What an import did.
#[derive(Debug)]
pub(crate) struct Imported {
    /// The traces, the main line's first, and what was recorded in each.
    pub traces: Vec<(TraceName, Report)>,
    /// What was met beside content, from where reading began.
    pub tally: Tally,
    /// The byte of the file from which it was read; all before it was imported earlier.
    pub from: u64,
}

/// Into which repository, by whom and when.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'r> {
    /// The repository.
    pub repo: &'r Repo,
    /// Who and when.
    pub signature: &'r Signature,
    /// What tokens are counted with.
    pub encoding: Encoding,
    /// Whether compactions are replayed; a session that was imported earlier goes on as it began.
    pub seen: Seen,
}

/// What becomes of an agent's compactions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Seen {
    /// All that was said stays, and the summary is left out.
    #[default]
    All,
    /// The summary takes the place of what it stands for, so that the trace is what the model saw. Of a trace that began
    /// otherwise this is not asked.
    Prefer,
    /// The same, or nothing.
    Only,
}

impl Seen {
    /// What the setting `trace.asSeen` says.
    ///
    /// # Errors
    ///
    /// [`crate::git::GitError::BadSetting`] if it is neither true nor false.
    pub(crate) fn of_settings(repo: &Repo) -> Result<Self, TraceError> {
        Ok(if repo.config()?.boolean("trace.asSeen")? == Some(true) { Self::Prefer } else { Self::All })
    }
}

/// Imports a transcript.
///
/// Items that a trace has or once had are passed over, so a file that has grown brings only what is new. Compaction
/// summaries and other doubles come in with the priority skip. The main line is streamed; what sub-agents said is held in
/// memory until it has been read. A file is read from where the last import of it ended.
///
/// # Errors
///
/// [`TraceError`] if it cannot be read or recorded; the trace being written is as it was then.
pub(crate) fn transcript(
    writing: Writing<'_>,
    format: Format,
    destination: Destination,
    input: Input<'_>,
) -> Result<Imported, TraceError> {
    let mut opened = Opened::start(format, input, writing.seen != Seen::All).map_err(read_error)?;
    // Titles may stand before the first record that tells whose transcript this is.
    while opened.transcript.session_id().is_none() && opened.ahead.len() < READ_AHEAD {
        match opened.transcript.next().transpose().map_err(unreadable)? {
            Some(entry) => opened.ahead.push_back(entry),
            None => break,
        }
    }
    let session = opened.transcript.session_id().map(str::to_owned);
    let (name, session) = match destination {
        Destination::Trace(name) => (name, session.unwrap_or_else(|| UNNAMED.to_owned())),
        Destination::Session(file) => {
            let session = session.or(file).unwrap_or_else(|| UNNAMED.to_owned());
            (TraceName::of_session(format.as_str(), &session), session)
        }
    };
    let mut from = 0;
    let keeps_mark = opened.transcript.is_appended();
    if keeps_mark && let Some(mark) = bulk::last_mark(writing.repo, &name, &session)? {
        if mark.as_seen != opened.as_seen && (writing.seen == Seen::Only || opened.file.is_none()) {
            return Err(TraceError::SeenOtherwise { trace: name, as_seen: mark.as_seen });
        }
        from = opened.go_on(writing.repo, &name, mark)?;
    }
    let Opened { transcript, ahead, as_seen, .. } = opened;
    let mut main = MainLine {
        writing,
        name: name.clone(),
        transcript,
        ahead,
        threads: BTreeMap::new(),
        session,
        keeps_mark,
        as_seen,
        reports: Vec::new(),
    };
    let report = record(writing, &name, &mut main)?;
    rewind::follow(writing, &name, main.transcript.take_rewound())?;
    if report.recorded > 0
        && keeps_mark
        && let Some(learned) = main.transcript.memory()
    {
        memory::write(writing.repo, &name, &main.session, &learned);
    }
    let mut traces = vec![(name, report)];
    traces.append(&mut main.reports);
    Ok(Imported { traces, tally: main.transcript.tally().clone(), from })
}

/// A transcript that is being read, and its file, to begin anew.
struct Opened<'w> {
    format: Format,
    transcript: Box<dyn Transcript + 'w>,
    ahead: VecDeque<Entry>,
    file: Option<(std::fs::File, Watch<'w>)>,
    as_seen: bool,
}

impl<'w> Opened<'w> {
    fn start(format: Format, input: Input<'w>, as_seen: bool) -> io::Result<Self> {
        let (mut transcript, file) = match input {
            Input::File(file, watch) => (format.open(Box::new(Watched::new(&file, watch)?))?, Some((file, watch))),
            Input::Stream(stream) => (format.open(stream)?, None),
        };
        transcript.set_as_seen(as_seen);
        Ok(Self { format, transcript, ahead: VecDeque::new(), file, as_seen })
    }

    /// Goes on from where an earlier import ended, or from the start where the file is another; says from which byte.
    fn go_on(&mut self, repo: &Repo, name: &TraceName, mark: ImportPosition) -> Result<u64, TraceError> {
        let Some((file, watch)) = &self.file else { return Ok(0) };
        let watched = || Watched::new(file, *watch).map_err(read_error);
        let ImportPosition { session, offset, digest, as_seen } = mark;
        self.as_seen = as_seen;
        let position = Position { offset, digest };
        if let Some(memory) = memory::read(repo, name, &session)
            && let Some(resumed) = self.format.resume(Box::new(watched()?), &position, &memory).map_err(read_error)?
        {
            (self.transcript, self.ahead) = (resumed, VecDeque::new());
            return Ok(offset);
        }
        let open = || -> Result<_, TraceError> {
            let mut transcript = self.format.open(Box::new(watched()?)).map_err(read_error)?;
            transcript.set_as_seen(as_seen);
            Ok(transcript)
        };
        let mut again = open()?;
        let same = again.skip_to(&position).map_err(unreadable)?;
        if !same {
            again = open()?;
        }
        (self.transcript, self.ahead) = (again, VecDeque::new());
        Ok(if same { offset } else { 0 })
    }
}

fn record(writing: Writing<'_>, name: &TraceName, feed: &mut dyn Feed) -> Result<Report, TraceError> {
    let Writing { repo, signature, encoding, .. } = writing;
    bulk::import(repo, name, signature, encoding, feed)
}

fn unreadable(error: TranscriptError) -> TraceError {
    let TranscriptError::Read { source, .. } = error;
    read_error(source)
}

fn read_error(source: io::Error) -> TraceError {
    TraceError::Stream { action: "read the transcript", source }
}

fn incoming(entry: Entry) -> Incoming {
    let Entry { id, draft, skip, replaces, subject, usage, .. } = entry;
    let at = draft.fields.created;
    let item = Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
    Incoming { op: Op::Import, item, seq: None, subject, reason: None, by: None, at, skip, replaces, usage, line: 0 }
}

/// The entries of the main line; the others are put aside, and recorded before this ends.
struct MainLine<'w> {
    writing: Writing<'w>,
    name: TraceName,
    transcript: Box<dyn Transcript + 'w>,
    ahead: VecDeque<Entry>,
    threads: BTreeMap<String, Vec<Entry>>,
    session: String,
    keeps_mark: bool,
    as_seen: bool,
    reports: Vec<(TraceName, Report)>,
}

impl Feed for MainLine<'_> {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        loop {
            let entry = match self.ahead.pop_front() {
                Some(entry) => entry,
                None => match self.transcript.next().transpose().map_err(unreadable)? {
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
            let report = record(self.writing, &name, &mut Thread(entries.into_iter()))?;
            self.reports.push((name, report));
        }
        Ok(None)
    }

    fn mark(&self) -> Option<ImportPosition> {
        let Position { offset, digest } = Transcript::position(&*self.transcript);
        self.keeps_mark.then(|| ImportPosition { session: self.session.clone(), offset, digest, as_seen: self.as_seen })
    }
}

/// The entries of one sub-agent.
struct Thread(std::vec::IntoIter<Entry>);

impl Feed for Thread {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        Ok(self.0.next().map(incoming))
    }

    fn mark(&self) -> Option<ImportPosition> {
        None
    }
}
