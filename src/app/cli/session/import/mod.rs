//! `git trace import`: somebody else's record becomes a trace.

mod all;
mod transcript;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::app::cli::remote::{print_priorities, priority_json};
use crate::app::cli::{Context, Error, ErrorContext as _, ExitStatus, Result, Value, bail, escaped, json};
use crate::base::bounded;
use crate::base::changes::most_alike;
use crate::base::escape::shell_word;
use crate::base::worktree_path::check_regular_or_open;
use crate::message::Api;
use crate::secrets::Policy;
use crate::trace::TraceName;
use crate::trace::change::bulk::{self, Report};
use crate::trace::change::jsonl;
use crate::trace::store::secrets::Found;
use crate::trace::store::tombstone::note_purges;
use crate::trace::store::{head, settings};
use crate::transcript::api_request;
use crate::transcript::format::{self, Format, InputFormat};

/// Import a session or a file into a trace
///
/// Items that the trace has or once had are skipped.
///
/// A session is imported into the trace `<agent>/<session id>`, unless `--trace`, `$GITTRACE_NAME` or `init` named another.
/// If there is no current trace, it becomes the current one. Another import of a file reads only what was added to it.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct ImportArgs {
    /// claude-code, codex, gemini-cli, opencode, copilot-cli, cursor, pi, droid, aider, qwen-code, atif, otel-genai, swe-agent,
    /// vscode-copilot, inspect, langsmith, langfuse, codex-exec, gemini-stream-json, cline, openhands or mini-swe-agent (sessions of
    /// agents), chatgpt, claude-export or sharegpt (conversations), jsonl (the output of `export`, or one item per line), openai,
    /// responses, anthropic or gemini (requests and responses) [default: detected by content]
    #[arg(value_name = "FORMAT")]
    first: Option<PathBuf>,
    /// File to read; `-` is stdin [default for a session: the agent's newest session in this folder]
    file: Option<PathBuf>,
    /// Import every session of this folder, of one agent or of all, each into its own trace; a repeated run reads only what is new
    #[arg(long, conflicts_with = "file")]
    all: bool,
    /// The same for all folders of this machine; each session is imported into the repository of the folder in which it ran, unless
    /// `trace.record` is false or ask there
    #[arg(long, conflicts_with_all = ["file", "all"])]
    all_folders: bool,
    /// Keep the items that a compaction replaced, and remove its summary; by default the summary replaces them, as it did for
    /// the model, and `expand` restores them
    #[arg(long)]
    full: bool,
    #[arg(long, hide = true, conflicts_with = "full")]
    as_seen: bool,
    /// Import each conversation of a file, such as one for fine-tuning or an export of all chats, into its own trace: NAME/0001,
    /// NAME/0002, …, where NAME is that of `--trace`, or `<format>/<file>`; conversations with an id get NAME/<id>, or `<format>/<id>`
    #[arg(long, conflicts_with_all = ["all", "all_folders"])]
    split: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

struct ImportRequest<'a> {
    format: InputFormat,
    file: Option<&'a Path>,
    args: &'a ImportArgs,
}

impl ImportArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        if self.all || self.all_folders {
            return all::run(context, self);
        }
        let request = self.request(context)?;
        let has_conversations = match request.format {
            InputFormat::Session(format) => format.agent().has_conversations,
            InputFormat::Jsonl => false,
            InputFormat::Provider(_) => true,
        };
        if self.split && !has_conversations {
            let message = format!("a file of `{}` has no independent conversations", request.format.name());
            return Err(Error::with_hint(message, "omit `--split`"));
        }
        if let Some(file) = request.file {
            check_regular_or_open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        }
        match request.format {
            InputFormat::Session(format) => transcript::run(context, &request, format),
            InputFormat::Jsonl | InputFormat::Provider(_) if self.as_seen || self.full => {
                let message = format!("`{}` has no compactions", request.format.name());
                Err(Error::with_hint(message, "omit the option; only sessions of agents have compactions"))
            }
            InputFormat::Jsonl => import_jsonl(context, &request),
            InputFormat::Provider(api) => import_provider(context, &request, api),
        }
    }

    /// The format and the file: both given, the format alone, or a file whose content tells its format.
    fn request(&self, context: &Context) -> Result<ImportRequest<'_>> {
        let Some(first) = &self.first else {
            let hint = "git trace import claude-code, or git trace import FILE";
            return Err(Error::with_hint("no format and no file were given", hint));
        };
        if let Some(format) = first.to_str().and_then(InputFormat::named) {
            return Ok(ImportRequest { format, file: self.file.as_deref(), args: self });
        }
        let formats: Vec<&str> = InputFormat::all().map(InputFormat::name).collect();
        let unknown =
            |message: String| Error::with_hint(message, format!("name its format, one of {}", formats.join(", ")));
        if first.as_os_str() == "-" {
            let hint = "for example `git trace import claude-code -`";
            return Err(Error::with_hint("the format of stdin must be named", hint));
        }
        if let Some(extra) = self.file.as_deref().filter(|_| first.is_file()) {
            let message = format!("unexpected argument `{}`", escaped(&extra.to_string_lossy()));
            let hint = "a command imports one file; `--trace NAME` names its trace";
            return Err(Error::with_hint(message, hint));
        }
        if !first.is_file() {
            let is_path = self.file.is_none()
                && (first.exists() || first.extension().is_some() || first.components().count() > 1);
            if !is_path {
                let message = format!("`{}` is neither a format nor a file", first.display());
                return Err(match meant(context, &first.to_string_lossy())? {
                    Some(hint) => Error::with_hint(message, hint),
                    None => unknown(message),
                });
            }
            let (problem, hint) = if first.is_dir() {
                (
                    "is a folder",
                    "name a file; `git trace import --all` imports all sessions that agents ran in this folder",
                )
            } else {
                let hint =
                    "name the file of a session; `git trace import claude-code` finds the newest one for this folder";
                (if first.exists() { "is not a regular file" } else { "does not exist" }, hint)
            };
            return Err(Error::with_hint(format!("`{}` {problem}", first.display()), hint));
        }
        let head =
            format::head(&mut *open(context, first)?).with_context(|| format!("cannot read `{}`", first.display()))?;
        if head.is_empty() {
            bail!("`{}` is empty", first.display());
        }
        if head.starts_with(b"PK\x03\x04") && InputFormat::detect(&head).is_err() {
            let hint = "unpack it; a log of Inspect: inspect log dump FILE > log.json";
            return Err(Error::with_hint(format!("`{}` is an archive that cannot be read", first.display()), hint));
        }
        if head.starts_with(b"SQLite format 3\0") {
            let hint = "opencode export SESSION | git trace import opencode -";
            return Err(Error::with_hint(
                format!("`{}` is a database, which its agent exports", first.display()),
                hint,
            ));
        }
        match InputFormat::detect(&head) {
            Ok(format) => Ok(ImportRequest { format, file: Some(first), args: self }),
            Err(candidates) if candidates.is_empty() => {
                Err(unknown(format!("`{}` is not a session of a known agent", first.display())))
            }
            Err(candidates) => {
                let names: Vec<&str> = candidates.iter().map(|format| format.name()).collect();
                let message =
                    format!("the format of `{}` is not clear: it may be {}", first.display(), names.join(" or "));
                Err(Error::with_hint(message, format!("name it: git trace import {} FILE", names[0])))
            }
        }
    }
}

/// The command that may be meant by a word that is neither a format nor a file.
fn meant(context: &Context, word: &str) -> Result<Option<String>> {
    let names = || InputFormat::all().map(InputFormat::name);
    let format = names().find(|name| name.starts_with(word)).or_else(|| most_alike(word, names()));
    if let Some(format) = format {
        return Ok(Some(format!("did you mean `git trace import {format}`?")));
    }
    // Shorter words are parts of many ids.
    let is_id = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_id {
        return Ok(None);
    }
    for format in Format::all() {
        let Some(home) = format.home(context.repo()?.env()) else { continue };
        for folder in context.session_folders()? {
            let mut files = format.own_sessions(&home, &folder).into_iter().flatten();
            let is_meant = |file: &PathBuf| file.file_stem().is_some_and(|stem| stem.to_string_lossy().contains(word));
            if let Some(file) = files.find(is_meant) {
                return Ok(Some(format!("did you mean `git trace import {}`?", shell_word(file.display()))));
            }
        }
    }
    Ok(Some("no session of this folder has this id; `git trace import claude-code` imports the newest one".to_owned()))
}

fn given<'a>(request: &ImportRequest<'a>) -> Result<&'a Path> {
    let hint = || format!("git trace import {} FILE, or `-` for stdin", request.format.name());
    request.file.ok_or_else(|| Error::with_hint("no file was given", hint()))
}

/// Makes an imported trace the current one if none was named or chosen.
fn choose(context: &Context, name: &TraceName) -> Result<()> {
    if context.named_trace()?.is_none() && head::chosen(context.repo()?)?.is_none() {
        head::switch(context.repo()?, name, &context.mover())?;
    }
    Ok(())
}

/// Imports requests and responses. Unreadable parts are noted and skipped.
fn import_provider(context: &Context, request: &ImportRequest<'_>, api: Api) -> Result<ExitStatus> {
    let file = given(request)?;
    let failed = || format!("cannot import `{}`", file.display());
    let input = open(context, file)?;
    let bytes = bounded::read_all(input).with_context(failed)?;
    let text = String::from_utf8(bytes).context("it is not UTF-8").with_context(failed)?;
    let mut items = api_request::items(api, &text, &settings::usage(context.repo()?)?);
    let names = names_of_conversations(context, request, api, items.conversations.len())?;
    let mut reports = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        let mut incoming =
            items.conversations.get_mut(number).map(|one| std::mem::take(&mut one.incoming)).unwrap_or_default();
        let report = bulk::import(&context.open(&name)?, &mut incoming).with_context(failed)?;
        if report.tip.is_some() {
            choose(context, &name)?;
        }
        reports.push((name, report));
    }
    for fault in &items.faults {
        context.ui.note(format!("{}: {fault}", file.display()));
    }
    if request.args.json {
        let faults = items.faults.iter().map(|fault| json!({ "path": fault.path, "cause": fault.cause }));
        let faults: Vec<Value> = faults.collect();
        let traces: Vec<Value> = reports.iter().map(|(name, report)| report_json(name, report)).collect();
        context.ui.json(&json!({ "traces": traces, "faults": faults }))?;
    } else {
        for (name, report) in &reports {
            print_report(context, name, report)?;
        }
    }
    Ok(ExitStatus::of(items.faults.is_empty() && reports.iter().all(|(_, report)| report.is_complete())))
}

/// The trace of each conversation: the current one, or a numbered one for each.
fn names_of_conversations(
    context: &Context,
    request: &ImportRequest<'_>,
    api: Api,
    count: usize,
) -> Result<Vec<TraceName>> {
    let file = given(request)?;
    if !request.args.split {
        if count > 1 {
            let message = format!("`{}` contains {count} independent conversations", file.display());
            return Err(Error::with_hint(message, "`--split` imports each into its own trace, NAME/0001 and so on"));
        }
        return Ok(vec![context.trace_name(None)?]);
    }
    let base = base_of_conversations(context, file, api.as_str())?;
    Ok((1..=count).map(|number| base.of_conversation(number)).collect())
}

/// The trace after which the conversations of a file are named.
fn base_of_conversations(context: &Context, file: &Path, format: &str) -> Result<TraceName> {
    // Stdin, or a pipe, whose name is the number of a descriptor.
    let stem = file.file_stem().map(|stem| stem.to_string_lossy()).filter(|_| file.is_file());
    let of_file = || TraceName::of_session(format, stem.as_deref().unwrap_or("conversation"));
    Ok(context.named_trace()?.unwrap_or_else(of_file))
}

fn import_jsonl(context: &Context, request: &ImportRequest<'_>) -> Result<ExitStatus> {
    let file = given(request)?;
    let name = context.trace_name(None)?;
    let trace = context.open(&name)?;
    let failed = || format!("cannot import `{}`", file.display());
    // A pipe can be read only once.
    if file.is_file() {
        jsonl::check_size(&mut BufReader::new(open(context, file)?)).with_context(failed)?;
    }
    let input = open(context, file)?;
    let mut lines = BufReader::with_capacity(1 << 16, input);
    let report = jsonl::import(&trace, &mut lines).with_context(failed)?;
    choose(context, &name)?;
    if request.args.json {
        let priorities: Vec<Value> = report.priorities.iter().map(priority_json).collect();
        let answer = json!({ "traces": [report_json(&name, &report)], "changed_priorities": priorities });
        context.ui.json(&answer)?;
    } else {
        print_report(context, &name, &report)?;
        print_priorities(context, &report.priorities)?;
    }
    Ok(ExitStatus::of(report.is_complete()))
}

/// Opens the input, and notes what was purged before.
fn open(context: &Context, file: &Path) -> Result<Box<dyn Read>> {
    note_purges(context.repo()?)?;
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let opened = File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    Ok(Box::new(opened))
}

fn print_report(context: &Context, name: &TraceName, report: &Report) -> Result<()> {
    let Report { recorded, known, replaced, .. } = report;
    let known = if *known > 0 { format!(", {known} were there already") } else { String::new() };
    let redacted = report.secrets.iter().filter(|found| found.policy == Policy::Redact).count();
    let redacted = if redacted > 0 { format!(", {redacted} secrets taken out") } else { String::new() };
    let removed: Vec<String> = report.removed.iter().map(|(reason, count)| format!("{count} ({reason})")).collect();
    let removed =
        if removed.is_empty() { String::new() } else { format!(", removed from the context: {}", removed.join(", ")) };
    let replaced =
        if *replaced > 0 { format!(", {replaced} of the items replaced by summaries") } else { String::new() };
    writeln!(context.ui, "{recorded} imported into trace `{name}`{known}{redacted}{replaced}{removed}")?;
    for (purge, count) in &report.purged {
        context.ui.note(format!("warning: not imported: {count} items, {purge}"));
    }
    if let Some(item) = report.without_item.first() {
        let count = report.without_item.len();
        context.ui.note(format!(
            "warning: not imported: the priorities of {count} items that trace `{name}` never had, such as {item}"
        ));
    }
    if report.secrets.iter().any(|found| found.policy == Policy::Warn) {
        context.ui.flush()?;
        context.ui.note(format!(
            "warning: the imported text contains {}; to remove it: git trace purge --text -",
            kinds_of_secrets(report)
        ));
    }
    Ok(())
}

fn kinds_of_secrets(report: &Report) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    report.secrets.iter().for_each(|found| *kinds.entry(found.what).or_default() += 1);
    let kinds = kinds.into_iter().map(|(what, count)| format!("{count} times what looks like {what}"));
    kinds.collect::<Vec<_>>().join(", ")
}

fn report_json(name: &TraceName, report: &Report) -> Value {
    let mut json = json!({ "trace": name.as_str(), "recorded": report.recorded, "known": report.known,
        "commit": report.tip.map(|oid| oid.to_string()) });
    if report.replaced > 0 {
        json["replaced"] = report.replaced.into();
    }
    if !report.removed.is_empty() {
        let removed = report.removed.iter().map(|(reason, count)| (reason.to_string(), json!(count)));
        json["removed"] = Value::Object(removed.collect());
    }
    if !report.purged.is_empty() {
        json["purged"] = report.purged.values().sum::<usize>().into();
    }
    if !report.without_item.is_empty() {
        json["without_item"] = report.without_item.iter().map(ToString::to_string).collect();
    }
    if !report.secrets.is_empty() {
        let is_redacted = |found: &&Found| found.policy == Policy::Redact;
        json["secrets"] = report.secrets.len().into();
        json["redacted"] = report.secrets.iter().filter(is_redacted).count().into();
    }
    json
}
