//! Finding lines in a file without reading it whole into memory.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::lines::{BOM, find_key, is_blank, order_keys};

/// Lines of a sorted file that have `key`, without their ends; found by bisecting, in some twenty small reads.
///
/// In a file that is not sorted any of them may be missed.
pub(crate) fn lines_with_key(file: &File, key: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut cursor = Cursor { reader: BufReader::with_capacity(4096, file), line: Vec::new() };
    // Lines that start before `low` have lesser keys; those that start at `high` or after do not.
    let (mut low, mut high) = (0, file.metadata()?.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match cursor.first_keyed_line(middle, high)? {
            Some((end, line_key)) if order_keys(Some(&line_key), Some(key)) == Ordering::Less => low = end,
            _ => high = middle,
        }
    }
    let mut found = Vec::new();
    let mut at = low;
    while let Some((end, line_key)) = cursor.first_keyed_line(at, u64::MAX)? {
        if line_key != key {
            break;
        }
        found.push(cursor.line.clone());
        at = end;
    }
    Ok(found)
}

struct Cursor<'f> {
    reader: BufReader<&'f File>,
    /// The line that was read last, without its end.
    line: Vec<u8>,
}

impl Cursor<'_> {
    /// Reads the first line with a key that starts at `from` or after, and before `to`; gives its end and its key.
    fn first_keyed_line(&mut self, from: u64, to: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
        let mut at = from.saturating_sub(1);
        self.reader.seek(SeekFrom::Start(at))?;
        if from > 0 {
            // A line starts behind an end of line; the byte before may be one.
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
            if at == 0 && self.line.starts_with(BOM) {
                self.line.drain(..BOM.len());
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

/// Calls `visit` with the number, from 1, and the bytes of each line that is not blank, without its end.
///
/// Memory stays at a few hundred kilobytes, or the longest line.
pub(crate) fn each_line(file: &File, mut visit: impl FnMut(usize, &[u8])) -> io::Result<()> {
    const CHUNK: usize = 256 * 1024;
    let mut file = file;
    file.seek(SeekFrom::Start(0))?;
    let mut buffer = vec![0; CHUNK];
    let (mut filled, mut number) = (0, 0);
    let mut at_start = true;
    loop {
        if filled == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = match file.read(&mut buffer[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let is_end = read == 0;
        let searched = filled;
        filled += read;
        let mut start = 0;
        if at_start && (is_end || filled >= BOM.len()) {
            at_start = false;
            start = if buffer[..filled].starts_with(BOM) { BOM.len() } else { 0 };
        }
        if at_start {
            continue;
        }
        // What was searched before holds no end of line; before the first one, nothing may have been searched.
        let mut search_from = if number == 0 { start } else { searched };
        while let Some(found) = memchr::memchr(b'\n', &buffer[search_from..filled]) {
            let end = search_from + found;
            number += 1;
            if !is_blank(&buffer[start..end]) {
                visit(number, &buffer[start..end]);
            }
            start = end + 1;
            search_from = start;
        }
        if is_end {
            if start < filled && !is_blank(&buffer[start..filled]) {
                visit(number + 1, &buffer[start..filled]);
            }
            return Ok(());
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
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
                let found = lines_with_key(&file, key.as_bytes()).unwrap();
                assert_eq!(found.len(), 1, "{key}");
                assert_eq!(find_key(&found[0]).as_deref(), Some(key.as_bytes()));
            }
            for key in ["", "a", "k0000", "k050x", "z"] {
                assert!(lines_with_key(&file, key.as_bytes()).unwrap().is_empty(), "{key}");
            }
        }
    }

    #[test]
    fn all_lines_of_one_key_are_found_and_bad_ones_passed_over() {
        let text = format!("{}nonsense\n{}{}\n[]\n{}", line("a", "1"), line("b", "1"), line("b", "2"), line("c", "1"));
        let file = file_of(text.as_bytes());
        assert_eq!(lines_with_key(&file, b"a").unwrap().len(), 1);
        assert_eq!(lines_with_key(&file, b"b").unwrap().len(), 2);
        assert_eq!(lines_with_key(&file, b"c").unwrap().len(), 1);
        assert!(lines_with_key(&file_of(b""), b"a").unwrap().is_empty());
    }

    #[test]
    fn lines_are_visited_with_their_numbers_across_chunks() {
        let long = "x".repeat(600_000);
        let text = format!("\u{feff}a\n\n{long}\nb\r\n{long}c");
        let mut seen = Vec::new();
        each_line(&file_of(text.as_bytes()), |number, line| seen.push((number, line.len()))).unwrap();
        assert_eq!(seen, [(1, 1), (3, 600_000), (4, 2), (5, 600_001)]);
        for (text, count) in [("", 0), ("\n", 0), ("a", 1), ("\u{feff}", 0), ("a\nb", 2), ("\u{feff}\nab\n", 1)] {
            let mut seen = 0;
            each_line(&file_of(text.as_bytes()), |_, _| seen += 1).unwrap();
            assert_eq!(seen, count, "{text:?}");
        }
    }
}
