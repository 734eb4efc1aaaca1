//! The forms in which a text may be stored.

use std::collections::HashSet;
use std::ops::Range;

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::base64::Base64;

#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) bytes: Vec<u8>,
    pub(super) encoding: Encoding,
}

impl Form {
    /// The span to replace for a match, and its replacement.
    pub(super) fn replace(&self, bytes: &[u8], found: Range<usize>, marker: &str) -> (Range<usize>, Vec<u8>) {
        match self.encoding {
            Encoding::Plain => (found, marker.as_bytes().to_vec()),
            Encoding::Base64(form) => form.replace(bytes, found, marker),
            Encoding::Other(encode) => (found, encode(marker.as_bytes())),
        }
    }
}

/// How the bytes of a form are encoded, and so the bytes that replace them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Encoding {
    Plain,
    Base64(Base64),
    /// A byte order does not matter here: in the bytes of one order, the replacement of the other order fits, too, because its
    /// match began a byte earlier.
    Other(Encode),
}

type Encode = fn(&[u8]) -> Vec<u8>;

const OTHERS: [Encode; 4] = [
    |text| text.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect(),
    |text| text.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect(),
    |text| String::from_utf8_lossy(text).encode_utf16().flat_map(u16::to_le_bytes).collect(),
    |text| String::from_utf8_lossy(text).encode_utf16().flat_map(u16::to_be_bytes).collect(),
];

/// Encoded forms shorter than this would be found by chance.
const SHORTEST_BASE64: usize = 8;

/// The text itself; on one line, with CRLF, escaped for JSON once to three times, HTML, URLs and shells; in hex and UTF-16; and the
/// base64 of the text and of its JSON form at each alignment.
pub(super) fn forms_of(text: &[u8]) -> Vec<Form> {
    let mut plain = vec![text.to_vec()];
    if let Ok(text) = std::str::from_utf8(text) {
        plain.push(text.split_whitespace().collect::<Vec<_>>().join(" ").into_bytes());
        plain.push(text.replace("\r\n", "\n").replace('\n', "\r\n").into_bytes());
        for escape in [json, json_ascii, json_slash] {
            let once = escape(text);
            let twice = escape(&once);
            plain.extend([escape(&twice), twice, once].map(String::into_bytes));
        }
        let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        plain.push(html.replace('"', "&quot;").replace('\'', "&#39;").into_bytes());
        plain.push(html.into_bytes());
        plain.push(text.replace('\'', r"'\''").into_bytes());
    }
    let encoded_url = percent_encode(text, NON_ALPHANUMERIC).to_string();
    // The characters that most programs leave as they are.
    let usual = ["%2D", "%2E", "%5F", "%7E"].iter().zip(["-", ".", "_", "~"]);
    plain.push(usual.fold(encoded_url, |url, (code, plain)| url.replace(code, plain)).into_bytes());

    let mut forms = Vec::new();
    let mut seen = HashSet::new();
    let json_form = std::str::from_utf8(text).map(|text| json(text).into_bytes()).unwrap_or_default();
    for source in [text, &json_form] {
        for (form, bytes) in Base64::forms_of(source) {
            if bytes.len() >= SHORTEST_BASE64 && seen.insert(bytes.clone()) {
                forms.push(Form { bytes, encoding: Encoding::Base64(form) });
            }
        }
    }
    for encode in OTHERS {
        let bytes = encode(text);
        if seen.insert(bytes.clone()) {
            forms.push(Form { bytes, encoding: Encoding::Other(encode) });
        }
    }
    // An empty form would be found everywhere.
    plain.retain(|form| form.len() >= super::SHORTEST && seen.insert(form.clone()));
    forms.extend(plain.into_iter().map(|bytes| Form { bytes, encoding: Encoding::Plain }));
    forms
}

/// As in a JSON string, without its quotes.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// With `\u` escapes for what is not ASCII, as many programs write by default.
fn json_ascii(text: &str) -> String {
    let mut escaped = String::new();
    for c in json(text).chars() {
        if c.is_ascii() {
            escaped.push(c);
        } else {
            let mut units = [0; 2];
            escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    escaped
}

fn json_slash(text: &str) -> String {
    json(text).replace('/', "\\/")
}
