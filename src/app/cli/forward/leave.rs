//! `git trace forward leave`.

use super::{ForwardContext, crumb_type, line, priority};
use crate::app::cli::{Error, Result, Value};
use crate::base::members::Members;
use crate::memory::forward::write::Template;
use crate::memory::forward::{self, CrumbContent, CrumbType, NewCrumb, Priority, json, text};
use crate::trace::TraceName;

/// Leave a forward crumb for the next session
///
/// To give a list, repeat the option or pass a JSON array (`--unfinished '["a", "b"]'`). Give names with values as
/// NAME=VALUE, or as a JSON object.
#[derive(clap::Args, Debug)]
pub(crate) struct LeaveArgs {
    /// What happened in this session, in one to three sentences
    #[arg(long, alias = "session-summary", value_name = "TEXT", allow_hyphen_values = true)]
    summary: Option<String>,
    /// Discovery
    #[arg(long = "discovery", alias = "key-discoveries", value_name = "TEXT", allow_hyphen_values = true)]
    discoveries: Vec<String>,
    /// Emotional marker, such as L=2.1
    #[arg(long, alias = "emotional-state", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    emotional: Vec<String>,
    /// Unfinished task
    #[arg(long, alias = "unfinished-business", value_name = "TEXT", allow_hyphen_values = true)]
    unfinished: Vec<String>,
    /// Reference, such as `thread_ids=parser_split`
    #[arg(long = "ref", alias = "references", value_name = "KIND=ID", allow_hyphen_values = true)]
    references: Vec<String>,
    /// Orientation for an agent that has lost its context
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    if_disoriented: Vec<String>,
    /// Priority of the forward crumb: HIGH, MEDIUM or LOW [default: MEDIUM]
    #[arg(long = "importance", alias = "priority", value_name = "PRIORITY", value_parser = priority)]
    priority: Option<Priority>,
    /// Type: orientation, technical, emotional or task [default: orientation]
    #[arg(long = "type", alias = "crumb-type", value_name = "TYPE", value_parser = crumb_type)]
    crumb_type: Option<CrumbType>,
    /// Parent forward crumb: its id or at least four digits of it
    #[arg(long, alias = "parent-crumb", value_name = "ID")]
    parent: Option<String>,
    /// Template: orientation, task or handover, all with priority HIGH
    #[arg(long, value_name = "KIND")]
    template: Option<Template>,
    /// Deadline of the tasks, for the template `task`
    #[arg(long, value_name = "WHEN", requires = "template")]
    deadline: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl LeaveArgs {
    pub(crate) fn run(&self, context: &ForwardContext<'_>) -> Result<()> {
        let agent = context.agent()?;
        let emotional = pairs("emotional", &self.emotional)?.into_iter();
        let references = pairs("ref", &self.references)?.into_iter();
        let content = CrumbContent {
            summary: self.summary.clone().unwrap_or_default(),
            discoveries: list("discovery", &self.discoveries)?,
            emotional: emotional.map(|(name, value)| (name, json::value_to_text(&value))).collect(),
            unfinished: list("unfinished", &self.unfinished)?,
            // Ids are one text, texts with commas between, or a JSON array.
            references: references.map(|(kind, ids)| (kind, json::parse_ids(&ids))).collect(),
            if_disoriented: list("if-disoriented", &self.if_disoriented)?,
        };
        let mut new = match self.template {
            Some(template) => NewCrumb::from_template(template, content, self.deadline.as_deref())?,
            None => NewCrumb::new(content),
        };
        new.priority = self.priority.unwrap_or(new.priority);
        new.crumb_type = self.crumb_type.unwrap_or(new.crumb_type);
        let repo = context.repo()?;
        if let Some(parent) = &self.parent {
            new.parent = Some(forward::resolve(repo, agent, parent)?.id);
        }
        let warn = |warning: &str| context.ui.note(warning);
        let added = forward::add(&context.open(&TraceName::of_agent(agent))?.with_warnings(&warn), agent, &new)?;
        if let Some(warning) = text::short_task_warning(&new.content, &added.text) {
            context.ui.note(&warning);
        }
        if self.json {
            return context.ui.json(&json::added_to_json(agent, &added)?);
        }
        writeln!(context.ui, "{}", line(context, &added))
    }
}

fn refused(option: &str, value: &str, hint: &str) -> Error {
    let shown: String = value.chars().take(60).collect();
    Error::with_hint(format!("--{option}: cannot read `{}`", shown.escape_debug()), hint)
}

/// Entries, each a text or a JSON array of texts.
fn list(option: &str, given: &[String]) -> Result<Vec<String>> {
    let mut entries = Vec::new();
    for value in given {
        let text = value.trim();
        let is_json = |rest: &str| text.ends_with(']') || rest.trim_start().starts_with('"');
        if text.strip_prefix('[').is_some_and(is_json) {
            let hint = "a value in [] must be a JSON array of texts, such as [\"one\", \"two\"]";
            let list: Vec<String> = serde_json::from_str(text).map_err(|_| refused(option, value, hint))?;
            entries.extend(list);
        } else {
            entries.push(value.clone());
        }
    }
    Ok(entries)
}

/// Names with values, each `NAME=VALUE` or a JSON object.
fn pairs(option: &str, given: &[String]) -> Result<Vec<(String, Value)>> {
    let mut pairs = Vec::new();
    for value in given {
        if value.trim().starts_with('{') {
            let hint = "a value that begins with { must be a JSON object";
            let object: Members<_, _> = serde_json::from_str(value).map_err(|_| refused(option, value, hint))?;
            pairs.extend(object.0);
        } else {
            let pair = value.split_once('=').filter(|(name, _)| !name.trim().is_empty());
            let (name, value) = pair.ok_or_else(|| refused(option, value, "NAME=VALUE is expected"))?;
            pairs.push((name.to_owned(), Value::String(value.to_owned())));
        }
    }
    Ok(pairs)
}
