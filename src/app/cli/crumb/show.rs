//! `git trace crumb show`, `fmt`, `textconv` and `triage`.

use std::path::PathBuf;

use super::{parse, read};
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Context, ErrorContext as _, ExitStatus, Result, Value, json};
use crate::base::escape::Plain;
use crate::memory::crumb::{self, CrumbError, CrumbFile, LineKind, Tier};

/// Show a crumb file with line numbers and the age of its notes
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Crumb file (`-` is stdin)
    file: PathBuf,
    /// Print header, sections and entries as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

/// Format the spacing of a crumb file; no word changes
#[derive(clap::Args, Debug)]
pub(crate) struct FmtArgs {
    /// Crumb file; `-` formats stdin to stdout
    file: PathBuf,
    /// Write nothing; the exit status is 1 if the file would change
    #[arg(long)]
    check: bool,
}

/// Print a crumb file for `git diff`: one line per entry, with its section
///
/// `git trace install` configures git to call this.
#[derive(clap::Args, Debug)]
pub(crate) struct TextconvArgs {
    /// File, of any content
    file: PathBuf,
}

impl ShowArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        let ui = &context.ui;
        let bytes = read(&self.file)?;
        let crumb = parse(&self.file, &bytes)?;
        if self.json {
            return ui.json(&crumb::to_json(&crumb));
        }
        let session = crumb.header().map_or(0, |header| header.session);
        for (index, line) in crumb.lines.iter().enumerate().filter(|(_, line)| line.kind != LineKind::Blank) {
            let entry = line.entry().filter(|entry| entry.kind.is_dated());
            let heat = entry.and_then(|entry| entry.latest()).map_or("", |latest| Tier::of(latest, session).as_str());
            ui.entry(|| ui.write_content(format!("{:>4} {heat:<4} {}\n", index + 1, Plain(&line.text))))?;
        }
        Ok(())
    }
}

impl FmtArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let is_stdin = self.file.as_os_str() == "-";
        if is_stdin || self.check {
            let bytes = read(&self.file)?;
            let crumb = CrumbFile::parse(&bytes).map_err(CrumbError::from);
            let formatted = crumb::format(&crumb.with_context(|| format!("cannot use `{}`", self.file.display()))?);
            if !self.check {
                ui.write_content(&formatted)?;
            } else if formatted != bytes {
                ui.write_content(format!("{} would change\n", Plain(&self.file.to_string_lossy())))?;
                return Ok(ExitStatus::No);
            }
            return Ok(ExitStatus::Success);
        }
        let change = |crumb: &mut CrumbFile<'_>| {
            *crumb = CrumbFile::parse(&crumb::format(crumb))?.into_owned();
            Ok(())
        };
        crumb::edit(&self.file, change).with_context(|| format!("cannot change `{}`", self.file.display()))?;
        Ok(ExitStatus::Success)
    }
}

impl TextconvArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        context.ui.write_content(crumb::textconv(&read(&self.file)?))
    }
}

/// Score how much each entry of a crumb file is worth keeping, with reasons
#[derive(clap::Args, Debug)]
pub(crate) struct TriageArgs {
    /// Crumb file (`-` is stdin)
    file: PathBuf,
    /// Print one JSON object per entry
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl TriageArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        let ui = &context.ui;
        let bytes = read(&self.file)?;
        let crumb = parse(&self.file, &bytes)?;
        for score in crumb::triage(&crumb) {
            if self.json {
                let reasons = score.reasons.iter().map(|(points, why)| json!({ "points": points, "why": why }));
                ui.json(&json!({
                    "score": score.points, "line": score.index + 1, "section": score.section, "entry": score.line,
                    "reasons": reasons.collect::<Vec<Value>>(),
                }))?;
                continue;
            }
            let reasons: Vec<String> = score.reasons.iter().map(|(points, why)| format!("{why} {points}")).collect();
            let (points, line, reasons) = (score.points, score.index + 1, reasons.join(" + "));
            let text = format!("{points:>3} {line:>4} {}\n         {reasons}\n", Plain(&score.line));
            ui.entry(|| ui.write_content(text))?;
        }
        Ok(())
    }
}
