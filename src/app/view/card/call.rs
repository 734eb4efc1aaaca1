//! The call of a tool: a line that says what it does, and its arguments.
//!
//! Agents name their tools differently, so the arguments decide: texts before and after are an edit, a command is a terminal.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::super::folder::Folder;
use super::super::redact::Redactor;
use super::super::text::lines;
use super::{SHOWN, change, own, result};
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
    /// Markdown.
    Prose,
    /// The call shows it.
    Answer,
    Other,
}

pub(crate) struct Call {
    pub(crate) title: String,
    pub(crate) badge: Option<String>,
    pub(crate) body: Markup,
    pub(crate) shape: Shape,
    /// Whether it is about a text that is no code.
    pub(crate) is_plain: bool,
}

const MAX_TITLE: usize = 200;
const CONTEXT: usize = 3;
/// The ends of the names of files that are no code.
const PLAIN: [&str; 4] = [".md", ".txt", ".log", ".rst"];
/// Arguments that say in a line what a call does, the best first.
const TITLES: [&str; 7] = ["description", "query", "pattern", "url", "subject", "skill", "name"];

impl Call {
    /// `answer` is the text of its results.
    pub(crate) fn of(item: &Item, answer: &str, folder: &Folder, redactor: &Redactor) -> Self {
        let Ok(text) = std::str::from_utf8(&item.body) else { return Self::new("", html! {}, Shape::Other) };
        // The text was redacted as it is stored. Escapes in JSON could hide a secret from that.
        let text = redactor.decoded(text);
        let name = item.fields.name.as_deref().unwrap_or_default();
        let Ok(arguments) = serde_json::from_str::<Value>(&text) else { return Self::of_text(&text) };
        match arguments {
            Value::Object(arguments) => {
                let path = Arguments(&arguments).path().unwrap_or_default();
                let is_plain = PLAIN.iter().any(|end| path.ends_with(end));
                let own = || Self::of_arguments(name, &arguments, folder);
                Self { is_plain, ..own::call(&arguments, answer).unwrap_or_else(own) }
            }
            Value::String(text) => Self::of_text(&text),
            other => Self::new("", result::pretty(&other), Shape::Other),
        }
    }

    pub(super) fn new(title: &str, body: Markup, shape: Shape) -> Self {
        let title = one_line(title).chars().take(MAX_TITLE).collect();
        Self { title, badge: None, body, shape, is_plain: false }
    }

    fn of_text(text: &str) -> Self {
        if is_patch(text) {
            return Self::of_patch(text);
        }
        Self::new("", lines(text, "file", SHOWN), Shape::Other)
    }

    fn of_patch(patch: &str) -> Self {
        let mut files = patch.lines().filter_map(|line| line.strip_prefix("*** ")?.split_once(" File: "));
        let title = files.next().map_or("", |(_, file)| file);
        Self::new(title, change::patch(patch), Shape::Change)
    }

    fn of_arguments(name: &str, arguments: &Map<String, Value>, folder: &Folder) -> Self {
        let read = Arguments(arguments);
        let text = |names: &[&str]| read.text(names);
        let path = read.path().map(|path| folder.relative(path));
        let call = Self::new;
        if let Some(patch) = read.patch() {
            return Self::of_patch(patch);
        }
        if let Some(edits) = read.edits() {
            let body = html! {
                @for (old, new) in edits { (change::lines(&line_diff::diff(old, new, CONTEXT))) }
            };
            return call(path.unwrap_or_default(), body, Shape::Change);
        }
        if let Some(content) = read.content() {
            return call(path.unwrap_or_default(), lines(content, "file new", SHOWN), Shape::Change);
        }
        if let Some(command) = read.command() {
            if let Some(at) = command.find(BEGIN_PATCH) {
                return Self::of_patch(&command[at..]);
            }
            let body = lines(&format!("$ {command}"), "term", 40);
            return call(text(&["description"]).unwrap_or_default(), body, Shape::Terminal);
        }
        if let Some(tasks) = ["todos", "plan"].iter().find_map(|name| arguments.get(*name)?.as_array()) {
            return call("", tasks_list(tasks), Shape::Change);
        }
        let words = words_of(name);
        let is = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        if is(&["grep", "glob", "search", "find", "list", "ls"]) && !is(&["todo", "todos", "web"]) {
            let found = path.or_else(|| text(&["dir_path", "directory"]));
            let words: Vec<&str> =
                [text(&["pattern", "query", "regex", "glob"]).map(|words| folder.relative(words)), found]
                    .into_iter()
                    .flatten()
                    .collect();
            let body = rest(arguments, &["pattern", "query", "path"]);
            return call(&words.join(" in "), body, Shape::List);
        }
        if let Some(path) = path.filter(|_| is(&["read", "view", "cat", "open"])) {
            return call(path, rest(arguments, &PATHS), Shape::File);
        }
        let is_title = |name: &&&str| arguments.get(**name).is_some_and(Value::is_string);
        let name = TITLES.iter().chain(&PATHS).find(is_title).copied();
        let title = name.and_then(|name| text(&[name])).unwrap_or_default();
        // A title that is cut is shown once more.
        let shown = name.filter(|_| !is_long(title));
        let shape = if is(&["web"]) || name == Some("url") { Shape::Prose } else { Shape::Other };
        call(folder.relative(title), rest(arguments, shown.as_slice()), shape)
    }
}

/// The words of a tool's name: `read_file`, `ReadFile`, and `mcp__files__read` all have `read`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || was_lower && c.is_uppercase() {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}

fn is_long(text: &str) -> bool {
    text.len() > MAX_TITLE || text.contains('\n')
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
pub(super) fn rest(arguments: &Map<String, Value>, shown: &[&str]) -> Markup {
    let arguments = arguments.iter().filter(|(name, _)| !shown.contains(&name.as_str()));
    let (long, short): (Vec<_>, Vec<_>) = arguments.partition(|(_, value)| value.as_str().is_some_and(is_long));
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
            (lines(value.as_str().unwrap_or_default(), "text", SHOWN))
        }
    }
}
