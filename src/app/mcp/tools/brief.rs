//! `brief`: what a session needs at its start.

use crate::app::context::Context;
use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::tool::Answer;
use crate::base::error::Result;
use crate::memory::brief::{BriefRequest, compile};
use crate::memory::forward::query_time;

tools! {
    brief: Reads, "Call first in a session: last session's note, open tasks, rules, known failures and facts, in under 800 tokens.";
    r#"{
        "budget": {"type": "integer", "minimum": 1, "default": 800},
        "breadcrumbs": {"type": "array", "items": {"type": "string"}, "description": "keys or prefixes such as auth."}
    }"# => r#"{
        "text!": "string", "tokens!": "integer",
        "sections!": {"type": "array", "items": {"type": "object"}},
        "left_out!": {"type": "array", "items": {"type": "object"}},
        "warnings!": {"type": "array", "items": {"type": "string"}}
    }"#;
}

/// The brief of the current trace, as the settings ask for it.
pub(crate) fn brief_request(context: &Context) -> Result<BriefRequest> {
    let request = BriefRequest::from_config(context.repo()?, None, &context.folder()?)?;
    Ok(BriefRequest { trace: context.trace_name(None)?, ..request })
}

fn brief(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = context.repo()?;
    let mut request = brief_request(context)?;
    request.budget = arguments.integer("budget", 1)?.unwrap_or(request.budget);
    let breadcrumbs = arguments.texts("breadcrumbs")?;
    if !breadcrumbs.is_empty() {
        request.breadcrumbs = breadcrumbs;
    }
    let brief = compile(repo, &request, query_time(repo, context.now())?);
    let text = if brief.text.is_empty() { "there is nothing to tell yet".to_owned() } else { brief.text.clone() };
    let warnings = brief.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
    Ok(Answer { value: brief.to_json(&request), text: Some(text), warnings })
}
