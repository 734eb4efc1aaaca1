//! `git trace import`: somebody else's record becomes a trace.

mod transcript;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde_json::{Value, json};

use super::error::Advised;
use super::{ExitStatus, Session};
use crate::message::Api;
use crate::trace::bulk::{self, Report};
use crate::trace::write::{Stamp, encoding};
use crate::trace::{TraceName, head, replay};
use crate::transcript::provider;

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
        Format::ClaudeCode => transcript::run(session, args, transcript::Format::ClaudeCode),
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

/// Opens a file, or stdin.
fn open(file: &Path) -> Result<Box<dyn Read>> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?))
}

fn print_report(session: &mut Session, name: &TraceName, report: &Report) -> Result<()> {
    let Report { recorded, known, .. } = report;
    let known = if *known > 0 { format!(", {known} were there already") } else { String::new() };
    writeln!(session.ui.out(), "{recorded} imported into trace `{name}`{known}")?;
    Ok(())
}

fn report_json(name: &TraceName, report: &Report) -> Value {
    json!({ "trace": name.as_str(), "recorded": report.recorded, "known": report.known,
        "commit": report.tip.map(|oid| oid.to_string()) })
}
