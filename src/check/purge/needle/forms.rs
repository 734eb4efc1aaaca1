//! The forms in which a text may be stored.

use std::collections::HashSet;
use std::ops::Range;

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::base64::Base64;
use super::decoded::decode;
use crate::memory::forward::text::forms_of as forms_of_crumb;
use crate::trace::model::trailers::one_line;

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

/// How a program escapes a text for JSON.
#[derive(Clone, Copy)]
struct Json {
    /// Whether all characters that are not ASCII are written as `\u` and digits.
    is_ascii: bool,
    /// Other characters that are written so.
    coded: &'static str,
    has_upper_digits: bool,
    has_escaped_slash: bool,
}

const PLAIN: Json = Json { is_ascii: false, coded: "", has_upper_digits: false, has_escaped_slash: false };

/// As most programs do; as Python and Java; as PHP, with and without an option; as Go and Ruby on Rails; as .NET.
const JSON: [Json; 7] = [
    PLAIN,
    Json { is_ascii: true, ..PLAIN },
    Json { is_ascii: true, has_upper_digits: true, ..PLAIN },
    Json { is_ascii: true, has_escaped_slash: true, ..PLAIN },
    Json { has_escaped_slash: true, ..PLAIN },
    Json { coded: "<>&\u{2028}\u{2029}", ..PLAIN },
    Json { is_ascii: true, coded: "\"'<>&+`", has_upper_digits: true, ..PLAIN },
];

impl Json {
    /// As in a string, without its quotes.
    fn escape(self, text: &str) -> String {
        let mut escaped = String::new();
        for c in text.chars() {
            if self.coded.contains(c) || (self.is_ascii && !c.is_ascii()) {
                let mut units = [0; 2];
                escaped.extend(c.encode_utf16(&mut units).iter().map(|unit| {
                    if self.has_upper_digits { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") }
                }));
            } else if c == '/' && self.has_escaped_slash {
                escaped.push_str("\\/");
            } else {
                let quoted = serde_json::Value::from(c.to_string()).to_string();
                escaped.push_str(&quoted[1..quoted.len() - 1]);
            }
        }
        escaped
    }
}

/// Escaped for JSON once, twice by any two programs, and three times by one.
fn json_forms(text: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for json in JSON {
        let once = json.escape(text);
        forms.extend(JSON.map(|outer| outer.escape(&once)));
        forms.extend([json.escape(&json.escape(&once)), once]);
    }
    forms
}

/// As in HTML, in quotes of shells, SQL, and CSV, and in strings of Python and JavaScript.
fn quoted_forms(text: &str) -> Vec<String> {
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let codes = [("&quot;", "&#39;"), ("&quot;", "&#x27;"), ("&#34;", "&#39;"), ("&quot;", "'")];
    let mut forms: Vec<String> =
        codes.iter().map(|(double, single)| html.replace('"', double).replace('\'', single)).collect();
    let escaped = |special: &str| {
        text.chars().fold(String::new(), |mut escaped, c| {
            if special.contains(c) {
                escaped.push('\\');
            }
            escaped.push(c);
            escaped
        })
    };
    let on_line = |text: String| text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    forms.extend([html, text.replace('\'', r"'\''"), text.replace('\'', "'\"'\"'")]);
    // `'\''` where other escapes were decoded, too.
    forms.push(text.replace('\'', "'''"));
    // In SQL and CSV.
    forms.extend([text.replace('\'', "''"), text.replace('"', "\"\"")]);
    forms.extend([escaped("\\\"$`"), on_line(escaped("\\")), on_line(escaped("\\'"))]);
    // A program that writes `+` for a space need not escape all that others do; the rest is decoded.
    forms.push(text.replace(' ', "+"));
    forms
}

/// A longer text would have too many forms.
const LONGEST_QUOTED_TWICE: usize = 4096;

/// Quoted once, and in all pairs of ways, such as a command in quotes within a command in quotes.
fn quoted_twice(text: &str) -> Vec<String> {
    let mut forms = quoted_forms(text);
    forms.sort();
    forms.dedup();
    if text.len() <= LONGEST_QUOTED_TWICE {
        forms.extend(forms.clone().iter().filter(|form| *form != text).flat_map(|form| quoted_forms(form)));
    }
    forms
}

/// The text itself; without its own escapes; as git-trace stores it on one line and in forward crumbs; with CRLF; escaped for JSON,
/// HTML, URLs, shells, and programs; in hex and UTF-16; and the base64 of the text, of its JSON forms, and of its UTF-16 at each alignment.
pub(super) fn forms_of(text: &[u8]) -> Vec<Form> {
    let mut plain = vec![text.to_vec()];
    let mut encoded = vec![text.to_vec()];
    if let Ok(text) = std::str::from_utf8(text) {
        let crlf = text.replace("\r\n", "\n").replace('\n', "\r\n");
        let of_crumb = forms_of_crumb(text);
        let mut texts = vec![one_line(text)];
        texts.extend(of_crumb.iter().chain([&crlf]).flat_map(|text| json_forms(text)));
        texts.extend([json_forms(text), quoted_twice(text), of_crumb.into(), vec![crlf]].concat());
        plain.extend(texts.into_iter().map(String::into_bytes));
        encoded.extend(JSON.map(|json| json.escape(text).into_bytes()));
        encoded.extend([u16::to_le_bytes, u16::to_be_bytes].map(|order| text.encode_utf16().flat_map(order).collect()));
    }
    // Where a program escaped the text, what looks like an escape in the text itself is decoded, too.
    let once = decode(text).map(|decoded| decoded.text);
    let twice = once.as_deref().and_then(decode).map(|decoded| decoded.text);
    for decoded in [once, twice].into_iter().flatten() {
        plain.extend(std::str::from_utf8(&decoded).iter().flat_map(|text| quoted_twice(text)).map(String::into_bytes));
        plain.push(decoded);
    }
    let url = percent_encode(text, NON_ALPHANUMERIC).to_string();
    // The characters that most programs leave as they are.
    let usual = ["%2D", "%2E", "%5F", "%7E"].iter().zip(["-", ".", "_", "~"]);
    let url = usual.fold(url, |url, (code, plain)| url.replace(code, plain));
    let lower = percent_lower(&url);
    plain.extend([url.replace("%20", "+"), lower.replace("%20", "+"), lower, url].map(String::into_bytes));

    let mut forms = Vec::new();
    let mut seen = HashSet::new();
    for source in &encoded {
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

/// With lower-case digits in the codes of a URL.
fn percent_lower(url: &str) -> String {
    let mut parts = url.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |url, part| {
        let (digits, rest) = part.split_at(2.min(part.len()));
        format!("{url}%{}{rest}", digits.to_lowercase())
    })
}
