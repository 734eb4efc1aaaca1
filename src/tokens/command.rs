//! A command that counts: git config `trace.tokenCounter`.
//!
//! It is started at the first count and answers until its stdin ends: for each line, which is a text as a JSON string, one line with
//! the number of its tokens. It runs in the shell, as commands in git's own settings do.

use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::counter::{Counter, CustomId, TokenCounter};
use crate::base::process::{Coprocess, Process};

pub(crate) const SETTING: &str = "trace.tokenCounter";

/// How long an answer may take. The first one includes loading a tokenizer.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct CommandCounter {
    command: String,
    running: Mutex<Option<Coprocess>>,
}

impl CommandCounter {
    /// The handle on the counter that is this command. Its counts are known by the text of the command.
    pub(crate) fn handle(command: String) -> Counter {
        Counter::custom(id_of(&command), || Self { command, running: Mutex::new(None) })
    }
}

fn id_of(command: &str) -> CustomId {
    CustomId::of("command", command.as_bytes())
}

impl TokenCounter for CommandCounter {
    fn id(&self) -> CustomId {
        id_of(&self.command)
    }

    fn count(&self, text: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out: after a failure, the process is ended and not asked again.
        let mut process = match running.take() {
            Some(process) => process,
            None => Process::shell(&self.command).start_answering()?,
        };
        let answer = process.ask(serde_json::to_string(text)?, LIMIT)?;
        let count = answer.trim().parse().map_err(|_| {
            format!("`{}` answered `{}`, which is not a number of tokens", self.command, answer.trim().escape_debug())
        })?;
        *running = Some(process);
        Ok(count)
    }

    fn hint(&self) -> Option<String> {
        Some(format!("to count with `trace.encoding` this once: git -c {SETTING}= trace …"))
    }
}
