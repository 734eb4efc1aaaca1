//! The lines that a call wrote into files.

use std::collections::HashMap;

use serde_json::Value;

use crate::trace::Item;
use crate::trace::model::arguments::{Arguments, BEGIN_PATCH, is_patch};
use crate::trace::query::diff::lines::same_lines;

/// A line of the new text of an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct NewLine {
    pub text: String,
    /// Whether the text before lacked it.
    pub is_added: bool,
}

/// A change of a file by a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edit {
    /// The path in the call; `None` for a command, which may write any file.
    pub path: Option<String>,
    pub lines: Vec<NewLine>,
}

/// What the calls of a session made of the files that they wrote completely.
#[derive(Default)]
pub(super) struct Files(HashMap<String, String>);

impl Files {
    /// The edits of the next call of the session.
    pub(super) fn edits_of(&mut self, call: &Item) -> Vec<Edit> {
        let Some(text) = call.text() else { return Vec::new() };
        match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => self.of_arguments(Arguments(&arguments)),
            Ok(Value::String(patch)) if is_patch(&patch) => of_patch(&patch),
            Err(_) if is_patch(text) => of_patch(text),
            _ => Vec::new(),
        }
    }

    fn of_arguments(&mut self, arguments: Arguments<'_>) -> Vec<Edit> {
        if let Some(patch) = arguments.patch() {
            return of_patch(patch);
        }
        let path = arguments.path();
        if let Some((edits, path)) = arguments.edits().zip(path) {
            let known = self.0.get_mut(path);
            if let Some(text) = known {
                for (old, new) in &edits {
                    *text = text.replacen(old, new, 1);
                }
            }
            let edit = |(old, new): &(&str, &str)| Edit { path: Some(path.to_owned()), lines: new_lines(old, new) };
            return edits.iter().map(edit).collect();
        }
        if let Some((content, path)) = arguments.content().zip(path) {
            let before = self.0.insert(path.to_owned(), content.to_owned()).unwrap_or_default();
            return vec![Edit { path: Some(path.to_owned()), lines: new_lines(&before, content) }];
        }
        let Some(command) = arguments.command() else { return Vec::new() };
        match command.find(BEGIN_PATCH) {
            Some(at) => of_patch(&command[at..]),
            None => vec![Edit { path: None, lines: new_lines("", &command) }],
        }
    }
}

/// The lines of a text, and which of them an earlier text lacked.
fn new_lines(old: &str, new: &str) -> Vec<NewLine> {
    let ended =
        |text: &str| if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let (old, new) = (ended(old), ended(new));
    let mut lines: Vec<NewLine> = new.lines().map(|text| NewLine { text: text.to_owned(), is_added: true }).collect();
    for (_, kept) in same_lines(&old, &new) {
        if let Some(line) = lines.get_mut(kept) {
            line.is_added = false;
        }
    }
    lines
}

/// The edits of a patch as `apply_patch` or `git` write it.
fn of_patch(patch: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for line in patch.lines() {
        let named = line.strip_prefix("*** ").and_then(|rest| rest.split_once(" File: "));
        let path = named.map(|(_, path)| path).or_else(|| line.strip_prefix("*** Move to: "));
        let path = path.or_else(|| line.strip_prefix("+++ ").map(|path| path.strip_prefix("b/").unwrap_or(path)));
        if let Some(path) = path {
            edits.push(Edit { path: Some(path.trim().to_owned()), lines: Vec::new() });
            continue;
        }
        let Some(edit) = edits.last_mut() else { continue };
        let (sign, text) = (line.as_bytes().first(), line.get(1..).unwrap_or_default());
        match sign {
            Some(b'+') => edit.lines.push(NewLine { text: text.to_owned(), is_added: true }),
            Some(b' ') | None => edit.lines.push(NewLine { text: text.to_owned(), is_added: false }),
            // Lines on both sides of the start of a hunk are no neighbors.
            Some(b'@') => edits.extend(edits.last().map(|edit| Edit { path: edit.path.clone(), lines: Vec::new() })),
            _ => {}
        }
    }
    edits.retain(|edit| edit.lines.iter().any(|line| line.is_added));
    edits
}
