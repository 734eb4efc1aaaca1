//! Sections of a brief.

use crate::base::escape::escaped;
use crate::base::string_enum::string_enum;
use crate::trace::model::trailers::one_line;

/// The maximum length of an entry in characters. Longer ones are cut, unless they are rules.
const MAX_ENTRY_LEN: usize = 320;

string_enum! {
    /// The kinds of sections in their order.
    SectionKind {
        Identity = "identity",
        Rules = "rules",
        Failures = "failures",
        Active = "active",
        LastSession = "last_session",
        Tasks = "tasks",
        Checkpoint = "checkpoint",
        NextActions = "next_actions",
        Notes = "notes",
        Other = "other",
        /// Forward crumbs that were imported, and their tasks.
        Imported = "imported",
        Inbox = "inbox",
        Team = "team",
        Breadcrumbs = "breadcrumbs",
        Trace = "trace",
    }
}

impl SectionKind {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Identity => "Identity",
            Self::Rules => "Rules",
            Self::Failures => "Failures",
            Self::Active => "Active",
            Self::LastSession => "Last session",
            Self::Tasks => "Open tasks",
            Self::Checkpoint => "Checkpoint",
            Self::NextActions => "Next actions",
            Self::Notes => "Notes",
            Self::Other => "Other sections",
            Self::Imported => "Imported notes",
            Self::Inbox => "Inbox",
            Self::Team => "Team",
            Self::Breadcrumbs => "Breadcrumbs",
            Self::Trace => "Last in the trace",
        }
    }

    /// Whether the words are those of others: the agent must not take them for instructions.
    pub(crate) fn is_data(self) -> bool {
        matches!(self, Self::Imported | Self::Inbox | Self::Team)
    }

    /// The share of the budget, relative to the shares of the other sections that have entries.
    pub(crate) fn weight(self) -> u64 {
        match self {
            Self::Rules | Self::LastSession | Self::Tasks | Self::Inbox => 3,
            Self::Imported | Self::Other | Self::Trace => 1,
            _ => 2,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BriefEntry {
    pub text: String,
    /// A rule, constraint, or directive: it is included before anything else, and never cut.
    pub is_rule: bool,
    pub is_cut: bool,
}

/// Entries of one kind, one line each, most important first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    pub kind: SectionKind,
    /// The command that shows all entries in full.
    pub shown_by: String,
    pub entries: Vec<BriefEntry>,
}

impl Section {
    pub(crate) fn new(kind: SectionKind, shown_by: &str) -> Self {
        Self { kind, shown_by: escaped(&one_line(shown_by)).into_owned(), entries: Vec::new() }
    }

    /// Adds a text as one line, cut to the maximum length, followed by `suffix`. Ignores an empty text.
    pub(crate) fn push(&mut self, text: &str, suffix: &str) {
        self.push_line(text, suffix, false);
    }

    /// Adds a text that is never cut.
    pub(crate) fn push_rule(&mut self, text: &str) {
        self.push_line(text, "", true);
    }

    fn push_line(&mut self, text: &str, suffix: &str, is_rule: bool) {
        let line = one_line(text);
        if line.is_empty() {
            return;
        }
        let line = escaped(&line);
        let is_cut = !is_rule && line.chars().count() > MAX_ENTRY_LEN;
        let line: String =
            if is_cut { line.chars().take(MAX_ENTRY_LEN - 1).chain(['…']).collect() } else { line.into_owned() };
        self.entries.push(BriefEntry { text: line + suffix, is_rule, is_cut });
    }
}
