//! Items as JSON objects, for `--json`, `--batch`, `export`, and `import`.
//!
//! Each header is a field, with `_` instead of `-`. Other fields are `text` or `base64`, `id`, `seq`, `commit`, `tokens`,
//! `priority`, `revision`, and `created_at`. Absent ones are omitted. Fields that git-trace assigns are ignored on input.

use std::fmt::Display;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};
use thiserror::Error;

use super::item::{BadType, Draft, Fields, Item, ItemType, MAX_UNKNOWN_HEADERS};
use super::schema::accepted_roles;
use crate::base::changes::most_alike;
use crate::base::error::Diagnostic;

/// The fields that git-trace assigns.
const ASSIGNED: [&str; 7] = ["id", "seq", "commit", "tokens", "priority", "revision", "created"];

/// Fields that are not headers of this name, so no unknown header may have their names.
const RESERVED: [&str; 8] = ["text", "base64", "created_at", "op", "at", "by", REPORTED_TOTAL, COUNTED_TOTAL];

/// The total of the complete trace, skipped items included, after an operation in an export.
pub(crate) const REPORTED_TOTAL: &str = "reported_total";

/// The field of an exported line that has our own count of the trace at that commit, beside a reported total.
pub(crate) const COUNTED_TOTAL: &str = "counted_total";

#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum BadField {
    #[error("field `{field}`: {cause}")]
    BadValue { field: String, cause: String },
    #[error("invalid field name `{}`: expected a letter a-z, then a-z, 0-9 and _", field.escape_debug())]
    BadName { field: String },
    #[error("field `{field}` is assigned by git-trace and cannot be set")]
    Assigned { field: String },
    #[error("an item has at most {MAX_UNKNOWN_HEADERS} unknown fields")]
    TooMany,
    #[error("field `role`: `{text}` is not a role of {item_type}; accepted: {roles}")]
    BadRole { text: String, item_type: ItemType, roles: &'static str },
    #[error("give `text` or `base64`, not both")]
    TwoBodies,
    #[error("the field `text` (or `base64`) is missing")]
    NoBody,
}

impl Diagnostic for BadField {
    fn hint(&self) -> Option<String> {
        match self {
            Self::BadRole { text, roles, .. } => {
                let roles = roles.split(", ").filter_map(|role| role.split(' ').next());
                most_alike(text, roles).map(|meant| format!("did you mean `{meant}`?"))
            }
            _ => None,
        }
    }
}

impl BadField {
    pub(crate) fn bad(field: &str, cause: impl Display) -> Self {
        Self::BadValue { field: field.to_owned(), cause: cause.to_string() }
    }
}

/// A field with a text; `None` if it is absent or null.
pub(crate) fn text_field(object: &Map<String, Value>, field: &str) -> Result<Option<String>, BadField> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(BadField::bad(field, "expected a string")),
    }
}

/// A field with a text that is a value of type `T`.
pub(crate) fn parsed_field<T: FromStr<Err: Display>>(
    object: &Map<String, Value>,
    field: &str,
) -> Result<Option<T>, BadField> {
    text_field(object, field)?.map(|text| text.parse().map_err(|cause| BadField::bad(field, cause))).transpose()
}

/// Sets a header from its JSON field, or removes it if the value is null. `reply_to` and `source` have the same form as in the
/// item file.
pub(crate) fn set_field(fields: &mut Fields, field: &str, value: &Value) -> Result<(), BadField> {
    if value.is_null() {
        return unset_field(fields, field);
    }
    if field == "meta" {
        let Value::Object(meta) = value else { return Err(BadField::bad(field, "expected an object")) };
        fields.meta.clone_from(meta);
        return Ok(());
    }
    let Value::String(text) = value else { return Err(BadField::bad(field, "expected a string")) };
    let item_type = fields.item_type.clone();
    if field == "type" {
        fields.item_type = text.parse().map_err(|cause: BadType| BadField::bad(field, cause))?;
    } else if let Some(header) = fields.json_mut(field) {
        header.set(text).map_err(|cause| match accepted_roles(&item_type).filter(|_| field == "role") {
            Some(roles) => BadField::BadRole { text: text.clone(), item_type: item_type.clone(), roles },
            None => BadField::bad(field, cause),
        })?;
    } else if field.parse::<ItemType>().is_err() {
        return Err(BadField::BadName { field: field.to_owned() });
    } else if ASSIGNED.contains(&field) || RESERVED.contains(&field) {
        return Err(BadField::Assigned { field: field.to_owned() });
    } else {
        let header = field.replace('_', "-");
        fields.unknown.retain(|(key, _)| *key != header);
        if fields.unknown.len() >= MAX_UNKNOWN_HEADERS {
            return Err(BadField::TooMany);
        }
        fields.unknown.push((header, text.clone()));
    }
    Ok(())
}

/// Removes a header or the metadata.
fn unset_field(fields: &mut Fields, field: &str) -> Result<(), BadField> {
    if field == "meta" {
        fields.meta.clear();
    } else if let Some(header) = fields.json_mut(field) {
        header.unset();
    } else {
        let (header, before) = (field.replace('_', "-"), fields.unknown.len());
        fields.unknown.retain(|(key, _)| *key != header);
        if fields.unknown.len() == before {
            return Err(BadField::bad(field, "the item does not have it"));
        }
    }
    Ok(())
}

/// Reads an item to be committed. The default type is dialogue. Skips the fields in `apart`, which the caller reads, and those
/// that git-trace assigns.
pub(crate) fn draft_from(object: &Map<String, Value>, apart: &[&str]) -> Result<Draft, BadField> {
    let mut fields = Fields::new(ItemType::dialogue());
    // The errors of other fields depend on the type.
    if let Some(item_type) = object.get("type").filter(|value| !value.is_null()) {
        set_field(&mut fields, "type", item_type)?;
    }
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
    let string = |field: &str| match object.get(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(BadField::bad(field, "expected a string")),
    };
    if object.contains_key("text") && object.contains_key("base64") {
        return Err(BadField::TwoBodies);
    }
    if let Some(text) = string("text")? {
        return Ok(Some(text.clone().into_bytes()));
    }
    let decoded = string("base64")?.map(|text| BASE64.decode(text)).transpose();
    decoded.map_err(|cause| BadField::bad("base64", cause))
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
    for (_, field, value) in fields.headers() {
        put(field, value.get());
    }
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
