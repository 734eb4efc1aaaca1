//! Names of items as users write them: `#7`, `#7..#9`, `#7..`, `3f9a`, `@3`, `@3..@5`, `@-1`.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// One item, the items of a turn or commit, or a range, which includes both ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ItemSpec {
    One(ItemName),
    /// Without an end, the range extends to the last item.
    Range(ItemName, Option<ItemName>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ItemName {
    Position(u32),
    /// From 1; negative numbers count from the last turn.
    Turn(i64),
    /// An id, its first digits, or a commit.
    Other(String),
}

impl FromStr for ItemSpec {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let Some((first, last)) = text.split_once("..").filter(|(first, _)| !first.is_empty()) else {
            return Ok(Self::One(ItemName::of(text)));
        };
        Ok(Self::Range(ItemName::of(first), (!last.is_empty()).then(|| ItemName::of(last))))
    }
}

impl ItemName {
    fn of(text: &str) -> Self {
        // A plus sign or leading zeros are not ours.
        let number = |digits: &str| digits.parse::<i64>().ok().filter(|number| number.to_string() == digits);
        let position = text.strip_prefix('#').and_then(number).and_then(|number| number.try_into().ok());
        let turn = text.strip_prefix('@').and_then(number);
        match (position, turn) {
            (Some(position), _) => Self::Position(position),
            (_, Some(turn)) => Self::Turn(turn),
            _ => Self::Other(text.to_owned()),
        }
    }
}

impl fmt::Display for ItemSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(name) => name.fmt(f),
            Self::Range(first, Some(last)) => write!(f, "{first}..{last}"),
            Self::Range(first, None) => write!(f, "{first}.."),
        }
    }
}

impl fmt::Display for ItemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position(position) => write!(f, "#{position}"),
            Self::Turn(turn) => write!(f, "@{turn}"),
            Self::Other(name) => f.write_str(name),
        }
    }
}
