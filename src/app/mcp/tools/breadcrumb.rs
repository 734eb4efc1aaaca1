//! `set_breadcrumb`, `get_breadcrumb`, `list_breadcrumbs`, `delete_breadcrumb`, with the names and shapes of Synapse.

use serde_json::json;

use crate::app::breadcrumbs;
use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::app::secrets::{Caller, refuse_secret_breadcrumb};
use crate::base::error::{Context as _, Result, bail};
use crate::base::when::{Clock, When};
use crate::memory::breadcrumb::query::{Order, Sort};
use crate::memory::breadcrumb::store::SkippedLine;
use crate::memory::breadcrumb::store::write::{Expiry, SetRequest};
use crate::memory::breadcrumb::{Key, Query, Record, Store, StoreError, Writer};

tools! {
    set_breadcrumb: Adds, "Store a fact for later sessions under a key: a discovery, setting or fix. Updates the key if it exists.";
    r#"{
        "key!": "string: e.g. auth.method; secret.* stays out of git",
        "value!": "string: at most 10 KiB", "task_id": {"type": "integer", "minimum": 1},
        "expires_at": "string: e.g. 30d"
    }"# => r#"{
        "success!": "boolean", "key!": "string", "created!": "boolean", "updated_at!": "string"
    }"#;

    get_breadcrumb: Reads, "Look up one stored fact by its exact key, before finding it out again.";
    r#"{"key!": "string"}"# => r#"{"found!": "boolean", "breadcrumb": "object"}"#;

    list_breadcrumbs: Reads, "List stored facts, such as those of a namespace, task, or time.";
    r#"{
        "prefix": "string: e.g. auth.", "limit": {"type": "integer", "minimum": 1, "default": 100},
        "sort": {"enum": ["key", "created", "updated"], "default": "key"},
        "order": {"enum": ["asc", "desc"], "default": "asc"},
        "task_id": "integer", "updated_before": "string: e.g. 30d, 2026-03-01",
        "updated_after": "string",
        "cursor": "integer: `next`"
    }"# => r#"{
        "breadcrumbs!": "array", "total!": "integer: beyond the page too", "next": "integer"
    }"#;

    delete_breadcrumb: Removes, "Remove a wrong or outdated fact.";
    r#"{"key!": "string"}"# => r#"{"success!": "boolean", "deleted!": "boolean"}"#;
}

fn set_breadcrumb(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (key, value) = (arguments.required_parsed::<Key>("key")?, arguments.required("value")?);
    let task_id = arguments.integer("task_id", 1)?;
    refuse_secret_breadcrumb(Caller::Model, key.as_str(), value).context("argument `value`")?;
    let now = context.now();
    let expiry = match arguments.parsed::<When>("expires_at")? {
        None => Expiry::Kept,
        Some(when) => {
            Expiry::not_past(when.after(&Clock { now, ..context.clock() })?, now).context("argument `expires_at`")?
        }
    };
    let value = breadcrumbs::stored_value(context, key.as_str(), value)?;
    let setting = SetRequest { key: &key, value: &value, task_id, expiry, metadata: &[] };
    let (set, mut warnings) = with_writer(context, |writer| match writer.set(&setting, now) {
        Err(error @ StoreError::ValueTooLong { .. }) => Err(error).context("argument `value`"),
        set => Ok(set?),
    })?;
    let record = &set.record;
    warnings.extend(record.bad_times().map(|warning| format!("warning: {warning}")));
    let value = json!({ "success": true, "key": record.key, "created": set.is_new, "updated_at": record.updated_at });
    Ok(Answer::with_warnings(value, &warnings))
}

fn get_breadcrumb(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let key = arguments.required("key")?;
    let lookup = store(context)?.lookup(key, context.now())?;
    let warnings = warnings(&lookup.skipped_lines, &lookup.record);
    if lookup.is_damaged(key) {
        bail!("breadcrumb `{key}` may be on a line that was skipped\n{}", warnings.join("\n"));
    }
    let value = match lookup.record {
        Some(record) => json!({ "found": true, "breadcrumb": breadcrumbs::decrypted(context, record)? }),
        None => json!({ "found": false }),
    };
    Ok(Answer::with_warnings(value, &warnings))
}

fn list_breadcrumbs(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let sorts = [("key", Sort::Key), ("created", Sort::Created), ("updated", Sort::Updated)];
    let time = |name| -> Result<_> {
        Ok(arguments.parsed::<When>(name)?.map(|when| when.before(&context.clock())).transpose()?)
    };
    let query = Query {
        prefix: arguments.text("prefix")?.unwrap_or_default().to_owned(),
        task_id: arguments.integer("task_id", 0)?,
        updated_before: time("updated_before")?,
        updated_after: time("updated_after")?,
        sort: arguments.choice("sort", sorts)?,
        order: arguments.choice("order", [("asc", Order::Ascending), ("desc", Order::Descending)])?,
        ..Query::default()
    };
    let listing = store(context)?.list(&query, context.now())?;
    let warnings = warnings(&listing.skipped_lines, &listing.records);
    let counter = context.counter()?;
    let cost = |record: &Record<'_>| counter.count(&serde_json::to_vec(record).unwrap_or_default());
    let limit = arguments.integer("limit", 1)?.unwrap_or(100);
    let (records, next) = arguments.entries(listing.records, limit, cost)?;
    let mut value = json!({ "breadcrumbs": records, "total": listing.total });
    if let Some(next) = next {
        value["next"] = next.into();
    }
    Ok(Answer::with_warnings(value, &warnings))
}

fn delete_breadcrumb(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let key = arguments.required("key")?;
    let (deleted, warnings) = with_writer(context, |writer| Ok(writer.delete(key)?))?;
    Ok(Answer::with_warnings(json!({ "success": true, "deleted": deleted.is_some() }), &warnings))
}

fn store(context: &Context) -> Result<Store> {
    context.breadcrumbs(&context.root()?)
}

fn with_writer<T>(context: &Context, write: impl FnOnce(&Writer<'_>) -> Result<T>) -> Result<(T, Vec<String>)> {
    breadcrumbs::write(context, &store(context)?, &context.git()?, write)
}

fn warnings<'r>(skipped_lines: &[SkippedLine], records: impl IntoIterator<Item = &'r Record<'r>>) -> Vec<String> {
    let line =
        |one: &SkippedLine| format!("warning: {}:{}: skipped: {}", one.file, one.invalid.line, one.invalid.reason);
    let bad_times = records.into_iter().flat_map(Record::bad_times).map(|warning| format!("warning: {warning}"));
    skipped_lines.iter().map(line).chain(bad_times).take(20).collect()
}
