//! Progress on a terminal: one line on stderr that is written over itself, with the time that is left.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use super::width::terminal_columns;

/// How often the line changes, and how long a command must take before it appears.
const PAUSE: Duration = Duration::from_millis(100);

/// The characters of a bar.
const WIDTH: usize = 20;

pub(crate) struct Progress {
    begun: Instant,
    /// The number of bytes to read, or of `unit`; `None` counts commits, whose number is not known.
    length: Option<u64>,
    unit: Option<&'static str>,
    /// The first position: an import that continues starts later in its file.
    start: Cell<Option<u64>>,
    position: Cell<u64>,
    message: RefCell<String>,
    /// When the line was written last.
    drawn: Cell<Instant>,
}

impl Progress {
    /// Of so many bytes, or of commits. `None` without a terminal.
    pub(crate) fn of_bytes(length: Option<u64>) -> Option<Self> {
        io::stderr().is_terminal().then(|| Self::new(length))
    }

    /// Of something other than bytes, such as pages. `None` without a terminal.
    pub(crate) fn of_units(count: usize, unit: &'static str) -> Option<Self> {
        io::stderr().is_terminal().then(|| Self::of(count as u64, unit))
    }

    fn new(length: Option<u64>) -> Self {
        let begun = Instant::now();
        let (start, position, message) = (Cell::default(), Cell::default(), RefCell::default());
        Self { begun, length, unit: None, start, position, message, drawn: Cell::new(begun) }
    }

    fn of(count: u64, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..Self::new(Some(count)) }
    }

    pub(crate) fn set_position(&self, position: u64) {
        self.position.set(position);
        if self.start.get().is_none() {
            self.start.set(Some(position));
        }
        if self.drawn.get().elapsed() >= PAUSE {
            self.drawn.set(Instant::now());
            let line: String = self.line(self.begun.elapsed()).chars().take(terminal_columns() - 1).collect();
            let _ = write!(io::stderr(), "\r{line}\x1b[K");
        }
    }

    pub(crate) fn set_message(&self, message: String) {
        self.message.replace(message);
    }

    /// Lets `print` write to the terminal; the line appears again below.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.clear();
        print()
    }

    pub(crate) fn clear(&self) {
        if self.drawn.get() == self.begun {
            return;
        }
        let _ = write!(io::stderr(), "\r\x1b[K");
    }

    fn line(&self, elapsed: Duration) -> String {
        let position = self.position.get();
        let Some(length) = self.length else {
            let speed = u128::from(position) * 1000 / elapsed.as_millis().max(1);
            return format!("checking: {position} commits, {speed}/s");
        };
        let left = left(elapsed, self.start.get().unwrap_or_default(), position, length);
        let left = left.map_or_else(String::new, |left| format!(" {} left", rounded(left)));
        let share = u128::from(position.min(length)) * WIDTH as u128 / u128::from(length.max(1));
        let full = usize::try_from(share).unwrap_or(WIDTH);
        let bar = "█".repeat(full) + &"░".repeat(WIDTH - full);
        let message = self.message.borrow();
        let done = match self.unit {
            Some(unit) => format!("{position}/{length} {unit}"),
            None => format!("{}/{} MB", megabytes(position), megabytes(length)),
        };
        format!("{bar} {done}{left} {message}").trim_end().to_owned()
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{}", bytes / 1_000_000, bytes / 100_000 % 10)
}

fn rounded(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
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
    fn the_line_says_how_much_is_done() {
        let line = |length, start, position| {
            let progress = Progress::new(length);
            progress.start.set(Some(start));
            progress.position.set(position);
            progress.set_message("session 2 of 3".to_owned());
            progress.line(Duration::from_secs(10))
        };
        let pages = Progress::of(8, "pages");
        pages.set_position(2);
        let lines = [
            pages.line(Duration::ZERO),
            line(Some(4_000_000), 0, 1_000_000),
            line(Some(4_000_000), 4_000_000, 4_000_000),
            line(Some(0), 0, 0),
            line(None, 0, 1234),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        █████░░░░░░░░░░░░░░░ 2/8 pages
        █████░░░░░░░░░░░░░░░ 1.0/4.0 MB 30 s left session 2 of 3
        ████████████████████ 4.0/4.0 MB session 2 of 3
        ░░░░░░░░░░░░░░░░░░░░ 0.0/0.0 MB session 2 of 3
        checking: 1234 commits, 123/s
        ");
        assert_eq!(
            [119, 120, 7199, 7200].map(|seconds| rounded(Duration::from_secs(seconds))),
            ["119 s", "2 min", "119 min", "2 h"]
        );
    }

    #[test]
    fn nothing_is_said_before_it_is_known() {
        assert_eq!(left(Duration::from_millis(900), 0, 5, 10), None);
        assert_eq!(left(Duration::from_secs(9), 5, 5, 10), None);
        assert_eq!(left(Duration::from_secs(9), 0, 11, 10), None);
    }
}
