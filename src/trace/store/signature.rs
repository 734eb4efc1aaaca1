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
    /// The system's clock, whatever the environment says.
    pub clock: Time,
}

impl Signature {
    /// Takes author and committer as git would. A committer date in the environment also sets the time.
    pub(crate) fn take(repo: &Repo, clock: Time) -> Result<Self, TraceError> {
        let now = Timestamp::from_nanosecond(clock.as_nanosecond()).unwrap_or_default();
        let committer = repo.committer(now)?;
        let at = if committer.seconds() == clock.as_second() { clock } else { Time::from_second(committer.seconds()) };
        let author = repo.author(now)?;
        for at in [at, Time::from_second(committer.seconds()), Time::from_second(author.seconds())] {
            if !at.is_plausible() {
                return Err(TraceError::BadClock { at });
            }
        }
        Ok(Self { author, committer, at, clock })
    }

    /// How many days after the system's clock a time is; `None` for at most one.
    pub(crate) fn days_ahead(clock: Time, at: Time) -> Option<i64> {
        const DAY: i64 = 86_400;
        let ahead = at.as_second().saturating_sub(clock.as_second());
        (ahead > DAY).then_some(ahead / DAY)
    }
}
