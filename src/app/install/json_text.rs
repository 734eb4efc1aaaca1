//! Edits of a JSON text that keep the rest of it verbatim: order, indentation, comments.

use std::ops::Range;

use serde_json::Value;

/// A JSON object in a settings file. Editors allow comments and trailing commas there.
pub(crate) struct JsonText {
    text: String,
    /// The text without comments and trailing commas; every piece has the same position as in `text`.
    plain: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    First,
    Last,
}

struct Child {
    name: Option<String>,
    span: Range<usize>,
    value: Range<usize>,
}

impl JsonText {
    pub(crate) fn new(text: &str) -> Self {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        Self { text: text.to_owned(), plain: plain(text) }
    }

    pub(crate) fn parse(&self) -> Result<Value, String> {
        let value: Value =
            serde_json::from_str(&self.plain).map_err(|error| format!("it is not a JSON object: {error}"))?;
        if value.is_object() { Ok(value) } else { Err("it is not a JSON object".to_owned()) }
    }

    /// The text with a member or element added to the object or array at `path`; `None` if nothing is there. The text must be
    /// valid.
    pub(crate) fn with(&self, path: &[&str], position: Position, piece: &str, indent: usize) -> Option<String> {
        let container = self.find(path)?.value;
        let inside = &self.plain[container.start + 1..container.end - 1];
        let is_first = position == Position::First || inside.trim().is_empty();
        let is_last = position == Position::Last || inside.trim().is_empty();
        let at = container.start + 1 + if is_first { 0 } else { inside.trim_end().len() };
        let before = if is_first { "" } else { "," };
        let after = if is_last { "" } else { "," };
        let (head, rest) = self.text.split_at(at);
        // The closing bracket keeps its line, or gets one.
        let has_line = match position {
            _ if !is_last => true,
            Position::First => rest.starts_with('\n'),
            Position::Last => self.text[at..container.end].contains('\n'),
        };
        let closing = if has_line { String::new() } else { format!("\n{}", " ".repeat(indent - 2)) };
        Some(format!("{head}{before}\n{}{piece}{after}{closing}{rest}", " ".repeat(indent)))
    }

    /// The text without the member or element at `path` and its comma; `None` if nothing is there. The text must be valid.
    pub(crate) fn without(&self, path: &[&str]) -> Option<String> {
        let Range { start, end } = self.find(path)?.span;
        let kept = self.plain[..start].trim_end().len();
        // White space before it is removed too. A comment there stays, with its line break.
        let is_gap = self.text[kept..start].trim().is_empty();
        let start = if is_gap { kept } else { self.text[..start].trim_end_matches([' ', '\t']).len() };
        let (before, behind) = (&self.text[..start], &self.plain[end..]);
        Some(match behind.find(|c: char| !c.is_whitespace()).filter(|at| behind[*at..].starts_with(',')) {
            Some(comma) => format!("{before}{}", &self.text[end + comma + 1..]),
            None if self.plain[..kept].ends_with(',') => {
                format!("{}{}{}", &self.text[..kept - 1], &self.text[kept..start], &self.text[end..])
            }
            None => format!("{before}{}", &self.text[end..]),
        })
    }

    /// The piece that the names and indexes of `path` lead to. Of several members with one name the last counts.
    fn find(&self, path: &[&str]) -> Option<Child> {
        let text = &self.plain;
        let root = text.len() - text.trim_start().len()..text.trim_end().len();
        let mut found = Child { name: None, span: root.clone(), value: root };
        for step in path {
            let mut children = self.children(&found.value);
            let at = match children.first()?.name {
                Some(_) => children.iter().rposition(|child| child.name.as_deref() == Some(*step))?,
                None => step.parse().ok().filter(|at| *at < children.len())?,
            };
            found = children.swap_remove(at);
        }
        Some(found)
    }

    fn children(&self, container: &Range<usize>) -> Vec<Child> {
        let bytes = self.plain.as_bytes();
        let (mut children, mut depth) = (Vec::new(), 0);
        let mut start = container.start + 1;
        let mut at = start;
        while at < container.end {
            match bytes[at] {
                b'"' => at += string_len(&bytes[at..]) - 1,
                b'{' | b'[' => depth += 1,
                b',' | b'}' | b']' if depth == 0 => {
                    let piece = &self.plain[start..at];
                    let span = at - piece.trim_start().len()..start + piece.trim_end().len();
                    if !piece.trim().is_empty() {
                        children.push(self.child(span));
                    }
                    start = at + 1;
                }
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        children
    }

    fn child(&self, span: Range<usize>) -> Child {
        let piece = &self.plain[span.clone()];
        let (name, rest) = piece.split_at(if piece.starts_with('"') { string_len(piece.as_bytes()) } else { 0 });
        match rest.trim_start().strip_prefix(':') {
            Some(value) => {
                let value = span.end - value.trim_start().len()..span.end;
                Child { name: serde_json::from_str(name).ok(), span, value }
            }
            None => Child { name: None, value: span.clone(), span },
        }
    }
}

/// The text with spaces in place of comments and trailing commas. Line breaks are kept.
pub(crate) fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    // The position of the last comma, if only white space and comments followed so far.
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        let comment = match (byte, bytes.get(at + 1)) {
            (b'/', Some(b'/')) => Some(memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at)),
            (b'/', Some(b'*')) => {
                Some(memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len() - at, |end| end + 4))
            }
            _ => None,
        };
        if let Some(len) = comment {
            bytes[at..at + len]
                .iter_mut()
                .filter(|byte| !matches!(**byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
            at += len;
            continue;
        }
        let len = if byte == b'"' { string_len(&bytes[at..]) } else { 1 };
        match (byte, comma) {
            (b'}' | b']', Some(comma)) => bytes[comma] = b' ',
            _ if byte.is_ascii_whitespace() => {
                at += len;
                continue;
            }
            _ => {}
        }
        comma = (byte == b',').then_some(at);
        at += len;
    }
    // Only complete characters were replaced, so this is UTF-8.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The length of the string that starts here, with its quotes.
fn string_len(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
