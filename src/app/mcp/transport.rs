//! Messages from stdin and to stdout, one JSON object per line.
//!
//! The next request is taken once the last one is answered. So answers have the order of requests. Another thread reads ahead (see
//! [`inbox`](super::inbox)), and the only notification that matters is the cancellation that it finds there. Answers of the client
//! are skipped, because the server sends no requests.
//!
//! In revision 2025-03-26, a line may be an array of messages, whose answers are one array.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ErrorData, GetMeta as _, JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use super::envelope::{Envelope, refusal};
use super::inbox::{Inbox, Line, MAX_LINE_LEN};

pub(crate) struct Lines {
    inbox: Inbox,
    /// The rest of a batch.
    waiting: VecDeque<Box<RawValue>>,
    outbox: Outbox,
    /// Has a permit while no request waits for its answer.
    idle: Arc<Semaphore>,
}

#[derive(Clone, Default)]
struct Outbox(Arc<Mutex<Answers>>);

#[derive(Default)]
struct Answers {
    /// The revision that was agreed, or the one of the last request that named its own.
    revision: Option<ProtocolVersion>,
    /// The answers of a batch.
    batch: Option<Vec<Value>>,
}

impl Lines {
    pub(crate) fn of_process() -> io::Result<Self> {
        let (waiting, outbox) = (VecDeque::new(), Outbox::default());
        Ok(Self { inbox: Inbox::of_process()?, waiting, outbox, idle: Arc::new(Semaphore::new(1)) })
    }

    /// A request to handle, if the message is one.
    fn take(&mut self, message: &[u8]) -> io::Result<Option<ClientJsonRpcMessage>> {
        let refused = match serde_json::from_slice::<ClientJsonRpcMessage>(message) {
            Ok(JsonRpcMessage::Request(request)) => {
                if !self.inbox.start(&request.id) {
                    return Ok(None);
                }
                if let Some(revision) = request.request.get_meta().protocol_version() {
                    self.outbox.answers().revision = Some(revision);
                }
                return Ok(Some(JsonRpcMessage::Request(request)));
            }
            Ok(_) if !Envelope::read(message).is_request_without_id() => None,
            _ => refusal(message),
        };
        refused.map_or(Ok(None), |refused| self.outbox.send(&refused).map(|()| None))
    }

    /// Takes the messages of a batch apart.
    fn open_batch(&mut self, line: &[u8]) -> io::Result<()> {
        let mut answers = self.outbox.answers();
        let has_batches = answers.revision == Some(ProtocolVersion::V_2025_03_26);
        let error = match serde_json::from_slice::<Vec<Box<RawValue>>>(line) {
            Err(error) => ErrorData::parse_error(format!("the line is not JSON: {error}"), None),
            Ok(_) if !has_batches => ErrorData::invalid_request("only revision 2025-03-26 has batches", None),
            Ok(batch) if batch.is_empty() => ErrorData::invalid_request("the batch is empty", None),
            Ok(batch) => {
                answers.batch = Some(Vec::new());
                self.waiting = batch.into();
                return Ok(());
            }
        };
        drop(answers);
        self.outbox.send(&ServerJsonRpcMessage::error(error, None))
    }

    fn next(&mut self) -> io::Result<Next> {
        if let Some(message) = self.waiting.pop_front() {
            return Ok(self
                .take(message.get().as_bytes())?
                .map_or(Next::Nothing, |request| Next::Request(Box::new(request))));
        }
        self.outbox.close_batch()?;
        let Some(line) = self.inbox.next() else { return Ok(Next::End) };
        let request = match &line {
            Line::TooLong(start) => {
                let error = ErrorData::invalid_request(format!("a message may have {} MiB", MAX_LINE_LEN >> 20), None);
                self.outbox.send(&Envelope::read(start).refuse(error))?;
                None
            }
            Line::Whole(line) => match line.trim_ascii_start().first() {
                None => None,
                Some(b'[') => {
                    self.open_batch(line)?;
                    None
                }
                Some(_) => self.take(line)?,
            },
        };
        Ok(request.map_or(Next::Nothing, |request| Next::Request(Box::new(request))))
    }
}

enum Next {
    Request(Box<ClientJsonRpcMessage>),
    /// The message needs no handling.
    Nothing,
    End,
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (idle, inbox, outbox) = (Arc::clone(&self.idle), self.inbox.clone(), self.outbox.clone());
        async move {
            let Some(id) = answered(&message) else { return outbox.send(&message) };
            let written = if inbox.end(id) { outbox.send(&message) } else { Ok(()) };
            idle.add_permits(1);
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let idle = Arc::clone(&self.idle);
            let permit = idle.acquire().await.ok()?;
            match self.next().ok()? {
                Next::Request(request) => {
                    permit.forget();
                    return Some(*request);
                }
                Next::Nothing => {}
                Next::End => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Outbox {
    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a message, or keeps it until its batch is complete.
    fn send(&self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let mut answers = self.answers();
        if let JsonRpcMessage::Response(response) = message
            && let ServerResult::InitializeResult(agreed) = &response.result
        {
            answers.revision = Some(agreed.protocol_version.clone());
        }
        // JSON-RPC 2.0 requires `id: null` where the id could not be read; revision 2026-07-28 has no id then.
        let needs_id = matches!(message, JsonRpcMessage::Error(error) if error.id.is_none())
            && answers.revision != Some(ProtocolVersion::V_2026_07_28);
        if !needs_id && answers.batch.is_none() {
            return write(message);
        }
        let mut message = serde_json::to_value(message)?;
        if needs_id {
            message["id"] = Value::Null;
        }
        match &mut answers.batch {
            Some(batch) => batch.push(message),
            None => write(&message)?,
        }
        Ok(())
    }

    /// Writes the answers of a batch, unless it had only notifications.
    fn close_batch(&self) -> io::Result<()> {
        match self.answers().batch.take() {
            Some(batch) if !batch.is_empty() => write(&batch),
            _ => Ok(()),
        }
    }
}

/// The request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

fn write(message: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
