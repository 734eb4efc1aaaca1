//! `brief`: what a session needs at its start.

use crate::app::context::Context;
use crate::app::mcp::answer::{Answer, warning_lines};
use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::page::fit;
use crate::base::error::Result;
use crate::memory::brief::{BriefRequest, compile};
use crate::memory::forward::query_time;

tools! {
    brief: Reads, "Call first in a session: last session's note, open tasks, rules, known failures and facts, in under 800 tokens.";
    r#"{
        "budget": {"type": "integer", "minimum": 100, "default": 800},
        "breadcrumbs": {"type": "array", "items": {"type": "string"}, "description": "keys or prefixes such as auth."}
    }"#;
}

/// The brief of the current trace, as the settings ask for it.
pub(crate) fn brief_request(context: &Context) -> Result<BriefRequest> {
    let request = BriefRequest::from_config(context.repo()?, None, &context.folder()?)?;
    Ok(BriefRequest { trace: Some(context.trace_name(None)?), ..request })
}

fn brief(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let repo = context.repo()?;
    let mut request = brief_request(context)?;
    let budget = arguments.budget(request.budget)?;
    let breadcrumbs = arguments.texts("breadcrumbs")?;
    if !breadcrumbs.is_empty() {
        request.breadcrumbs = breadcrumbs;
    }
    let now = query_time(repo, context.now())?;
    fit(budget, request.counter, |allowed| {
        let brief = compile(repo, &BriefRequest { budget: allowed, ..request.clone() }, now);
        let text = if brief.text.is_empty() { brief.empty_note() } else { brief.text };
        let warnings: Vec<_> = brief.warnings.iter().map(|warning| format!("warning: {warning}")).collect();
        Ok([text].into_iter().chain(warning_lines(&warnings)).collect())
    })
}
