//! The rules of each type for an item's fields and body.
//!
//! | type | fields | body |
//! | --- | --- | --- |
//! | `instruction` | `name` | text |
//! | `dialogue` | `role` user, assistant or system; `name` | text |
//! | `tool_io` | `direction`, `name` (of a call), `call_id`, `status` | a call's is JSON, a result's text |
//! | `reasoning` | `signature` | text |
//! | `artifact` | `kind`, `path`, `language`, `media_type` | any bytes |
//! | `output` | `format` | text |
//! | `freeform` | any | any bytes |
//!
//! Every type also has `turn`, `reply_to`, `source`, `created_at`, and `meta`. A draft is checked when it is committed; items
//! in history are read even if they break the rules.

use thiserror::Error;

use super::item::{Direction, Draft, Fields, ItemType, Role};
use crate::base::changes::most_alike;
use crate::base::error::Diagnostic;

/// The reason why a draft cannot be committed. The message names the type, the field, and the accepted values.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum SchemaError {
    #[error(
        "unknown type `{0}`: expected one of {known}, or a type that git config declares, as with `traceType.{0}.role`", known = ItemType::BUILT_IN.join(", ")
    )]
    UnknownType(ItemType),
    #[error("{item_type} has no field `{field}`; it accepts {accepted}")]
    NoSuchField { item_type: ItemType, field: String, accepted: String },
    #[error("{item_type} needs the field `{field}`: {accepted}")]
    MissingField { item_type: ItemType, field: &'static str, accepted: &'static str },
    #[error("{item_type} field `{field}` cannot be `{value}`; accepted: {accepted}")]
    BadValue { item_type: ItemType, field: &'static str, value: String, accepted: &'static str },
    #[error("field `{field}` must be one line of text without control characters, and not empty")]
    NotOneLine { field: String },
    #[error("the body of {item_type} must be UTF-8 text; commit other bytes with the type artifact or freeform")]
    NotText { item_type: ItemType },
    #[error("meta key `{key}` says what holds for this item in place of its type's rule; accepted: {accepted}")]
    BadMeta { key: &'static str, accepted: &'static str },
    #[error(transparent)]
    BadBody(#[from] super::types::BadBody),
    #[error("the body of a tool_io call must be its arguments as JSON: {cause}")]
    NotJson { cause: String },
}

impl Diagnostic for SchemaError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownType(unknown) => Some(match most_alike(unknown.as_str(), ItemType::BUILT_IN) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "`git trace types` lists the types and their rules".to_owned(),
            }),
            _ => None,
        }
    }
}

/// The fields of a built-in type, as spelled in JSON; `None` for a type that has any field.
pub(crate) fn own_fields(item_type: &ItemType) -> Option<&'static [&'static str]> {
    match item_type.as_str() {
        "instruction" => Some(&["name"]),
        "dialogue" => Some(&["role", "name"]),
        "tool_io" => Some(&["role", "direction", "name", "call_id", "status"]),
        "reasoning" => Some(&["signature"]),
        "artifact" => Some(&["kind", "path", "language", "media_type"]),
        "output" => Some(&["format"]),
        _ => None,
    }
}

/// The roles of a type whose items have their own.
pub(crate) fn accepted_roles(item_type: &ItemType) -> Option<&'static str> {
    match item_type.as_str() {
        "dialogue" => Some("user, assistant, system"),
        "tool_io" => Some("assistant (a call), tool (a result)"),
        _ => None,
    }
}

/// Fills in derived fields: the role of a dialogue, and the direction or role of a tool item. A tool item that only replies to
/// another item is a result.
pub(crate) fn complete(fields: &mut Fields) {
    match fields.item_type.as_str() {
        "dialogue" => {
            fields.role.get_or_insert(Role::User);
        }
        "tool_io" => match (fields.direction, fields.role) {
            (None, None) if fields.reply_to.is_some() => {
                (fields.direction, fields.role) = (Some(Direction::Result), Some(Role::Tool));
            }
            (None, Some(Role::Tool)) => fields.direction = Some(Direction::Result),
            (None, Some(Role::Assistant)) => fields.direction = Some(Direction::Call),
            (Some(Direction::Call), None) => fields.role = Some(Role::Assistant),
            (Some(Direction::Result), None) => fields.role = Some(Role::Tool),
            _ => {}
        },
        _ => {}
    }
}

/// Checks a completed draft of a built-in type and returns the first error.
pub(crate) fn validate(draft: &Draft) -> Result<(), SchemaError> {
    if !draft.fields.item_type.is_built_in() {
        return Err(SchemaError::UnknownType(draft.fields.item_type.clone()));
    }
    validate_known(draft)
}

pub(crate) fn validate_known(draft: &Draft) -> Result<(), SchemaError> {
    let fields = &draft.fields;
    let item_type = &fields.item_type;
    let values = own_values(fields);
    for (field, value) in &values {
        if value.is_empty() || value.chars().any(char::is_control) {
            return Err(SchemaError::NotOneLine { field: (*field).to_owned() });
        }
    }
    if let Some(own) = own_fields(item_type)
        && let Some((field, _)) = values.iter().find(|(field, _)| !own.contains(field) && *field != "turn")
    {
        let (item_type, field) = (item_type.clone(), (*field).to_owned());
        return Err(SchemaError::NoSuchField { item_type, field, accepted: own.join(", ") });
    }
    match item_type.as_str() {
        "dialogue" if fields.role == Some(Role::Tool) => Err(SchemaError::BadValue {
            item_type: item_type.clone(),
            field: "role",
            value: Role::Tool.to_string(),
            accepted: accepted_roles(item_type).unwrap_or_default(),
        }),
        "tool_io" => validate_tool_io(draft),
        _ => Ok(()),
    }?;
    if !matches!(item_type.as_str(), "artifact" | "freeform") && std::str::from_utf8(&draft.body).is_err() {
        return Err(SchemaError::NotText { item_type: item_type.clone() });
    }
    Ok(())
}

fn validate_tool_io(draft: &Draft) -> Result<(), SchemaError> {
    let fields = &draft.fields;
    let item_type = || fields.item_type.clone();
    let missing =
        |field, accepted| Err(SchemaError::MissingField { item_type: fields.item_type.clone(), field, accepted });
    let Some(direction) = fields.direction else {
        return missing("direction", "call (or role assistant) or result (or role tool)");
    };
    let expected = if direction == Direction::Call { Role::Assistant } else { Role::Tool };
    if let Some(role) = fields.role.filter(|role| *role != expected) {
        return Err(SchemaError::BadValue {
            item_type: item_type(),
            field: "role",
            value: role.to_string(),
            accepted: if direction == Direction::Call { "assistant, for a call" } else { "tool, for a result" },
        });
    }
    if direction == Direction::Call && fields.name.is_none() {
        return missing("name", "the name of the tool that is called");
    }
    if fields.call_id.is_none() {
        return missing("call_id", "the provider's id that ties a result to its call");
    }
    if direction == Direction::Call
        && let Err(cause) = serde_json::from_slice::<serde::de::IgnoredAny>(&draft.body)
    {
        return Err(SchemaError::NotJson { cause: cause.to_string() });
    }
    Ok(())
}

/// The fields that are set, with their names in JSON, except for those that every type has. Unknown headers follow.
fn own_values(fields: &Fields) -> Vec<(&str, String)> {
    let shared = ["reply_to", "source", "created_at"];
    let known = fields.headers().filter(|(_, field, _)| !shared.contains(field));
    let known = known.filter_map(|(_, field, value)| Some((field, value.get()?)));
    known.chain(fields.unknown.iter().map(|(key, value)| (key.as_str(), value.clone()))).collect()
}
