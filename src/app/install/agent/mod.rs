//! Hooks in the settings of an agent, by which its sessions record themselves.
//!
//! ```text
//! {"hooks":{"Stop":[{"hooks":[{"type":"command","command":"git-trace hook claude-code 2>/dev/null || true","timeout":30}]}]}}
//! ```
//!
//! The settings are the project's, in the working tree. What is there stays as it stands, byte for byte; ours is put beside
//! it. Next to the repository's config we keep what the file was before, so that it can be put back exactly as long as
//! nobody has changed it since; where somebody has, our entries are taken out and nothing else.

mod settings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::place::put;
use super::{Action, InstallError, Mode, Step};
use crate::transcript::format::Format;

/// An agent's settings in a working tree.
#[derive(Clone, Debug)]
pub(crate) struct AgentSetup {
    pub format: Format,
    pub root: PathBuf,
    /// The common folder of the repository, where we keep what was there before.
    pub common_dir: PathBuf,
    /// What the hook's command starts with, as a shell takes it.
    pub program: String,
    pub mode: Mode,
}

/// Where an agent's hooks stand and when they are called.
struct Place {
    file: &'static str,
    /// The event at which a session gets its brief, and those after which there is something to record.
    events: &'static [&'static str],
    /// How long the agent waits at most, in its own unit.
    timeout: u32,
}

/// Sources: the hook references of Claude Code, Codex and Gemini CLI.
fn place(format: Format) -> Option<Place> {
    match format {
        Format::ClaudeCode => Some(Place {
            file: ".claude/settings.json",
            events: &["SessionStart", "Stop", "PreCompact", "SessionEnd"],
            timeout: 30,
        }),
        Format::Codex => {
            Some(Place { file: ".codex/hooks.json", events: &["SessionStart", "Stop", "PreCompact"], timeout: 30 })
        }
        Format::GeminiCli => Some(Place {
            file: ".gemini/settings.json",
            events: &["SessionStart", "AfterAgent", "PreCompress", "SessionEnd"],
            timeout: 30_000,
        }),
        Format::SweAgent => None,
    }
}

/// The agents that have hooks.
pub(crate) const AGENTS: [Format; 3] = [Format::ClaudeCode, Format::Codex, Format::GeminiCli];

/// The command that the agent calls. It says nothing and fails never, also where the program is not there.
fn command(setup: &AgentSetup) -> String {
    format!("{} hook {} 2>/dev/null || true", setup.program, setup.format)
}

/// Whether a command of the settings is one of ours.
fn is_ours(command: &str, format: Format) -> bool {
    command.contains("git-trace") && command.contains(&format!(" hook {format}"))
        || command.ends_with(&format!(" hook {format} 2>/dev/null || true"))
}

/// What was there before we wrote.
#[derive(Serialize, Deserialize)]
struct Before {
    /// The file's text; none: there was no file.
    text: Option<String>,
    made_folder: bool,
    written: String,
    /// Digest of what we had written before that, and which stands there until this does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
}

fn before_path(setup: &AgentSetup) -> PathBuf {
    let root = &blake3::hash(setup.root.as_os_str().as_encoded_bytes()).to_hex()[..16];
    setup.common_dir.join("trace").join("installed").join(format!("{}-{root}.json", setup.format))
}

/// Adds the hooks. Doing it again changes nothing.
pub(crate) fn install(setup: &AgentSetup) -> Result<Vec<Step>, InstallError> {
    let Some(place) = place(setup.format) else { return Ok(Vec::new()) };
    let path = setup.root.join(place.file);
    let refuse = |cause: String| InstallError::Settings { path: path.clone(), cause };
    let old = read(&path).map_err(|error| refuse(error.to_string()))?;
    let mut text = old.clone().unwrap_or_default();
    let mut steps = Vec::new();
    for event in place.events {
        let what = format!("{}: {event}", place.file);
        let present = settings::commands(&text, event).map_err(&refuse)?;
        let ours: Vec<_> = present.iter().filter(|command| is_ours(command, setup.format)).collect();
        let action = match &ours[..] {
            [] => Action::Added,
            [only] if **only == command(setup) => Action::Kept,
            _ => Action::Updated,
        };
        if action == Action::Updated {
            text = settings::without(&text, Some(event), &|command| is_ours(command, setup.format)).map_err(&refuse)?;
        }
        if action != Action::Kept {
            text = settings::with(&text, event, &command(setup), place.timeout).map_err(&refuse)?;
        }
        steps.push(Step { action, what });
    }
    if setup.mode == Mode::Write && old.as_ref() != Some(&text) {
        let io = |error: io::Error| refuse(error.to_string());
        let made_folder = path.parent().is_some_and(|folder| !folder.exists());
        // What was before the first of several installs counts, as long as nobody wrote in between.
        let digest = old.as_deref().map(digest_of);
        // An install that was stopped may have noted what it was to write, and gone no further.
        let is_ours =
            |kept: &Before| digest.as_ref() == Some(&kept.written) || digest.is_some() && digest == kept.replaced;
        let written = digest_of(&text);
        let before = match recall(setup) {
            Some(kept) if kept.text == old => Before { written, replaced: None, ..kept },
            Some(kept) if is_ours(&kept) => Before { written, replaced: digest, ..kept },
            _ => Before { text: old, made_folder, written, replaced: None },
        };
        let note = serde_json::to_string(&before).map_err(|error| refuse(error.to_string()))?;
        put(&before_path(setup), Some(note.as_bytes())).map_err(io)?;
        put(&path, Some(text.as_bytes())).map_err(io)?;
    }
    Ok(steps)
}

/// Takes the hooks out again: puts the file back as it was, or, where it was changed since, takes out our entries.
pub(crate) fn uninstall(setup: &AgentSetup) -> Result<Vec<Step>, InstallError> {
    let Some(place) = place(setup.format) else { return Ok(Vec::new()) };
    let path = setup.root.join(place.file);
    let refuse = |cause: String| InstallError::Settings { path: path.clone(), cause };
    let io = |error: io::Error| refuse(error.to_string());
    let kept = recall(setup);
    let Some(text) = read(&path).map_err(io)? else {
        if let Some(kept) = kept.filter(|_| setup.mode == Mode::Write) {
            // One that was stopped got this far.
            forget(setup, &path, kept.made_folder).map_err(io)?;
        }
        return Ok(Vec::new());
    };
    let digest = digest_of(&text);
    let kept = kept.filter(|kept| digest == kept.written || kept.replaced.as_ref() == Some(&digest));
    let made_folder = kept.as_ref().is_some_and(|kept| kept.made_folder);
    let new = match kept {
        Some(kept) => kept.text,
        None => Some(settings::without(&text, None, &|command| is_ours(command, setup.format)).map_err(refuse)?),
    };
    if new.as_deref() == Some(&text) {
        if setup.mode == Mode::Write {
            forget(setup, &path, false).map_err(io)?;
        }
        return Ok(Vec::new());
    }
    if setup.mode == Mode::Write {
        put(&path, new.as_deref().map(str::as_bytes)).map_err(io)?;
        forget(setup, &path, made_folder).map_err(io)?;
    }
    Ok(vec![Step { action: Action::Removed, what: place.file.to_owned() }])
}

/// Removes the folder of the settings, if we made it and nothing else came into it, and then what we noted.
fn forget(setup: &AgentSetup, path: &Path, made_folder: bool) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|_| made_folder) {
        let _ = fs::remove_dir(folder);
    }
    match fs::remove_file(before_path(setup)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether this repository's install wrote hooks for the agent.
#[must_use]
pub(crate) fn is_installed(setup: &AgentSetup) -> bool {
    recall(setup).is_some()
}

fn recall(setup: &AgentSetup) -> Option<Before> {
    serde_json::from_slice(&fs::read(before_path(setup)).ok()?).ok()
}

fn digest_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

fn read(path: &Path) -> io::Result<Option<String>> {
    match crate::base::bounded::read_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => String::from_utf8(bytes?).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
    }
}
