//! The author, committer, and time of a change.

use jiff::Timestamp;

use crate::base::time::Time;
use crate::git::{GitError, Ident, Repo};
use crate::trace::{TraceError, TraceName};

/// Author and committer of what a hook records where git knows no identity, such as in a container.
const RECORDER: &str = "git-trace <git-trace@localhost>";

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

    /// The same for a hook, which must not fail where git knows no identity.
    pub(crate) fn of_hook(repo: &Repo, clock: Time) -> Result<Self, TraceError> {
        match Self::take(repo, clock) {
            Err(TraceError::Git(GitError::NoIdentity { .. })) => {
                let recorder = Ident::of(RECORDER, clock.as_second());
                Ok(Self { author: recorder.clone(), committer: recorder, at: clock, clock })
            }
            taken => taken,
        }
    }

    /// Warns of a commit that is dated more than a day after the system's clock.
    pub(crate) fn warn_if_earlier(&self, repo: &Repo, name: &TraceName, newest: Time) {
        let Some(days) = Self::days_ahead(self.clock, newest) else { return };
        let at = Time::from_second(newest.as_second());
        repo.env().notice(&format!(
            "warning: the newest commit of trace `{name}` is dated {at}, {days} days from now, and what comes later is \
             dated after it; if a clock was wrong, go back to before that commit with `git trace reset`"
        ));
    }

    /// How many days after the system's clock a time is; `None` for at most one.
    pub(crate) fn days_ahead(clock: Time, at: Time) -> Option<i64> {
        const DAY: i64 = 86_400;
        let ahead = at.as_second().saturating_sub(clock.as_second());
        (ahead > DAY).then_some(ahead / DAY)
    }
}
