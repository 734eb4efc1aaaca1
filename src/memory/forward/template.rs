//! Templates: crumbs of common kinds, so that each says what its kind is for.

use super::crumb::{CrumbType, Priority};
use super::error::ForwardError;
use super::leave::Note;
use super::text::Content;
use crate::base::string_enum::string_enum;

string_enum! {
    /// A common kind of crumb.
    Template {
        /// Where things stand: HIGH, orientation.
        Orientation = "orientation",
        /// Tasks to complete: HIGH, task; the summary is made.
        Task = "task",
        /// Work handed over half-done: HIGH, orientation, with what is unfinished and where to begin.
        Handover = "handover",
    }
}

impl Template {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Orientation, Self::Task, Self::Handover];

    /// Makes a note of what was given, with this kind's priority and type; `deadline` is for tasks.
    ///
    /// # Errors
    ///
    /// [`ForwardError::BadPart`] names what this kind cannot do without.
    pub(crate) fn note(self, mut content: Content, deadline: Option<&str>) -> Result<Note, ForwardError> {
        let missing = |part| ForwardError::BadPart { part, cause: format!("the template `{self}` needs one or more") };
        if deadline.is_some() && self != Self::Task {
            let cause = "only the template `task` has one".to_owned();
            return Err(ForwardError::BadPart { part: "deadline", cause });
        }
        if self != Self::Orientation && content.unfinished.is_empty() {
            return Err(missing("unfinished"));
        }
        if self == Self::Handover && content.if_disoriented.is_empty() {
            return Err(missing("if-disoriented"));
        }
        if self == Self::Task && content.summary.trim().is_empty() {
            let by = deadline.map(|deadline| format!(" by {deadline}")).unwrap_or_default();
            content.summary = format!("Tasks to complete{by}");
        }
        let crumb_type = if self == Self::Task { CrumbType::Task } else { CrumbType::Orientation };
        Ok(Note { priority: Priority::High, crumb_type, ..Note::new(content) })
    }
}
