//! `git trace breadcrumb namespaces`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ExitStatus, Place, one_line, write_table};
use crate::base::error::Result;
use crate::memory::breadcrumb::Query;
use crate::memory::breadcrumb::key::namespace;
use crate::memory::breadcrumb::namespace::STANDARD;

/// List namespaces: standard ones, those declared in `.synapse/config.json`, and those in use without either
#[derive(clap::Args, Debug)]
pub(crate) struct NamespacesArgs {
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(place: &mut Place<'_>, args: &NamespacesArgs) -> Result<ExitStatus> {
    let declared = place.store.namespaces()?;
    let listing = place.store.list(&Query::default(), place.now())?;
    place.warn_skipped_lines(&listing.skipped_lines);
    let mut known: BTreeMap<&str, (&str, &str, usize)> = BTreeMap::new();
    known.extend(STANDARD.iter().map(|(name, what)| (*name, ("standard", *what, 0))));
    known.extend(declared.declared.iter().map(|(name, what)| (name.as_str(), ("declared", what.as_str(), 0))));
    for record in &listing.records {
        // The longest declared name that fits, for those with dots.
        let fits = |name: &&&str| record.key.strip_prefix(**name).is_some_and(|r| r.is_empty() || r.starts_with('.'));
        let name = known.keys().filter(fits).max_by_key(|name| name.len()).copied();
        let name = name.unwrap_or_else(|| namespace(&record.key));
        known.entry(name).or_insert(("unknown", "", 0)).2 += 1;
    }
    if args.json {
        let rows: Vec<Value> = known
            .iter()
            .map(|(name, (kind, what, count))| {
                json!({ "name": name, "kind": kind, "description": what, "breadcrumbs": count })
            })
            .collect();
        place.ui.json_line(&Value::Array(rows))?;
        return Ok(ExitStatus::Success);
    }
    let mut rows = vec![["NAME", "BREADCRUMBS", "KIND", "DESCRIPTION"].map(str::to_owned).to_vec()];
    rows.extend(known.iter().map(|(name, (kind, what, count))| {
        vec![one_line(name, 256), count.to_string(), (*kind).to_owned(), one_line(what, 256)]
    }));
    write_table(place.ui, &rows)?;
    Ok(ExitStatus::Success)
}
