//! `trace_edit`, `trace_delete`, `trace_restore`, `trace_priority`: one item.

use std::cell::RefCell;

use serde_json::{Value, json};

use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::base::error::{Context as _, Result, bail};
use crate::trace::change::append::Committed;
use crate::trace::change::edit::{self, Patch};
use crate::trace::query::select::{Among, other_results, select_one};
use crate::trace::store::priority::{self, Level};
use crate::trace::store::resolve::Resolver;

const COMMITTED: &str = r#"{
    "id!": "string", "seq!": "integer", "op!": "string", "revision!": "integer",
    "commit": {"type": ["string", "null"], "description": "null: unchanged"},
    "items": "array: ids, if several"
}"#;

tools! {
    trace_edit: Replaces, "Replace the text or fields of an item; its id and place stay, and history keeps the old version.";
    r#"{
        "item!": "string: id, prefix of 4, or #seq", "text": "string",
        "fields": "object: type, role, name, meta, ...", "reason": "string", "trace": "string"
    }"# => COMMITTED;

    trace_delete: Replaces, "Take items out of this trace, calls with their results; trace_restore brings them back.";
    r#"{
        "item": "string: id, #7, #7..#9, turn @3, or several", "filter": "object: type, tool, path, grep, larger_than, age (steps), older_than",
        "reason": "string", "trace": "string"
    }"# => COMMITTED;

    trace_restore: Sets, "Bring deleted items back, or an earlier revision of one.";
    r#"{
        "item": "string: id, #7, #7..#9, turn @3, or several",
        "filter": "object: type, tool, path, grep, larger_than, age (steps), older_than",
        "revision": {"type": "integer", "minimum": 1},
        "reason": "string", "trace": "string"
    }"# => COMMITTED;

    trace_priority: Sets, "Pin items so that cuts keep them, skip them so that models do not see them, or make them normal again.";
    r#"{
        "item": "string: id, #7, #7..#9, turn @3, or several",
        "filter": "object: type, tool, path, grep, larger_than, age (steps), older_than",
        "level!": ["skip", "normal", "pinned"], "reason": "string",
        "trace": "string"
    }"# => r#"{
        "id!": "string", "level!": "string", "seq": {"type": ["integer", "null"]}, "items": "array: ids, if several"
    }"#;

}

fn trace_edit(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = arguments.tip(context)?;
    let resolver = Resolver::new(repo, &name, &tip)?;
    let id = select_one(repo, &name, &tip, arguments.required("item")?).context("argument `item`")?;
    let mut fields: Vec<(String, Value)> = arguments.object("fields")?.into_iter().collect();
    for (field, value) in &mut fields {
        if let ("reply_to", Some(spec)) = (field.as_str(), value.as_str()) {
            *value = resolver.item(spec).context("nothing to reply to")?.to_string().into();
        }
    }
    let body = arguments.text("text")?.map(|text| text.as_bytes().to_vec());
    if body.is_none() && fields.is_empty() {
        bail!("arguments `text` and `fields` are both missing: nothing to change");
    }
    let patch = Patch { body, fields, reason: arguments.reason(context)?, ..Patch::default() };
    let (budget, warnings) = (context.budget(None, None)?, RefCell::new(Vec::new()));
    let warn = |warning: &str| warnings.borrow_mut().push(warning.to_owned());
    let edited = context.open(&name)?.with_budget(budget).with_warnings(&warn).edit(id, patch)?;
    Ok(Answer::with_warnings(edit::to_json(&edited), &warnings.into_inner()))
}

fn trace_delete(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = arguments.tip(context)?;
    let mut ids = arguments.items(context, &name, &tip, Among::Live)?;
    ids.extend(other_results(repo, &tip, &ids)?);
    let deleted = context.open(&name)?.delete_all(&ids, arguments.reason(context)?.as_deref())?;
    Ok(committed(&deleted))
}

fn trace_restore(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (_, name, tip) = arguments.tip(context)?;
    let ids = arguments.items(context, &name, &tip, Among::RemovedOrNamed)?;
    let (revision, reason) = (arguments.integer("revision", 1)?, arguments.reason(context)?);
    let reason = reason.as_deref();
    let trace = context.open(&name)?;
    let restored = match (ids.as_slice(), revision) {
        ([id], revision) => vec![trace.restore(*id, revision, reason)?],
        (ids, None) => trace.restore_all(ids, reason)?,
        (ids, Some(_)) => bail!("argument `revision` belongs to one item, and {} were named", ids.len()),
    };
    Ok(committed(&restored))
}

/// The first item, and the ids of all if there are several.
fn committed(items: &[Committed]) -> Answer {
    let mut value = items.first().map(Committed::to_json).unwrap_or_default();
    if items.len() > 1 {
        value["items"] = items.iter().map(|committed| committed.item.id.to_string()).collect();
    }
    value.into()
}

fn trace_priority(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let level: Level = arguments.required_parsed("level")?;
    let (repo, name, tip) = arguments.tip(context)?;
    let signature = context.signature()?;
    let mut ids = arguments.items(context, &name, &tip, Among::LiveOrNamed)?;
    if level == Level::Skip {
        ids.extend(other_results(repo, &tip, &ids)?);
    }
    let requests =
        priority::requests(repo, (&name, &tip), &signature, &ids, (level, arguments.reason(context)?.as_deref()))?;
    priority::set(repo, &signature, &requests)?;
    let (item, seq) = requests.first().map(|request| (request.item.to_string(), request.seq)).unwrap_or_default();
    let mut value = json!({ "id": item, "level": level.as_str(), "seq": seq });
    if requests.len() > 1 {
        value["items"] = requests.iter().map(|request| request.item.to_string()).collect();
    }
    Ok(value.into())
}
