//! What goes into a merge and what comes out.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use super::conflict::Markers;

/// The three versions a merge is made of.
#[derive(Clone, Copy, Debug)]
pub struct Sides<'a> {
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
    pub pieces: Vec<Piece<'a>>,
    /// What the reader should know and the text does not show.
    pub notes: Vec<N>,
}

/// A part of a merged text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// Settled.
    Text(Cow<'a, [u8]>),
    /// Left to a person.
    Conflict(Contested<'a>),
}

/// The versions of a part that a merge could not settle; whole lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contested<'a> {
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
        self.pieces.iter().filter(|piece| matches!(piece, Piece::Conflict(_))).count()
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
        let own = |piece| match piece {
            Piece::Text(text) => Piece::Text(owned(text)),
            Piece::Conflict(Contested { base, ours, theirs }) => {
                Piece::Conflict(Contested { base: owned(base), ours: owned(ours), theirs: owned(theirs) })
            }
        };
        Merged { pieces: self.pieces.into_iter().map(own).collect(), notes: self.notes }
    }

    /// Writes the text, with conflicts between `markers`.
    ///
    /// # Errors
    ///
    /// Whatever `out` gives.
    pub fn write(&self, out: &mut impl Write, markers: &Markers) -> io::Result<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.write_all(text)?,
                Piece::Conflict(contested) => markers.write(out, contested)?,
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
