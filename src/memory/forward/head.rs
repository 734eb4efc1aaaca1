//! The header of a text as far as it can be read. A damaged one still says when a forward crumb was written, and for whom.

use super::crumb::{CrumbType, Priority};
use super::text::parse_timestamp;
use crate::trace::Time;

/// The published header has six lines.
const MAX_LINES: usize = 8;

#[derive(Debug)]
pub(crate) struct Head<'t> {
    /// As written.
    pub priority: Option<&'t str>,
    /// As written.
    pub crumb_type: Option<&'t str>,
    pub session_id: Option<&'t str>,
    pub agent: Option<&'t str>,
    pub at: Option<Time>,
    /// The text after the header.
    pub body: &'t str,
}

/// The header at the beginning of a text; `None` if it has no line `∴ FORWARD CRUMB …`.
pub(crate) fn head(text: &str) -> Option<Head<'_>> {
    let mut head = Head { priority: None, crumb_type: None, session_id: None, agent: None, at: None, body: text };
    let mut has_title = false;
    for line in text.split_inclusive('\n').take(MAX_LINES) {
        let content = line.trim();
        if let Some(title) = content.strip_prefix("∴ FORWARD CRUMB") {
            has_title = true;
            let title = title.trim_matches([' ', '(', ')', '∴']);
            (head.priority, head.crumb_type) = match title.split_once(" PRIORITY - ") {
                Some((priority, crumb_type)) => (Some(priority), Some(crumb_type)),
                None => (None, None),
            };
        } else if let Some(session_id) = content.strip_prefix("From: ") {
            head.session_id = Some(session_id.trim());
        } else if let Some(agent) = content.strip_prefix("To: Future ") {
            head.agent = Some(agent.strip_suffix(" instances").unwrap_or(agent));
        } else if let Some(at) = content.strip_prefix("Timestamp: ") {
            head.at = parse_timestamp(at);
        } else if !content.is_empty() && !content.starts_with('═') {
            break;
        }
        head.body = &head.body[line.len()..];
    }
    has_title.then_some(head)
}

impl Head<'_> {
    /// The priority; the error says what is written instead.
    pub(crate) fn priority(&self) -> Option<Result<Priority, String>> {
        self.priority.map(|text| text.parse().map_err(|error| format!("{error}")))
    }

    /// The type; the error says what is written instead.
    pub(crate) fn crumb_type(&self) -> Option<Result<CrumbType, String>> {
        self.crumb_type.map(|text| text.to_ascii_lowercase().parse().map_err(|error| format!("{error}")))
    }
}
