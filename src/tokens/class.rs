//! Character classes for the splitter.
//!
//! A class is one bit of a byte, so a set of classes is a mask. `build.rs` makes the tables from the `regex-syntax` that
//! tiktoken-rs uses.

use super::layout::CLASS_BLOCK;
pub(super) use super::layout::{CASELESS, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UPPER};

/// `\p{L}`
pub(super) const LETTER: u8 = UPPER | LOWER | CASELESS;
/// `\s`
pub(super) const WHITE: u8 = SPACE | NEWLINE;
/// `[^\s\p{L}\p{N}]`
pub(super) const PUNCTUATION: u8 = MARK | OTHER;

static INDEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/class.index"));
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/class.blocks"));

/// The classes of ASCII; the first block of [`BLOCKS`], with a length the compiler knows.
static ASCII: [u8; 128] = ascii();

const fn ascii() -> [u8; 128] {
    match BLOCKS.first_chunk() {
        Some(classes) => *classes,
        None => panic!("the first block covers ASCII"),
    }
}

/// The class of a character and its length in bytes; the end of `text` has no class. `at` is a boundary in valid UTF-8.
#[inline]
pub(super) fn class_at(text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        Some(&byte) if byte < 0x80 => (ASCII[usize::from(byte)], 1),
        Some(&byte) => wide_class_at(text, at, byte),
        None => (0, 0),
    }
}

fn wide_class_at(text: &[u8], at: usize, lead: u8) -> (u8, usize) {
    let bits = |offset: usize| text.get(at + offset).map_or(0, |byte| usize::from(byte & 0x3f));
    let lead = usize::from(lead);
    let (code_point, length) = match lead {
        0xc0..0xe0 => ((lead & 0x1f) << 6 | bits(1), 2),
        0xe0..0xf0 => ((lead & 0x0f) << 12 | bits(1) << 6 | bits(2), 3),
        _ => ((lead & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), 4),
    };
    let block = usize::from(INDEX[code_point / CLASS_BLOCK]);
    (BLOCKS[block * CLASS_BLOCK + code_point % CLASS_BLOCK], length)
}

#[inline]
pub(super) fn skip(text: &[u8], mut at: usize, set: u8) -> usize {
    loop {
        let (class, length) = class_at(text, at);
        if class & set == 0 {
            return at;
        }
        at += length;
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tokens/class.rs"]
mod tests;
