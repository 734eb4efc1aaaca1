//! `crumb_validate`, `crumb_note`, `crumb_fail`: crumb files of the working tree.

use serde_json::json;

use crate::app::context::Context;
use crate::app::mcp::answer::Answer;
use crate::app::mcp::arguments::Arguments;
use crate::app::mcp::file;
use crate::app::secrets::{Caller, refuse_secret_text};
use crate::base::bounded;
use crate::base::error::{Context as _, Result, bail};
use crate::base::finding::Weight;
use crate::memory::crumb::{self, EntryKind, NewEntry, check};

tools! {
    crumb_validate: Reads, "Check a .crumb memory file; each finding says where, what and how to fix it.";
    r#"{"file!": "string: path from the root of the working tree"}"# => r#"{"valid!": "boolean", "errors!": "integer", "warnings!": "integer", "findings!": "array"}"#;

    crumb_note: Adds, "Add a note of this session to a .crumb memory file.";
    r#"{
        "file!": "string: path from the root of the working tree", "text!": "string", "agent": "string: one letter A-Z"
    }"# => r#"{"line!": "string"}"#;

    crumb_fail: Adds, "Record a failure in a .crumb memory file; a known one is counted up.";
    r#"{
        "file!": "string: path from the root of the working tree", "key!": "string: area:topic", "text!": "string",
        "agent": "string: one letter A-Z"
    }"# => r#"{"line!": "string"}"#;
}

fn crumb_validate(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let path = file(context, "file", arguments.required("file")?)?;
    let bytes = bounded::read_file(&path).context("argument `file`")?;
    let findings = check(&bytes, context.counter()?);
    let count = |weight| findings.iter().filter(|finding| finding.weight == weight).count();
    let (errors, warnings) = (count(Weight::Error), count(Weight::Warning));
    Ok(json!({ "valid": errors == 0, "errors": errors, "warnings": warnings, "findings": findings }).into())
}

fn crumb_note(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (path, text) = (file(context, "file", arguments.required("file")?)?, arguments.required("text")?);
    refuse_secret_text(Caller::Model, text).context("argument `text`")?;
    let addition = NewEntry { kind: EntryKind::Note, section: "volatile", agent: agent(arguments)?, text };
    let line = crumb::edit(&path, |crumb| crumb.add(&addition)).context("argument `text` or `file`")?;
    Ok(json!({ "line": line }).into())
}

fn crumb_fail(context: &Context, arguments: &Arguments<'_>) -> Result<Answer> {
    let (key, text) = (arguments.required("key")?, arguments.required("text")?);
    let path = file(context, "file", arguments.required("file")?)?;
    refuse_secret_text(Caller::Model, key).context("argument `key`")?;
    refuse_secret_text(Caller::Model, text).context("argument `text`")?;
    let agent = agent(arguments)?;
    let line =
        crumb::edit(&path, |crumb| crumb.add_failure(key, text, agent)).context("argument `key`, `text` or `file`")?;
    Ok(json!({ "line": line }).into())
}

fn agent(arguments: &Arguments<'_>) -> Result<Option<char>> {
    match arguments.text("agent")?.map(|text| text.chars().collect::<Vec<_>>()).as_deref() {
        None => Ok(None),
        Some([letter @ 'A'..='Z']) => Ok(Some(*letter)),
        Some(_) => bail!("argument `agent`: expected one letter from A to Z"),
    }
}
