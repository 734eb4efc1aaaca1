//! The names of folders that lend objects, as git writes them: in `info/alternates`, one per line, and in
//! `GIT_ALTERNATE_OBJECT_DIRECTORIES`. A name in double quotes is escaped as in C. A name after `#` does not count.

use std::path::PathBuf;

use super::process::path_of;

/// Yields each name, and whether it was quoted.
pub(super) struct Alternates<'t> {
    pub(super) rest: &'t [u8],
    pub(super) separator: u8,
}

impl Iterator for Alternates<'_> {
    type Item = (PathBuf, bool);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let quoted = unquoted(self.rest);
            let is_quoted = quoted.is_some();
            let end = memchr::memchr(self.separator, self.rest).unwrap_or(self.rest.len());
            let (name, end) = quoted.unwrap_or_else(|| (self.rest[..end].to_vec(), end));
            let is_comment = self.rest.starts_with(b"#");
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !is_comment && !name.is_empty() {
                return Some((path_of(&name), is_quoted));
            }
        }
        None
    }
}

/// The text in double quotes at the start, and its length with the quotes; `None` if there is none.
fn unquoted(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut rest = text.strip_prefix(b"\"")?.iter().copied();
    let mut name = Vec::new();
    loop {
        name.push(match rest.next()? {
            b'"' => return Some((name, text.len() - rest.len())),
            b'\\' => match rest.next()? {
                b'a' => 7,
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 11,
                same @ (b'\\' | b'"') => same,
                first @ b'0'..=b'3' => {
                    let mut digit =
                        || rest.next().filter(|digit| matches!(digit, b'0'..=b'7')).map(|digit| digit - b'0');
                    (first - b'0') * 64 + digit()? * 8 + digit()?
                }
                _ => return None,
            },
            plain => plain,
        });
    }
}

#[cfg(test)]
#[path = "../../tests/unit/git/alternates.rs"]
mod tests;
