//! A program that runs beside this one and answers each line with a line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use crate::base::cancel::{Cancelable, ends_programs};

/// The longest answer.
const ANSWER_MAX: u64 = 4096;

#[derive(Debug, Error)]
pub(crate) enum AnswerError {
    #[error("`{command}` ended without an answer")]
    Ended { command: String },
    #[error("`{command}` did not answer within {limit:?}")]
    Silent { command: String, limit: Duration },
}

pub(crate) struct Coprocess {
    name: String,
    child: Child,
    /// Lines to a thread that writes them, because a program that hangs may not read its stdin either.
    asked: Sender<String>,
    answers: Receiver<String>,
}

impl Coprocess {
    pub(super) fn new(name: String, mut child: Child) -> Self {
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are piped");
        };
        let (asked, to_ask) = channel();
        let (answered, answers) = channel();
        thread::spawn(move || write(stdin, &to_ask));
        thread::spawn(move || read(stdout, &answered));
        Self { name, child, asked, answers }
    }

    /// Sends a line and waits for the answer, but not longer than `limit`.
    pub(crate) fn ask(&mut self, line: String, limit: Duration) -> Result<String, AnswerError> {
        // Only now: the cancellation of a request that asks nothing leaves it running.
        let _cancelable = ends_programs().then(|| Cancelable::new(&self.child));
        // If the writer has ended, so has the program: there is no answer either.
        let _ = self.asked.send(line);
        self.answers.recv_timeout(limit).map_err(|error| match (error, self.name.clone()) {
            (RecvTimeoutError::Timeout, command) => AnswerError::Silent { command, limit },
            (RecvTimeoutError::Disconnected, command) => AnswerError::Ended { command },
        })
    }
}

impl Drop for Coprocess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write(mut stdin: ChildStdin, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        if stdin.write_all((line + "\n").as_bytes()).is_err() {
            return;
        }
    }
}

/// Ends at the end of stdout, or at an answer that is too long or not text.
fn read(stdout: ChildStdout, answers: &Sender<String>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = String::new();
        match stdout.by_ref().take(ANSWER_MAX).read_line(&mut line) {
            Ok(1..) if line.ends_with('\n') && answers.send(line).is_ok() => {}
            _ => return,
        }
    }
}
