//! The environment of a command, as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::ident::plain_date;
use super::zone::local_zone;
use crate::base::time::Time;
use crate::base::when::Clock;

/// Environment variables, captured once by porcelain and passed down.
///
/// libgit2 reads the variables that locate the repository (`GIT_DIR` and others) from the process itself; all others are read
/// here.
#[derive(Clone, Debug, Default)]
pub struct Env {
    vars: BTreeMap<OsString, OsString>,
    /// Those that are not UTF-8, with U+FFFD for what is not.
    lossy: BTreeMap<OsString, String>,
    command: Option<String>,
    notice: Option<fn(&str)>,
    now: Option<Time>,
}

impl Env {
    /// Captures variables, such as `std::env::vars_os()`.
    pub fn capture(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let vars: BTreeMap<_, _> = vars.into_iter().collect();
        let lossy = vars.iter().filter(|(_, value)| value.to_str().is_none());
        let lossy = lossy.map(|(name, value)| (name.clone(), value.to_string_lossy().into_owned())).collect();
        Self { vars, lossy, ..Self::default() }
    }

    /// Names the command that runs in the environment; see the operation log.
    pub(crate) fn with_command(self, command: String) -> Self {
        Self { command: Some(command), ..self }
    }

    /// Sets the function that prints the cause of a wait.
    pub(crate) fn with_notices(self, notice: fn(&str)) -> Self {
        Self { notice: Some(notice), ..self }
    }

    /// Sets the time at which the command runs.
    pub(crate) fn with_now(self, now: Time) -> Self {
        Self { now: Some(now), ..self }
    }

    /// What `yesterday` refers to. A committer date sets the time, as it sets that of commits.
    pub(crate) fn clock(&self) -> Clock {
        let set = self.text("GIT_COMMITTER_DATE").and_then(plain_date).map(|(seconds, _)| Time::from_second(seconds));
        // Only a user of the library gives no time.
        Clock { now: set.or(self.now).unwrap_or_else(Time::now), zone: local_zone(self) }
    }

    pub(crate) fn notice(&self, text: &str) {
        if let Some(notice) = self.notice {
            notice(text);
        }
    }

    pub(crate) fn command(&self) -> &str {
        self.command.as_deref().unwrap_or("library")
    }

    /// The value as text, with U+FFFD for what is not UTF-8; a variable that is absent or empty is `None`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.os(name).and_then(|value| value.to_str().or_else(|| self.lossy.get(OsStr::new(name)).map(String::as_str)))
    }

    /// The value as the system has it; absent and empty are `None`.
    pub fn os(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value as text, also an empty one, which git takes for most variables.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.is_set(name).then(|| self.text(name).unwrap_or_default())
    }

    /// Whether the variable is there, empty or not.
    pub fn is_set(&self, name: &str) -> bool {
        self.vars.contains_key(OsStr::new(name))
    }
}
