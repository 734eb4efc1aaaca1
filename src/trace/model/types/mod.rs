//! Item types and their rules: built-in types and types that git config or the project's `.traceconfig` declares.
//!
//! ```text
//! [traceType "finding"]
//!     role = assistant
//!     schema = {"type":"object","required":["severity"]}
//! ```
//!
//! | rule | meaning | default of other types |
//! | --- | --- | --- |
//! | `role` | the role: system, user or assistant; tool items with one are sent as text | `user` |
//! | `priority` | the level of items without a set level | `normal` |
//! | `schema` | the JSON Schema of bodies, checked on commit: JSON, or the path of a file | none |
//! | `aggregate` | whether adjacent items of the type share a message and a text | `true` |
//! | `order` | the order of types in messages; lower numbers are first | 0 |
//! | `compressOrder` | the order in which types are compressed; lower numbers are first | 50 |
//! | `compress` | the prompt that compresses a group of items, see [`prompt`] | a general one |
//!
//! Any variable declares a type, and the same variables change a built-in type. Git config overrides `.traceconfig`. Unknown
//! variables have no effect. The meta keys `priority`, `aggregate`, and `compress` of an item override the rules of its type.
//! A commit copies the first one into the priority record, so that reading the level needs no item file.

mod built_in;
mod declare;
mod json_schema;
pub(crate) mod prompt;
#[cfg(feature = "schemas")]
mod schema_limits;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use thiserror::Error;

pub(crate) use json_schema::BadBody;

use super::item::{Draft, Fields, ItemType, Role};
use super::schema::{self, SchemaError};
use crate::base::error::Diagnostic;
use crate::git::{GitError, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::level::Level;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TypeRules {
    /// The role; `None` by default for dialogue and tools, whose items have their own.
    pub role: Option<Role>,
    pub priority: Level,
    pub aggregate: bool,
    pub order: i32,
    pub compress_order: i32,
    pub compress: Cow<'static, str>,
    /// JSON, or the path of a file that the project shares.
    pub schema: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Types {
    declared: BTreeMap<ItemType, TypeRules>,
    unknown: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Debug, Error)]
pub enum BadRule {
    #[error(transparent)]
    Settings(#[from] GitError),
    #[error("`{key}` in {place} is `{}`; accepted: {accepted}", value.escape_debug())]
    Value { key: String, place: &'static str, value: String, accepted: &'static str },
    #[error("`traceType.{item_type}.schema` is not a JSON Schema: {cause}")]
    Schema { item_type: ItemType, cause: String },
    #[error("`traceType.{item_type}.schema` needs the feature `schemas`, which this git-trace was built without")]
    NoSchemas { item_type: ItemType },
}

impl Diagnostic for BadRule {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Settings(error) => Some(error),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        let is_missing = matches!(self, Self::NoSchemas { .. });
        is_missing.then(|| "run `cargo install git-trace --features schemas`, or install a released binary".to_owned())
    }
}

/// The number of schemas that are checked before they are used.
const MAX_CHECKED: usize = 100;

impl Types {
    /// Reads the declared types. If there are none, this reads no object and starts no process.
    pub(crate) fn read(repo: &Repo) -> Result<Self, BadRule> {
        declare::read(repo)
    }

    /// The rules of a type, or the default rules for an undeclared type.
    pub(crate) fn rules(&self, item_type: &ItemType) -> &TypeRules {
        self.declared.get(item_type).unwrap_or_else(|| built_in::rules(item_type))
    }

    /// Whether items of a type may be committed.
    pub(crate) fn is_known(&self, item_type: &ItemType) -> bool {
        item_type.is_built_in() || self.declared.contains_key(item_type)
    }

    /// All types: the built-in ones in their order, then the others by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ItemType, &TypeRules)> {
        let built_in = ItemType::BUILT_IN.iter().filter_map(|name| name.parse::<ItemType>().ok());
        let custom = self.declared.keys().filter(|name| !name.is_built_in()).cloned();
        built_in.chain(custom).map(|item_type| {
            let rules = self.rules(&item_type);
            (item_type, rules)
        })
    }

    /// Unknown settings under `traceType`, which have no effect.
    pub(crate) fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// A warning for each declared type that is ignored, because no type can have its name, and for each rule of a built-in type that
    /// the project's shared file changes.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The role of an item. A dialogue and a tool item have their own, which a declared role of the type overrides. In artifacts
    /// and types that have any field, the item's role or its meta key `role` overrides that of the type.
    pub(crate) fn role(&self, fields: &Fields) -> Role {
        let own = |role: Option<Role>| role.filter(|role| *role != Role::Tool);
        let in_meta = || fields.meta.get("role").and_then(|role| role.as_str()?.parse::<Role>().ok());
        let of_type = || self.rules(&fields.item_type).role.unwrap_or(Role::User);
        match fields.item_type.as_str() {
            "tool_io" | "dialogue" => self.rules(&fields.item_type).role.or(own_role(fields)).unwrap_or(Role::User),
            "instruction" | "reasoning" => of_type(),
            "artifact" | "output" | "freeform" => own(in_meta()).unwrap_or_else(of_type),
            _ => own(fields.role).or(own(in_meta())).unwrap_or_else(of_type),
        }
    }

    /// Whether an item shares a message and a text with adjacent items: its meta key `aggregate`, else the rule of its type.
    pub(crate) fn aggregates(&self, fields: &Fields) -> bool {
        let own = fields.meta.get("aggregate").and_then(serde_json::Value::as_bool);
        own.unwrap_or(self.rules(&fields.item_type).aggregate)
    }

    /// The prompt that compresses an item with others: its meta key `compress`, else the rule of its type.
    pub(crate) fn compress<'a>(&'a self, fields: &'a Fields) -> &'a str {
        let own = fields.meta.get("compress").and_then(serde_json::Value::as_str);
        own.unwrap_or(&self.rules(&fields.item_type).compress)
    }

    /// Checks a completed draft like [`schema::validate`], but accepts declared types.
    pub(crate) fn validate(&self, draft: &Draft) -> Result<(), SchemaError> {
        if self.is_known(&draft.fields.item_type) { schema::validate_known(draft) } else { schema::validate(draft) }
    }

    /// Checks a completed draft before it is committed: [`Types::validate`], the meta keys that override rules, and the JSON
    /// Schema of its type.
    pub(crate) fn judge(&self, repo: &Repo, draft: &Draft) -> Result<(), TraceError> {
        self.validate(draft)?;
        validate_meta(&draft.fields)?;
        let item_type = &draft.fields.item_type;
        match &self.rules(item_type).schema {
            Some(schema) => {
                let check = json_schema::Check::compile(repo, item_type, schema)?;
                Ok(check.judge(item_type, &draft.body).map_err(SchemaError::from)?)
            }
            None => Ok(()),
        }
    }

    /// Compiles each schema once, and of very many only the first: a clone may declare thousands, and each may take a second.
    pub(crate) fn check_schemas(&self, repo: &Repo) -> Result<(), BadRule> {
        let mut checked = HashSet::new();
        for (item_type, rules) in &self.declared {
            if let Some(schema) = &rules.schema
                && checked.len() < MAX_CHECKED
                && checked.insert(schema)
            {
                json_schema::Check::compile(repo, item_type, schema)?;
            }
        }
        Ok(())
    }
}

/// The role of a dialogue or a tool item: a call is the assistant's, a result the tool's.
pub(crate) fn own_role(fields: &Fields) -> Option<Role> {
    match fields.item_type.as_str() {
        "tool_io" if fields.is_call() => Some(Role::Assistant),
        "tool_io" => Some(Role::Tool),
        "dialogue" => Some(fields.role.unwrap_or(Role::User)),
        _ => None,
    }
}

/// The level in an item's meta key `priority`.
pub(crate) fn level_in_meta(fields: &Fields) -> Option<Level> {
    fields.meta.get("priority").and_then(|level| level.as_str()?.parse().ok())
}

fn validate_meta(fields: &Fields) -> Result<(), SchemaError> {
    let bad = |key, accepted| Err(SchemaError::BadMeta { key, accepted });
    let meta = |key: &str| fields.meta.get(key);
    if meta("priority").is_some() && level_in_meta(fields).is_none() {
        return bad("priority", "skip, normal or pinned");
    }
    if meta("aggregate").is_some_and(|value| !value.is_boolean()) {
        return bad("aggregate", "true or false");
    }
    if meta("compress").is_some_and(|value| !value.is_string()) {
        return bad("compress", "a prompt, as text");
    }
    Ok(())
}
