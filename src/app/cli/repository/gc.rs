//! `git trace gc`: packs what is kept, through git, and closes gaps in a trace.

use crate::app::cli::{Context, Result};
use crate::base::when::{InvalidWhen, When};

/// Pack refs and objects with `git gc`
///
/// The options are those of `git gc`. Refs keep all data of traces, so `git gc` removes none of it. `--prune=now` waits
/// for the writers of git-trace; as with `git gc`, it is not safe while plain git writes.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct GcArgs {
    /// Run only if git decides that it is needed
    #[arg(long)]
    auto: bool,
    /// Spend more time for a smaller result
    #[arg(long)]
    aggressive: bool,
    /// Remove unreachable objects older than this time, `now`, or `never` [default: git's setting, or two weeks]
    #[arg(long, value_name = "TIME", value_parser = prune, require_equals = true, num_args = 0..=1, default_missing_value = "2.weeks.ago")]
    prune: Option<Prune>,
    /// Keep unreachable objects
    #[arg(long, conflicts_with = "prune")]
    no_prune: bool,
    /// Print nothing
    #[arg(short, long)]
    quiet: bool,
    /// First close the gaps between the positions of the trace, in one commit; ids, order and history stay
    #[arg(long)]
    renumber: bool,
}

#[derive(Clone, Debug)]
enum Prune {
    /// What only git knows: `now` includes objects with a time in the future.
    Word(String),
    At(When),
}

fn prune(text: &str) -> Result<Prune, InvalidWhen> {
    let is_word = matches!(text, "now" | "all" | "never");
    if is_word { Ok(Prune::Word(text.to_owned())) } else { text.parse().map(Prune::At) }
}

impl Prune {
    fn option(&self, context: &Context) -> Result<String> {
        Ok(match self {
            Self::Word(word) => format!("--prune={word}"),
            Self::At(when) => format!("--prune={}", when.before(&context.clock())?),
        })
    }
}

impl GcArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        if self.renumber {
            let name = context.trace_name(None)?;
            let moved = context.open(&name)?.renumber()?;
            if !self.quiet {
                context.ui.note(format!("items of trace `{name}` that moved: {moved}"));
            }
        }
        let flags = [
            (self.auto, "--auto"),
            (self.aggressive, "--aggressive"),
            (self.no_prune, "--no-prune"),
            (self.quiet, "--quiet"),
        ];
        let prune = self.prune.as_ref().map(|prune| prune.option(context)).transpose()?;
        let given = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag.to_owned());
        let options: Vec<String> = given.chain(prune).collect();
        context.repo()?.collect(&options)?;
        Ok(())
    }
}
