//! `git trace export`: a trace as JSON Lines, or as a transcript that an agent resumes from.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::ui::escaped;
use super::{ExitStatus, Session, output};
use crate::base::error::{Context as _, Error, Result, bail};
use crate::git::Git;
use crate::trace::query::export::export;
use crate::trace::store::view::View;
use crate::trace::{Tip, TraceName};
use crate::transcript::export::{self as transcripts, Setting};
use crate::transcript::format::Format;

/// Write a trace as JSON Lines, one line an operation, oldest first, or as a transcript for an agent
///
/// `import jsonl` reads the lines back: items, edits, deletions, restorations and priorities, with their times and authors.
/// `export claude-code` and `export codex` write what the trace holds now, without what is skipped, as a new session where
/// that agent resumes it from.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// claude-code or codex, to write a session for it [default: JSON Lines]
    #[arg(value_name = "FORMAT")]
    first: Option<String>,

    /// Trace to write [default: the current one]
    name: Option<TraceName>,

    /// File to write; `-` is stdout [default of a session: where the agent looks for it]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Say as JSON what was written
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

pub(crate) fn run(session: &mut Session, args: &ExportArgs) -> Result<ExitStatus> {
    match (&args.first, args.first.as_deref().map(str::parse::<Format>)) {
        (_, Some(Ok(format))) => session_of(session, args, format),
        (Some(name), _) if args.name.is_none() => lines(session, args, Some(&name.parse()?)),
        (Some(name), _) => bail!("`{name}` is no format; claude-code and codex are"),
        (None, _) => lines(session, args, None),
    }
}

fn lines(session: &mut Session, args: &ExportArgs, name: Option<&TraceName>) -> Result<ExitStatus> {
    let name = session.trace(name)?;
    let tip = Tip::of_trace(&session.repo, &name)?;
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            let mut bytes = Vec::new();
            export(&session.repo, tip, &mut bytes)?;
            output::write(path, &bytes)?;
        }
        None => export(&session.repo, tip, &mut session.ui.content())?,
    }
    Ok(ExitStatus::Success)
}

fn session_of(session: &mut Session, args: &ExportArgs, format: Format) -> Result<ExitStatus> {
    let name = session.trace(args.name.as_ref())?;
    let view = View::open(&session.repo, &name, None)?;
    let folder = session.repo.worktree().map_or_else(env::current_dir, Ok).context("cannot find the working folder")?;
    let branch = Git::in_folder(&folder).ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    let branch = String::from_utf8_lossy(&branch.stdout).trim().to_owned();
    let setting = Setting::new(&folder, branch, session.now(), std::process::id());
    let Some(outgoing) = transcripts::transcript(&session.repo, &view, format, &setting)? else {
        bail!("{} cannot go on from a transcript that others wrote", format.agent());
    };
    for note in &outgoing.notes {
        session.ui.note(note);
    }
    if outgoing.items == 0 {
        let hint = "git trace status shows what it holds";
        return Err(Error::with_hint(format!("trace `{name}` holds nothing to go on from"), hint));
    }
    if args.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        session.ui.content().write_all(&outgoing.bytes)?;
        return Ok(ExitStatus::Success);
    }
    let home = format.home(session.repo.env());
    let found = home.and_then(|home| transcripts::place(format, &home, &setting));
    let Some(path) = args.output.clone().or(found) else { bail!("name a file: --output FILE") };
    transcripts::save(&outgoing.bytes, &path).with_context(|| format!("cannot write `{}`", path.display()))?;
    let resume = transcripts::resume_command(format, &setting.session);
    if args.json {
        session.ui.json_line(&json!({ "session": setting.session, "file": path.to_string_lossy(),
            "items": outgoing.items, "notes": outgoing.notes, "resume": resume }))?;
        return Ok(ExitStatus::Success);
    }
    writeln!(session.ui.out(), "{} items written to {}", outgoing.items, escaped(&path.to_string_lossy()))?;
    if args.output.is_none() {
        session.ui.out().flush()?;
        session.ui.note(&format!("`{resume}` goes on from there"));
    }
    Ok(ExitStatus::Success)
}
