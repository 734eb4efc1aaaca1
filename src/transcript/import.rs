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
use super::{Entry, Position, Tally, TranscriptError, memory};
use crate::git::Repo;
use crate::tokens::Encoding;
use crate::trace::bulk::{self, Feed, Incoming, Report};
use crate::trace::message::{Op, SourceMark};
use crate::trace::priority::{self, Level, Request};
use crate::trace::view::View;
use crate::trace::write::Stamp;
use crate::trace::{Item, ItemId, Tip, TraceError, TraceName};

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
    /// What was met beside content, from where reading began.
    pub tally: Tally,
    /// The byte of the file from which it was read; all before it was imported earlier.
    pub from: u64,
}

/// Into which repository, by whom and when.
#[derive(Clone, Copy)]
pub struct Writing<'r> {
    /// The repository.
    pub repo: &'r Repo,
    /// Who and when.
    pub stamp: &'r Stamp,
    /// What tokens are counted with.
    pub encoding: Encoding,
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
pub fn transcript(
    writing: Writing<'_>,
    format: Format,
    destination: Destination,
    input: Input<'_>,
) -> Result<Imported, TraceError> {
    let mut opened = Opened::start(format, input).map_err(read_error)?;
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
    if opened.file.is_some()
        && keeps_mark
        && let Some(mark) = bulk::last_mark(writing.repo, &name, &session)?
    {
        from = opened.go_on(writing.repo, &name, mark)?;
    }
    let Opened { transcript, ahead, .. } = opened;
    let mut main = MainLine {
        writing,
        name: name.clone(),
        transcript,
        ahead,
        threads: BTreeMap::new(),
        session,
        keeps_mark,
        reports: Vec::new(),
    };
    let report = record(writing, &name, &mut main)?;
    skip_rewound(writing, &name, &main.transcript.take_rewound())?;
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
}

impl<'w> Opened<'w> {
    fn start(format: Format, input: Input<'w>) -> io::Result<Self> {
        let (transcript, file) = match input {
            Input::File(file, watch) => (format.open(Box::new(Watched::new(&file, watch)?))?, Some((file, watch))),
            Input::Stream(stream) => (format.open(stream)?, None),
        };
        Ok(Self { format, transcript, ahead: VecDeque::new(), file })
    }

    /// Goes on from where an earlier import ended, or from the start where the file is another; says from which byte.
    fn go_on(&mut self, repo: &Repo, name: &TraceName, mark: SourceMark) -> Result<u64, TraceError> {
        let Some((file, watch)) = &self.file else { return Ok(0) };
        let watched = || Watched::new(file, *watch).map_err(read_error);
        let SourceMark { session, offset, digest } = mark;
        let position = Position { offset, digest };
        if let Some(memory) = memory::read(repo, name, &session)
            && let Some(resumed) = self.format.resume(Box::new(watched()?), &position, &memory).map_err(read_error)?
        {
            (self.transcript, self.ahead) = (resumed, VecDeque::new());
            return Ok(offset);
        }
        let mut again = self.format.open(Box::new(watched()?)).map_err(read_error)?;
        let same = again.skip_to(&position).map_err(unreadable)?;
        if !same {
            again = self.format.open(Box::new(watched()?)).map_err(read_error)?;
        }
        (self.transcript, self.ahead) = (again, VecDeque::new());
        Ok(if same { offset } else { 0 })
    }
}

fn record(writing: Writing<'_>, name: &TraceName, feed: &mut dyn Feed) -> Result<Report, TraceError> {
    let Writing { repo, stamp, encoding } = writing;
    bulk::import(repo, name, stamp, encoding, feed)
}

/// Gives what the person took back the priority skip.
fn skip_rewound(writing: Writing<'_>, name: &TraceName, items: &[ItemId]) -> Result<(), TraceError> {
    let Writing { repo, stamp, .. } = writing;
    let Some(tip) = Tip::find(repo, name)?.filter(|_| !items.is_empty()) else { return Ok(()) };
    let view = View::at(repo, tip.clone(), None)?;
    let mut requests = Vec::new();
    for slot in view.slots.iter().filter(|slot| items.contains(&slot.id) && view.level(slot).level() != Level::Skip) {
        requests.push(Request {
            item: slot.id,
            level: Level::Skip,
            reason: Some("taken back in the session".to_owned()),
            seq: Some(slot.seq),
            at: stamp.at.after(Some(tip.time())),
            by: None,
            introduced: priority::tags::introduction(repo, &tip, slot.id)?.unwrap_or(tip.commit.oid),
        });
    }
    priority::set(repo, stamp, &requests)
}

fn unreadable(error: TranscriptError) -> TraceError {
    let TranscriptError::Read { source, .. } = error;
    read_error(source)
}

fn read_error(source: io::Error) -> TraceError {
    TraceError::Stream { action: "read the transcript", source }
}

fn incoming(entry: Entry) -> Incoming {
    let Entry { id, draft, skip, subject, usage, .. } = entry;
    let at = draft.fields.created;
    let item = Item { id, fields: draft.fields, revision: 1, tokens: None, body: draft.body };
    Incoming { op: Op::Import, item, seq: None, subject, reason: None, by: None, at, skip, usage, line: 0 }
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

    fn mark(&self) -> Option<SourceMark> {
        let Position { offset, digest } = Transcript::position(&*self.transcript);
        self.keeps_mark.then(|| SourceMark { session: self.session.clone(), offset, digest })
    }
}

/// The entries of one sub-agent.
struct Thread(std::vec::IntoIter<Entry>);

impl Feed for Thread {
    fn next(&mut self) -> Result<Option<Incoming>, TraceError> {
        Ok(self.0.next().map(incoming))
    }

    fn mark(&self) -> Option<SourceMark> {
        None
    }
}
