//! `git trace checkpoint`: the state of a piece of work, from the command line.

mod change;
mod crumb;
mod follow;
mod list;
mod validate;

use clap::Subcommand;

use super::ExitStatus;
use super::ui::{Ui, escaped};
use crate::base::error::{Context as _, Result};
use crate::base::merge::FileKind;
use crate::git::{Env, Git, GitError, Repo, worktree_root};
use crate::memory::checkpoint::folder::{Checkpoint, File};
use crate::memory::checkpoint::{Folder, Moment, Pathspec};
use crate::trace::store::settings;
use crate::trace::{Time, TraceName};

/// Keep the state of a piece of work as a file, so that the next session can go on with it
///
/// A checkpoint is a Markdown file with frontmatter, in `checkpoints/active` and later in `checkpoints/archive`; git config
/// `trace.checkpoints` says where else. Checkpoints are named by their id, by the name of their file, or by its path.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckpointArgs {
    #[command(subcommand)]
    command: CheckpointCommand,
}

#[derive(Subcommand, Debug)]
enum CheckpointCommand {
    New(change::NewArgs),
    Validate(validate::ValidateArgs),
    List(list::ListArgs),
    Tree(list::TreeArgs),
    Status(list::StatusArgs),
    Current(change::CurrentArgs),
    Delta(change::DeltaArgs),
    Archive(change::ArchiveArgs),
    Prime(list::PrimeArgs),
    Breadcrumbs(crumb::BreadcrumbsArgs),
    AddBreadcrumb(crumb::AddArgs),
    Follow(follow::FollowArgs),
}

/// What a checkpoint command works with.
struct Place<'u> {
    ui: &'u mut Ui,
    folder: Folder,
    git: Git,
    env: Env,
    /// The trace that was named for this command.
    trace: Option<TraceName>,
}

impl Place<'_> {
    /// The clock, read now.
    #[expect(clippy::unused_self, reason = "commands reach the clock through their place only")]
    fn now(&self) -> Time {
        Time::now()
    }

    /// Says which files were passed over in reading.
    fn note_unreadable(&self, files: &[File]) {
        for file in files.iter().filter(|file| file.kind == FileKind::Checkpoint && file.text().is_err()) {
            self.ui.note(&format!("warning: `{}` is not UTF-8 and is passed over", file.path));
        }
    }
}

pub(crate) fn run(args: &CheckpointArgs, trace: Option<TraceName>, env: Env, ui: &mut Ui) -> Result<ExitStatus> {
    let here = std::env::current_dir().context("cannot tell which folder this is")?;
    if let CheckpointCommand::Validate(args) = &args.command
        && !args.files.is_empty()
    {
        return validate::run_files(args, &here, ui);
    }
    let root = worktree_root(&here, env.clone())?;
    let root = root.canonicalize().unwrap_or(root);
    let setting = setting(&Git::in_folder(&root), env.clone())?;
    let folder = Folder { root, pathspec: Pathspec::new(setting.as_deref()) };
    let mut place = Place { ui, git: Git::in_folder(&folder.root), folder, env, trace };
    match &args.command {
        CheckpointCommand::New(args) => change::run_new(&mut place, args),
        CheckpointCommand::Validate(args) => validate::run(&mut place, args),
        CheckpointCommand::List(args) => list::run(&mut place, args),
        CheckpointCommand::Tree(args) => list::run_tree(&mut place, args),
        CheckpointCommand::Status(args) => list::run_status(&mut place, args),
        CheckpointCommand::Current(args) => change::run_current(&mut place, args),
        CheckpointCommand::Delta(args) => change::run_delta(&mut place, args),
        CheckpointCommand::Archive(args) => change::run_archive(&mut place, args),
        CheckpointCommand::Prime(args) => list::run_prime(&mut place, args),
        CheckpointCommand::Breadcrumbs(args) => crumb::run(&mut place, args),
        CheckpointCommand::AddBreadcrumb(args) => crumb::run_add(&mut place, args),
        CheckpointCommand::Follow(args) => follow::run(&mut place, args),
    }
}

/// What `trace.checkpoints` says.
fn setting(git: &Git, env: Env) -> Result<Option<String>> {
    match Repo::open_from_env(env) {
        Ok(repo) => Ok(settings::text(&repo, "trace.checkpoints")?),
        // Refs do not matter here, so git may know better.
        Err(GitError::UnknownExtension { .. }) => {
            let answer = git.ask(&["config", "--get", "trace.checkpoints"])?;
            let text = String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned();
            Ok((answer.code == Some(0)).then_some(text))
        }
        Err(error) => Err(error.into()),
    }
}

/// What a checkpoint is, in a word.
fn state(one: &Checkpoint<'_>) -> &'static str {
    if one.file.is_archived() {
        "archived"
    } else if one.document.is_current() {
        "current"
    } else {
        "active"
    }
}

/// A text of others on one line, cut to so many characters.
fn brief(text: &str, max_chars: usize) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = escaped(&line);
    if line.chars().count() <= max_chars {
        return line.into_owned();
    }
    line.chars().take(max_chars.saturating_sub(1)).chain(['…']).collect()
}

/// The day of a time; `-` where there is none.
fn day(moment: Option<Moment>) -> String {
    moment.map_or("-".to_owned(), |moment| moment.time.to_string()[..10].to_owned())
}
