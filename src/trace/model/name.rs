//! The names of traces and agents, and their refs.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{CONTROLS, percent_decode_str, utf8_percent_encode};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use crate::base::error::Diagnostic;
use crate::base::escape::has_unprintable;
use crate::git::Repo;

/// The symbolic ref, one per worktree, that names the current trace.
pub(crate) const TRACE_HEAD: &str = "TRACE_HEAD";

/// The symbolic ref, one per worktree, that names the previous trace. The reflog of `TRACE_HEAD` cannot replace it, because git
/// writes one only under some settings.
pub(crate) const PREVIOUS: &str = "TRACE_PREVIOUS_HEAD";

/// Separates the name of a session's trace from the id of a sub-agent.
const SUB_AGENT: &str = ".agent-";

pub(crate) const TRACES: &str = "refs/traces/";

/// The namespace of forward crumbs, one trace per agent.
pub(crate) const FORWARD_CRUMBS: &str = "refs/crumbs/";

/// The traces of remotes as last fetched: `refs/trace-remotes/<remote>/<trace>`.
pub(crate) const REMOTES: &str = "refs/trace-remotes/";

/// Histories of lines, such as that of priorities, that clones push to this repository.
pub(crate) const RECORDS: &str = "refs/trace-records/";

/// Those of remotes, as last fetched.
pub(crate) const REMOTE_RECORDS: &str = "refs/trace-remote-records/";

/// The short name of a trace, such as `main` or `claude-code/6b2e`; its ref is `refs/traces/<name>`.
///
/// The forward crumbs of an agent are a trace too, but no text names it: use [`TraceName::of_agent`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TraceName {
    /// [`TRACES`] or [`FORWARD_CRUMBS`].
    namespace: &'static str,
    name: String,
}

/// A text that cannot be the name of a trace.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid trace name `{}`: git's rules for branch names apply", .0.escape_debug())]
pub struct BadTraceName(pub(crate) String);

impl Diagnostic for BadTraceName {
    fn hint(&self) -> Option<String> {
        self.0.starts_with('#').then(|| "`#3` names an item; begin the name with a letter".to_owned())
    }
}

impl TraceName {
    /// The default trace, `main`.
    #[must_use]
    pub fn default_name() -> Self {
        Self::trace("main".to_owned())
    }

    /// The trace of a ref under `refs/traces/`; `None` for any other ref.
    #[must_use]
    pub fn of_ref(refname: &str) -> Option<Self> {
        Self::exact(refname.strip_prefix(TRACES)?).ok()
    }

    /// The name itself, and not the ref of another one.
    fn exact(name: &str) -> Result<Self, BadTraceName> {
        // As in git, `HEAD` names what is checked out, and the fetched `origin/HEAD` the remote's default. Git admits characters that
        // a terminal obeys, and names are printed everywhere.
        let is_reserved = matches!(name, "HEAD" | TRACE_HEAD | PREVIOUS) || name.starts_with(TRACES);
        // `#3` is an item.
        let is_plain = !name.starts_with(['-', '#']) && name.len() <= 240 && !has_unprintable(name);
        if is_plain && !is_reserved && Repo::is_refname(&format!("{TRACES}{name}")) {
            Ok(Self::trace(name.to_owned()))
        } else {
            Err(BadTraceName(name.to_owned()))
        }
    }

    /// The trace of a recorded session: `<agent>/<session>`.
    ///
    /// Any session id gives a valid name, because a file may contain any; different ids give different names.
    #[must_use]
    pub fn of_session(agent: &str, session: &str) -> Self {
        Self::trace(format!("{agent}/{}", plain_word(session)))
    }

    /// The name with the agent as its first part.
    pub(crate) fn as_family(&self, agent: &str) -> Self {
        let is_of_agent = self.name.split_once('/').is_some_and(|(first, _)| first == agent);
        if is_of_agent { self.clone() } else { Self::of_session(agent, &self.name) }
    }

    /// The trace of a sub-agent: `<trace>.agent-<id>`, because a ref cannot also be a folder.
    #[must_use]
    pub fn of_sub_agent(&self, agent_id: &str) -> Self {
        Self::trace(format!("{}{SUB_AGENT}{}", self.name, plain_word(agent_id)))
    }

    pub(crate) fn is_of_sub_agent(&self) -> bool {
        self.name.contains(SUB_AGENT)
    }

    pub(crate) fn is_sub_agent_of(&self, other: &Self) -> bool {
        self.above_sub_agents().any(|name| name == other.name)
    }

    /// The trace that a trace of a sub-agent is named after, by their names.
    pub(crate) fn above_sub_agent(name: &str) -> Option<&str> {
        name.split_once(SUB_AGENT).map(|(above, _)| above)
    }

    /// The names of the traces above this one, if it is that of a sub-agent.
    pub(crate) fn above_sub_agents(&self) -> impl Iterator<Item = &str> {
        self.name.match_indices(SUB_AGENT).map(|(at, _)| &self.name[..at])
    }

    /// The trace of a session that left the trace it was recorded in: `<trace>.fork`, then `<trace>.fork-2`.
    pub(crate) fn of_fork(&self, number: u32) -> Self {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        Self::trace(format!("{}.fork{suffix}", self.name))
    }

    /// The trace of one of several conversations: `<trace>/0001`.
    pub(crate) fn of_conversation(&self, number: usize) -> Self {
        Self::trace(format!("{}/{number:04}", self.name))
    }

    /// The forward crumbs of an agent: `refs/crumbs/<agent>`.
    #[must_use]
    pub fn of_agent(agent: &AgentName) -> Self {
        Self { namespace: FORWARD_CRUMBS, name: agent.ref_component() }
    }

    fn trace(name: String) -> Self {
        Self { namespace: TRACES, name }
    }

    /// The short name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The full name of its ref.
    #[must_use]
    pub fn refname(&self) -> String {
        format!("{}{}", self.namespace, self.name)
    }
}

/// Converts a text to a valid component of a ref name. A text that is none gets a part of its hash, so that `x.1` is not `x-1`.
fn plain_word(text: &str) -> String {
    let word: String =
        text.chars().take(100).map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    match &*word {
        "" => "unnamed".to_owned(),
        same if same == text => word,
        _ => format!("{word}-{}", &blake3::hash(text.as_bytes()).to_hex()[..8]),
    }
}

impl fmt::Display for TraceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace == TRACES { f.write_str(&self.name) } else { f.write_str(&self.refname()) }
    }
}

impl FromStr for TraceName {
    type Err = BadTraceName;

    fn from_str(text: &str) -> Result<Self, BadTraceName> {
        Self::exact(text.strip_prefix(TRACES).unwrap_or(text)).map_err(|_| BadTraceName(text.to_owned()))
    }
}

/// The name of an agent: 1 to 64 letters, digits, `.`, `_`, `-`, and characters beyond ASCII, in the normalization form NFC.
///
/// In its ref, each byte beyond ASCII is `%` and two hex digits. So no file system joins two names, or gives one back in another
/// form, because of how it compares such letters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AgentName(String);

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid agent name `{}`: expected 1 to 64 letters, digits, `_`, `-`, and single `.` inside", .0.escape_debug())]
pub struct BadAgentName(String);

impl Diagnostic for BadAgentName {}

/// The maximum length of a name in its ref. A file name has at most 255 bytes, and git adds `.lock`.
const MAX_AGENT_REF_LEN: usize = 240;

impl AgentName {
    /// The agent whose forward crumbs are in a ref; `None` for any other ref.
    pub(crate) fn of_ref(refname: &str) -> Option<Self> {
        let component = refname.strip_prefix(FORWARD_CRUMBS)?;
        let agent: Self = percent_decode_str(component).decode_utf8().ok()?.parse().ok()?;
        (agent.ref_component() == component).then_some(agent)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text is this name, regardless of case and normalization.
    pub(crate) fn is_alike(&self, text: &str) -> bool {
        let folded = |text: &str| text.to_lowercase().nfc().collect::<String>();
        folded(&self.0) == folded(text)
    }

    fn ref_component(&self) -> String {
        utf8_percent_encode(&self.0, CONTROLS).to_string()
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
        let is_valid =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') || !(c.is_ascii() || c.is_whitespace());
        let agent = Self(text.nfc().collect());
        let component = agent.ref_component();
        let fits = (1..=64).contains(&agent.0.chars().count()) && component.len() <= MAX_AGENT_REF_LEN;
        let is_plain = fits && !text.starts_with('-') && agent.0.chars().all(is_valid) && !has_unprintable(&agent.0);
        if is_plain && Repo::is_refname(&format!("{FORWARD_CRUMBS}{component}")) {
            Ok(agent)
        } else {
            Err(BadAgentName(text.to_owned()))
        }
    }
}
