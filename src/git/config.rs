//! Git configuration: files, then the environment.
//!
//! libgit2 reads the files only. `GIT_CONFIG_COUNT` and `GIT_CONFIG_PARAMETERS`, which `git -c` sets, are read here. As in git,
//! they override the files, and the latter overrides the former.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use git2::ErrorCode;
use regex::{Regex, bytes};

use super::env::Env;
use super::error::GitError;
use crate::base::bounded;

/// A key in canonical form, and its value.
type Setting = (String, Option<String>);

pub(crate) struct Config {
    files: git2::Config,
    /// In the order given; the last value of a key counts. They contain U+FFFD in place of bytes that are not UTF-8.
    overrides: Vec<Setting>,
}

impl Config {
    pub(super) fn new(files: git2::Config, env: &Env) -> Result<Self, GitError> {
        let mut overrides = Vec::new();
        read_counted(env, &mut overrides)?;
        if let Some(text) = env.text("GIT_CONFIG_PARAMETERS") {
            let parsed = parse_parameters(text)
                .ok_or_else(|| GitError::BadEnvironment { variable: "GIT_CONFIG_PARAMETERS".to_owned() })?;
            overrides.extend(parsed);
        }
        Ok(Self { files, overrides })
    }

    /// Whether git must read the files, because it includes one in a way that libgit2 does not know, or because libgit2 reads one of them,
    /// or one that they include, in another way. `knows_branch` reports whether libgit2 compares the branch as git does.
    pub(super) fn needs_git(
        &self,
        files: &[PathBuf],
        env: &Env,
        knows_branch: impl Fn() -> bool,
    ) -> Result<bool, GitError> {
        let is_known = |key: &str| {
            let Some(condition) = key.strip_prefix("includeif.") else { return true };
            match condition.strip_prefix("gitdir:").or_else(|| condition.strip_prefix("gitdir/i:")) {
                Some(pattern) => pattern != ".path" && !is_expanded_by_git(pattern),
                None => condition.starts_with("onbranch:") && knows_branch(),
            }
        };
        let is_include = |(key, _): &Setting| key == "include.path" || key.starts_with("includeif.");
        let mut included = self.section("include")?;
        included.extend(self.section("includeif")?);
        if self.overrides.iter().any(is_include) || files.iter().any(|path| is_odd(path)) {
            return Ok(true);
        }
        let included = included.iter().map(|(key, path)| (key, String::from_utf8_lossy(path)));
        let included: Vec<(&String, Cow<'_, str>)> = included.collect();
        if included.iter().any(|(key, path)| !is_known(key) || is_expanded_by_git(path)) {
            return Ok(true);
        }
        let paths: Vec<PathBuf> = included
            .iter()
            .map(|(_, path)| match (path.strip_prefix("~/"), env.os("HOME")) {
                (Some(path), Some(home)) => Path::new(home).join(path),
                _ => PathBuf::from(&**path),
            })
            .collect();
        Ok(includes_odd(files, &paths))
    }

    /// The settings that `git config --null --list` printed.
    pub(super) fn listed(printed: &str) -> Result<Self, GitError> {
        let files = git2::Config::new().map_err(|source| GitError::store("read the git configuration", source))?;
        Ok(Self { files, overrides: entries(printed).collect() })
    }

    /// A key without a value (git's short form for true) is `"true"`.
    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, GitError> {
        let wanted = canonical(key);
        let bad = |value: String| GitError::BadSetting { key: key.to_owned(), value, expected: "UTF-8" };
        if let Some((_, value)) = self.overrides.iter().rev().find(|(key, _)| *key == wanted) {
            let value = value.clone().unwrap_or_else(|| "true".to_owned());
            return if value.contains(char::REPLACEMENT_CHARACTER) { Err(bad(value)) } else { Ok(Some(value)) };
        }
        let entry = match self.files.get_entry(&wanted) {
            Ok(entry) => entry,
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
            Err(source) => return Err(GitError::store(format!("read git config `{key}`"), source)),
        };
        if !entry.has_value() {
            return Ok(Some("true".to_owned()));
        }
        let value = entry.value().map_err(|_| bad(String::from_utf8_lossy(entry.value_bytes()).into_owned()))?;
        Ok(Some(value.to_owned()))
    }

    /// Whether the setting has no value, not even an empty one.
    pub(super) fn has_no_value(&self, key: &str) -> bool {
        let wanted = canonical(key);
        match self.overrides.iter().rev().find(|(key, _)| *key == wanted) {
            Some((_, value)) => value.is_none(),
            None => self.files.get_entry(&wanted).is_ok_and(|entry| !entry.has_value()),
        }
    }

    /// The remotes that `remote.<name>.promisor` or `remote.<name>.partialCloneFilter` makes promisors. As in git, a later `false` does
    /// not undo this.
    pub(super) fn promisors(&self) -> Result<Vec<String>, GitError> {
        let mut promisors: Vec<String> = Vec::new();
        for (key, value) in self.section("remote")? {
            let name = key.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.'));
            let is_promisor = |variable| match variable {
                "promisor" => std::str::from_utf8(&value).ok().and_then(parse_bool) == Some(true),
                variable => variable == "partialclonefilter",
            };
            if let Some((name, variable)) = name
                && is_promisor(variable)
                && !promisors.iter().any(|known| known == name)
            {
                promisors.push(name.to_owned());
            }
        }
        Ok(promisors)
    }

    /// All values of the setting, in git's order; values that are not UTF-8 are skipped.
    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, GitError> {
        let wanted = canonical(key);
        let failed = |source| GitError::store(format!("read git config `{key}`"), source);
        let mut values = Vec::new();
        match self.files.multivar(&wanted, None) {
            Ok(entries) => {
                let take = |entry: &git2::ConfigEntry<'_>| values.extend(entry.value().ok().map(str::to_owned));
                entries.for_each(take).map_err(failed)?;
            }
            Err(error) if error.code() == ErrorCode::NotFound => {}
            Err(source) => return Err(failed(source)),
        }
        let given = self.overrides.iter().filter(|(key, _)| *key == wanted);
        values.extend(given.filter_map(|(_, value)| value.clone()));
        Ok(values)
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
        let Some(value) = self.text(key)? else { return Ok(None) };
        let parsed = parse(&value);
        parsed.map(Some).ok_or_else(|| GitError::BadSetting { key: key.to_owned(), value, expected })
    }

    /// The settings of a section with subsections, in git's order: the last value of a key counts.
    pub(crate) fn subsections(&self, section: &str) -> Result<Vec<(String, String)>, GitError> {
        let text = |(key, value): (String, Vec<u8>)| match String::from_utf8(value) {
            Ok(value) => Ok((key, value)),
            Err(error) => {
                let value = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Err(GitError::BadSetting { key, value, expected: "UTF-8" })
            }
        };
        self.section(section)?.into_iter().map(text).collect()
    }

    fn section(&self, section: &str) -> Result<Vec<(String, Vec<u8>)>, GitError> {
        let prefix = format!("{}.", section.to_ascii_lowercase());
        let failed = |source| GitError::store(format!("read git config `{section}`"), source);
        let mut found = Vec::new();
        let entries = self.files.entries(Some(&format!("^{}", prefix.replace('.', "\\.")))).map_err(failed)?;
        let take = |entry: &git2::ConfigEntry<'_>| {
            let value = if entry.has_value() { entry.value_bytes() } else { b"true" };
            found.push((String::from_utf8_lossy(entry.name_bytes()).into_owned(), value.to_vec()));
        };
        entries.for_each(take).map_err(failed)?;
        let given = self.overrides.iter().filter(|(key, _)| key.starts_with(&prefix));
        found.extend(given.map(|(key, value)| (key.clone(), value.as_deref().unwrap_or("true").into())));
        Ok(found)
    }
}

/// Reads a number from 0 as git does; it may end in `k`, `m`, or `g`.
pub(crate) fn parse_number(value: &str) -> Option<u64> {
    git2::Config::parse_i64(value).ok().and_then(|number| u64::try_from(number).ok())
}

/// Whether git resolves the path in a way that neither libgit2 nor this crate knows: `~user/x`, `%(prefix)/x`, `:(optional)x`.
pub(super) fn is_expanded_by_git(path: &str) -> bool {
    (path.starts_with('~') && !path.starts_with("~/")) || path.starts_with("%(") || path.starts_with(":(")
}

pub(crate) fn parse_bool(value: &str) -> Option<bool> {
    git2::Config::parse_bool(value).ok()
}

/// Whether one of the files that are included by these paths is odd. A path may be relative to any of the files, or to another
/// included one.
fn includes_odd(files: &[PathBuf], paths: &[PathBuf]) -> bool {
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let mut waiting: Vec<PathBuf> = files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
    let mut known: HashSet<PathBuf> = waiting.iter().cloned().collect();
    while let Some(folder) = waiting.pop() {
        for path in paths.iter().map(|path| folder.join(path)) {
            if !seen.insert(path.clone()) {
                continue;
            }
            if is_odd(&path) {
                return true;
            }
            // Paths such as `../x/y` would give new names to the same folders without an end.
            let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
            waiting.extend(folder.filter(|folder| known.insert(folder.clone())));
        }
    }
    false
}

/// Whether libgit2 may read a file in another way than git, which refuses folders and most lines that are not plain.
fn is_odd(path: &Path) -> bool {
    // A plain line is complete, without a backslash at its end, and has a value after each name.
    const LINE: &str = concat!(
        r#"(?-u)^[ \t]*(\[[A-Za-z0-9-]+([ \t]+"([^"\\\x00]|\\[^\x00])*")?\][ \t]*)?"#,
        r#"([A-Za-z][A-Za-z0-9-]*[ \t]*=([^"\\#;\x00-\x08\x0b-\x1f]|\\[ntb"\\]|"([^"\\\x00-\x08\x0b-\x1f]|\\[ntb"\\])*")*)?"#,
        r#"([#;][^\x00]*)?\r?$"#,
    );
    static PLAIN: LazyLock<bytes::Regex> = LazyLock::new(|| bytes::Regex::new(LINE).expect("a valid pattern"));
    // A FIFO has its text only once.
    let text = if path.is_file() { bounded::read_file(path) } else { Ok(Vec::new()) };
    let Ok(text) = text else { return true };
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    // libgit2 reads `\\"` and blanks after `""` in its own way.
    let is_misread = |bytes: &[u8]| matches!(bytes, [b'\\', b'\\', b'"'] | [b'"', b'"', b' ' | b'\t']);
    path.is_dir()
        || text.windows(3).any(is_misread)
        || !text.split(|byte| *byte == b'\n').all(|line| PLAIN.is_match(line))
}

/// Reads what `git config --null --list` prints: `<key>\n<value>\0`, or `<key>\0` without a value.
fn entries(printed: &str) -> impl Iterator<Item = Setting> {
    let pair = |entry: &str| match entry.split_once('\n') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (entry.to_owned(), None),
    };
    printed.split_terminator('\0').map(pair)
}

/// The same, with `true` for a key without a value.
pub(super) fn parse_list(printed: &str) -> impl Iterator<Item = (String, String)> {
    entries(printed).map(|(key, value)| (key, value.unwrap_or_else(|| "true".to_owned())))
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

/// Whether git accepts the key; it runs no command beside any other.
fn is_key(key: &str) -> bool {
    static KEY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[A-Za-z0-9-]+(\.[^\n]*)?\.[A-Za-z][A-Za-z0-9-]*$").expect("a valid pattern"));
    KEY.is_match(key)
}

fn read_counted(env: &Env, overrides: &mut Vec<Setting>) -> Result<(), GitError> {
    let bad = |variable: String| GitError::BadEnvironment { variable };
    let Some(text) = env.text("GIT_CONFIG_COUNT") else { return Ok(()) };
    let count: u32 = text.parse().map_err(|_| bad("GIT_CONFIG_COUNT".to_owned()))?;
    for index in 0..count {
        let variable = format!("GIT_CONFIG_KEY_{index}");
        let key = env.text(&variable).ok_or_else(|| bad(variable.clone()))?;
        if !is_key(key) {
            return Err(bad(variable));
        }
        let variable = format!("GIT_CONFIG_VALUE_{index}");
        // An empty value is one; a missing value is not.
        let value = match env.text(&variable) {
            None if env.is_set(&variable) => "",
            value => value.ok_or_else(|| bad(variable))?,
        };
        overrides.push((canonical(key), Some(value.to_owned())));
    }
    Ok(())
}

/// Reads `'key'='value' 'key=value' 'key'`: words in single quotes, with `'\''` for `'` and `'\!'` for `!`.
fn parse_parameters(text: &str) -> Option<Vec<Setting>> {
    static PAIR: LazyLock<Regex> = LazyLock::new(|| {
        let word = r"'((?:[^']|'\\['!]')*)'";
        Regex::new(&format!("^{word}(=(?:{word})?)?(?: +|$)")).expect("a valid pattern")
    });
    static ESCAPE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"'\\(['!])'").expect("a valid pattern"));
    let unquoted = |word: &str| ESCAPE.replace_all(word, "$1").into_owned();
    let mut parsed = Vec::new();
    let mut rest = text.trim_start_matches(' ');
    while !rest.is_empty() {
        let pair = PAIR.captures(rest)?;
        let word = unquoted(&pair[1]);
        let (key, value) = match (pair.get(2), word.split_once('=')) {
            (None, Some((key, value))) => (key, Some(value.to_owned())),
            _ => (&*word, pair.get(3).map(|value| unquoted(value.as_str()))),
        };
        if !is_key(key) {
            return None;
        }
        parsed.push((canonical(key), value));
        rest = &rest[pair[0].len()..];
    }
    Some(parsed)
}

#[cfg(test)]
#[path = "../../tests/unit/git/config.rs"]
mod tests;
