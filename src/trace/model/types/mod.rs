//! Types of items and their rules: what is built in, and what git config or the project's `.traceconfig` declares.
//!
//! ```text
//! [traceType "finding"]
//!     role = assistant
//!     priority = pinned
//!     schema = {"type":"object","required":["severity"]}
//!     aggregate = true
//!     order = -1
//!     compressOrder = 20
//!     compress = Tell {count} findings in at most {target} tokens, the severest first.\n\n{items}
//! ```
//!
//! | rule | what it says | other types |
//! | --- | --- | --- |
//! | `role` | who speaks: system, user or assistant | `user` |
//! | `priority` | the level of items that nobody set one for | `normal` |
//! | `schema` | the JSON Schema that a body must satisfy when it is committed: JSON, or the path of a file | none |
//! | `aggregate` | whether neighbours of the type share a message and a text | `true` |
//! | `order` | where the type stands among the others when messages are made; the smaller the earlier | 0 |
//! | `compressOrder` | when compression takes the type; the smaller the earlier | 50 |
//! | `compress` | the prompt that shrinks a group of items, see [`prompt`] | a general one |
//!
//! One variable declares a type, and the same variables change a built-in one. Git config outranks `.traceconfig`. Variables
//! that are not known here do nothing. An item's meta keys `priority`, `aggregate` and `compress` outrank its type's rules;
//! the first is taken into the record of priorities when the item is committed, so that nothing needs to be read to know it.

mod built_in;
mod declare;
mod json_schema;
pub(crate) mod prompt;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

pub(crate) use json_schema::BadBody;

use super::item::{Draft, Fields, ItemType, Role};
use super::schema::{self, SchemaError};
use crate::base::error::Diagnostic;
use crate::git::{GitError, Repo};
use crate::trace::error::TraceError;
use crate::trace::model::level::Level;

/// What holds for the items of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeRules {
    /// Who speaks; `None` where each item says it itself: dialogue and tools.
    pub role: Option<Role>,
    /// The level of items that nobody set one for.
    pub priority: Level,
    /// Whether neighbours share a message and a text.
    pub aggregate: bool,
    /// Where the type stands among the others when messages are made; the smaller the earlier.
    pub order: i32,
    /// When compression takes the type; the smaller the earlier.
    pub compress_order: i32,
    /// The prompt that shrinks a group of items, see [`prompt`].
    pub compress: Cow<'static, str>,
    /// The JSON Schema that a body must satisfy: JSON, or the path of a file that the project shares.
    pub schema: Option<String>,
}

/// Every type there is, with its rules.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// Those that somebody declared or changed.
    declared: Arc<BTreeMap<ItemType, TypeRules>>,
    /// Variables that do nothing.
    unknown: Arc<Vec<String>>,
}

/// Why a rule cannot be used.
#[derive(Debug, Error)]
pub enum BadRule {
    /// The settings cannot be read.
    #[error(transparent)]
    Settings(#[from] GitError),
    /// A type that cannot be called that.
    #[error("{place} declares the type `{}`: a name is a letter a-z and then a-z, 0-9 and _, 64 at most", name.escape_debug())]
    Name {
        /// Where it is declared.
        place: &'static str,
        /// Its name.
        name: String,
    },
    /// A value that the rule does not take.
    #[error("`{key}` in {place} is `{}`; accepted: {accepted}", value.escape_debug())]
    Value {
        /// The setting.
        key: String,
        /// Where it stands.
        place: &'static str,
        /// Its value.
        value: String,
        /// What would be accepted.
        accepted: &'static str,
    },
    /// A schema that is none.
    #[error("`traceType.{item_type}.schema` is no JSON Schema: {cause}")]
    Schema {
        /// The type.
        item_type: ItemType,
        /// What is wrong with it.
        cause: String,
    },
}

impl Diagnostic for BadRule {
    fn wrapped(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Settings(error) => Some(error),
            _ => None,
        }
    }
}

impl Types {
    /// Reads the types that are declared. Where there are none this reads no object and starts no process.
    ///
    /// # Errors
    ///
    /// [`BadRule`] names the setting, where it stands, and what it takes.
    pub fn read(repo: &Repo) -> Result<Self, BadRule> {
        declare::read(repo)
    }

    /// The rules of a type; of one that nobody declared, those of any other type.
    #[must_use]
    pub fn rules(&self, item_type: &ItemType) -> &TypeRules {
        self.declared.get(item_type).unwrap_or_else(|| built_in::rules(item_type))
    }

    /// Whether items of a type may be committed.
    #[must_use]
    pub fn is_known(&self, item_type: &ItemType) -> bool {
        item_type.is_built_in() || self.declared.contains_key(item_type)
    }

    /// The types there are: the built-in ones in their order, then the others by name.
    pub fn all(&self) -> impl Iterator<Item = (ItemType, &TypeRules)> {
        let built_in = ItemType::BUILT_IN.iter().filter_map(|name| name.parse::<ItemType>().ok());
        let custom = self.declared.keys().filter(|name| !name.is_built_in()).cloned();
        built_in.chain(custom).map(|item_type| {
            let rules = self.rules(&item_type);
            (item_type, rules)
        })
    }

    /// Settings under `traceType` that are not known and do nothing.
    #[must_use]
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Who speaks in an item. A dialogue says so itself; a call is the assistant's, a result the tool's; of a file and of
    /// types that take any field, the item's own role or its meta key `role` outranks the type's.
    #[must_use]
    pub fn role(&self, fields: &Fields) -> Role {
        let own = |role: Option<Role>| role.filter(|role| *role != Role::Tool);
        let in_meta = || fields.meta.get("role").and_then(|role| role.as_str()?.parse::<Role>().ok());
        let of_type = || self.rules(&fields.item_type).role.unwrap_or(Role::User);
        match fields.item_type.as_str() {
            "tool_io" if fields.is_call() => Role::Assistant,
            "tool_io" => Role::Tool,
            "dialogue" => fields.role.unwrap_or(Role::User),
            "instruction" | "reasoning" => of_type(),
            "artifact" | "output" | "freeform" => own(in_meta()).unwrap_or_else(of_type),
            _ => own(fields.role).or(own(in_meta())).unwrap_or_else(of_type),
        }
    }

    /// Whether an item shares a message and a text with its neighbours: its meta key `aggregate`, else its type's rule.
    #[must_use]
    pub fn aggregates(&self, fields: &Fields) -> bool {
        let own = fields.meta.get("aggregate").and_then(serde_json::Value::as_bool);
        own.unwrap_or(self.rules(&fields.item_type).aggregate)
    }

    /// The prompt that shrinks an item with others: its meta key `compress`, else its type's.
    #[must_use]
    pub fn compress<'a>(&'a self, fields: &'a Fields) -> &'a str {
        let own = fields.meta.get("compress").and_then(serde_json::Value::as_str);
        own.unwrap_or(&self.rules(&fields.item_type).compress)
    }

    /// Judges a completed draft as [`schema::validate`] does, where declared types are types too.
    ///
    /// # Errors
    ///
    /// [`SchemaError`], by which nothing has been written.
    pub fn validate(&self, draft: &Draft) -> Result<(), SchemaError> {
        if self.is_known(&draft.fields.item_type) { schema::validate_known(draft) } else { schema::validate(draft) }
    }

    /// Judges a completed draft that is about to be committed: [`Types::validate`], the meta keys that say what a type's rules
    /// would, and the type's JSON Schema.
    ///
    /// # Errors
    ///
    /// [`TraceError::Schema`] for the draft, [`TraceError::Type`] for a schema that cannot be used.
    pub fn judge(&self, repo: &Repo, draft: &Draft) -> Result<(), TraceError> {
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

    /// Makes sure that every schema can be used.
    ///
    /// # Errors
    ///
    /// [`BadRule::Schema`], [`BadRule::Settings`] for a file that cannot be read.
    pub fn check_schemas(&self, repo: &Repo) -> Result<(), BadRule> {
        for (item_type, rules) in self.declared.iter() {
            if let Some(schema) = &rules.schema {
                json_schema::Check::compile(repo, item_type, schema)?;
            }
        }
        Ok(())
    }
}

/// The level that an item's meta key `priority` asks for.
#[must_use]
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
