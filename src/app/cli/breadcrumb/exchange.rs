//! `git trace breadcrumb import` and `export`.

use crate::base::error::{Context as _, Result};
use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;

use super::Place;
use crate::app::cli::flags::content::read;
use crate::app::secrets::refuse_secret_breadcrumb;
use crate::memory::breadcrumb::exchange::{self, Format, OnConflict};
use crate::memory::breadcrumb::query::Expired;
use crate::memory::breadcrumb::{Query, StoreFile};

/// Import breadcrumbs from JSON: an array, or one object per line
///
/// If any record is unreadable or has an invalid key, the error names it and nothing is imported.
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// File [default: stdin]
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// Which breadcrumb wins if a key exists: the one updated later, the existing one, or the imported one
    #[arg(long, value_name = "WHICH", default_value = "later")]
    existing: ExistingArg,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExistingArg {
    Later,
    Keep,
    Replace,
}

/// Print breadcrumbs with all members as JSON, including expired ones, without secrets
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// Prefix of the keys to export [default: all keys]
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,

    /// One array, or one object per line
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: ExportFormat,

    /// Include secrets
    #[arg(long)]
    secrets: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExportFormat {
    Json,
    Jsonl,
}

impl ImportArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<()> {
        let text = read(&self.file)?;
        let records = exchange::parse(&text).with_context(|| format!("cannot import `{}`", self.file.display()))?;
        records.iter().try_for_each(|record| refuse_secret_breadcrumb(&record.key, &record.value))?;
        let existing = match self.existing {
            ExistingArg::Later => OnConflict::Newest,
            ExistingArg::Keep => OnConflict::Keep,
            ExistingArg::Replace => OnConflict::Replace,
        };
        let imported = place.write(|writer| Ok(writer.import(records, existing, place.now())?))?;
        let (added, replaced, kept) = (imported.added, imported.replaced, imported.kept);
        if self.json {
            return place.ui.json(&json!({ "added": added, "replaced": replaced, "kept": kept }));
        }
        writeln!(place.ui, "{added} added, {replaced} replaced, {kept} kept")
    }
}

impl ExportArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<()> {
        let query = Query { prefix: self.prefix.clone(), expired: Expired::Shown, ..Query::default() };
        let mut listing = place.store.list(&query, place.now())?;
        place.warn_skipped_lines(&listing.skipped_lines);
        if !self.secrets {
            listing.records.retain(|record| StoreFile::of_key(&record.key) == StoreFile::Shared);
        }
        let format = match self.format {
            ExportFormat::Json => Format::Json,
            ExportFormat::Jsonl => Format::Jsonl,
        };
        Ok(exchange::export(&listing.records, format, &mut place.ui.content())?)
    }
}
