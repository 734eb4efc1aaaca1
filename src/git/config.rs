//! Git configuration, as git lists it.
//!
//! libgit2 knows neither all conditions of `includeIf` nor the environment, accepts files that git refuses, and reads some values in its own
//! way.

use super::error::GitError;

/// A key with its section and variable in lower case, and its value; `None` for a key without one, which is git's short form for true.
type Setting = (String, Option<Vec<u8>>);

pub(crate) struct Config {
    /// In git's order: the last value of a key counts.
    settings: Vec<Setting>,
}

impl Config {
    /// Reads what `git config --null --list` prints: `<key>\n<value>\0`, or `<key>\0` without a value.
    pub(super) fn listed(printed: &[u8]) -> Self {
        let setting = |entry: &[u8]| {
            let end = entry.iter().position(|byte| *byte == b'\n');
            let (key, value) = end.map_or((entry, None), |end| (&entry[..end], Some(entry[end + 1..].to_vec())));
            (String::from_utf8_lossy(key).into_owned(), value)
        };
        let entries = printed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
        Self { settings: entries.map(setting).collect() }
    }

    /// The values of a key.
    fn values(&self, key: &str) -> impl DoubleEndedIterator<Item = Option<&[u8]>> {
        let wanted = canonical(key);
        self.settings.iter().filter(move |(key, _)| *key == wanted).map(|(_, value)| value.as_deref())
    }

    /// As git does, refuses a key without a value, not even an empty one.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, GitError> {
        match self.values(key).next_back() {
            Some(None) => Err(GitError::NoValue { key: key.to_owned() }),
            _ => self.text_or_true(key),
        }
    }

    /// A key without a value is `"true"`.
    pub(crate) fn text_or_true(&self, key: &str) -> Result<Option<String>, GitError> {
        let value = self.values(key).next_back();
        value.map(|value| utf8(key, value.unwrap_or(b"true"))).transpose()
    }

    /// The remotes that `remote.<name>.promisor` or `remote.<name>.partialCloneFilter` makes promisors. As in git, a later `false` does
    /// not undo this.
    pub(super) fn promisors(&self) -> Vec<String> {
        let mut promisors: Vec<String> = Vec::new();
        for (key, value) in self.section("remote") {
            let name = key.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.'));
            let is_promisor = |variable| match variable {
                "promisor" => std::str::from_utf8(value).ok().and_then(parse_bool) == Some(true),
                variable => variable == "partialclonefilter",
            };
            if let Some((name, variable)) = name
                && is_promisor(variable)
                && !promisors.iter().any(|known| known == name)
            {
                promisors.push(name.to_owned());
            }
        }
        promisors
    }

    /// All values of the setting, which none may lack.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, GitError> {
        let no_value = || GitError::NoValue { key: key.to_owned() };
        self.values(key).map(|value| utf8(key, value.ok_or_else(no_value)?)).collect()
    }

    pub(crate) fn boolean(&self, key: &str) -> Result<Option<bool>, GitError> {
        self.parsed(key, parse_bool, "true or false")
    }

    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, GitError> {
        self.parsed(key, parse_number, "a number from 0")
    }

    pub(crate) fn parsed<T>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Option<T>,
        expected: &'static str,
    ) -> Result<Option<T>, GitError> {
        let Some(value) = self.text_or_true(key)? else { return Ok(None) };
        let parsed = parse(&value);
        parsed.map(Some).ok_or_else(|| GitError::BadSetting { key: key.to_owned(), value, expected })
    }

    /// The settings of a section and its subsections, in git's order. A key without a value is `"true"` if its variable `is_switch`, given
    /// in lower case, else an error.
    pub(crate) fn subsections(
        &self,
        section: &str,
        is_switch: impl Fn(&str) -> bool,
    ) -> Result<Vec<(String, String)>, GitError> {
        let prefix = format!("{}.", section.to_ascii_lowercase());
        let found = self.settings.iter().filter(|(key, _)| key.starts_with(&prefix));
        let pair = |(key, value): &Setting| match value {
            Some(value) => Ok((key.clone(), utf8(key, value)?)),
            None if key.rsplit('.').next().is_some_and(&is_switch) => Ok((key.clone(), "true".to_owned())),
            None => Err(GitError::NoValue { key: key.clone() }),
        };
        found.map(pair).collect()
    }

    /// All settings, in git's order.
    pub(super) fn all(&self) -> Result<Vec<(String, String)>, GitError> {
        self.pairs().map(|(key, value)| Ok((key.to_owned(), utf8(key, value)?))).collect()
    }

    /// As [`Self::subsections`], with any bytes as values.
    pub(super) fn section(&self, section: &str) -> impl Iterator<Item = (&str, &[u8])> {
        let prefix = format!("{}.", section.to_ascii_lowercase());
        self.pairs().filter(move |(key, _)| key.starts_with(&prefix))
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.settings.iter().map(|(key, value)| (key.as_str(), value.as_deref().unwrap_or(b"true")))
    }
}

fn utf8(key: &str, value: &[u8]) -> Result<String, GitError> {
    String::from_utf8(value.to_vec()).map_err(|_| GitError::BadSetting {
        key: key.to_owned(),
        value: String::from_utf8_lossy(value).into_owned(),
        expected: "UTF-8",
    })
}

/// Reads a number from 0 as git does; it may end in `k`, `m`, or `g`.
pub(crate) fn parse_number(value: &str) -> Option<u64> {
    git2::Config::parse_i64(value).ok().and_then(|number| u64::try_from(number).ok())
}

/// Whether git resolves the path in a way that this crate does not know: `~user/x`, `%(prefix)/x`, `:(optional)x`.
pub(super) fn is_expanded_by_git(path: &str) -> bool {
    (path.starts_with('~') && !path.starts_with("~/")) || path.starts_with("%(") || path.starts_with(":(")
}

pub(crate) fn parse_bool(value: &str) -> Option<bool> {
    git2::Config::parse_bool(value).ok()
}

/// Section and variable in lower case, the subsection unchanged.
fn canonical(key: &str) -> String {
    match (key.find('.'), key.rfind('.')) {
        (Some(first), Some(last)) if first < last => {
            format!("{}{}{}", key[..first].to_ascii_lowercase(), &key[first..last], key[last..].to_ascii_lowercase())
        }
        _ => key.to_ascii_lowercase(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/git/config.rs"]
mod tests;
