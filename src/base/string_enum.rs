//! Enums whose values are written as one word each.

use thiserror::Error;

use crate::base::error::Diagnostic;

/// A word that names no value of an enum.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("`{text}` is not one of {}", accepted.join(", "))]
pub struct UnknownVariant {
    pub text: String,
    pub accepted: &'static [&'static str],
}

impl Diagnostic for UnknownVariant {}

/// Declares an enum with a word for each value, and implements `Display` and `FromStr` with these words.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[allow(unreachable_pub, reason = "some of these enums are part of the library")]
        pub enum $name {
            $($(#[$variant_doc])* $variant),+
        }

        #[allow(unreachable_pub, reason = "some of these enums are part of the library")]
        impl $name {
            /// The word of each value, in order.
            pub const VALUES: &'static [&'static str] = &[$($word),+];

            /// The word of this value.
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
