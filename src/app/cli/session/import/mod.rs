//! `git trace import`: somebody else's record becomes a trace.

mod transcript;

use crate::base::error::{Context as _, Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::base::bounded;
use crate::message::Api;
use crate::secrets::Policy;
use crate::trace::TraceName;
use crate::trace::change::bulk::{self, Report};
use crate::trace::change::jsonl;
use crate::trace::store::head;
use crate::trace::store::secrets::Found;
use crate::transcript::format::{self, Format};
use crate::transcript::provider;

/// Import a session or a file into a trace; items that the trace has or once had are skipped
///
/// A session is imported into the trace `<agent>/<session id>`, unless `--trace`, `$GITTRACE_NAME` or `init` named another.
/// If there is no current trace, it becomes the current one. Another import of a file reads only what was added to it.
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// claude-code, codex, gemini-cli or swe-agent (sessions of agents), jsonl (the output of `export`, or one item per line),
    /// openai, responses, anthropic or gemini (requests and responses) [default: detected]
    #[arg(value_name = "FORMAT")]
    first: Option<PathBuf>,

    /// File to read; `-` is stdin [default for a session: the agent's newest session in this folder]
    file: Option<PathBuf>,

    /// Apply compactions: each summary replaces the items it stands for, so that the materialized messages are what the
    /// model saw; `expand` restores the originals [default: `trace.asSeen`]
    #[arg(long)]
    as_seen: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// What is to be imported.
struct Wanted<'a> {
    format: Kind,
    file: Option<&'a Path>,
    as_seen: bool,
    json: bool,
}

/// A format by its name.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Session(Format),
    Jsonl,
    Provider(Api),
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        if let Ok(format) = name.parse() {
            return Some(Self::Session(format));
        }
        match name {
            "jsonl" => Some(Self::Jsonl),
            _ => [Api::OpenAi, Api::Responses, Api::Anthropic, Api::Gemini]
                .into_iter()
                .find(|api| api.as_str() == name)
                .map(Self::Provider),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Session(format) => format.as_str(),
            Self::Jsonl => "jsonl",
            Self::Provider(api) => api.as_str(),
        }
    }
}

impl ImportArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let wanted = wanted(self)?;
        match wanted.format {
            Kind::Session(format) => transcript::run(context, &wanted, format).map(ExitStatus::from),
            Kind::Jsonl | Kind::Provider(_) if wanted.as_seen => {
                let message = format!("`{}` tells of no compactions", wanted.format.name());
                let hint = "leave --as-seen away; sessions of agents have them".to_owned();
                Err(Error::with_hint(message, hint))
            }
            Kind::Jsonl => import_jsonl(context, &wanted).map(ExitStatus::from),
            Kind::Provider(api) => import_provider(context, &wanted, api),
        }
    }
}

/// What the words mean: a format and a file, either alone, or a file that says what it is.
fn wanted(args: &ImportArgs) -> Result<Wanted<'_>> {
    let (json, as_seen) = (args.json, args.as_seen);
    let Some(first) = &args.first else {
        let hint = "git trace import claude-code, or git trace import FILE".to_owned();
        return Err(Error::with_hint("no format and no file were given".to_owned(), hint));
    };
    if let Some(format) = first.to_str().and_then(Kind::named) {
        return Ok(Wanted { format, file: args.file.as_deref(), as_seen, json });
    }
    let formats = "claude-code, codex, gemini-cli, swe-agent, jsonl, openai, responses, anthropic, gemini";
    let unknown = |message: String| Error::with_hint(message, format!("name its format, one of {formats}"));
    if args.file.is_some() || !first.is_file() {
        return Err(unknown(format!("`{}` is no format, and no file is there", first.display())));
    }
    let head = format::head(&mut *open(first)?).with_context(|| format!("cannot read `{}`", first.display()))?;
    let Some(format) = Format::detect(&head) else {
        return Err(unknown(format!("`{}` is not a session of an agent that is known", first.display())));
    };
    Ok(Wanted { format: Kind::Session(format), file: Some(first), as_seen, json })
}

/// The file that was given, where there is no other to fall back on.
fn given<'a>(args: &Wanted<'a>) -> Result<&'a Path> {
    args.file.ok_or_else(|| {
        let format = args.format.name();
        let hint = format!("git trace import {format} FILE, or `-` for stdin");
        Error::with_hint("no file was given", hint)
    })
}

/// Imports requests and responses. What cannot be read is said, and the rest comes in.
fn import_provider(context: &Context, args: &Wanted<'_>, api: Api) -> Result<ExitStatus> {
    let file = given(args)?;
    let name = context.trace_name(None)?;
    let trace = context.open(&name)?;
    let failed = || format!("cannot import `{}`", file.display());
    let bytes = bounded::read_all(open(file)?).with_context(failed)?;
    let text = String::from_utf8(bytes).context("it is not UTF-8").with_context(failed)?;
    let mut items = provider::items(api, &text);
    let report = bulk::import(&trace, &mut items.incoming).with_context(failed)?;
    if report.tip.is_some() && context.named_trace()?.is_none() && head::chosen(context.repo()?)?.is_none() {
        head::switch(context.repo()?, &name)?;
    }
    for fault in &items.faults {
        context.ui.note(format!("{}: {fault}", file.display()));
    }
    if args.json {
        let faults = items.faults.iter().map(|fault| json!({ "path": fault.path, "cause": fault.cause }));
        let faults: Vec<Value> = faults.collect();
        context.ui.json(&json!({ "traces": [report_json(&name, &report)], "faults": faults }))?;
    } else {
        print_report(context, &name, &report)?;
    }
    Ok(if items.faults.is_empty() { ExitStatus::Success } else { ExitStatus::No })
}

fn import_jsonl(context: &Context, args: &Wanted<'_>) -> Result<()> {
    let file = given(args)?;
    let name = context.trace_name(None)?;
    let trace = context.open(&name)?;
    let mut input = BufReader::with_capacity(1 << 16, open(file)?);
    let report = jsonl::import(&trace, &mut input).with_context(|| format!("cannot import `{}`", file.display()))?;
    if context.named_trace()?.is_none() && head::chosen(context.repo()?)?.is_none() {
        head::switch(context.repo()?, &name)?;
    }
    if args.json {
        context.ui.json(&json!({ "traces": [report_json(&name, &report)] }))?;
    } else {
        print_report(context, &name, &report)?;
    }
    Ok(())
}

/// Opens a file, or stdin.
fn open(file: &Path) -> Result<Box<dyn Read>> {
    if file.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?))
}

fn print_report(context: &Context, name: &TraceName, report: &Report) -> Result<()> {
    let Report { recorded, known, .. } = report;
    let known = if *known > 0 { format!(", {known} were there already") } else { String::new() };
    let redacted = report.secrets.iter().filter(|found| found.policy == Policy::Redact).count();
    let redacted = if redacted > 0 { format!(", {redacted} secrets taken out") } else { String::new() };
    writeln!(context.ui, "{recorded} imported into trace `{name}`{known}{redacted}")?;
    if report.secrets.iter().any(|found| found.policy == Policy::Warn) {
        context.ui.flush()?;
        context.ui.note(format!("warning: what came in has {}", kinds_of_secrets(report)));
    }
    Ok(())
}

/// What secrets look like, each kind with how many times.
fn kinds_of_secrets(report: &Report) -> String {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    report.secrets.iter().for_each(|found| *kinds.entry(found.what).or_default() += 1);
    let kinds = kinds.into_iter().map(|(what, count)| format!("{count} times what looks like {what}"));
    kinds.collect::<Vec<_>>().join(", ")
}

fn report_json(name: &TraceName, report: &Report) -> Value {
    let mut json = json!({ "trace": name.as_str(), "recorded": report.recorded, "known": report.known,
        "commit": report.tip.map(|oid| oid.to_string()) });
    if !report.secrets.is_empty() {
        let is_redacted = |found: &&Found| found.policy == Policy::Redact;
        json["secrets"] = report.secrets.len().into();
        json["redacted"] = report.secrets.iter().filter(is_redacted).count().into();
    }
    json
}
