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
    /// `Name <email>` of the committer.
    pub committer: String,
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
        let (mut author, mut author_time) = (String::new(), 0);
        let (mut committer, mut commit_time) = (String::new(), 0);
        for (number, line) in header.split('\n').enumerate() {
            let Some((key, value)) = line.split_once(' ') else { continue };
            match key {
                "tree" if number == 0 => tree = Some(Oid::parse(value, format)?),
                "parent" if number == 1 + parents.len() => parents.push(Oid::parse(value, format)?),
                // Git does not read them elsewhere.
                "tree" | "parent" => return None,
                "author" => (author, author_time) = split_ident(value),
                "committer" => (committer, commit_time) = split_ident(value),
                _ => {}
            }
        }
        Some(Self {
            oid,
            tree: tree?,
            parents,
            author,
            author_time,
            committer,
            commit_time,
            message: message.to_owned(),
        })
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

/// A commit object as bytes, to be written again with another tree, other parents, or another message.
///
/// All other headers stay, except signatures, which would no longer be valid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RawCommit {
    pub(crate) tree: Oid,
    pub(crate) parents: Vec<Oid>,
    /// The other header lines, each with its continuation lines.
    headers: Vec<Vec<u8>>,
    pub(crate) is_signed: bool,
    pub(crate) message: Vec<u8>,
}

impl RawCommit {
    pub(super) fn parse(bytes: &[u8], format: ObjectFormat) -> Option<Self> {
        let end = memmem::find(bytes, b"\n\n").unwrap_or(bytes.len());
        let (mut tree, mut parents, mut headers) = (None, Vec::new(), Vec::<Vec<u8>>::new());
        for (number, line) in bytes[..end].split(|byte| *byte == b'\n').enumerate() {
            let oid = |value: &[u8]| Oid::parse(std::str::from_utf8(value).ok()?, format);
            if let Some(value) = line.strip_prefix(b"tree ") {
                tree = Some(oid(value).filter(|_| number == 0)?);
            } else if let Some(value) = line.strip_prefix(b"parent ") {
                parents.push(oid(value).filter(|_| number == 1 + parents.len())?);
            } else if let (true, Some(header)) = (line.starts_with(b" "), headers.last_mut()) {
                header.extend([b"\n", line].concat());
            } else {
                headers.push(line.to_vec());
            }
        }
        let count = headers.len();
        headers.retain(|header| !header.starts_with(b"gpgsig"));
        let message = bytes.get(end + 2..).unwrap_or_default().to_vec();
        Some(Self { tree: tree?, parents, is_signed: headers.len() < count, headers, message })
    }

    /// Replaces the message by one in UTF-8.
    pub(crate) fn set_message(&mut self, message: String) {
        self.headers.retain(|header| !header.starts_with(b"encoding "));
        self.message = message.into_bytes();
    }

    /// Whether all but the trees, the parents, the messages and their encodings, and the signatures is the same.
    pub(crate) fn has_headers_of(&self, other: &Self) -> bool {
        let kept = |commit: &Self| -> Vec<Vec<u8>> {
            commit.headers.iter().filter(|header| !header.starts_with(b"encoding ")).cloned().collect()
        };
        kept(self) == kept(other)
    }

    pub(super) fn render(&self) -> Vec<u8> {
        let mut bytes = format!("tree {}\n", self.tree).into_bytes();
        for parent in &self.parents {
            bytes.extend(format!("parent {parent}\n").bytes());
        }
        for header in &self.headers {
            bytes.extend([header, &b"\n"[..]].concat());
        }
        [&bytes, &b"\n"[..], &self.message].concat()
    }

    /// The same commit for git to sign; `None` if it is not text or its author is not in git's form.
    pub(super) fn with_idents<T>(&self, sign: impl FnOnce(&NewCommit<'_>) -> T) -> Option<T> {
        let ident = |key: &str| {
            let mut headers = self.headers.iter().filter_map(|header| std::str::from_utf8(header).ok());
            headers.find_map(|header| Ident::parse(header.strip_prefix(key)?))
        };
        let (author, committer) = (ident("author ")?, ident("committer ")?);
        let message = std::str::from_utf8(&self.message).ok()?;
        let (author, committer) = (&author, &committer);
        Some(sign(&NewCommit { tree: self.tree, parents: &self.parents, author, committer, message }))
    }
}
