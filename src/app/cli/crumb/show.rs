//! `git trace crumb show`, `fmt` and `textconv`.

use std::path::PathBuf;

use super::{ExitStatus, Ui, parse, read};
use crate::base::error::{Context as _, Result};
use crate::base::finding::Plain;
use crate::memory::crumb::{self, CrumbError, CrumbFile, LineKind, Tier};

/// Show a crumb file with the numbers of its lines, and how fresh its notes are
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Crumb file (`-` is stdin)
    file: PathBuf,

    /// Header and sections with their entries as JSON
    #[arg(long)]
    json: bool,
}

/// Put a crumb file into its customary spacing; no word changes
#[derive(clap::Args, Debug)]
pub(crate) struct FmtArgs {
    /// Crumb file; `-` takes it from stdin and prints the result
    file: PathBuf,

    /// Write nothing; the exit status is 1 if it would change
    #[arg(long)]
    check: bool,
}

/// Print a crumb file for `git diff`: one line an entry, with its section
///
/// `git trace install` sets git up to call this.
#[derive(clap::Args, Debug)]
pub(crate) struct TextconvArgs {
    /// File, of any content
    file: PathBuf,
}

pub(crate) fn run(args: &ShowArgs, ui: &mut Ui) -> Result<ExitStatus> {
    let bytes = read(&args.file)?;
    let crumb = parse(&args.file, &bytes)?;
    if args.json {
        ui.json_line(&crumb::to_json(&crumb))?;
        return Ok(ExitStatus::Success);
    }
    let session = crumb.header().map_or(0, |header| header.session);
    for (index, line) in crumb.lines.iter().enumerate().filter(|(_, line)| line.kind != LineKind::Blank) {
        let entry = line.entry().filter(|entry| entry.kind.is_dated());
        let heat = entry.and_then(|entry| entry.latest()).map_or("", |latest| Tier::of(latest, session).as_str());
        ui.write_content(format!("{:>4} {heat:<4} {}\n", index + 1, Plain(&line.text)).as_bytes())?;
    }
    Ok(ExitStatus::Success)
}

pub(crate) fn run_fmt(args: &FmtArgs, ui: &mut Ui) -> Result<ExitStatus> {
    let is_stdin = args.file.as_os_str() == "-";
    if is_stdin || args.check {
        let bytes = read(&args.file)?;
        let crumb = CrumbFile::parse(&bytes).map_err(CrumbError::from);
        let formatted = crumb::format(&crumb.with_context(|| format!("cannot use `{}`", args.file.display()))?);
        if !args.check {
            ui.write_content(&formatted)?;
        } else if formatted != bytes {
            ui.write_content(format!("{} would change\n", args.file.display()).as_bytes())?;
            return Ok(ExitStatus::No);
        }
        return Ok(ExitStatus::Success);
    }
    let change = |crumb: &mut CrumbFile<'_>| {
        *crumb = CrumbFile::parse(&crumb::format(crumb))?.into_owned();
        Ok(())
    };
    crumb::edit(&args.file, change).with_context(|| format!("cannot change `{}`", args.file.display()))?;
    Ok(ExitStatus::Success)
}

pub(crate) fn run_textconv(args: &TextconvArgs, ui: &mut Ui) -> Result<ExitStatus> {
    ui.write_content(crumb::textconv(&read(&args.file)?).as_bytes())?;
    Ok(ExitStatus::Success)
}
