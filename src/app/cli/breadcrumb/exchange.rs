//! `git trace breadcrumb import` and `export`.

use std::path::PathBuf;

use super::BreadcrumbContext;
use crate::app::cli::flags::content::read;
use crate::app::cli::flags::one_of;
use crate::app::cli::{ErrorContext as _, ExitStatus, Result, Values, json};
use crate::app::secrets::{Caller, refuse_secret_breadcrumb};
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
    #[arg(long, value_name = "WHICH", default_value = "later", value_parser = one_of(EXISTING))]
    existing: OnConflict,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const EXISTING: &[(&str, OnConflict)] =
    &[("later", OnConflict::Newest), ("keep", OnConflict::Keep), ("replace", OnConflict::Replace)];

/// Print breadcrumbs with all members as JSON, including expired ones, without secrets
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// Prefix of the keys to export [default: all keys]
    #[arg(default_value = "", hide_default_value = true, add = Values::Keys)]
    prefix: String,
    /// One array, or one object per line
    #[arg(long, value_name = "FORMAT", default_value = "json", value_parser = one_of(FORMATS))]
    format: Format,
    /// Include secrets
    #[arg(long)]
    secrets: bool,
}

const FORMATS: &[(&str, Format)] = &[("json", Format::Json), ("jsonl", Format::Jsonl)];

impl ImportArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<()> {
        let text = read(&self.file)?;
        let records = exchange::parse(&text).with_context(|| format!("cannot import `{}`", self.file.display()))?;
        records.iter().try_for_each(|record| refuse_secret_breadcrumb(Caller::Person, &record.key, &record.value))?;
        let imported = context.write(|writer| Ok(writer.import(records, self.existing, context.now())?))?;
        let (added, replaced, kept) = (imported.added, imported.replaced, imported.kept);
        if self.json {
            return context.ui.json(&json!({ "added": added, "replaced": replaced, "kept": kept }));
        }
        writeln!(context.ui, "{added} added, {replaced} replaced, {kept} kept")
    }
}

impl ExportArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<ExitStatus> {
        let query = Query { prefix: self.prefix.clone(), expired: Expired::Shown, ..Query::default() };
        let texts = context.store.texts(context.now())?;
        let mut listing = texts.list(&query, context.now());
        context.warn_skipped_lines(&listing.skipped_lines);
        if !self.secrets {
            listing.records.retain(|record| StoreFile::of_key(&record.key) == StoreFile::Shared);
        }
        context.warn_bad_times(&listing.records);
        exchange::export(&listing.records, self.format, &mut context.ui.content())?;
        Ok(ExitStatus::unless_incomplete(!listing.skipped_lines.is_empty()))
    }
}
