//! Imports a transcript: its main thread into one trace, each sub-agent's into another trace.
//!
//! - [`session`] imports a session's files, [`hook`] does so when an agent calls, [`sessions`] lists what was imported.
//! - [`conversations`] imports a file with several independent conversations.
//! - The last commit of each import records how far the file was read. The next import continues there if the file still has
//!   the same bytes before that position; [`resume`] caches the reader's state. A rewritten file is read from its start,
//!   and known records are skipped.
//! - An archived trace is fetched before a session is appended to it.
//! - Traces of sub-agents are written before the main one, so that the next import completes an interrupted one.

pub(crate) mod catch_up;
pub(crate) mod conversations;
pub(crate) mod expired;
pub(crate) mod hook;
pub(crate) mod input;
mod resume;
pub(crate) mod seen;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod told;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use serde_json::Value;

use self::input::{Input, ProgressFn, TrackedFile, TranscriptFile};
use super::continuation::{fork_point, recorded_session};
use super::format::Format;
use super::read::reader::Transcript;
use super::{Position, Tally, TranscriptEntry, TranscriptError};
use crate::git::{LogLine, Oid, Repo};
use crate::tokens::UsageReader;
use crate::trace::change::branch;
use crate::trace::change::bulk::{self, Feed, Incoming, Removal, Report, Rewind, Summary};
use crate::trace::model::source::Source;
use crate::trace::model::trailers::ImportPosition;
use crate::trace::store::session::{bind, continued_by};
use crate::trace::store::settings;
use crate::trace::store::signature::Signature;
use crate::trace::store::tombstone::note_purges;
use crate::trace::store::trace::Trace;
use crate::trace::sync::bring_back_if_archived;
use crate::trace::{Item, ItemId, Tip, TraceError, TraceName};

const READ_AHEAD: usize = 1000;

const UNNAMED: &str = "unnamed";

#[derive(Clone, Debug)]
pub(crate) enum Destination {
    Trace(TraceName),
    /// The trace that continues the session. A transcript without its id, such as one of Gemini CLI that lost its first line, is of
    /// the recorded session that the file's name tells. Otherwise the session gets this name, if a new one is allowed.
    Session {
        file_stem: String,
        is_new_allowed: bool,
    },
    /// The trace that continues the session with this default trace.
    SessionOf(TraceName),
    /// The trace of a sub-agent, whose entries have its id as their thread.
    SubAgent {
        of: TraceName,
        id: String,
        /// That of the session.
        family: TraceName,
    },
}

impl Destination {
    pub(crate) fn session_of(file: &Path, is_new_allowed: bool) -> Self {
        let stem = file.file_stem().filter(|stem| *stem != "-").map(OsStr::to_string_lossy);
        Self::Session { file_stem: stem.map_or_else(|| UNNAMED.to_owned(), Cow::into_owned), is_new_allowed }
    }
}

#[derive(Debug)]
pub(crate) struct Imported {
    /// The traces, the main thread's first, and the records added to each.
    pub traces: Vec<(TraceName, Report)>,
    /// The trace after which those of sub-agents are named.
    pub base: TraceName,
    pub family: TraceName,
    /// Covers what was read, from `from` on.
    pub tally: Tally,
    /// The byte at which reading started; an earlier import covered the bytes before it.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests read it"))]
    pub from: u64,
}

impl Imported {
    /// Whether everything that was read was recorded, or is known not to be said to the model.
    pub(crate) fn is_complete(&self) -> bool {
        self.tally.is_complete() && self.traces.iter().all(|(_, report)| report.is_complete())
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ImportContext<'r> {
    pub repo: &'r Repo,
    pub signature: &'r Signature,
    pub compactions: CompactionMode,
}

impl<'r> ImportContext<'r> {
    pub(crate) fn new(
        repo: &'r Repo,
        signature: &'r Signature,
        compactions: CompactionMode,
    ) -> Result<Self, TraceError> {
        note_purges(repo)?;
        Ok(Self { repo, signature, compactions })
    }
}

/// How an agent's compactions are imported. A session that was imported into the trace before continues in its mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CompactionMode {
    /// Whether a summary replaces what it summarizes, as it did for the model; else it is removed.
    pub replays: bool,
    /// Whether it is an error if the trace has the other mode.
    pub is_required: bool,
}

impl CompactionMode {
    pub(crate) fn from_settings(repo: &Repo) -> Result<Self, TraceError> {
        let replays = repo.config()?.boolean("trace.asSeen")?.unwrap_or(true);
        Ok(Self { replays, is_required: false })
    }
}

/// Imports a transcript, from where the last import of it ended. Items that the trace contains or once contained are skipped.
///
/// The main thread is streamed; the entries of sub-agents are held in memory until the end. On an error the trace stays unchanged.
pub(crate) fn transcript(
    context: ImportContext<'_>,
    format: Format,
    destination: Destination,
    input: Input<'_>,
) -> Result<Imported, TraceError> {
    let CompactionMode { replays, is_required } = context.compactions;
    let spooled;
    let (file, progress): (&TranscriptFile, ProgressFn<'_>) = match input {
        Input::File(file, progress) => (file, progress),
        // The mode of the trace is known only after the session's id was read.
        Input::Stream(stream) => {
            spooled = spool(context.repo, stream).map_err(read_error)?;
            (&spooled, &|_| ())
        }
    };
    let mut opened =
        OpenTranscript::open(format, file, progress, (replays, settings::usage(context.repo)?)).map_err(read_error)?;
    // Titles may precede the first record that names the session.
    while opened.transcript.output().session_id.is_none() && opened.ahead.len() < READ_AHEAD {
        match opened.transcript.next().transpose()? {
            Some(entry) => opened.ahead.push_back(entry),
            None => break,
        }
    }
    opened.check_single()?;
    let session = opened.transcript.output().session_id.clone();
    let is_named = matches!(destination, Destination::Trace(_) | Destination::SubAgent { .. });
    let (mut own_thread, mut own_family) = (None, None);
    let (base, session) = match destination {
        Destination::SubAgent { of, id, family } => {
            let base = of.of_sub_agent(&id);
            (own_thread, own_family) = (Some(id), Some(family));
            (base, session.unwrap_or_else(|| UNNAMED.to_owned()))
        }
        Destination::Trace(name) | Destination::SessionOf(name) => {
            // Sessions without ids are not one family.
            own_family = session.is_none().then(|| name.as_family(format.as_str()));
            (name, session.unwrap_or_else(|| UNNAMED.to_owned()))
        }
        Destination::Session { file_stem, is_new_allowed } => {
            let session = if let Some(session) = session {
                session
            } else if let Some(session) = recorded_session(context.repo, format, &file_stem)? {
                session
            } else if is_new_allowed || !opened.has_more()? {
                file_stem
            } else {
                let reason = "it lacks the session's id";
                return Err(read_error(io::Error::new(io::ErrorKind::InvalidData, reason)));
            };
            (TraceName::of_session(format.as_str(), &session), session)
        }
    };
    bring_back_if_archived(context.repo, context.signature, &base)?;
    let mut name = if is_named { base.clone() } else { continued_by(context.repo, &base)? };
    let (mut from, mut resumed_at) = (0, None);
    let is_document = opened.transcript.output().is_document;
    let mark = bulk::last_mark(context.repo, &name, &session)?;
    // An agent rewrites a document. That of an exported session has a mark, so that the trace is known to continue it.
    let is_marked = !is_document || mark.is_some();
    if let Some((commit, mark)) = mark.filter(|_| !is_document) {
        if mark.as_seen != replays && is_required {
            return Err(TraceError::SeenOtherwise { trace: name, as_seen: mark.as_seen });
        }
        from = opened.continue_at(context.repo, &name, mark)?;
        resumed_at = (from > 0).then_some(commit);
    }
    if !is_named && opened.has_more()? {
        name = fork_if_left(context, name, &base, &session)?;
    }
    let family = own_family.unwrap_or_else(|| TraceName::of_session(format.as_str(), &session));
    let (threads, reports) = (BTreeMap::new(), Vec::new());
    let mut main = MainThread {
        context,
        base: base.clone(),
        own_thread,
        opened,
        session,
        threads,
        reports,
        family: family.clone(),
        resumed_at,
        is_marked,
    };
    let report = record(context, &name, &family, &mut main)?;
    let transcript = &main.opened.transcript;
    let output = transcript.output();
    if report.recorded > 0
        && !output.is_document
        && let Some(state) = transcript.saved_state()
    {
        resume::write(context.repo, &name, &main.session, report.summary.as_ref(), &state);
    }
    let tally = output.tally.clone();
    let mut traces = vec![(name, report)];
    traces.append(&mut main.reports);
    Ok(Imported { traces, base, family, tally, from })
}

/// The trace to which a session of `name` is appended: a new one if that trace moved on without the session.
fn fork_if_left(
    context: ImportContext<'_>,
    name: TraceName,
    base: &TraceName,
    session: &str,
) -> Result<TraceName, TraceError> {
    let ImportContext { repo, signature, .. } = context;
    let Some(tip) = Tip::find(repo, &name)? else { return Ok(name) };
    let Some(point) = fork_point(repo, tip, session)? else { return Ok(name) };
    let mut candidates = std::iter::once(base.clone()).chain((1..).map(|number| base.of_fork(number)));
    let who = &signature.committer;
    let fork = loop {
        let fork = candidates.next().expect("there are endless candidates");
        match branch::create(repo, &fork, who, point, name.as_str()) {
            Err(TraceError::TraceExists { .. }) => {}
            created => break created.map(|()| fork)?,
        }
    };
    bind(repo, base, &fork, LogLine { who, why: &format!("fork: from {name}") })?;
    repo.env().notice(&format!("`{name}` continues another session; this one is recorded in `{fork}`"));
    Ok(fork)
}

struct OpenTranscript<'w> {
    format: Format,
    transcript: Box<dyn Transcript + 'w>,
    ahead: VecDeque<TranscriptEntry>,
    /// What the import before found out about the trace.
    summary: Option<Summary>,
    file: &'w TranscriptFile,
    progress: ProgressFn<'w>,
}

impl<'w> OpenTranscript<'w> {
    fn open(
        format: Format,
        file: &'w TranscriptFile,
        progress: ProgressFn<'w>,
        (replays, usage): (bool, UsageReader),
    ) -> io::Result<Self> {
        let mut transcript = (format.agent().open)(Box::new(TrackedFile::new(file, progress)))?;
        transcript.output_mut().replays_compactions = replays;
        transcript.output_mut().usage = usage;
        Ok(Self { format, transcript, ahead: VecDeque::new(), summary: None, file, progress })
    }

    /// Independent conversations are never joined.
    fn check_single(&self) -> Result<(), TraceError> {
        let is_single = self.transcript.output().conversations <= 1;
        is_single.then_some(()).ok_or(TraceError::SeveralConversations)
    }

    /// Whether there is an entry that was not read yet.
    fn has_more(&mut self) -> Result<bool, TraceError> {
        if self.ahead.is_empty() {
            self.ahead.extend(self.transcript.next().transpose()?);
        }
        Ok(!self.ahead.is_empty())
    }

    /// Continues where an earlier import ended, or at the start if the file is another; returns the position.
    fn continue_at(&mut self, repo: &Repo, name: &TraceName, mark: ImportPosition) -> Result<u64, TraceError> {
        let Self { format, file, progress, .. } = *self;
        let ImportPosition { session, offset, digest, as_seen } = mark;
        let position = Position { offset, digest };
        let usage = self.transcript.output().usage.clone();
        let mut reader = TrackedFile::new(file, progress);
        let open = || Self::open(format, file, progress, (as_seen, usage.clone())).map_err(read_error);
        let Some(window) = position.find(&mut reader).map_err(read_error)? else {
            *self = open()?;
            return Ok(0);
        };
        if let Some(resume) = resume::read(repo, name, &session)
            && let Some(mut transcript) = (format.agent().resume)(Box::new(reader), &position, window, resume.state())
        {
            transcript.output_mut().usage = usage;
            (self.transcript, self.ahead, self.summary) = (transcript, VecDeque::new(), resume.summary);
            return Ok(offset);
        }
        *self = open()?;
        let same = self.transcript.skip_to(&position)?;
        if !same {
            *self = open()?;
        }
        Ok(if same { offset } else { 0 })
    }
}

/// Copies a stream to a file without a name.
fn spool(repo: &Repo, mut stream: impl io::Read) -> io::Result<TranscriptFile> {
    let mut file = tempfile::tempfile_in(repo.common_dir())?;
    io::copy(&mut stream, &mut file)?;
    Ok(file.into())
}

fn record(
    context: ImportContext<'_>,
    name: &TraceName,
    family: &TraceName,
    feed: &mut dyn Feed,
) -> Result<Report, TraceError> {
    let trace = Trace::new(context.repo, name.clone(), context.signature.clone());
    bulk::import(&trace.with_family(family.clone()), feed)
}

impl From<TranscriptError> for TraceError {
    fn from(error: TranscriptError) -> Self {
        read_error(error.source)
    }
}

fn read_error(source: io::Error) -> TraceError {
    TraceError::Stream { action: "read the transcript", source }
}

pub(super) fn incoming(entry: TranscriptEntry) -> Incoming {
    let TranscriptEntry { id, draft, removal, replaces, subject, usage, .. } = entry;
    let fields = &draft.fields;
    let leaf = fields.meta.get("leaf").and_then(Value::as_str).filter(|_| removal == Some(Removal::Title));
    let title_of = leaf.zip(fields.source.as_ref());
    let title_of = title_of.map(|(leaf, source)| ItemId::of_source(&Source::new(source.format(), leaf, 0)));
    Incoming { subject, removal, title_of, replaces, usage, ..Incoming::new(Item::new(id, draft)) }
}

/// Feeds the entries of the main thread. Collects the others, and records them before it ends.
struct MainThread<'w> {
    context: ImportContext<'w>,
    base: TraceName,
    /// The thread whose entries are those of the main one.
    own_thread: Option<String>,
    family: TraceName,
    opened: OpenTranscript<'w>,
    session: String,
    resumed_at: Option<Oid>,
    is_marked: bool,
    threads: BTreeMap<String, Vec<Incoming>>,
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
                Some(thread) if self.own_thread.as_ref() != Some(thread) => {
                    self.threads.entry(thread.clone()).or_default().push(incoming(entry));
                }
                _ => return Ok(Some(incoming(entry))),
            }
        }
        self.opened.check_single()?;
        for (thread, entries) in std::mem::take(&mut self.threads) {
            let name = self.base.of_sub_agent(&thread);
            bring_back_if_archived(self.context.repo, self.context.signature, &name)?;
            let report = record(self.context, &name, &self.family, &mut VecDeque::from(entries))?;
            self.reports.push((name, report));
        }
        Ok(None)
    }

    fn rewinds(&mut self) -> Vec<Rewind> {
        self.opened.transcript.output_mut().rewound.drain().collect()
    }

    fn resumed_at(&self) -> Option<Oid> {
        self.resumed_at
    }

    fn summary(&self) -> Option<&Summary> {
        self.opened.summary.as_ref()
    }

    fn mark(&self) -> Option<ImportPosition> {
        let transcript = &self.opened.transcript;
        let Position { offset, digest } = transcript.consumed();
        let as_seen = transcript.output().replays_compactions;
        self.is_marked.then(|| ImportPosition { session: self.session.clone(), offset, digest, as_seen })
    }
}
