//! Progress bars, with the time that is left.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

/// A bar of `length` or, without it, a counter. In the template, `{left}` is the time that is left.
pub(crate) fn bar(template: &str, length: Option<u64>) -> Option<ProgressBar> {
    // An import that continues starts at a later position.
    let start = Arc::new(OnceLock::new());
    let show = move |state: &ProgressState, out: &mut dyn fmt::Write| {
        let start = *start.get_or_init(|| state.pos());
        if let Some(left) = left(state.elapsed(), start, state.pos(), state.len().unwrap_or_default()) {
            let _ = write!(out, "{} left", HumanDuration(left));
        }
    };
    let style = ProgressStyle::with_template(template).ok()?.with_key("left", show);
    Some(length.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style))
}

/// At the average speed since the start, so that it falls steadily. A recent speed differs with each batch of records. None in the
/// first second, which says little.
fn left(elapsed: Duration, start: u64, position: u64, length: u64) -> Option<Duration> {
    let (done, left) = (position.checked_sub(start)?, length.checked_sub(position)?);
    if elapsed < Duration::from_secs(1) || done == 0 {
        return None;
    }
    let nanoseconds = elapsed.as_nanos() * u128::from(left) / u128::from(done);
    Some(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn at_a_steady_speed_the_end_stays(start in 0_u64..1000, speed in 1_u64..1000, seconds in 2_u64..100) {
            let length = start + speed * seconds;
            for second in 1..=seconds {
                let left = left(Duration::from_secs(second), start, start + speed * second, length);
                prop_assert_eq!(left, Some(Duration::from_secs(seconds - second)));
            }
        }
    }

    #[test]
    fn nothing_is_said_before_it_is_known() {
        assert_eq!(left(Duration::from_millis(900), 0, 5, 10), None);
        assert_eq!(left(Duration::from_secs(9), 5, 5, 10), None);
        assert_eq!(left(Duration::from_secs(9), 0, 11, 10), None);
    }
}
