//! `git trace hook pre-commit` and `pre-merge-commit`: check what is about to be committed.

use std::path::PathBuf;

use crate::app::cli::{Context, ExitStatus, Result};
use crate::base::escape::shell_word;
use crate::base::finding::Weight;
use crate::check::staged::fix::{self, Fate};
use crate::check::staged::{Checked, Source, check};
use crate::git::{Git, parse_bool};

#[derive(clap::Args, Debug)]
pub(crate) struct PreCommitArgs {
    /// Fix what is mechanical in the files of the working tree: line order, duplicate keys, a missing last line ending
    #[arg(long)]
    fix: bool,
    /// Names of files, which some callers pass; they are ignored, and all staged files are checked
    #[arg(hide = true)]
    files: Vec<PathBuf>,
}

impl PreCommitArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let (ui, git) = (&context.ui, context.git()?);
        let checked = check(&git, context.env.clone(), &Source::Staged, context.now())?;
        let (mut errors, mut warnings) = (0, 0);
        for file in &checked {
            for finding in &file.findings {
                let (kind, count) = match finding.weight {
                    Weight::Error => ("error", &mut errors),
                    Weight::Warning => ("warning", &mut warnings),
                    Weight::Advice => continue,
                };
                *count += 1;
                ui.write_content(format!("{kind}: {}\n", finding.in_file(&file.path)))?;
            }
        }
        if errors + warnings == 0 {
            return Ok(ExitStatus::Success);
        }
        ui.flush()?;
        let is_refused = errors > 0 || is_strict(context, &git);
        let fixable: Vec<_> = checked.iter().filter(|checked| fix::is_fixable(checked)).collect();
        if self.fix {
            fix(context, &git, &fixable)?;
        }
        if is_refused {
            let strict = if errors == 0 { "; `trace.hookStrict` refuses warnings too" } else { "" };
            ui.note(format!("git-trace: commit refused: errors: {errors}, warnings: {warnings}{strict}"));
            if !self.fix && !fixable.is_empty() {
                ui.note(
                    "hint: `git trace hook pre-commit --fix` fixes line order, duplicates, and line endings in the working tree",
                );
            }
        }
        Ok(ExitStatus::of(!is_refused))
    }
}

fn is_strict(context: &Context, git: &Git) -> bool {
    const KEY: &str = "trace.hookStrict";
    match context.repo() {
        // A value that is not a boolean counts as yes: somebody wanted it strict.
        Ok(repo) => repo.config().and_then(|config| config.boolean(KEY)).map_or(true, |strict| strict == Some(true)),
        Err(_) => git.line(&["config", "--get", KEY]).ok().is_some_and(|value| parse_bool(&value).unwrap_or(true)),
    }
}

fn fix(context: &Context, git: &Git, fixable: &[&Checked]) -> Result<()> {
    let root = git.toplevel()?;
    for checked in fixable {
        let (path, word) = (&checked.path, shell_word(&checked.path));
        context.ui.note(match fix::fix(&root, checked) {
            Ok(Fate::Fixed) => format!("fixed `{path}`; review it with `git diff`, then: git add -- {word}"),
            Ok(Fate::InOrder) => {
                format!("`{path}` is already correct in the working tree; stage it with: git add -- {word}")
            }
            Ok(Fate::Unreadable) => format!("`{path}` was not changed: correct the unreadable lines first"),
            Err(error) => format!("`{path}` was not changed: {error}"),
        });
    }
    Ok(())
}
