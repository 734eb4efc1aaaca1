//! Messages as lines: one JSON object each, from stdin and to stdout.
//!
//! The next line is read once the last request is answered. So a flood of requests waits in the pipe and not in memory, the
//! order of answers is that of requests, and no thread is needed. Notifications ask for nothing that is under way then
//! and are passed over, as are answers, since nothing is ever asked of the client.

use std::io::{self, BufRead, BufReader, Stdin, Write as _};
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::Deserialize;
use tokio::sync::Semaphore;

/// The most bytes of a line; a longer one is passed over to its end and refused.
const MAX_LINE_LEN: usize = 64 << 20;
/// What the buffer of a line may keep for the next one.
const KEPT_LEN: usize = 1 << 20;

/// stdin and stdout of this process.
pub(crate) struct Lines {
    input: BufReader<Stdin>,
    line: Vec<u8>,
    /// Has a permit while no request waits for its answer.
    idle: Arc<Semaphore>,
}

/// What was found where a line was looked for.
enum Read {
    Line,
    TooLong,
    End,
}

impl Lines {
    pub(crate) fn of_process() -> Self {
        let input = BufReader::with_capacity(1 << 16, io::stdin());
        Self { input, line: Vec::new(), idle: Arc::new(Semaphore::new(1)) }
    }

    fn read(&mut self) -> io::Result<Read> {
        if self.line.capacity() > KEPT_LEN {
            self.line = Vec::new();
        }
        self.line.clear();
        let mut is_too_long = false;
        loop {
            let available = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            if available.is_empty() {
                // A message without its line end is not whole.
                return Ok(Read::End);
            }
            let end = memchr::memchr(b'\n', available);
            let len = end.map_or(available.len(), |end| end + 1);
            if !is_too_long && self.line.len() + len > MAX_LINE_LEN {
                is_too_long = true;
                self.line = Vec::new();
            }
            if !is_too_long {
                self.line.extend_from_slice(&available[..len]);
            }
            self.input.consume(len);
            if end.is_some() {
                return Ok(if is_too_long { Read::TooLong } else { Read::Line });
            }
        }
    }
}

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
                Read::End => return None,
                Read::TooLong => {
                    let message = format!("a message may have {} MiB", MAX_LINE_LEN >> 20);
                    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), None)
                }
                Read::Line if self.line.trim_ascii().is_empty() => continue,
                Read::Line => match serde_json::from_slice::<ClientJsonRpcMessage>(&self.line) {
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

/// What is answered to a line that is no message; a notification that cannot be read is answered with nothing.
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
