//! Importing the sessions of agents.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{ImportArgs, ImportRequest, base_of_conversations, print_report, report_json};
use crate::app::cli::{Context, Error, ErrorContext as _, ExitStatus, Result, Value, json};
use crate::app::progress::Progress;
use crate::base::escape::shell_word;
use crate::git::Repo;
use crate::trace::store::head;
use crate::trace::{Tip, TraceName};
use crate::transcript::Tally;
use crate::transcript::continuation::is_untouched_export;
use crate::transcript::format::Format;
use crate::transcript::import::conversations::conversations;
use crate::transcript::import::input::{Input, TranscriptFile};
use crate::transcript::import::{self, CompactionMode, Destination, ImportContext, Imported, session};

pub(crate) fn run(context: &Context, request: &ImportRequest<'_>, format: Format) -> Result<ExitStatus> {
    let file = match request.file {
        Some(file) => file.to_owned(),
        None => newest_session(context, format)?,
    };
    let current = head::current(context.repo()?)?;
    let has_current = Tip::find(context.repo()?, &current)?.is_some();
    let signature = context.signature()?;
    let compactions = compactions(context.repo()?, request.args)?;
    let writing = ImportContext::new(context.repo()?, &signature, compactions)?;
    let imported = if request.args.split {
        split(context, writing, format, &file)?
    } else if let Some(stream) = stream(&file)? {
        // A pipe has the number of a descriptor as its name.
        let destination = destination(context, Path::new("-"))?;
        let imported = import::transcript(writing, format, destination, Input::Stream(stream));
        imported.with_context(|| format!("cannot import `{}`", file.display()))?
    } else {
        let length = fs::metadata(&file).ok().map(|file| file.len());
        let bar = length.and_then(|length| Progress::of_bytes(Some(length)));
        let watch = |bytes| bar.iter().for_each(|bar| bar.set_position(bytes));
        let imported = session::import(writing, format, destination(context, &file)?, &file, &watch);
        bar.iter().for_each(Progress::clear);
        imported?
    };
    if imported.tally.is_foreign() {
        let message = format!("cannot import `{}`: it contains no {format} record", file.display());
        return Err(Error::with_hint(message, "`git trace import FILE` detects the format"));
    }
    let main = imported.traces.first().map_or_else(TraceName::default_name, |(name, _)| name.clone());
    // An empty file makes no trace.
    let is_there = Tip::find(context.repo()?, &main)?.is_some();
    let becomes_current = is_there && !has_current && current != main;
    if becomes_current {
        head::switch(context.repo()?, &main, &context.mover())?;
    }
    if request.args.json {
        context.ui.json(&to_json(&imported))?;
        return Ok(ExitStatus::of(imported.is_complete()));
    }
    for (name, report) in &imported.traces {
        print_report(context, name, report)?;
    }
    context.ui.flush()?;
    print_tally(context, &imported.tally);
    if becomes_current {
        context.ui.note(format!("the current trace is now `{main}`"));
    } else if is_there && context.trace_name(None)? != main {
        context.ui.note(format!("`git trace switch {}` makes it the current trace", shell_word(main)));
    }
    Ok(ExitStatus::of(imported.is_complete()))
}

/// Imports each conversation of a file into its own trace.
fn split(context: &Context, writing: ImportContext<'_>, format: Format, file: &Path) -> Result<Imported> {
    let (named, base) = (context.named_trace()?, base_of_conversations(context, file, format.as_str())?);
    let family = named.as_ref().map_or(format.as_str(), TraceName::as_str);
    let name_of = |number: usize, id: Option<&str>| match id {
        Some(id) => TraceName::of_session(family, id),
        None => base.of_conversation(number),
    };
    let opened;
    let input = if let Some(stream) = stream(file)? {
        Input::Stream(stream)
    } else {
        opened = TranscriptFile::from(open(file)?);
        Input::File(&opened, &|_| ())
    };
    conversations(writing, format, input, &name_of).with_context(|| format!("cannot import `{}`", file.display()))
}

/// Stdin, or a pipe that the shell opened, which has no positions.
fn stream(file: &Path) -> Result<Option<Box<dyn Read>>> {
    if file.as_os_str() == "-" {
        return Ok(Some(Box::new(io::stdin().lock())));
    }
    let is_pipe = fs::metadata(file).is_ok_and(|metadata| !metadata.is_file());
    Ok(if is_pipe { Some(Box::new(open(file)?)) } else { None })
}

fn open(file: &Path) -> Result<File> {
    File::open(file).with_context(|| format!("cannot read `{}`", file.display()))
}

pub(super) fn compactions(repo: &Repo, args: &ImportArgs) -> Result<CompactionMode> {
    Ok(match (args.as_seen, args.full) {
        (false, false) => CompactionMode::from_settings(repo)?,
        (replays, _) => CompactionMode { replays, is_required: true },
    })
}

/// The trace that was named or initialized for the main line, else the one of its session.
fn destination(context: &Context, file: &Path) -> Result<Destination> {
    if let Some(name) = &context.named_trace()? {
        return Ok(Destination::Trace(name.clone()));
    }
    if let Some(name) = head::chosen(context.repo()?)?
        && Tip::find(context.repo()?, &name)?.is_none()
    {
        return Ok(Destination::Trace(name));
    }
    Ok(Destination::session_of(file, true))
}

fn newest_session(context: &Context, format: Format) -> Result<PathBuf> {
    let hint = format!("name a file: git trace import {format} FILE");
    let Some(home) = format.home(context.repo()?.env()) else {
        return Err(Error::with_hint("no file was given", hint));
    };
    for folder in [Some(context.folder()?), context.repo()?.worktree()].into_iter().flatten() {
        let files =
            format.own_sessions(&home, &folder).with_context(|| format!("cannot search `{}`", home.display()))?;
        let mut newest = None;
        for file in files {
            if !is_untouched_export(context.repo()?, format, &file)? {
                newest = Some(file);
                break;
            }
            newest.get_or_insert(file);
        }
        if let Some(file) = newest {
            context.ui.note(format!("importing {}", file.display()));
            return Ok(file);
        }
    }
    let message = format!("{} has no session of this folder under `{}`", format.agent().name, home.display());
    Err(Error::with_hint(message, hint))
}

pub(super) fn print_tally(context: &Context, tally: &Tally) {
    let listed = |kinds: &std::collections::BTreeMap<String, u64>| {
        kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
    };
    if !tally.ignored.is_empty() {
        context.ui.note(format!("not messages, so not imported: {}", listed(&tally.ignored)));
    }
    if !tally.unknown.is_empty() {
        context.ui.note(format!("of unknown kinds, not imported: {}", listed(&tally.unknown)));
    }
    if tally.dropped > 0 {
        context.ui.note(format!("warning: {} of these records contain messages or outputs of tools", tally.dropped));
    }
    if tally.is_mostly_unknown() {
        let Tally { bytes, unknown_bytes, .. } = tally;
        let what = format!("{unknown_bytes} of {bytes} bytes are in records of unknown kinds");
        context.ui.note(format!("warning: LESS THAN HALF OF THE FILE WAS IMPORTED: {what}"));
    }
    if tally.damaged > 0 {
        let lines = tally.damaged_lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        context.ui.note(format!("{} damaged lines, not imported: {lines}", tally.damaged));
    }
    if tally.cut {
        context.ui.note("the last record is not complete yet; import again when it is");
    }
}

pub(super) fn to_json(imported: &Imported) -> Value {
    let Tally { ignored, unknown, dropped, damaged, damaged_lines, cut, .. } = &imported.tally;
    let traces: Vec<Value> = imported.traces.iter().map(|(name, report)| report_json(name, report)).collect();
    json!({ "traces": traces, "ignored": ignored, "unknown": unknown, "dropped": dropped, "damaged": damaged,
        "damaged_lines": damaged_lines, "cut": cut })
}
