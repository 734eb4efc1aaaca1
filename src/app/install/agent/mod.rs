//! Hooks in the settings of an agent, by which its sessions record themselves.
//!
//! ```text
//! {"hooks":{"Stop":[{"hooks":[{"type":"command","command":"git-trace hook claude-code 2>/dev/null || true","timeout":30}]}]}}
//! ```
//!
//! The settings are those of the project, in the working tree, or those of the user, for all projects. The rest of the file is
//! kept byte for byte. The [original](Original) of the file is in the common folder of the repository, or in the user's data
//! folder. It is restored as long as nobody has changed the file since. Otherwise only our entries are removed.
//!
//! opencode has no such settings. It gets a plugin, an [owned file](OwnedFile).

pub(crate) mod settings;
mod table;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::table::Hooks;
use super::owned::{self, OwnedFile};
use super::{Action, InstallError, Mode, Step, digest, in_worktree, of_user, put_file, read_file, read_text, refused};
use crate::base::escape::shell_word;

pub(crate) use table::{AGENTS, Agent};

pub(crate) struct AgentSetup {
    pub(crate) agent: &'static Agent,
    pub(crate) brief: bool,
    pub(crate) owner: SettingsOwner,
    /// A name on the path, or a path.
    pub(crate) program: String,
    pub(crate) mode: Mode,
}

/// Whose settings are changed.
pub(crate) enum SettingsOwner {
    Project {
        root: PathBuf,
        common_dir: PathBuf,
    },
    /// `home` is the agent's folder, `data` is ours.
    User {
        home: PathBuf,
        data: PathBuf,
    },
}

/// A purge replaces one that contains the text by one that fits no file.
#[derive(Serialize, Deserialize)]
struct Original {
    /// `None`: there was no file.
    text: Option<String>,
    made_folder: bool,
    written: String,
    /// Digest of the text that we had written before, which is in the file until `written` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
}

impl Original {
    /// Whether the text with this digest is ours. An install that was interrupted noted what it was going to write.
    fn is_of(&self, digest: &str) -> bool {
        self.written == digest || self.replaced.as_deref() == Some(digest)
    }
}

impl AgentSetup {
    pub(crate) fn path(&self) -> Result<PathBuf, InstallError> {
        match &self.owner {
            SettingsOwner::Project { root, .. } => in_worktree(root, self.agent.file),
            SettingsOwner::User { home, .. } => of_user(home.join(self.agent.user_file)),
        }
    }

    /// The file, as reports name it.
    fn shown(&self, path: &Path) -> String {
        match self.owner {
            SettingsOwner::Project { .. } => self.agent.file.to_owned(),
            SettingsOwner::User { .. } => path.display().to_string(),
        }
    }

    /// The command that the agent calls at an event, if any. It prints only what the agent reads, and never fails, even if the program is missing.
    fn command(&self, event: &str) -> Option<String> {
        let is_brief = self.agent.brief_event == Some(event);
        let brief = if is_brief { " --brief" } else { "" };
        let program = shell_word(&self.program);
        (!is_brief || self.brief).then(|| format!("{program} hook {}{brief} 2>/dev/null || true", self.agent.format))
    }

    fn is_ours(&self, command: &str) -> bool {
        let format = self.agent.format;
        command.contains("git-trace") && command.contains(&format!(" hook {format}"))
            || ["", " --brief"]
                .iter()
                .any(|brief| command.ends_with(&format!(" hook {format}{brief} 2>/dev/null || true")))
    }

    fn original_path(&self) -> Result<PathBuf, InstallError> {
        let (place, folder) = match &self.owner {
            SettingsOwner::Project { root, common_dir } => (root, common_dir.join("trace/installed")),
            SettingsOwner::User { home, data } => (home, data.join("git-trace/installed")),
        };
        let place = digest(place.as_os_str().as_encoded_bytes(), 16);
        let path = folder.join(format!("{}-{place}.json", self.agent.format));
        if matches!(self.owner, SettingsOwner::User { .. }) { of_user(path) } else { Ok(path) }
    }

    fn original(&self) -> Option<Original> {
        serde_json::from_slice(&read_file(&self.original_path().ok()?).ok()??).ok()
    }

    /// Whether the settings call this program. The user may have written the hook by hand.
    pub(crate) fn calls_us(&self) -> bool {
        let Some(text) = self.path().ok().and_then(|path| read_text(&path).ok().flatten()) else { return false };
        if matches!(self.agent.hooks, Hooks::Plugin { .. }) {
            return owned::is_ours(text.as_bytes());
        }
        let commands = |event: &&str| settings::commands(&text, event).unwrap_or_default();
        self.agent.events().iter().flat_map(commands).any(|command| self.is_ours(&command))
    }

    /// The file of the settings, as reports name it.
    pub(crate) fn place(&self) -> Option<String> {
        self.path().ok().map(|path| format!("`{}`", self.shown(&path)))
    }

    pub(crate) fn is_installed(&self) -> bool {
        match self.agent.hooks {
            Hooks::Commands { .. } => self.original().is_some(),
            Hooks::Plugin { .. } => self.calls_us(),
        }
    }

    pub(crate) fn install(&self) -> Result<Vec<Step>, InstallError> {
        let path = self.path()?;
        let (entry, empty) = match self.agent.hooks {
            Hooks::Commands { entry, empty, .. } => (entry, empty),
            Hooks::Plugin { text } => {
                let text = text.replace("PROGRAM", &Value::from(&*self.program).to_string());
                let step = OwnedFile { path: path.clone(), text, comment: "//" }.install(self.mode)?;
                return Ok(vec![Step { what: self.shown(&path), ..step }]);
            }
        };
        let old = read_text(&path)?;
        let mut text = old.clone().unwrap_or_else(|| empty.to_owned());
        let mut steps = Vec::new();
        for event in self.agent.brief_event.iter().chain(self.agent.events()) {
            let mut change = || -> Result<Option<Action>, String> {
                let present = settings::commands(&text, event)?;
                let ours: Vec<_> = present.iter().filter(|command| self.is_ours(command)).collect();
                let command = self.command(event);
                let action = match (&ours[..], &command) {
                    ([], None) => return Ok(None),
                    ([only], Some(command)) if *only == command => return Ok(Some(Action::Kept)),
                    ([], Some(_)) => Action::Added,
                    (_, None) => Action::Removed,
                    (_, Some(_)) => Action::Updated,
                };
                text = settings::without(&text, Some(event), &|command| self.is_ours(command))?;
                if let Some(command) = command {
                    text = settings::with(&text, event, &entry.replace("COMMAND", &Value::from(command).to_string()))?;
                }
                Ok(Some(action))
            };
            let action = change().map_err(|cause| refused(&path, cause))?;
            steps.extend(action.map(|action| Step {
                action,
                what: format!("{}: {event}", self.shown(&path)),
                hint: None,
            }));
        }
        if old.as_ref() != Some(&text) {
            let made_folder = path.parent().is_some_and(|folder| !folder.exists());
            let replaced = old.as_deref().map(|old| digest(old.as_bytes(), 32));
            let written = digest(text.as_bytes(), 32);
            // The file before the first of several installs counts, unless somebody changed it in between.
            let original = match self.original() {
                Some(kept) if kept.text == old => Original { written, replaced: None, ..kept },
                Some(kept) if replaced.as_deref().is_some_and(|digest| kept.is_of(digest)) => {
                    Original { written, replaced, ..kept }
                }
                _ => Original { text: old.clone(), made_folder, written, replaced: None },
            };
            let note = serde_json::to_vec(&original).map_err(|error| refused(&path, error.to_string()))?;
            let path_of_note = self.original_path()?;
            let old_note = read_file(&path_of_note)?;
            put_file(&path_of_note, old_note.as_deref(), Some(&note), self.mode)?;
            put_file(&path, old.as_deref().map(str::as_bytes), Some(text.as_bytes()), self.mode)?;
        }
        Ok(steps)
    }

    /// Restores the file, or removes our entries if somebody changed it since.
    pub(crate) fn uninstall(&self) -> Result<Vec<Step>, InstallError> {
        let path = self.path()?;
        if matches!(self.agent.hooks, Hooks::Plugin { .. }) {
            let step = owned::uninstall(&path, self.mode)?;
            return Ok(step.map(|step| Step { what: self.shown(&path), ..step }).into_iter().collect());
        }
        let original = self.original();
        let Some(text) = read_text(&path)? else {
            // An uninstall that was interrupted may have removed the file.
            let made_folder = original.is_some_and(|original| original.made_folder);
            self.forget(&path, made_folder)?;
            return Ok(Vec::new());
        };
        let (new, made_folder) = match original.filter(|original| original.is_of(&digest(text.as_bytes(), 32))) {
            Some(original) => (original.text, original.made_folder),
            None => {
                let new = settings::without(&text, None, &|command| self.is_ours(command));
                (Some(new.map_err(|cause| refused(&path, cause))?), false)
            }
        };
        let is_changed = new.as_deref() != Some(&text);
        if is_changed {
            put_file(&path, Some(text.as_bytes()), new.as_deref().map(str::as_bytes), self.mode)?;
        }
        self.forget(&path, made_folder && is_changed)?;
        let step = Step { action: Action::Removed, what: self.shown(&path), hint: None };
        Ok(if is_changed { vec![step] } else { Vec::new() })
    }

    /// Removes the original, and the folder of the settings if we made it and it is empty.
    fn forget(&self, path: &Path, made_folder: bool) -> Result<(), InstallError> {
        if self.mode == Mode::DryRun {
            return Ok(());
        }
        if let Some(folder) = path.parent().filter(|_| made_folder) {
            let _ = fs::remove_dir(folder);
        }
        let note = self.original_path()?;
        match fs::remove_file(&note) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(InstallError::Write { path: note, source }),
            _ => Ok(()),
        }
    }
}
