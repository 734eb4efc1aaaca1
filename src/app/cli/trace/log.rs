//! `git trace log`: the history of a trace, newest first.

use std::collections::HashSet;

use regex::Regex;

use crate::app::cli::{BOLD, Context, DIM, ID, Result, Ui, Values, bail, escaped};
use crate::base::when::When;
use crate::trace::model::level::Level;
use crate::trace::model::tree::ItemEntry;
use crate::trace::query::code::CodeRange;
use crate::trace::query::log::{Entry, Query, entries, to_json, tokens};
use crate::trace::query::select::{Among, ItemFilter, select};
use crate::trace::{ItemType, TraceName};

/// List the commits of a trace, newest first
#[derive(clap::Args, Debug)]
pub(crate) struct LogArgs {
    /// Trace to show [default: the current trace]
    name: Option<TraceName>,
    /// Most entries to list
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<usize>,
    /// Print one line per commit, with the tokens of its items
    #[arg(long)]
    oneline: bool,
    /// Only commits that changed items of this type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,
    /// Only commits that changed items that have this priority now
    #[arg(short = 'p', long, value_name = "LEVEL")]
    priority: Option<Level>,
    /// Only commits that changed these items: an item, a range such as #7..#9, or a turn such as @3
    #[arg(long, value_name = "ITEM", add = Values::Items)]
    item: Option<String>,
    /// Only commits whose subject or item text matches this regular expression
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    grep: Option<Regex>,
    /// Only commits whose reason (for a deletion, a restoration or a priority) matches
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    reason: Option<Regex>,
    /// Only what was recorded while the code changed from A to B; B alone means from its parent to B
    #[arg(long, value_name = "A..B")]
    code: Option<String>,
    /// Only commits since this time, such as `yesterday` or `2 days ago`
    #[arg(long, value_name = "TIME", alias = "after")]
    since: Option<When>,
    /// Only commits up to this time
    #[arg(long, value_name = "TIME", alias = "before")]
    until: Option<When>,
    /// Print one JSON object per line
    #[arg(long, conflicts_with = "oneline")]
    json: bool,
}

impl LogArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, tip) = context.current(self.name.as_ref())?;
        context.warn_of_replacements()?;
        let names = self.item.as_slice();
        let selected = || select(repo, &name, &tip, names, &ItemFilter::default(), Among::LiveOrNamed);
        let clock = context.clock();
        let time = |when: &Option<When>| when.as_ref().map(|when| when.before(&clock)).transpose();
        let (since, until) = (time(&self.since)?, time(&self.until)?);
        if matches!((since, until), (Some(since), Some(until)) if since > until) {
            bail!("--since is later than --until");
        }
        let query = Query {
            items: self.item.is_some().then(selected).transpose()?.map(HashSet::from_iter),
            item_type: self.item_type.clone(),
            priority: self.priority,
            grep: self.grep.clone(),
            reason: self.reason.clone(),
            code: self.code.as_deref().map(|spec| CodeRange::resolve(repo, spec)).transpose()?,
            since,
            until,
        };
        let counter = context.counter()?;
        if !self.json {
            context.ui.page()?;
        }
        let entries = entries(repo, &query, tip)?;
        for (number, entry) in entries.take(self.max_count.unwrap_or(usize::MAX)).enumerate() {
            let entry = entry?;
            if self.json {
                context.ui.json(&to_json(repo, &entry, counter)?)?;
            } else {
                let tokens = self.oneline.then(|| tokens(repo, &entry, counter)).transpose()?;
                print(&context.ui, tokens, &entry, number == 0)?;
            }
        }
        Ok(())
    }
}

/// Prints a commit, on one line if the tokens of its items are given.
fn print(ui: &Ui, tokens: Option<u64>, entry: &Entry, first: bool) -> Result<()> {
    let Entry { tip, touched, settings } = entry;
    let subject = escaped(tip.commit.subject());
    let names = |name: fn(&ItemEntry) -> String| -> String {
        let listed: Vec<String> = touched.iter().take(3).map(|change| name(change.entry())).collect();
        let more = if touched.len() > 3 { format!(" and {} more", touched.len() - 3) } else { String::new() };
        listed.join(", ") + &more
    };
    if let Some(tokens) = tokens {
        let names = names(|slot| format!("#{} {}", slot.seq, slot.id.short()));
        let names = if names.is_empty() { names } else { format!("{names} ({tokens} tokens)") };
        return writeln!(ui, "{} {} {subject}", ui.oid(tip.commit.oid), ui.styled(DIM, &names));
    }
    let names = names(|slot| format!("#{} {} {}", slot.seq, slot.item_type, slot.id));
    let op = tip.trailers.op.filter(|_| tip.is_ours()).map_or("commit", |op| op.as_str());
    let heading = format!("{} {}", ui.styled(BOLD, op), ui.styled(ID, &names));
    let author = escaped(&tip.commit.author);
    let gap = if first { "" } else { "\n" };
    let oid = ui.styled(DIM, &tip.commit.oid.to_string());
    writeln!(ui, "{gap}{heading}\nCommit: {oid}\nAuthor: {author}\nDate:   {}", tip.time())?;
    if let Some(reason) = &tip.trailers.reason {
        writeln!(ui, "Reason: {}", escaped(reason))?;
    }
    for setting in settings {
        let reason = setting.reason.as_deref().unwrap_or_default();
        writeln!(ui, "Priority: {} since {}: {}", setting.level, setting.at, escaped(reason))?;
    }
    writeln!(ui, "\n    {subject}")
}
