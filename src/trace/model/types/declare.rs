//! Reading the rules that git config and the project's shared file declare.

use std::collections::BTreeMap;

use super::{BadRule, TypeRules, Types, built_in};
use crate::git::{Repo, SHARED_SETTINGS, parse_bool};
use crate::trace::model::item::{ItemType, Role};
use crate::trace::model::level::Level;

/// The section; git keeps it in lower case.
const SECTION: &str = "tracetype";

const GIT_CONFIG: &str = "git config";

pub(crate) fn read(repo: &Repo) -> Result<Types, BadRule> {
    let shared = repo.shared_settings()?.iter().cloned().map(|pair| (SHARED_SETTINGS, pair));
    let own = repo
        .config()?
        .subsections(SECTION, |variable| variable == "aggregate")?
        .into_iter()
        .map(|pair| (GIT_CONFIG, pair));
    let mut declared: BTreeMap<ItemType, TypeRules> = BTreeMap::new();
    let (mut unknown, mut warnings, mut changed) = (Vec::new(), Vec::new(), BTreeMap::new());
    for (place, (key, value)) in shared.chain(own) {
        let Some((name, variable)) =
            key.strip_prefix(SECTION).and_then(|rest| rest.strip_prefix('.')?.rsplit_once('.'))
        else {
            continue;
        };
        // A refusal would stop every command, also in the clones of others.
        let Ok(item_type) = name.parse::<ItemType>() else {
            warnings.push(format!(
                "warning: ignored the type `{}` in {place}: expected a letter a-z, then at most 63 of a-z, 0-9 and _",
                name.escape_debug()
            ));
            continue;
        };
        if place == SHARED_SETTINGS && item_type.is_built_in() {
            changed.insert(key.clone(), format!(
                "warning: {place} gives the built-in type {item_type} another `{}`; set `traceType.{item_type}.{}` in git config to decide yourself",
                spelled(variable),
                spelled(variable)
            ));
        } else {
            changed.remove(&key);
        }
        let rules = declared.entry(item_type.clone()).or_insert_with(|| built_in::rules(&item_type).clone());
        let declared = set(rules, &item_type, variable, &value).map_err(|accepted| {
            let key = format!("traceType.{item_type}.{}", spelled(variable));
            BadRule::Value { key, place, value: value.clone(), accepted }
        })?;
        if !declared {
            unknown.push(format!("traceType.{item_type}.{variable}"));
        }
    }
    unknown.dedup();
    warnings.dedup();
    warnings.extend(changed.into_values());
    Ok(Types { declared, unknown, warnings })
}

/// Sets one rule. Returns `false` if no rule has this name, and the accepted values if the value is invalid.
fn set(rules: &mut TypeRules, item_type: &ItemType, variable: &str, value: &str) -> Result<bool, &'static str> {
    let is_tool = item_type.as_str() == "tool_io";
    match variable {
        "role" => match value.parse() {
            Ok(role @ (Role::System | Role::User | Role::Assistant)) => rules.role = Some(role),
            _ => return Err("system, user or assistant"),
        },
        "priority" => rules.priority = value.parse::<Level>().map_err(|_| "skip, normal or pinned")?,
        "schema" => rules.schema = Some(value.trim().to_owned()).filter(|schema| !schema.is_empty()),
        "aggregate" => match parse_bool(value) {
            Some(true) if is_tool => return Err("false, since calls and results stay apart"),
            Some(aggregate) => rules.aggregate = aggregate,
            None => return Err("true or false"),
        },
        "order" => rules.order = value.trim().parse().map_err(|_| "a whole number")?,
        "compressorder" => rules.compress_order = value.trim().parse().map_err(|_| "a whole number")?,
        "compress" if value.trim().is_empty() => return Err("a prompt"),
        "compress" => rules.compress = value.to_owned().into(),
        _ => return Ok(false),
    }
    Ok(true)
}

/// A variable as documented; git returns it in lower case.
fn spelled(variable: &str) -> &str {
    if variable == "compressorder" { "compressOrder" } else { variable }
}
