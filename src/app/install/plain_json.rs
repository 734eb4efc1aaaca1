//! JSON as editors' settings have it, with comments and trailing commas, made plain.

/// The text with spaces where comments and trailing commas stand, so that each piece keeps its place; line ends stay.
pub(crate) fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    // Where the last comma stands, if only white space and comments came since.
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        let len = match (byte, bytes.get(at + 1)) {
            (b'"', _) => string_len(&bytes[at..]),
            (b'/', Some(b'/')) => {
                let len = memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
                blank(&mut bytes[at..at + len]);
                at += len;
                continue;
            }
            (b'/', Some(b'*')) => {
                let len = memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len() - at, |end| end + 4);
                blank(&mut bytes[at..at + len]);
                at += len;
                continue;
            }
            _ => 1,
        };
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
    // Only whole characters were replaced, so this is the text.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// How long the string is that starts here, its quotes included.
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

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| !matches!(**byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        let text = "{ // a\u{e9}\n \"b//c\": [1, /* d, */ 2 , ], \"e\\\"\": \"/*\", }";
        let plain = plain(text);
        assert_eq!(plain, "{       \n \"b//c\": [1,          2   ], \"e\\\"\": \"/*\"  }");
        assert_eq!(plain.len(), text.len());
    }

    proptest! {
        #[test]
        fn plain_json_stays_as_it_is(text in "[\\[\\]{}:\"a1 \n\\\\]{0,30}") {
            prop_assert_eq!(plain(&text), text);
        }

        #[test]
        fn every_text_keeps_its_length(text in "[\\[,\\]{}\"/*\u{e9}a\n\\\\]{0,40}") {
            prop_assert_eq!(plain(&text).len(), text.len());
        }
    }
}
