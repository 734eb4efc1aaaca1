//! The command line: words to values, one call into plumbing, results to text or JSON.
//!
//! stdout carries the answer, stderr the rest. Exit status: 0 done; 1 ran, and the answer is no; 2 refused or could not run.

mod bisect;
mod blame;
mod branch;
mod breadcrumb;
mod brief;
mod budget;
mod check;
mod checkpoint;
mod commit;
mod complete;
mod compress;
mod count;
mod crumb;
mod demo;
mod diff;
mod edit;
mod editor;
mod error;
mod export;
mod forward;
mod fsck;
mod gc;
mod grep;
mod hook;
mod import;
mod init;
mod input;
mod install;
mod log;
mod man;
mod materialize;
mod mcp;
mod merge;
mod merge_driver;
mod output;
mod pick;
mod priority;
mod remove;
mod reset;
mod sessions;
mod settle;
mod share;
mod show;
mod status;
mod switch;
mod types;
mod ui;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::base::error::Result;
use crate::git::{Env, Repo};
use crate::trace::store::{head, resolve};
use crate::trace::{Time, Tip, TraceName};
use ui::Ui;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ExitStatus {
    /// Done.
    Success,
    /// Ran, and the answer is no.
    No,
}

/// Version control for what a language model sees
///
/// The context of an agent is kept in this git repository as real objects and refs, one item a commit. It can be edited,
/// pinned, skipped, looked at as it was earlier, and turned into the messages of a model's API.
#[derive(Parser, Debug)]
#[command(name = "git-trace", bin_name = "git trace", version, max_term_width = 100)]
struct Cli {
    /// Trace to work on [default: `$GITTRACE_NAME`, or the current one]
    #[arg(long, global = true, value_name = "NAME")]
    trace: Option<TraceName>,

    #[command(subcommand)]
    command: Command,
}

// The arguments of a command are made when it is the one that was asked for: all of them took a quarter of a process.
#[derive(Subcommand, Debug)]
enum Command {
    #[command(flatten)]
    Anywhere(AnywhereCommand),
    #[command(flatten)]
    InRepo(RepoCommand),
}

/// Commands that need no repository, or only its working tree.
#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum AnywhereCommand {
    Demo(demo::DemoArgs),
    Count(count::CountArgs),
    Breadcrumb(breadcrumb::BreadcrumbArgs),
    Crumb(crumb::CrumbArgs),
    Checkpoint(checkpoint::CheckpointArgs),
    MergeDriver(merge_driver::MergeDriverArgs),
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    Doctor(install::DoctorArgs),
    Check(check::CheckArgs),
    Hook(hook::HookArgs),
    Mcp(mcp::McpArgs),
    #[command(hide = true)]
    CompleteWords(complete::CompleteWordsArgs),
}

#[derive(Subcommand, Debug)]
#[command(defer = true)]
enum RepoCommand {
    Init(init::InitArgs),
    Switch(switch::SwitchArgs),
    Branch(branch::BranchArgs),
    Reset(reset::ResetArgs),
    Undo(reset::UndoArgs),
    Diff(diff::DiffArgs),
    Grep(grep::GrepArgs),
    Blame(blame::BlameArgs),
    Bisect(bisect::BisectArgs),
    Commit(commit::CommitArgs),
    Edit(edit::EditArgs),
    Delete(remove::DeleteArgs),
    Restore(remove::RestoreArgs),
    Show(show::ShowArgs),
    Log(log::LogArgs),
    Status(status::StatusArgs),
    Materialize(materialize::MaterializeArgs),
    Types(types::TypesArgs),
    Pin(priority::PinArgs),
    Skip(priority::SkipArgs),
    Unpin(priority::UnpinArgs),
    Priority(priority::PriorityArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Merge(merge::MergeArgs),
    CherryPick(pick::CherryPickArgs),
    Revert(pick::RevertArgs),
    Rebase(pick::RebaseArgs),
    Compress(compress::CompressArgs),
    Expand(compress::ExpandArgs),
    Push(share::PushArgs),
    Fetch(share::FetchArgs),
    Pull(share::PullArgs),
    Remote(share::RemoteArgs),
    Forward(forward::ForwardArgs),
    Brief(brief::BriefArgs),
    Sessions(sessions::SessionsArgs),
    View(view::ViewArgs),
    Fsck(fsck::FsckArgs),
    Gc(gc::GcArgs),
}

/// What every command works with.
struct Session {
    repo: Repo,
    ui: Ui,
    /// The trace that was named, by flag or environment.
    named_trace: Option<TraceName>,
}

impl Session {
    /// The trace to work on: the one named for this command, or the current one.
    fn trace(&self, named_here: Option<&TraceName>) -> Result<TraceName> {
        let name = match named_here.or(self.named_trace.as_ref()) {
            Some(name) => name.clone(),
            None => head::current(&self.repo)?,
        };
        // Whatever else happens first, an editor for one: a trace that is there now is not to be started anew.
        // One that cannot be read is told by whoever needs it.
        let _ = Tip::note(&self.repo, &name);
        Ok(name)
    }

    /// The tip of another line of context: a trace, what was last seen of a remote's, or a state of this one.
    fn other_tip(&self, name: &TraceName, spec: &str) -> Result<Tip> {
        Ok(resolve::state(&self.repo, name, spec)?.tip)
    }

    /// The clock, read now.
    #[expect(clippy::unused_self, reason = "commands reach the clock through their session only")]
    fn now(&self) -> Time {
        Time::now()
    }
}

/// Runs the command line `args` in the environment `env` and says how it ended.
#[must_use]
pub fn main(args: impl IntoIterator<Item = OsString>, env: Env) -> ExitCode {
    let args: Vec<_> = args.into_iter().collect();
    let is_driver = args.get(1).is_some_and(|word| word == "merge-driver");
    let is_agents_hook = hook::is_agents(&args);
    let status = match () {
        () if is_driver => merge_driver::guarded(|| status(&args, env)),
        () if is_agents_hook => hook::guarded(|| status(&args, env)),
        () => status(&args, env),
    };
    ExitCode::from(status)
}

/// Reads the command line. An answer of clap's may tell of all commands, which takes their arguments to be made.
fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(args).or_else(|error| {
        if error.kind() == ErrorKind::DisplayVersion {
            return Err(error);
        }
        let mut command = Cli::command();
        command.build();
        let mut matches = command.try_get_matches_from_mut(args)?;
        Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
    })
}

fn status(args: &[OsString], env: Env) -> u8 {
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(error) => {
            error::print_usage(&error);
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let ui = Ui::new(&env);
    match run(cli, env, ui) {
        Ok(ExitStatus::Success) => 0,
        Ok(ExitStatus::No) => 1,
        Err(error) if error.is_broken_pipe() => 141,
        Err(error) => {
            error::print(&error);
            error.exit_status()
        }
    }
}

fn run(cli: Cli, env: Env, mut ui: Ui) -> Result<ExitStatus> {
    match &cli.command {
        Command::Anywhere(command) => {
            let status = match command {
                AnywhereCommand::Demo(args) => demo::run(args),
                AnywhereCommand::Count(args) => count::run(args, env, &mut ui),
                AnywhereCommand::Breadcrumb(args) => breadcrumb::run(args, env, &mut ui),
                AnywhereCommand::Crumb(args) => crumb::run(args, env, &mut ui),
                AnywhereCommand::Checkpoint(args) => checkpoint::run(args, cli.trace.clone(), env, &mut ui),
                AnywhereCommand::MergeDriver(args) => merge_driver::run(args, &ui),
                AnywhereCommand::Install(args) => install::run_install(args, &env, &mut ui),
                AnywhereCommand::Uninstall(args) => install::run_uninstall(args, &env, &mut ui),
                AnywhereCommand::Doctor(args) => install::run_doctor(args, env, &mut ui),
                AnywhereCommand::Check(args) => check::run(args, env, &mut ui),
                AnywhereCommand::Hook(args) => hook::run(args, env, &mut ui),
                AnywhereCommand::CompleteWords(args) => complete::run(args, env, &mut ui),
                AnywhereCommand::Mcp(args) => mcp::run(args, cli.trace.clone(), env),
            }?;
            ui.finish()?;
            Ok(status)
        }
        Command::InRepo(command) => {
            let named_trace = match (cli.trace, env.text("GITTRACE_NAME")) {
                (Some(name), _) => Some(name),
                (None, Some(name)) => Some(name.parse()?),
                (None, None) => None,
            };
            let mut session = Session { repo: Repo::open_from_env(env)?, ui, named_trace };
            let status = run_in_repo(command, &mut session)?;
            session.ui.finish()?;
            Ok(status)
        }
    }
}

fn run_in_repo(command: &RepoCommand, session: &mut Session) -> Result<ExitStatus> {
    match command {
        RepoCommand::Init(args) => init::run(session, args),
        RepoCommand::Switch(args) => switch::run(session, args),
        RepoCommand::Branch(args) => branch::run(session, args),
        RepoCommand::Reset(args) => reset::run_reset(session, args),
        RepoCommand::Undo(args) => reset::run_undo(session, args),
        RepoCommand::Diff(args) => diff::run(session, args),
        RepoCommand::Grep(args) => grep::run(session, args),
        RepoCommand::Blame(args) => blame::run(session, args),
        RepoCommand::Bisect(args) => bisect::run(session, args),
        RepoCommand::Commit(args) => commit::run(session, args),
        RepoCommand::Edit(args) => edit::run(session, args),
        RepoCommand::Delete(args) => remove::run_delete(session, args),
        RepoCommand::Restore(args) => remove::run_restore(session, args),
        RepoCommand::Show(args) => show::run(session, args),
        RepoCommand::Log(args) => log::run(session, args),
        RepoCommand::Status(args) => status::run(session, args),
        RepoCommand::Materialize(args) => materialize::run(session, args),
        RepoCommand::Types(args) => types::run(session, args),
        RepoCommand::Pin(args) => priority::run_pin(session, args),
        RepoCommand::Skip(args) => priority::run_skip(session, args),
        RepoCommand::Unpin(args) => priority::run_unpin(session, args),
        RepoCommand::Priority(args) => priority::run(session, args),
        RepoCommand::Export(args) => export::run(session, args),
        RepoCommand::Import(args) => import::run(session, args),
        RepoCommand::Merge(args) => merge::run(session, args),
        RepoCommand::CherryPick(args) => pick::run_pick(session, args),
        RepoCommand::Revert(args) => pick::run_revert(session, args),
        RepoCommand::Rebase(args) => pick::run_rebase(session, args),
        RepoCommand::Compress(args) => compress::run(session, args),
        RepoCommand::Expand(args) => compress::run_expand(session, args),
        RepoCommand::Push(args) => share::run_push(session, args),
        RepoCommand::Fetch(args) => share::run_fetch(session, args),
        RepoCommand::Pull(args) => share::run_pull(session, args),
        RepoCommand::Remote(args) => share::run_remote(session, args),
        RepoCommand::Forward(args) => forward::run(session, args),
        RepoCommand::Brief(args) => brief::run(session, args),
        RepoCommand::Sessions(args) => sessions::run(session, args),
        RepoCommand::View(args) => view::run(session, args),
        RepoCommand::Fsck(args) => fsck::run(session, args),
        RepoCommand::Gc(args) => gc::run(session, args),
    }
}
