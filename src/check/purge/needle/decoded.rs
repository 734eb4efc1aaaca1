//! Text that programs escaped, without the escapes, whichever characters each program chose to escape.

use std::ops::Range;

/// Bytes in which the escapes of URLs, of HTML, and of string literals are replaced by what they stand for.
///
/// They are decoded in one pass, whatever their kind. A text that was escaped twice is decoded twice.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// Where a decoded escape ends, and how many bytes were saved up to there.
    ends: Vec<(usize, usize)>,
}

impl Decoded {
    /// `None` if there is no escape.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        let mut decoded = Self { bytes: Vec::new(), ends: Vec::new() };
        let (mut kept, mut saved) = (0, 0);
        for start in memchr::memchr3_iter(b'%', b'&', b'\\', bytes) {
            // What an escape contains is no start of another one.
            if start < kept {
                continue;
            }
            let Some((len, meaning)) = escape(&bytes[start..]) else { continue };
            decoded.bytes.extend_from_slice(&bytes[kept..start]);
            let before = decoded.bytes.len();
            meaning.push(&mut decoded.bytes);
            saved += len - (decoded.bytes.len() - before);
            decoded.ends.push((decoded.bytes.len(), saved));
            kept = start + len;
        }
        decoded.bytes.extend_from_slice(&bytes[kept..]);
        (saved > 0).then_some(decoded)
    }

    /// The span in the escaped bytes.
    pub(super) fn original(&self, span: &Range<usize>) -> Range<usize> {
        let original = |at: usize| match self.ends.partition_point(|(end, _)| *end <= at) {
            0 => at,
            count => at + self.ends[count - 1].1,
        };
        original(span.start)..original(span.end)
    }
}

/// What an escape stands for, which is always shorter.
enum Meaning {
    Byte(u8),
    Char(char),
}

impl Meaning {
    fn push(self, bytes: &mut Vec<u8>) {
        match self {
            Self::Byte(byte) => bytes.push(byte),
            Self::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// The names that every program writes for the characters with a meaning in HTML.
const NAMES: [(&[u8], u8); 5] = [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];

/// The escape at the start of `bytes`, with its length.
fn escape(bytes: &[u8]) -> Option<(usize, Meaning)> {
    match bytes {
        [b'%', digits @ ..] => Some((3, Meaning::Byte(u8::try_from(number(digits, 2, 16)?).ok()?))),
        [b'&', rest @ ..] => {
            // No reference is longer.
            let len = memchr::memchr(b';', &rest[..rest.len().min(9)])?;
            let c = match &rest[..len] {
                [b'#', b'x' | b'X', digits @ ..] => char::from_u32(number(digits, digits.len(), 16)?)?,
                [b'#', digits @ ..] => char::from_u32(number(digits, digits.len(), 10)?)?,
                name => char::from(NAMES.iter().find(|(known, _)| *known == name)?.1),
            };
            Some((len + 2, Meaning::Char(c)))
        }
        [b'\\', b'u', digits @ ..] => {
            let unit = number(digits, 4, 16)?;
            let second = || number(digits[4..].strip_prefix(b"\\u")?, 4, 16);
            if let Some(c) = char::from_u32(unit) {
                return Some((6, Meaning::Char(c)));
            }
            let units = [u16::try_from(unit).ok()?, u16::try_from(second()?).ok()?];
            Some((12, Meaning::Char(char::decode_utf16(units).next()?.ok()?)))
        }
        [b'\\', b'x', digits @ ..] => Some((4, Meaning::Byte(u8::try_from(number(digits, 2, 16)?).ok()?))),
        [b'\\', digits @ ..] if matches!(digits, [b'0'..=b'3', ..]) => {
            Some((4, Meaning::Byte(u8::try_from(number(digits, 3, 8)?).ok()?)))
        }
        [b'\\', c, ..] => {
            let byte = match c {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'"' | b'\'' | b'\\' | b'/' | b'$' | b'`' => *c,
                _ => return None,
            };
            Some((2, Meaning::Byte(byte)))
        }
        _ => None,
    }
}

/// The number that the first `len` digits make; none is longer than seven digits.
fn number(bytes: &[u8], len: usize, base: u32) -> Option<u32> {
    let digits = bytes.get(..len).filter(|digits| (1..=7).contains(&digits.len()))?;
    digits.iter().try_fold(0, |number, digit| Some(number * base + char::from(*digit).to_digit(base)?))
}
