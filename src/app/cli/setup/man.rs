//! `git trace install --man`: a manual page for every command, made of its help.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::app::cli::{Cli, ErrorContext as _, Result};
use crate::app::install::owned::{self, OwnedFile};
use crate::app::install::{Action, Mode, Step};

/// Writes all pages below a folder for `MANPATH`, and removes those of commands that no longer exist.
pub(crate) fn install(root: &Path, mode: Mode) -> Result<Vec<Step>> {
    let folder = root.join("man1");
    let pages = pages(&folder).context("cannot make the manual pages")?;
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
    let mut steps = Vec::new();
    for path in owned::list(&root.join("man1"), is_page)? {
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
    let mut root = Cli::command().disable_help_subcommand(true);
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
    let text = text(command, &name)?;
    pages.push(Page { name: name.clone(), parent: parent.map(str::to_owned), text });
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        add_pages(sub, Some(&name), pages)?;
    }
    Ok(())
}

fn text(command: &Command, name: &str) -> io::Result<String> {
    let man = Man::new(command.clone());
    let mut bytes = Vec::new();
    man.render_title(&mut bytes)?;
    man.render_name_section(&mut bytes)?;
    man.render_synopsis_section(&mut bytes)?;
    man.render_description_section(&mut bytes)?;
    man.render_options_section(&mut bytes)?;
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut bytes)?;
    }
    Ok(tidied(&String::from_utf8_lossy(&bytes), name))
}

/// Date of the last review of the pages; `mandoc` requires one.
const DATE: &str = "2026-11-21";

/// The page without what `groff` and `mandoc` warn about: empty lines, breaks beside them, a title without quotes.
fn tidied(page: &str, name: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut lines = page.lines().peekable();
    let mut is_defined = false;
    while let Some(line) = lines.next() {
        if line.is_empty() || line == ".br" {
            let mut is_gap = line.is_empty();
            while let Some(next) = lines.next_if(|next| next.is_empty() || *next == ".br") {
                is_gap |= next.is_empty();
            }
            text.push_str(if is_gap { ".sp\n" } else { ".br\n" });
        } else if line.starts_with(".TH ") {
            let (title, version) = (name.to_uppercase(), env!("CARGO_PKG_VERSION"));
            let _ = writeln!(text, ".TH \"{title}\" \"1\" \"{DATE}\" \"git-trace {version}\" \"Git Trace Manual\"");
        } else if line.starts_with(".ie ") || line.starts_with(".el ") {
            // Each section defines the apostrophe anew.
            if !is_defined {
                text.extend([line, "\n"]);
            }
            is_defined |= line.starts_with(".el ");
        } else {
            text.extend([line.trim_end(), "\n"]);
        }
    }
    text
}

impl Page {
    fn into_file(self, folder: &Path, names: &[String]) -> OwnedFile {
        let mut roff = Roff::default();
        if self.parent.is_none() {
            roff.control("SH", ["EXIT STATUS"]);
            roff.text([roman("0 when it is done, 1 when the answer is no, 2 when it was refused or could not run.")]);
        }
        roff.control("SH", ["SEE ALSO"]);
        let related = self.related(names);
        let end = |index| roman(if index + 1 < related.len() { "(1), " } else { "(1)" });
        roff.text(related.iter().enumerate().flat_map(|(index, name)| [bold(*name), end(index)]).collect::<Vec<_>>());
        let text = format!("{}{}", self.text, tidied(&roff.to_roff(), &self.name));
        OwnedFile { path: folder.join(format!("{}.1", self.name)), text, comment: ".\\\"" }
    }

    /// Its parents and the commands that its text mentions.
    fn related<'n>(&'n self, names: &'n [String]) -> Vec<&'n str> {
        let mut related: Vec<&str> = vec!["git"];
        for name in names.iter().filter(|name| **name != self.name) {
            let is_parent = self.name.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('-'));
            // The text escapes hyphens, and mentions a command as it is typed: `git trace crumb expand`.
            let words = name.replacen('-', " ", 1).replacen('-', " ", 1).replace('-', "\\-");
            let typed = format!("`{words}");
            let is_mentioned = self.text.match_indices(&typed).any(|(at, _)| {
                let next = self.text[at + typed.len()..].chars().next();
                matches!(next, Some('`' | ' '))
            });
            if is_parent || is_mentioned {
                related.push(name);
            }
        }
        related
    }
}
