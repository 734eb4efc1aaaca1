//! Counters: the one way in which the tokens of a trace are counted.
//!
//! A [`Counter`] is a built-in [`Encoding`] or a [`TokenCounter`] of the user. Stored counts carry its [`CounterId`], so a count of
//! another counter is never taken for its own: the text is counted again.
//!
//! A counter of the user may fail. Counts are taken in the middle of sums and comparisons, so a failure is kept, every later count
//! is 0, and [`check`] returns the error: before a ref moves, before an answer is written, and at the end of a command. A count that
//! failed is therefore neither stored nor shown.

use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use super::Encoding;
use crate::base::error::Diagnostic;

/// Counts tokens as the tokenizer of a model does. Make a [`Counter`] of it to use it.
pub trait TokenCounter: Send + Sync {
    /// The name of the tokenizer and the digest of everything that its counts depend on.
    fn id(&self) -> CustomId;

    /// Counts the tokens of a text.
    ///
    /// # Errors
    ///
    /// The reason why it cannot count. The command or call that needs the count fails with it.
    fn count(&self, text: &str) -> Result<u64, Box<dyn Error + Send + Sync>>;

    /// What helps if it cannot count.
    fn hint(&self) -> Option<String> {
        None
    }
}

/// A handle on a built-in encoding or on a [`TokenCounter`]; the default is the default encoding.
#[derive(Clone, Copy)]
pub struct Counter(Kind);

#[derive(Clone, Copy)]
enum Kind {
    BuiltIn(Encoding),
    /// Never freed: a process uses one or two counters, and a handle that is copied like an encoding keeps lifetimes and clones out
    /// of everything that counts.
    Custom(&'static dyn TokenCounter),
}

/// The counters of users that this process made.
static CUSTOM: Mutex<Vec<&'static dyn TokenCounter>> = Mutex::new(Vec::new());

static FAILURE: Mutex<Option<CountError>> = Mutex::new(None);

impl Counter {
    /// The default encoding.
    pub const DEFAULT: Self = Self(Kind::BuiltIn(Encoding::O200kBase));

    /// The handle on the counter with this id. `make` is called if this process has none yet; the counter it makes is never freed.
    pub fn custom<C: TokenCounter + 'static>(id: CustomId, make: impl FnOnce() -> C) -> Self {
        let mut known = lock(&CUSTOM);
        let found = known.iter().copied().find(|counter| counter.id() == id);
        Self(Kind::Custom(found.unwrap_or_else(|| {
            let counter: &'static dyn TokenCounter = Box::leak(Box::new(make()));
            known.push(counter);
            counter
        })))
    }

    /// The counter with this id; `None` if it is that of a user and this process has not made it.
    pub(crate) fn find(id: CounterId) -> Option<Self> {
        match id {
            CounterId::BuiltIn(encoding) => Some(encoding.into()),
            CounterId::Custom(id) => {
                let found = lock(&CUSTOM).iter().copied().find(|counter| counter.id() == id);
                found.map(|counter| Self(Kind::Custom(counter)))
            }
        }
    }

    /// What stored counts of this counter are marked with.
    #[must_use]
    pub fn id(self) -> CounterId {
        match self.0 {
            Kind::BuiltIn(encoding) => CounterId::BuiltIn(encoding),
            Kind::Custom(counter) => CounterId::Custom(counter.id()),
        }
    }

    /// Counts the tokens of a text; 0 after a failure, which the command reports at its end. Invalid UTF-8 counts as U+FFFD.
    #[must_use]
    pub fn count(self, text: &[u8]) -> u64 {
        match self.0 {
            Kind::BuiltIn(encoding) => encoding.count(text),
            Kind::Custom(counter) => {
                if check().is_err() {
                    return 0;
                }
                counter.count(&String::from_utf8_lossy(text)).unwrap_or_else(|cause| {
                    let error = CountError::new(counter.id(), full_text(&*cause), counter.hint());
                    lock(&FAILURE).get_or_insert(error);
                    0
                })
            }
        }
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl PartialEq for Counter {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Counter {}

impl From<Encoding> for Counter {
    fn from(encoding: Encoding) -> Self {
        Self(Kind::BuiltIn(encoding))
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.id(), f)
    }
}

/// Its id.
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id().fmt(f)
    }
}

/// A counter could not count a text.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("cannot count tokens with {counter}: {cause}")]
pub struct CountError {
    /// Its id, or the path of a file that has none because it cannot be used.
    counter: String,
    cause: String,
    hint: Option<String>,
}

impl CountError {
    pub(crate) fn new(counter: impl fmt::Display, cause: String, hint: Option<String>) -> Self {
        Self { counter: counter.to_string(), cause, hint }
    }
}

impl Diagnostic for CountError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

/// An error with its sources.
fn full_text(error: &(dyn Error + 'static)) -> String {
    let source = error.source().map(|source| format!(": {}", full_text(source)));
    format!("{error}{}", source.unwrap_or_default())
}

/// Fails if a count has failed since the last call of [`clear`].
pub(crate) fn check() -> Result<(), CountError> {
    lock(&FAILURE).clone().map_or(Ok(()), Err)
}

/// Forgets a failure, before an independent request.
pub(crate) fn clear() {
    *lock(&FAILURE) = None;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while a value is replaced leaves the old or the new one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which counter a stored count is from: the name of an encoding, or a [`CustomId`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CounterId {
    /// A built-in encoding.
    BuiltIn(Encoding),
    /// A counter of a user.
    Custom(CustomId),
}

impl fmt::Display for CounterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(encoding) => encoding.fmt(f),
            Self::Custom(id) => id.fmt(f),
        }
    }
}

impl FromStr for CounterId {
    type Err = BadCounterId;

    fn from_str(text: &str) -> Result<Self, BadCounterId> {
        text.parse().map(Self::BuiltIn).or_else(|_| text.parse().map(Self::Custom))
    }
}

const NAME_MAX: usize = 24;

/// The id of a counter of a user, such as `llama3@0f9c31d2a7b4e615`: its name, and the digest of what its counts depend on.
///
/// The name has 1 to 24 characters of `A-Z`, `a-z`, `0-9`, `.`, `_`, and `-`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CustomId {
    /// Padded with zeros. It is stored in place because ids come from fetched files too, and no text of theirs may be kept for good.
    name: [u8; NAME_MAX],
    digest: [u8; 8],
}

/// The text is not the id of a counter.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("invalid counter id: expected the name of an encoding, or a name, `@`, and 16 hex digits")]
pub struct BadCounterId;

impl CustomId {
    /// The id for a name, whose other characters become `-`, and for bytes that determine the counts.
    #[must_use]
    pub fn of(name: &str, content: &[u8]) -> Self {
        let mut id = Self { name: [0; NAME_MAX], digest: [0; 8] };
        let kept = |character: char| if is_of_name(character) { character as u8 } else { b'-' };
        let name = if name.is_empty() { "-" } else { name };
        for (place, character) in id.name.iter_mut().zip(name.chars()) {
            *place = kept(character);
        }
        id.digest.copy_from_slice(&blake3::hash(content).as_bytes()[..8]);
        id
    }
}

fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

impl fmt::Display for CustomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.iter().take_while(|byte| **byte != 0);
        name.into_iter().try_for_each(|byte| write!(f, "{}", char::from(*byte)))?;
        write!(f, "@{:016x}", u64::from_be_bytes(self.digest))
    }
}

impl fmt::Debug for CustomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CustomId({self})")
    }
}

impl FromStr for CustomId {
    type Err = BadCounterId;

    fn from_str(text: &str) -> Result<Self, BadCounterId> {
        let (name, hex) = text.split_once('@').ok_or(BadCounterId)?;
        let is_hex = hex.len() == 16 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hex || !(1..=NAME_MAX).contains(&name.len()) || !name.chars().all(is_of_name) {
            return Err(BadCounterId);
        }
        let mut id = Self { name: [0; NAME_MAX], digest: [0; 8] };
        id.name[..name.len()].copy_from_slice(name.as_bytes());
        id.digest = u64::from_str_radix(hex, 16).map_err(|_| BadCounterId)?.to_be_bytes();
        Ok(id)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/counter.rs"]
mod tests;
