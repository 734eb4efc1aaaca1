//! What a tool is: its name, when it is to be used, what it takes and answers, and the function behind it.

use std::str::FromStr;
use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::arguments::Arguments;
use super::place::Place;
use crate::base::error::{Context as _, Result};

/// A tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    /// Whether it is listed where nobody says which are.
    pub(crate) by_default: bool,
    /// When to use it, for a model.
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    /// Properties of the arguments, as JSON Schema.
    pub(crate) input: &'static str,
    pub(crate) required: &'static [&'static str],
    /// Properties of the structured answer, as JSON Schema.
    pub(crate) output: &'static str,
    /// Those that every answer has.
    pub(crate) answered: &'static [&'static str],
    pub(crate) run: fn(&Place, &Arguments<'_>) -> Result<Answer>,
}

/// What a tool answers.
pub(crate) struct Answer {
    pub(crate) value: Value,
    /// What a model reads in the place of the value's JSON.
    pub(crate) text: Option<String>,
    pub(crate) warnings: Vec<String>,
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self { value, text: None, warnings: Vec::new() }
    }
}

/// What a call does to the repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// Adds, each time.
    Adds,
    /// Sets something; again is the same as once. What was is kept in history.
    Sets,
    /// Takes something away or replaces it.
    Replaces,
    /// Takes something away; again is the same as once.
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
    /// The tool as it is listed.
    pub(crate) fn listed(&self) -> Result<rmcp::model::Tool> {
        let input = Arc::new(schema(self.name, self.input, self.required, true)?);
        let mut tool = rmcp::model::Tool::new(self.name, self.description, input);
        tool.output_schema = Some(Arc::new(schema(self.name, self.output, self.answered, false)?));
        tool.annotations = Some(self.effect.hints());
        Ok(tool)
    }

    /// Reads the arguments and does what the tool is for.
    pub(crate) fn call(&self, place: &Place, given: &JsonObject) -> Result<Answer> {
        let known: Map<String, Value> = serde_json::from_str(self.input).context("the tool's schema is not JSON")?;
        let arguments = Arguments::new(given, &known)?;
        for name in self.required {
            arguments.value(name).ok_or_else(|| super::arguments::missing(name))?;
        }
        (self.run)(place, &arguments)
    }
}

fn schema(tool: &str, properties: &str, required: &[&str], is_closed: bool) -> Result<JsonObject> {
    let properties: Map<String, Value> =
        serde_json::from_str(properties).with_context(|| format!("the schema of `{tool}` is not JSON"))?;
    let mut schema =
        Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), properties.into())]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if is_closed {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    Ok(schema)
}

/// Tools that belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    Breadcrumb,
    Forward,
    Trace,
    Crumb,
    Checkpoint,
    Brief,
}

impl Group {
    const ALL: [(&'static str, Self); 6] = [
        ("breadcrumb", Self::Breadcrumb),
        ("forward", Self::Forward),
        ("trace", Self::Trace),
        ("crumb", Self::Crumb),
        ("checkpoint", Self::Checkpoint),
        ("brief", Self::Brief),
    ];
}

/// Which tools are offered: those of daily use, all, or those of some groups.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Groups(Vec<Choice>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
    Default,
    All,
    Group(Group),
}

/// A word that names no tools.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{0}` names no tools: default, all, breadcrumb, forward, trace, crumb, checkpoint and brief do")]
pub(crate) struct BadGroup(String);

impl FromStr for Groups {
    type Err = BadGroup;

    fn from_str(text: &str) -> Result<Self, BadGroup> {
        let choice = |word: &str| match word.trim() {
            "default" => Ok(Choice::Default),
            "all" => Ok(Choice::All),
            word => {
                let group = Group::ALL.into_iter().find(|(name, _)| *name == word);
                group.map(|(_, group)| Choice::Group(group)).ok_or_else(|| BadGroup(word.to_owned()))
            }
        };
        Ok(Self(text.split(',').map(choice).collect::<Result<_, _>>()?))
    }
}

impl Groups {
    /// Whether a tool is offered.
    pub(crate) fn have(&self, tool: &Tool) -> bool {
        let chosen = |choice: &Choice| match choice {
            Choice::Default => tool.by_default,
            Choice::All => true,
            Choice::Group(group) => tool.group == *group,
        };
        if self.0.is_empty() { tool.by_default } else { self.0.iter().any(chosen) }
    }
}
