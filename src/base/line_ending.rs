//! The two kinds of line endings, and texts that mix them.

use std::borrow::Cow;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineEnding {
    Lf,
    CrLf,
}

impl LineEnding {
    /// The ending that most lines have; `None` if there is none.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let (mut all, mut crlf) = (0_usize, 0_usize);
        for end in memchr::memchr_iter(b'\n', text) {
            all += 1;
            crlf += usize::from(text[..end].ends_with(b"\r"));
        }
        (all > 0).then_some(if crlf * 2 > all { Self::CrLf } else { Self::Lf })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
        }
    }

    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }

    fn is_of(self, line: &[u8]) -> bool {
        line.ends_with(b"\n") && line.ends_with(b"\r\n") == (self == Self::CrLf)
    }

    /// The number of lines that end with the other ending.
    pub(crate) fn count_others(self, text: &[u8]) -> usize {
        text.split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n") && !self.is_of(line)).count()
    }

    /// The text with this ending on every line, also on the last one.
    pub(crate) fn put_on(self, text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        let lines = || text.split_inclusive(|b| *b == b'\n');
        if lines().all(|line| self.is_of(line)) {
            return text;
        }
        let mut put = Vec::with_capacity(text.len() + 16);
        for line in lines() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            put.extend(&line[..line.iter().rposition(|b| *b != b'\r').map_or(0, |last| last + 1)]);
            put.extend(self.bytes());
        }
        Cow::Owned(put)
    }
}
