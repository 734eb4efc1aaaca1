//! `git trace import`: somebody else's record becomes a trace.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde_json::json;

use super::error::Advised;
use super::{ExitStatus, Session};
use crate::trace::TraceName;
use crate::trace::bulk::Report;
use crate::trace::replay;
use crate::trace::write::{Stamp, encoding};

/// Import a record into a trace; what the trace has already, or once had, is passed over
#[derive(clap::Args, Debug)]
pub(super) struct ImportArgs {
    /// Format of the record
    #[arg(value_enum)]
    format: Format,

    /// File to read; `-` is stdin
    file: Option<PathBuf>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// What `export` writes, or items one a line
    Jsonl,
}

pub(super) fn run(session: &mut Session, args: &ImportArgs) -> Result<ExitStatus> {
    match args.format {
        Format::Jsonl => import_jsonl(session, args),
    }
}

fn import_jsonl(session: &mut Session, args: &ImportArgs) -> Result<ExitStatus> {
    let Some(file) = &args.file else {
        let hint = "git trace import jsonl FILE, or `-` for stdin".to_owned();
        return Err(Advised { message: "no file was given".to_owned(), hint }.into());
    };
    let name = session.trace(None)?;
    let mut input = open(file)?;
    let stamp = Stamp::take(&session.repo, session.now())?;
    let report = replay::import(&session.repo, &name, &stamp, encoding(&session.repo)?, &mut *input)
        .with_context(|| format!("cannot import `{}`", file.display()))?;
    print(session, &name, &report, args.json)
}

fn open(file: &PathBuf) -> Result<Box<dyn BufRead>> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, opened)))
}

fn print(session: &mut Session, name: &TraceName, report: &Report, json: bool) -> Result<ExitStatus> {
    let Report { recorded, known, .. } = report;
    if json {
        let answer = json!({ "trace": name.as_str(), "recorded": recorded, "known": known });
        session.ui.json_line(&answer)?;
    } else {
        let known = if *known > 0 { format!(", {known} were there already") } else { String::new() };
        writeln!(session.ui.out(), "{recorded} recorded in trace `{name}`{known}")?;
    }
    Ok(ExitStatus::Success)
}
