//! `git trace types`: the types of items, and what holds for each.

use serde_json::{Value, json};

use super::ui::{BOLD, DIM, escaped};
use super::{ExitStatus, Session};
use crate::base::error::Result;
use crate::trace::ItemType;
use crate::trace::model::types::{TypeRules, Types};

/// List the types of items with their rules
///
/// Git config `traceType.<name>.role`, `.priority`, `.schema`, `.aggregate`, `.order`, `.compressOrder` and `.compress` declare a
/// type, or change one; a committed `.traceconfig` may do so too, and git config outranks it.
#[derive(clap::Args, Debug)]
pub(crate) struct TypesArgs {
    /// Type to list alone, with its schema and its prompt for compression
    name: Option<ItemType>,

    /// One JSON object a line, with everything
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(session: &mut Session, args: &TypesArgs) -> Result<ExitStatus> {
    let types = Types::read(&session.repo)?;
    types.check_schemas(&session.repo)?;
    for setting in types.unknown() {
        session.ui.note(&format!("warning: `{setting}` is not a rule that is known, and does nothing"));
    }
    let wanted = |item_type: &ItemType| args.name.as_ref().is_none_or(|name| name == item_type);
    let listed: Vec<(ItemType, &TypeRules)> = types.all().filter(|(item_type, _)| wanted(item_type)).collect();
    if listed.is_empty() {
        session.ui.note("no such type; `git trace types` lists those there are");
        return Ok(ExitStatus::No);
    }
    session.ui.settle_colour(&session.repo)?;
    if !args.json {
        let heading = row("type", "role", "priority", "aggregate", "order", "compress order", "");
        let heading = session.ui.styled(BOLD, &heading);
        writeln!(session.ui.out(), "{heading}")?;
    }
    for (item_type, rules) in listed {
        if args.json {
            session.ui.json_line(&to_json(&item_type, rules))?;
            continue;
        }
        let (order, compress_order) = (rules.order.to_string(), rules.compress_order.to_string());
        let aggregate = if rules.aggregate { "yes" } else { "no" };
        let schema = if rules.schema.is_some() { "schema" } else { "" };
        let (name, priority) = (item_type.as_str(), rules.priority.as_str());
        let line = row(name, role(rules), priority, aggregate, &order, &compress_order, schema);
        writeln!(session.ui.out(), "{line}")?;
        if args.name.is_some() {
            let page = [("schema", rules.schema.as_deref()), ("compress", Some(&*rules.compress))];
            for (what, text) in page {
                let Some(text) = text else { continue };
                let (what, text) = (session.ui.styled(DIM, what), escaped(text).into_owned());
                writeln!(session.ui.out(), "\n{what}\n{text}")?;
            }
        }
    }
    Ok(ExitStatus::Success)
}

fn role(rules: &TypeRules) -> &'static str {
    rules.role.map_or("its own", |role| role.as_str())
}

fn row(name: &str, role: &str, priority: &str, joins: &str, order: &str, compress_order: &str, rest: &str) -> String {
    let line = format!("{name:<14} {role:<10} {priority:<9} {joins:<10} {order:>5} {compress_order:>15}  {rest}");
    line.trim_end().to_owned()
}

fn to_json(item_type: &ItemType, rules: &TypeRules) -> Value {
    let schema =
        rules.schema.as_ref().map(|text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str())));
    let mut object = json!({
        "type": item_type.as_str(),
        "built_in": item_type.is_built_in(),
        "priority": rules.priority.as_str(),
        "aggregate": rules.aggregate,
        "order": rules.order,
        "compress_order": rules.compress_order,
        "compress": rules.compress,
    });
    if let Some(role) = rules.role {
        object["role"] = role.as_str().into();
    }
    if let Some(schema) = schema {
        object["schema"] = schema;
    }
    object
}
