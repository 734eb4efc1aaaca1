//! `git trace gc`: packs what is kept, through git, and closes gaps in a trace.

use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::base::error::Result;
use crate::trace::change::renumber::renumber;

/// Pack refs and objects, through `git gc`
///
/// The options are those of `git gc`. All that belongs to traces hangs on refs, so nothing of it is removed. As with `git gc`,
/// `--prune=now` wants nobody else to be writing.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct GcArgs {
    /// Only if git finds that it is due
    #[arg(long)]
    auto: bool,

    /// Take longer for a smaller result
    #[arg(long)]
    aggressive: bool,

    /// Remove what nothing leads to if it is older than this [default: as git is set up, two weeks]
    #[arg(long, value_name = "DATE", require_equals = true, num_args = 0..=1, default_missing_value = "2.weeks.ago")]
    prune: Option<String>,

    /// Remove nothing
    #[arg(long, conflicts_with = "prune")]
    no_prune: bool,

    /// Say nothing
    #[arg(short, long)]
    quiet: bool,

    /// Before that, close the gaps between the trace's positions, in one commit; ids, order and history stay
    #[arg(long)]
    renumber: bool,
}

impl GcArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        if self.renumber {
            let name = context.trace_name(None)?;
            let signature = context.signature()?;
            let moved = renumber(context.repo()?, &name, &signature, context.encoding()?)?;
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
        Ok(ExitStatus::Success)
    }
}
