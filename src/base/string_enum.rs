//! Enums whose values are written as one word each.

use thiserror::Error;

use crate::base::error::Diagnostic;

#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{}one of {}", describe(noun, text), accepted.join(", "))]
pub struct UnknownVariant {
    pub noun: &'static str,
    pub text: String,
    pub accepted: &'static [&'static str],
}

impl Diagnostic for UnknownVariant {}

fn describe(noun: &str, text: &str) -> String {
    if noun.is_empty() { format!("`{text}` is not ") } else { format!("unknown {noun} `{text}`: expected ") }
}

/// Declares an enum with a word for each value, and implements `Display` and `FromStr` with these words. An error may call the
/// value by a noun.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident $(($noun:literal))? { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
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
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::base::string_enum::UnknownVariant;

            fn from_str(text: &str) -> Result<Self, $crate::base::string_enum::UnknownVariant> {
                let accepted = Self::VALUES;
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::base::string_enum::UnknownVariant { noun: concat!($($noun)?), text: text.to_owned(), accepted }),
                }
            }
        }
    };
}

pub(crate) use string_enum;
