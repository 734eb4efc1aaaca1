//! What a breadcrumb of a checkpoint leads to, as JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Definition, Followed};
use crate::memory::checkpoint::Reference;

/// `found` says what it is; what is gone has the reason in `stale`. `type`, `reference` and `hint` are the breadcrumb's own.
#[must_use]
pub(crate) fn as_json(reference: &Reference, followed: &Followed) -> Value {
    let mut value = what(followed);
    value["type"] = reference.kind.clone().into();
    value["reference"] = reference.reference.clone().into();
    value["hint"] = reference.hint.clone().into();
    value
}

fn what(followed: &Followed) -> Value {
    match followed {
        Followed::File { path, content } => {
            if let Ok(text) = std::str::from_utf8(content) {
                return json!({ "found": "file", "path": path, "text": text });
            }
            let base64 = STANDARD.encode(content);
            json!({ "found": "file", "path": path, "base64": base64 })
        }
        Followed::Folder { path, names } => json!({ "found": "folder", "path": path, "names": names }),
        Followed::Function(definitions) => {
            let one = |one: &Definition| json!({ "path": one.path, "line": one.line, "source": one.source });
            json!({ "found": "function", "definitions": definitions.iter().map(one).collect::<Vec<_>>() })
        }
        Followed::Decision(hint) => json!({ "found": "decision", "text": hint }),
        Followed::External(address) => json!({ "found": "external", "address": address }),
        Followed::Stale(why) => json!({ "found": null, "stale": why }),
    }
}
