//! `git trace forward get`, `show` and `chain`.

use super::{ForwardContext, crumb_type, did_you_mean, note_damaged, print_crumbs, priority};
use crate::app::cli::flags::NulArgs;
use crate::app::cli::{Result, json};
use crate::base::error::Diagnostic as _;
use crate::memory::forward::json::{CrumbJson, CrumbList};
use crate::memory::forward::query::{Root, ancestry, similar_agent};
use crate::memory::forward::{
    CrumbStatus, CrumbType, ForwardError, Priority, Query, QueryResult, future_warnings, query_time, resolve, search,
};

/// Print the newest forward crumbs of the agent
///
/// `git trace brief` prints them together with the other memories, within a token budget.
#[derive(clap::Args, Debug)]
pub(crate) struct GetArgs {
    /// Hours to look back; 168 are a week
    #[arg(long, value_name = "H", default_value_t = 168)]
    lookback_hours: u64,
    /// Only this priority: HIGH, MEDIUM or LOW
    #[arg(long = "importance", aliases = ["priority", "priority-filter"], value_name = "PRIORITY", value_parser = priority)]
    priority: Option<Priority>,
    /// Only this type: orientation, technical, emotional or task
    #[arg(long = "type", alias = "crumb-type", value_name = "TYPE", value_parser = crumb_type)]
    crumb_type: Option<CrumbType>,
    /// Only this status: active, completed or superseded
    #[arg(long, value_name = "STATUS", default_value = "active", conflicts_with = "all")]
    status: CrumbStatus,
    /// Include every status and expired forward crumbs
    #[arg(long)]
    all: bool,
    /// Most forward crumbs to print
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Print one line per forward crumb
    #[arg(long, conflicts_with = "json")]
    oneline: bool,
    /// Print JSON with the parts of each text, open tasks, references and statistics
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl GetArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        self.nul.apply(context);
        let Some(agent) = &context.agent else {
            let hint = ForwardError::NoAgent.hint().unwrap_or_default();
            context.ui.note("no agent was named, so there are no forward crumbs");
            context.ui.note(format!("hint: {hint}"));
            if self.json {
                // An empty answer contains no name.
                context.ui.json_pretty(&CrumbList::new(&"nobody".parse()?, &[], &[]))?;
            }
            return Ok(());
        };
        let query = Query {
            lookback_hours: Some(self.lookback_hours),
            priority: self.priority,
            crumb_type: self.crumb_type,
            status: if self.all { None } else { Some(self.status) },
            expired: self.all,
            limit: self.limit,
        };
        let now = query_time(context.repo()?, context.now())?;
        let QueryResult { crumbs, damaged, .. } = search(context.repo()?, agent, &query, now)?;
        note_damaged(context, &damaged);
        context.mark_read(agent, &crumbs, now)?;
        for warning in future_warnings(&crumbs, now) {
            context.ui.note(warning);
        }
        if self.json {
            context.ui.json_pretty(&CrumbList::new(agent, &crumbs, &damaged).with_sections())?;
        } else if crumbs.is_empty() {
            let meant = did_you_mean(similar_agent(context.repo()?, agent)?);
            context.ui.note(format!("no forward crumbs of `{agent}` found{meant}"));
        } else {
            print_crumbs(context, &crumbs, self.oneline)?;
        }
        Ok(())
    }
}

/// Print the text of a forward crumb, regardless of its status and age
#[derive(clap::Args, Debug)]
pub(crate) struct ShowArgs {
    /// Forward crumb: its id or at least four digits of it
    id: String,
    /// Print JSON with its status and metadata
    #[arg(long)]
    json: bool,
}

impl ShowArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        let agent = context.agent()?;
        let crumb = resolve(context.repo()?, agent, &self.id)?;
        context.mark_read(agent, std::slice::from_ref(&crumb), query_time(context.repo()?, context.now())?)?;
        if self.json {
            context.ui.json_pretty(&CrumbJson::new(agent, &crumb).with_sections())?;
        } else {
            context.ui.page(true);
            context.ui.write_content(crumb.text.as_bytes())?;
            if context.ui.is_terminal() {
                writeln!(context.ui)?;
            }
        }
        Ok(())
    }
}

/// Print a forward crumb and its ancestors, oldest first
#[derive(clap::Args, Debug)]
pub(crate) struct ChainArgs {
    /// Forward crumb: its id or at least four digits of it
    id: String,
    /// Print one line per forward crumb
    #[arg(long, conflicts_with = "json")]
    oneline: bool,
    /// Print JSON: `crumbs`, and `missing_parent` or `cycle` if the chain is broken
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl ChainArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        self.nul.apply(context);
        let agent = context.agent()?;
        let last = resolve(context.repo()?, agent, &self.id)?;
        let ancestry = ancestry(context.repo()?, agent, last)?;
        let problem = match ancestry.root {
            Root::NoParent => None,
            Root::Missing(id) => {
                Some(("missing_parent", id, format!("the chain is incomplete: forward crumb {id} does not exist")))
            }
            Root::Cycle(id) => {
                Some(("cycle", id, format!("the chain is a cycle: it leads back to forward crumb {id}")))
            }
        };
        if let Some((_, _, warning)) = &problem {
            context.ui.note(format!("warning: {warning}"));
        }
        if !self.json {
            return print_crumbs(context, &ancestry.crumbs, self.oneline);
        }
        let crumbs: Vec<_> = ancestry.crumbs.iter().map(|crumb| CrumbJson::new(agent, crumb)).collect();
        let mut answer = json!({ "crumbs": crumbs });
        if let Some((key, id, _)) = problem {
            answer[key] = id.to_string().into();
        }
        context.ui.json_pretty(&answer)
    }
}
