//! Names: of traces and of agents, and where they stand among the refs.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::base::error::Diagnostic;
use crate::git::Repo;

/// The symbolic ref, one per worktree, that names the current trace.
pub(crate) const TRACE_HEAD: &str = "TRACE_HEAD";

/// The trace that is meant where nobody named one.
pub(crate) const DEFAULT_TRACE: &str = "main";

/// Where traces are.
pub(crate) const TRACES: &str = "refs/traces/";

/// Where the forward crumbs of each agent are: traces of their own kind.
pub(crate) const FORWARD_CRUMBS: &str = "refs/crumbs/";

/// The short name of a trace, such as `main` or `claude-code/6b2e`; its ref is `refs/traces/<name>`.
///
/// An agent's forward crumbs are a trace too, which no text names: only [`TraceName::of_agent`] leads there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TraceName {
    /// Where its ref is: [`TRACES`] or [`FORWARD_CRUMBS`].
    place: &'static str,
    name: String,
}

/// Why a text cannot name a trace.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{}` cannot name a trace: git's rules for branch names apply", text.escape_debug())]
pub struct BadTraceName {
    /// The text as it was given.
    pub text: String,
}

impl Diagnostic for BadTraceName {}

impl TraceName {
    /// The trace that is meant where nobody named one: `main`.
    #[must_use]
    pub fn default_name() -> Self {
        Self::trace(DEFAULT_TRACE.to_owned())
    }

    /// The name in a ref under [`TRACES`]; `None` of any other ref.
    #[must_use]
    pub fn of_ref(refname: &str) -> Option<Self> {
        refname.strip_prefix(TRACES)?.parse().ok()
    }

    /// The trace of a recorded session: `<agent>/<session>`.
    ///
    /// A session id that no ref can hold (a file may say anything) has its odd characters replaced by `-`.
    #[must_use]
    pub fn of_session(agent: &str, session: &str) -> Self {
        Self::trace(format!("{agent}/{}", plain_word(session)))
    }

    /// The trace of one of this one's sub-agents: `<trace>.agent-<id>`, since a ref cannot be a folder too.
    #[must_use]
    pub fn of_sub_agent(&self, agent_id: &str) -> Self {
        Self::trace(format!("{}.agent-{}", self.name, plain_word(agent_id)))
    }

    /// The forward crumbs of an agent: `refs/crumbs/<agent>`.
    #[must_use]
    pub fn of_agent(agent: &AgentName) -> Self {
        Self { place: FORWARD_CRUMBS, name: agent.as_str().to_owned() }
    }

    fn trace(name: String) -> Self {
        Self { place: TRACES, name }
    }

    /// The short name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The full name of its ref.
    #[must_use]
    pub fn refname(&self) -> String {
        format!("{}{}", self.place, self.name)
    }
}

/// A text made fit to be one part of a ref's name.
fn plain_word(text: &str) -> String {
    let word: String =
        text.chars().take(100).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    if word.is_empty() { "unnamed".to_owned() } else { word }
}

impl fmt::Display for TraceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place == TRACES { f.write_str(&self.name) } else { f.write_str(&self.refname()) }
    }
}

impl FromStr for TraceName {
    type Err = BadTraceName;

    fn from_str(text: &str) -> Result<Self, BadTraceName> {
        let name = text.strip_prefix(TRACES).unwrap_or(text);
        if !name.starts_with('-') && Repo::is_refname(&format!("{TRACES}{name}")) && name.len() <= 240 {
            Ok(Self::trace(name.to_owned()))
        } else {
            Err(BadTraceName { text: text.to_owned() })
        }
    }
}

/// The name of an agent: 1 to 64 of ASCII letters, digits, `.`, `_` and `-` that git takes as a part of a ref's name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AgentName(String);

/// Why a text cannot name an agent.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{}` cannot name an agent: 1 to 64 letters, digits, `_`, `-` and single `.` inside can", text.escape_debug())]
pub struct BadAgentName {
    /// The text as it was given.
    pub text: String,
}

impl Diagnostic for BadAgentName {}

impl AgentName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for AgentName {
    type Err = BadAgentName;

    fn from_str(text: &str) -> Result<Self, BadAgentName> {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
        let fits = (1..=64).contains(&text.len()) && !text.starts_with('-');
        if plain && fits && Repo::is_refname(&format!("{FORWARD_CRUMBS}{text}")) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadAgentName { text: text.to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_name_is_what_git_takes_for_a_branch() {
        for good in ["main", "a/b", "claude-code/6b2e", "x.agent-1", "héllo"] {
            assert_eq!(good.parse::<TraceName>().unwrap().refname(), format!("refs/traces/{good}"));
        }
        for bad in ["", "-x", "a..b", "a b", "a/", "/a", "x.lock", "a\nb", "a~1", "@{x}"] {
            assert!(bad.parse::<TraceName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_agent_has_a_place_that_no_trace_name_reaches() {
        for good in ["azoth", "A.b_c-9", "main", "x".repeat(64).as_str()] {
            let agent: AgentName = good.parse().unwrap();
            let name = TraceName::of_agent(&agent);
            assert_eq!(name.refname(), format!("refs/crumbs/{good}"));
            assert_eq!(name.to_string(), name.refname());
            assert_ne!(name.to_string().parse::<TraceName>(), Ok(name));
        }
        for bad in ["", "-x", "a/b", "..", ".", "a..b", "x.lock", "a b", "é", "a\n", "x".repeat(65).as_str()] {
            assert!(bad.parse::<AgentName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_hostile_session_id_still_makes_a_name() {
        for session in ["../../heads/main", "", "a\nb", "x.lock", "é".repeat(500).as_str()] {
            let name = TraceName::of_session("claude-code", session);
            assert!(name.as_str().parse::<TraceName>().is_ok(), "{name}");
            assert!(name.of_sub_agent(session).as_str().parse::<TraceName>().is_ok());
        }
    }
}
