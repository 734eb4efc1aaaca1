//! `git trace gc`: packs what is kept, through git, and closes gaps in a trace.

use crate::app::cli::{Context, Result, escaped, minute};
use crate::base::when::{InvalidWhen, When};
use crate::trace::change::branch::delete_all;
use crate::trace::store::settings;
use crate::transcript::import::expired::{Expired, expired};

/// Pack refs and objects, and delete old recorded sessions
///
/// With `trace.retain`, such as `90 days`, it first deletes recorded sessions whose last change is older, and names each. A session
/// that no remote has is deleted only with `--unpushed`. The current trace, and traces that you changed after
/// their last import, renamed, or branched off, stay.
/// `git trace undo` brings back what was deleted.
///
/// The options are those of `git gc`. Refs keep all data of traces, so `git gc` removes none of it. With `--prune=now` or a short
/// `gc.pruneExpire`, it waits for the writers of git-trace; as with `git gc`, this is not safe while plain git writes.
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
    /// Also delete old recorded sessions that no remote has
    #[arg(long)]
    unpushed: bool,
    /// Only print which recorded sessions are old enough for `trace.retain`
    #[arg(long, conflicts_with_all = ["auto", "aggressive", "prune", "no_prune", "quiet", "renumber"])]
    dry_run: bool,
    /// Print only the deleted traces
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
        // Git runs `gc --auto` unasked.
        if !self.auto {
            self.expire(context)?;
        }
        if self.dry_run {
            return Ok(());
        }
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
    /// Deletes the recorded sessions that are older than `trace.retain`.
    fn expire(&self, context: &Context) -> Result<()> {
        let repo = context.repo()?;
        let Some(since) = settings::retained_since(repo, &context.clock())? else {
            if self.dry_run {
                context.ui.note("`trace.retain` is not set, so every recorded session is kept");
            }
            return Ok(());
        };
        let (gone, kept): (Vec<_>, Vec<_>) =
            expired(repo, since)?.into_iter().partition(|expired| expired.is_pushed || self.unpushed);
        let mut changed = Vec::new();
        if !self.dry_run && !gone.is_empty() {
            let traces: Vec<_> = gone.iter().map(|expired| (&expired.name, expired.tip)).collect();
            changed = delete_all(repo, &traces, &context.mover())?;
        }
        for Expired { name, at, is_pushed, .. } in &gone {
            let done = if self.dry_run {
                "would delete"
            } else if changed.contains(&name) {
                "kept changed"
            } else {
                "Deleted"
            };
            let suffix = if *is_pushed { "" } else { ", which no remote has" };
            writeln!(context.ui, "{done} trace `{}` of {}{suffix}", escaped(name.as_str()), minute(*at))?;
        }
        if !gone.is_empty() && !self.dry_run {
            context.ui.note("`trace.retain` deleted old recorded sessions; `git trace undo` brings them back");
        }
        for Expired { name, at, .. } in &kept {
            writeln!(context.ui, "kept trace `{}` of {}, which no remote has", escaped(name.as_str()), minute(*at))?;
        }
        if !kept.is_empty() {
            context.ui.note("hint: push these sessions, or delete them with `git trace gc --unpushed`");
        }
        Ok(())
    }
}
