//! Finds the part of a large file that a change replaces, in one pass through a small buffer. The system copies the rest.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;

use super::lines::{complete_key, is_blank};
use crate::memory::breadcrumb::Record;

/// Fits into the processor's cache. A file with a longer line is read completely.
const BUFFER_LEN: usize = 256 * 1024;

/// The part with the lines of the keys, which are sorted, or where they would be added.
///
/// `None` if the file must be read completely: it is not sorted, a line does not look complete or does not end in `\n` alone, or one of
/// the keys has an invalid record.
pub(crate) fn find_part(file: &File, keys: &[&[u8]]) -> io::Result<Option<Range<u64>>> {
    find_part_by(file, keys, BUFFER_LEN)
}

pub(crate) fn find_part_by(mut file: &File, keys: &[&[u8]], buffer_len: usize) -> io::Result<Option<Range<u64>>> {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Ok(None) };
    let (mut buffer, mut filled, mut read) = (vec![0; buffer_len], 0, 0);
    let (mut part, mut last_key) = (0..0, Vec::new());
    loop {
        let len = file.read(&mut buffer[filled..])?;
        if len == 0 {
            return Ok((filled == 0).then_some(part));
        }
        filled += len;
        let (mut start, mut earlier) = (0, &*last_key);
        for end in memchr::memchr_iter(b'\n', &buffer[..filled]) {
            let line = &buffer[start..end];
            start = end + 1;
            if is_blank(line) {
                continue;
            }
            let Some(key) = complete_key(line).filter(|key| *key >= earlier && !line.ends_with(b"\r")) else {
                return Ok(None);
            };
            if key <= *last {
                let end = read + start as u64;
                part = if key < *first { end..end } else { part.start..end };
                if keys.binary_search(&key).is_ok() && Record::parse(line).is_err() {
                    return Ok(None);
                }
            }
            earlier = key;
        }
        last_key = earlier.to_vec();
        buffer.copy_within(start..filled, 0);
        filled -= start;
        read += start as u64;
    }
}
