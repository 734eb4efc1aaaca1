//! `git trace forward export`, `import` and `stats`.

use crate::base::error::Result;
use std::path::PathBuf;

use serde_json::json;

use super::{Place, write_pretty};
use crate::app::cli::ExitStatus;
use crate::memory::forward::read::moment;
use crate::memory::forward::{exchange, stats};

/// Write all crumbs of the agent as JSON, the oldest first
///
/// `import` reads it back: ids, texts, times and statuses.
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// File to write [default: stdout]
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ExportArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let agent = place.agent()?;
        let now = moment(context.repo()?, context.now())?;
        let export = exchange::export(context.repo()?, agent, now)?;
        for damaged in &export.damaged {
            context.ui.note(format!("warning: {}: left out: {}", damaged.path, damaged.cause));
        }
        let Some(path) = &self.output else {
            write_pretty(context, &export)?;
            return Ok(ExitStatus::Success);
        };
        let text = serde_json::to_string_pretty(&export)? + "\n";
        context.ui.write_file(Some(path), text.as_bytes())?;
        context.ui.note(format!("{} exported", export.crumbs.len()));
        Ok(ExitStatus::Success)
    }
}

/// Read crumbs that `export` or `get --json` wrote; of what is there already only that it is over is taken
#[derive(clap::Args, Debug)]
pub(crate) struct ImportArgs {
    /// File to read; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ImportArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let agent = place.agent()?;
        let bytes = crate::app::cli::flags::content::read(&self.file)?;
        let repo = context.repo()?;
        let signature = context.signature()?;
        let imported = exchange::import(repo, agent, &signature, context.encoding()?, &bytes)?;
        let exchange::Imported { recorded, known, closed } = imported;
        if self.json {
            context.ui.json(&json!({ "recorded": recorded, "known": known, "closed": closed }))?;
        } else {
            let skipped_lines = if known == 0 { String::new() } else { format!(", {known} were there already") };
            let closed = if closed == 0 { String::new() } else { format!(", {closed} of them are over now") };
            writeln!(context.ui, "{recorded} imported{skipped_lines}{closed}")?;
        }
        Ok(ExitStatus::Success)
    }
}

/// Print figures of the agent's crumbs: how many a week, of which priority, type and status, how many tasks
#[derive(clap::Args, Debug)]
pub(crate) struct StatsArgs {
    /// How many days to look back
    #[arg(long, value_name = "N", default_value_t = 90)]
    lookback_days: u32,

    /// As JSON
    #[arg(long)]
    json: bool,
}

impl StatsArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let agent = place.agent()?;
        let now = moment(context.repo()?, context.now())?;
        let stats = stats::stats(context.repo()?, agent, self.lookback_days, now)?;
        if self.json {
            context.ui.json(&serde_json::to_value(&stats)?)?;
            return Ok(ExitStatus::Success);
        }
        let mut rows = vec![
            (format!("crumbs in {} days", stats.lookback_days), stats.total_crumbs.to_string()),
            ("a week".to_owned(), stats.crumbs_per_week.to_string()),
        ];
        for dist in [&stats.priority_dist, &stats.type_dist, &stats.status_dist] {
            rows.extend(dist.0.iter().map(|(word, count)| (format!("  {word}"), count.to_string())));
        }
        rows.push(("tasks".to_owned(), stats.total_tasks.to_string()));
        rows.push(("a crumb".to_owned(), stats.avg_tasks_per_crumb.to_string()));
        let rate = stats.completion_rate.map_or("-".to_owned(), |rate| rate.to_string());
        rows.push(("completed of them".to_owned(), rate));
        for (name, value) in rows {
            writeln!(context.ui, "{name:<20} {value}")?;
        }
        Ok(ExitStatus::Success)
    }
}
