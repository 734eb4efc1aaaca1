//! Arguments that several commands share.

pub(crate) mod conflicts;
pub(crate) mod content;
pub(crate) mod items;
pub(crate) mod traces;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::Context;
use crate::base::string_enum::UnknownVariant;
use crate::transcript::format::Format;

/// Parses one of these words, which clap lists in help and errors.
pub(crate) fn one_of<T>(words: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names = PossibleValuesParser::new(words.iter().map(|(name, _)| *name));
    let value = |name: String| words.iter().find(|(word, _)| *word == name).map(|(_, value)| *value);
    names.try_map(move |name| value(name).ok_or("unknown word"))
}

/// Parses the name of an agent. The error lists those that can do what the flag is for; the command refuses the others.
pub(crate) fn agent(
    able: &'static [&'static str],
) -> impl Fn(&str) -> Result<Format, UnknownVariant> + Clone + Send + Sync + 'static {
    move |name| name.parse().map_err(|unknown| UnknownVariant { accepted: able, ..unknown })
}

/// A flag that scripts give to git's commands of the same names.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct QuietArgs {
    /// Print only warnings and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// How a list is read by programs.
#[derive(clap::Args, Debug)]
pub(crate) struct NulArgs {
    /// End each entry with NUL instead of a newline, and leave out headings and totals
    #[arg(short = 'z')]
    nul: bool,
}

impl NulArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.nul
    }

    /// The answer is a list: it goes through the pager.
    pub(crate) fn apply(&self, context: &Context) {
        if context.ui.is_terminal() {
            // Its settings name the pager and the colors. Without a repository, there are neither.
            let _ = context.repo();
            context.ui.page(true);
        }
        if self.nul {
            context.ui.end_with_nul();
        }
    }
}

impl QuietArgs {
    pub(crate) fn apply(&self, context: &Context) {
        if self.quiet {
            context.ui.silence();
        }
    }
}
