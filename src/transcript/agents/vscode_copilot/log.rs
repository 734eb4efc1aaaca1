//! Replays the log of edits that VS Code keeps of a chat.
//!
//! ```text
//! {"kind":0,"v":{"sessionId":"…","requests":[…]}}          the state
//! {"kind":1,"k":["requests",0,"result"],"v":{…}}            sets the value at a path
//! {"kind":2,"k":["requests"],"v":[…],"i":1}                 cuts the list at a path at an index, and appends to it
//! {"kind":3,"k":["requests",0,"result"]}                    removes a value
//! ```
//!
//! The result is the lines of the state as a document: its members, and then each request. Requests that were cut are lines of their
//! own, named `rewound`. A line that is no edit stays as it is.

use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader, Read};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::transcript::read::json;

const REQUESTS: &str = "requests";

/// The longest path of an edit. VS Code's have few steps, and edits at ever longer ones would nest values without a limit.
const LONGEST: usize = 64;

#[derive(Deserialize)]
struct Edit {
    kind: u8,
    #[serde(default)]
    k: Vec<Value>,
    #[serde(default)]
    v: Value,
    i: Option<usize>,
}

#[derive(Default)]
struct Chat {
    state: Value,
    /// Requests that were cut, and how many were before each.
    rewound: Vec<(usize, Value)>,
}

/// The lines of the state after all edits.
pub(super) fn replay(log: Box<dyn Read + '_>) -> io::Result<Vec<u8>> {
    let (mut chat, mut lines) = (Chat::default(), Vec::new());
    for line in BufReader::new(log).split(b'\n') {
        let line = line?;
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if text.trim_ascii().is_empty() {
            continue;
        }
        let is_applied = json::value(text).is_ok_and(|edit| chat.apply(edit).is_some());
        if !is_applied {
            lines.extend_from_slice(text);
            lines.push(b'\n');
        }
    }
    chat.write(&mut lines);
    Ok(lines)
}

impl Chat {
    /// Applies an edit; `None` if there is no such place.
    fn apply(&mut self, edit: Edit) -> Option<()> {
        let Edit { kind, k, v, i } = edit;
        let is_of_requests = matches!(&k[..], [Value::String(name)] if name == REQUESTS);
        match kind {
            0 => self.state = v,
            _ if k.len() > LONGEST => return None,
            1 | 3 if k.is_empty() => return None,
            1 => *place(&mut self.state, &k, true)? = v,
            2 => {
                let list = place(&mut self.state, &k, true)?;
                if list.is_null() {
                    *list = json!([]);
                }
                let list = list.as_array_mut()?;
                let cut = list.split_off(i.unwrap_or(list.len()).min(list.len()));
                let before = list.len();
                list.extend(v.as_array().cloned().unwrap_or_default());
                if is_of_requests {
                    // An edit of a request cuts it, and appends it again.
                    let id = |request: &Value| request["requestId"].to_string();
                    let back: HashSet<String> = list.iter().map(id).collect();
                    let gone: Vec<_> = cut.into_iter().filter(|request| !back.contains(&id(request))).collect();
                    self.rewound.extend(gone.into_iter().map(|request| (before, request)));
                }
            }
            3 => {
                let (last, path) = k.split_last()?;
                match (place(&mut self.state, path, false)?, last) {
                    (Value::Object(members), Value::String(name)) => _ = members.remove(name),
                    (Value::Array(list), index) => {
                        let index = usize::try_from(index.as_u64()?).ok().filter(|index| *index < list.len())?;
                        list.remove(index);
                    }
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn write(mut self, lines: &mut Vec<u8>) {
        let Value::Object(mut members) = self.state else { return };
        let requests = members.remove(REQUESTS).unwrap_or_default();
        let mut write =
            |name: &str, value: &Value| lines.extend_from_slice(format!("{}\n", json!({ name: value })).as_bytes());
        for (name, value) in &members {
            write(name, value);
        }
        let requests = requests.as_array().map(Vec::as_slice).unwrap_or_default();
        self.rewound.sort_by_key(|(before, _)| *before);
        let mut rewound = self.rewound.iter().peekable();
        for number in 0..=requests.len() {
            while let Some((_, request)) = rewound.next_if(|(before, _)| *before <= number) {
                write("rewound", request);
            }
            if let Some(request) = requests.get(number) {
                write(REQUESTS, request);
            }
        }
    }
}

/// The value at a path, which is made if it is missing in an object.
fn place<'v>(state: &'v mut Value, path: &[Value], makes: bool) -> Option<&'v mut Value> {
    let mut at = state;
    for step in path {
        at = match (at, step) {
            (Value::Object(members), Value::String(name)) => {
                if makes && !members.contains_key(name) {
                    members.insert(name.clone(), Value::Null);
                }
                members.get_mut(name)?
            }
            (Value::Array(list), index) => list.get_mut(usize::try_from(index.as_u64()?).ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}
