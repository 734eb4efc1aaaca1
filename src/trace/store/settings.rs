//! The settings of traces, from git config and from the file that the project shares ([`SHARED_SETTINGS`]).
//!
//! Git config overrides the shared file. That file comes with every checkout, so it cannot run a command or weaken a check. An
//! allowed secret does not weaken one, because each entry allows one text only.

use std::collections::BTreeMap;
use std::path::Path;

use crate::base::glob;
use crate::base::time::Time;
use crate::base::when::{Clock, When};
use crate::git::{Git, GitError, Repo, SHARED_SETTINGS, parse_bool, parse_number};
use crate::secrets::{Allowed, Policy};
use crate::tokens::cache::CachePrices;
use crate::tokens::command::{self, CommandCounter};
use crate::tokens::price::PriceTable;
use crate::tokens::{CountError, Counter, Encoding, UsageMap, UsageReader, tokenizer};
use crate::trace::{TraceError, TraceName};

/// The settings that the shared file may contain, apart from `traceType.*` and `trace.allowSecret`.
const SHARED: [&str; 3] = [ENCODING, "trace.budget", "trace.checkpoints"];

const ENCODING: &str = "trace.encoding";

/// The settings that name a counter. The first that is set decides.
const COUNTERS: [&str; 3] = [command::SETTING, tokenizer::SETTING, ENCODING];

/// The setting that decides whether hooks record sessions.
pub(crate) const RECORD: &str = "trace.record";

/// The section of settings for traces whose names match the subsection.
const NAMED: &str = "tracename";

pub(crate) fn text(repo: &Repo, key: &str) -> Result<Option<String>, GitError> {
    let own = repo.config()?.text(key)?;
    if own.is_some() || !SHARED.contains(&key) {
        return Ok(own);
    }
    let shared = repo.shared_settings()?.iter().rev().find(|(shared, _)| shared == key);
    Ok(shared.map(|(_, value)| value.clone()))
}

pub(crate) fn number(repo: &Repo, key: &str) -> Result<Option<u64>, GitError> {
    let Some(value) = text(repo, key)? else { return Ok(None) };
    let number = parse_number(&value);
    if number.is_some() { Ok(number) } else { Err(bad(repo, key, value, "a number from 0")?) }
}

/// The counter of a trace: a command of the user, else a tokenizer of the user, else an encoding. A setting for traces with such a name
/// (`traceName.<pattern>`) comes before those for all traces; of several, the last.
pub(crate) fn counter(repo: &Repo, name: Option<&TraceName>) -> Result<Counter, TraceError> {
    let mut named = None;
    for (key, value) in repo.config()?.subsections(NAMED, |_| false)? {
        let Some((pattern, variable)) = key[NAMED.len() + 1..].rsplit_once('.') else { continue };
        if let Some(setting) =
            COUNTERS.into_iter().find(|setting| setting.eq_ignore_ascii_case(&format!("trace.{variable}")))
            && name.is_some_and(|name| glob::matches(pattern.as_bytes(), name.as_str().as_bytes()))
            && !value.is_empty()
        {
            named = Some((setting, key, value));
        }
    }
    if let Some((setting, key, value)) = named {
        return counter_by(repo, setting, &key, value);
    }
    for setting in COUNTERS {
        if let Some(value) = text(repo, setting)?.filter(|value| setting == ENCODING || !value.is_empty()) {
            return counter_by(repo, setting, setting, value);
        }
    }
    Ok(Counter::default())
}

/// The counter that the value of `key` names, which is a setting of this kind.
fn counter_by(repo: &Repo, setting: &str, key: &str, value: String) -> Result<Counter, TraceError> {
    match setting {
        command::SETTING => Ok(CommandCounter::handle(value, repo.place_of_programs())),
        tokenizer::SETTING => {
            let path = repo.configured_file(&value);
            Ok(tokenizer::handle(&path.map_err(|error| CountError::new(value, error.to_string(), None))?)?)
        }
        _ => match value.parse::<Encoding>() {
            Ok(encoding) => Ok(encoding.into()),
            Err(_) => Err(bad(repo, key, value, "the name of an encoding, such as o200k_base or cl100k_base")?.into()),
        },
    }
}

/// The prices of the provider's prompt cache.
pub(crate) fn cache_prices(repo: &Repo) -> Result<CachePrices, GitError> {
    let prices = repo.config()?.parsed("trace.cachePrices", CachePrices::parse, "two prices, such as 0.1,1.25")?;
    Ok(prices.unwrap_or_default())
}

/// The prices of models: every `trace.price`, in git's order.
pub(crate) fn prices(repo: &Repo) -> Result<PriceTable, GitError> {
    const KEY: &str = "trace.price";
    let (mut table, cache) = (PriceTable::default(), cache_prices(repo)?);
    for value in repo.config()?.texts(KEY)? {
        if table.add(&value, cache).is_none() {
            let expected =
                "a pattern of models with the prices of a million tokens of input and output, such as `big-*=5,25`";
            return Err(GitError::BadSetting { key: KEY.to_owned(), value, expected });
        }
    }
    Ok(table)
}

/// The reader of usage, with the user's maps (`trace.usage.<name>`) in the order of their names.
pub(crate) fn usage(repo: &Repo) -> Result<UsageReader, GitError> {
    // The last value of a key counts.
    let maps: BTreeMap<String, String> = repo.config()?.subsections("trace.usage", |_| false)?.into_iter().collect();
    let maps = maps.into_iter().map(|(key, value)| {
        let name = key.rsplit_once('.').map_or(&*key, |(_, name)| name);
        UsageMap::parse(name, &value).ok_or_else(|| GitError::BadSetting {
            key: key.clone(),
            value,
            expected: "a JSON object with the pointers `output`, `prompt` or `input`, and perhaps `cache_read`, `cache_write`, and \
                `reasoning`, such as {\"prompt\":\"/usage/in\",\"output\":\"/usage/out\"}",
        })
    });
    Ok(UsageReader(maps.collect::<Result<_, _>>()?))
}

pub(crate) fn secrets_policy(repo: &Repo) -> Result<Option<Policy>, GitError> {
    let Some(value) = repo.config()?.text("trace.secrets")? else { return Ok(None) };
    let Ok(policy) = value.parse() else {
        let (key, expected) = ("trace.secrets".to_owned(), "`warn`, `refuse`, `redact` or `off`");
        return Err(GitError::BadSetting { key, value, expected });
    };
    Ok(Some(policy))
}

/// The percentage of the context window at which a hook tells the user to clean the session; 0: never.
pub(crate) fn clean_at(repo: &Repo) -> Result<u64, GitError> {
    const KEY: &str = "trace.cleanAt";
    const DEFAULT: u64 = 80;
    let Some(value) = repo.config()?.text_or_true(KEY)? else { return Ok(DEFAULT) };
    match (parse_number(value.trim_end_matches('%').trim()), parse_bool(&value)) {
        (Some(percent), _) => Ok(percent),
        (None, Some(is_on)) => Ok(if is_on { DEFAULT } else { 0 }),
        (None, None) => Err(GitError::BadSetting { key: KEY.to_owned(), value, expected: "a percentage, or false" }),
    }
}

/// Whether hooks record the sessions of a repository.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Recording {
    /// The user said nothing: sessions are recorded, and the first hook tells the user.
    Unsaid,
    Wanted,
    Unwanted,
    /// Not until the user wants it. The first hook tells the user how.
    Ask,
}

pub(crate) fn recording(repo: &Repo) -> Result<Recording, GitError> {
    let Some(value) = repo.config()?.text_or_true(RECORD)? else { return Ok(Recording::Unsaid) };
    match parse_bool(&value) {
        Some(true) => Ok(Recording::Wanted),
        Some(false) => Ok(Recording::Unwanted),
        None if value == "ask" => Ok(Recording::Ask),
        None => Err(GitError::BadSetting { key: RECORD.to_owned(), value, expected: "true, false, or ask" }),
    }
}

/// Whether another worktree records sessions, by its git directory. The environment of this process may set this one's.
pub(crate) fn is_recorded_in(git_dir: &Path) -> bool {
    let value = Git::elsewhere(git_dir).setting(RECORD);
    value.is_none_or(|value| parse_bool(&value) == Some(true))
}

/// The time before which recorded sessions are old enough for `gc` to remove them; `None`: all are kept.
pub(crate) fn retained_since(repo: &Repo, clock: &Clock) -> Result<Option<Time>, GitError> {
    const KEY: &str = "trace.retain";
    let Some(value) = repo.config()?.text(KEY)? else { return Ok(None) };
    if matches!(value.as_str(), "forever" | "never") {
        return Ok(None);
    }
    let since = value.parse::<When>().and_then(|when| when.before(clock)).ok().filter(|since| *since <= clock.now);
    let expected = "a time such as `90 days` or `3 months`, or `forever`";
    since.map(Some).ok_or(GitError::BadSetting { key: KEY.to_owned(), value, expected })
}

/// The allowed secrets: every `trace.allowSecret` in git config and in the shared file.
pub(crate) fn allowed_secrets(repo: &Repo) -> Result<Allowed, GitError> {
    let mut values = repo.config()?.texts("trace.allowSecret")?;
    let shared = repo.shared_settings()?.iter().filter(|(key, _)| key == "trace.allowsecret");
    values.extend(shared.map(|(_, value)| value.clone()));
    Ok(Allowed::new(values))
}

/// The error for an invalid setting, which names its origin.
fn bad(repo: &Repo, key: &str, value: String, expected: &'static str) -> Result<GitError, GitError> {
    Ok(match repo.config()?.text(key)? {
        Some(_) => GitError::BadSetting { key: key.to_owned(), value, expected },
        None => GitError::BadShared {
            path: SHARED_SETTINGS.to_owned(),
            cause: format!("`{key}` is `{}`, which is not {expected}", value.escape_debug()),
        },
    })
}
