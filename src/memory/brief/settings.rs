//! The brief that the configuration of a repository asks for.

use std::path::Path;

use super::{BriefRequest, DEFAULT_BUDGET, SourcePath};
use crate::base::worktree_path::resolve;
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
            // The user may configure a path outside of the work tree, but a link in the work tree comes from the repository.
            let is_inside = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
            let real = if is_inside { resolve(&root, &path) } else { Ok(root.join(&path)) };
            real.map_err(|error| format!("cannot read `{path}`: {error}"))
        };
        let path = |key: &str| -> Result<Option<SourcePath>, ForwardError> {
            Ok(config.text(key)?.filter(|path| !path.is_empty()).map(located))
        };
        let breadcrumbs = config.text("trace.briefBreadcrumbs")?.unwrap_or_default();
        let agent = resolve_agent(repo, agent)?;
        // By convention, an agent's crumb file has its name and is in the root.
        let default_crumb =
            agent.as_ref().map(|agent| format!("{agent}.crumb")).filter(|path| root.join(path).is_file());
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
        })
    }
}
