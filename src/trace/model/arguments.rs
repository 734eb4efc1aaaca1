//! The arguments of a tool's call: the file that it is about, and how it changes it.
//!
//! Agents name their tools and arguments differently, so the names of the arguments decide: texts before and after are an edit, a
//! path and a content are a new file, `*** Begin Patch` begins a patch, and a command is a command.

use serde_json::{Map, Value};

pub(crate) const PATHS: [&str; 7] =
    ["file_path", "path", "filename", "notebook_path", "filePath", "target_file", "absolute_path"];
const EDITS: [(&str, &str); 5] = [
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
];
const CONTENTS: [&str; 4] = ["content", "file_text", "contents", "new_source"];
pub(crate) const COMMANDS: [&str; 3] = ["command", "cmd", "commands"];

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Arguments<'a> {
    /// The first of these that is a text.
    pub(crate) fn text(self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.0.get(*name)?.as_str())
    }

    pub(crate) fn path(self) -> Option<&'a str> {
        self.text(&PATHS)
    }

    pub(crate) fn patch(self) -> Option<&'a str> {
        self.text(&["input", "patch", "patchText", "diff"]).filter(|text| is_patch(text))
    }

    /// The texts before and after of each edit.
    pub(crate) fn edits(self) -> Option<Vec<(&'a str, &'a str)>> {
        fn edit(arguments: &Map<String, Value>) -> Option<(&str, &str)> {
            EDITS.iter().find_map(|(old, new)| Some((arguments.get(*old)?.as_str()?, arguments.get(*new)?.as_str()?)))
        }
        if let Some(edits) = self.0.get("edits").and_then(Value::as_array) {
            return edits.iter().map(|each| edit(each.as_object()?)).collect();
        }
        Some(vec![edit(self.0)?])
    }

    /// The complete content of the file at [`Self::path`].
    pub(crate) fn content(self) -> Option<&'a str> {
        self.text(&CONTENTS).filter(|_| self.path().is_some())
    }

    /// The command line. Of a shell with its script as the last argument, the script.
    pub(crate) fn command(self) -> Option<String> {
        let value = COMMANDS.iter().find_map(|name| self.0.get(*name))?;
        let Value::Array(words) = value else { return value.as_str().map(str::to_owned) };
        let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
        Some(match words?.as_slice() {
            [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => (*script).to_owned(),
            words => words.join(" "),
        })
    }
}

/// Whether a text is a patch as `apply_patch` or `git` write it.
pub(crate) fn is_patch(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(BEGIN_PATCH) || text.starts_with("diff --git ") || text.starts_with("--- a/")
}

pub(crate) const BEGIN_PATCH: &str = "*** Begin Patch";
