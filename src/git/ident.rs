//! Who writes, and when: author and committer as git would choose them.

use std::fmt;

use jiff::Timestamp;

use super::error::GitError;
use super::open::Repo;
use super::process::Answer;
use super::zone::local_offset;

/// A person and an instant, as a commit holds them.
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
    /// The person: `Name <email>`.
    pub(crate) fn person(&self) -> String {
        format!("{} <{}>", self.name, self.email)
    }

    /// The name alone.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The address alone.
    pub(crate) fn email(&self) -> &str {
        &self.email
    }

    /// The same person at another instant.
    pub(crate) fn at(&self, seconds: i64) -> Self {
        Self { seconds: seconds.max(0), ..self.clone() }
    }

    /// When, in seconds since 1970.
    pub(crate) fn seconds(&self) -> i64 {
        self.seconds
    }

    /// The instant in the one form that git takes for nothing else.
    pub(super) fn date(&self) -> String {
        format!("@{} {}", self.seconds, self.zone)
    }

    /// The offset from UTC in minutes.
    pub(super) fn zone_minutes(&self) -> i32 {
        let digits: i32 = self.zone.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let minutes = digits / 100 * 60 + digits % 100;
        if self.zone.starts_with('-') { -minutes } else { minutes }
    }

    /// Another person at another instant: what an import writes for whom it imports.
    ///
    /// `person` is `Name <email>`; what is not of that form becomes the name. Characters that would break a commit's
    /// header are left out.
    pub(crate) fn of(person: &str, seconds: i64) -> Self {
        let (name, email) = person.rsplit_once('<').unwrap_or((person, ""));
        Self { name: cleaned(name), email: cleaned(email), seconds: seconds.max(0), zone: "+0000".to_owned() }
    }

    fn parse(text: &str) -> Option<Self> {
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

/// Leaves out what git leaves out of a name or address.
fn cleaned(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    let crud = |c: char| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | '"' | '\\' | '\'');
    kept.trim_matches(crud).to_owned()
}

/// In which capacity somebody is named.
#[derive(Clone, Copy)]
enum Capacity {
    Author,
    Committer,
}

impl Repo {
    /// Who is the author of what is written now.
    ///
    /// `now` is used where the environment does not fix a date.
    pub(crate) fn author(&self, now: Timestamp) -> Result<Ident, GitError> {
        self.ident(Capacity::Author, now)
    }

    /// Who commits what is written now.
    pub(crate) fn committer(&self, now: Timestamp) -> Result<Ident, GitError> {
        self.ident(Capacity::Committer, now)
    }

    /// What is spelled out in the environment or the configuration is taken from there; anything else (a date in one of
    /// git's many forms, a name made up from the system's account) is left to git.
    fn ident(&self, capacity: Capacity, now: Timestamp) -> Result<Ident, GitError> {
        let (word, section) = match capacity {
            Capacity::Author => ("AUTHOR", "author"),
            Capacity::Committer => ("COMMITTER", "committer"),
        };
        let part = |env_name: &str, key: &str| -> Result<Option<String>, GitError> {
            if let Some(value) = self.env.text(env_name) {
                return Ok(Some(value.to_owned()));
            }
            let config = self.config()?;
            match config.text(&format!("{section}.{key}"))? {
                Some(value) => Ok(Some(value)),
                None => config.text(&format!("user.{key}")),
            }
        };
        let name = part(&format!("GIT_{word}_NAME"), "name")?;
        let email = part(&format!("GIT_{word}_EMAIL"), "email")?;
        let date = match self.env.text(&format!("GIT_{word}_DATE")) {
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
        self.ident_from_git(word)
    }

    fn ident_from_git(&self, word: &str) -> Result<Ident, GitError> {
        let answer = Answer::of("var", self.git("var").arg(format!("GIT_{word}_IDENT")))?;
        let text = String::from_utf8_lossy(&answer.stdout);
        match Ident::parse(text.trim_end()) {
            Some(ident) if answer.is_success() => Ok(ident),
            _ => Err(GitError::NoIdentity { advice: answer.stderr }),
        }
    }
}

/// Reads `<seconds> <zone>` and `@<seconds> <zone>`, git's own form of a date.
fn plain_date(text: &str) -> Option<(i64, String)> {
    let (seconds, zone) = text.strip_prefix('@').unwrap_or(text).split_once(' ')?;
    let digits = zone.strip_prefix(['+', '-'])?;
    let four = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit());
    // Fewer digits could be a year to git.
    let many = seconds.len() >= 9 || text.starts_with('@');
    (four && many).then(|| Some((seconds.parse().ok()?, zone.to_owned())))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_of_an_import_cannot_forge_a_header() {
        let ident = Ident::of("Eve\ncommitter <x> <eve@example.com>\n", 1);
        assert_eq!(ident.to_string(), "Evecommitter x <eve@example.com> 1 +0000");
        assert_eq!(Ident::of("", 0).to_string(), " <> 0 +0000");
    }

    #[test]
    fn only_unmistakable_dates_are_read_here() {
        assert_eq!(plain_date("1770714000 +0100"), Some((1_770_714_000, "+0100".to_owned())));
        assert_eq!(plain_date("@5 -0330"), Some((5, "-0330".to_owned())));
        for other in ["2026-02-10T09:00:00Z", "2026 +0100", "1770714000", "1770714000 CET"] {
            assert_eq!(plain_date(other), None, "{other}");
        }
    }
}
