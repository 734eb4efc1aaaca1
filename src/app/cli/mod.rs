//! The command line: parse words into values, make one call into the library, print text or JSON.
//!
//! stdout carries the answer, stderr everything else. Exit status: 0 done; 1 ran, and the answer is no, or a later step failed after
//! something was recorded; 2 refused or failed.
//!
//! To add a command, write a file in the folder of the noun that it is about, with its arguments and their `run`, and add a
//! line to a [`commands!`] table: the one below, or the one in the `mod.rs` of a command that has subcommands.

/// Defines an enum of subcommands and its method `run`, which runs the one that was asked for.
///
/// Each line names a command and the type of its arguments, whose own `run` gets the same context and returns [`ExitStatus`]
/// or nothing.
macro_rules! commands {
    ($(#[$meta:meta])* $vis:vis $name:ident($context:ty) {
        $($(#[$variant_meta:meta])* $variant:ident($args:ty),)*
    }) => {
        // The arguments of a command are built only if it is called.
        #[derive(clap::Subcommand, Debug)]
        #[command(defer = true)]
        $(#[$meta])*
        $vis enum $name {
            $($(#[$variant_meta])* $variant($args),)*
        }

        impl $name {
            $vis fn run(&self, context: $context) -> Result<ExitStatus> {
                match self {
                    $(Self::$variant(args) => args.run(context).map(ExitStatus::from),)*
                }
            }
        }
    };
}

/// Defines the commands of `git trace` as [`COMMANDS`], with lines as in [`commands!`]. Each is a separate enum, so that one
/// can be built without the others: building all took a tenth of a process.
macro_rules! table {
    ($($(#[$meta:meta])* $name:ident($args:ty),)*) => {
        const COMMANDS: &[Entry] = &[$({
            #[derive(clap::Subcommand)]
            enum One {
                $(#[$meta])*
                $name($args),
            }
            Entry {
                is_named: One::has_subcommand,
                define: One::augment_subcommands,
                read: |matches| {
                    let One::$name(args) = One::from_arg_matches_mut(matches)?;
                    Ok(Box::new(move |context| args.run(context).map(ExitStatus::from)))
                },
            }
        },)*];
    };
}

mod breadcrumb;
mod brief;
mod checkpoint;
mod crumb;
mod error;
mod flags;
mod forward;
mod help;
mod hook;
mod item;
mod recall;
mod remote;
mod repository;
mod session;
mod setup;
mod trace;

use std::ffi::OsString;
use std::iter::successors;
use std::panic;
use std::process::{self, ExitCode};

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand as _};

use crate::git::{Env, Recorded};
use crate::tokens::counter;
use crate::trace::TraceName;

// What most commands need; they import it from here.
use crate::app::context::Context;
use crate::app::ui::{
    BOLD, DIM, ID, MATCH, Plain, Ui, columns, escaped, minute, note, one_line, padded, shortened, with_note,
    without_middle,
};
use crate::base::error::{Context as ErrorContext, Error, Result, bail, failure};
use serde_json::{Value, json};
use setup::complete::Values;

// Texts that the MCP server also answers.
pub(crate) use item::show::caption;
pub(crate) use trace::diff::text as diff_text;
pub(crate) use trace::merge::Effects;
pub(crate) use trace::top::print as print_top;
pub(crate) use trace::undo::reverse_latest;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExitStatus {
    Success,
    /// The command ran, and the answer is no.
    No,
    /// The command printed what it could, and the rest cannot be read.
    Incomplete,
    /// That of a program that ran in place of the command.
    Of(u8),
}

impl From<()> for ExitStatus {
    fn from((): ()) -> Self {
        Self::Success
    }
}

impl ExitStatus {
    /// That of an answer from which unreadable parts were left out.
    fn unless_incomplete(is_incomplete: bool) -> Self {
        if is_incomplete { Self::Incomplete } else { Self::Success }
    }

    fn of(is_yes: bool) -> Self {
        if is_yes { Self::Success } else { Self::No }
    }
}

/// Version control for what a language model sees
///
/// The context of an agent is kept in this git repository as commits and refs, one commit per item. You can edit, pin, and
/// skip items, view any earlier state, and turn a trace into messages for a model's API.
#[derive(Parser, Debug)]
#[command(name = "git-trace", bin_name = "git trace", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    /// Trace to work on [default: `$GITTRACE_NAME`, or the current trace]
    #[arg(long, global = true, value_name = "NAME", display_order = 900)]
    trace: Option<TraceName>,
}

/// A command with its arguments, ready to run.
type Run = Box<dyn FnOnce(&Context) -> Result<ExitStatus>>;

/// A command of `git trace`.
struct Entry {
    is_named: fn(&str) -> bool,
    /// Adds it to the command line.
    define: fn(Command) -> Command,
    read: fn(&mut ArgMatches) -> Result<Run, clap::Error>,
}

table! {
    // Items
    Commit(item::commit::CommitArgs),
    Edit(item::edit::EditArgs),
    #[command(alias = "rm")]
    Delete(item::delete::DeleteArgs),
    Restore(item::delete::RestoreArgs),
    Show(item::show::ShowArgs),
    Grep(item::grep::GrepArgs),
    Blame(item::blame::BlameArgs),
    Why(item::why::WhyArgs),
    Pin(item::priority::PinArgs),
    Skip(item::priority::SkipArgs),
    #[command(alias = "unskip")]
    Unpin(item::priority::UnpinArgs),
    Priority(item::priority::PriorityArgs),
    Compress(item::compress::CompressArgs),
    Expand(item::compress::ExpandArgs),
    Types(item::types::TypesArgs),

    // Traces
    Init(trace::branch::InitArgs),
    Switch(trace::branch::SwitchArgs),
    Branch(trace::branch::BranchArgs),
    Log(trace::log::LogArgs),
    Status(trace::status::StatusArgs),
    Top(trace::top::TopArgs),
    Clean(trace::clean::CleanArgs),
    Materialize(trace::materialize::MaterializeArgs),
    View(trace::view::ViewArgs),
    Diff(trace::diff::DiffArgs),
    Merge(trace::merge::MergeArgs),
    CherryPick(trace::pick::CherryPickArgs),
    Revert(trace::pick::RevertArgs),
    Rebase(trace::pick::RebaseArgs),
    Reset(trace::reset::ResetArgs),
    Undo(trace::undo::UndoArgs),
    Redo(trace::undo::RedoArgs),
    #[command(subcommand)]
    Bisect(trace::bisect::BisectCommand),

    // Sessions of agents, and exchange with other formats
    Import(session::import::ImportArgs),
    Export(session::export::ExportArgs),
    Attribute(session::attribute::AttributeArgs),
    Resume(session::resume::ResumeArgs),
    Sessions(session::sessions::SessionsArgs),

    // Remotes
    Push(remote::PushArgs),
    Fetch(remote::FetchArgs),
    Pull(remote::PullArgs),
    Remote(remote::RemoteArgs),
    Archive(remote::ArchiveArgs),

    // Memory
    Breadcrumb(breadcrumb::BreadcrumbArgs),
    #[command(subcommand)]
    Crumb(crumb::CrumbCommand),
    Checkpoint(checkpoint::CheckpointArgs),
    Forward(forward::ForwardArgs),
    Brief(brief::BriefArgs),
    Recall(recall::RecallArgs),

    // Repository
    Check(repository::check::CheckArgs),
    Fsck(repository::fsck::FsckArgs),
    Gc(repository::gc::GcArgs),
    #[command(subcommand)]
    Op(repository::op::OpCommand),
    Purge(repository::purge::PurgeArgs),
    Count(repository::count::CountArgs),

    // Setup
    Demo(setup::demo::DemoArgs),
    Install(setup::install::InstallArgs),
    Uninstall(setup::install::UninstallArgs),
    Enable(setup::recording::EnableArgs),
    Disable(setup::recording::DisableArgs),
    Doctor(setup::install::DoctorArgs),
    Mcp(setup::mcp::McpArgs),
    Hook(hook::HookArgs),
    MergeDriver(setup::merge_driver::MergeDriverArgs),
    Help(help::HelpArgs),
    #[command(hide = true)]
    CompleteWords(setup::complete::CompleteWordsArgs),
}

/// Runs the command line `args` in the environment `env`.
#[must_use]
pub fn main(args: impl IntoIterator<Item = OsString>, env: Env) -> ExitCode {
    let mut args: Vec<_> = args.into_iter().collect();
    let is_driver = args.get(1).is_some_and(|word| word == "merge-driver");
    if is_driver && let Err(error) = setup::merge_driver::protect_words(&mut args) {
        let _ = error.print();
        return ExitCode::from(setup::merge_driver::driver_status(2));
    }
    let is_agent_hook = hook::is_agent_hook(&args);
    let read_by_caller = |status| match status {
        _ if is_agent_hook => 0,
        status if is_driver => setup::merge_driver::driver_status(status),
        status => status,
    };
    exit_on_panic(read_by_caller(2), is_agent_hook);
    ExitCode::from(read_by_caller(status(&args, env)))
}

/// Makes a panic end the process with this status, where Rust would abort it: the tables and code for unwinding were an eighth of the
/// binary. That is as safe as being killed, which every command is tested for.
fn exit_on_panic(status: u8, silently: bool) {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if !silently {
            print(panic);
        }
        process::exit(status.into());
    }));
}

fn entry(name: &str) -> Option<&'static Entry> {
    COMMANDS.iter().find(|entry| (entry.is_named)(name))
}

/// The command line with all commands.
fn complete_command() -> Command {
    COMMANDS.iter().fold(Cli::command(), |command, entry| (entry.define)(command))
}

/// The command line with only the command that its first word names.
fn needed_command(args: &[OsString]) -> Command {
    let named = args.get(1).and_then(|word| entry(word.to_str()?));
    named.map_or_else(Cli::command, |entry| (entry.define)(Cli::command()))
}

/// Parses the command line. Help and errors may describe all commands, so these are built then. Returns the trace that the command
/// line names, what to run, and the name of the command with those of its subcommands.
fn parse(args: &[OsString]) -> Result<(Option<TraceName>, Run, String), clap::Error> {
    let mut command = needed_command(args);
    let mut matches = command.try_get_matches_from_mut(args).or_else(|error| {
        if error.kind() == ErrorKind::DisplayVersion {
            return Err(error);
        }
        command = help::described(args);
        command.try_get_matches_from_mut(with_counts(args))
    })?;
    let names: Vec<&str> =
        successors(matches.subcommand(), |(_, sub)| sub.subcommand()).map(|(name, _)| name).collect();
    let name = names.join(" ");
    let entry = names.first().and_then(|name| entry(name)).ok_or(clap::Error::new(ErrorKind::MissingSubcommand))?;
    let read = |matches: &mut ArgMatches| Ok((Cli::from_arg_matches_mut(matches)?.trace, (entry.read)(matches)?));
    let (trace, run) = read(&mut matches).map_err(|error: clap::Error| error.format(&mut command))?;
    Ok((trace, run, name))
}

/// The command line with `-n5` for the `-5` of `log -5`, which clap does not know.
fn with_counts(args: &[OsString]) -> Vec<OsString> {
    let counts = |arg: &OsString| ["log", "top", "sessions", "undo", "redo"].iter().any(|command| arg == command);
    let log = args.iter().position(counts).unwrap_or(args.len());
    let count = |arg: &OsString| {
        let number = arg.to_str()?.strip_prefix('-')?;
        number.parse::<u32>().is_ok().then(|| format!("-n{number}").into())
    };
    let (before, after) = args.split_at(log);
    before.iter().cloned().chain(after.iter().map(|arg| count(arg).unwrap_or_else(|| arg.clone()))).collect()
}

fn status(args: &[OsString], env: Env) -> u8 {
    let (trace, run, name) = match parse(args) {
        Ok(parsed) => parsed,
        Err(error) => {
            return error::print_usage(&error, args);
        }
    };
    let context = Context::new(env.with_command(name).with_notices(note), trace);
    let status = run(&context).and_then(|status| {
        context.ui.finish()?;
        Ok(status)
    });
    // Whatever else a failed count led to, its own error is the cause.
    match counter::check().map_err(Error::from).and(status) {
        Ok(ExitStatus::Success) => 0,
        Ok(ExitStatus::No) => 1,
        Ok(ExitStatus::Incomplete) => 3,
        Ok(ExitStatus::Of(status)) => status,
        Err(error) if error.is_broken_pipe() => 141,
        Err(error) => {
            let recorded = context.recorded();
            // Print the output before the error, and end the pager first.
            drop(context);
            error::print(&error);
            note(&match recorded {
                None => return error.exit_status(),
                Some(Recorded::Operation(id)) => {
                    format!("note: what it recorded until then is kept; `git trace undo {id}` reverses it")
                }
                Some(Recorded::Final) => "note: what it changed until then stays; repeat it for the rest".to_owned(),
            });
            1
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/options.rs"]
mod tests;

#[cfg(test)]
#[path = "../../../tests/unit/panics.rs"]
mod panics;
