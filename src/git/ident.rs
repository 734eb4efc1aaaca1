//! Author and committer, as git chooses them.

use std::fmt;

use jiff::Timestamp;

use super::error::GitError;
use super::open::Repo;
use super::process::Answer;
use super::zone::local_offset;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ident {
    name: String,
    email: String,
    /// Seconds since 1970.
    seconds: i64,
    /// Offset from UTC as `+hhmm`.
    zone: String,
}

impl Ident {
    /// `Name <email>`.
    pub(crate) fn person(&self) -> String {
        format!("{} <{}>", self.name, self.email)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn email(&self) -> &str {
        &self.email
    }

    pub(crate) fn at(&self, seconds: i64) -> Self {
        Self { seconds: seconds.max(0), ..self.clone() }
    }

    pub(crate) fn seconds(&self) -> i64 {
        self.seconds
    }

    /// The instant in the only unambiguous form of a date in git.
    pub(super) fn date(&self) -> String {
        format!("@{} {}", self.seconds, self.zone)
    }

    /// The author of an imported item, from `Name <email>` or a name. What would break the header of a commit is removed.
    pub(crate) fn of(person: &str, seconds: i64) -> Self {
        let (name, email) = person.rsplit_once('<').unwrap_or((person, ""));
        Self { name: cleaned(name), email: cleaned(email), seconds: seconds.max(0), zone: "+0000".to_owned() }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let end = text.rfind('>')?;
        let (name, email) = text[..end].split_once('<')?;
        let mut words = text[end + 1..].split_ascii_whitespace();
        Some(Self {
            name: name.trim_end().to_owned(),
            email: email.to_owned(),
            seconds: words.next()?.parse().ok()?,
            zone: words.next()?.to_owned(),
        })
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}> {} {}", self.name, self.email, self.seconds, self.zone)
    }
}

/// A text in which bytes that are not UTF-8 count as Latin-1, as in commits that git writes.
fn from_latin1(bytes: &[u8]) -> String {
    let chunks = bytes.utf8_chunks();
    chunks.flat_map(|chunk| chunk.valid().chars().chain(chunk.invalid().iter().map(|byte| char::from(*byte)))).collect()
}

/// Removes what git removes from a name or address.
fn cleaned(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    let crud = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '"' | '\\' | '\'');
    kept.trim_matches(crud).to_owned()
}

impl Repo {
    /// `now` is used unless the environment sets a date.
    pub(crate) fn author(&self, now: Timestamp) -> Result<Ident, GitError> {
        self.ident("author", now)
    }

    pub(crate) fn committer(&self, now: Timestamp) -> Result<Ident, GitError> {
        self.ident("committer", now)
    }

    /// Git is asked only for unusual dates, and for names that are not UTF-8 or that it derives from the system account.
    fn ident(&self, section: &str, now: Timestamp) -> Result<Ident, GitError> {
        let variable = |part: &str| format!("GIT_{}_{part}", section.to_ascii_uppercase());
        let part = |key: &str| -> Result<Option<String>, GitError> {
            let variable = variable(&key.to_ascii_uppercase());
            if self.env.is_set(&variable) {
                let value = self.env.text(&variable).unwrap_or_default().to_owned();
                return Ok(Some(value).filter(|value| !value.contains(char::REPLACEMENT_CHARACTER)));
            }
            for section in [section, "user"] {
                match self.config()?.text(&format!("{section}.{key}")) {
                    Err(GitError::BadSetting { .. } | GitError::NoValue { .. }) => return Ok(None),
                    Ok(Some(value)) if !value.is_empty() => return Ok(Some(value)),
                    value => drop(value?),
                }
            }
            Ok(None)
        };
        let (name, email) = (part("name")?, part("email")?);
        let date = match self.env.text(&variable("DATE")) {
            Some(text) => plain_date(text),
            None => Some((now.as_second(), local_offset(&self.env, now))),
        };
        if let (Some(name), Some(email), Some((seconds, zone))) = (name, email, date)
            && cleaned(&name) == name
            && cleaned(&email) == email
            && !name.is_empty()
        {
            return Ok(Ident { name, email, seconds, zone });
        }
        let answer = Answer::of(self.git("var").arg(variable("IDENT")))?;
        match Ident::parse(from_latin1(&answer.stdout).trim_end()) {
            Some(ident) if answer.is_success() => Ok(ident),
            _ if answer.stderr.contains("invalid date format") => {
                let variable = variable("DATE");
                let value = self.env.text(&variable).unwrap_or_default().to_owned();
                Err(GitError::BadDate { variable, value })
            }
            _ => {
                // The lines before the last one are advice, which the hint gives.
                let cause = answer.stderr.trim_end().lines().last().unwrap_or_default();
                Err(GitError::NoIdentity { cause: cause.trim_start_matches("fatal: ").to_owned() })
            }
        }
    }
}

/// Reads `<seconds> <zone>` and `@<seconds> <zone>`, git's own form of a date. Git judges other zones than the usual ones.
pub(super) fn plain_date(text: &str) -> Option<(i64, String)> {
    let (seconds, zone) = text.strip_prefix('@').unwrap_or(text).split_once(' ')?;
    let digits = zone.strip_prefix(['+', '-'])?;
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_usual =
        digits.len() == 4 && are_digits(digits) && digits[..2] < *"15" && digits[2..] < *"60" && zone != "-0000";
    // Git could read fewer digits as a year.
    let many = (9..=10).contains(&seconds.len()) || (text.starts_with('@') && seconds.len() <= 10);
    (is_usual && many && are_digits(seconds)).then(|| Some((seconds.parse().ok()?, zone.to_owned())))?
}

#[cfg(test)]
#[path = "../../tests/unit/git/ident.rs"]
mod tests;
