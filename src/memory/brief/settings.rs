//! The brief that the configuration of a repository asks for.

use std::fs;
use std::path::Path;

use super::{BriefRequest, DEFAULT_BUDGET, SourcePath};
use crate::base::escape::escaped;
use crate::git::Repo;
use crate::memory::forward::{ForwardError, resolve_agent};
use crate::trace::AgentName;
use crate::trace::store::head;
use crate::trace::store::settings::counter;

impl BriefRequest {
    /// Reads `trace.agent`, `trace.briefBudget`, `trace.briefCrumb`, `trace.briefTeam`, `trace.briefInbox` (paths relative to
    /// the root of the work tree), and `trace.briefBreadcrumbs` (keys separated by spaces), for the current trace.
    pub(crate) fn from_config(repo: &Repo, agent: Option<&AgentName>, folder: &Path) -> Result<Self, ForwardError> {
        let config = repo.config()?;
        let root = repo.worktree().unwrap_or_else(|| folder.to_owned());
        let located = |path: String| -> SourcePath {
            let real = root.join(&path);
            let checked = repo.check_configured(&real).map(|()| real);
            checked.map_err(|error| format!("cannot read `{path}`: {error}"))
        };
        let path = |key: &str| -> Result<Option<SourcePath>, ForwardError> {
            Ok(config.text(key)?.filter(|path| !path.is_empty()).map(located))
        };
        let breadcrumbs = config.text("trace.briefBreadcrumbs")?.unwrap_or_default();
        let agent = resolve_agent(repo, agent)?;
        // By convention, an agent's crumb file has its name and is in the root.
        let default_crumb = agent.as_ref().and_then(|agent| find_crumb_file(&root, agent));
        let trace = head::current(repo)?;
        Ok(Self {
            agent,
            budget: config.number("trace.briefBudget")?.unwrap_or(DEFAULT_BUDGET),
            counter: counter(repo, Some(&trace))?,
            crumb: path("trace.briefCrumb")?.or_else(|| default_crumb.map(located)),
            team: path("trace.briefTeam")?,
            inbox: path("trace.briefInbox")?,
            breadcrumbs: breadcrumbs.split_whitespace().map(str::to_owned).collect(),
            trace: Some(trace),
            folder: folder.to_owned(),
            root,
        })
    }

    /// A path of a source as the user knows it: relative to the root of the work tree.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).display().to_string()
    }

    /// Which agents and files the request looks for, one line each.
    pub(crate) fn searched(&self) -> Vec<String> {
        let agent = self.agent.as_ref().map_or_else(
            || "no agent: name one with --agent, GITTRACE_AGENT, or git config trace.agent".to_owned(),
            |agent| format!("forward crumbs of agent `{agent}`"),
        );
        let file = |what: &str, path: &Option<SourcePath>, setting: &str| match path {
            Some(Ok(path)) => format!("{what} `{}`", self.shown(path)),
            Some(Err(error)) => format!("{what}: {error}"),
            None => format!("no {what}: git config {setting} is not set"),
        };
        let crumb = match (&self.crumb, &self.agent) {
            (None, Some(agent)) => {
                format!("crumb file `{agent}.crumb`, or the one that git config trace.briefCrumb names")
            }
            (crumb, _) => file("crumb file", crumb, "trace.briefCrumb"),
        };
        let keys = self.breadcrumbs.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let breadcrumbs = if keys.is_empty() {
            "no breadcrumbs: git config trace.briefBreadcrumbs is not set".to_owned()
        } else {
            format!("breadcrumbs {keys}")
        };
        let inbox = file("inbox", &self.inbox, "trace.briefInbox");
        let team = file("team file", &self.team, "trace.briefTeam");
        let trace = self.trace.iter().map(|trace| format!("trace `{trace}`"));
        let sources = [agent, crumb, "the current checkpoint".to_owned(), inbox, team, breadcrumbs];
        let lines = sources.into_iter().chain(trace);
        lines.map(|line| escaped(&line).into_owned()).collect()
    }
}

/// The crumb file of a folder with the agent's name, else the first one whose name differs only by case or normalization.
fn find_crumb_file(folder: &Path, agent: &AgentName) -> Option<String> {
    let own = format!("{agent}.crumb");
    if folder.join(&own).is_file() {
        return Some(own);
    }
    let names = fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_alike = |name: &String| {
        let stem = name.rsplit_once('.').filter(|(_, extension)| extension.eq_ignore_ascii_case("crumb"));
        stem.is_some_and(|(stem, _)| agent.is_alike(stem)) && folder.join(name).is_file()
    };
    names.filter(is_alike).min()
}
