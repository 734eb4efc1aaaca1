//! Importing every session of a folder.
//!
//! Each session is imported on its own, so that an interrupted run keeps what it did, and the next run reads only what is new.

use std::fs;
use std::path::PathBuf;

use indicatif::ProgressBar;

use super::transcript::{compactions, print_tally, to_json};
use super::{ImportArgs, print_report};
use crate::app::cli::{Context, Error, ErrorContext as _, ExitStatus, Result, Value, error, escaped, json};
use crate::transcript::format::Format;
use crate::transcript::import::{Destination, ImportContext, session};

pub(super) fn run(context: &Context, args: &ImportArgs) -> Result<ExitStatus> {
    if context.named_trace()?.is_some() {
        let hint = "omit `--trace` and GITTRACE_NAME";
        return Err(Error::with_hint("`--all` imports each session into its own trace", hint));
    }
    let agents: Vec<Format> = match &args.first {
        None => Format::all().collect(),
        Some(name) => match name.to_str().and_then(|name| name.parse().ok()) {
            Some(format) => vec![format],
            None => {
                let message = format!("`{}` is not an agent", name.display());
                return Err(Error::with_hint(message, "git trace import --all claude-code (or codex, gemini-cli)"));
            }
        },
    };
    let files = find(context, &agents)?;
    let length = |file: &PathBuf| fs::metadata(file).map_or(0, |file| file.len());
    let total = files.iter().map(|(_, file)| length(file)).sum();
    let bar = context.ui.progress("{bar:30} {bytes}/{total_bytes} {eta} {msg}", Some(total));
    let signature = context.signature()?;
    let compactions = compactions(context, args)?;
    let writing = ImportContext { repo: context.repo()?, signature: &signature, compactions };
    let (mut read, mut grown, mut recorded, mut failed, mut dropped) = (0, 0, 0, 0, 0);
    let mut answers: Vec<Value> = Vec::new();
    for (number, (format, file)) in files.iter().enumerate() {
        if let Some(bar) = &bar {
            bar.set_message(format!("session {} of {}", number + 1, files.len()));
        }
        let stem = file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        let watch = |bytes| bar.iter().for_each(|bar| bar.set_position(read + bytes));
        let done = session::import(writing, *format, Destination::Session(stem), file, &watch);
        read += length(file);
        if let Some(bar) = &bar {
            bar.set_position(read);
        }
        let imported = match done {
            Ok(imported) if !imported.tally.is_foreign() => imported,
            other => {
                // One session that cannot be read stops no other.
                failed += 1;
                let problem: Error = match other {
                    Err(problem) => problem.into(),
                    Ok(_) => Error::msg(format!("`{}` contains no {format} record", file.display())),
                };
                answers.push(json!({ "file": file.to_string_lossy(), "error": format!("{problem:#}") }));
                above(bar.as_ref(), || error::print(&problem));
                continue;
            }
        };
        let items: usize = imported.traces.iter().map(|(_, report)| report.recorded).sum();
        recorded += items;
        dropped += imported.tally.dropped;
        grown += usize::from(items > 0);
        if args.json {
            let mut answer = to_json(&imported);
            answer["file"] = file.to_string_lossy().into();
            answers.push(answer);
        } else if items > 0 {
            let print = || -> Result<()> {
                for (name, report) in imported.traces.iter().filter(|(_, report)| report.recorded > 0) {
                    print_report(context, name, report)?;
                }
                if imported.tally.dropped > 0 || imported.tally.damaged > 0 {
                    print_tally(context, &imported.tally);
                }
                context.ui.flush()
            };
            above(bar.as_ref(), print)?;
        }
    }
    bar.iter().for_each(ProgressBar::finish_and_clear);
    let unchanged = files.len() - grown - failed;
    if args.json {
        let counts = json!({ "sessions": answers, "imported": grown, "unchanged": unchanged, "failed": failed,
            "recorded": recorded });
        context.ui.json(&counts)?;
    } else {
        writeln!(
            context.ui,
            "{} sessions: {grown} imported with {recorded} items, {unchanged} unchanged, {failed} failed",
            files.len()
        )?;
    }
    Ok(ExitStatus::of(failed == 0 && dropped == 0))
}

/// Prints above the progress.
fn above<T>(bar: Option<&ProgressBar>, print: impl FnOnce() -> T) -> T {
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// The sessions of the current folder and of the root of its working tree, oldest first for each agent.
fn find(context: &Context, agents: &[Format]) -> Result<Vec<(Format, PathBuf)>> {
    let folders = context.session_folders()?;
    let mut files = Vec::new();
    for format in agents {
        let Some(home) = format.home(context.repo()?.env()) else { continue };
        let mut found = Vec::new();
        for folder in &folders {
            let sessions = format.sessions(&home, folder);
            found.extend(sessions.with_context(|| format!("cannot search `{}`", escaped(&home.to_string_lossy())))?);
        }
        files.extend(found.into_iter().rev().map(|file| (*format, file)));
    }
    Ok(files)
}
