//! Reads what is intact of a line that is not a message, and makes the answer that refuses it.

use std::fmt;

use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

/// The members of a JSON-RPC message that are read up to the first that cannot be read.
#[derive(Default)]
pub(crate) struct Envelope {
    has_id: bool,
    /// An id that is `null` or not an id is not readable.
    id: Option<RequestId>,
    has_method: bool,
}

impl Envelope {
    pub(crate) fn read(line: &[u8]) -> Self {
        let mut envelope = Self::default();
        // Members before an error are used.
        let _ = serde_json::Deserializer::from_slice(line).deserialize_map(Members(&mut envelope));
        envelope
    }

    /// Whether nobody waits for an answer.
    pub(crate) fn is_notification(&self) -> bool {
        self.has_method && !self.has_id
    }

    pub(crate) fn is_request_without_id(&self) -> bool {
        self.has_method && self.has_id && self.id.is_none()
    }

    pub(crate) fn refuse(self, error: ErrorData) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(error, self.id)
    }
}

/// The answer to a line that is not a message; an unreadable notification gets none.
pub(crate) fn refusal(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    let envelope = Envelope::read(line);
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(line) {
        return Some(envelope.refuse(ErrorData::parse_error(format!("the line is not JSON: {error}"), None)));
    }
    if envelope.is_notification() {
        return None;
    }
    let what = if envelope.is_request_without_id() {
        "the id of a request must be a string or an integer"
    } else {
        "the line is not a JSON-RPC 2.0 message"
    };
    Some(envelope.refuse(ErrorData::invalid_request(what, None)))
}

struct Members<'e>(&'e mut Envelope);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "id" => {
                    self.0.has_id = true;
                    let id: serde_json::Value = members.next_value()?;
                    self.0.id = serde_json::from_value(id).ok();
                }
                "method" => {
                    members.next_value::<IgnoredAny>()?;
                    self.0.has_method = true;
                }
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}
