//! Sections of a brief.

use crate::base::string_enum::string_enum;
use crate::trace::model::trailers::one_line;

/// How long an entry may be, in characters. What is longer is cut, so that one entry cannot take the place of all others.
const ENTRY_LEN: usize = 320;

string_enum! {
    /// What a section tells. They stand in this order, and the last goes first.
    Kind {
        /// Who the agent is.
        Identity = "identity",
        /// What it must and must not do.
        Rules = "rules",
        /// What went wrong before.
        Failures = "failures",
        /// What the session before left word of.
        LastSession = "last_session",
        /// What is still to be done.
        Tasks = "tasks",
        /// What the current checkpoint says comes next.
        NextActions = "next_actions",
        /// What others wrote to it.
        Inbox = "inbox",
        /// What the agents share.
        Team = "team",
        /// Facts that were asked for.
        Breadcrumbs = "breadcrumbs",
        /// What happened last.
        Trace = "trace",
    }
}

impl Kind {
    /// The head of the section.
    #[must_use]
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Identity => "Identity",
            Self::Rules => "Rules",
            Self::Failures => "Failures",
            Self::LastSession => "Last session",
            Self::Tasks => "Open tasks",
            Self::NextActions => "Next actions",
            Self::Inbox => "Inbox",
            Self::Team => "Team",
            Self::Breadcrumbs => "Breadcrumbs",
            Self::Trace => "Last in the trace",
        }
    }
}

/// A section: entries of one kind, the most important first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    /// What it tells.
    pub kind: Kind,
    /// Its entries, each one line.
    pub entries: Vec<String>,
}

impl Section {
    /// A section without entries.
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, entries: Vec::new() }
    }

    /// Adds an entry as one line, cut to what an entry may have, with what is to stand behind it.
    pub(crate) fn push(&mut self, text: &str, behind: &str) {
        let line = one_line(text);
        if line.is_empty() {
            return;
        }
        let entry = if line.chars().count() > ENTRY_LEN {
            line.chars().take(ENTRY_LEN - 1).chain(['…']).collect()
        } else {
            line
        };
        self.entries.push(entry + behind);
    }
}
