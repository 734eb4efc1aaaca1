//! Entries in the settings of agents' programs, which make them start `git trace mcp`.
//!
//! ```json
//! { "mcpServers": { "git-trace": { "command": "git-trace", "args": ["mcp"] } } }
//! ```
//!
//! The entry is put into the text as it stands, so that order, indentation, comments and all else are kept. A file that is
//! not JSON is refused. What the change would do to everything else is checked before it is written.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::plain_json::plain;
use super::{Action, InstallError, Mode, Step, put_file, read_file};
use crate::base::string_enum::string_enum;

/// The name of the entry.
const NAME: &str = "git-trace";
/// The table of the entry in Codex's file.
const TABLE: &str = "[mcp_servers.git-trace]";

string_enum! {
    /// A program that starts servers of the Model Context Protocol.
    Client {
        /// Claude Code: `.mcp.json`.
        ClaudeCode = "claude-code",
        /// Cursor: `.cursor/mcp.json`.
        Cursor = "cursor",
        /// Visual Studio Code: `.vscode/mcp.json`.
        VsCode = "vscode",
        /// Codex: `.codex/config.toml`.
        Codex = "codex",
        /// Gemini CLI: `.gemini/settings.json`.
        Gemini = "gemini",
    }
}

/// All clients.
pub(crate) const CLIENTS: [Client; 5] =
    [Client::ClaudeCode, Client::Cursor, Client::VsCode, Client::Codex, Client::Gemini];

impl Client {
    /// Its file in the working tree whose root is `root`.
    #[must_use]
    pub(crate) fn path(self, root: &Path) -> PathBuf {
        root.join(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
        })
    }

    fn key(self) -> &'static str {
        if self == Self::VsCode { "servers" } else { "mcpServers" }
    }
}

/// Writes the entry that starts `program`. Doing it again changes nothing, also from another place of the program; an entry of
/// that name that somebody changed is left alone.
pub(crate) fn install(root: &Path, client: Client, program: &str, mode: Mode) -> Result<Step, InstallError> {
    let path = client.path(root);
    let old = text(&path)?;
    let step = |action| Step { action, what: path.display().to_string() };
    let new = match (client, &old) {
        (Client::Codex, old) => {
            let old = old.as_deref().unwrap_or_default();
            if has_table(old) {
                return Ok(step(if find_table(old).is_some() { Action::Kept } else { Action::LeftAlone }));
            }
            if let Some(line) = old.lines().find(|line| is_inline(line)) {
                let cause = format!("`{}` leaves no room for a table {TABLE}: add it by hand", line.trim());
                return Err(refused(&path, &cause));
            }
            let gap = if old.is_empty() || old.ends_with("\n\n") {
                ""
            } else if old.ends_with('\n') {
                "\n"
            } else {
                "\n\n"
            };
            format!("{old}{gap}{}", table(program))
        }
        (_, old) => {
            let old = old.as_deref().filter(|old| !old.trim().is_empty()).unwrap_or("{}\n");
            match Entries::read(&path, client, old)?.ours {
                Some(there) if is_ours(&there) => return Ok(step(Action::Kept)),
                Some(_) => return Ok(step(Action::LeftAlone)),
                None => with_entry(&path, client, old, program)?,
            }
        }
    };
    if mode == Mode::Write {
        put_file(&path, Some(new.as_bytes()))?;
    }
    Ok(step(Action::Added))
}

/// Takes the entry out again, and the file if nothing else is in it; `None` where there is no entry of ours.
pub(crate) fn uninstall(root: &Path, client: Client, mode: Mode) -> Result<Option<Step>, InstallError> {
    let path = client.path(root);
    // A file that does not name us is none of our business, whatever it holds.
    let Some(old) = text(&path)?.filter(|old| old.contains(NAME)) else { return Ok(None) };
    let new = if client == Client::Codex {
        let Some(table) = find_table(&old) else { return Ok(None) };
        // The empty line before it is ours too.
        let before = &old[..table.start];
        format!("{}{}", before.strip_suffix("\n\n").map_or(before, |_| &before[..before.len() - 1]), &old[table.end..])
    } else {
        if !Entries::read(&path, client, &old)?.ours.is_some_and(|there| is_ours(&there)) {
            return Ok(None);
        }
        without_entry(&path, client, &old)?
    };
    let is_empty =
        new.trim().is_empty() || serde_json::from_str(&new).is_ok_and(|value: Value| nothing(&value, client));
    if mode == Mode::Write {
        put_file(&path, (!is_empty).then_some(new.as_bytes()))?;
    }
    Ok(Some(Step { action: Action::Removed, what: path.display().to_string() }))
}

fn text(path: &Path) -> Result<Option<String>, InstallError> {
    let Some(bytes) = read_file(path)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| refused(path, "it is not UTF-8"))
}

fn refused(path: &Path, cause: &str) -> InstallError {
    InstallError::Settings { path: path.to_owned(), cause: cause.to_owned() }
}

fn entry(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

fn table(program: &str) -> String {
    // A JSON string is a TOML string.
    format!("{TABLE}\ncommand = {}\nargs = [\"mcp\"]\n", Value::from(program))
}

/// Whether an entry is one that we write, wherever the program was then.
fn is_ours(there: &Value) -> bool {
    there["command"].as_str().is_some_and(|program| is_program(program) && *there == entry(program))
}

fn is_program(command: &str) -> bool {
    let name = command.rsplit('/').next().unwrap_or(command);
    name.strip_suffix(".exe").unwrap_or(name) == NAME
}

/// Where our table stands, if it is as we write it and nothing was added to it.
fn find_table(text: &str) -> Option<Range<usize>> {
    let start = text.find(&format!("{TABLE}\n")).filter(|at| *at == 0 || text[..*at].ends_with('\n'))?;
    let command = text[start..].lines().nth(1)?.strip_prefix("command = ")?;
    let program: String = serde_json::from_str(command).ok()?;
    let ours = table(&program);
    let behind = text[start..].strip_prefix(&ours)?;
    let next = behind.lines().find(|line| !line.trim().is_empty());
    let is_whole = next.is_none_or(|line| line.trim_start().starts_with(['[', '#']));
    (is_program(&program) && is_whole).then(|| start..start + ours.len())
}

/// Whether a line of TOML sets servers other than by tables.
fn is_inline(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix("mcp_servers").map(str::trim_start);
    rest.is_some_and(|rest| rest.starts_with(['=', '.']))
}

fn has_table(text: &str) -> bool {
    text.lines().any(|line| {
        let line: String = line.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
        line.starts_with(TABLE)
    })
}

/// Whether only what we write into an empty file is left.
fn nothing(value: &Value, client: Client) -> bool {
    *value == json!({}) || *value == json!({ client.key(): {} })
}

/// A settings file in JSON.
struct Entries {
    whole: Map<String, Value>,
    ours: Option<Value>,
}

impl Entries {
    fn read(path: &Path, client: Client, text: &str) -> Result<Self, InstallError> {
        let whole: Map<String, Value> = serde_json::from_str(&plain(text))
            .map_err(|error| refused(path, &format!("it is not a JSON object: {error}")))?;
        let ours = match whole.get(client.key()) {
            None => None,
            Some(Value::Object(servers)) => servers.get(NAME).cloned(),
            Some(_) => return Err(refused(path, &format!("`{}` in it is not an object", client.key()))),
        };
        Ok(Self { whole, ours })
    }
}

/// Where the value of `key` stands in a plain text that is an object.
fn place_of(text: &str, key: &str) -> Option<Range<usize>> {
    let members: std::collections::BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let value = members.get(key)?.get();
    let start = (value.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    Some(start..start + value.len())
}

fn with_entry(path: &Path, client: Client, old: &str, program: &str) -> Result<String, InstallError> {
    let bare = plain(old);
    let (at, member, indent) = if let Some(place) = place_of(&bare, client.key()) {
        (place.start + 1, format!("\"{NAME}\": {}", entry(program)), "    ")
    } else {
        let member = format!("\"{}\": {{\n    \"{NAME}\": {}\n  }}", client.key(), entry(program));
        (bare.find('{').map_or(0, |start| start + 1), member, "  ")
    };
    let rest = &old[at..];
    let is_last = bare[at..].trim_start().starts_with('}');
    let end = if is_last && !rest.starts_with('\n') { &format!("\n{}", &indent[2..]) } else { "" };
    let comma = if is_last { "" } else { "," };
    let new = format!("{}\n{indent}{member}{comma}{end}{rest}", &old[..at]);
    let (mut before, after) = (Entries::read(path, client, old)?.whole, Entries::read(path, client, &new)?.whole);
    if let Some(servers) = before.entry(client.key()).or_insert_with(|| json!({})).as_object_mut() {
        servers.insert(NAME.to_owned(), entry(program));
    }
    if before == after { Ok(new) } else { Err(refused(path, "the entry could not be put in beside what is there")) }
}

fn without_entry(path: &Path, client: Client, old: &str) -> Result<String, InstallError> {
    let failed = || refused(path, "the entry could not be taken out from beside what is there");
    let bare = plain(old);
    let servers = place_of(&bare, client.key()).ok_or_else(failed)?;
    let value = place_of(&bare[servers.clone()], NAME).ok_or_else(failed)?;
    let value = servers.start + value.start..servers.start + value.end;
    let name = bare[..value.start].rfind(&format!("\"{NAME}\"")).ok_or_else(failed)?;
    let kept = bare[..name].trim_end().len();
    // White space before the entry goes with it; a comment there stays, with its line end.
    let start = if old[kept..name].trim().is_empty() { kept } else { old[..name].trim_end_matches([' ', '\t']).len() };
    let behind = &bare[value.end..];
    let new = if behind.trim_start().starts_with(',') {
        let end = value.end + behind.find(',').map_or(0, |comma| comma + 1);
        format!("{}{}", &old[..start], &old[end..])
    } else if bare[..kept].ends_with(',') {
        format!("{}{}{}", &old[..kept - 1], &old[kept..start], &old[value.end..])
    } else {
        format!("{}{}", &old[..start], &old[value.end..])
    };
    let (mut wanted, found) = (Entries::read(path, client, old)?.whole, Entries::read(path, client, &new)?.whole);
    if let Some(servers) = wanted.get_mut(client.key()).and_then(Value::as_object_mut) {
        servers.remove(NAME);
    }
    if wanted == found { Ok(new) } else { Err(failed()) }
}
