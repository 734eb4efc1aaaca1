//! Text inside base64.
//!
//! Three bytes become four characters, so a text has three forms, depending on how many bytes before it belong to its first group.
//! The characters that it shares with its neighbors are not part of a form.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_encode_padding(false)
    .with_decode_padding_mode(DecodePaddingMode::RequireNone)
    .with_decode_allow_trailing_bits(true);
static STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
static URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// A text in base64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Base64 {
    /// The bytes before the text in its first group: 0, 1, or 2.
    before: usize,
    /// The length of the text.
    len: usize,
}

impl Base64 {
    /// The characters that depend on `text` alone, for each alignment and alphabet.
    pub(super) fn forms_of(text: &[u8]) -> impl Iterator<Item = (Self, Vec<u8>)> {
        [&STANDARD, &URL_SAFE].into_iter().flat_map(move |engine| {
            (0..3).map(move |before| {
                let form = Self { before, len: text.len() };
                let padded = [&[0, 0][..before], text].concat();
                let characters = engine.encode(&padded).into_bytes();
                let end = characters.len() - usize::from(!padded.len().is_multiple_of(3));
                (form, characters.get(form.shared()..end).unwrap_or_default().to_vec())
            })
        })
    }

    /// The characters of the first group that also depend on the bytes before the text.
    fn shared(self) -> usize {
        [0, 2, 3][self.before]
    }

    /// The span to replace for a match, and its replacement: the same groups with `marker` in place of the text, so that the rest
    /// remains valid base64. If they cannot be decoded, the marker replaces the characters.
    pub(super) fn replace(self, bytes: &[u8], found: Range<usize>, marker: &str) -> (Range<usize>, Vec<u8>) {
        self.encode(bytes, &found, marker).unwrap_or_else(|| {
            // A character on each side shows some bits of the text.
            let start = found.start - usize::from(found.start > 0 && is_char(bytes, found.start - 1));
            let end = found.end + usize::from(is_char(bytes, found.end));
            (start..end, marker.as_bytes().to_vec())
        })
    }

    fn encode(self, bytes: &[u8], found: &Range<usize>, marker: &str) -> Option<(Range<usize>, Vec<u8>)> {
        let start = found.start.checked_sub(self.shared())?;
        let groups = start + (found.end - start).next_multiple_of(4);
        // Only the last group of the data may be incomplete.
        let end = (found.end..groups).find(|at| !is_char(bytes, *at)).unwrap_or(groups);
        let encoded = bytes.get(start..end)?;
        // The form may be the same in both alphabets, and the characters around it are not.
        let (engine, decoded) =
            [&STANDARD, &URL_SAFE].into_iter().find_map(|engine| Some((engine, engine.decode(encoded).ok()?)))?;
        let rest = decoded.get(self.before + self.len..)?;
        let mut replaced = [&decoded[..self.before], marker.as_bytes()].concat();
        while (replaced.len() + rest.len()) % 3 != decoded.len() % 3 {
            replaced.push(b' ');
        }
        replaced.extend_from_slice(rest);
        Some((start..end, engine.encode(&replaced).into_bytes()))
    }
}

/// Whether a character of either alphabet is there.
pub(super) fn is_char(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
}
