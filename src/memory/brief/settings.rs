//! The brief as the settings of a repository ask for it.

use std::path::{Path, PathBuf};

use super::{Brief, BriefError, DEFAULT_BUDGET, Request, compile};
use crate::git::Repo;
use crate::memory::forward::agent::chosen;
use crate::trace::store::head;
use crate::trace::store::settings::encoding;
use crate::trace::{AgentName, Time};

impl Request {
    /// What the configuration asks for: `trace.agent`, `trace.briefBudget`, `trace.briefCrumb`, `trace.briefTeam`,
    /// `trace.briefInbox` (paths from the root of the working tree) and `trace.briefBreadcrumbs` (keys, with spaces
    /// between), of the current trace. Without `trace.briefCrumb` it is the agent's name with `.crumb`, where that file is.
    ///
    /// # Errors
    ///
    /// If a setting is not what it should be.
    pub(crate) fn of_settings(repo: &Repo, agent: Option<&AgentName>, folder: &Path) -> Result<Self, BriefError> {
        let config = repo.config()?;
        let root = repo.worktree().unwrap_or_else(|| folder.to_owned());
        let path = |key: &str| -> Result<Option<PathBuf>, BriefError> {
            Ok(config.text(key)?.filter(|path| !path.is_empty()).map(|path| root.join(path)))
        };
        let breadcrumbs = config.text("trace.briefBreadcrumbs")?.unwrap_or_default();
        let agent = chosen(repo, agent)?;
        // By custom an agent's file has its name and stands at the root.
        let own_crumb = agent.as_ref().map(|agent| root.join(format!("{agent}.crumb"))).filter(|path| path.is_file());
        Ok(Self {
            agent,
            budget: config.number("trace.briefBudget")?.unwrap_or(DEFAULT_BUDGET),
            encoding: encoding(repo)?,
            crumb: path("trace.briefCrumb")?.or(own_crumb),
            team: path("trace.briefTeam")?,
            inbox: path("trace.briefInbox")?,
            breadcrumbs: breadcrumbs.split_whitespace().map(str::to_owned).collect(),
            trace: head::current(repo)?,
            folder: folder.to_owned(),
        })
    }
}

/// The brief that the settings of a repository ask for, as a session that starts in `folder` gets it.
///
/// # Errors
///
/// If a setting is not what it should be.
pub(crate) fn of_repository(repo: &Repo, folder: &Path, now: Time) -> Result<Brief, BriefError> {
    Ok(compile(repo, &Request::of_settings(repo, None, folder)?, now))
}
