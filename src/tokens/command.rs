//! A command that counts: git config `trace.tokenCounter`.
//!
//! It is started at the first count and answers until its stdin ends: for each line, which is a text as a JSON string, one line with
//! the number of its tokens. It runs in the shell, as commands in git's own settings do.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::counter::{Counter, CustomId, TokenCounter};
use crate::base::process::{Coprocess, Place, Process};

pub(crate) const SETTING: &str = "trace.tokenCounter";

/// How long an answer may take. The first one includes loading a tokenizer.
const LIMIT: Duration = Duration::from_secs(30);

/// Where each command is to run.
static PLACES: Mutex<BTreeMap<String, Place>> = Mutex::new(BTreeMap::new());

pub(crate) struct CommandCounter {
    command: String,
    /// With the place in which it was started.
    running: Mutex<Option<(Place, Coprocess)>>,
}

impl CommandCounter {
    /// The handle on the counter that is this command. Its counts are known by the text of the command. If `place` differs from that of the
    /// last call, it is started again.
    pub(crate) fn handle(command: String, place: Place) -> Counter {
        PLACES.lock().unwrap_or_else(PoisonError::into_inner).insert(command.clone(), place);
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
        let place = PLACES.lock().unwrap_or_else(PoisonError::into_inner)[&self.command].clone();
        // Taken out: after a failure, the process is ended and not asked again.
        let mut process = match running.take() {
            Some((there, process)) if there == place => process,
            _ => {
                let mut shell = Process::shell(&self.command);
                place.apply(&mut shell);
                shell.start_answering()?
            }
        };
        let answer = process.ask(serde_json::to_string(text)?, LIMIT)?;
        let count = answer.trim().parse().map_err(|_| {
            format!("`{}` answered `{}`, which is not a number of tokens", self.command, answer.trim().escape_debug())
        })?;
        *running = Some((place, process));
        Ok(count)
    }

    fn hint(&self) -> Option<String> {
        Some(format!("to count with `trace.encoding` this once: git -c {SETTING}= trace …"))
    }
}
