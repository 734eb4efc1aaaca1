//! The input and the result of a merge.

use std::borrow::Cow;
use std::io::{self, Write};

use super::conflict::Markers;
use crate::base::string_enum::string_enum;

/// The three versions of a file. The base is empty where the sides have no common ancestor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MergeInput<'a> {
    pub base: &'a [u8],
    pub ours: &'a [u8],
    pub theirs: &'a [u8],
}

string_enum! {
    Side { Ours = "ours", Theirs = "theirs" }
}

impl Side {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Ours => Self::Theirs,
            Self::Theirs => Self::Ours,
        }
    }
}

/// A merged text. It borrows from the input.
///
/// `N` is the format's type for notes: facts about the merge that the text does not show. Its `Display` is one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Merged<'a, N> {
    pub(crate) hunks: Vec<Hunk<'a>>,
    pub(crate) notes: Vec<N>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Hunk<'a> {
    Merged(Cow<'a, [u8]>),
    Conflict(ConflictText<'a>),
}

/// The three versions of a conflict, in complete lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ConflictText<'a> {
    pub base: Cow<'a, [u8]>,
    pub ours: Cow<'a, [u8]>,
    pub theirs: Cow<'a, [u8]>,
}

impl<'a, N> Merged<'a, N> {
    /// A merge that needs no work, because only one side changed the file or both changed it alike.
    pub(crate) fn trivial(MergeInput { base, ours, theirs }: MergeInput<'a>) -> Option<Self> {
        let text = if ours == theirs || theirs == base {
            ours
        } else if ours == base {
            theirs
        } else {
            return None;
        };
        Some(Self { hunks: vec![Hunk::Merged(Cow::Borrowed(text))], notes: Vec::new() })
    }

    pub(crate) fn conflict_count(&self) -> usize {
        self.hunks.iter().filter(|hunk| matches!(hunk, Hunk::Conflict(_))).count()
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.conflict_count() == 0
    }

    pub(crate) fn write(&self, out: &mut impl Write, markers: &Markers) -> io::Result<()> {
        for hunk in &self.hunks {
            match hunk {
                Hunk::Merged(text) => out.write_all(text)?,
                Hunk::Conflict(conflict) => markers.write(out, conflict)?,
            }
        }
        Ok(())
    }

    pub(crate) fn to_bytes(&self, markers: &Markers) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes, markers).expect("a write to a vector cannot fail");
        bytes
    }

    pub(crate) fn into_owned(self) -> Merged<'static, N> {
        fn owned(text: Cow<'_, [u8]>) -> Cow<'static, [u8]> {
            Cow::Owned(text.into_owned())
        }
        let own = |hunk| match hunk {
            Hunk::Merged(text) => Hunk::Merged(owned(text)),
            Hunk::Conflict(ConflictText { base, ours, theirs }) => {
                Hunk::Conflict(ConflictText { base: owned(base), ours: owned(ours), theirs: owned(theirs) })
            }
        };
        Merged { hunks: self.hunks.into_iter().map(own).collect(), notes: self.notes }
    }
}
