//! `git trace gc`: packs what is kept, through git, and closes gaps in a trace.

use crate::app::cli::{Context, Result};

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
    /// Remove unreachable objects older than this [default: git's setting, or two weeks]
    #[arg(long, value_name = "DATE", require_equals = true, num_args = 0..=1, default_missing_value = "2.weeks.ago")]
    prune: Option<String>,
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
        let given = flags.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag.to_owned());
        let options: Vec<String> = given.chain(self.prune.as_ref().map(|date| format!("--prune={date}"))).collect();
        context.repo()?.collect(&options)?;
        Ok(())
    }
}
