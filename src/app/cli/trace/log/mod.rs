//! `git trace log`: the history of a trace, newest first.

mod graph;
mod print;

use std::collections::{HashMap, HashSet};

use regex::Regex;

use self::graph::Graph;
use self::print::{Positions, Style, print};
use crate::app::cli::flags::NulArgs;
use crate::app::cli::flags::items::FieldArgs;
use crate::app::cli::{Context, Error, Result, Values, bail};
use crate::base::when::When;
use crate::git::Oid;
use crate::trace::model::level::Level;
use crate::trace::model::name::TRACES;
use crate::trace::query::code::CodeRange;
use crate::trace::query::log::{self, Entry, Query, Range};
use crate::trace::query::select::{Among, ItemFilter, in_history, select};
use crate::trace::store::priority::Record;
use crate::trace::store::resolve::state;
use crate::trace::{ItemId, ItemType, Tip, TraceName};

/// List the commits of a trace, newest first
///
/// A..B lists the commits of B that A does not have. On each side, a trace, a commit, an item, a turn, or a time is accepted; a missing
/// side is the current trace.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct LogArgs {
    /// Trace, state, or A..B to show [default: the current trace]
    #[arg(add = Values::States)]
    name: Option<String>,
    /// All traces, with their names
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Most entries to list
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<usize>,
    /// Print one line per commit, with the tokens of its items
    #[arg(long)]
    oneline: bool,
    /// Show the changes of each commit
    #[arg(short, long, visible_short_alias = 'u', conflicts_with = "json")]
    patch: bool,
    /// Draw the lines of development to the left of the commits
    #[arg(long, conflicts_with_all = ["json", "reverse"])]
    graph: bool,
    /// List the chosen commits in reverse, oldest first
    #[arg(long)]
    reverse: bool,
    /// Only commits that changed items of this type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,
    /// Only commits that changed items that have this priority now
    #[arg(long, value_name = "LEVEL")]
    priority: Option<Level>,
    /// Only commits that changed these items, with the numbers of their revisions: an item, a range such as #7..#9, or a turn such as @3
    #[arg(long, value_name = "ITEM", add = Values::Items)]
    item: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
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
    #[command(flatten)]
    nul: NulArgs,
}

impl LogArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        let (name, range) = self.range(context)?;
        let repo = context.repo()?;
        context.warn_of_replacements()?;
        let clock = context.clock();
        let time = |when: &Option<When>| when.as_ref().map(|when| when.before(&clock)).transpose();
        let (since, until) = (time(&self.since)?, time(&self.until)?);
        if matches!((since, until), (Some(since), Some(until)) if since > until) {
            bail!("--since is later than --until");
        }
        let query = Query {
            items: self.items(context, &name, &range)?,
            item_type: self.item_type.clone(),
            priority: self.priority,
            grep: self.grep.clone(),
            reason: self.reason.clone(),
            code: self.code.as_deref().map(|spec| CodeRange::resolve(repo, spec)).transpose()?,
            since,
            until,
        };
        let style = Style {
            counter: context.counter()?,
            is_short: self.oneline,
            has_patch: self.patch,
            has_revisions: self.item.is_some(),
            positions: Positions::of(Some(&range.tips).filter(|tips| tips.len() == 1).map(|tips| tips[0].clone())),
            names: if self.all || self.graph { names(context)? } else { HashMap::new() },
        };
        let count = self.max_count.unwrap_or(usize::MAX);
        if self.graph && context.ui.ends_with_nul() {
            bail!("--graph draws lines, which -z does not print");
        }
        if self.graph {
            return draw(context, &style, log::graph(repo, &query, &range, count)?);
        }
        let record = Record::open(repo)?;
        let write = |(number, entry): (usize, Entry)| {
            if self.json {
                return context.ui.json(&log::to_json(repo, &record, &entry, style.counter)?);
            }
            if number > 0 && !self.oneline && !context.ui.ends_with_nul() {
                writeln!(context.ui)?;
            }
            context.ui.entry(|| print(context, &style, &entry, 0))
        };
        let mut entries = log::entries(repo, &query, &range)?.take(count).peekable();
        if self.code.is_some() && entries.peek().is_none() {
            context.ui.note(
                "hint: `git trace log --all --code A..B` searches all traces, and `git trace sessions` lists sessions with the commits \
                 made during them",
            );
        }
        if self.reverse {
            let entries = entries.collect::<Result<Vec<_>, _>>()?;
            for entry in &entries {
                style.positions.see(entry);
            }
            return entries.into_iter().rev().enumerate().try_for_each(write);
        }
        entries.enumerate().try_for_each(|(number, entry)| write((number, entry?)))
    }

    /// The trace in which items are named, and the commits to list.
    fn range(&self, context: &Context) -> Result<(TraceName, Range)> {
        let of = |name, tip| (name, Range { tips: vec![tip], without: None });
        let Some(spec) = &self.name else {
            let (repo, name, tip) = context.current(None)?;
            let (name, mut range) = of(name, tip);
            if self.all {
                for (_, oid) in repo.list_refs(TRACES)? {
                    range.tips.push(Tip::read(repo, oid)?);
                }
            }
            return Ok((name, range));
        };
        let Some((from, to)) = spec.split_once("..") else {
            let error = match spec.parse().map_err(Error::from).and_then(|name| context.current(Some(&name))) {
                Ok((repo, name, tip)) => {
                    // A remote may call its traces anything. No part of a name has another meaning.
                    if name.as_str() == spec.as_str() {
                        state(repo, &name, spec)?;
                    }
                    return Ok(of(name, tip));
                }
                Err(error) => error,
            };
            if self.patch && spec.parse::<Level>().is_ok() {
                let hint = format!("`-p` prints patches, as in git; `--priority {spec}` selects by priority");
                return Err(Error::with_hint(format!("{error}"), hint));
            }
            let current = context.trace_name(None)?;
            let is_name = spec.parse::<TraceName>().is_ok();
            return match state(context.repo()?, &current, spec) {
                Ok(state) => Ok(of(current, state.tip)),
                Err(other) => Err(if is_name { error } else { other.into() }),
            };
        };
        let current = context.trace_name(None)?;
        let tip = |spec: &str| context.tip(&current, if spec.is_empty() { current.as_str() } else { spec });
        let (from, to) = (tip(from)?, tip(to)?);
        Ok((current, Range { tips: vec![to], without: Some(from.commit.oid) }))
    }

    /// The items that `--item` and the filters of items select; `None` if there are none of these.
    fn items(&self, context: &Context, name: &TraceName, range: &Range) -> Result<Option<HashSet<ItemId>>> {
        let (repo, filter) = (context.repo()?, self.fields.read());
        let mut items = None;
        if let Some(spec) = &self.item {
            let named = select(repo, name, &range.tips[0], &[spec], &ItemFilter::default(), Among::LiveOrNamed)?;
            items = Some(HashSet::from_iter(named));
        }
        if !filter.is_empty() {
            let mut matching = HashSet::new();
            for tip in &range.tips {
                matching.extend(in_history(repo, name, tip, &filter)?);
            }
            items = Some(items.map_or(matching.clone(), |items: HashSet<ItemId>| &items & &matching));
        }
        Ok(items)
    }
}

/// The names of the traces at each commit.
fn names(context: &Context) -> Result<HashMap<Oid, Vec<String>>> {
    let mut names: HashMap<Oid, Vec<String>> = HashMap::new();
    for (refname, oid) in context.repo()?.list_refs(TRACES)? {
        names.entry(oid).or_default().push(refname[TRACES.len()..].to_owned());
    }
    Ok(names)
}

fn draw(context: &Context, style: &Style, entries: Vec<(Entry, Vec<Oid>)>) -> Result<()> {
    let mut graph = Graph::default();
    for (entry, next) in entries {
        let oid = entry.tip.commit.oid;
        let mut text = context.ui.capture(|| print(context, style, &entry, graph.width(oid, next.len())))?;
        if !style.is_short && !next.is_empty() {
            text.push('\n');
        }
        for line in graph.draw(oid, &next, &text) {
            writeln!(context.ui, "{line}")?;
        }
    }
    Ok(())
}
