//! `git trace push`, `fetch`, `pull`, `remote` and `archive`: traces are shared through git's own remotes.

mod archive;
mod changed;
mod priorities;
mod pull;

pub(crate) use archive::ArchiveArgs;
pub(crate) use changed::{Changed, touched};
pub(crate) use priorities::{print_priorities, priority_json};
pub(crate) use pull::{PullArgs, print_received, received_json};

use crate::app::cli::flags::{NulArgs, QuietArgs};
use crate::app::cli::{Context, Error, ExitStatus, Result, Value, Values, bail, escaped, json};
use crate::base::escape::shell_word;
use crate::check::purge::refuse_independent;
use crate::git::{CONTEXT_REMOTE, Direction, PushFate, Repo, short_oid};
use crate::memory::crumb::archive as crumb_archive;
use crate::trace::model::name::REMOTES;
use crate::trace::store::tombstone;
use crate::trace::sync::{
    Arrivals, Delivery, Request, arrivals, complete_removal, fetch, fetch_key, follow, is_followed, is_private, named,
    push, refuse_fetched,
};
use crate::trace::{AgentName, Tip};
use crate::transcript::import::told::{self, Message};

/// Up to this number, traces that a push did not change are printed by name.
const MAX_UNCHANGED: usize = 20;

/// Push traces to a remote, with the priorities of their items
///
/// The tombstones of these items are pushed, too. Nothing else is: no other trace, no priority of another item. If the remote
/// rejects a trace, the others are still pushed, and no priority of the rejected one. Forward crumbs and crumb archives are
/// pushed only by their full names, such as refs/crumbs/ada.
#[derive(clap::Args, Debug)]
pub(crate) struct PushArgs {
    /// Remote [default: trace.contextRemote, the remote to which git pushes the checked-out branch, the only remote, or origin]
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    /// Traces, or globs such as 'codex/*' [default: the current trace]
    #[arg(value_name = "TRACE", add = Values::Traces)]
    traces: Vec<String>,
    /// Replace a trace that was rebased or reset, unless somebody else pushed to it since the last fetch
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    quiet: QuietArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Fetch traces of a remote without changing local ones
///
/// They are stored in refs/trace-remotes/REMOTE/TRACE and are named REMOTE/TRACE: `git trace diff origin/main`. No priority
/// changes; `git trace pull` merges them with the traces.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct FetchArgs {
    /// Remote [default: trace.contextRemote, the remote of the checked-out branch, the only remote, or origin]
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    /// Traces, or globs [default: the trace that --trace or `GITTRACE_NAME` names, else all]
    #[arg(value_name = "TRACE", add = Values::Traces)]
    traces: Vec<String>,
    /// Remove traces that the remote no longer has
    #[arg(short, long)]
    prune: bool,
    /// Fetch all objects again, which brings back those that are missing or damaged here
    #[arg(long)]
    refetch: bool,
    #[command(flatten)]
    quiet: QuietArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// List traces of remotes, or make `git fetch` fetch them
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct RemoteArgs {
    /// Remote
    #[arg(add = Values::Remotes)]
    remote: Option<String>,
    // For hands that know git; where a remote is, `git remote -v` says.
    #[arg(short = 'v', hide = true)]
    verbose: bool,
    /// Make plain `git fetch` fetch the remote's traces from now on
    #[arg(long, requires = "remote", conflicts_with = "unfollow")]
    follow: bool,
    /// Stop plain `git fetch` from fetching the remote's traces
    #[arg(long, requires = "remote")]
    unfollow: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

pub(super) fn remote_of(context: &Context, named: Option<&str>, direction: Direction) -> Result<String> {
    let repo = context.repo()?;
    let remote = named.map_or_else(|| repo.default_remote(direction), |remote| Ok(remote.to_owned()))?;
    if remote.starts_with('-') {
        bail!("invalid name of a remote: `{}`", escaped(&remote));
    }
    // The result of the last push or fetch is stored under the remote's name, so an address is not enough.
    if !repo.has_remote(&remote)? {
        let is_trace = remote.parse().is_ok_and(|name| matches!(Tip::find(repo, &name), Ok(Some(_))));
        let hint = if is_trace {
            format!("that is a trace; name the remote before it: `origin {}`", shell_word(&remote))
        } else if remote.contains(['/', ':']) {
            "give the address a name: `git remote add NAME ADDRESS`".to_owned()
        } else {
            format!("`git remote add {} URL` adds it", shell_word(&remote))
        };
        return Err(Error::with_hint(format!("there is no remote `{}`", escaped(&remote)), hint));
    }
    Ok(remote)
}

impl PushArgs {
    /// The arguments that push a ref by its full name.
    pub(crate) fn of_ref(remote: Option<String>, refname: String, json: bool) -> Self {
        Self { remote, traces: vec![refname], force: false, quiet: QuietArgs { quiet: false }, json }
    }

    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.quiet.apply(context);
        let remote = remote_of(context, self.remote.as_deref(), Direction::Push)?;
        let repo = context.repo()?;
        let (others, patterns): (Vec<String>, Vec<String>) =
            self.traces.iter().cloned().partition(|name| is_private(name));
        let traces = if self.traces.is_empty() {
            let name = context.trace_name(None)?;
            Tip::of_trace(repo, &name)?;
            vec![name]
        } else {
            named(repo, &patterns)?
        };
        for name in &others {
            if repo.find_ref(name)?.is_none() {
                bail!("there is no `{}`", escaped(name));
            }
        }
        let (archives, others): (Vec<String>, Vec<String>) =
            others.into_iter().partition(|name| name.starts_with(crumb_archive::ARCHIVES));
        let histories: Vec<_> = archives.iter().map(|refname| crumb_archive::history(refname)).collect();
        let globs = if patterns.iter().all(|pattern| pattern.contains('*')) { patterns } else { Vec::new() };
        let (traces, globs, others, histories) = (&traces, &globs, &others, &histories);
        let request = Request { remote: &remote, traces, globs, others, histories, force: self.force };
        let is_unsaid = self.remote.is_none() && repo.config()?.text(CONTEXT_REMOTE)?.is_none();
        if is_unsaid {
            warn_if_public(context, &remote)?;
        }
        let delivery = push(repo, &context.signature()?, &request)?;
        let status = print_delivery(context, &remote, &delivery, self.force, self.json)?;
        if is_unsaid && !self.quiet.quiet && told::remember(repo, Message::DefaultRemote) {
            let hint = "`git config trace.contextRemote NAME` sets another default for traces";
            context.ui.note(format!("the default remote is `{}`; {hint}", escaped(&remote)));
        }
        delivery.failed.map_or(Ok(status), |error| Err(error.into()))
    }
}

/// Warns once per repository before traces go to a host of public repositories that nobody chose for them.
fn warn_if_public(context: &Context, remote: &str) -> Result<()> {
    let repo = context.repo()?;
    if let Some(host) = repo.public_host(remote)?
        && told::remember(repo, Message::Public)
    {
        context.ui.note(format!(
            "warning: `{}` is on {host} and may be public. Whoever can read it can read the prompts, \
             answers, and outputs of tools in these traces",
            escaped(remote)
        ));
    }
    Ok(())
}

fn print_delivery(context: &Context, remote: &str, delivery: &Delivery, force: bool, json: bool) -> Result<ExitStatus> {
    let word = |fate| match fate {
        PushFate::Moved => "pushed",
        PushFate::UpToDate => "up_to_date",
        PushFate::Behind => "behind",
        PushFate::Contended => "contended",
        PushFate::Refused => "refused",
    };
    let short = |refname: &str| refname.strip_prefix("refs/traces/").unwrap_or(refname).to_owned();
    if json {
        let listed = delivery.refs.iter().map(|pushed| {
            let (name, result) = (short(&pushed.refname), word(pushed.fate));
            json!({ "name": name, "result": result, "summary": pushed.summary, "address": pushed.address })
        });
        let refs: Vec<Value> = listed.collect();
        context.ui.json(&json!({ "remote": remote, "refs": refs, "priorities": delivery.priorities }))?;
    } else {
        let out = &context.ui;
        let unchanged = delivery.refs.iter().filter(|pushed| pushed.fate == PushFate::UpToDate).count();
        if unchanged > MAX_UNCHANGED {
            writeln!(out, "{unchanged} traces: up to date")?;
        }
        for pushed in &delivery.refs {
            let name = short(&pushed.refname);
            match pushed.fate {
                PushFate::UpToDate if unchanged > MAX_UNCHANGED => {}
                PushFate::UpToDate => writeln!(out, "{name}: up to date")?,
                _ => {
                    let there = escaped(pushed.address.as_deref().unwrap_or(remote));
                    writeln!(out, "{name} → {there}: {}", escaped(&pushed.summary))?;
                }
            }
        }
        match delivery.priorities {
            0 => {}
            1 => writeln!(out, "and the priority of 1 item")?,
            count => writeln!(out, "and the priorities of {count} items")?,
        }
    }
    if let Some(behind) = delivery.refs.iter().find(|pushed| pushed.fate == PushFate::Behind) {
        let after_purge = match context.repo()?.find_ref(tombstone::HISTORY.refname)? {
            Some(_) => {
                let remote = shell_word(remote);
                format!("`git trace purge --push {remote}` replaces there what was purged here; otherwise, ")
            }
            None => String::new(),
        };
        let agent = AgentName::of_ref(&behind.refname);
        let is_default = context.repo()?.default_remote(Direction::Fetch)? == remote;
        let from = if is_default { String::new() } else { format!(" {}", shell_word(remote)) };
        let pull = agent.map(|agent| format!("git trace forward pull --agent {}", shell_word(agent)));
        let hint = if let Some(address) = &behind.address {
            let (address, pull) = (shell_word(address), pull.as_deref().unwrap_or("git trace pull"));
            &format!(
                "{address} has commits that are not at the address that is fetched from: `git remote add NAME {address}` and `{pull} NAME` merge them"
            )
        } else if let Some(pull) = pull {
            &format!("another clone pushed forward crumbs: `{pull}{from}` merges them")
        } else if force {
            &format!(
                "the remote has commits that were not fetched: look at them first with `git trace fetch{from}` and `git trace diff`"
            )
        } else {
            &format!(
                "the remote has commits that this trace lacks: `git trace pull{from}` merges them, `git trace push --force` drops them"
            )
        };
        context.ui.note(format!("hint: {after_purge}{hint}"));
    }
    Ok(ExitStatus::of(delivery.is_complete()))
}

impl FetchArgs {
    /// The arguments that fetch a ref by its full name.
    pub(crate) fn of_ref(remote: Option<String>, refname: String, json: bool) -> Self {
        Self { remote, traces: vec![refname], prune: false, refetch: false, quiet: QuietArgs { quiet: false }, json }
    }

    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        match context.named_trace()? {
            Some(name) if self.traces.is_empty() => {
                Self { traces: vec![name.to_string()], ..self.clone() }.fetch(context)
            }
            _ => self.fetch(context),
        }
    }

    fn fetch(&self, context: &Context) -> Result<ExitStatus> {
        self.quiet.apply(context);
        let remote = remote_of(context, self.remote.as_deref(), Direction::Fetch)?;
        let repo = context.repo()?;
        let flags = [(self.prune, "--prune"), (self.refetch, "--refetch"), (self.quiet.quiet, "--quiet")];
        let options: Vec<&str> = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag).collect();
        if self.refetch {
            repo.set_aside_all()?;
        }
        let skipped = fetch(repo, &remote, &self.traces, &options)?;
        let mut refused = refuse_independent(repo, &remote)?;
        refused.extend(refuse_fetched(repo, &remote)?);
        let Arrivals { traces, mut bad } = arrivals(repo, &remote, &self.traces)?;
        bad.extend(refused.into_iter().chain(skipped));
        report_bad(context, &remote, &bad);
        if self.json {
            let traces = traces.iter();
            let traces = traces.map(|one| json!({ "name": one.name.as_str(), "commit": one.tip.to_string() }));
            let listed: Vec<Value> = traces.collect();
            context.ui.json(&json!({ "remote": remote, "traces": listed, "skipped": bad_json(&bad) }))?;
        } else {
            for one in &traces {
                writeln!(context.ui, "{remote}/{} {}", one.name, short_oid(one.tip))?;
            }
            if self.traces.is_empty() && traces.is_empty() && bad.is_empty() && !self.quiet.quiet {
                context.ui.note(format!("no traces to fetch from `{}`", escaped(&remote)));
            }
        }
        Ok(ExitStatus::of(removes_purged(context)? && bad.is_empty()))
    }
}

/// Whether all purged objects that were fetched are removed. Otherwise, reports the reason.
pub(crate) fn removes_purged(context: &Context) -> Result<bool> {
    let Some(cause) = complete_removal(context.repo()?)? else { return Ok(true) };
    let retry = "the next `git trace fetch` or `git trace purge` without this obstacle removes them";
    context.ui.note(format!("error: purged objects that were fetched stay: {}; {retry}", escaped(&cause)));
    Ok(false)
}

/// Reports refs of a remote that are not traces, by their names and the reasons.
fn report_bad(context: &Context, remote: &str, bad: &[(String, String)]) {
    for (name, cause) in bad {
        context.ui.note(format!("warning: skipped {remote}/{name}: {cause}"));
    }
}

fn bad_json(bad: &[(String, String)]) -> Vec<Value> {
    bad.iter().map(|(name, cause)| json!({ "name": name, "cause": cause })).collect()
}

impl RemoteArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        if self.follow || self.unfollow {
            let remote = remote_of(context, self.remote.as_deref(), Direction::Fetch)?;
            follow(context.repo()?, &remote, self.follow)?;
            // A handle reads the settings once.
            if !self.follow && is_followed(&Repo::open_from_env(context.env.clone())?, &remote)? {
                let key = fetch_key(&remote);
                let message = format!("`{key}` is not only set in the repository");
                let hint = format!("`git config --show-origin --get-all {key}` lists the values");
                return Err(Error::with_hint(message, hint));
            }
            let what = if self.follow { "brings" } else { "no longer brings" };
            return writeln!(context.ui, "`git fetch {}` {what} its traces along", shell_word(remote));
        }
        self.nul.apply(context);
        let wanted = self.remote.as_ref().map(|remote| format!("{REMOTES}{remote}/"));
        let found = context.repo()?.list_refs(wanted.as_deref().unwrap_or(REMOTES))?;
        if found.is_empty() {
            context.ui.note("no trace of a remote is known here: `git trace fetch REMOTE` fetches them; `git remote -v` lists remotes");
        }
        for (refname, oid) in found {
            let name = refname.strip_prefix(REMOTES).unwrap_or(&refname).to_owned();
            if self.json {
                context.ui.json(&json!({ "name": name, "commit": oid.to_string() }))?;
            } else {
                writeln!(context.ui, "{name} {}", short_oid(oid))?;
            }
        }
        Ok(())
    }
}
