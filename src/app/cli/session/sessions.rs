//! `git trace sessions`: what agents' sessions were recorded.

use regex::Regex;

use crate::app::cli::flags::NulArgs;
use crate::app::cli::flags::traces::TraceFilterArgs;
use crate::app::cli::hook::agent::importing;
use crate::app::cli::setup::agents::tell_failures;
use crate::app::cli::{Context, DIM, ID, Result, Value, columns, error, escaped, json, minute, without_middle};
use crate::git::short_oid;
use crate::trace::query::find::{Order, Wanted};
use crate::trace::store::archived::{self, Archived};
use crate::trace::store::settings::{self, Recording};
use crate::trace::{Time, TraceName};
use crate::transcript::format::Format;
use crate::transcript::import::catch_up;
use crate::transcript::import::sessions::{Among, Family, RecordedSession, list, newest};

/// Columns in which a shortened name is still known.
const NAME: usize = 20;

/// List the recorded sessions of agents, newest first
///
/// Where hooks record, it first records what agents wrote in this folder without calling a hook afterwards, such as a session that was
/// killed.
///
/// Shows for each its size, its title, and the code commits made during the session. The title is the agent's own summary, else
/// the first words of the user. Below a session, indented, are the traces that share its history, such as branches of it.
#[derive(clap::Args, Debug)]
pub(crate) struct SessionsArgs {
    #[command(flatten)]
    filter: TraceFilterArgs,
    /// List archived traces, which a remote keeps instead of this repository; `git trace switch` fetches one
    #[arg(long, conflicts_with = "author")]
    archived: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl SessionsArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.nul.apply(context);
        if self.archived {
            return list_archived(context, &self.filter.read(context, Order::Newest)?, self.json);
        }
        catch_up(context)?;
        tell_failures(context)?;
        let wanted = self.filter.read(context, Order::Newest)?;
        let found = list(context.repo()?, &wanted, Among::Sessions)?;
        if found.is_empty() && newest(context.repo()?)?.is_none() {
            context.ui.note("no session is recorded here: `git trace import claude-code` imports one; `git trace install --agent claude-code` records them");
        }
        for Family { name, members } in &found {
            let mut title = None;
            for (index, recorded) in members.iter().enumerate() {
                if self.json {
                    context.ui.json(&to_json(name, recorded))?;
                } else {
                    let own = recorded.title.as_deref().filter(|own| title != Some(*own));
                    context.ui.entry(|| print(context, recorded, index > 0, own))?;
                    title = recorded.title.as_deref();
                }
            }
        }
        Ok(())
    }
}

fn list_archived(context: &Context, wanted: &Wanted, json: bool) -> Result<()> {
    let repo = context.repo()?;
    let mut found = archived::all(repo)?;
    if found.is_empty() {
        context
            .ui
            .note("no trace is archived: `git trace archive --older-than '90 days' REMOTE` archives old sessions");
    }
    let is_of_agent = |one: &Archived, agent: &String| one.name.as_str().split('/').next() == Some(agent);
    let has_title = |one: &Archived, title: &Regex| title.is_match(one.title.as_deref().unwrap_or_default());
    found.retain(|one| {
        wanted.since.is_none_or(|since| one.at >= since)
            && wanted.agent.as_ref().is_none_or(|agent| is_of_agent(one, agent))
            && wanted.title.as_ref().is_none_or(|title| has_title(one, title))
    });
    match wanted.order {
        Order::Newest => {}
        Order::Oldest => found.reverse(),
        Order::Name => found.sort_by(|one, other| one.name.cmp(&other.name)),
    }
    for one in found.iter().take(wanted.most) {
        let Archived { name, remote, tip, at, title, items, tokens, .. } = one;
        if json {
            context.ui.json(&json!({ "trace": name.as_str(), "remote": remote, "commit": tip.to_string(),
                "changed_at": at.to_string(), "title": title, "items": items, "tokens": tokens }))?;
            continue;
        }
        let ui = &context.ui;
        let details = format!("{}  {items} items, {tokens} tokens, on {}", minute(*at), escaped(remote));
        let name = ui.styled(ID, &without_middle(&escaped(name.as_str()), ui.left(columns(&details) + 2)));
        writeln!(ui, "{name}  {}", ui.styled(DIM, &details))?;
        if let Some(title) = title {
            writeln!(ui, "    {}", ui.fit(4, title))?;
        }
    }
    Ok(())
}

/// Records what agents wrote without calling a hook afterwards. Nothing of that stops the list.
fn catch_up(context: &Context) -> Result<()> {
    let (repo, folders) = (context.repo()?, context.session_folders()?);
    if !matches!(settings::recording(repo), Ok(Recording::Unsaid | Recording::Wanted)) {
        return Ok(());
    }
    for format in Format::all() {
        let grown = catch_up::grown(repo, format, &folders, usize::MAX).unwrap_or_else(|problem| {
            context.ui.note(format!("warning: cannot look for new sessions of {format}: {problem}"));
            Vec::new()
        });
        for file in grown {
            match importing(context, |importing| catch_up::import(importing, format, &file))? {
                Ok(imported) => {
                    for (name, report) in imported.traces.iter().filter(|(_, report)| report.recorded > 0) {
                        let count = report.recorded;
                        context.ui.note(format!("items recorded in `{name}` that no hook recorded: {count}"));
                    }
                }
                Err(problem) => error::print(&problem.into()),
            }
        }
    }
    Ok(())
}

fn print(context: &Context, recorded: &RecordedSession, is_indented: bool, title: Option<&str>) -> Result<()> {
    let RecordedSession { name, began, ended, items, total, sub_agents, commits, .. } = recorded;
    let indent = if is_indented { "  " } else { "" };
    let ui = &context.ui;
    let agents = if *sub_agents > 0 { format!(", {sub_agents} sub-agents") } else { String::new() };
    let when = format!("{} to {}", minute(*began), minute(*ended));
    let size = format!("{items} items, {} tokens ({}){agents}", total.tokens, total.basis.source());
    let details = [&*when, &size].map(columns).iter().sum::<usize>() + indent.len() + 4;
    let (name, when) = (escaped(name.as_str()), ui.styled(DIM, &when));
    // Where the name and the details do not fit in a line, the details have their own.
    if ui.width().is_some_and(|width| width < details + columns(&name).min(NAME)) {
        writeln!(ui, "{indent}{}", ui.styled(ID, &without_middle(&name, ui.left(indent.len()))))?;
        let details =
            if ui.width() < Some(details) { format!("{when}\n{indent}    {size}") } else { format!("{when}  {size}") };
        writeln!(ui, "{indent}    {details}")?;
    } else {
        writeln!(ui, "{indent}{}  {when}  {size}", ui.styled(ID, &without_middle(&name, ui.left(details))))?;
    }
    if let Some(title) = title {
        writeln!(ui, "{indent}    {}", ui.fit(indent.len() + 4, title))?;
    }
    for commit in commits.iter().filter(|_| !is_indented) {
        let used = columns(&short_oid(commit.oid)) + 5;
        writeln!(ui, "    {} {}", ui.oid(commit.oid), ui.fit(used, &commit.subject))?;
    }
    Ok(())
}

fn to_json(family: &TraceName, recorded: &RecordedSession) -> Value {
    let commits = recorded.commits.iter().map(|commit| {
        let at = Time::from_second(commit.time).to_string();
        json!({ "commit": commit.oid.to_string(), "at": at, "subject": commit.subject })
    });
    let tip = &recorded.tip;
    json!({
        "trace": recorded.name.as_str(),
        "family": family.as_str(),
        "agent": recorded.agent.map(Format::as_str),
        "title": recorded.title,
        "began_at": recorded.began.to_string(),
        "ended_at": recorded.ended.to_string(),
        "items": recorded.items,
        "tokens": recorded.total.tokens,
        "source": recorded.total.basis.source(),
        "tip": tip.to_json(),
        "sub_agents": recorded.sub_agents,
        "commits": commits.collect::<Vec<_>>(),
    })
}
