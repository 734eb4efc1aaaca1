//! `git trace reset`: moves a trace to another state of its history, or to a state of another trace.

use crate::app::cli::flags::QuietArgs;
use crate::app::cli::{Context, Result, Values, escaped, json};
use crate::git::short_oid;
use crate::trace::change::undo::can_return_to;
use crate::trace::store::resolve::state;

/// Reset the current trace to another state
///
/// `undo` restores the old tip, which `git gc` keeps as long as `op log` lists the reset. Priorities belong to items and stay as
/// they are.
#[derive(clap::Args, Debug)]
pub(crate) struct ResetArgs {
    /// Trace, commit, item (the commit that last changed it), turn (@3, as it ended), or time, such as `2 hours ago`
    #[arg(add = Values::States)]
    state: String,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    quiet: QuietArgs,
}

impl ResetArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        self.quiet.apply(context);
        let repo = context.repo()?;
        let name = context.trace_name(None)?;
        let to = state(repo, &name, &self.state)?.tip;
        let moved = context.open(&name)?.reset(to.commit.oid, &self.state)?;
        let (from, now) = moved.unwrap_or((to.commit.oid, to.commit.oid));
        if self.json {
            let (from, commit) = (from.to_string(), now.to_string());
            return context.ui.json(&json!({ "trace": name.as_str(), "from": from, "commit": commit }));
        }
        let oid = context.ui.oid(now);
        let subject = escaped(to.commit.subject());
        let line = match moved {
            Some(_) => {
                if !self.quiet.quiet {
                    let undo = if can_return_to(repo, from) {
                        "`git trace undo` goes back there"
                    } else {
                        "that commit is damaged, so `undo` cannot go back there"
                    };
                    context.ui.note(format!("it was at {}: {undo}", short_oid(from)));
                }
                format!("[{name}] is now at {subject} {oid}")
            }
            None => format!("[{name}] is there already: {subject} {oid}"),
        };
        writeln!(context.ui, "{line}")
    }
}
