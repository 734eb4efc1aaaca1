//! `git trace export`: a trace as JSON Lines, or as a transcript that an agent resumes from.

use std::io::Write as _;
use std::path::PathBuf;

use crate::app::cli::{Context, Error, ErrorContext as _, Result, bail, escaped, json};
use crate::git::Git;
use crate::trace::TraceName;
use crate::trace::query::export::export;
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
            (Some(name), _) => bail!("unknown format `{name}`: expected claude-code or codex"),
            (None, _) => lines(context, self, None),
        }
    }
}

fn lines(context: &Context, args: &ExportArgs, name: Option<&TraceName>) -> Result<()> {
    let (repo, _, tip) = context.current(name)?;
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            let mut bytes = Vec::new();
            export(repo, tip, &mut bytes)?;
            context.ui.write_file(Some(path), &bytes)?;
        }
        None => export(repo, tip, &mut context.ui.content())?,
    }
    Ok(())
}

fn session_of(context: &Context, args: &ExportArgs, format: Format) -> Result<()> {
    let (repo, name, view) = context.view(args.name.as_ref(), None)?;
    let folder = repo.worktree().map_or_else(|| context.folder(), Ok)?;
    let branch = Git::in_folder(&folder).ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    let branch = String::from_utf8_lossy(&branch.stdout).trim().to_owned();
    let new_session = NewSession::new(&folder, branch, context.now(), std::process::id());
    let Some(outgoing) = transcripts::transcript(repo, &view, format, &new_session)? else {
        bail!("{} cannot resume a transcript that another program wrote", format.agent().name);
    };
    for note in &outgoing.notes {
        context.ui.note(note);
    }
    if outgoing.items == 0 {
        let hint = "`git trace status` shows its contents".to_owned();
        return Err(Error::with_hint(format!("trace `{name}` has no items to resume from"), hint));
    }
    if args.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        context.ui.content().write_all(&outgoing.bytes)?;
        return Ok(());
    }
    let home = format.home(repo.env());
    let found = home.and_then(|home| transcripts::transcript_path(format, &home, &new_session));
    let Some(path) = args.output.clone().or(found) else {
        bail!("cannot tell where the agent keeps its sessions; name a file with --output FILE")
    };
    transcripts::save(&outgoing.bytes, &path).with_context(|| format!("cannot write `{}`", path.display()))?;
    let resume = transcripts::resume_command(format, &new_session.id);
    if args.json {
        return context.ui.json(&json!({ "session": new_session.id, "file": path.to_string_lossy(),
            "items": outgoing.items, "notes": outgoing.notes, "resume": resume }));
    }
    writeln!(context.ui, "{} items written to {}", outgoing.items, escaped(&path.to_string_lossy()))?;
    if args.output.is_none() {
        context.ui.flush()?;
        context.ui.note(format!("`{resume}` resumes the session"));
    }
    Ok(())
}
