//! The call of a tool: a line that says what it does, and its arguments.
//!
//! Agents name their tools differently, so the arguments decide: texts before and after are an edit, a command is a terminal.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::super::redact::Redactor;
use super::super::text::lines;
use super::{SHOWN, change, result};
use crate::trace::model::arguments::{Arguments, BEGIN_PATCH, PATHS, is_patch};
use crate::trace::model::item::Item;
use crate::trace::model::trailers::one_line;
use crate::trace::query::diff::lines as line_diff;

/// How the result of a call is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Change,
    Terminal,
    File,
    List,
    Other,
}

pub(crate) struct Call {
    pub(crate) title: String,
    pub(crate) body: Markup,
    pub(crate) shape: Shape,
}

const MAX_TITLE: usize = 200;
const CONTEXT: usize = 3;
/// Arguments that say in a line what a call does, the best first.
const TITLES: [&str; 7] = ["description", "query", "pattern", "url", "subject", "skill", "name"];

impl Call {
    pub(crate) fn of(item: &Item, redactor: &Redactor) -> Self {
        let Ok(text) = std::str::from_utf8(&item.body) else {
            return Self { title: String::new(), body: html! {}, shape: Shape::Other };
        };
        // The text was redacted as it is stored. Escapes in JSON could hide a secret from that.
        let text = redactor.decoded(text);
        let name = item.fields.name.as_deref().unwrap_or_default().to_ascii_lowercase();
        let Ok(arguments) = serde_json::from_str::<Value>(&text) else { return Self::of_text(&text) };
        match arguments {
            Value::Object(arguments) => Self::of_arguments(&name, &arguments),
            Value::String(text) => Self::of_text(&text),
            other => Self { title: String::new(), body: result::pretty(&other), shape: Shape::Other },
        }
    }

    fn of_text(text: &str) -> Self {
        if is_patch(text) {
            return Self::of_patch(text);
        }
        Self { title: String::new(), body: lines(text, "file", SHOWN), shape: Shape::Other }
    }

    fn of_patch(patch: &str) -> Self {
        let mut files = patch.lines().filter_map(|line| line.strip_prefix("*** ")?.split_once(" File: "));
        let title = files.next().map_or("", |(_, file)| file);
        Self { title: title.to_owned(), body: change::patch(patch), shape: Shape::Change }
    }

    fn of_arguments(name: &str, arguments: &Map<String, Value>) -> Self {
        let read = Arguments(arguments);
        let text = |names: &[&str]| read.text(names);
        let path = read.path();
        let title = |text: Option<&str>| one_line(text.unwrap_or_default()).chars().take(MAX_TITLE).collect();
        let call = |title, body, shape| Self { title, body, shape };
        if let Some(patch) = read.patch() {
            return Self::of_patch(patch);
        }
        if let Some(edits) = read.edits() {
            let body = html! {
                @for (old, new) in edits { (change::lines(&line_diff::diff(old, new, CONTEXT))) }
            };
            return call(title(path), body, Shape::Change);
        }
        if let Some(content) = read.content() {
            return call(title(path), lines(content, "file new", SHOWN), Shape::Change);
        }
        if let Some(command) = read.command() {
            if let Some(at) = command.find(BEGIN_PATCH) {
                return Self::of_patch(&command[at..]);
            }
            let body = lines(&format!("$ {command}"), "term", 40);
            return call(title(text(&["description"])), body, Shape::Terminal);
        }
        if let Some(tasks) = ["todos", "plan"].iter().find_map(|name| arguments.get(*name)?.as_array()) {
            return call(String::new(), tasks_list(tasks), Shape::Change);
        }
        let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
        if is(&["grep", "glob", "search", "find", "list", "ls"]) && !is(&["todo"]) {
            let words =
                [text(&["pattern", "query", "regex", "glob"]), path.or_else(|| text(&["dir_path", "directory"]))];
            let words: Vec<&str> = words.into_iter().flatten().collect();
            return call(title(Some(&words.join(" in "))), rest(arguments, &["pattern", "query", "path"]), Shape::List);
        }
        if is(&["read", "view", "cat", "open"]) && path.is_some() {
            return call(title(path), rest(arguments, &PATHS), Shape::File);
        }
        let title = title(text(&TITLES).or(path));
        call(title, rest(arguments, &[]), Shape::Other)
    }
}

fn tasks_list(tasks: &[Value]) -> Markup {
    let text = |task: &Value, names: [&str; 3]| {
        names.iter().find_map(|name| task.get(*name)?.as_str()).unwrap_or_default().to_owned()
    };
    html! {
        ul.tasks {
            @for task in tasks {
                @let status = text(task, ["status", "state", "done"]);
                @let mark = match status.as_str() { "completed" | "done" => "☑", "in_progress" => "▶", _ => "☐" };
                li { (mark) " " (text(task, ["content", "step", "title"])) }
            }
        }
    }
}

/// The arguments that the title does not show: short ones as JSON, long texts as texts.
fn rest(arguments: &Map<String, Value>, shown: &[&str]) -> Markup {
    let arguments = arguments.iter().filter(|(name, _)| !shown.contains(&name.as_str()));
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.len() > MAX_TITLE || text.contains('\n'));
    let (long, short): (Vec<_>, Vec<_>) = arguments.partition(|(_, value)| is_long(value));
    // A file or a search has a title, and its other arguments are small.
    let is_inline = !shown.is_empty() && short.iter().all(|(_, value)| !value.is_object() && !value.is_array());
    html! {
        @if is_inline && !short.is_empty() {
            p.note { @for (name, value) in &short { code { (name) ": " (value) } " " } }
        } @else if !short.is_empty() {
            (result::pretty(&short.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect()))
        }
        @for (name, value) in long {
            p.note { (name) }
            (lines(value.as_str().unwrap_or_default(), "file", SHOWN))
        }
    }
}
