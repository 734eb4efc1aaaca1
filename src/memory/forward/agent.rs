//! Whose crumbs are meant.

use super::error::ForwardError;
use crate::git::Repo;
use crate::trace::AgentName;

/// The agent that was named: by the command, else by `GITTRACE_AGENT`, else by `trace.agent`; `None` where nobody named one.
///
/// # Errors
///
/// [`ForwardError::BadAgent`] if the environment or the configuration holds what cannot name one.
pub(crate) fn chosen(repo: &Repo, given: Option<&AgentName>) -> Result<Option<AgentName>, ForwardError> {
    if let Some(agent) = given {
        return Ok(Some(agent.clone()));
    }
    let parsed = |place: &'static str, text: &str| {
        text.parse().map(Some).map_err(|source| ForwardError::BadAgent { place, source })
    };
    if let Some(text) = repo.env().text("GITTRACE_AGENT") {
        return parsed("GITTRACE_AGENT", text);
    }
    match repo.config()?.text("trace.agent")? {
        Some(text) => parsed("trace.agent", &text),
        None => Ok(None),
    }
}
