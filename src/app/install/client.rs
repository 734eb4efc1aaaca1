//! Entries in the settings of agents' programs, which make them start `git trace mcp`.
//!
//! ```json
//! { "mcpServers": { "git-trace": { "command": "git-trace", "args": ["mcp"] } } }
//! ```
//!
//! The rest of the file is kept verbatim. A file that is not JSON is refused, and so is a change that would affect anything else.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::json_text::{JsonText, Position};
use super::{Action, InstallError, Mode, Step, in_worktree, put_file, read_text, refused};
use crate::base::string_enum::string_enum;
use crate::base::worktree_path::resolve;

const NAME: &str = "git-trace";
const TABLE: &str = "[mcp_servers.git-trace]";

string_enum! {
    Client {
        ClaudeCode = "claude-code",
        Cursor = "cursor",
        VsCode = "vscode",
        Codex = "codex",
        Gemini = "gemini",
    }
}

pub(crate) const CLIENTS: [Client; 5] =
    [Client::ClaudeCode, Client::Cursor, Client::VsCode, Client::Codex, Client::Gemini];

impl Client {
    fn file(self) -> &'static str {
        match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
        }
    }

    fn path(self, root: &Path) -> Result<PathBuf, InstallError> {
        in_worktree(root, self.file())
    }

    fn key(self) -> &'static str {
        if self == Self::VsCode { "servers" } else { "mcpServers" }
    }
}

/// What becomes of the entry, and the new text if that changes it.
type Change = (Action, Option<String>);

/// Writes the entry that starts `program`. One that starts it, or starts us by our name, is kept. Any other is left alone, whatever it
/// is named: a clone may bring a program with our name.
pub(crate) fn install(root: &Path, client: Client, program: &str, mode: Mode) -> Result<Step, InstallError> {
    let path = client.path(root)?;
    let there = read_text(&path)?;
    let old = there.as_deref().unwrap_or_default();
    let change = if client == Client::Codex { with_table(old, program) } else { with_entry(old, client, program) };
    let (action, new) = change.map_err(|cause| refused(&path, cause))?;
    if let Some(new) = new {
        put_file(&path, there.as_deref().map(str::as_bytes), Some(new.as_bytes()), mode)?;
    }
    Ok(Step::on(action, &path))
}

/// Removes the entry, wherever its program was when it was written, and the file if nothing else is in it; `None` if there is no entry of ours.
pub(crate) fn uninstall(root: &Path, client: Client, mode: Mode) -> Result<Option<Step>, InstallError> {
    // A sparse checkout may leave it out.
    if matches!(resolve(root, client.file()), Ok(path) if !path.exists()) {
        return Ok(None);
    }
    let path = client.path(root)?;
    // A file that does not contain our name need not be valid.
    let Some(old) = read_text(&path)?.filter(|old| old.contains(NAME)) else { return Ok(None) };
    let new = if client == Client::Codex { Ok(without_table(&old)) } else { without_entry(&old, client) };
    let Some(new) = new.map_err(|cause| refused(&path, cause))? else { return Ok(None) };
    // A comment that remains is reason enough to keep the file.
    let is_empty = new.trim().is_empty()
        || serde_json::from_str(&new).is_ok_and(|rest: Value| rest == json!({}) || rest == json!({ client.key(): {} }));
    put_file(&path, Some(old.as_bytes()), (!is_empty).then_some(new.as_bytes()), mode)?;
    Ok(Some(Step::on(Action::Removed, &path)))
}

fn entry(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

/// Whether an entry may be one that we wrote, wherever the program was then.
fn is_ours(entry_there: &Value) -> bool {
    entry_there["command"].as_str().is_some_and(|program| is_program(program) && *entry_there == entry(program))
}

fn is_program(command: &str) -> bool {
    let name = command.rsplit('/').next().unwrap_or(command);
    name.strip_suffix(".exe").unwrap_or(name) == NAME
}

fn with_entry(old: &str, client: Client, program: &str) -> Result<Change, String> {
    let (settings, key) = (JsonText::new(old), client.key());
    let mut expected = settings.parse()?;
    match expected.get(key) {
        None => expected[key] = json!({}),
        Some(Value::Object(_)) => {}
        Some(_) => return Err(format!("`{key}` in it is not an object")),
    }
    match expected[key].get(NAME) {
        Some(there) if [program, NAME].iter().any(|program| *there == entry(program)) => {
            return Ok((Action::Kept, None));
        }
        Some(_) => return Ok((Action::LeftAlone, None)),
        None => expected[key][NAME] = entry(program),
    }
    let member = format!("\"{NAME}\": {}", entry(program));
    let new = settings
        .with(&[key], Position::First, &member, 4)
        .or_else(|| settings.with(&[], Position::First, &format!("\"{key}\": {{\n    {member}\n  }}"), 2));
    let new = new.filter(|new| JsonText::new(new).parse().as_ref() == Ok(&expected));
    let added = new.map(|new| (Action::Added, Some(new)));
    added.ok_or_else(|| "the entry cannot be added without changing other settings".to_owned())
}

fn without_entry(old: &str, client: Client) -> Result<Option<String>, String> {
    let settings = JsonText::new(old);
    let mut expected = settings.parse()?;
    let servers = match expected.get_mut(client.key()) {
        None => return Ok(None),
        Some(servers) => servers.as_object_mut().ok_or_else(|| format!("`{}` in it is not an object", client.key()))?,
    };
    if !servers.remove(NAME).is_some_and(|there| is_ours(&there)) {
        return Ok(None);
    }
    let new = settings.without(&[client.key(), NAME]);
    let new = new.filter(|new| JsonText::new(new).parse().as_ref() == Ok(&expected));
    new.map(Some).ok_or_else(|| "the entry cannot be removed without changing other settings".to_owned())
}

fn with_table(old: &str, program: &str) -> Result<Change, String> {
    if old.lines().any(is_header) {
        let is_kept = find_table(old).is_some_and(|(_, there)| there == program || there == NAME);
        return Ok((if is_kept { Action::Kept } else { Action::LeftAlone }, None));
    }
    // A server that is not set by a table.
    let is_inline = |line: &&str| {
        let line = plain(line);
        let rest = ["mcp_servers", NAME].iter().find_map(|key| line.strip_prefix(key));
        rest.is_some_and(|rest| rest.starts_with(['=', '.']))
    };
    if let Some(line) = old.lines().find(is_inline) {
        return Err(format!("`{}` leaves no room for a table {TABLE}: add it by hand", line.trim()));
    }
    let gap = match old {
        "" => "",
        old if old.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    Ok((Action::Added, Some(format!("{old}{gap}{}", table(program)))))
}

fn without_table(old: &str) -> Option<String> {
    let (table, _) = find_table(old)?;
    // The empty line before it is ours too.
    let before = &old[..table.start];
    let before = if before.ends_with("\n\n") { &before[..before.len() - 1] } else { before };
    Some(format!("{before}{}", &old[table.end..]))
}

fn table(program: &str) -> String {
    // A JSON string is a TOML string.
    format!("{TABLE}\ncommand = {}\nargs = [\"mcp\"]\n", Value::from(program))
}

/// Whether a line begins our table, or one in it, such as that of its environment.
fn is_header(line: &str) -> bool {
    let line = plain(line);
    let name = line.trim_start_matches('[');
    name.len() < line.len()
        && name.strip_prefix("mcp_servers.git-trace").is_some_and(|rest| rest.starts_with([']', '.']))
}

/// A line of TOML without spaces and quotes, which keys may have.
fn plain(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect()
}

/// The position of our table and its program, if it is as we write it and nothing was added to it.
fn find_table(text: &str) -> Option<(Range<usize>, String)> {
    let start = text.find(&format!("{TABLE}\n")).filter(|at| *at == 0 || text[..*at].ends_with('\n'))?;
    let command = text[start..].lines().nth(1)?.strip_prefix("command = ")?;
    let program: String = serde_json::from_str(command).ok()?;
    let ours = table(&program);
    let behind = text[start..].strip_prefix(&ours)?;
    let next = behind.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#'));
    let is_complete =
        next.is_none_or(|line| line.starts_with('[')) && text.lines().filter(|line| is_header(line)).count() == 1;
    (is_program(&program) && is_complete).then(|| (start..start + ours.len(), program))
}
