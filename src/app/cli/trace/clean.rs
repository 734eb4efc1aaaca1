//! `git trace clean`: cuts what a session no longer needs.

use std::io::{self, IsTerminal as _};
use std::mem::ManuallyDrop;

use crate::app::cli::flags::content::{Editor, edit};
use crate::app::cli::{Context, Result, Values};
use crate::app::screen::{self, Decision};
use crate::app::ui::grouped;
use crate::base::escape::shell_word;
use crate::clean::{Choice, Cleaned, Parameters, Plan, Session, branch_name};
use crate::trace::TraceName;
use crate::trace::query::size::ContextSize;
use crate::trace::store::settings::cache_prices;

/// Cut what a session no longer needs, on a new branch
///
/// Presets select items, such as old results and reads of files that were edited later, and put stubs in their place. What the
/// user and the model said, instructions, pinned items, unresolved errors, and the newest steps stay. The result is one commit
/// on the new trace `<trace>.clean`, and `git trace undo` reverses it.
///
/// On a terminal, a full-screen view opens to change the selection: `?` lists its keys. Elsewhere nothing is written unless
/// --yes is given.
#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct CleanArgs {
    /// Trace to clean [default: the current trace]
    name: Option<TraceName>,
    /// Presets and bundles to use, with commas between them [default: default]
    #[arg(long, value_name = "P,…", value_delimiter = ',', add = Values::OneOf(&Choice::NAMES))]
    preset: Vec<Choice>,
    /// Number of the newest steps, which are messages of the model with their results, to keep [default: 10, for aggressive 5]
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Print what would be cut, and change nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Write without asking, and without the full-screen view
    #[arg(short, long)]
    yes: bool,
    /// Edit the list of items in `$GIT_SEQUENCE_EDITOR`, then do what it says
    #[arg(long)]
    edit: bool,
    /// Size of the model's context window in tokens [default: `trace.window`, or that of the session's model]
    #[arg(long, value_name = "N")]
    window: Option<u64>,
    /// Change the trace itself instead of a new branch
    #[arg(long)]
    in_place: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl CleanArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (repo, name, view) = context.view(self.name.as_ref(), None)?;
        let session = Session::read(repo, &view, context.counter()?)?;
        // To free every item takes a twentieth of the time, and the process ends anyway.
        let mut plan = ManuallyDrop::new(Plan::new(session, Parameters::new(&self.preset, self.keep)));
        let size = ContextSize::of(repo, &view, plan.counter(), self.window)?;
        if self.edit && self.dry_run {
            return context.ui.write_content(plan.todo());
        }
        if self.edit && !edit_list(context, &mut plan)? {
            context.ui.note("the list is empty; nothing was changed");
            return Ok(());
        }
        let decision =
            if self.yes || self.edit { Some(Decision::Write) } else { self.decide(context, &mut plan, &size)? };
        if decision == Some(Decision::Quit) {
            context.ui.note("nothing was changed");
            return Ok(());
        }
        let is_wanted = decision.is_some();
        if is_wanted {
            plan.summarize(repo, &name, &view)?.iter().for_each(|notice| context.ui.note(notice));
        }
        let has_changes = plan.changed().next().is_some();
        let mut done = None;
        if is_wanted && has_changes {
            done = if self.in_place { None } else { plan.earlier(repo, &name, &view.tip)? };
            if done.is_none() {
                let target = if self.in_place { name.clone() } else { branch_name(repo, &name)? };
                done = plan.apply(&context.open(&target)?, (!self.in_place).then_some(&view.tip))?;
            }
        }
        if self.json {
            return context.ui.json(&plan.to_json(&size, done.as_ref()));
        }
        print_table(context, &plan, &size, done.as_ref().is_some_and(|done| !done.is_known))?;
        match &done {
            Some(done) => print_done(context, &name, done),
            None if !has_changes => {
                context.ui.note(
                    "hint: the newest steps stay; `--keep N` changes how many, and `--preset aggressive` cuts more",
                );
                writeln!(context.ui, "nothing to cut")
            }
            None if !is_wanted => {
                let how = if self.dry_run { "dry run" } else { "dry run, because there is no terminal: --yes writes" };
                context.ui.note(format!("{how}; nothing was changed"));
                Ok(())
            }
            None => {
                context.ui.note("nothing was changed");
                Ok(())
            }
        }
    }

    /// Lets the user decide on a terminal. Elsewhere nobody does, and nothing is written.
    fn decide(&self, context: &Context, plan: &mut Plan, size: &ContextSize) -> Result<Option<Decision>> {
        if self.dry_run || self.json || !is_interactive() || plan.rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(screen::run(plan, size, |plan| edit_list(context, plan).map(drop))?))
    }
}

/// Lets the user change the list in their editor. Returns whether it has a line afterwards.
fn edit_list(context: &Context, plan: &mut Plan) -> Result<bool> {
    let list = edit(context.repo()?, Editor::Sequence, plan.todo().as_bytes())?;
    Ok(plan.follow(&String::from_utf8_lossy(&list))?)
}

fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn print_table(context: &Context, plan: &Plan, size: &ContextSize, is_written: bool) -> Result<()> {
    let ui = &context.ui;
    let shares = plan.shares();
    if shares.is_empty() {
        return Ok(());
    }
    writeln!(ui, " preset         items   tokens    saves")?;
    for share in &shares {
        let name = share.preset.map_or("by hand", |preset| preset.as_str());
        let (before, saves) = (grouped(share.before), grouped(share.before.saturating_sub(share.after)));
        writeln!(ui, " {name:<13} {:>6} {before:>8} {saves:>8}", share.items)?;
    }
    let back = if is_written { "   undo: git trace undo" } else { "" };
    writeln!(ui, " {}{back}", screen::totals(plan, size, usize::MAX))?;
    ui.note(plan.note(cache_prices(context.repo()?)?));
    Ok(())
}

fn print_done(context: &Context, name: &TraceName, done: &Cleaned) -> Result<()> {
    let ui = &context.ui;
    if done.is_known {
        writeln!(ui, "`{}` already has this result, so nothing was written", done.name)?;
    } else {
        writeln!(ui, "[{}] {}", done.name, ui.oid(done.commit))?;
    }
    for (items, summary) in &done.summaries {
        writeln!(ui, "{items} items became one summary; `git trace expand {}` brings them back", ui.id(*summary))?;
    }
    if done.name != *name {
        let (before, after) = (shell_word(name), shell_word(&done.name));
        writeln!(ui, "`{name}` is unchanged; `git trace diff {before} {after}` shows what was cut")?;
        writeln!(ui, "`git trace resume {after}` continues with the result")?;
    }
    Ok(())
}
