//! What `doctor` and `sessions` say of the agents whose sessions are recorded.

use std::env::current_exe;
use std::path::{Path, PathBuf};

use crate::app::cli::{Context, Result};
use crate::app::install::Mode;
use crate::app::install::agent::{AGENTS, Agent, AgentSetup, SettingsOwner};
use crate::app::install::doctor::Diagnosis;
use crate::git::Repo;
use crate::trace::Time;
use crate::trace::store::trace_index::TraceIndex;
use crate::transcript::agents::read_small;
use crate::transcript::format::Format;
use crate::transcript::import::hook;
use crate::transcript::import::seen::SeenFiles;

/// The last session that was recorded, with the time of that; without the cache, the newest of an agent's traces.
fn last_recorded(repo: &Repo, format: Format) -> Result<Option<(String, Time)>> {
    if let Some(last) = SeenFiles::read(repo, format).as_ref().and_then(SeenFiles::last) {
        return Ok(Some((last.trace().to_owned(), last.at())));
    }
    let prefix = format!("{format}/");
    let newest = TraceIndex::open(repo)?.newest_first(repo).find(|trace| trace.name.as_str().starts_with(&prefix));
    Ok(newest.and_then(|trace| Some((trace.name.to_string(), trace.time?))))
}

/// The failures of an agent's hooks since a session was recorded, the last one last.
fn failures(repo: &Repo, format: Format, last: Option<Time>) -> Vec<String> {
    let mut lines = hook::failures(repo.common_dir()).unwrap_or_default();
    lines.retain(|line| {
        let mut words = line.split(' ');
        let at: Option<Time> = words.next().and_then(|at| at.parse().ok());
        let is_later = at.zip(last).is_none_or(|(at, last)| at.as_second() >= last.as_second());
        words.next().and_then(|agent| agent.strip_suffix(':')) == Some(format.as_str()) && is_later
    });
    lines
}

/// Where an agent's hooks are: files of settings, and whether it has our plugin.
fn places(context: &Context, agent: &'static Agent, root: Option<&Path>) -> Vec<String> {
    let home = agent.home(&context.env).filter(|home| !home.as_os_str().is_empty());
    let project = root.map(|root| SettingsOwner::Project { root: root.to_owned(), common_dir: PathBuf::new() });
    let user = home.clone().map(|home| SettingsOwner::User { home, data: PathBuf::new() });
    // Only the name of the program counts here.
    let program = current_exe().map_or_else(|_| "git-trace".to_owned(), |path| path.display().to_string());
    let owners = project.into_iter().chain(user);
    let setups =
        owners.map(|owner| AgentSetup { agent, brief: false, owner, program: program.clone(), mode: Mode::DryRun });
    let mut places: Vec<String> = setups.filter(AgentSetup::calls_us).filter_map(|setup| setup.place()).collect();
    if home.is_some_and(|home| has_plugin(agent.format, &home)) {
        places.push("the plugin".to_owned());
    }
    places
}

/// The agents whose hooks record sessions in this working tree.
pub(super) fn recorders(context: &Context) -> Result<Vec<&'static str>> {
    let root = context.repo()?.worktree();
    let records = |agent: &&'static Agent| !places(context, agent, root.as_deref()).is_empty();
    Ok(AGENTS.iter().filter(records).map(|agent| agent.format.as_str()).collect())
}

/// Whether the user has our plugin, by the files in which the agents note that.
fn has_plugin(format: Format, home: &Path) -> bool {
    let notes = |file: &str, words: &str| {
        read_small(&home.join(file)).is_some_and(|text| memchr::memmem::find(&text, words.as_bytes()).is_some())
    };
    match format {
        Format::ClaudeCode => notes("plugins/installed_plugins.json", "\"git-trace@"),
        Format::Codex => notes("config.toml", "[plugins.\"git-trace@"),
        Format::GeminiCli => home.join("extensions/git-trace").exists(),
        _ => false,
    }
}

/// One finding per agent that records here or did, and one if its hooks failed since.
pub(super) fn examine(context: &Context, root: Option<&Path>) -> Result<Vec<Diagnosis>> {
    let repo = context.repo()?;
    let mut found = Vec::new();
    for agent in &AGENTS {
        let (format, last) = (agent.format, last_recorded(repo, agent.format)?);
        let places = places(context, agent, root);
        let failures = failures(repo, format, last.as_ref().map(|(_, at)| *at));
        let newest = match &last {
            Some((trace, at)) => format!("last recorded `{trace}` at {at}"),
            None => "no session is recorded yet".to_owned(),
        };
        if !places.is_empty() {
            let message = format!("{format}: hooks in {}; {newest}", places.join(" and "));
            found.push(Diagnosis::good("agent", message));
        } else if last.is_some() {
            let remedy = format!("`git trace install --agent {format} --global` records each session");
            found.push(Diagnosis { remedy, ..Diagnosis::good("agent", format!("{format}: no hooks; {newest}")) });
        }
        if let Some(last) = failures.last() {
            let message = format!(
                "{format}: hooks failed {} times since a session was recorded; the last: {last}",
                failures.len()
            );
            let log = hook::log_path(repo.common_dir());
            let remedy = format!(
                "fix the cause; the next session that is recorded ends this warning; all are in `{}`",
                log.display()
            );
            found.push(Diagnosis::warning("recording", message, remedy));
        }
    }
    Ok(found)
}

/// Reports hooks that failed since their agent's last session was recorded.
pub(in crate::app::cli) fn tell_failures(context: &Context) -> Result<()> {
    let repo = context.repo()?;
    if hook::failures(repo.common_dir()).unwrap_or_default().is_empty() {
        return Ok(());
    }
    for agent in &AGENTS {
        let format = agent.format;
        let last = last_recorded(repo, format)?.map(|(_, at)| at);
        if let Some(last) = failures(repo, format, last).last() {
            let text = crate::app::cli::escaped(last);
            context.ui.note(format!("warning: a hook failed: {text}"));
            context.ui.note("hint: `git trace doctor` examines the setup");
        }
    }
    Ok(())
}
