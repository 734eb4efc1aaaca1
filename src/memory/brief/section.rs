//! Sections of a brief.

use crate::base::string_enum::string_enum;
use crate::trace::model::trailers::one_line;

/// The maximum length of an entry in characters. Longer ones are cut, so that one entry cannot displace all others.
const MAX_ENTRY_LEN: usize = 320;

string_enum! {
    /// The kinds of sections in their order; what does not fit is omitted from the end.
    SectionKind {
        Identity = "identity",
        Rules = "rules",
        Failures = "failures",
        LastSession = "last_session",
        Tasks = "tasks",
        NextActions = "next_actions",
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

/// Entries of one kind, one line each, most important first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    pub kind: SectionKind,
    pub entries: Vec<String>,
}

impl Section {
    pub(crate) fn new(kind: SectionKind) -> Self {
        Self { kind, entries: Vec::new() }
    }

    /// Adds a text as one line, cut to the maximum length, followed by `suffix`. Ignores an empty text.
    pub(crate) fn push(&mut self, text: &str, suffix: &str) {
        let line = one_line(text);
        if line.is_empty() {
            return;
        }
        let is_long = line.chars().count() > MAX_ENTRY_LEN;
        let entry = if is_long { line.chars().take(MAX_ENTRY_LEN - 1).chain(['…']).collect() } else { line };
        self.entries.push(entry + suffix);
    }
}
