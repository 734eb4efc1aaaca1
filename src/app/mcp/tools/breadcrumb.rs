//! `set_breadcrumb`, `get_breadcrumb`, `list_breadcrumbs`, `delete_breadcrumb`: names and shapes are Synapse's.

use std::path::Path;

use serde_json::json;

use crate::app::mcp::arguments::{Arguments, missing};
use crate::app::mcp::place::Place;
use crate::app::mcp::tool::{Answer, Effect, Group, Tool};
use crate::app::secrets::refuse_secret_breadcrumb;
use crate::base::error::{Context as _, Result, bail, failure};
use crate::memory::breadcrumb::query::{Moment, Order, Sort};
use crate::memory::breadcrumb::store::SkippedLine;
use crate::memory::breadcrumb::store::write::{Expiry, SetRequest};
use crate::memory::breadcrumb::{Key, Query, Store, Writer};

pub(crate) const TOOLS: [Tool; 4] = [
    Tool {
        name: "set_breadcrumb",
        group: Group::Breadcrumb,
        by_default: true,
        description: "Store a fact for later sessions under a key: a discovery, setting or fix. Updates the key if it exists.",
        effect: Effect::Adds,
        input: r#"{
            "key": {"type": "string", "description": "namespaced, e.g. auth.method; secret.* stays out of git"},
            "value": {"type": "string", "description": "at most 10 KiB"},
            "task_id": {"type": "integer", "minimum": 1}
        }"#,
        required: &["key", "value"],
        output: r#"{
            "success": {"type": "boolean"},
            "key": {"type": "string"},
            "created": {"type": "boolean", "description": "false: updated"},
            "updated_at": {"type": "string"}
        }"#,
        answered: &["success", "key", "created", "updated_at"],
        run: set,
    },
    Tool {
        name: "get_breadcrumb",
        group: Group::Breadcrumb,
        by_default: true,
        description: "Look up one stored fact by its exact key, before finding it out again.",
        effect: Effect::Reads,
        input: r#"{"key": {"type": "string"}}"#,
        required: &["key"],
        output: r#"{"found": {"type": "boolean"}, "breadcrumb": {"type": "object"}}"#,
        answered: &["found"],
        run: get,
    },
    Tool {
        name: "list_breadcrumbs",
        group: Group::Breadcrumb,
        by_default: true,
        description: "List stored facts: all of a namespace, the most recent, those of a task, or stale ones.",
        effect: Effect::Reads,
        input: r#"{
            "prefix": {"type": "string", "description": "e.g. auth."},
            "limit": {"type": "integer", "minimum": 1, "default": 100},
            "sort": {"enum": ["key", "created", "updated"], "default": "key"},
            "order": {"enum": ["asc", "desc"], "default": "asc"},
            "task_id": {"type": "integer"},
            "updated_before": {"type": "string", "description": "RFC 3339 time, or an age such as 30d"}
        }"#,
        required: &[],
        output: r#"{
            "breadcrumbs": {"type": "array", "items": {"type": "object", "required": ["key", "value"]}},
            "total": {"type": "integer", "description": "matching, beyond the limit too"}
        }"#,
        answered: &["breadcrumbs", "total"],
        run: list,
    },
    Tool {
        name: "delete_breadcrumb",
        group: Group::Breadcrumb,
        by_default: true,
        description: "Remove a stored fact that is wrong or no longer needed.",
        effect: Effect::Removes,
        input: r#"{"key": {"type": "string"}}"#,
        required: &["key"],
        output: r#"{
            "success": {"type": "boolean"},
            "deleted": {"type": "boolean", "description": "false: there was none"}
        }"#,
        answered: &["success", "deleted"],
        run: delete,
    },
];

fn set(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let key: Key = arguments.parsed("key")?.ok_or_else(|| missing("key"))?;
    let value = arguments.required("value")?;
    let task_id = task_id(arguments, 1)?;
    refuse_secret_breadcrumb(key.as_str(), value).context("argument `value`")?;
    let setting = SetRequest { key: &key, value, task_id, expiry: Expiry::Kept };
    let set =
        with_writer(place, |writer| Ok(writer.set(&setting, place.now())?)).context("argument `value` or `key`")?;
    let record = &set.record;
    Ok(json!({ "success": true, "key": record.key, "created": set.is_new, "updated_at": record.updated_at }).into())
}

fn get(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let lookup = place.store()?.lookup(arguments.required("key")?, place.now())?;
    let value = match lookup.record {
        Some(record) => json!({ "found": true, "breadcrumb": record }),
        None => json!({ "found": false }),
    };
    Ok(Answer { warnings: warnings(&lookup.skipped_lines), ..Answer::from(value) })
}

fn list(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let query = Query {
        prefix: arguments.text("prefix")?.unwrap_or_default().to_owned(),
        task_id: task_id(arguments, 0)?,
        updated_before: arguments.parsed::<Moment>("updated_before")?.map(|moment| moment.before(place.now())),
        sort: match arguments.text("sort")? {
            None | Some("key") => Sort::Key,
            Some("created") => Sort::Created,
            Some("updated") => Sort::Updated,
            Some(_) => bail!("argument `sort`: key, created or updated is expected"),
        },
        order: match arguments.text("order")? {
            None | Some("asc") => Order::Ascending,
            Some("desc") => Order::Descending,
            Some(_) => bail!("argument `order`: asc or desc is expected"),
        },
        limit: Some(arguments.count("limit", 1)?.unwrap_or(100)),
        ..Query::default()
    };
    let listing = place.store()?.list(&query, place.now())?;
    let value = json!({ "breadcrumbs": listing.records, "total": listing.total });
    Ok(Answer { warnings: warnings(&listing.skipped_lines), ..Answer::from(value) })
}

fn delete(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let key = arguments.required("key")?;
    let deleted = with_writer(place, |writer| Ok(writer.delete(key)?))?;
    Ok(json!({ "success": true, "deleted": deleted.is_some() }).into())
}

fn task_id(arguments: &Arguments<'_>, min: u64) -> Result<Option<i64>> {
    let Some(number) = arguments.integer("task_id", min)? else { return Ok(None) };
    i64::try_from(number).map(Some).map_err(|_| failure!("argument `task_id`: {number} is too large"))
}

fn with_writer<T>(place: &Place, write: impl FnOnce(&Writer<'_>) -> Result<T>) -> Result<T> {
    let (store, git): (Store, _) = (place.store()?, place.git());
    let is_ignored = |path: &Path| git.is_ignored(path).unwrap_or(false);
    write(&Writer::new(&store, &is_ignored, Writer::PATIENCE))
}

fn warnings(skipped_lines: &[SkippedLine]) -> Vec<String> {
    let line =
        |one: &SkippedLine| format!("warning: {}:{}: skipped: {}", one.file, one.invalid.line, one.invalid.reason);
    skipped_lines.iter().take(20).map(line).collect()
}
