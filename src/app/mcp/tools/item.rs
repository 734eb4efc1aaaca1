//! `trace_edit`, `trace_delete`, `trace_restore`, `trace_priority`, `trace_show`: one item.

use std::cell::RefCell;

use serde_json::{Value, json};

use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::place::Place;
use crate::app::mcp::tool::{Answer, Effect, Group, Tool};
use crate::base::error::{Context as _, Result, bail, failure};
use crate::git::Repo;
use crate::trace::change::edit::{self, Patch};
use crate::trace::query::show;
use crate::trace::store::budget::BudgetPolicy;
use crate::trace::store::priority::{self, Level};
use crate::trace::store::resolve::Resolver;
use crate::trace::store::signature::Signature;
use crate::trace::{Tip, TraceName};

pub(crate) const TOOLS: [Tool; 5] = [
    Tool {
        name: "trace_edit",
        group: Group::Trace,
        by_default: false,
        description: "Replace the text or fields of an item; its id and place stay, and history keeps what was.",
        effect: Effect::Replaces,
        input: r#"{"item": {"type": "string", "description": "id, prefix of 4, or #seq"}, "text": {"type": "string"}, "fields": {"type": "object", "description": "type, role, name, meta, ..."}, "reason": {"type": "string"}, "trace": {"type": "string"}}"#,
        required: &["item"],
        output: r#"{"id": {"type": "string"}, "seq": {"type": "integer"}, "op": {"type": "string"}, "revision": {"type": "integer"}, "commit": {"type": ["string", "null"], "description": "null: unchanged"}}"#,
        answered: &["id", "seq", "op", "revision"],
        run: run_edit,
    },
    Tool {
        name: "trace_delete",
        group: Group::Trace,
        by_default: false,
        description: "Take an item out of this trace; trace_restore brings it back.",
        effect: Effect::Replaces,
        input: r#"{"item": {"type": "string", "description": "id, prefix of 4, or #seq"}, "reason": {"type": "string"}, "trace": {"type": "string"}}"#,
        required: &["item"],
        output: r#"{"id": {"type": "string"}, "seq": {"type": "integer"}, "op": {"type": "string"}, "revision": {"type": "integer"}, "commit": {"type": ["string", "null"], "description": "null: unchanged"}}"#,
        answered: &["id", "seq", "op", "revision"],
        run: run_delete,
    },
    Tool {
        name: "trace_restore",
        group: Group::Trace,
        by_default: false,
        description: "Bring a deleted item back, or an earlier revision of one.",
        effect: Effect::Sets,
        input: r#"{"item": {"type": "string", "description": "id, prefix of 4, or #seq"}, "revision": {"type": "integer", "minimum": 1}, "reason": {"type": "string"}, "trace": {"type": "string"}}"#,
        required: &["item"],
        output: r#"{"id": {"type": "string"}, "seq": {"type": "integer"}, "op": {"type": "string"}, "revision": {"type": "integer"}, "commit": {"type": ["string", "null"], "description": "null: unchanged"}}"#,
        answered: &["id", "seq", "op", "revision"],
        run: run_restore,
    },
    Tool {
        name: "trace_priority",
        group: Group::Trace,
        by_default: false,
        description: "Pin an item so that cuts keep it, skip it so that models do not see it, or make it normal again.",
        effect: Effect::Sets,
        input: r#"{"item": {"type": "string", "description": "id, prefix of 4, or #seq"}, "level": {"enum": ["skip", "normal", "pinned"]}, "reason": {"type": "string"}, "trace": {"type": "string"}}"#,
        required: &["item", "level"],
        output: r#"{"id": {"type": "string"}, "level": {"type": "string"}, "seq": {"type": ["integer", "null"]}}"#,
        answered: &["id", "level"],
        run: run_priority,
    },
    Tool {
        name: "trace_show",
        group: Group::Trace,
        by_default: false,
        description: "Read one item in full, also an earlier revision or one that was deleted.",
        effect: Effect::Reads,
        input: r#"{"item": {"type": "string", "description": "id, prefix of 4, or #seq"}, "revision": {"type": "integer", "minimum": 1}, "trace": {"type": "string"}}"#,
        required: &["item"],
        output: r#"{"id": {"type": "string"}, "type": {"type": "string"}, "text": {"type": "string"}, "seq": {"type": "integer"}, "revision": {"type": "integer"}, "priority": {"type": "string"}, "live": {"type": "boolean"}}"#,
        answered: &["id", "type", "seq", "revision", "priority", "live"],
        run: run_show,
    },
];

/// What every tool here begins with: the repository, the trace, and its tip.
fn open(place: &Place, arguments: &Arguments<'_>) -> Result<(Repo, TraceName, Tip)> {
    let repo = place.repo()?;
    let name = place.trace(&repo, arguments.parsed("trace")?)?;
    let tip = Tip::of_trace(&repo, &name)?;
    Ok((repo, name, tip))
}

fn run_edit(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = open(place, arguments)?;
    let resolver = Resolver::new(&repo, &name, &tip)?;
    let slot = resolver.live(arguments.required("item")?).context("argument `item`")?;
    let mut fields: Vec<(String, Value)> = arguments.object("fields")?.into_iter().collect();
    for (field, value) in &mut fields {
        if let ("reply_to", Some(spec)) = (field.as_str(), value.as_str()) {
            *value = resolver.item(spec).context("nothing to reply to")?.to_string().into();
        }
    }
    let body = arguments.text("text")?.map(|text| text.as_bytes().to_vec());
    if body.is_none() && fields.is_empty() {
        bail!("argument `text` is missing, and so is `fields`: there is nothing to change");
    }
    let patch = Patch { body, fields, subject: None, reason: arguments.text("reason")?.map(str::to_owned) };
    let (budget, warnings) = (BudgetPolicy::new(&repo, None, None)?, RefCell::new(Vec::new()));
    let warn = |warning: &str| warnings.borrow_mut().push(warning.to_owned());
    let edited = place.open(&repo, name.clone())?.with_budget(budget).with_warnings(&warn).edit(slot.id, patch)?;
    Ok(Answer { value: edit::to_json(&edited), text: None, warnings: warnings.into_inner() })
}

fn run_delete(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = open(place, arguments)?;
    let id = Resolver::new(&repo, &name, &tip)?.live(arguments.required("item")?).context("argument `item`")?.id;
    Ok(place.open(&repo, name)?.delete(id, arguments.text("reason")?)?.to_json().into())
}

fn run_restore(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = open(place, arguments)?;
    let id = Resolver::new(&repo, &name, &tip)?.item(arguments.required("item")?).context("argument `item`")?;
    let (wanted, reason) = (revision_of(arguments)?, arguments.text("reason")?);
    Ok(place.open(&repo, name)?.restore(id, wanted, reason)?.to_json().into())
}

fn revision_of(arguments: &Arguments<'_>) -> Result<Option<u32>> {
    let Some(number) = arguments.integer("revision", 1)? else { return Ok(None) };
    u32::try_from(number).map(Some).map_err(|_| failure!("argument `revision`: {number} is too large"))
}

fn run_priority(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let level: Level = arguments.parsed("level")?.context("argument `level` is missing")?;
    let (repo, name, tip) = open(place, arguments)?;
    let signature = Signature::take(&repo, place.now())?;
    let (specs, reason) = ([arguments.required("item")?], arguments.text("reason")?);
    let requests =
        priority::requests(&repo, &name, &tip, &signature, &specs, (level, reason)).context("argument `item`")?;
    priority::set(&repo, &signature, &requests)?;
    let (item, seq) = requests.first().map(|request| (request.item.to_string(), request.seq)).unwrap_or_default();
    Ok(json!({ "id": item, "level": level.as_str(), "seq": seq }).into())
}

fn run_show(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let (repo, name, tip) = open(place, arguments)?;
    let revision = revision_of(arguments)?;
    let shown = show::find(&repo, &name, &tip, arguments.required("item")?, revision);
    let shown = shown.context("argument `item` or `revision`")?;
    Ok(Value::Object(show::to_json(&repo, &shown)?).into())
}
