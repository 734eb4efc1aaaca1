//! Compressing many small objects with the same buffers.
//!
//! Setting up zlib for an object takes longer than compressing it: its tables have a quarter of a megabyte.

use std::io;

use flate2::{Compress, Compression, FlushCompress, Status};

pub(super) struct Deflater(Compress);

/// The length up to which bytes are stored as they are. Most are changes of trees, which zlib makes longer, and which are three of
/// the five objects of an imported item.
const STORED: usize = 80;

impl Deflater {
    pub(super) fn new(level: Compression) -> Self {
        Self(Compress::new(level, true))
    }

    /// Appends `parts`, as one zlib stream, to `buffer`.
    pub(super) fn compress(&mut self, parts: &[&[u8]], buffer: &mut Vec<u8>) -> io::Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if let Some(length) = u16::try_from(length).ok().filter(|length| usize::from(*length) <= STORED) {
            store(length, parts, buffer);
            return Ok(());
        }
        self.0.reset();
        buffer.reserve(length / 2 + 64);
        for part in parts {
            let before = self.0.total_in();
            loop {
                let done = usize::try_from(self.0.total_in() - before).map_err(io::Error::other)?;
                if done == part.len() {
                    break;
                }
                self.step(&part[done..], buffer, FlushCompress::None)?;
            }
        }
        while self.step(&[], buffer, FlushCompress::Finish)? != Status::StreamEnd {}
        Ok(())
    }

    fn step(&mut self, bytes: &[u8], buffer: &mut Vec<u8>, flush: FlushCompress) -> io::Result<Status> {
        if buffer.len() == buffer.capacity() {
            buffer.reserve(buffer.len().max(64));
        }
        self.0.compress_vec(bytes, buffer, flush).map_err(io::Error::other)
    }
}

/// Appends `parts` as a zlib stream (RFC 1950) with one block that is not compressed.
fn store(length: u16, parts: &[&[u8]], buffer: &mut Vec<u8>) {
    buffer.extend([0x78, 0x01, 0x01]);
    buffer.extend(length.to_le_bytes());
    buffer.extend((!length).to_le_bytes());
    let (mut one, mut two) = (1_u32, 0_u32);
    for part in parts {
        buffer.extend_from_slice(part);
        for byte in *part {
            one += u32::from(*byte);
            two += one;
        }
    }
    // Adler-32. The sums of so few bytes do not overflow.
    buffer.extend((((two % 65521) << 16) | (one % 65521)).to_be_bytes());
}

impl std::fmt::Debug for Deflater {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Deflater")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_stream_contains_its_parts(
            objects: Vec<[Vec<u8>; 2]>,
            repeats in prop_oneof![Just(0_usize), Just(1), 1_usize..2000],
        ) {
            let mut deflater = Deflater::new(Compression::fast());
            for [head, body] in &objects {
                let body = body.repeat(repeats);
                let mut packed = b"before".to_vec();
                deflater.compress(&[head, &body], &mut packed).unwrap();
                let mut found = Vec::new();
                ZlibDecoder::new(&packed[6..]).read_to_end(&mut found).unwrap();
                prop_assert_eq!(found, [head.as_slice(), &body].concat());
            }
        }
    }
}
