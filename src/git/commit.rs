//! Commit objects, as values.

use std::borrow::Cow;

use git2::ObjectFormat;
use memchr::memmem;

use super::ident::Ident;
use super::oid::Oid;

/// A commit that was read.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub oid: Oid,
    pub tree: Oid,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
    /// Who wrote it: `Name <email>`.
    pub author: String,
    /// When the author wrote it, in seconds since 1970.
    pub author_time: i64,
    /// When it was committed, in seconds since 1970.
    pub commit_time: i64,
    /// The complete message; invalid UTF-8 is replaced.
    pub message: String,
}

impl Commit {
    pub(super) fn parse(oid: Oid, bytes: &[u8], format: ObjectFormat) -> Option<Self> {
        // A walk reads thousands of commits. Checking UTF-8 is much faster than replacing invalid UTF-8.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        let (header, message) = match memmem::find(text.as_bytes(), b"\n\n") {
            Some(end) => (&text[..end], &text[end + 2..]),
            None => (&*text, ""),
        };
        let (mut tree, mut parents) = (None, Vec::new());
        let (mut author, mut author_time, mut commit_time) = (String::new(), 0, 0);
        for line in header.lines() {
            let Some((key, value)) = line.split_once(' ') else { continue };
            match key {
                "tree" => tree = Some(Oid::parse(value, format)?),
                "parent" => parents.push(Oid::parse(value, format)?),
                "author" => (author, author_time) = split_ident(value),
                "committer" => commit_time = split_ident(value).1,
                _ => {}
            }
        }
        Some(Self { oid, tree: tree?, parents, author, author_time, commit_time, message: message.to_owned() })
    }

    /// The first line of the message.
    pub(crate) fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// `Name <email> 1700000000 +0100`
fn split_ident(value: &str) -> (String, i64) {
    let Some(end) = value.rfind('>') else { return (value.to_owned(), 0) };
    let seconds = value[end + 1..].split_ascii_whitespace().next().and_then(|digits| digits.parse().ok());
    (value[..=end].to_owned(), seconds.unwrap_or(0))
}

#[derive(Debug)]
pub(crate) struct NewCommit<'a> {
    pub tree: Oid,
    /// Its parents, in order.
    pub parents: &'a [Oid],
    pub author: &'a Ident,
    pub committer: &'a Ident,
    pub message: &'a str,
}

impl NewCommit<'_> {
    pub(crate) fn render(&self) -> String {
        let mut text = format!("tree {}\n", self.tree);
        for parent in self.parents {
            text.extend(["parent ", &parent.to_string(), "\n"]);
        }
        text + &format!("author {}\ncommitter {}\n\n{}", self.author, self.committer, self.message)
    }
}
