//! `git trace hook pre-commit` and `pre-merge-commit`: what is about to be committed is judged.

use std::env::current_dir;
use std::path::PathBuf;

use crate::app::cli::ExitStatus;
use crate::app::cli::ui::Ui;
use crate::base::error::{Context as _, Result};
use crate::base::finding::Weight;
use crate::check::staged::fix::{self, Fate};
use crate::check::staged::{Checked, Source, check};
use crate::git::{Env, Git, Repo, parse_bool};
use crate::trace::Time;

#[derive(clap::Args, Debug)]
pub(crate) struct PreCommitArgs {
    /// Mend what is mechanical in the files of the working tree: the order of lines, keys that are there twice, a missing
    /// last line end
    #[arg(long)]
    fix: bool,

    /// Names of files, as some callers give them; what is staged is judged, whatever they are
    #[arg(hide = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: &PreCommitArgs, env: Env, ui: &mut Ui) -> Result<ExitStatus> {
    let folder = current_dir().context("cannot tell which folder this is")?;
    let git = Git::in_folder(folder);
    let checked = check(&git, env.clone(), &Source::Staged, Time::now())?;
    let (mut errors, mut warnings) = (0, 0);
    for file in &checked {
        for finding in &file.findings {
            let kind = match finding.weight {
                Weight::Error => "error",
                Weight::Warning => "warning",
                Weight::Advice => continue,
            };
            if finding.weight == Weight::Error {
                errors += 1;
            } else {
                warnings += 1;
            }
            ui.write_content(format!("{kind}: {}\n", finding.in_file(&file.path)).as_bytes())?;
        }
    }
    if errors + warnings == 0 {
        return Ok(ExitStatus::Success);
    }
    ui.out().flush()?;
    let is_strict = warnings > 0 && is_strict(&git, env);
    let is_refused = errors > 0 || is_strict;
    let mendable: Vec<_> = checked.iter().filter(|checked| fix::is_mendable(checked)).collect();
    if args.fix {
        mend(&git, &mendable, ui)?;
    }
    if is_refused {
        let strict = if errors == 0 { "; `trace.hookStrict` refuses warnings too" } else { "" };
        ui.note(&format!("git-trace: not committed: errors: {errors}, warnings: {warnings}{strict}"));
        if !args.fix && !mendable.is_empty() {
            ui.note("hint: `git trace hook pre-commit --fix` mends order, doubles and line ends in the working tree");
        }
    }
    Ok(if is_refused { ExitStatus::No } else { ExitStatus::Success })
}

/// Whether warnings refuse as well.
fn is_strict(git: &Git, env: Env) -> bool {
    const KEY: &str = "trace.hookStrict";
    match Repo::open_from_env(env) {
        // What is no truth is taken for yes: somebody wanted it strict.
        Ok(repo) => repo.config().and_then(|config| config.boolean(KEY)).map_or(true, |strict| strict == Some(true)),
        Err(_) => git.line(&["config", "--get", KEY]).ok().is_some_and(|value| parse_bool(&value).unwrap_or(true)),
    }
}

fn mend(git: &Git, mendable: &[&Checked], ui: &Ui) -> Result<()> {
    let root = PathBuf::from(git.line(&["rev-parse", "--show-toplevel"])?);
    for checked in mendable {
        let path = &checked.path;
        match fix::mend(&root, checked) {
            Ok(Fate::Mended) => ui.note(&format!("mended `{path}`; look with `git diff`, then: git add -- '{path}'")),
            Ok(Fate::InOrder) => {
                ui.note(&format!("`{path}` is in order in the working tree; stage it with: git add -- '{path}'"));
            }
            Ok(Fate::Unreadable) => {
                ui.note(&format!("`{path}` was left alone: correct the lines that cannot be read first"));
            }
            Err(error) => ui.note(&format!("`{path}` was left alone: {error}")),
        }
    }
    Ok(())
}
