//! Who changes a trace, and when.

use jiff::Timestamp;

use crate::base::time::Time;
use crate::git::{Ident, Repo};
use crate::trace::error::TraceError;

/// The persons and the time of a change.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub author: Ident,
    pub committer: Ident,
    /// To the nanosecond.
    pub at: Time,
}

impl Signature {
    /// Takes both persons as git would choose them. A committer date in the environment also sets the time.
    pub(crate) fn take(repo: &Repo, clock: Time) -> Result<Self, TraceError> {
        let now = Timestamp::from_nanosecond(clock.as_nanosecond()).unwrap_or_default();
        let committer = repo.committer(now)?;
        let at = if committer.seconds() == clock.as_second() { clock } else { Time::from_second(committer.seconds()) };
        Ok(Self { author: repo.author(now)?, committer, at })
    }
}
