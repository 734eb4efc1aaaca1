//! `git trace export`: a trace as JSON Lines, or as a transcript that an agent resumes from.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::app::analysis::{Form, Report, export_all};
use crate::app::cli::flags::items::FilterArgs;
use crate::app::cli::{Context, Error, Plain, Result, Values, bail, escaped, json};
use crate::app::ui::grouped;
use crate::base::escape::shell_word;
use crate::git::Git;
use crate::trace::model::name::TRACES;
use crate::trace::query::export::export;
use crate::trace::query::select::{Among, select};
use crate::trace::{ItemId, TraceName, View};
use crate::transcript::continuation;
use crate::transcript::documents::Document;
use crate::transcript::export::{self as transcripts, ExportedTranscript, NewSession};
use crate::transcript::format::Format;

/// Export a trace as JSON Lines or as a transcript for an agent
///
/// In JSON Lines, each line is an operation, oldest first; `import jsonl` reads the lines back: items, edits, deletions,
/// restorations, and priorities, with times and authors.
///
/// `export claude-code`, `codex`, `gemini-cli`, `opencode`, `copilot-cli`, and `pi` write the items that are not skipped as a new
/// session, where that agent can resume it.
///
/// `export markdown`, `export atif`, `export sharegpt`, and `export chatml` print the items that are not skipped as a document.
/// `export chatml --all -o FILE` writes all traces, one line each.
///
/// The trace continues the new session: hooks and imports append to it what the agent records there. If the trace has changed by
/// then, they continue a new trace that starts at the export. `-o -` only prints the session.
///
/// `export --all -o DIR` writes tables of all traces, their items, and the calls of tools, as JSON Lines. Repeated, it reads only
/// traces that changed.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// claude-code, codex, gemini-cli, opencode, copilot-cli, or pi (a session for that agent), markdown (for people), atif (a trajectory), sharegpt or chatml (for
    /// fine-tuning) [default: JSON Lines]
    #[arg(value_name = "FORMAT")]
    first: Option<String>,
    /// Trace to export [default: the current trace]
    name: Option<TraceName>,
    /// Only operations on these items, in JSON Lines: an item, a range such as #7..#9, or a turn such as @3
    #[arg(long = "item", value_name = "ITEM", add = Values::Items)]
    items: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Bring tables of all traces, items, and calls in the folder -o up to date, for analysis engines; with sharegpt or chatml, write a
    /// line for each trace to the file -o
    #[arg(long, requires = "output", conflicts_with_all = ["name", "items", "json"])]
    all: bool,
    /// Compress the tables of --all with the program zstd
    #[arg(long, requires = "all", conflicts_with = "first")]
    zstd: bool,
    /// File or folder to write; `-` is stdout [default for a session: where the agent finds it]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

impl ExportArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        if let Some(Ok(document)) = self.first.as_deref().map(str::parse::<Document>) {
            if !self.items.is_empty() || !self.filter.read(context)?.is_empty() {
                bail!("a document has all items; `git trace skip` leaves some out");
            }
            return documents(context, self, document);
        }
        if let Some(name) = self.first.as_deref().filter(|_| self.all) {
            bail!("`{name}` is written for one trace; only sharegpt and chatml have a line for each");
        }
        if let Some(folder) = self.output.as_deref().filter(|_| self.all) {
            if !self.filter.read(context)?.is_empty() {
                bail!("--all exports all items; queries select them");
            }
            return tables(context, folder, if self.zstd { Form::Zstd } else { Form::Plain });
        }
        match (&self.first, self.first.as_deref().map(str::parse::<Format>)) {
            (_, Some(Ok(_))) if !self.items.is_empty() || !self.filter.read(context)?.is_empty() => {
                let hint =
                    "`git trace branch NAME` makes a copy; `git trace --trace NAME delete` removes items from it";
                Err(Error::with_hint("a session is exported completely, so items cannot be selected", hint))
            }
            (_, Some(Ok(format))) => session_of(context, self, format),
            (Some(name), _) if self.name.is_none() => lines(context, self, Some(&name.parse()?)),
            (Some(name), _) => {
                if let Some(format) = self.name.as_ref().map(TraceName::as_str)
                    && (format.parse::<Format>().is_ok() || format.parse::<Document>().is_ok())
                {
                    let hint = format!("the format comes first: `git trace export {format} {}`", shell_word(name));
                    return Err(Error::with_hint(format!("unknown format `{name}`"), hint));
                }
                bail!(
                    "unknown format `{name}`: expected claude-code, codex, gemini-cli, opencode, copilot-cli, pi, markdown, atif, sharegpt, or chatml"
                )
            }
            (None, _) => lines(context, self, None),
        }
    }
}

/// Writes a trace as a document, or all traces that have anything to say, one line each.
fn documents(context: &Context, args: &ExportArgs, document: Document) -> Result<()> {
    let repo = context.repo()?;
    let mut text = String::new();
    if args.all {
        if !document.is_line() {
            bail!("`{document}` is written for one trace; only sharegpt and chatml have a line for each");
        }
        for (refname, _) in repo.list_refs(TRACES)? {
            let Some(name) = TraceName::of_ref(&refname) else { continue };
            text.push_str(&document.write(repo, &name, &View::open(repo, &name, None)?)?);
        }
    } else {
        let (_, name, view) = context.view(args.name.as_ref(), None)?;
        text = document.write(repo, &name, &view)?;
    }
    let output = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    match output {
        Some(_) => context.ui.write_file(output, text.as_bytes()),
        None => context.ui.write_content(text),
    }
}

/// Writes all traces as tables.
fn tables(context: &Context, folder: &Path, form: Form) -> Result<()> {
    let Report { exported, unchanged, removed, bytes } = export_all(context.repo()?, folder, form)?;
    let gone = if removed > 0 { format!(", {removed} removed") } else { String::new() };
    let (exported, unchanged, bytes) = (grouped(exported as u64), grouped(unchanged as u64), grouped(bytes));
    writeln!(context.ui, "{exported} families of traces exported, {unchanged} unchanged{gone}; {bytes} bytes written")
}

fn lines(context: &Context, args: &ExportArgs, name: Option<&TraceName>) -> Result<()> {
    let (repo, name, tip) = context.current(name)?;
    let filter = args.filter.read(context)?;
    let is_all = args.items.is_empty() && filter.is_empty();
    let only = (!is_all).then(|| select(repo, &name, &tip, &args.items, &filter, Among::LiveOrNamed)).transpose()?;
    let only: Option<HashSet<ItemId>> = only.map(HashSet::from_iter);
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            let mut bytes = Vec::new();
            export(repo, tip, only.as_ref(), &mut bytes)?;
            context.ui.write_file(Some(path), &bytes)?;
        }
        None => export(repo, tip, only.as_ref(), &mut context.ui.content())?,
    }
    Ok(())
}

fn session_of(context: &Context, args: &ExportArgs, format: Format) -> Result<()> {
    let name = context.trace_name(args.name.as_ref())?;
    let is_stdout = args.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if is_stdout {
        let view = context.view(Some(&name), None)?.2;
        let session = new_session(context, None)?.of(format);
        let exported = transcripts::transcript(context.repo()?, &view, format, &session)?;
        let exported = checked(context, &name, format, exported)?;
        return Ok(context.ui.content().write_all(&exported.bytes)?);
    }
    let Written { session, path, exported } =
        write(context, &name, format, new_session(context, None)?, args.output.as_deref())?;
    let resume = full_command(format, &session.id, &path);
    if args.json {
        return context
            .ui
            .json(&json!({ "trace": name.as_str(), "session": session.id, "file": path.to_string_lossy(),
            "items": exported.items, "notes": exported.notes, "resume": resume }));
    }
    writeln!(context.ui, "{} items written to {}", exported.items, Plain(&path.to_string_lossy()))?;
    if args.output.is_none() {
        context.ui.flush()?;
        context.ui.note(format!("`{resume}` resumes the session, and its new items are recorded in trace `{name}`"));
    }
    Ok(())
}

/// A trace that was written as a session, and tied to it.
pub(super) struct Written {
    pub session: NewSession,
    pub path: PathBuf,
    pub exported: ExportedTranscript,
}

/// Writes a trace as a new session to `output`, else where the agent finds it.
pub(super) fn write(
    context: &Context,
    name: &TraceName,
    format: Format,
    session: NewSession,
    output: Option<&Path>,
) -> Result<Written> {
    let session = session.of(format);
    let home = format.home(context.repo()?.env());
    let found = home.and_then(|home| transcripts::transcript_path(format, &home, &session));
    if format.agent().exporter.is_none() {
        return Err(no_exporter(format));
    }
    let Some(path) = output.map(Path::to_owned).or(found) else {
        bail!("cannot tell where the agent keeps its sessions; name a file with --output FILE")
    };
    let exported = continuation::export(&context.open(name)?, format, &session, &path)?;
    let exported = checked(context, name, format, exported)?;
    Ok(Written { session, path, exported })
}

/// A session in a folder, by default the root of the working tree.
pub(super) fn new_session(context: &Context, folder: Option<PathBuf>) -> Result<NewSession> {
    let folder = folder.or(context.repo()?.worktree()).map_or_else(|| context.folder(), Ok)?;
    let branch = Git::in_folder(&folder).ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    let branch = String::from_utf8_lossy(&branch.stdout).trim().to_owned();
    Ok(NewSession::new(&folder, branch, context.now(), std::process::id()))
}

/// The command that resumes an exported session, after the one that takes its file in, if the agent needs that.
pub(super) fn full_command(format: Format, session: &str, file: &Path) -> String {
    let resume = transcripts::resume_command(format, session);
    match transcripts::import_command(format) {
        Some(import) => format!("{import} {} && {resume}", quoted(file)),
        None => resume,
    }
}

/// A path as one word of a shell.
pub(super) fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\'', r"'\''");
    format!("'{}'", escaped(&path))
}

/// Prints the notes of an export, which must have items.
fn checked(
    context: &Context,
    name: &TraceName,
    format: Format,
    exported: Option<ExportedTranscript>,
) -> Result<ExportedTranscript> {
    let exported = exported.ok_or_else(|| no_exporter(format))?;
    for note in &exported.notes {
        context.ui.note(note);
    }
    if exported.items == 0 {
        let hint = "`git trace status` shows its contents".to_owned();
        return Err(Error::with_hint(format!("trace `{name}` has no items to resume from"), hint));
    }
    Ok(exported)
}

fn no_exporter(format: Format) -> Error {
    let message = format!("{} cannot resume a transcript that another program wrote", format.agent().name);
    Error::with_hint(
        message,
        "name one that can: `git trace resume --agent claude-code`, or `git trace export claude-code`",
    )
}
