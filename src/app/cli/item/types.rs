//! `git trace types`: the types of items, and what holds for each.

use crate::app::cli::flags::NulArgs;
use crate::app::cli::{BOLD, Context, DIM, ExitStatus, Result, Value, escaped, json};
use crate::base::changes::most_alike;
use crate::trace::ItemType;
use crate::trace::model::types::{TypeRules, Types};

/// List item types and their rules
///
/// Git config `traceType.<name>.role`, `.priority`, `.schema`, `.aggregate`, `.order`, `.compressOrder` and `.compress`
/// declare or change a type. A committed `.traceconfig` can do the same; git config has precedence.
#[derive(clap::Args, Debug)]
pub(crate) struct TypesArgs {
    /// Type to show, with its schema and its compression prompt
    name: Option<ItemType>,
    /// Print one JSON object per line, with all details
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    nul: NulArgs,
}

impl TypesArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        self.nul.apply(context);
        let types = Types::read(context.repo()?)?;
        types.check_schemas(context.repo()?)?;
        types.warnings().iter().for_each(|warning| context.ui.note(warning));
        for setting in types.unknown() {
            context.ui.note(format!("warning: `{setting}` is not a known rule and has no effect"));
        }
        let wanted = |item_type: &ItemType| self.name.as_ref().is_none_or(|name| name == item_type);
        let listed: Vec<(ItemType, &TypeRules)> = types.all().filter(|(item_type, _)| wanted(item_type)).collect();
        if listed.is_empty() {
            let meant = self.name.as_ref().and_then(|name| most_alike(name.as_str(), ItemType::BUILT_IN));
            let hint = meant
                .map_or("`git trace types` lists all types".to_owned(), |meant| format!("did you mean `{meant}`?"));
            context.ui.note(format!("no such type; {hint}"));
            return Ok(ExitStatus::No);
        }
        if !self.json && !context.ui.ends_with_nul() {
            let heading = row("type", "role", "priority", "aggregate", "order", "compress order", "");
            writeln!(context.ui, "{}", context.ui.styled(BOLD, &heading))?;
        }
        for (item_type, rules) in listed {
            if self.json {
                context.ui.json(&to_json(&item_type, rules))?;
                continue;
            }
            context.ui.entry(|| self.print(context, &item_type, rules))?;
        }
        Ok(ExitStatus::Success)
    }

    fn print(&self, context: &Context, item_type: &ItemType, rules: &TypeRules) -> Result<()> {
        let (order, compress_order) = (rules.order.to_string(), rules.compress_order.to_string());
        let aggregate = if rules.aggregate { "yes" } else { "no" };
        let schema = if rules.schema.is_some() { "schema" } else { "" };
        let (name, priority) = (item_type.as_str(), rules.priority.as_str());
        writeln!(context.ui, "{}", row(name, role(rules), priority, aggregate, &order, &compress_order, schema))?;
        if self.name.is_some() {
            let schema = rules.schema.as_deref().map(|schema| ("schema", schema));
            for (what, text) in schema.into_iter().chain([("compress", &*rules.compress)]) {
                writeln!(context.ui, "\n{}\n{}", context.ui.styled(DIM, what), escaped(text))?;
            }
        }
        Ok(())
    }
}

fn role(rules: &TypeRules) -> &'static str {
    rules.role.map_or("its own", |role| role.as_str())
}

fn row(name: &str, role: &str, priority: &str, joins: &str, order: &str, compress_order: &str, rest: &str) -> String {
    let line = format!("{name:<14} {role:<10} {priority:<9} {joins:<10} {order:>5} {compress_order:>15}  {rest}");
    line.trim_end().to_owned()
}

fn to_json(item_type: &ItemType, rules: &TypeRules) -> Value {
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
    if let Some(text) = &rules.schema {
        object["schema"] = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()));
    }
    object
}
