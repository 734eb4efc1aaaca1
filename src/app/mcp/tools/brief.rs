//! `brief`: what a session needs at its start.

use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::place::Place;
use crate::app::mcp::tool::{Answer, Effect, Group, Tool};
use crate::base::error::Result;
use crate::memory::brief::compile;
use crate::memory::forward::query_time;

pub(crate) const TOOLS: [Tool; 1] = [Tool {
    name: "brief",
    group: Group::Brief,
    by_default: true,
    description: "Call first in a session: last session's note, open tasks, rules, known failures and facts, in under 800 tokens.",
    effect: Effect::Reads,
    input: r#"{
        "budget": {"type": "integer", "minimum": 1, "default": 800},
        "breadcrumbs": {"type": "array", "items": {"type": "string"}, "description": "keys or prefixes such as auth."}
    }"#,
    required: &[],
    output: r#"{
        "text": {"type": "string"},
        "tokens": {"type": "integer"},
        "sections": {"type": "array", "items": {"type": "object"}},
        "left_out": {"type": "array", "items": {"type": "object"}},
        "warnings": {"type": "array", "items": {"type": "string"}}
    }"#,
    answered: &["text", "tokens", "sections", "left_out", "warnings"],
    run,
}];

fn run(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = place.repo()?;
    let mut request = place.brief(&repo)?;
    request.budget = arguments.integer("budget", 1)?.unwrap_or(request.budget);
    let breadcrumbs = arguments.texts("breadcrumbs")?;
    if !breadcrumbs.is_empty() {
        request.breadcrumbs = breadcrumbs;
    }
    let brief = compile(&repo, &request, query_time(&repo, place.now())?);
    let text = if brief.text.is_empty() { "there is nothing to tell yet".to_owned() } else { brief.text.clone() };
    let warnings = brief.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
    Ok(Answer { value: brief.to_json(&request), text: Some(text), warnings })
}
