//! `trace_show`, `trace_grep`: the texts of items.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use crate::app::cli::caption;
use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::app::ui::{escaped, with_note};
use crate::base::error::{Context as _, Result, bail};
use crate::git::short_oid;
use crate::trace::Tip;
use crate::trace::query::grep::{self, Hit, PatternOptions};
use crate::trace::query::select::Among;
use crate::trace::query::show;

/// The most columns of a line that `trace_grep` shows, around its first match.
const LINE: usize = 240;

tools! {
    trace_show: Reads, "Read items in full, also an earlier revision or one that was deleted.";
    r#"{
        "item": "string: id, #7, #7..#9, turn @3", "filter": "object: type, tool, path, grep",
        "revision": {"type": "integer", "minimum": 1},
        "budget": {"type": "integer", "minimum": 100, "default": 4000}, "cursor": "string", "trace": "string"
    }"#;

    trace_grep: Reads, "Search the texts of a trace, also those of its history.";
    r#"{
        "pattern!": "string: regex", "fixed": "boolean", "ignore_case": "boolean", "type": "string", "history": "boolean",
        "budget": {"type": "integer", "minimum": 100, "default": 4000}, "cursor": "string", "trace": "string"
    }"#;
}

fn trace_show(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip, mut page) = arguments.page(context)?;
    let revision = arguments.integer("revision", 1)?;
    let ids = arguments.items(context, &name, &tip, Among::LiveOrNamed)?;
    if revision.is_some() && ids.len() > 1 {
        bail!("argument `revision` belongs to one item, and {} were named", ids.len());
    }
    for (number, id) in ids.into_iter().enumerate() {
        if page.is_full() {
            break;
        }
        let shown = show::read(repo, &name, &tip, id, revision).context("argument `revision`")?;
        page.write(&format!("{}{}\n\n", if number > 0 { "\n\n" } else { "" }, caption(context, &shown)?));
        page.write(&String::from_utf8_lossy(&shown.item.body));
    }
    page.finish(&tip, "")
}

fn trace_grep(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, _, tip, mut page) = arguments.page(context)?;
    let options = PatternOptions { fixed: arguments.is_set("fixed")?, ignore_case: arguments.is_set("ignore_case")? };
    let query = grep::Query::new(arguments.required("pattern")?, options, arguments.parsed("type")?);
    let query = query.context("argument `pattern`")?;
    let mut write = |commit: Option<&Tip>, hit: &Hit| {
        page.write(&lines(&query, commit, hit));
        if page.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    if arguments.is_set("history")? {
        grep::history(repo, &tip, &query, |commit, hit| write(Some(commit), &hit))?;
    } else {
        grep::live(repo, &tip, &query, |hit| write(None, &hit))?;
    }
    page.finish(&tip, "nothing matches")
}

/// The matching lines of an item, each after its position, id, and number.
fn lines(query: &grep::Query, commit: Option<&Tip>, hit: &Hit) -> String {
    let commit = commit.map(|tip| short_oid(tip.commit.oid) + " ").unwrap_or_default();
    let label = format!("{commit}#{} {}", hit.slot.seq, hit.slot.id);
    if hit.lines.is_empty() {
        return format!("{label}: binary content matches\n");
    }
    hit.lines.iter().fold(String::new(), |mut lines, line| {
        let parts = query.parts(&line.text).into_iter().map(|(matches, part)| (matches, escaped(part).into_owned()));
        let (shown, note) = with_note(parts.collect(), LINE);
        let shown: String = shown.into_iter().map(|(_, part)| part).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "{label}:{}:{shown}{note}", line.number);
        lines
    })
}
