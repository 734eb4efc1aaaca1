//! Markdown for people: texts as they are, and calls with their results, thoughts, and files folded.
//!
//! Nothing in a text can end its fence or its fold: a fence is longer than any in the text, HTML in a text is shown as text, and a
//! fence that a text leaves open is closed.

use std::fmt::Write as _;

use super::{Entry, role, tool};
use crate::trace::model::arguments::Arguments;
use crate::trace::model::item::{Role, Status};
use crate::trace::{Item, TraceName};

/// The first characters of a command or a path in the line of a folded call.
const MAX_TITLE: usize = 80;

pub(super) fn write(name: &TraceName, entries: &[Entry]) -> String {
    let mut page = format!("# {}\n", escaped(name.as_str()));
    for Entry { item, results } in entries {
        let body = String::from_utf8_lossy(&item.body);
        let time = item.fields.created.map(|time| format!(" · {time}")).unwrap_or_default();
        match item.fields.item_type.as_str() {
            "dialogue" | "output" => {
                let who = match role(item) {
                    Role::User => "User",
                    Role::Assistant => "Assistant",
                    Role::System => "System",
                    Role::Tool => "Tool",
                };
                let _ = write!(page, "\n## {who}{time}\n\n{}\n", prose(&body));
            }
            "tool_io" if item.fields.is_call() => {
                let failed = results.iter().any(|result| result.fields.status == Some(Status::Error));
                let title = format!("{} {}", tool(item), title(item));
                let mut inner = fenced(&arguments(&body), "json");
                for result in results {
                    inner.push('\n');
                    inner.push_str(&fenced(&shown(result), ""));
                }
                fold(&mut page, &format!("{}{}", title.trim(), if failed { " (failed)" } else { "" }), &inner);
            }
            "reasoning" => fold(&mut page, "Thinking", &format!("{}\n", prose(&body))),
            kind => {
                let name = item.fields.path.as_deref().or(item.fields.name.as_deref()).unwrap_or_default();
                fold(&mut page, format!("{kind} {name}").trim(), &fenced(&shown(item), ""));
            }
        }
    }
    page
}

fn fold(page: &mut String, title: &str, inner: &str) {
    let _ = write!(page, "\n<details><summary>{}</summary>\n\n{inner}\n</details>\n", escaped(title));
}

/// The file or the command of a call.
fn title(call: &Item) -> String {
    let Ok(serde_json::Value::Object(arguments)) = serde_json::from_slice(&call.body) else { return String::new() };
    let arguments = Arguments(&arguments);
    let title = arguments.path().map(str::to_owned).or_else(|| arguments.command()).unwrap_or_default();
    title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE).collect()
}

fn arguments(body: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(body);
    value.map_or_else(|_| body.to_owned(), |value| format!("{value:#}"))
}

fn shown(item: &Item) -> String {
    item.text().map_or_else(|| format!("({} bytes)", item.body.len()), str::to_owned)
}

/// A text in a fence that it cannot end.
fn fenced(text: &str, language: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A text of one line, with its markup shown.
fn escaped(text: &str) -> String {
    let mut line = String::new();
    for c in text.chars() {
        match c {
            '<' => line.push_str("&lt;"),
            '>' => line.push_str("&gt;"),
            '&' => line.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => line.extend(['\\', c]),
            c if c.is_control() => line.push(' '),
            c => line.push(c),
        }
    }
    line
}

/// Markdown of somebody else: HTML is shown as text, headings are below those of the page, and an open fence is closed.
fn prose(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut fence: Option<String> = None;
    for line in text.trim_end().lines() {
        let mark: String = line.trim_start().chars().take_while(|c| matches!(c, '`' | '~')).collect();
        let rest = &line.trim_start()[mark.len()..];
        match &fence {
            Some(open) => {
                if mark.starts_with(open.as_str()) && rest.trim().is_empty() {
                    fence = None;
                }
                lines.push(line.to_owned());
            }
            None if mark.len() >= 3 && !rest.contains('`') && mark.chars().all(|c| mark.starts_with(c)) => {
                fence = Some(mark);
                lines.push(line.to_owned());
            }
            None if line.starts_with('#') => lines.push(format!("##{}", line.replace('<', "\\<"))),
            None => lines.push(line.replace('<', "\\<")),
        }
    }
    lines.extend(fence);
    lines.join("\n")
}
