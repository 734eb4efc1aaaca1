//! `git trace install --man`: a manual page for every command, made of its help.

mod page;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use clap::Command;

use crate::app::cli::{ErrorContext as _, Result, complete_command, help};
use crate::app::install::owned::{self, OwnedFile};
use crate::app::install::{Action, Mode, Step};

/// Writes all pages below a folder for `MANPATH`, and removes those of commands that no longer exist.
pub(crate) fn install(root: &Path, mode: Mode) -> Result<Vec<Step>> {
    let folder = root.join("man1");
    let pages = pages(&folder).context("cannot make the manual pages")?;
    // Before any is written.
    pages.iter().try_for_each(|page| owned::check_in(root, &page.path))?;
    let gone = owned::list(&folder, is_page)?;
    let gone = gone.into_iter().filter(|path| pages.iter().all(|page| page.path != *path));
    let mut steps = pages.iter().map(|page| page.install(mode)).collect::<Result<Vec<_>, _>>()?;
    for path in gone {
        // A page of somebody else is not reported here.
        steps.extend(owned::uninstall(&path, mode)?.filter(|step| step.action == Action::Removed));
    }
    Ok(steps)
}

pub(crate) fn uninstall(root: &Path, mode: Mode) -> Result<Vec<Step>> {
    let (mut steps, pages) = (Vec::new(), owned::list(&root.join("man1"), is_page)?);
    pages.iter().try_for_each(|page| owned::check_in(root, page))?;
    for path in pages {
        steps.extend(owned::uninstall(&path, mode)?);
    }
    Ok(steps)
}

/// Whether `man` finds our page in this folder, or does not exist.
pub(crate) fn is_found(root: &Path) -> bool {
    let asked = Process::new("man").args(["-w", "git-trace"]).stdin(Stdio::null()).output();
    let Ok(answer) = asked else { return true };
    let found = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim_end());
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(&found).starts_with(real(root))
}

fn is_page(name: &str) -> bool {
    name.strip_suffix(".1").is_some_and(|name| name == "git-trace" || name.starts_with("git-trace-"))
}

fn pages(folder: &Path) -> io::Result<Vec<OwnedFile>> {
    let mut root = complete_command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    add_pages(&root, None, &mut pages)?;
    let names: Vec<String> = pages.iter().map(|page| page.name.clone()).collect();
    Ok(pages.into_iter().map(|page| page.into_file(folder, &names)).collect())
}

/// A page without its last section, which needs the names of all pages.
struct Page {
    name: String,
    parent: Option<String>,
    text: String,
}

fn add_pages(command: &Command, parent: Option<&str>, pages: &mut Vec<Page>) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let text = page::text(command, &name)?;
    pages.push(Page { name: name.clone(), parent: parent.map(str::to_owned), text });
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        add_pages(sub, Some(&name), pages)?;
    }
    Ok(())
}

impl Page {
    fn into_file(self, folder: &Path, names: &[String]) -> OwnedFile {
        let mut text = page::with_bold_code(&self.text);
        if self.parent.is_none() {
            text.push_str(
                ".SH \"EXIT STATUS\"\n0 when it is done, 1 when the answer is no or a part was not done, 2 when it was refused or could not run. The pages of\nthe commands name others.\n",
            );
        }
        let related: Vec<String> =
            self.related(names).iter().map(|name| format!("\\fB\\%{}\\fR(1)", page::escaped(name))).collect();
        let _ = writeln!(text, ".SH \"SEE ALSO\"\n{}", related.join(", "));
        OwnedFile { path: folder.join(format!("{}.1", self.name)), text, comment: ".\\\"" }
    }

    /// Its parents, the commands of its group, and those that its text mentions.
    fn related<'n>(&'n self, names: &'n [String]) -> Vec<&'n str> {
        let mut related: Vec<&str> = vec!["git"];
        let command = |name: &'n str| name.strip_prefix("git-trace-").unwrap_or_default();
        let group = help::jobs().map(|(_, names)| names.collect::<Vec<_>>());
        let group = group.into_iter().find(|names| names.contains(&command(&self.name))).unwrap_or_default();
        for name in names.iter().filter(|name| **name != self.name) {
            let is_parent = self.name.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('-'));
            // The text escapes hyphens, and mentions a command as it is typed: `git trace crumb expand`.
            let words = name.replacen('-', " ", 1).replacen('-', " ", 1).replace('-', "\\-");
            let typed = format!("`{words}");
            let is_mentioned = self.text.match_indices(&typed).any(|(at, _)| {
                let next = self.text[at + typed.len()..].chars().next();
                matches!(next, Some('`' | ' '))
            });
            if is_parent || is_mentioned || group.contains(&command(name)) {
                related.push(name);
            }
        }
        related
    }
}
