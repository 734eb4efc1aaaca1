//! `git trace checkpoint`: the state of a piece of work.

mod change;
mod crumb;
mod doctor;
mod follow;
mod list;
mod validate;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;

use crate::app::cli::{Context, ExitStatus, Result, escaped};
use crate::base::merge::FileKind;
use crate::git::{Git, GitError};
use crate::memory::checkpoint::folder::{Checkpoint, File, is_current};
use crate::memory::checkpoint::{Folder, Pathspec, Timestamp};
use crate::trace::store::settings;

/// Checkpoints: the state of a piece of work, and its next steps
///
/// A checkpoint is a Markdown file with frontmatter, in `checkpoints/active` and later in `checkpoints/archive`; git config
/// `trace.checkpoints` names other places. Refer to a checkpoint by its id, its file name, or its path.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckpointArgs {
    #[command(subcommand)]
    command: CheckpointCommand,
}

commands! {
    CheckpointCommand(&CheckpointContext<'_>) {
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
        RemoveBreadcrumb(crumb::RemoveArgs),
        Follow(follow::FollowArgs),
        Doctor(doctor::DoctorArgs),
    }
}

impl CheckpointArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        if let CheckpointCommand::Validate(args) = &self.command
            && !args.files.is_empty()
        {
            return args.run_files(context);
        }
        let root = context.root()?;
        let git = Git::in_folder(&root);
        let folder = checkpoint_folder(context, root)?;
        self.command.run(&CheckpointContext { context, folder, git })
    }
}

struct CheckpointContext<'c> {
    context: &'c Context,
    folder: Folder,
    /// Git, called in the root of the working tree.
    git: Git,
}

impl Deref for CheckpointContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.context
    }
}

impl CheckpointContext<'_> {
    /// All files, with a warning for each that is not UTF-8.
    fn readable_files(&self) -> Result<Vec<File>> {
        let files = self.folder.files()?;
        for file in files.iter().filter(|file| file.kind == FileKind::Checkpoint && file.text().is_err()) {
            self.ui.note(format!("warning: `{}` is not UTF-8 and is skipped", file.path));
        }
        Ok(files)
    }

    /// Warns of several current checkpoints, and of ids that several have.
    /// Warns about what makes a list unreliable.
    fn warn(&self, files: &[File], known: &[Checkpoint<'_>]) {
        for file in files.iter().filter(|file| file.has_conflict()) {
            self.ui.note(format!("warning: `{}` has conflict markers", escaped(&file.path)));
        }
        let current: Vec<_> = known.iter().filter(|one| is_current(one)).map(Checkpoint::id).collect();
        if let [_, _, ..] = current[..] {
            let (count, names) = (current.len(), escaped(&current.join(", ")).into_owned());
            let remedy = "choose one with `git trace checkpoint current <id>`";
            self.ui.note(format!("warning: {count} checkpoints are current ({names}); {remedy}"));
        }
        let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for one in known {
            paths.entry(one.id()).or_default().push(&one.file.path);
        }
        for (id, paths) in paths.into_iter().filter(|(_, paths)| paths.len() > 1) {
            let paths = paths.join(", ");
            let text = format!("the id `{id}` is used by {paths}; change `checkpoint:` in one of them");
            self.ui.note(format!("warning: {}", escaped(&text)));
        }
    }
}

/// The checkpoints of a working tree.
pub(crate) fn checkpoint_folder(context: &Context, root: PathBuf) -> Result<Folder> {
    let setting = setting(context, &Git::in_folder(&root))?;
    Ok(Folder { root, pathspec: Pathspec::new(setting.as_deref()) })
}

fn setting(context: &Context, git: &Git) -> Result<Option<String>> {
    match context.repo() {
        Ok(repo) => Ok(settings::text(repo, "trace.checkpoints")?),
        // git may know the extension, and refs do not matter here.
        Err(GitError::UnknownExtension { .. }) => {
            let answer = git.ask(&["config", "--get", "trace.checkpoints"])?;
            let text = String::from_utf8_lossy(&answer.stdout).trim_end_matches('\n').to_owned();
            Ok((answer.code == Some(0)).then_some(text))
        }
        Err(error) => Err(error.into()),
    }
}

fn state(one: &Checkpoint<'_>) -> &'static str {
    match () {
        () if one.file.is_archived() => "archived",
        () if one.document.is_current() => "current",
        () => "active",
    }
}

/// The day of a time; `-` where there is none.
fn day(timestamp: Option<Timestamp>) -> String {
    timestamp.map_or("-".to_owned(), |timestamp| timestamp.time.to_string()[..10].to_owned())
}
