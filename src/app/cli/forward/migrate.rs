//! `git trace forward migrate`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::ForwardContext;
use crate::app::cli::{Context, Error, Result, bail, escaped, json};
use crate::memory::breadcrumb::{Query, StoreFile};
use crate::memory::forward::migrate::{Candidate, Outcome, migrate};
use crate::trace::store::tombstone::note_purges;
use crate::trace::{Time, TraceName};

/// Convert handwritten notes to forward crumbs
///
/// A text is a note if it contains `session` and one of `summary`, `breadcrumb`, `context` and `note to self`. The published
/// text of a forward crumb is imported unchanged. The notes are not deleted.
#[derive(clap::Args, Debug)]
pub(crate) struct MigrateArgs {
    /// Markdown or text files
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also convert breadcrumbs with this key prefix, except secrets [default without a value: all]
    #[arg(long, value_name = "PREFIX", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    breadcrumbs: Option<String>,
    /// Print what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl MigrateArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        let agent = context.agent()?;
        if self.files.is_empty() && self.breadcrumbs.is_none() {
            return Err(Error::with_hint("nothing to migrate", "give files, --breadcrumbs, or both"));
        }
        note_purges(context.repo()?)?;
        let now = context.now();
        let mut candidates = self.files.iter().map(|path| of_file(path, now)).collect::<Result<Vec<_>>>()?;
        if let Some(prefix) = &self.breadcrumbs {
            candidates.extend(of_breadcrumbs(context, prefix, now)?);
        }
        let warn = |warning: &str| context.ui.note(warning);
        let trace = context.open(&TraceName::of_agent(agent))?.with_warnings(&warn);
        let migrations = migrate(&trace, agent, candidates, self.dry_run)?;
        report(context, self, &migrations)
    }
}

fn of_file(path: &Path, now: Time) -> Result<Candidate> {
    let place = path.display().to_string();
    let bytes = crate::app::cli::flags::content::read(path)?;
    let Ok(text) = String::from_utf8(bytes) else { bail!("cannot read `{place}`: it is not UTF-8 text") };
    let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let seconds = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|since| since.as_secs());
    let at = seconds.and_then(|seconds| i64::try_from(seconds).ok()).map_or(now, Time::from_second);
    Ok(Candidate { place, text, at })
}

fn of_breadcrumbs(context: &Context, prefix: &str, now: Time) -> Result<Vec<Candidate>> {
    let Some(root) = context.repo()?.worktree() else { bail!("there are no breadcrumbs without a working tree") };
    let listing = context.breadcrumbs(&root)?.list(&Query { prefix: prefix.to_owned(), ..Query::default() }, now)?;
    let shared = listing.records.into_iter().filter(|record| StoreFile::of_key(&record.key) == StoreFile::Shared);
    let candidates = shared.map(|record| Candidate {
        place: record.key.to_string(),
        at: record.updated().or_else(|| record.created()).unwrap_or(now),
        text: record.value.into_owned(),
    });
    Ok(candidates.collect())
}

fn report(context: &Context, args: &MigrateArgs, migrations: &[(String, Outcome)]) -> Result<()> {
    let mut rows = Vec::new();
    for (place, outcome) in migrations {
        let (word, id, why) = match outcome {
            Outcome::Migrated(id) => (if args.dry_run { "would migrate" } else { "migrated" }, Some(id), String::new()),
            Outcome::Known(id) => ("known", Some(id), String::new()),
            Outcome::NotANote => ("passed over", None, "not a note for a next session".to_owned()),
            Outcome::OtherAgent(agent) => ("passed over", None, format!("it belongs to agent `{agent}`")),
        };
        if args.json {
            rows.push(match id {
                Some(id) => json!({ "place": place, "verdict": word, "id": id.to_string() }),
                None => json!({ "place": place, "verdict": word, "reason": why }),
            });
        } else {
            let rest = id.map_or(why, ToString::to_string);
            writeln!(context.ui, "{word} {}: {}", escaped(place), escaped(&rest))?;
        }
    }
    if args.json {
        context.ui.json(&rows)?;
    }
    Ok(())
}
