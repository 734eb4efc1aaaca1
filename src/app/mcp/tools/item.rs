//! `trace_edit`, `trace_delete`, `trace_restore`, `trace_priority`: one item.

use std::cell::RefCell;

use serde_json::{Value, json};

use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::base::error::{Context as _, Result, bail};
use crate::trace::change::edit::{self, Patch};
use crate::trace::store::budget_policy::BudgetPolicy;
use crate::trace::store::priority::{self, Level};
use crate::trace::store::resolve::Resolver;

const COMMITTED: &str = r#"{
    "id!": "string", "seq!": "integer", "op!": "string", "revision!": "integer",
    "commit": {"type": ["string", "null"], "description": "null: unchanged"}
}"#;

tools! {
    trace_edit: Replaces, "Replace the text or fields of an item; its id and place stay, and history keeps the old version.";
    r#"{
        "item!": "string: id, prefix of 4, or #seq", "text": "string",
        "fields": "object: type, role, name, meta, ...", "reason": "string", "trace": "string"
    }"# => COMMITTED;

    trace_delete: Replaces, "Take an item out of this trace; trace_restore brings it back.";
    r#"{"item!": "string: id, prefix of 4, or #seq", "reason": "string", "trace": "string"}"# => COMMITTED;

    trace_restore: Sets, "Bring a deleted item back, or an earlier revision of one.";
    r#"{
        "item!": "string: id, prefix of 4, or #seq", "revision": {"type": "integer", "minimum": 1},
        "reason": "string", "trace": "string"
    }"# => COMMITTED;

    trace_priority: Sets, "Pin an item so that cuts keep it, skip it so that models do not see it, or make it normal again.";
    r#"{
        "item!": "string: id, prefix of 4, or #seq", "level!": ["skip", "normal", "pinned"], "reason": "string",
        "trace": "string"
    }"# => r#"{"id!": "string", "level!": "string", "seq": {"type": ["integer", "null"]}}"#;

}

fn trace_edit(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = arguments.tip(context)?;
    let resolver = Resolver::new(repo, &name, &tip)?;
    let slot = resolver.live(arguments.required("item")?).context("argument `item`")?;
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
    let patch = Patch { body, fields, subject: None, reason: arguments.text("reason")?.map(str::to_owned) };
    let (budget, warnings) = (BudgetPolicy::new(repo, None, None)?, RefCell::new(Vec::new()));
    let warn = |warning: &str| warnings.borrow_mut().push(warning.to_owned());
    let edited = context.open(&name)?.with_budget(budget).with_warnings(&warn).edit(slot.id, patch)?;
    Ok(Answer::with_warnings(edit::to_json(&edited), &warnings.into_inner()))
}

fn trace_delete(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = arguments.tip(context)?;
    let id = Resolver::new(repo, &name, &tip)?.live(arguments.required("item")?).context("argument `item`")?.id;
    Ok(context.open(&name)?.delete(id, arguments.text("reason")?)?.to_json().into())
}

fn trace_restore(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = arguments.tip(context)?;
    let id = Resolver::new(repo, &name, &tip)?.item(arguments.required("item")?).context("argument `item`")?;
    let (revision, reason) = (arguments.integer("revision", 1)?, arguments.text("reason")?);
    Ok(context.open(&name)?.restore(id, revision, reason)?.to_json().into())
}

fn trace_priority(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let level: Level = arguments.required_parsed("level")?;
    let (repo, name, tip) = arguments.tip(context)?;
    let signature = context.signature()?;
    let (specs, reason) = ([arguments.required("item")?], arguments.text("reason")?);
    let requests =
        priority::requests(repo, &name, &tip, &signature, &specs, (level, reason)).context("argument `item`")?;
    priority::set(repo, &signature, &requests)?;
    let (item, seq) = requests.first().map(|request| (request.item.to_string(), request.seq)).unwrap_or_default();
    Ok(json!({ "id": item, "level": level.as_str(), "seq": seq }).into())
}
