//! `git trace log`: the history of a trace, newest first.

use anyhow::{Context as _, Result, bail};
use regex::Regex;
use serde_json::{Value, json};

use super::ui::{BOLD, DIM, ID, Ui, escaped};
use super::{ExitStatus, Session};
use crate::git::{Repo, short_oid};
use crate::trace::code::CodeRange;
use crate::trace::priority::{Level, Levels, Record, Setting};
use crate::trace::resolve::Resolver;
use crate::trace::tree::{Change, Slot};
use crate::trace::walk::{Parents, Walk, changes_of};
use crate::trace::{ItemId, ItemType, Time, Tip, TraceName, total};

/// List what was done to a trace, newest first
#[derive(clap::Args, Debug)]
pub(super) struct LogArgs {
    /// Trace to look at [default: the current one]
    name: Option<TraceName>,

    /// Stop after this many
    #[arg(short = 'n', long = "max-count", value_name = "N")]
    max_count: Option<usize>,

    /// One line each
    #[arg(long)]
    oneline: bool,

    /// Only what touched items of this type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    item_type: Option<ItemType>,

    /// Only what touched items that have this priority now
    #[arg(short = 'p', long, value_name = "LEVEL")]
    priority: Option<Level>,

    /// Only what touched this item
    #[arg(long, value_name = "ITEM")]
    item: Option<String>,

    /// Only where the subject or the item's text then matches this regular expression
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    grep: Option<Regex>,

    /// Only where the reason given (for a deletion, a restoration or a priority) matches
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    reason: Option<Regex>,

    /// Only what was recorded while the code went from A to B: what led to those commits; B alone is the way from its parent
    #[arg(long, value_name = "A..B")]
    code: Option<String>,

    /// Only from this time on
    #[arg(long, value_name = "TIME", alias = "after")]
    since: Option<Time>,

    /// Only up to this time
    #[arg(long, value_name = "TIME", alias = "before")]
    until: Option<Time>,

    /// One JSON object a line
    #[arg(long, conflicts_with = "oneline")]
    json: bool,
}

/// One line of history: a commit, and what it did to which items.
struct Entry {
    tip: Tip,
    touched: Vec<Change>,
    /// Changes of priority of the touched items, where reasons are looked for.
    settings: Vec<Setting>,
}

pub(super) fn run(session: &mut Session, args: &LogArgs) -> Result<ExitStatus> {
    let name = session.trace(args.name.as_ref())?;
    let tip = Tip::of_trace(&session.repo, &name)?;
    let only_item = match &args.item {
        Some(spec) => Some(Resolver::new(&session.repo, &name, &tip)?.item(spec)?),
        None => None,
    };
    if matches!((args.since, args.until), (Some(since), Some(until)) if since > until) {
        bail!("--since is later than --until");
    }
    let code = args.code.as_deref().map(|spec| CodeRange::resolve(&session.repo, spec)).transpose()?;
    let record = Record::open(&session.repo)?;
    if !args.json {
        session.ui.page(&session.repo)?;
    }
    let mut printed = 0;
    for tip in Walk::new(&session.repo, tip, Parents::All) {
        if args.max_count.is_some_and(|max| printed >= max) {
            break;
        }
        let tip = tip?;
        if code.as_ref().is_some_and(|code| !code.holds(&tip)) {
            continue;
        }
        if let Some(entry) = select(&session.repo, args, &record, only_item, tip)? {
            print(&mut session.ui, args, &entry, printed == 0)?;
            printed += 1;
        }
    }
    Ok(ExitStatus::Success)
}

/// The entry of a commit, if the filters let it through. Cheap filters come first.
fn select(repo: &Repo, args: &LogArgs, record: &Record, item: Option<ItemId>, tip: Tip) -> Result<Option<Entry>> {
    let at = tip.time();
    if args.since.is_some_and(|since| at < since) || args.until.is_some_and(|until| at > until) {
        return Ok(None);
    }
    let mut touched = changes_of(repo, &tip)?;
    let filtered = item.is_some() || args.item_type.is_some() || args.priority.is_some() || args.grep.is_some();
    touched.retain(|change| item.is_none_or(|item| change.slot().id == item));
    touched.retain(|change| args.item_type.as_ref().is_none_or(|item_type| change.slot().item_type == *item_type));
    if let Some(level) = args.priority {
        let slots: Vec<Slot> = touched.iter().map(|change| change.slot().clone()).collect();
        let levels: Levels = record.levels(repo, &slots, None)?;
        touched.retain(|change| levels.of(change.slot().id, &change.slot().item_type).level() == level);
    }
    if let Some(pattern) = &args.grep
        && !pattern.is_match(tip.commit.subject())
    {
        let mut matching = Vec::new();
        for change in touched {
            let item = total::read_item(repo, change.slot())?;
            if pattern.is_match(&String::from_utf8_lossy(&item.body)) {
                matching.push(change);
            }
        }
        touched = matching;
    }
    if filtered && touched.is_empty() {
        return Ok(None);
    }
    let mut settings = Vec::new();
    if let Some(pattern) = &args.reason {
        for change in &touched {
            settings.extend(record.history(repo, change.slot().id)?);
        }
        settings.retain(|setting| setting.reason.as_ref().is_some_and(|reason| pattern.is_match(reason)));
        let own = tip.trailers.reason.as_ref().is_some_and(|reason| pattern.is_match(reason));
        if !own && settings.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(Entry { tip, touched, settings }))
}

fn print(ui: &mut Ui, args: &LogArgs, entry: &Entry, first: bool) -> Result<()> {
    if args.json {
        ui.json_line(&to_json(entry)).context("cannot write the answer")?;
        return Ok(());
    }
    let Entry { tip, touched, settings } = entry;
    let subject = escaped(tip.commit.subject()).into_owned();
    let names = |short: bool| -> String {
        let listed = touched.iter().take(3).map(|change| {
            let slot = change.slot();
            if short {
                format!("#{} {}", slot.seq, slot.id.short())
            } else {
                format!("#{} {} {}", slot.seq, slot.item_type, slot.id)
            }
        });
        let more = if touched.len() > 3 { format!(" and {} more", touched.len() - 3) } else { String::new() };
        listed.collect::<Vec<_>>().join(", ") + &more
    };
    if args.oneline {
        let line = format!("{} {}", ui.styled(ID, &short_oid(tip.commit.oid)), ui.styled(DIM, &names(true)));
        writeln!(ui.out(), "{line} {subject}")?;
        return Ok(());
    }
    let op = tip.trailers.op.filter(|_| tip.is_ours()).map_or("commit", |op| op.as_str());
    let heading = format!("{} {}", ui.styled(BOLD, op), ui.styled(ID, &names(false)));
    let author = escaped(&tip.commit.author).into_owned();
    let gap = if first { "" } else { "\n" };
    let oid = ui.styled(DIM, &tip.commit.oid.to_string());
    let out = ui.out();
    writeln!(out, "{gap}{heading}\nCommit: {oid}\nAuthor: {author}\nDate:   {}", tip.time())?;
    if let Some(reason) = &tip.trailers.reason {
        writeln!(out, "Reason: {}", escaped(reason))?;
    }
    for setting in settings {
        let reason = setting.reason.as_deref().unwrap_or_default();
        writeln!(out, "Priority: {} since {}: {}", setting.level, setting.at, escaped(reason))?;
    }
    writeln!(out, "\n    {subject}")?;
    Ok(())
}

fn to_json(entry: &Entry) -> Value {
    let Entry { tip, touched, settings } = entry;
    let items: Vec<Value> = touched
        .iter()
        .map(|change| {
            let slot = change.slot();
            let change = match change {
                Change::Added(_) => "added",
                Change::Removed(_) => "removed",
                Change::Changed(..) => "changed",
            };
            json!({ "id": slot.id.to_string(), "seq": slot.seq, "type": slot.item_type.as_str(), "change": change })
        })
        .collect();
    let mut object = json!({
        "commit": tip.commit.oid.to_string(),
        "at": tip.time().to_string(),
        "by": tip.commit.author,
        "subject": tip.commit.subject(),
        "items": items,
    });
    let trailers = &tip.trailers;
    let texts = [
        ("op", trailers.op.filter(|_| tip.is_ours()).map(|op| op.to_string())),
        ("reason", trailers.reason.clone()),
        ("code", trailers.code.clone()),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            object[field] = text.into();
        }
    }
    if !settings.is_empty() {
        let listed = settings.iter().map(|setting| {
            json!({ "level": setting.level.as_str(), "at": setting.at.to_string(), "by": setting.by, "reason": setting.reason })
        });
        object["priorities"] = listed.collect();
    }
    object
}
