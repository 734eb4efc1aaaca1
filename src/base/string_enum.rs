//! Enums that are written as one word each.

use thiserror::Error;

use crate::base::error::Diagnostic;

/// Why a text is none of the words that are accepted.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{text}` is not one of {}", accepted.join(", "))]
pub struct UnknownVariant {
    /// The text as it was given.
    pub text: String,
    /// What would have done.
    pub accepted: &'static [&'static str],
}

impl Diagnostic for UnknownVariant {}

/// Declares an enum whose variants are written as one word, with its text forms both ways.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        impl $name {
            /// Every value's word, in order.
            pub const VALUES: &'static [&'static str] = &[$($word),+];

            /// The word it is written as.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::base::string_enum::UnknownVariant;

            fn from_str(text: &str) -> Result<Self, $crate::base::string_enum::UnknownVariant> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::base::string_enum::UnknownVariant { text: text.to_owned(), accepted: Self::VALUES }),
                }
            }
        }
    };
}

pub(crate) use string_enum;
