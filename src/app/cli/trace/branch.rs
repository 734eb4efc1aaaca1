//! `git trace branch`, `switch` and `init`.

use std::collections::{BTreeMap, HashSet};

use crate::app::choice::choose;
use crate::app::cli::flags::traces::TraceFilterArgs;
use crate::app::cli::flags::{NulArgs, QuietArgs};
use crate::app::cli::{
    BOLD, Context, DIM, Error, ErrorContext as _, Result, Ui, Values, bail, columns, escaped, padded,
};
use crate::base::escape::shell_word;
use crate::check::fsck::newest_complete;
use crate::git::{Repo, short_oid};
use crate::trace::change::branch::{Listed, Unmerged, delete, list, rename, to_json};
use crate::trace::change::undo::can_return_to;
use crate::trace::model::name::{REMOTES, TRACES};
use crate::trace::model::trailers::Basis;
use crate::trace::query::find::{Order, Wanted};
use crate::trace::store::archived;
use crate::trace::store::head;
use crate::trace::store::resolve::{State, fetched, state};
use crate::trace::store::trace_index::{ListedTrace, TraceIndex};
use crate::trace::sync::{bring_back_if_archived, split_tracking};
use crate::trace::{Tip, TraceError, TraceName, View};
use crate::transcript::title::title;

/// How many traces are offered at most, so that the list fits on a screen.
const MAX_OFFERED: usize = 20;

/// From this many columns on, lists have ids and sizes that a narrow terminal has no room for.
pub(in crate::app::cli) const NARROW: usize = 80;

/// List, create, rename or delete traces
///
/// Without a name, lists every trace with its items, tokens, and title (of a session) or last subject. `*` marks the current trace, `+` the current
/// trace of another worktree. A new trace shares the history of the trace it starts from; no object is copied.
///
/// `undo` brings a deleted trace back.
#[derive(clap::Args, Debug)]
#[command(override_usage = "git trace branch [--json]\n       \
    git trace branch <NAME> [<START>]\n       \
    git trace branch -m [<OLD>] <NEW>\n       \
    git trace branch (-d | -D) <NAME>...")]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct BranchArgs {
    /// Name of the new trace, or the names for -m, -d and -D
    #[arg(value_name = "NAME", conflicts_with = "nul", add = Values::Traces)]
    names: Vec<String>,
    /// Rename a trace [default: the current trace]
    #[arg(short = 'm', long = "move", conflicts_with_all = ["delete", "force_delete", "json"])]
    rename: bool,
    /// Delete traces that are merged into the current trace or pushed to a remote
    #[arg(short = 'd', long, conflicts_with_all = ["force_delete", "json"])]
    delete: bool,
    /// Delete traces even if they are not merged
    #[arg(short = 'D', conflicts_with = "json")]
    force_delete: bool,
    // For hands that know git: without a name, traces are listed, and always with their sizes.
    #[arg(short = 'v', long, alias = "list", hide = true, conflicts_with = "names")]
    #[arg(action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    filter: TraceFilterArgs,
    /// Print one JSON object per line
    #[arg(long, conflicts_with = "names")]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl BranchArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        if !self.names.is_empty() {
            self.quiet.apply(context);
        }
        if self.rename {
            return run_rename(context, self);
        }
        if self.delete || self.force_delete {
            return run_delete(context, self);
        }
        match self.names.as_slice() {
            [] => {
                self.nul.apply(context);
                run_list(context, &self.filter.read(context, Order::Name)?, self.json)
            }
            [name] => start(context, &name.parse()?, None),
            [name, from] => start(context, &name.parse()?, Some(from)),
            _ => bail!("a new trace takes a name and a state to start from; to list traces, give neither"),
        }
    }
}

fn start(context: &Context, name: &TraceName, from: Option<&str>) -> Result<()> {
    let oid = begin(context, name, from)?;
    writeln!(context.ui, "Created trace `{name}` at {oid}")
}

/// Creates a trace from a state, or from the tip of the current one; returns the short oid of its start.
fn begin(context: &Context, name: &TraceName, from: Option<&str>) -> Result<String> {
    let repo = context.repo()?;
    let current = context.trace_name(None)?;
    let start = match from {
        Some(spec) => state(repo, &current, spec).with_context(|| format!("cannot start from `{}`", escaped(spec)))?,
        None => State::of_trace(repo, &current).or_else(|error| way_back(context, &current, error))?,
    };
    let oid = context.open(name)?.start_at(start.tip.commit.oid, from.unwrap_or(current.as_str()))?;
    Ok(short_oid(oid))
}

/// The newest complete state of a trace whose tip is damaged. Prints what it lacks.
fn way_back(context: &Context, name: &TraceName, error: TraceError) -> Result<State> {
    let repo = context.repo()?;
    let is_damage = matches!(&error, TraceError::Git(error) if error.is_damage());
    let log = repo.read_reflog(&name.refname()).unwrap_or_default();
    let Some(newest) = newest_complete(repo, &log).filter(|_| is_damage) else { return Err(error.into()) };
    let lost: Vec<&str> = log[newest + 1..].iter().map(|entry| entry.why.as_str()).collect();
    context.ui.note(format!(
        "warning: {error}; the new trace starts at the newest complete state of `{name}`, without: {}",
        lost.join(", ")
    ));
    Ok(State::after(Tip::read(repo, log[newest].new)?))
}

fn run_rename(context: &Context, args: &BranchArgs) -> Result<()> {
    let repo = context.repo()?;
    let (old, new): (TraceName, TraceName) = match args.names.as_slice() {
        [new] => (context.trace_name(None)?, new.parse()?),
        [old, new] => (context.find_trace(old.parse()?)?, new.parse()?),
        _ => bail!("-m takes the new name, or the old and the new name"),
    };
    rename(repo, &old, &new, &context.signature()?.committer)?;
    writeln!(context.ui, "Renamed trace `{old}` to `{new}`")
}

fn run_delete(context: &Context, args: &BranchArgs) -> Result<()> {
    let repo = context.repo()?;
    let names = args.names.iter().map(|name| name.parse()).collect::<Result<Vec<TraceName>, _>>()?;
    if names.is_empty() {
        bail!("name the traces to delete");
    }
    let who = context.signature()?.committer;
    let unmerged = if args.force_delete { Unmerged::Delete } else { Unmerged::Refuse };
    let mut damaged = Vec::new();
    for name in &names {
        let tip = delete(repo, name, &who, unmerged)?;
        damaged.extend((!can_return_to(repo, tip)).then(|| name.to_string()));
        writeln!(context.ui, "Deleted trace `{name}` (was {})", short_oid(tip))?;
    }
    let them = if names.len() == 1 { "it" } else { "them" };
    context.ui.note(match damaged.as_slice() {
        [] => format!("`git trace undo` brings {them} back"),
        damaged => format!("`git trace undo` cannot bring {them} back: damaged: {}", damaged.join(", ")),
    });
    Ok(())
}

fn run_list(context: &Context, wanted: &Wanted, json: bool) -> Result<()> {
    let repo = context.repo()?;
    // The list helps to choose another trace if the head is bad.
    let current = head::current(repo).ok();
    let at_most = if wanted.title.is_none() { wanted.most } else { usize::MAX };
    let traces: Vec<ListedTrace> = wanted.traces(repo)?.take(at_most).collect();
    let mut width = widest(&context.ui, traces.iter().map(|trace| &trace.name));
    let mut listed: Box<dyn Iterator<Item = Result<Listed, TraceError>>> = Box::new(list(repo, traces)?);
    if let Some(pattern) = &wanted.title {
        let is_wanted = |trace: &Listed| title_of(repo, trace).is_some_and(|title| pattern.is_match(&title));
        let titled = listed.filter(|trace| trace.as_ref().map_or(true, is_wanted)).take(wanted.most);
        let found = titled.collect::<Result<Vec<_>, _>>()?;
        width = widest(&context.ui, found.iter().map(|trace| &trace.name));
        listed = Box::new(found.into_iter().map(Ok));
    }
    let mut listed = listed.peekable();
    if json {
        return listed.try_for_each(|trace| {
            let trace = trace?;
            let mut json = to_json(&trace, current.as_ref() == Some(&trace.name));
            if let Some(title) = title_of(repo, &trace) {
                json["title"] = title.into();
            }
            context.ui.json(&json)
        });
    }
    if listed.peek().is_none() && Wanted::default().traces(repo)?.next().is_none() {
        context
            .ui
            .note("there is no trace yet: `git trace import claude-code` or `git trace commit -m TEXT` creates one");
    }
    let mut is_damaged = false;
    for trace in listed {
        let trace = trace?;
        let Listed { name, tip, content, worktrees } = &trace;
        let is_current = current.as_ref() == Some(name);
        let mark = match (is_current, worktrees.is_empty()) {
            (true, _) => '*',
            (false, true) => ' ',
            (false, false) => '+',
        };
        let shown = padded(&context.ui.fit_name(name.as_str()), width);
        let styled = if is_current { context.ui.styled(BOLD, &shown) } else { shown };
        let oid = context.ui.oid(*tip);
        let (size, subject) = match content {
            Ok((view, total)) => {
                let reported = if total.basis == Basis::Reported { " (reported)" } else { "" };
                let size = format!("{:>6} items {:>8} tokens{reported}", view.slots.len(), total.tokens);
                let title = title_of(repo, &trace).unwrap_or_else(|| view.tip.commit.subject().to_owned());
                (size, title)
            }
            Err(error) => ("unreadable".to_owned(), error.to_string()),
        };
        // A narrow terminal has no room for the commit.
        let oid =
            if context.ui.width().is_some_and(|width| width < NARROW) { String::new() } else { format!(" {oid}") };
        let used =
            width + columns(&size) + "*   ".len() + 1 + if oid.is_empty() { 0 } else { short_oid(*tip).len() + 1 };
        let (size, subject) = (context.ui.styled(DIM, &size), context.ui.fit(used, &subject));
        writeln!(context.ui, "{mark} {styled} {size}  {subject}{oid}")?;
        is_damaged |= content.is_err();
    }
    // With a limit, the cost does not depend on how many there are.
    if wanted.most == usize::MAX {
        note_fetched(context)?;
    }
    if is_damaged {
        context.ui.note("`git trace fsck` reports what is damaged and what helps");
    }
    Ok(())
}

/// Says which remotes have traces that are not here.
fn note_fetched(context: &Context) -> Result<()> {
    let repo = context.repo()?;
    let here: HashSet<String> = repo.list_refs(TRACES)?.into_iter().map(|(refname, _)| refname).collect();
    let remotes = repo.remotes()?;
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    for (refname, _) in repo.list_refs(REMOTES)? {
        let Some((remote, name)) = split_tracking(&remotes, &refname) else { continue };
        let refname = format!("{TRACES}{name}");
        if TraceName::of_ref(&refname).is_some() && !here.contains(&refname) {
            *missing.entry(remote.to_owned()).or_default() += 1;
        }
    }
    for (remote, count) in missing {
        let (shown, word) = (escaped(&remote), shell_word(&remote));
        let traces = if count == 1 { "1 trace that is".to_owned() } else { format!("{count} traces that are") };
        context.ui.note(format!("hint: `{shown}` has {traces} not here: `git trace pull {word}`"));
    }
    Ok(())
}

fn widest<'n>(ui: &Ui, names: impl Iterator<Item = &'n TraceName>) -> usize {
    names.map(|name| columns(&ui.fit_name(name.as_str()))).max().unwrap_or(0)
}

/// The title of a recorded session; a damaged one has none.
fn title_of(repo: &Repo, trace: &Listed) -> Option<String> {
    title(repo, &trace.name, &trace.content.as_ref().ok()?.0)
}

/// Make another trace the current one; -c creates it first
///
/// The current trace belongs to this worktree. As in git, a trace that only one remote has is created from its remote-tracking ref.
/// `git trace branch NAME` creates a trace without switching to it.
#[derive(clap::Args, Debug)]
pub(crate) struct SwitchArgs {
    /// Name of the trace; `-` is the previous trace [default: chosen from a list, on a terminal]
    #[arg(add = Values::Traces)]
    name: Option<String>,
    /// Trace, commit, item or time to start from with -c [default: the tip of the current trace]
    #[arg(requires = "create", add = Values::States)]
    start: Option<String>,
    /// Create the trace
    #[arg(short = 'c', long)]
    create: bool,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl SwitchArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.quiet.apply(context);
        let repo = context.repo()?;
        let mut name = match self.name.as_deref() {
            Some("-") if !self.create => head::previous(repo)?,
            Some(name) => name.parse()?,
            None => match pick(context, None)? {
                Some(name) => name,
                None => return Ok(()),
            },
        };
        let done = if self.create {
            format!("a new trace `{name}` at {}", begin(context, &name, self.start.as_deref())?)
        } else {
            // Otherwise no identity is needed.
            if Tip::find(repo, &name)?.is_none()
                && archived::find(repo, &name)?.is_some()
                && let Some(archived) = bring_back_if_archived(repo, &context.signature()?, &name)?
            {
                context.ui.note(format!("fetched trace `{}` from `{}`", archived.name, escaped(&archived.remote)));
                name = archived.name;
            }
            let is_missing = Tip::find(repo, &name)?.is_none();
            if is_missing && let Some((fetched, _)) = fetched(repo, &name)?.filter(|(_, own)| *own == name) {
                format!("a new trace `{name}` at {}, from `{fetched}`", begin(context, &name, Some(&fetched))?)
            } else {
                if is_missing {
                    name =
                        no_trace(repo, &name).and_then(|error| error.map_or_else(|| context.find_trace(name), Err))?;
                }
                format!("trace `{name}`")
            }
        };
        let is_current = head::chosen(repo).is_ok_and(|chosen| chosen.as_ref() == Some(&name));
        head::switch(context.repo()?, &name, &context.mover())?;
        let view = context.find_view(&name, None).ok().flatten();
        let title = view.and_then(|view| title(repo, &name, &view));
        let title = title.map_or_else(String::new, |title| format!(": {}", escaped(&title)));
        writeln!(context.ui, "{} {done}{title}", if is_current { "Already on" } else { "Switched to" })
    }
}

/// Lets the user choose a trace from a list, newest first but for `first`; `None` if nothing was chosen.
pub(crate) fn pick(context: &Context, first: Option<&TraceName>) -> Result<Option<TraceName>> {
    if !context.ui.can_ask() {
        return Err(Error::with_hint("no trace was named", "`git trace branch` lists traces"));
    }
    let repo = context.repo()?;
    let index = TraceIndex::open(repo)?;
    let others = index.newest_first(repo).filter(|trace| first != Some(&trace.name)).map(|trace| trace.name);
    let first = first.filter(|name| repo.find_ref(&name.refname()).is_ok_and(|tip| tip.is_some())).cloned();
    let mut names: Vec<TraceName> = first.into_iter().chain(others).take(MAX_OFFERED + 1).collect();
    if names.len() > MAX_OFFERED {
        context.ui.note(format!("the {MAX_OFFERED} newest traces; `git trace branch` lists all"));
        names.truncate(MAX_OFFERED);
    }
    let choice = |name: &TraceName| {
        let view = View::open(repo, name, None).ok();
        let title = view.and_then(|view| title(repo, name, &view)).unwrap_or_default();
        (name.as_str().to_owned(), title)
    };
    let choices: Vec<_> = names.iter().map(choice).collect();
    Ok(choose(&context.ui, &choices)?.map(|chosen| names.swap_remove(chosen)))
}

/// The error for a name to switch to that is a commit. A commit of a trace can be the start of a new one.
fn no_trace(repo: &Repo, name: &TraceName) -> Result<Option<Error>> {
    let commit = repo.find_commit(name.as_str())?.map(|oid| Tip::read(repo, oid)).transpose()?;
    if commit.is_some_and(|commit| commit.is_ours()) {
        let hint = format!("`git trace switch -c NAME {}` creates a trace that starts there", shell_word(name));
        return Ok(Some(Error::with_hint(format!("`{name}` is a commit, not a trace"), hint)));
    }
    Ok(None)
}

/// Create an empty trace and make it the current one
///
/// Rarely needed: `git trace switch -c NAME` creates a trace that continues the current one.
/// The first commit creates its ref. A first commit without `init` creates the trace `main`.
#[derive(clap::Args, Debug)]
pub(crate) struct InitArgs {
    /// Name of the new trace [default: main, if there is no current trace]
    name: Option<TraceName>,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl InitArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.quiet.apply(context);
        let named = context.named_trace()?;
        let chosen = head::chosen(context.repo()?).ok().flatten();
        let name = self.name.clone().or(named).or_else(|| chosen.clone()).unwrap_or_else(TraceName::default_name);
        let is_current = chosen.as_ref() == Some(&name);
        if Tip::find(context.repo()?, &name)?.is_some() {
            if is_current {
                return writeln!(context.ui, "`{name}` is already the current trace.");
            }
            let hint = format!("`git trace switch {}` makes it the current one", shell_word(&name));
            return Err(Error::with_hint(format!("trace `{name}` already exists"), hint));
        }
        if is_current {
            return writeln!(context.ui, "`{name}` is already the current trace; its first commit will create it.");
        }
        archived::refuse_name(context.repo()?, &name, None)?;
        head::switch(context.repo()?, &name, &context.mover())?;
        writeln!(context.ui, "The current trace is `{name}`; its first commit creates it.")
    }
}
