//! `git trace crumb`: memory files of agents, from the command line.

mod change;
mod compress;
mod exchange;
mod show;
mod validate;

use std::path::Path;

use super::flags::content;
use crate::app::cli::{Context, ErrorContext as _, ExitStatus, Result};
use crate::base::worktree_path::check_regular_or_open;
use crate::memory::crumb::{CrumbError, CrumbFile};

commands! {
    /// Crumb files: what an agent reads at the start of each session
    ///
    /// A crumb file has a header with the session number, sections, and entries of one line each. Commit it with the code;
    /// `git trace install` configures git to merge and diff such files by entry.
    pub(crate) CrumbCommand(&Context) {
        New(change::NewArgs),
        Validate(validate::ValidateArgs),
        Show(show::ShowArgs),
        Fmt(show::FmtArgs),
        Start(change::StartArgs),
        Note(change::NoteArgs),
        Fact(change::FactArgs),
        Rule(change::RuleArgs),
        Fail(change::FailArgs),
        Warn(change::WarnArgs),
        Direct(change::DirectArgs),
        Remove(change::RemoveArgs),
        Compress(compress::CompressArgs),
        Expand(compress::ExpandArgs),
        Triage(show::TriageArgs),
        Send(exchange::SendArgs),
        Receive(exchange::ReceiveArgs),
        Textconv(show::TextconvArgs),
    }
}

/// Reads a file; `-` is stdin.
fn read(path: &Path) -> Result<Vec<u8>> {
    check_regular_or_open(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    content::read(path)
}

fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<CrumbFile<'a>> {
    let crumb = CrumbFile::parse(bytes).map_err(CrumbError::from);
    let crumb = crumb.and_then(|crumb| if crumb.header().is_some() { Ok(crumb) } else { Err(CrumbError::NoHeader) });
    crumb.with_context(|| format!("cannot use `{}`", path.display()))
}

fn agent(text: &str) -> Result<char, String> {
    match text.chars().next() {
        Some(letter @ 'A'..='Z') if text.len() == 1 => Ok(letter),
        _ => Err("one letter from A to Z is expected".to_owned()),
    }
}
