//! `recall`: a search in all memories.

use serde_json::{Value, json};

use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::app::recall::to_json;
use crate::base::error::{Context as _, Result};
use crate::base::when::When;
use crate::memory::recall::{Query, search};

tools! {
    recall: Reads, "Search all memories by words: breadcrumbs, crumb files, forward crumbs, checkpoints, archives; the best match first.";
    r#"{
        "query!": "string: words; agent:x, kind:x, key:x, section:x must match",
        "since": "string: time", "traces": "boolean: search items too",
        "limit": {"type": "integer", "minimum": 1, "default": 10}
    }"# => r#"{"hits!": "array"}"#;
}

fn recall(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let mut query = Query::parse(arguments.required("query")?).context("argument `query`")?;
    query.limit = arguments.integer("limit", 1)?.unwrap_or(query.limit);
    query.traces |= arguments.is_set("traces")?;
    let since: Option<When> = arguments.parsed("since")?;
    query.since = since.map(|since| since.before(&context.clock())).transpose().context("argument `since`")?;
    let found = search(context.repo()?, &context.folder()?, &query, context.now())?;
    let hits: Vec<Value> = found.hits.iter().map(to_json).collect();
    Ok(Answer::with_warnings(json!({ "hits": hits }), &found.warnings))
}
