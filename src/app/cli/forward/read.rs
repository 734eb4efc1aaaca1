//! `git trace forward get`, `show` and `chain`.

use crate::base::error::Result;
use serde_json::json;

use super::{Place, crumb_type, note_damaged, note_no_agent, priority, write_crumbs, write_pretty};
use crate::app::cli::ExitStatus;
use crate::memory::forward::chain::{Start, chain};
use crate::memory::forward::read::moment;
use crate::memory::forward::{CrumbStatus, CrumbType, Found, Priority, Query, find, get, json as shape};

/// Print the newest crumbs of the agent; none is an empty answer
#[derive(clap::Args, Debug)]
pub(crate) struct GetArgs {
    /// How many hours to look back; 168 are a week
    #[arg(long, value_name = "H", default_value_t = 168)]
    lookback_hours: u64,

    /// Only those that matter so much: HIGH, MEDIUM or LOW
    #[arg(long, alias = "priority-filter", value_name = "PRIORITY", value_parser = priority)]
    priority: Option<Priority>,

    /// Only those about this: orientation, technical, emotional or task
    #[arg(long = "type", alias = "crumb-type", value_name = "TYPE", value_parser = crumb_type)]
    crumb_type: Option<CrumbType>,

    /// Only those of this status: active, completed or superseded
    #[arg(long, value_name = "STATUS", default_value = "active", conflicts_with = "all")]
    status: CrumbStatus,

    /// Those of every status, and those whose time is over
    #[arg(long)]
    all: bool,

    /// How many at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,

    /// A line each
    #[arg(long, conflicts_with = "json")]
    oneline: bool,

    /// As JSON, with their open tasks, what they point at, and figures
    #[arg(long)]
    json: bool,
}

impl GetArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let Some(agent) = &place.agent else {
            note_no_agent(context);
            if self.json {
                // The shape is the same whoever asks; no name stands in an empty answer.
                write_pretty(context, &shape::answer(&"nobody".parse()?, &[], &[]))?;
            }
            return Ok(ExitStatus::Success);
        };
        let query = Query {
            lookback_hours: Some(self.lookback_hours),
            priority: self.priority,
            crumb_type: self.crumb_type,
            status: if self.all { None } else { Some(self.status) },
            expired: self.all,
            limit: self.limit,
        };
        let now = moment(context.repo()?, context.now())?;
        let Found { crumbs, damaged } = get(context.repo()?, agent, &query, now)?;
        note_damaged(context, &damaged);
        if self.json {
            write_pretty(context, &shape::answer(agent, &crumbs, &damaged))?;
        } else if crumbs.is_empty() {
            context.ui.note(format!("no crumbs of `{agent}` are found"));
        } else {
            write_crumbs(context, &crumbs, self.oneline)?;
        }
        Ok(ExitStatus::Success)
    }
}

/// Print a crumb's text as it was left, whatever its status and age
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Crumb: its id or four digits of it
    id: String,

    /// As JSON, with what is said of it
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let agent = place.agent()?;
        let crumb = find(context.repo()?, agent, &self.id)?;
        if self.json {
            write_pretty(context, &shape::crumb(agent, &crumb))?;
        } else {
            context.ui.page()?;
            context.ui.write_content(crumb.text.as_bytes())?;
            if context.ui.is_terminal() {
                writeln!(context.ui)?;
            }
        }
        Ok(ExitStatus::Success)
    }
}

/// Print a crumb and those it goes on from, the first one first
#[derive(clap::Args, Debug)]
pub(crate) struct ChainArgs {
    /// Crumb: its id or four digits of it
    id: String,

    /// A line each
    #[arg(long, conflicts_with = "json")]
    oneline: bool,

    /// As JSON: `crumbs`, and `missing_parent` or `cycle` where the chain breaks off
    #[arg(long)]
    json: bool,
}

impl ChainArgs {
    pub(crate) fn run(&self, place: &Place<'_>) -> Result<ExitStatus> {
        let context = place.context;
        let agent = place.agent()?;
        let last = find(context.repo()?, agent, &self.id)?;
        let chain = chain(context.repo()?, agent, last)?;
        match chain.start {
            Start::First => {}
            Start::Missing(parent) => {
                context.ui.note(format!("warning: the chain begins late: crumb {parent} is not there"));
            }
            Start::Cycle(parent) => {
                context.ui.note(format!("warning: the chain is a circle: it leads back to {parent}"));
            }
        }
        if self.json {
            let crumbs: Vec<_> = chain.crumbs.iter().map(|crumb| shape::crumb(agent, crumb)).collect();
            let mut answer = json!({ "crumbs": crumbs });
            match chain.start {
                Start::First => {}
                Start::Missing(parent) => answer["missing_parent"] = parent.to_string().into(),
                Start::Cycle(parent) => answer["cycle"] = parent.to_string().into(),
            }
            write_pretty(context, &answer)?;
        } else {
            write_crumbs(context, &chain.crumbs, self.oneline)?;
        }
        Ok(ExitStatus::Success)
    }
}
