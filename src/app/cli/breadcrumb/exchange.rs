//! `git trace breadcrumb import` and `export`.

use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use super::{ExitStatus, Place};
use crate::app::cli::input;
use crate::app::secrets::refuse_secret_breadcrumb;
use crate::base::error::{Context as _, Result};
use crate::memory::breadcrumb::exchange::{self, Format, OnExisting};
use crate::memory::breadcrumb::query::Expired;
use crate::memory::breadcrumb::{Query, StoreFile, Writer};

/// Take in breadcrumbs from JSON: an array, or one object a line
///
/// All or nothing: what cannot be read, or has no proper key, is named and nothing is taken in.
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// File [default: stdin]
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// What becomes of keys that are there already: the later one stays, theirs is kept, or the new one replaces it
    #[arg(long, value_name = "WHICH", default_value = "later")]
    existing: ExistingArg,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExistingArg {
    Later,
    Keep,
    Replace,
}

/// Print breadcrumbs as JSON with all their members, those that expired too, secrets left out
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// What keys start with [default: all]
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,

    /// One array, or one object a line
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: ExportFormat,

    /// Secrets too
    #[arg(long)]
    secrets: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExportFormat {
    Json,
    Jsonl,
}

pub(crate) fn run_import(place: &mut Place<'_>, args: &ImportArgs) -> Result<ExitStatus> {
    let text = input::read(&args.file)?;
    let records = exchange::parse(&text).with_context(|| format!("cannot take in `{}`", args.file.display()))?;
    records.iter().try_for_each(|record| refuse_secret_breadcrumb(&record.key, &record.value))?;
    let existing = match args.existing {
        ExistingArg::Later => OnExisting::Later,
        ExistingArg::Keep => OnExisting::Keep,
        ExistingArg::Replace => OnExisting::Replace,
    };
    let is_ignored = place.is_ignored();
    let writer = Writer::new(&place.store, &is_ignored, Writer::PATIENCE);
    let imported = writer.import(records, existing, place.now())?;
    if args.json {
        let (added, replaced, kept) = (imported.added, imported.replaced, imported.kept);
        place.ui.json_line(&json!({ "added": added, "replaced": replaced, "kept": kept }))?;
    } else {
        let line = format!("{} added, {} replaced, {} kept\n", imported.added, imported.replaced, imported.kept);
        place.ui.write_content(line.as_bytes())?;
    }
    Ok(ExitStatus::Success)
}

pub(crate) fn run_export(place: &mut Place<'_>, args: &ExportArgs) -> Result<ExitStatus> {
    let query = Query { prefix: args.prefix.clone(), expired: Expired::Shown, ..Query::default() };
    let mut listing = place.store.list(&query, place.now())?;
    place.warn_skipped_lines(&listing.skipped_lines);
    if !args.secrets {
        listing.records.retain(|record| record.lives_in(StoreFile::Shared));
    }
    let format = match args.format {
        ExportFormat::Json => Format::Json,
        ExportFormat::Jsonl => Format::Jsonl,
    };
    exchange::export(&listing.records, format, &mut place.ui.content())?;
    Ok(ExitStatus::Success)
}
