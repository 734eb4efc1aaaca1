//! `git trace forward export`, `import` and `stats`.

use std::path::PathBuf;

use super::ForwardContext;
use crate::app::cli::{ExitStatus, Result, escaped};
use crate::memory::forward::import::{ImportCounts, import};
use crate::memory::forward::json::CrumbList;
use crate::memory::forward::stats::stats;
use crate::memory::forward::{Query, query_time, search};
use crate::trace::TraceName;
use crate::trace::store::tombstone::note_purges;

/// Export all forward crumbs of the agent as JSON, oldest first
///
/// `import` reads ids, texts, times and statuses back.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// File to write [default: stdout]
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ExportArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        let agent = context.agent()?;
        let now = query_time(context.repo()?, context.now())?;
        let mut all = search(context.repo()?, agent, &Query::all(), now)?;
        for damaged in &all.damaged {
            context.ui.note(format!("warning: forward crumb {}: left out: {}", damaged.path, damaged.cause));
        }
        let export = CrumbList::export(agent, &mut all);
        let Some(path) = &self.output else { return context.ui.json_pretty(&export) };
        let text = serde_json::to_string_pretty(&export)? + "\n";
        context.ui.write_file(Some(path), text.as_bytes())?;
        context.ui.note(format!("{} forward crumbs exported", export.crumbs.len()));
        Ok(())
    }
}

/// Import forward crumbs from `export` or `get --json`; for existing ones, only a final status is imported
///
/// A dump of a vector database (`ids`, `documents`, `metadatas`) is read too; what is not a forward crumb of the agent is skipped.
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// File to read; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ImportArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<ExitStatus> {
        let agent = context.agent()?;
        note_purges(context.repo()?)?;
        let bytes = crate::app::cli::flags::content::read(&self.file)?;
        let warn = |warning: &str| context.ui.note(warning);
        let trace = context.open(&TraceName::of_agent(agent))?.with_warnings(&warn);
        let imported = import(&trace, agent, &bytes)?;
        for (number, cause) in &imported.skipped {
            context.ui.note(format!("warning: entry {number} of the input is skipped: {cause}"));
        }
        for (what, count) in &imported.others {
            context.ui.note(format!("skipped entries of {}: {count}", escaped(what)));
        }
        let status = ExitStatus::of(imported.skipped.is_empty());
        if self.json {
            context.ui.json(&serde_json::to_value(imported)?)?;
            return Ok(status);
        }
        let ImportCounts { recorded, known, closed, .. } = imported;
        let known = if known == 0 { String::new() } else { format!(", {known} already existed") };
        let closed = if closed == 0 { String::new() } else { format!(", {closed} of them are now closed") };
        writeln!(context.ui, "{recorded} forward crumbs imported{known}{closed}")?;
        Ok(status)
    }
}

/// Print statistics of the agent's forward crumbs: number per week, priorities, types, statuses, tasks
///
/// If git config `trace.forwardStats` is true, `get` and `show` note when a forward crumb is first read, and its mean age then
/// is included.
#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {
    /// Days to look back
    #[arg(long, value_name = "N", default_value_t = 90)]
    lookback_days: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl StatsArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        let agent = context.agent()?;
        let now = query_time(context.repo()?, context.now())?;
        let stats = stats(context.repo()?, agent, self.lookback_days, now)?;
        if self.json {
            return context.ui.json(&serde_json::to_value(&stats)?);
        }
        let mut rows = vec![
            (format!("forward crumbs in {} days", stats.lookback_days), stats.total_crumbs.to_string()),
            ("per week".to_owned(), stats.crumbs_per_week.to_string()),
        ];
        for dist in [&stats.priority_dist, &stats.type_dist, &stats.status_dist] {
            rows.extend(dist.0.iter().map(|(word, count)| (format!("  {word}"), count.to_string())));
        }
        rows.push(("tasks".to_owned(), stats.total_tasks.to_string()));
        rows.push(("tasks per forward crumb".to_owned(), stats.avg_tasks_per_crumb.to_string()));
        let rate = stats.completion_rate.map_or("-".to_owned(), |rate| rate.to_string());
        rows.push(("tasks completed".to_owned(), rate));
        let hours = stats.avg_hours_until_read.map_or("-".to_owned(), |hours| hours.to_string());
        rows.push(("hours until first read".to_owned(), hours));
        rows.into_iter().try_for_each(|(name, value)| writeln!(context.ui, "{name:<25} {value}"))
    }
}
