//! Text without its escapes, with the place of each part in the source.

use std::ops::Range;

#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) text: Vec<u8>,
    /// Places in the text, each with its place in the source. Between two, both advance alike.
    places: Vec<(usize, usize)>,
}

/// The content of an escape, which is never longer than the escape.
#[derive(Clone, Copy)]
pub(crate) enum Meaning {
    Nothing,
    Byte(u8),
    Char(char),
}

impl Meaning {
    fn push(self, text: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Byte(byte) => text.push(byte),
            Self::Char(c) => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

impl Decoded {
    /// Decodes in one pass. `escape` gets the rest of the source at each of the places `starts`, in order, and returns the length of the
    /// escape there. Returns `None` if there is no escape.
    pub(crate) fn new(
        source: &[u8],
        starts: impl Iterator<Item = usize>,
        escape: impl Fn(&[u8]) -> Option<(usize, Meaning)>,
    ) -> Option<Self> {
        let mut decoded = Self { text: Vec::new(), places: Vec::new() };
        let mut rest = 0;
        for at in starts {
            // No escape starts within another one.
            if at < rest {
                continue;
            }
            let Some((len, meaning)) = escape(&source[at..]) else { continue };
            decoded.text.extend_from_slice(&source[rest..at]);
            decoded.places.push((decoded.text.len(), at));
            meaning.push(&mut decoded.text);
            rest = at + len;
            decoded.places.push((decoded.text.len(), rest));
        }
        decoded.text.extend_from_slice(&source[rest..]);
        (!decoded.places.is_empty()).then_some(decoded)
    }

    /// The places in the text where an escape without content was.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = usize> {
        self.places.chunks_exact(2).filter(|escape| escape[0].0 == escape[1].0).map(|escape| escape[0].0)
    }

    /// The span in the source. An escape belongs to it completely or not at all, and one without content at its ends does not.
    pub(crate) fn in_source(&self, span: &Range<usize>) -> Range<usize> {
        let before = self.places.partition_point(|place| place.0 <= span.start);
        let start = match before.checked_sub(1).map(|last| self.places[last]) {
            Some((text, source)) => source + span.start - text,
            None => span.start,
        };
        let after = self.places.partition_point(|place| place.0 < span.end);
        let end = match (self.places.get(after), after.checked_sub(1).map(|last| self.places[last])) {
            (Some((text, source)), _) if *text == span.end => *source,
            (_, Some((text, source))) => source + span.end - text,
            (_, None) => span.end,
        };
        start..end
    }
}

/// The longest control sequence: two colors of 24 bits need 40.
const MAX_SEQUENCE: usize = 64;

/// The length of a control sequence, such as a color code (ECMA-48, 5.4), without the escape character before it.
pub(crate) fn control_sequence(rest: &[u8]) -> Option<usize> {
    if *rest.first()? != b'[' {
        return None;
    }
    let end = rest.iter().take(MAX_SEQUENCE).skip(1).position(|b| !matches!(b, b' '..=b'?'))? + 1;
    matches!(rest[end], b'@'..=b'~').then_some(end + 1)
}
