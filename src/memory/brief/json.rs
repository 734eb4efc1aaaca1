//! A brief as JSON.

use serde_json::{Value, json};

use super::{Brief, Request};
use crate::trace::AgentName;

/// The text, the sections that it is made of, what was left out, and the warnings.
#[must_use]
pub(crate) fn to_json(request: &Request, brief: &Brief) -> Value {
    let sections = brief.sections.iter().map(
        |section| json!({ "kind": section.kind.as_str(), "title": section.kind.title(), "entries": section.entries }),
    );
    let left_out = brief.left_out.iter().map(|(kind, count)| json!({ "kind": kind.as_str(), "entries": count }));
    json!({
        "agent": request.agent.as_ref().map(AgentName::as_str),
        "budget": request.budget,
        "tokens": brief.tokens,
        "encoding": request.encoding.as_str(),
        "sections": sections.collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "warnings": brief.warnings,
        "text": brief.text,
    })
}
