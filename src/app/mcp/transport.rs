//! Messages from stdin and to stdout, one JSON object per line.
//!
//! A line is read once the last request is answered. So a flood of requests waits in the pipe and not in memory, answers have
//! the order of requests, and no thread is needed. Notifications are skipped, because no request is running then. So are
//! answers, because the server sends no requests.

use std::io::{self, BufRead as _, BufReader, Read as _, Stdin, Write as _};
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::sync::Semaphore;

/// The most bytes of a line; a longer one is skipped and refused.
const MAX_LINE_LEN: u64 = 64 << 20;
/// The most bytes that the buffer of a line keeps for the next one.
const KEPT_LEN: usize = 1 << 20;

pub(crate) struct Lines {
    input: BufReader<Stdin>,
    line: Vec<u8>,
    /// Has a permit while no request waits for its answer.
    idle: Arc<Semaphore>,
}

impl Lines {
    pub(crate) fn of_process() -> Self {
        let input = BufReader::with_capacity(1 << 16, io::stdin());
        Self { input, line: Vec::new(), idle: Arc::new(Semaphore::new(1)) }
    }

    /// Reads a line; `None` at the end of the input, which drops a message without its line end.
    fn read(&mut self) -> io::Result<Option<Result<(), TooLong>>> {
        if self.line.capacity() > KEPT_LEN {
            self.line = Vec::new();
        }
        self.line.clear();
        let len = self.input.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut self.line)? as u64;
        if self.line.ends_with(b"\n") {
            Ok(Some(Ok(())))
        } else if len < MAX_LINE_LEN {
            Ok(None)
        } else {
            self.line = Vec::new();
            self.input.skip_until(b'\n')?;
            Ok(Some(Err(TooLong)))
        }
    }
}

struct TooLong;

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let idle = Arc::clone(&self.idle);
        async move {
            let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
            let written = write(&message);
            if is_answer {
                idle.add_permits(1);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let idle = Arc::clone(&self.idle);
            let permit = idle.acquire().await.ok()?;
            let refusal = match self.read().ok()? {
                None => return None,
                Some(Err(TooLong)) => {
                    let message = format!("a message may have {} MiB", MAX_LINE_LEN >> 20);
                    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), None)
                }
                Some(Ok(())) if self.line.trim_ascii().is_empty() => continue,
                Some(Ok(())) => match serde_json::from_slice::<ClientJsonRpcMessage>(&self.line) {
                    Ok(message @ JsonRpcMessage::Request(_)) => {
                        permit.forget();
                        return Some(message);
                    }
                    Ok(_) => continue,
                    Err(_) => match refusal(&self.line) {
                        Some(refusal) => refusal,
                        None => continue,
                    },
                },
            };
            drop(permit);
            write(&refusal).ok()?;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The answer to a line that is not a message; an unreadable notification gets none.
fn refusal(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    #[derive(Deserialize)]
    struct Envelope {
        id: Option<RequestId>,
        method: Option<String>,
    }
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(line) {
        let message = format!("the line is not JSON: {error}");
        return Some(ServerJsonRpcMessage::error(ErrorData::parse_error(message, None), None));
    }
    let envelope = serde_json::from_slice::<Envelope>(line);
    if let Ok(Envelope { id: None, method: Some(_) }) = envelope {
        return None;
    }
    let id = envelope.ok().and_then(|envelope| envelope.id);
    let error = ErrorData::invalid_request("the line is not a JSON-RPC 2.0 message", None);
    Some(ServerJsonRpcMessage::error(error, id))
}

fn write(message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}
