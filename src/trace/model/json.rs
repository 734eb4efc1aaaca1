//! Items as JSON objects, for `--json`, `--batch`, `export`, and `import`.
//!
//! Each header is a field, with `_` instead of `-`. Other fields are `text` or `base64`, `id`, `seq`, `commit`, `tokens`,
//! `priority`, `revision`, and `created_at`. Absent ones are omitted. Fields that git-trace assigns are ignored on input.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};
use thiserror::Error;

use super::item::{Draft, Fields, Item, ItemType, MAX_UNKNOWN_HEADERS};
use crate::base::error::Diagnostic;

/// The fields that git-trace assigns.
const ASSIGNED: [&str; 7] = ["id", "seq", "commit", "tokens", "priority", "revision", "created"];

/// Fields that are not headers of this name, so no unknown header may have their names.
const RESERVED: [&str; 6] = ["text", "base64", "created_at", "op", "at", "by"];

/// The reason why a JSON object is not an item.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum BadField {
    #[error("field `{field}`: {cause}")]
    BadValue { field: String, cause: String },
    #[error("invalid field name `{}`: expected a letter a-z, then a-z, 0-9 and _", field.escape_debug())]
    BadName {
        /// The name as it was given.
        field: String,
    },
    #[error("field `{field}` is assigned by git-trace and cannot be set")]
    Assigned {
        /// The name as it was given.
        field: String,
    },
    #[error("an item has at most {MAX_UNKNOWN_HEADERS} unknown fields")]
    TooMany,
    #[error("give `text` or `base64`, not both")]
    TwoBodies,
    #[error("the field `text` (or `base64`) is missing")]
    NoBody,
}

impl Diagnostic for BadField {}

/// Sets a header from its JSON field. `reply_to` and `source` have the same form as in the item file.
pub(crate) fn set_field(fields: &mut Fields, field: &str, value: &Value) -> Result<(), BadField> {
    let bad = |cause: String| BadField::BadValue { field: field.to_owned(), cause };
    if field == "meta" {
        let Value::Object(meta) = value else { return Err(bad("expected an object".to_owned())) };
        fields.meta.clone_from(meta);
        return Ok(());
    }
    let Value::String(text) = value else { return Err(bad("expected a string".to_owned())) };
    macro_rules! parsed {
        ($slot:expr) => {
            $slot = Some(text.parse().map_err(|error| bad(format!("{error}")))?)
        };
    }
    match field {
        "type" => fields.item_type = text.parse().map_err(|error| bad(format!("{error}")))?,
        "role" => parsed!(fields.role),
        "direction" => parsed!(fields.direction),
        "name" => fields.name = Some(text.clone()),
        "call_id" => fields.call_id = Some(text.clone()),
        "status" => parsed!(fields.status),
        "signature" => fields.signature = Some(text.clone()),
        "kind" => fields.kind = Some(text.clone()),
        "path" => fields.path = Some(text.clone()),
        "language" => fields.language = Some(text.clone()),
        "media_type" => fields.media_type = Some(text.clone()),
        "format" => fields.format = Some(text.clone()),
        "turn" => fields.turn = Some(text.clone()),
        "reply_to" => parsed!(fields.reply_to),
        "source" => parsed!(fields.source),
        "created_at" => parsed!(fields.created),
        _ => {
            if field.parse::<ItemType>().is_err() {
                return Err(BadField::BadName { field: field.to_owned() });
            }
            if ASSIGNED.contains(&field) || RESERVED.contains(&field) {
                return Err(BadField::Assigned { field: field.to_owned() });
            }
            let header = field.replace('_', "-");
            fields.unknown.retain(|(key, _)| *key != header);
            if fields.unknown.len() >= MAX_UNKNOWN_HEADERS {
                return Err(BadField::TooMany);
            }
            fields.unknown.push((header, text.clone()));
        }
    }
    Ok(())
}

/// Reads an item to be committed. The default type is dialogue. Skips the fields in `apart`, which the caller reads, and those
/// that git-trace assigns.
pub(crate) fn draft_from(object: &Map<String, Value>, apart: &[&str]) -> Result<Draft, BadField> {
    let mut fields = Fields::new(ItemType::dialogue());
    for (field, value) in object {
        let field = field.as_str();
        if matches!(field, "text" | "base64") || ASSIGNED.contains(&field) || apart.contains(&field) || value.is_null()
        {
            continue;
        }
        set_field(&mut fields, field, value)?;
    }
    Ok(Draft { fields, body: body_from(object)?.ok_or(BadField::NoBody)? })
}

/// The body from `text` or `base64`; `None` if both are absent.
pub(crate) fn body_from(object: &Map<String, Value>) -> Result<Option<Vec<u8>>, BadField> {
    let bad = |field: &str, cause: String| BadField::BadValue { field: field.to_owned(), cause };
    match (object.get("text"), object.get("base64")) {
        (Some(_), Some(_)) => Err(BadField::TwoBodies),
        (Some(Value::String(text)), None) => Ok(Some(text.clone().into_bytes())),
        (None, Some(Value::String(text))) => {
            BASE64.decode(text).map(Some).map_err(|error| bad("base64", error.to_string()))
        }
        (Some(_), None) => Err(bad("text", "expected a string".to_owned())),
        (None, Some(_)) => Err(bad("base64", "expected a string".to_owned())),
        (None, None) => Ok(None),
    }
}

/// Writes the headers and the body of an item. The caller adds `seq`, `commit`, and `priority`.
pub(crate) fn to_json(item: &Item) -> Map<String, Value> {
    let fields = &item.fields;
    let mut object = Map::new();
    let mut put = |field: &str, value: Option<String>| {
        if let Some(value) = value {
            object.insert(field.to_owned(), Value::String(value));
        }
    };
    put("id", Some(item.id.to_string()));
    put("type", Some(fields.item_type.to_string()));
    put("role", fields.role.map(|word| word.to_string()));
    put("direction", fields.direction.map(|word| word.to_string()));
    put("name", fields.name.clone());
    put("call_id", fields.call_id.clone());
    put("status", fields.status.map(|word| word.to_string()));
    put("signature", fields.signature.clone());
    put("kind", fields.kind.clone());
    put("path", fields.path.clone());
    put("language", fields.language.clone());
    put("media_type", fields.media_type.clone());
    put("format", fields.format.clone());
    put("turn", fields.turn.clone());
    put("reply_to", fields.reply_to.map(|id| id.to_string()));
    put("source", fields.source.as_ref().map(ToString::to_string));
    put("created_at", fields.created.map(|time| time.to_string()));
    for (key, value) in &fields.unknown {
        let field = key.replace('-', "_");
        if field.parse::<ItemType>().is_ok() && !RESERVED.contains(&field.as_str()) {
            put(&field, Some(value.clone()));
        }
    }
    match std::str::from_utf8(&item.body) {
        Ok(text) => put("text", Some(text.to_owned())),
        Err(_) => put("base64", Some(BASE64.encode(&item.body))),
    }
    if let Some(kept) = item.tokens {
        object.insert("tokens".to_owned(), kept.count.into());
    }
    object.insert("revision".to_owned(), item.revision.into());
    if !fields.meta.is_empty() {
        object.insert("meta".to_owned(), Value::Object(fields.meta.clone()));
    }
    object
}
