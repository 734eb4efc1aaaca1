//! `git trace import`: somebody else's record becomes a trace.

use std::env;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::error::Advised;
use super::{ExitStatus, Session};
use crate::message::Api;
use crate::trace::bulk::{self, Report};
use crate::trace::write::{Stamp, encoding};
use crate::trace::{Tip, TraceName, head, replay};
use crate::transcript::import::{Destination, Imported};
use crate::transcript::{Tally, claude_code, import, provider};

/// Import a record into a trace; what the trace has already, or once had, is passed over
///
/// A session goes into the trace `<agent>/<session id>`, unless `--trace`, `$GITTRACE_NAME` or `init` named another; where
/// there is no current trace yet, it becomes that.
#[derive(clap::Args, Debug)]
pub(super) struct ImportArgs {
    /// Format of the record
    #[arg(value_enum)]
    format: Format,

    /// File to read; `-` is stdin [default of claude-code: the newest session of this folder]
    file: Option<PathBuf>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Transcript of Claude Code
    ClaudeCode,
    /// What `export` writes, or items one a line
    Jsonl,
    /// Requests and responses of `OpenAI` Chat Completions
    #[value(name = "openai")]
    OpenAi,
    /// Requests and responses of `OpenAI` Responses
    Responses,
    /// Requests and responses of Anthropic Messages
    Anthropic,
    /// Requests and responses of Gemini
    Gemini,
}

pub(super) fn run(session: &mut Session, args: &ImportArgs) -> Result<ExitStatus> {
    match args.format {
        Format::ClaudeCode => import_claude_code(session, args),
        Format::Jsonl => import_jsonl(session, args),
        Format::OpenAi => import_provider(session, args, Api::OpenAi),
        Format::Responses => import_provider(session, args, Api::Responses),
        Format::Anthropic => import_provider(session, args, Api::Anthropic),
        Format::Gemini => import_provider(session, args, Api::Gemini),
    }
}

/// The file that was given, where there is no other to fall back on.
fn given(args: &ImportArgs) -> Result<&Path> {
    args.file.as_deref().ok_or_else(|| {
        let format = args.format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let hint = format!("git trace import {format} FILE, or `-` for stdin");
        Advised { message: "no file was given".to_owned(), hint }.into()
    })
}

/// Imports requests and responses. What cannot be read is said, and the rest comes in.
fn import_provider(session: &mut Session, args: &ImportArgs, api: Api) -> Result<ExitStatus> {
    let file = given(args)?;
    let name = session.trace(None)?;
    let stamp = Stamp::take(&session.repo, session.now())?;
    let failed = || format!("cannot import `{}`", file.display());
    let mut text = String::new();
    open(file)?.read_to_string(&mut text).with_context(failed)?;
    let mut items = provider::items(api, &text);
    let report =
        bulk::import(&session.repo, &name, &stamp, encoding(&session.repo)?, &mut items).with_context(failed)?;
    if report.tip.is_some() && session.named_trace.is_none() && head::chosen(&session.repo)?.is_none() {
        head::switch(&session.repo, &name)?;
    }
    for fault in &items.faults {
        session.ui.note(&format!("{}: {fault}", file.display()));
    }
    if args.json {
        let faults = items.faults.iter().map(|fault| json!({ "path": fault.path, "cause": fault.cause }));
        let faults: Vec<Value> = faults.collect();
        session.ui.json_line(&json!({ "traces": [report_json(&name, &report)], "faults": faults }))?;
    } else {
        print_report(session, &name, &report)?;
    }
    Ok(if items.faults.is_empty() { ExitStatus::Success } else { ExitStatus::No })
}

fn import_jsonl(session: &mut Session, args: &ImportArgs) -> Result<ExitStatus> {
    let file = given(args)?;
    let name = session.trace(None)?;
    let stamp = Stamp::take(&session.repo, session.now())?;
    let mut input = BufReader::with_capacity(1 << 16, open(file)?);
    let report = replay::import(&session.repo, &name, &stamp, encoding(&session.repo)?, &mut input)
        .with_context(|| format!("cannot import `{}`", file.display()))?;
    if session.named_trace.is_none() && head::chosen(&session.repo)?.is_none() {
        head::switch(&session.repo, &name)?;
    }
    if args.json {
        session.ui.json_line(&json!({ "traces": [report_json(&name, &report)] }))?;
    } else {
        print_report(session, &name, &report)?;
    }
    Ok(ExitStatus::Success)
}

fn import_claude_code(session: &mut Session, args: &ImportArgs) -> Result<ExitStatus> {
    let file = match &args.file {
        Some(file) => file.clone(),
        None => newest_session(session)?,
    };
    let destination = destination(session, &file)?;
    let current = head::current(&session.repo)?;
    let has_current = Tip::find(&session.repo, &current)?.is_some();
    let stamp = Stamp::take(&session.repo, session.now())?;
    let encoding = encoding(&session.repo)?;
    let failed = || format!("cannot import `{}`", file.display());
    let mut imported =
        import::claude_code(&session.repo, destination, &stamp, encoding, open(&file)?).with_context(failed)?;
    let main = imported.traces.first().map_or_else(TraceName::default_name, |(name, _)| name.clone());
    for sub_agent in claude_code::sub_agents(&file).with_context(failed)? {
        let destination = Destination::Trace(main.of_sub_agent(&sub_agent.id));
        let more = import::claude_code(&session.repo, destination, &stamp, encoding, open(&sub_agent.path)?);
        let more = more.with_context(|| format!("cannot import `{}`", sub_agent.path.display()))?;
        imported.traces.extend(more.traces.into_iter().filter(|(_, report)| report.tip.is_some()));
    }
    let becomes_current = !has_current && session.named_trace.is_none() && current != main;
    if becomes_current {
        head::switch(&session.repo, &main)?;
    }
    if args.json {
        session.ui.json_line(&to_json(&imported))?;
        return Ok(ExitStatus::Success);
    }
    for (name, report) in &imported.traces {
        print_report(session, name, report)?;
    }
    session.ui.out().flush()?;
    print_tally(session, &imported.tally);
    if becomes_current {
        session.ui.note(&format!("the current trace is now `{main}`"));
    } else if session.trace(None)? != main {
        session.ui.note(&format!("`git trace switch {main}` makes it the current trace"));
    }
    Ok(ExitStatus::Success)
}

/// Where the main line goes: to the trace that was named or initialized for it, else to that of its session.
fn destination(session: &Session, file: &Path) -> Result<Destination> {
    if let Some(name) = &session.named_trace {
        return Ok(Destination::Trace(name.clone()));
    }
    if let Some(name) = head::chosen(&session.repo)?
        && Tip::find(&session.repo, &name)?.is_none()
    {
        return Ok(Destination::Trace(name));
    }
    let stem = file.file_stem().and_then(|stem| stem.to_str()).filter(|stem| *stem != "-");
    Ok(Destination::Session(stem.map(str::to_owned)))
}

fn newest_session(session: &Session) -> Result<PathBuf> {
    let env = session.repo.env();
    let config = match (env.os("CLAUDE_CONFIG_DIR"), env.os("HOME")) {
        (Some(folder), _) => PathBuf::from(folder),
        (None, Some(home)) => Path::new(home).join(".claude"),
        (None, None) => PathBuf::new(),
    };
    let here = env::current_dir().context("cannot find the working folder")?;
    let top = session.repo.worktree();
    for folder in [Some(here), top].into_iter().flatten() {
        let found = claude_code::newest_transcript(&config, &folder);
        if let Some(file) = found.with_context(|| format!("cannot look into `{}`", config.display()))? {
            session.ui.note(&format!("importing {}", file.display()));
            return Ok(file);
        }
    }
    let message = format!("Claude Code has no session of this folder under `{}`", config.display());
    Err(Advised { message, hint: "name a file: git trace import claude-code FILE".to_owned() }.into())
}

/// Opens a file, or stdin; a terminal shows how far it has been read.
fn open(file: &Path) -> Result<Box<dyn Read>> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    if !io::stderr().is_terminal() {
        return Ok(Box::new(opened));
    }
    let length = opened.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta}");
    let bar = ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    Ok(Box::new(bar.wrap_read(opened)))
}

fn print_report(session: &mut Session, name: &TraceName, report: &Report) -> Result<()> {
    let Report { recorded, known, .. } = report;
    let known = if *known > 0 { format!(", {known} were there already") } else { String::new() };
    writeln!(session.ui.out(), "{recorded} imported into trace `{name}`{known}")?;
    Ok(())
}

fn print_tally(session: &Session, tally: &Tally) {
    let listed = |kinds: &std::collections::BTreeMap<String, u64>| {
        kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
    };
    if !tally.ignored.is_empty() {
        session.ui.note(&format!("no content, not imported: {}", listed(&tally.ignored)));
    }
    if !tally.unknown.is_empty() {
        session.ui.note(&format!("of unknown kinds, not imported: {}", listed(&tally.unknown)));
    }
    if tally.damaged > 0 {
        let lines = tally.damaged_lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        session.ui.note(&format!("{} damaged lines, not imported: {lines}", tally.damaged));
    }
    if tally.cut {
        session.ui.note("the last record is not complete yet; import again when it is");
    }
}

fn report_json(name: &TraceName, report: &Report) -> Value {
    json!({ "trace": name.as_str(), "recorded": report.recorded, "known": report.known,
        "commit": report.tip.map(|oid| oid.to_string()) })
}

fn to_json(imported: &Imported) -> Value {
    let Tally { ignored, unknown, damaged, damaged_lines, cut, .. } = &imported.tally;
    let traces: Vec<Value> = imported.traces.iter().map(|(name, report)| report_json(name, report)).collect();
    json!({ "traces": traces, "ignored": ignored, "unknown": unknown, "damaged": damaged,
        "damaged_lines": damaged_lines, "cut": cut })
}
