//! `crumb_validate`, `crumb_note`, `crumb_fail`: crumb files of the working tree.

use serde_json::json;

use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::place::Place;
use crate::app::mcp::tool::{Answer, Effect, Group, Tool};
use crate::app::secrets::refuse_secret_text;
use crate::base::bounded;
use crate::base::error::{Context as _, Result, failure};
use crate::base::finding::Weight;
use crate::memory::crumb::{self, EntryKind, NewEntry, check};
use crate::trace::store::settings::encoding;

pub(crate) const TOOLS: [Tool; 3] = [
    Tool {
        name: "crumb_validate",
        group: Group::Crumb,
        by_default: false,
        description: "Check a .crumb memory file; each finding says where, what and how to mend it.",
        effect: Effect::Reads,
        input: r#"{"file": {"type": "string", "description": "path from the root of the working tree"}}"#,
        required: &["file"],
        output: r#"{"valid": {"type": "boolean"}, "errors": {"type": "integer"}, "warnings": {"type": "integer"}, "findings": {"type": "array"}}"#,
        answered: &["valid", "errors", "warnings", "findings"],
        run: validate,
    },
    Tool {
        name: "crumb_note",
        group: Group::Crumb,
        by_default: false,
        description: "Add a note of this session to a .crumb memory file.",
        effect: Effect::Adds,
        input: r#"{"file": {"type": "string", "description": "path from the root of the working tree"}, "text": {"type": "string"}, "agent": {"type": "string", "description": "one letter A-Z"}}"#,
        required: &["file", "text"],
        output: r#"{"line": {"type": "string"}}"#,
        answered: &["line"],
        run: note,
    },
    Tool {
        name: "crumb_fail",
        group: Group::Crumb,
        by_default: false,
        description: "Record a failure in a .crumb memory file; one that is known is counted up.",
        effect: Effect::Adds,
        input: r#"{"file": {"type": "string", "description": "path from the root of the working tree"}, "key": {"type": "string", "description": "area:topic"}, "text": {"type": "string"}, "agent": {"type": "string", "description": "one letter A-Z"}}"#,
        required: &["file", "key", "text"],
        output: r#"{"line": {"type": "string"}}"#,
        answered: &["line"],
        run: fail,
    },
];

fn validate(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let path = place.file("file", arguments.required("file")?)?;
    let bytes = bounded::read_file(&path).context("argument `file`")?;
    let findings = check(&bytes, encoding(&place.repo()?)?);
    let count = |weight| findings.iter().filter(|finding| finding.weight == weight).count();
    let (errors, warnings) = (count(Weight::Error), count(Weight::Warning));
    Ok(json!({ "valid": errors == 0, "errors": errors, "warnings": warnings, "findings": findings }).into())
}

fn note(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let (path, text) = (place.file("file", arguments.required("file")?)?, arguments.required("text")?);
    refuse_secret_text(text).context("argument `text`")?;
    let addition = NewEntry { kind: EntryKind::Note, section: "volatile", agent: agent(arguments)?, text };
    let line = crumb::edit(&path, |crumb| crumb::add(crumb, &addition)).context("argument `text` or `file`")?;
    Ok(json!({ "line": line }).into())
}

fn fail(place: &Place, arguments: &Arguments<'_>) -> Result<Answer> {
    let (key, text) = (arguments.required("key")?, arguments.required("text")?);
    let path = place.file("file", arguments.required("file")?)?;
    refuse_secret_text(key).context("argument `key`")?;
    refuse_secret_text(text).context("argument `text`")?;
    let agent = agent(arguments)?;
    let counted = crumb::edit(&path, |crumb| crumb::add_failure(crumb, key, text, agent))
        .context("argument `key`, `text` or `file`")?;
    Ok(json!({ "line": counted.line }).into())
}

fn agent(arguments: &Arguments<'_>) -> Result<Option<char>> {
    match arguments.text("agent")? {
        None => Ok(None),
        Some(text) => match text.chars().next() {
            Some(letter @ 'A'..='Z') if text.len() == 1 => Ok(Some(letter)),
            _ => Err(failure!("argument `agent`: one letter from A to Z is expected")),
        },
    }
}
