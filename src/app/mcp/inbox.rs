//! Lines from stdin, read on a second thread, so that a cancellation is seen while a request is in progress.
//!
//! Few lines wait in memory: a flood of requests waits in the pipe.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read as _, Stdin};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use memchr::memmem;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId};

use crate::base::cancel::set_canceled;

/// The most bytes of a line; a longer one is skipped and refused.
pub(crate) const MAX_LINE_LEN: u64 = 64 << 20;
/// The bytes of lines that may wait, not counting the first.
const MAX_WAITING: usize = 1 << 20;
/// The bytes of a line that is too long that are kept, to find its id.
const PREFIX_LEN: usize = 1 << 12;
/// The most cancellations of requests that have not started.
const MAX_CANCELED: usize = 1_000;

pub(crate) enum Line {
    Whole(Vec<u8>),
    /// The start of a line that is too long.
    TooLong(Vec<u8>),
}

#[derive(Clone, Default)]
pub(crate) struct Inbox(Arc<(Mutex<Queue>, Condvar)>);

#[derive(Default)]
struct Queue {
    lines: VecDeque<Line>,
    len: usize,
    has_ended: bool,
    running: Option<RequestId>,
    /// The newest last.
    canceled: VecDeque<RequestId>,
}

impl Line {
    fn len(&self) -> usize {
        match self {
            Self::Whole(line) | Self::TooLong(line) => line.len(),
        }
    }
}

impl Inbox {
    /// Reads stdin until it ends.
    pub(crate) fn of_process() -> io::Result<Self> {
        let inbox = Self::default();
        let reader = inbox.clone();
        thread::Builder::new().spawn(move || reader.fill())?;
        Ok(inbox)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'q>(&self, queue: MutexGuard<'q, Queue>) -> MutexGuard<'q, Queue> {
        self.0.1.wait(queue).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next line; `None` at the end of the input.
    pub(crate) fn next(&self) -> Option<Line> {
        let mut queue = self.queue();
        while queue.lines.is_empty() && !queue.has_ended {
            queue = self.wait(queue);
        }
        let line = queue.lines.pop_front()?;
        queue.len -= line.len();
        self.0.1.notify_all();
        Some(line)
    }

    /// Whether to start this request: it has not been canceled.
    pub(crate) fn start(&self, id: &RequestId) -> bool {
        let mut queue = self.queue();
        if queue.canceled.contains(id) {
            return false;
        }
        set_canceled(false);
        queue.running = Some(id.clone());
        true
    }

    /// Whether the request that ends now was not canceled, so that the client expects its answer.
    pub(crate) fn end(&self, id: &RequestId) -> bool {
        let mut queue = self.queue();
        queue.running = None;
        !queue.canceled.contains(id)
    }

    fn fill(&self) {
        let mut input = BufReader::with_capacity(1 << 16, io::stdin());
        while let Ok(Some(line)) = read(&mut input) {
            match canceled(&line) {
                Some(id) => self.cancel(id),
                None => self.push(line),
            }
        }
        self.queue().has_ended = true;
        self.0.1.notify_all();
    }

    fn push(&self, line: Line) {
        let mut queue = self.queue();
        while !queue.lines.is_empty() && queue.len + line.len() > MAX_WAITING {
            queue = self.wait(queue);
        }
        queue.len += line.len();
        queue.lines.push_back(line);
        self.0.1.notify_all();
    }

    fn cancel(&self, id: RequestId) {
        let mut queue = self.queue();
        if queue.running.as_ref() == Some(&id) {
            set_canceled(true);
        }
        if queue.canceled.len() == MAX_CANCELED {
            queue.canceled.pop_front();
        }
        queue.canceled.push_back(id);
    }
}

/// Reads a line; `None` at the end of the input, which drops a message without its line end.
fn read(input: &mut BufReader<Stdin>) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let len = input.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut line)? as u64;
    if line.ends_with(b"\n") {
        Ok(Some(Line::Whole(line)))
    } else if len < MAX_LINE_LEN {
        Ok(None)
    } else {
        line.truncate(PREFIX_LEN);
        line.shrink_to_fit();
        input.skip_until(b'\n')?;
        Ok(Some(Line::TooLong(line)))
    }
}

/// The request that a line cancels.
fn canceled(line: &Line) -> Option<RequestId> {
    let Line::Whole(line) = line else { return None };
    memmem::find(line, b"notifications/cancelled").filter(|_| line.len() < MAX_WAITING)?;
    match serde_json::from_slice(line) {
        Ok(ClientJsonRpcMessage::Notification(message)) => match message.notification {
            ClientNotification::CancelledNotification(canceled) => canceled.params.request_id,
            _ => None,
        },
        _ => None,
    }
}
