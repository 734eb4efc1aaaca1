//! `git trace breadcrumb namespaces`.

use std::collections::BTreeMap;

use super::{BreadcrumbContext, shown_text};
use crate::app::cli::{Result, json};
use crate::memory::breadcrumb::Query;
use crate::memory::breadcrumb::namespace::STANDARD;
use crate::memory::breadcrumb::namespace_of;

/// List namespaces: standard ones, those declared in `.synapse/config.json`, and undeclared ones in use
#[derive(clap::Args, Debug)]
pub(crate) struct NamespacesArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl NamespacesArgs {
    pub(crate) fn run(&self, context: &BreadcrumbContext<'_>) -> Result<()> {
        let declared = context.store.namespaces()?;
        let listing = context.store.list(&Query::default(), context.now())?;
        context.warn_skipped_lines(&listing.skipped_lines);
        let mut known: BTreeMap<&str, (&str, &str, usize)> = BTreeMap::new();
        known.extend(STANDARD.iter().map(|(name, what)| (*name, ("standard", *what, 0))));
        known.extend(declared.declared.iter().map(|(name, what)| (name.as_str(), ("declared", what.as_str(), 0))));
        for record in &listing.records {
            // Names may contain dots, so the longest one that fits is meant.
            let fits =
                |name: &&&str| record.key.strip_prefix(**name).is_some_and(|r| r.is_empty() || r.starts_with('.'));
            let name = known.keys().filter(fits).max_by_key(|name| name.len()).copied();
            let name = name.unwrap_or_else(|| namespace_of(&record.key));
            known.entry(name).or_insert(("unknown", "", 0)).2 += 1;
        }
        if self.json {
            let rows = known.iter().map(|(name, (kind, what, count))| {
                json!({ "name": name, "kind": kind, "description": what, "breadcrumbs": count })
            });
            return context.ui.json(&rows.collect::<Vec<_>>());
        }
        let mut rows = vec![["NAME", "BREADCRUMBS", "KIND", "DESCRIPTION"].map(str::to_owned)];
        rows.extend(known.iter().map(|(name, (kind, what, count))| {
            [shown_text(name, 256), count.to_string(), (*kind).to_owned(), shown_text(what, 256)]
        }));
        context.ui.table(&rows)
    }
}
