//! Reading: looking up one key, and listing.
//!
//! A file of up to 1 MiB is parsed completely, and every invalid line is reported. In a larger file, binary search finds a
//! key without reading the rest. If the search fails, the lookup scans the file, because a person may have edited it and left
//! it unsorted. A list always scans.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::lines::{find_key, is_blank, looks_valid, order_keys, split_bom};
use super::{LARGE_FILE_LEN, Store, StoreError, StoreFile};
use crate::base::bounded;
use crate::base::time::Time;
use crate::memory::breadcrumb::record::keep_winners;
use crate::memory::breadcrumb::{InvalidLine, Query, Record};

/// An invalid line that was skipped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SkippedLine {
    pub file: StoreFile,
    pub invalid: InvalidLine,
}

/// The result of looking up one key.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// `None` also if the record expired.
    pub record: Option<Record<'static>>,
    pub skipped_lines: Vec<SkippedLine>,
}

/// The result of a query.
#[derive(Debug)]
pub(crate) struct Listing {
    /// In the order and up to the limit of the query.
    pub records: Vec<Record<'static>>,
    /// The number of matching records, ignoring the limit.
    pub total: usize,
    pub skipped_lines: Vec<SkippedLine>,
}

impl Store {
    pub(crate) fn lookup(&self, key: &str, now: Time) -> Result<Lookup, StoreError> {
        let mut reader = Reader::default();
        // A person may have put the record into the wrong file, so look into both.
        for file in [StoreFile::of_key(key), StoreFile::of_key(key).other()] {
            self.read_file(file, |opened| reader.look_up(file, opened, key))?;
            if !reader.records.is_empty() {
                break;
            }
        }
        keep_winners(&mut reader.records);
        let record = reader.records.pop().filter(|record| !record.is_expired(now));
        Ok(Lookup { record, skipped_lines: reader.skipped_lines })
    }

    pub(crate) fn list(&self, query: &Query, now: Time) -> Result<Listing, StoreError> {
        let mut reader = Reader::default();
        for file in StoreFile::ALL {
            self.read_file(file, |opened| reader.scan(file, opened, |key| key.starts_with(query.prefix.as_bytes())))?;
        }
        let Reader { mut records, skipped_lines } = reader;
        keep_winners(&mut records);
        records.retain(|record| query.matches(record, now));
        let total = records.len();
        query.sort_and_truncate(&mut records);
        Ok(Listing { records, total, skipped_lines })
    }

    fn read_file(&self, file: StoreFile, read: impl FnOnce(&File) -> io::Result<()>) -> Result<(), StoreError> {
        let path = self.path(file);
        match File::open(&path).and_then(|file| read(&file)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result.map_err(|source| StoreError::Read { path, source }),
        }
    }
}

#[derive(Default)]
struct Reader {
    records: Vec<Record<'static>>,
    skipped_lines: Vec<SkippedLine>,
}

impl Reader {
    fn look_up(&mut self, file: StoreFile, opened: &File, key: &str) -> io::Result<()> {
        if opened.metadata()?.len() > LARGE_FILE_LEN {
            for line in search(opened, key.as_bytes())? {
                self.records.extend(Record::parse(&line).ok().map(Record::into_owned));
            }
            if !self.records.is_empty() {
                return Ok(());
            }
        }
        self.scan(file, opened, |found| found == key.as_bytes())
    }

    /// Reads the records whose key `is_wanted`. In a large file, lines with other keys are not parsed.
    fn scan(&mut self, file: StoreFile, opened: &File, is_wanted: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        if opened.metadata()?.len() > LARGE_FILE_LEN {
            return for_each_line(opened, |number, line| {
                if !looks_valid(line) || find_key(line).is_some_and(|key| is_wanted(&key)) {
                    self.read_line(file, number, line, &is_wanted);
                }
            });
        }
        let text = bounded::read_opened(opened)?;
        for (index, line) in split_bom(&text).1.split(|b| *b == b'\n').enumerate().filter(|(_, line)| !is_blank(line)) {
            self.read_line(file, index + 1, line, &is_wanted);
        }
        Ok(())
    }

    fn read_line(&mut self, file: StoreFile, number: usize, line: &[u8], is_wanted: impl Fn(&[u8]) -> bool) {
        match Record::parse(line) {
            Ok(record) if is_wanted(record.key.as_bytes()) => self.records.push(record.into_owned()),
            Ok(_) => {}
            Err(reason) => {
                self.skipped_lines.push(SkippedLine { file, invalid: InvalidLine { line: number, reason } });
            }
        }
    }
}

/// Finds the lines with `key` by binary search, in about twenty small reads. In an unsorted file it may miss them.
fn search(file: &File, key: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut cursor = Cursor { reader: BufReader::with_capacity(4096, file), line: Vec::new() };
    // Lines that start before `low` have lesser keys. Lines that start at or after `high` do not.
    let (mut low, mut high) = (0, file.metadata()?.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match cursor.first_keyed_line(middle, high)? {
            Some((end, line_key)) if order_keys(Some(&line_key), Some(key)) == Ordering::Less => low = end,
            _ => high = middle,
        }
    }
    let mut found = Vec::new();
    while let Some((end, line_key)) = cursor.first_keyed_line(low, u64::MAX)? {
        if line_key != key {
            break;
        }
        found.push(cursor.line.clone());
        low = end;
    }
    Ok(found)
}

struct Cursor<'f> {
    reader: BufReader<&'f File>,
    /// The line that was read last, without its line ending.
    line: Vec<u8>,
}

impl Cursor<'_> {
    /// Reads the first line with a key that starts at or after `from`, and before `to`; returns its end and its key.
    fn first_keyed_line(&mut self, from: u64, to: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
        let mut at = from.saturating_sub(1);
        self.reader.seek(SeekFrom::Start(at))?;
        if from > 0 {
            // Start one byte early: if that byte is a line feed, a line starts at `from`.
            at += self.reader.skip_until(b'\n')? as u64;
        }
        while at < to {
            self.line.clear();
            let read = self.reader.read_until(b'\n', &mut self.line)? as u64;
            if read == 0 {
                return Ok(None);
            }
            if self.line.ends_with(b"\n") {
                self.line.pop();
            }
            if at == 0 {
                self.line = split_bom(&self.line).1.to_vec();
            }
            at += read;
            if let Some(key) = find_key(&self.line) {
                let key = key.into_owned();
                return Ok(Some((at, key)));
            }
        }
        Ok(None)
    }
}

/// Calls `visit` with the number, from 1, and the bytes of each line that is not blank, without its `\n`.
///
/// Memory use is a few hundred kilobytes, or the longest line.
fn for_each_line(file: &File, mut visit: impl FnMut(usize, &[u8])) -> io::Result<()> {
    const CHUNK: usize = 256 * 1024;
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    let mut number = 0;
    let mut end_line = |line: &[u8]| {
        number += 1;
        let line = if number == 1 { split_bom(line).1 } else { line };
        if !is_blank(line) {
            visit(number, line);
        }
    };
    let mut buffer = vec![0; CHUNK];
    // The buffer starts with a line that is not complete yet, of this length.
    let mut pending = 0;
    loop {
        if pending == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = match file.read(&mut buffer[pending..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            if pending > 0 {
                end_line(&buffer[..pending]);
            }
            return Ok(());
        }
        let filled = pending + read;
        let mut start = 0;
        for offset in memchr::memchr_iter(b'\n', &buffer[pending..filled]) {
            end_line(&buffer[start..pending + offset]);
            start = pending + offset + 1;
        }
        buffer.copy_within(start..filled, 0);
        pending = filled - start;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file_of(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn line(key: &str, value: &str) -> String {
        format!("{{\"key\":\"{key}\",\"value\":\"{value}\"}}\n")
    }

    #[test]
    fn every_key_of_a_sorted_file_is_found() {
        for (mark, ending) in [("", "\n"), ("\u{feff}", "\r\n"), ("", "\n\n")] {
            let keys: Vec<String> = (0..97).map(|n| format!("k{n:03}")).collect();
            let long = "x".repeat(9000);
            let mut text = mark.to_owned();
            for (n, key) in keys.iter().enumerate() {
                text += line(key, if n % 10 == 3 { &long } else { "v" }).trim_end();
                text += ending;
            }
            let file = file_of(text.trim_end().as_bytes());
            for key in &keys {
                let found = search(&file, key.as_bytes()).unwrap();
                assert_eq!(found.len(), 1, "{key}");
                assert_eq!(find_key(&found[0]).as_deref(), Some(key.as_bytes()));
            }
            for key in ["", "a", "k0000", "k050x", "z"] {
                assert!(search(&file, key.as_bytes()).unwrap().is_empty(), "{key}");
            }
        }
    }

    #[test]
    fn all_lines_of_one_key_are_found_and_invalid_ones_skipped() {
        let text = format!("{}nonsense\n{}{}\n[]\n{}", line("a", "1"), line("b", "1"), line("b", "2"), line("c", "1"));
        let file = file_of(text.as_bytes());
        assert_eq!(search(&file, b"a").unwrap().len(), 1);
        assert_eq!(search(&file, b"b").unwrap().len(), 2);
        assert_eq!(search(&file, b"c").unwrap().len(), 1);
        assert!(search(&file_of(b""), b"a").unwrap().is_empty());
    }

    #[test]
    fn lines_are_visited_with_their_numbers_across_chunks() {
        let long = "x".repeat(600_000);
        let text = format!("\u{feff}a\n\n{long}\nb\r\n{long}c");
        let mut seen = Vec::new();
        for_each_line(&file_of(text.as_bytes()), |number, line| seen.push((number, line.len()))).unwrap();
        assert_eq!(seen, [(1, 1), (3, 600_000), (4, 2), (5, 600_001)]);
        for (text, count) in [("", 0), ("\n", 0), ("a", 1), ("\u{feff}", 0), ("a\nb", 2), ("\u{feff}\nab\n", 1)] {
            let mut seen = 0;
            for_each_line(&file_of(text.as_bytes()), |_, _| seen += 1).unwrap();
            assert_eq!(seen, count, "{text:?}");
        }
    }
}
