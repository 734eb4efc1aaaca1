//! `git trace breadcrumb migrate`.

use super::BreadcrumbContext;
use crate::app::cli::{Result, json};

/// Move the store from one version of the format to another
///
/// Version 2.0 adds the member `metadata`. Lines without it are valid in both versions, so only times that are missing or cannot be
/// read are set.
#[derive(clap::Args, Debug)]
pub(crate) struct MigrateArgs {
    /// Version to move from
    #[arg(long, value_name = "VERSION", value_parser = ["1.0"])]
    from: String,
    /// Version to move to
    #[arg(long, value_name = "VERSION", value_parser = ["2.0"])]
    to: String,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl MigrateArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<()> {
        let (all, repaired) = context.write(|writer| Ok(writer.repair_times(context.now())?))?;
        if self.json {
            return context
                .ui
                .json(&json!({ "from": self.from, "to": self.to, "breadcrumbs": all, "repaired": repaired }));
        }
        context.ui.write_content(format!("breadcrumbs in version {}: {all}, repaired: {repaired}\n", self.to))
    }
}
