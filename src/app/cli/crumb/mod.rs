//! `git trace crumb`: memory files of agents, from the command line.

mod change;
mod compress;
mod exchange;
mod show;
mod triage;
mod validate;

use std::path::Path;

use clap::Subcommand;

use super::ExitStatus;
use super::input::read;
use super::ui::Ui;
use crate::base::error::{Context as _, Result};
use crate::git::Env;
use crate::memory::crumb::{CrumbError, CrumbFile};

/// Keep the memory of an agent in a file that it reads whole at the start of a session
///
/// A crumb file has a header with the session, sections, and entries of one line each. It is to be committed with the code;
/// `git trace install` sets git up to merge and to show such files by entry.
#[derive(clap::Args, Debug)]
pub(crate) struct CrumbArgs {
    #[command(subcommand)]
    command: CrumbCommand,
}

#[derive(Subcommand, Debug)]
enum CrumbCommand {
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
    Triage(triage::TriageArgs),
    Send(exchange::SendArgs),
    Receive(exchange::ReceiveArgs),
    Textconv(show::TextconvArgs),
}

pub(crate) fn run(args: &CrumbArgs, env: Env, ui: &mut Ui) -> Result<ExitStatus> {
    match &args.command {
        CrumbCommand::New(args) => change::run_new(args, ui),
        CrumbCommand::Validate(args) => validate::run(args, env, ui),
        CrumbCommand::Show(args) => show::run(args, ui),
        CrumbCommand::Fmt(args) => show::run_fmt(args, ui),
        CrumbCommand::Start(args) => change::run_start(args, ui),
        CrumbCommand::Note(args) => change::run_note(args, ui),
        CrumbCommand::Fact(args) => change::run_fact(args, ui),
        CrumbCommand::Rule(args) => change::run_rule(args, ui),
        CrumbCommand::Fail(args) => change::run_fail(args, ui),
        CrumbCommand::Warn(args) => change::run_warn(args, ui),
        CrumbCommand::Direct(args) => change::run_direct(args, ui),
        CrumbCommand::Remove(args) => change::run_remove(args, ui),
        CrumbCommand::Compress(args) => compress::run(args, env, ui),
        CrumbCommand::Expand(args) => compress::run_expand(args, env, ui),
        CrumbCommand::Triage(args) => triage::run(args, ui),
        CrumbCommand::Send(args) => exchange::run_send(args, ui),
        CrumbCommand::Receive(args) => exchange::run_receive(args, ui),
        CrumbCommand::Textconv(args) => show::run_textconv(args, ui),
    }
}

/// Reads the bytes of a file as a crumb file with a header.
fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<CrumbFile<'a>> {
    let crumb = CrumbFile::parse(bytes).map_err(CrumbError::from);
    let crumb = crumb.and_then(|crumb| if crumb.header().is_some() { Ok(crumb) } else { Err(CrumbError::NoHeader) });
    crumb.with_context(|| format!("cannot use `{}`", path.display()))
}

/// The letter of an agent.
fn agent(text: &str) -> Result<char, String> {
    match text.chars().next() {
        Some(letter @ 'A'..='Z') if text.len() == 1 => Ok(letter),
        _ => Err("one letter from A to Z is expected".to_owned()),
    }
}
