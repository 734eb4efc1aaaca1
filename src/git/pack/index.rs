//! The index of a pack, version 2 (gitformat-pack, "Version 2 pack-*.idx files").

use std::collections::HashMap;
use std::collections::hash_map;
use std::io::{self, Write};

/// The objects of a pack. Takes about a hundred bytes per object.
#[derive(Debug, Default)]
pub(super) struct Index {
    oids: Vec<u8>,
    places: Vec<(u32, u64)>,
    /// The first object for each prefix of eight bytes.
    first: HashMap<u64, u32>,
}

impl Index {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn holds(&self, oid: &[u8]) -> bool {
        let Some(&first) = self.first.get(&start(oid)) else { return false };
        // Two oids with the same prefix do not occur by chance.
        self.oids.chunks_exact(oid.len()).skip(first as usize).any(|held| held == oid)
    }

    /// Adds a new object with the CRC-32 and the offset of its compressed bytes.
    pub(super) fn add(&mut self, oid: &[u8], crc: u32, offset: u64) {
        // A pack cannot hold more objects.
        let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        if let hash_map::Entry::Vacant(place) = self.first.entry(start(oid)) {
            place.insert(number);
        }
        self.oids.extend_from_slice(oid);
        self.places.push((crc, offset));
    }

    pub(super) fn write(self, out: &mut impl Write, pack_checksum: &[u8]) -> io::Result<()> {
        drop(self.first);
        let length = self.oids.len().checked_div(self.places.len()).unwrap_or(1);
        let oids: Vec<&[u8]> = self.oids.chunks_exact(length).collect();
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_unstable_by_key(|&number| oids[number]);

        out.write_all(b"\xfftOc\0\0\0\x02")?;
        let mut below = 0u32;
        let mut sorted = order.iter().map(|&number| oids[number][0]).peekable();
        for first_byte in 0..=u8::MAX {
            while sorted.next_if_eq(&first_byte).is_some() {
                below += 1;
            }
            out.write_all(&below.to_be_bytes())?;
        }
        for &number in &order {
            out.write_all(oids[number])?;
        }
        for &number in &order {
            out.write_all(&self.places[number].0.to_be_bytes())?;
        }
        let mut large = Vec::new();
        for &number in &order {
            let offset = self.places[number].1;
            let short = match u32::try_from(offset) {
                Ok(short) if short >> 31 == 0 => short,
                _ => {
                    large.push(offset);
                    u32::try_from(large.len() - 1).map_err(io::Error::other)? | 1 << 31
                }
            };
            out.write_all(&short.to_be_bytes())?;
        }
        for offset in large {
            out.write_all(&offset.to_be_bytes())?;
        }
        out.write_all(pack_checksum)
    }
}

fn start(oid: &[u8]) -> u64 {
    oid.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
#[path = "../../../tests/unit/git/pack/index.rs"]
mod tests;
