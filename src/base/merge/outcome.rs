//! What goes into a merge and what comes out.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use super::conflict::Markers;

/// The three versions a merge is made of.
#[derive(Clone, Copy, Debug)]
pub struct MergeInput<'a> {
    /// What both sides come from; empty where there is nothing in common.
    pub base: &'a [u8],
    /// The version that is being merged into.
    pub ours: &'a [u8],
    /// The version that is being merged.
    pub theirs: &'a [u8],
}

/// One of the two versions that are merged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// The version that is being merged into.
    Ours,
    /// The version that is being merged.
    Theirs,
}

impl Side {
    /// The side across.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Ours => Self::Theirs,
            Self::Theirs => Self::Ours,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ours => "ours",
            Self::Theirs => "theirs",
        })
    }
}

/// A merged text, borrowing from the sides what it took from them.
///
/// `N` is what the format has to say beside the text, one value a note; its `Display` is a line for stderr.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged<'a, N> {
    /// The text, in order.
    pub hunks: Vec<Hunk<'a>>,
    /// What the reader should know and the text does not show.
    pub notes: Vec<N>,
}

/// A part of a merged text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hunk<'a> {
    /// Settled.
    Merged(Cow<'a, [u8]>),
    /// Left to a person.
    Conflict(ConflictText<'a>),
}

/// The versions of a part that a merge could not settle; whole lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConflictText<'a> {
    /// As it was in the base.
    pub base: Cow<'a, [u8]>,
    /// As it is in ours.
    pub ours: Cow<'a, [u8]>,
    /// As it is in theirs.
    pub theirs: Cow<'a, [u8]>,
}

impl<N> Merged<'_, N> {
    /// How many conflicts are left to a person.
    #[must_use]
    pub fn conflict_count(&self) -> usize {
        self.hunks.iter().filter(|hunk| matches!(hunk, Hunk::Conflict(_))).count()
    }

    /// Whether everything was settled.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.conflict_count() == 0
    }

    /// The text without the sides it borrows from.
    #[must_use]
    pub fn into_owned(self) -> Merged<'static, N> {
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

    /// Writes the text, with conflicts between `markers`.
    ///
    /// # Errors
    ///
    /// Whatever `out` gives.
    pub fn write(&self, out: &mut impl Write, markers: &Markers) -> io::Result<()> {
        for hunk in &self.hunks {
            match hunk {
                Hunk::Merged(text) => out.write_all(text)?,
                Hunk::Conflict(contested) => markers.write(out, contested)?,
            }
        }
        Ok(())
    }

    /// The text as one value; see [`Self::write`].
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "a vector takes every write")]
    pub fn to_bytes(&self, markers: &Markers) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes, markers).expect("a vector takes every write");
        bytes
    }
}
