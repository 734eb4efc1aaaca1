//! Exports a trace as a session that the trace continues.
//!
//! A commit without a change of items records the new session and the end of its file, and a symbolic ref lets the trace continue the
//! session. When the agent resumes it, hooks and imports read the file from there and append to the trace. If the trace changed
//! in between, they continue a new trace that starts at that commit; see [`fork_point`].

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Position;
use super::export::{ExportedTranscript, NewSession, transcript};
use super::format::Format;
use super::title::is_session_name;
use crate::base::error::Diagnostic;
use crate::base::replace::{Access, put_new};
use crate::base::time::Time;
use crate::base::worktree_path::check_outside_git;
use crate::git::{Env, LogLine, Oid, Operation, Repo};
use crate::trace::change::bulk;
use crate::trace::model::trailers::{ImportPosition, Trailers};
use crate::trace::store::archived::Archived;
use crate::trace::store::session::{self, SESSIONS};
use crate::trace::store::total::read_item;
use crate::trace::store::walk::{Parents, Walk};
use crate::trace::{ItemId, ItemType, Op, Tip, Trace, TraceError, TraceName, View};

/// Writes a trace to `file` as a new session, and ties the session to it; `None` if no agent resumes from this format. A session
/// without items is neither written nor tied.
pub(crate) fn export(
    trace: &Trace<'_>,
    format: Format,
    new_session: &NewSession,
    file: &Path,
) -> Result<Option<ExportedTranscript>, ExportError> {
    let (repo, view) = (trace.repo(), trace.view()?);
    let Some(exported) = transcript(repo, &view, format, new_session)? else { return Ok(None) };
    if exported.items > 0 {
        check_outside_git(file)
            .and_then(|()| put_new(file, Access::Private, &exported.bytes))
            .map_err(|source| ExportError::Write { path: file.to_owned(), source })?;
        let (name, id) = (trace.name(), &new_session.id);
        let own = TraceName::of_session(format.as_str(), id);
        let family = if is_session_name(name) { name } else { &own };
        record(trace, family, &view.tip, format, id, &Position::end_of(&exported.bytes)).inspect_err(|_| {
            // Nobody has resumed it yet.
            let _ = fs::remove_file(file);
        })?;
        let who = &trace.signature()?.committer;
        session::bind(repo, &own, name, LogLine { who, why: &format!("export: {name}") })?;
    }
    Ok(Some(exported))
}

fn record(
    trace: &Trace<'_>,
    family: &TraceName,
    exported: &Tip,
    format: Format,
    id: &str,
    end: &Position,
) -> Result<(), TraceError> {
    let name = trace.name();
    trace.clone().with_family(family.clone()).change(|change| {
        if change.require_tip()?.commit.oid != exported.commit.oid {
            return Err(TraceError::MovedMeanwhile { trace: name.clone() });
        }
        let Position { offset, digest } = end.clone();
        // It has what the model sees, so later compactions are replayed, too.
        let source = Some(ImportPosition { session: id.to_owned(), offset, digest, as_seen: true });
        let trailers = Trailers { source, ..change.trailers(Op::Export, None, None)? };
        change.commit(&format!("{} session {id}", format.agent().name), trailers, None)
    })?;
    Ok(())
}

#[derive(Debug, Error)]
pub(crate) enum ExportError {
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl Diagnostic for ExportError {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Write { .. } => None,
            Self::Trace(error) => Some(error),
        }
    }
}

/// The agent that recorded a trace: that of its newest imported item, else of the session that it continues.
pub(crate) fn recorded_by(repo: &Repo, name: &TraceName, view: &View) -> Result<Option<Format>, TraceError> {
    recorded_by_one_of(repo, view, || session::of_traces(repo, &[name]))
}

/// As [`recorded_by`], for a trace that continues these sessions.
pub(crate) fn recorded_by_one_of(
    repo: &Repo,
    view: &View,
    sessions: impl FnOnce() -> Result<Vec<TraceName>, TraceError>,
) -> Result<Option<Format>, TraceError> {
    for slot in view.slots.iter().rev() {
        if let Some(source) = read_item(repo, slot)?.fields.source
            && let Ok(format) = source.format().parse()
        {
            return Ok(Some(format));
        }
    }
    Ok(sessions()?.iter().find_map(|session| session.as_str().split_once('/')?.0.parse().ok()))
}

/// The folder in which the newest session of a trace ran whose file the agent still has.
pub(crate) fn folder_of_session(repo: &Repo, tip: &Tip) -> Result<Option<PathBuf>, TraceError> {
    let mut seen = HashSet::new();
    for earlier in Walk::new(repo, tip.clone(), Parents::First) {
        let Some(mark) = earlier?.into_ours().trailers.source else { continue };
        if !seen.insert(mark.session.clone()) {
            continue;
        }
        let found = Format::all().find_map(|format| folder_of(repo.env(), format, &mark.session));
        if let Some(folder) = found.filter(|folder| folder.is_absolute()) {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// The folder in which a session ran, if the agent has its file.
fn folder_of(env: &Env, format: Format, session: &str) -> Option<PathBuf> {
    // It is part of a path here.
    let is_plain = session.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if session.is_empty() || !is_plain {
        return None;
    }
    (format.agent().folder)(&format.home(env)?, session).ok()?
}

/// The file of the session that a trace is named after, if it is the agent's newest in `folder`: no other one is being written.
pub(crate) fn newest_source(env: &Env, folder: &Path, name: &TraceName) -> Option<PathBuf> {
    let (agent, session) = name.as_str().split_once('/')?;
    let format: Format = agent.parse().ok()?;
    let newest = format.newest(&format.home(env)?, folder).ok()??;
    is_file_of(stem(&newest)?, session).then_some(newest)
}

/// The only recorded session that a file with this name, without its extension, may hold.
pub(crate) fn recorded_session(repo: &Repo, format: Format, stem: &str) -> Result<Option<String>, TraceError> {
    let mut found = session::recorded(repo, format.as_str())?;
    found.retain(|session| is_file_of(stem, session));
    Ok(found.pop_first().filter(|_| found.is_empty()))
}

/// Whether a file is a session that was exported, and that no agent has continued.
pub(crate) fn is_untouched_export(repo: &Repo, format: Format, file: &Path) -> Result<bool, TraceError> {
    let Some(stem) = stem(file) else { return Ok(false) };
    let Some(session) = recorded_session(repo, format, stem)? else {
        return Ok(is_one_of(&forgotten_exports(repo)?, format, file));
    };
    let name = session::continued_by(repo, &TraceName::of_session(format.as_str(), &session))?;
    let Some((commit, mark)) = bulk::last_mark(repo, &name, &session)? else { return Ok(false) };
    let is_export = Tip::read(repo, commit)?.trailers.op == Some(Op::Export);
    Ok(is_export && has_length(file, &mark))
}

/// A session that was exported from a trace that was deleted since, as by an undo.
pub(crate) struct ForgottenExport {
    /// Its default trace.
    session: TraceName,
    mark: ImportPosition,
}

/// The forgotten exports in the operation log. Backup refs keep the commits that the log lists.
pub(crate) fn forgotten_exports(repo: &Repo) -> Result<Vec<ForgottenExport>, TraceError> {
    let mut found = Vec::new();
    for operation in repo.operations()? {
        let tips = operation.refs.iter().filter_map(|moved| Oid::parse(moved.new.as_deref()?, repo.object_format()));
        let marks = tips.filter_map(|oid| Tip::read(repo, oid).ok()?.into_ours().trailers.source);
        for mark in marks.collect::<Vec<_>>() {
            let of_mark =
                |session: &TraceName| session.as_str().split_once('/').is_some_and(|(_, id)| id == mark.session);
            let mut bound =
                operation.refs.iter().filter_map(|moved| moved.refname.strip_prefix(SESSIONS)?.parse().ok());
            let Some(session) = bound.find(of_mark) else { continue };
            if repo.find_ref(&session::continued_by(repo, &session)?.refname())?.is_none() {
                found.push(ForgottenExport { session, mark });
            }
        }
    }
    Ok(found)
}

/// Whether a file is one of these exports, and no agent has continued it.
pub(crate) fn is_one_of(exports: &[ForgottenExport], format: Format, file: &Path) -> bool {
    let stem = stem(file).unwrap_or_default();
    let is_it = |ForgottenExport { session, mark }: &ForgottenExport| {
        session.as_str().starts_with(format.as_str()) && is_file_of(stem, &mark.session) && has_length(file, mark)
    };
    exports.iter().any(is_it)
}

/// Whether a file is the session of an archived trace, and no agent has continued it.
pub(crate) fn is_archived(archived: &[Archived], format: Format, file: &Path) -> bool {
    let stem = stem(file).unwrap_or_default();
    let Ok(length) = fs::metadata(file).map(|metadata| metadata.len()) else { return false };
    let is_it = |one: &&Archived| {
        let session = one.name.as_str().strip_prefix(format.as_str()).and_then(|rest| rest.strip_prefix('/'));
        session.is_some_and(|session| is_file_of(stem, session))
    };
    archived.iter().filter(|one| one.read == Some(length)).any(|one| is_it(&one))
}

fn has_length(file: &Path, mark: &ImportPosition) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.len() == mark.offset)
}

/// The name that tells the session: that of the file, or of its folder if the files of all sessions have one name.
fn stem(file: &Path) -> Option<&str> {
    let own = file.file_stem()?.to_str()?;
    if own == "events" { file.parent()?.file_name()?.to_str() } else { Some(own) }
}

/// Some agents put the time before the id in the names of files, or write only its first eight characters.
fn is_file_of(stem: &str, session: &str) -> bool {
    stem.ends_with(session) || stem.rsplit('-').next().is_some_and(|part| part.len() >= 8 && session.starts_with(part))
}

/// A call of the model's last step, made after `since`, that has no result.
pub(crate) fn last_open_call(repo: &Repo, view: &View, since: Time) -> Result<Option<ItemId>, TraceError> {
    let mut answered = HashSet::new();
    for slot in view.slots.iter().rev().filter(|slot| view.left_out(slot).is_none()) {
        let fields = read_item(repo, slot)?.fields;
        if fields.is_result() {
            answered.extend(fields.call_id);
        } else if fields.is_call() {
            let is_recent = fields.created.is_none_or(|at| at > since);
            if is_recent && fields.call_id.is_some_and(|call| !answered.contains(&call)) {
                return Ok(Some(slot.id));
            }
        } else if fields.item_type == ItemType::dialogue() {
            break;
        }
    }
    Ok(None)
}

/// The commit at which a session left the history of a tip: the last one that does not belong to another session, if the trace moved on
/// without this one. `None` if it continues at the tip.
///
/// - After an export, a trace that has other items than the exported ones moved on.
/// - After an import of the session, it moved on if a session that was exported from it since was imported into it: since that export.
pub(crate) fn fork_point(repo: &Repo, tip: Tip, session: &str) -> Result<Option<Oid>, TraceError> {
    let (tree, mut imported, mut left) = (tip.commit.tree, HashSet::new(), None);
    for earlier in Walk::new(repo, tip, Parents::All) {
        let Tip { commit, trailers } = earlier?.into_ours();
        let Some(mark) = trailers.source else { continue };
        let is_export = trailers.op == Some(Op::Export);
        if mark.session == session {
            return Ok(if is_export { (commit.tree != tree).then_some(commit.oid) } else { left });
        }
        if is_export && imported.contains(&mark.session) {
            left = commit.parents.first().copied().or(Some(commit.oid));
        } else if !is_export {
            imported.insert(mark.session);
        }
    }
    Ok(None)
}

/// Of `sessions`, those that are recorded otherwise from a tip than from an earlier one: in a fork, with or without what compactions replace, or
/// from another position of the agent's file.
pub(crate) fn recorded_otherwise(
    repo: &Repo,
    sessions: &[TraceName],
    [earlier, tip]: [&Tip; 2],
) -> Result<Vec<String>, TraceError> {
    let way = |tip: &Tip, id: &str| -> Result<_, TraceError> {
        let Some((_, mark)) = bulk::last_mark_at(repo, tip.clone(), id)? else { return Ok(None) };
        Ok(Some((mark, fork_point(repo, tip.clone(), id)?.is_some())))
    };
    let mut found = Vec::new();
    for (_, id) in sessions.iter().filter_map(|session| session.as_str().split_once('/')) {
        if way(tip, id)? != way(earlier, id)? {
            found.push(id.to_owned());
        }
    }
    Ok(found)
}

/// Which sessions this repository records.
pub(crate) struct Recordings<'r> {
    repo: &'r Repo,
    logged: OnceCell<Logged>,
}

impl<'r> Recordings<'r> {
    pub(crate) fn new(repo: &'r Repo) -> Self {
        Self { repo, logged: OnceCell::new() }
    }

    /// The sessions that are recorded in a trace, by their default traces. A trace with the name of a session may be a colleague's: the operation log
    /// has an import, or how it came here, or else the agent has the session's file.
    pub(crate) fn in_trace(&self, name: &TraceName) -> Result<Vec<TraceName>, TraceError> {
        let repo = self.repo;
        let mut sessions = session::of_traces(repo, &[name])?;
        if !is_session_name(name) || session::continued_by(repo, name)? != *name {
            return Ok(sessions);
        }
        let logged = match self.logged.get() {
            Some(logged) => logged,
            None => {
                let logged = Logged::of(repo.operations()?);
                self.logged.get_or_init(|| logged)
            }
        };
        let refname = name.refname();
        let has_file = || {
            let (agent, session) = name.as_str().split_once('/')?;
            folder_of(repo.env(), agent.parse().ok()?, session)
        };
        if logged.imported.contains(&refname) || (!logged.created.contains(&refname) && has_file().is_some()) {
            sessions.push(name.clone());
        }
        Ok(sessions)
    }
}

/// The refs that imports moved, and those that other commands created, as far as the operation log tells.
struct Logged {
    imported: HashSet<String>,
    created: HashSet<String>,
}

impl Logged {
    fn of(operations: Vec<Operation>) -> Self {
        let (mut imported, mut created) = (HashSet::new(), HashSet::new());
        for operation in operations {
            let is_import =
                ["hook ", "import", "sessions", "resume"].iter().any(|command| operation.command.starts_with(command));
            for made in operation.refs {
                if is_import {
                    imported.insert(made.refname);
                } else if made.old.is_none() {
                    created.insert(made.refname);
                }
            }
        }
        Self { imported, created }
    }
}
