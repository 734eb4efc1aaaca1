//! The author, committer, and time of a change.

use jiff::Timestamp;

use crate::base::time::Time;
use crate::git::{Ident, Repo};
use crate::trace::TraceError;

#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub author: Ident,
    pub committer: Ident,
    /// To the nanosecond.
    pub at: Time,
}

impl Signature {
    /// Takes author and committer as git would. A committer date in the environment also sets the time.
    pub(crate) fn take(repo: &Repo, clock: Time) -> Result<Self, TraceError> {
        let now = Timestamp::from_nanosecond(clock.as_nanosecond()).unwrap_or_default();
        let committer = repo.committer(now)?;
        let at = if committer.seconds() == clock.as_second() { clock } else { Time::from_second(committer.seconds()) };
        Ok(Self { author: repo.author(now)?, committer, at })
    }
}
