//! `git trace export`: a trace as JSON Lines, or as a transcript that an agent resumes from.

use crate::base::error::{Context as _, Error, Result, bail};
use std::env;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use crate::app::context::Context;
use crate::app::ui::escaped;
use crate::git::Git;
use crate::trace::query::export::export;
use crate::trace::store::view::View;
use crate::trace::{Tip, TraceName};
use crate::transcript::export::{self as transcripts, NewSession};
use crate::transcript::format::Format;

/// Export a trace as JSON Lines, one operation per line, oldest first, or as a transcript for an agent
///
/// `import jsonl` reads the lines back: items, edits, deletions, restorations and priorities, with times and authors.
/// `export claude-code` and `export codex` write the items that are not skipped as a new session, where that agent can
/// resume it.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// Agent to write a session for: claude-code or codex [default: JSON Lines]
    #[arg(value_name = "FORMAT")]
    first: Option<String>,

    /// Trace to export [default: the current trace]
    name: Option<TraceName>,

    /// File to write; `-` is stdout [default for a session: where the agent finds it]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

impl ExportArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        match (&self.first, self.first.as_deref().map(str::parse::<Format>)) {
            (_, Some(Ok(format))) => session_of(context, self, format),
            (Some(name), _) if self.name.is_none() => lines(context, self, Some(&name.parse()?)),
            (Some(name), _) => bail!("`{name}` is no format; claude-code and codex are"),
            (None, _) => lines(context, self, None),
        }
    }
}

fn lines(context: &Context, args: &ExportArgs, name: Option<&TraceName>) -> Result<()> {
    let name = context.trace_name(name)?;
    let tip = Tip::of_trace(context.repo()?, &name)?;
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            let mut bytes = Vec::new();
            export(context.repo()?, tip, &mut bytes)?;
            context.ui.write_file(Some(path), &bytes)?;
        }
        None => export(context.repo()?, tip, &mut context.ui.content())?,
    }
    Ok(())
}

fn session_of(context: &Context, args: &ExportArgs, format: Format) -> Result<()> {
    let name = context.trace_name(args.name.as_ref())?;
    let view = View::open(context.repo()?, &name, None)?;
    let folder =
        context.repo()?.worktree().map_or_else(env::current_dir, Ok).context("cannot find the working folder")?;
    let branch = Git::in_folder(&folder).ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    let branch = String::from_utf8_lossy(&branch.stdout).trim().to_owned();
    let new_session = NewSession::new(&folder, branch, context.now(), std::process::id());
    let Some(outgoing) = transcripts::transcript(context.repo()?, &view, format, &new_session)? else {
        bail!("{} cannot go on from a transcript that others wrote", format.agent().name);
    };
    for note in &outgoing.notes {
        context.ui.note(note);
    }
    if outgoing.items == 0 {
        let hint = "git trace status shows what it holds".to_owned();
        return Err(Error::with_hint(format!("trace `{name}` holds nothing to go on from"), hint));
    }
    if args.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        context.ui.content().write_all(&outgoing.bytes)?;
        return Ok(());
    }
    let home = format.home(context.repo()?.env());
    let found = home.and_then(|home| transcripts::transcript_path(format, &home, &new_session));
    let Some(path) = args.output.clone().or(found) else { bail!("name a file: --output FILE") };
    transcripts::save(&outgoing.bytes, &path).with_context(|| format!("cannot write `{}`", path.display()))?;
    let resume = transcripts::resume_command(format, &new_session.id);
    if args.json {
        return context.ui.json(&json!({ "session": new_session.id, "file": path.to_string_lossy(),
            "items": outgoing.items, "notes": outgoing.notes, "resume": resume }));
    }
    writeln!(context.ui, "{} items written to {}", outgoing.items, escaped(&path.to_string_lossy()))?;
    if args.output.is_none() {
        context.ui.flush()?;
        context.ui.note(format!("`{resume}` goes on from there"));
    }
    Ok(())
}
