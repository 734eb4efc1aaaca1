//! The description of a tool, and the function that it calls.

use std::str::FromStr;
use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Value, json};

use super::answer::Answer;
use super::arguments::Arguments;
use crate::app::context::Context;
use crate::base::error::Result;
use crate::base::string_enum::{UnknownVariant, string_enum};

pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// When to use it, for a model.
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    /// The arguments; see [`Schema`] for the notation.
    pub(crate) input: &'static str,
    /// The record that it answers; none if it answers a text.
    pub(crate) output: Option<&'static str>,
    pub(crate) run: fn(&Context, &Arguments<'_>) -> Result<Answer>,
}

pub(crate) const fn first(output: &[&'static str]) -> Option<&'static str> {
    match output {
        [first, ..] => Some(first),
        [] => None,
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Effect {
    Reads,
    Adds,
    /// Sets something, which history keeps. Repeating the call changes nothing.
    Sets,
    Replaces,
    /// Removes something. Repeating the call changes nothing.
    Removes,
}

impl Effect {
    fn hints(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        match self {
            Self::Reads => hints.read_only(true),
            Self::Adds => hints.destructive(false),
            Self::Sets => hints.destructive(false).idempotent(true),
            Self::Replaces => hints.destructive(true),
            Self::Removes => hints.destructive(true).idempotent(true),
        }
    }
}

impl Tool {
    pub(crate) fn listed(&self) -> Result<rmcp::model::Tool> {
        let mut input = Schema::parse(self.input)?.into_json();
        input.insert("additionalProperties".to_owned(), false.into());
        let mut tool = rmcp::model::Tool::new(self.name, self.description, Arc::new(input));
        if let Some(output) = self.output {
            tool.output_schema = Some(Arc::new(Schema::parse(output)?.into_json()));
        }
        tool.annotations = Some(self.effect.hints());
        Ok(tool)
    }

    pub(crate) fn call(&self, context: &Context, given: &JsonObject) -> Result<Answer> {
        (self.run)(context, &Arguments::new(given, &Schema::parse(self.input)?)?)
    }
}

/// The JSON Schema of an object, written in short: an object of property schemas, in which
///
/// - a name that ends with `!` is required,
/// - `"TYPE"` or `"TYPE: DESCRIPTION"` is short for an object with these two members,
/// - an array is the `enum` of a schema,
/// - an object is a schema.
pub(crate) struct Schema {
    pub(crate) properties: JsonObject,
    pub(crate) required: Vec<String>,
}

impl Schema {
    fn parse(text: &str) -> Result<Self> {
        let mut schema = Self { properties: JsonObject::new(), required: Vec::new() };
        for (name, value) in serde_json::from_str::<JsonObject>(text)? {
            let name = match name.strip_suffix('!') {
                Some(name) => {
                    schema.required.push(name.to_owned());
                    name.to_owned()
                }
                None => name,
            };
            let value = match value {
                Value::String(text) => match text.split_once(": ") {
                    Some((kind, description)) => json!({ "type": kind, "description": description }),
                    None => json!({ "type": text }),
                },
                Value::Array(words) => json!({ "enum": words }),
                schema => schema,
            };
            schema.properties.insert(name, value);
        }
        Ok(schema)
    }

    fn into_json(self) -> JsonObject {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema
    }
}

string_enum! {
    Group {
        Default = "default",
        All = "all",
        Breadcrumb = "breadcrumb",
        Forward = "forward",
        Trace = "trace",
        Crumb = "crumb",
        Checkpoint = "checkpoint",
        Brief = "brief",
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Groups(pub(crate) Vec<Group>);

impl FromStr for Groups {
    type Err = UnknownVariant;

    fn from_str(text: &str) -> Result<Self, UnknownVariant> {
        text.split(',').map(|word| word.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}
