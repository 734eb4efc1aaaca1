//! `git trace crumb compress` and `expand`.

use std::path::PathBuf;

use super::{parse, read};
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Context, Error, ErrorContext as _, Result, Ui, Value, json};
use crate::base::replace::FileError;
use crate::git::Repo;
use crate::memory::crumb::archive::{self, Archive};
use crate::memory::crumb::{self, CompressionPlan, CrumbError, CrumbFile};
use crate::trace::Time;
use crate::trace::change::compressor;
use crate::trace::store::signature::Signature;

/// Compress old notes
///
/// Notes of the last five sessions stay; those of the ten sessions before become one line per session, and older ones a
/// single line. Summaries whose sessions overlap become one, made from their originals. The five most frequent failures stay.
/// Removed lines are stored in `refs/crumb-archive/<identity>`, and `expand` restores them. A rule shortens the text, or the
/// command in `trace.compressor`, which reads a prompt from stdin and prints the summary.
#[derive(clap::Args, Debug)]
pub(crate) struct CompressArgs {
    /// Crumb file
    file: PathBuf,
    /// Print what would change, and write nothing; the compressor is not called
    #[arg(long)]
    dry_run: bool,
    /// Do not archive the originals
    #[arg(long)]
    no_archive: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Restore the originals of a compressed line, or an archived failure
#[derive(clap::Args, Debug)]
pub(crate) struct ExpandArgs {
    /// Crumb file
    file: PathBuf,
    /// Line number, sessions as in `@10-13`, a part of its text, or the name of an archived failure
    #[arg(required_unless_present = "list")]
    entry: Option<String>,
    /// List what can be restored
    #[arg(long, conflicts_with = "entry")]
    list: bool,
    /// Print one JSON object per line
    #[arg(long, requires = "list")]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl CompressArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let repo = match context.repo() {
            Ok(repo) => Some(repo),
            Err(_) if self.no_archive || self.dry_run => None,
            Err(error) => {
                let hint = "give --no-archive to compress without keeping them";
                return Err(Error::with_hint(format!("cannot keep the originals: {error}"), hint));
            }
        };
        let command = repo.map(|repo| repo.config()?.text(compressor::SETTING)).transpose()?.flatten();
        for _ in 0..10 {
            let bytes = read(&self.file)?;
            let crumb = parse(&self.file, &bytes)?;
            let mut plan = crumb::plan(&crumb);
            if let (Some(repo), Some(header)) = (repo, crumb.header()) {
                let archive = Archive::open(repo, header.identity)?;
                plan.groups.iter_mut().try_for_each(|group| group.use_originals(&archive))?;
            }
            if self.dry_run {
                return report(&plan, self, command.is_some(), ui);
            }
            // No lock is held while the user's command runs; the file is compared again afterwards.
            if let (Some(repo), Some(command)) = (repo, &command) {
                for group in &mut plan.groups {
                    let text = compressor::run(repo, command, group.prompt()).map_err(CrumbError::from)?;
                    group.set_text(&String::from_utf8_lossy(&text));
                }
            }
            let archived_in = repo.filter(|_| !self.no_archive && !plan.is_empty());
            let signature = archived_in.map(|repo| Signature::take(repo, Time::now())).transpose()?;
            let is_done = crumb::edit(&self.file, |current| {
                if current.print() != bytes {
                    return Ok(false);
                }
                let header = current.header().ok_or(CrumbError::NoHeader)?;
                if let (Some(repo), Some(signature)) = (archived_in, &signature) {
                    archive::store(repo, header.identity, header.session, &plan, signature)?;
                }
                plan.apply(current);
                Ok(true)
            });
            if is_done.with_context(|| format!("cannot compress `{}`", self.file.display()))? {
                return report(&plan, self, false, ui);
            }
        }
        Err(FileError::Changing { path: self.file.clone() }.into())
    }
}

fn report(plan: &CompressionPlan, args: &CompressArgs, is_unasked: bool, ui: &Ui) -> Result<()> {
    if args.json {
        let groups = plan.groups.iter().map(|group| {
            let originals: Vec<&str> = group.members.iter().map(|member| member.line.as_str()).collect();
            json!({ "heat": group.tier.as_str(), "line": group.line(), "originals": originals })
        });
        let evicted = plan.evicted.iter().map(|evicted| json!({ "name": evicted.name, "line": evicted.line }));
        let (groups, evicted): (Vec<Value>, Vec<Value>) = (groups.collect(), evicted.collect());
        return ui.json(&json!({ "dry_run": args.dry_run, "compressed": groups, "archived_failures": evicted }));
    }
    for group in &plan.groups {
        group.members.iter().try_for_each(|member| ui.write_content(format!("- {}\n", member.line)))?;
        ui.write_content(format!("+ {}\n", group.line()))?;
    }
    plan.evicted.iter().try_for_each(|evicted| ui.write_content(format!("- {}\n", evicted.line)))?;
    let entries: usize = plan.groups.iter().map(|group| group.members.len()).sum();
    let would = if args.dry_run { "would become " } else { "became " };
    ui.note(&match plan.groups.len() {
        0 => "no notes need compressing".to_owned(),
        lines => format!("{entries} entries {would}{lines} lines"),
    });
    if is_unasked && !plan.groups.is_empty() {
        ui.note("the texts were shortened by a rule; `trace.compressor` was not called");
    }
    let names: Vec<&str> = plan.evicted.iter().map(|evicted| evicted.name.as_str()).collect();
    if !names.is_empty() {
        let what = match (args.dry_run, args.no_archive) {
            (true, _) => "failures that would go to the archive",
            (false, false) => "failures that went to the archive",
            (false, true) => "failures that were removed",
        };
        ui.note(format!("{what}: {}", names.join(", ")));
    }
    Ok(())
}

impl ExpandArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let repo = context.repo()?;
        let Some(entry) = &self.entry else {
            self.nul.apply(context);
            return list(self, repo, ui);
        };
        let lines = crumb::edit(&self.file, |crumb| {
            let identity = crumb.header().ok_or(CrumbError::NoHeader)?.identity.to_owned();
            crumb::expand(crumb, &Archive::open(repo, &identity)?, entry)
        });
        let lines = lines.with_context(|| format!("cannot change `{}`", self.file.display()))?;
        lines.iter().try_for_each(|line| ui.write_content(format!("{line}\n")))
    }
}

/// Lists the lines that have originals, and the archived failures.
fn list(args: &ExpandArgs, repo: &Repo, ui: &Ui) -> Result<()> {
    let path = &args.file;
    let bytes = read(path)?;
    let crumb: CrumbFile<'_> = parse(path, &bytes)?;
    let archive = Archive::open(repo, crumb.header().map_or("", |header| header.identity))?;
    for (index, _, entry) in crumb.entries().filter(|(_, _, entry)| entry.kind == crumb::EntryKind::Summary) {
        if let Some(originals) = archive.originals(&crumb.lines[index].text)? {
            let (line, sessions) = (index + 1, entry.reference.map(|reference| reference.to_string()));
            if args.json {
                ui.json(&json!({ "line": line, "sessions": sessions, "originals": originals }))?;
                continue;
            }
            let (sessions, count) = (sessions.unwrap_or_default(), originals.len());
            ui.entry(|| ui.write_content(format!("line {line} {sessions}: {count} originals\n")))?;
        }
    }
    let is_there = |line: &str| crumb.lines.iter().any(|other| other.text == line);
    for failure in archive.failures()?.iter().filter(|failure| !is_there(failure)) {
        if args.json {
            ui.json(&json!({ "failure": failure }))?;
            continue;
        }
        ui.entry(|| ui.write_content(format!("{failure}\n")))?;
    }
    Ok(())
}
