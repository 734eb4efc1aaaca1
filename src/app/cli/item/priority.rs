//! `git trace pin`, `skip`, `unpin` and `priority`: what matters, and why.

use super::delete::results_of_calls;
use crate::app::cli::flags::NulArgs;
use crate::app::cli::flags::items::{ItemsArgs, ReasonArgs};
use crate::app::cli::{Context, DIM, Result, Value, Values, bail, escaped, json};
use crate::app::width::one_line as one_line_of;
use crate::trace::model::trailers::{one_line, preview};
use crate::trace::model::tree::ItemEntry;
use crate::trace::model::types::Types;
use crate::trace::query::select::{Among, ItemFilter, other_results, select};
use crate::trace::query::show::about;
use crate::trace::store::priority::{self, InForce, Level, Record, SetLevel, Setting};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::total;
use crate::trace::{ItemId, Tip, TraceName};

/// A command that gives items one level.
macro_rules! level_command {
    ($(#[$doc:meta])* $name:ident, $level:expr) => {
        $(#[$doc])*
        #[derive(clap::Args, Debug)]
        pub(crate) struct $name {
            #[command(flatten)]
            items: ItemsArgs,
            #[command(flatten)]
            reason: ReasonArgs,
            /// Print the result as JSON, one object per item
            #[arg(long)]
            json: bool,
        }

        impl $name {
            pub(crate) fn run(&self, context: &Context) -> Result<()> {
                set(context, $level, self.reason.get(context)?.as_deref(), self.json, |name, tip| {
                    self.items.select(context, name, tip, Among::LiveOrNamed)
                })
            }
        }
    };
}

level_command! {
    /// Pin items: compression and budget cuts keep them unchanged
    PinArgs, Level::Pinned
}
level_command! {
    /// Skip items: leave them out of messages until they are unpinned
///
/// A skipped item is left out of the messages of every trace that contains it; `delete` removes an item from one trace.
    ///
    /// With a call, its results are skipped.
    SkipArgs, Level::Skip
}
level_command! {
    /// Reset items to normal priority
    UnpinArgs, Level::Normal
}

/// Show or set priorities
///
/// Without an item, lists all items of the trace whose priority was set, with the reason.
#[derive(clap::Args, Debug)]
pub(crate) struct PriorityArgs {
    /// Item to show or set
    #[arg(add = Values::Items)]
    item: Option<String>,
    /// Level to set: skip, normal or pinned
    #[arg(requires = "item")]
    level: Option<Level>,
    #[command(flatten)]
    reason: ReasonArgs,
    /// Print every change of the item's priority, oldest first
    #[arg(long, requires = "item", conflicts_with = "level")]
    history: bool,
    /// List all items of the trace that have this level, set or by default
    #[arg(long, value_name = "LEVEL", conflicts_with = "item")]
    list: Option<Level>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl PriorityArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        if self.level.is_none() {
            self.nul.apply(context);
        }
        match (&self.item, self.level) {
            (_, None) if self.reason.is_given() => bail!("a reason belongs to a level, which is missing"),
            (Some(item), Some(level)) => {
                set(context, level, self.reason.get(context)?.as_deref(), self.json, |name, tip| {
                    let (names, filter) = (std::slice::from_ref(item), ItemFilter::default());
                    Ok(select(context.repo()?, name, tip, names, &filter, Among::LiveOrNamed)?)
                })
            }
            (Some(item), None) => show(context, item, self),
            _ => list(context, self),
        }
    }
}

fn set(
    context: &Context,
    level: Level,
    reason: Option<&str>,
    json: bool,
    select: impl FnOnce(&TraceName, &Tip) -> Result<Vec<ItemId>>,
) -> Result<()> {
    let (repo, name, tip) = context.current(None)?;
    let mut ids = select(&name, &tip)?;
    let results = if level == Level::Skip { other_results(repo, &tip, &ids)? } else { Vec::new() };
    ids.extend(&results);
    let signature = context.signature()?;
    let requests = priority::requests(repo, (&name, &tip), &signature, &ids, (level, reason))?;
    priority::set(repo, &signature, &requests)?;
    if json {
        return requests.iter().try_for_each(|request| {
            let mut object = json!({ "trace": name.as_str(), "id": request.item.to_string(), "level": level.as_str() });
            if let Some(seq) = request.seq {
                object["seq"] = seq.into();
            }
            if let Some(reason) = reason {
                object["reason"] = reason.into();
            }
            context.ui.json(&object)
        });
    }
    for request in &requests {
        let seq = request.seq.map(|seq| format!(" #{seq}")).unwrap_or_default();
        writeln!(context.ui, "[{name}{seq}] {level} {}", context.ui.id(request.item))?;
    }
    if level == Level::Skip && requests.len() > 1 {
        let (counter, resolver) = (context.counter()?, Resolver::new(repo, &name, &tip)?);
        let live = ids.iter().filter_map(|id| resolver.find_live(*id));
        let tokens: Result<u64> = live.map(|slot| Ok(total::read_item(repo, slot)?.token_count(counter))).sum();
        let (count, tokens, results) = (requests.len(), tokens?, results_of_calls(results.len()));
        writeln!(context.ui, "skipped {count} items, {tokens} tokens{results}")?;
    }
    Ok(())
}

fn show(context: &Context, spec: &str, args: &PriorityArgs) -> Result<()> {
    let (repo, name, tip) = context.current(None)?;
    let resolver = Resolver::new(repo, &name, &tip)?;
    let item = resolver.item(spec)?;
    let record = Record::open(repo)?;
    if args.history {
        let settings = record.history(repo, item)?;
        return settings
            .iter()
            .try_for_each(|setting| context.ui.entry(|| print_setting(context, item, setting, &[], args.json)));
    }
    match (record.in_force(repo, item)?, resolver.find_live(item)) {
        (Some(InForce { setting, rivals }), Some(slot)) if args.json => {
            print_level(context, slot, SetLevel::Set(&setting), &rivals, true)
        }
        (Some(InForce { setting, rivals }), _) => print_setting(context, item, &setting, &rivals, args.json),
        (None, Some(slot)) => {
            let level = SetLevel::Default(Types::read(repo)?.rules(&slot.item_type).priority);
            print_level(context, slot, level, &[], args.json)
        }
        (None, None) if args.json => context.ui.json(&json!({ "id": item.to_string(), "level": "normal" })),
        (None, None) => writeln!(context.ui, "normal {item}"),
    }
}

fn list(context: &Context, args: &PriorityArgs) -> Result<()> {
    let (_, _, view) = context.view(None, None)?;
    for slot in &view.slots {
        let level = view.level(slot);
        if args.list.map_or(matches!(level, SetLevel::Set(_)), |listed| level.level() == listed) {
            context.ui.entry(|| print_level(context, slot, level, view.rivals(slot), args.json))?;
        }
    }
    Ok(())
}

fn print_setting(context: &Context, id: ItemId, setting: &Setting, rivals: &[Setting], json: bool) -> Result<()> {
    if json {
        return context.ui.json(&with_rivals(item_json(id, setting), rivals));
    }
    let reason = setting.reason.as_deref().map(|reason| format!(": {}", one_line(reason))).unwrap_or_default();
    let Setting { level, at, by, .. } = setting;
    writeln!(context.ui, "{} {id}", escaped(&format!("{level} since {at} by {by}{reason}")))?;
    print_dispute(context, setting, rivals)
}

fn print_level(context: &Context, slot: &ItemEntry, level: SetLevel<'_>, rivals: &[Setting], json: bool) -> Result<()> {
    if json {
        let item = total::read_item(context.repo()?, slot)?;
        let mut object = about(slot, &item, level.level(), context.counter()?);
        object.remove("priority");
        let set = match level {
            SetLevel::Set(setting) => with_rivals(setting_json(setting), rivals),
            SetLevel::Default(level) => json!({ "level": level.as_str() }),
        };
        object.extend(set.as_object().cloned().unwrap_or_default());
        return context.ui.json(&object);
    }
    let subject = preview(&total::read_item(context.repo()?, slot)?);
    let why = level.reason().map(|reason| format!(" ({})", one_line(reason))).unwrap_or_default();
    let word = level.level().as_str();
    let used = format!("{word} #{}  {}", slot.seq, slot.id).len();
    let subject = context.ui.fit(used, &format!("{subject}{why}"));
    let word = context.ui.styled(DIM, word);
    writeln!(context.ui, "{word} #{} {subject} {}", slot.seq, context.ui.id(slot.id))?;
    if let SetLevel::Set(setting) = level { print_dispute(context, setting, rivals) } else { Ok(()) }
}

fn print_dispute(context: &Context, setting: &Setting, rivals: &[Setting]) -> Result<()> {
    if rivals.is_empty() { Ok(()) } else { writeln!(context.ui, "  {}", dispute(setting, rivals)) }
}

/// The number of rivals that a report names. A remote may send any number.
const NAMED_RIVALS: usize = 8;

/// Says that an item was changed concurrently, and which level applies.
pub(crate) fn dispute(setting: &Setting, rivals: &[Setting]) -> String {
    let change = |setting: &Setting| format!("{} by {}", setting.level, named_author(setting));
    let named = std::iter::once(setting).chain(rivals.iter().take(NAMED_RIVALS));
    let more = rivals.len().saturating_sub(NAMED_RIVALS);
    let more = (more > 0).then(|| format!("{more} more"));
    let changes: Vec<String> = named.map(change).chain(more).collect();
    let applies = setting.level;
    format!("was changed concurrently: {}; {applies} applies until someone sets it again", changes.join(", "))
}

/// The columns of an author. A remote may send any name.
const AUTHOR: usize = 60;

/// The name of the author without the address. One that a reader may take for something else is quoted.
pub(crate) fn named_author(setting: &Setting) -> String {
    let name = setting.by.split_once(" <").map_or(setting.by.as_str(), |(name, _)| name);
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '_' | '\'' | '[' | ']');
    if !name.is_empty() && name.chars().all(is_plain) { one_line_of(name, AUTHOR) } else { quoted(name, AUTHOR) }
}

/// A text of others in quotes, on one line of at most `width` columns.
pub(crate) fn quoted(text: &str, width: usize) -> String {
    format!("\"{}\"", one_line_of(text, width).replace('\\', "\\\\").replace('"', "\\\""))
}

fn item_json(id: ItemId, setting: &Setting) -> Value {
    let mut object = setting_json(setting);
    object["id"] = id.to_string().into();
    object
}

fn with_rivals(mut object: Value, rivals: &[Setting]) -> Value {
    if !rivals.is_empty() {
        object["rivals"] = rivals.iter().map(setting_json).collect();
    }
    object
}

pub(crate) fn setting_json(setting: &Setting) -> Value {
    let (level, at) = (setting.level.as_str(), setting.at.to_string());
    let mut object = json!({ "level": level, "at": at, "by": setting.by });
    if let Some(reason) = &setting.reason {
        object["reason"] = reason.as_str().into();
    }
    object
}
