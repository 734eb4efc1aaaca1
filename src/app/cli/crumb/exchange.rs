//! `git trace crumb send` and `receive`.

use std::path::PathBuf;

use super::{agent, parse, read};
use crate::app::cli::{Context, ErrorContext as _, Result, Value, json};
use crate::app::secrets::{Caller, refuse_secret_text};
use crate::memory::crumb::{self, CrumbError, CrumbFile};

/// Print a crumb file, or some of its sections, for another agent to receive
///
/// Each entry is marked with the letter of its agent.
#[derive(clap::Args, Debug)]
pub(crate) struct SendArgs {
    /// Crumb file (`-` is stdin)
    file: PathBuf,
    /// Section to send [default: all]
    #[arg(long = "section", value_name = "NAME")]
    sections: Vec<String>,
    /// Letter of the agent [default: the first letter of the identity]
    #[arg(long = "letter", alias = "agent", value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,
}

/// Add entries that another agent sent; receiving them again changes nothing
///
/// The input can be a complete crumb file or sections without a header. Session numbers later than the current one become
/// the current one, and a tag keeps the original number: `nS @15 fixed it [FROM: @121]`.
#[derive(clap::Args, Debug)]
pub(crate) struct ReceiveArgs {
    /// Crumb file to add to
    file: PathBuf,
    /// Input [default: stdin]
    #[arg(default_value = "-", hide_default_value = true)]
    from: PathBuf,
    /// Letter of the sender, which replaces any other [default: the first letter of its identity]
    #[arg(long = "letter", alias = "agent", value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl SendArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let bytes = read(&self.file)?;
        let crumb = parse(&self.file, &bytes)?;
        let text = crumb::send(&crumb, &self.sections, self.agent);
        context.ui.write_content(text.with_context(|| format!("cannot send `{}`", self.file.display()))?)
    }
}

impl ReceiveArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let bytes = read(&self.from)?;
        refuse_secret_text(Caller::Person, &String::from_utf8_lossy(&bytes))?;
        let sent = CrumbFile::parse(&bytes).map_err(CrumbError::from);
        let sent = sent.with_context(|| format!("cannot take in `{}`", self.from.display()))?;
        let received = crumb::edit(&self.file, |crumb| crumb::receive(crumb, &sent, self.agent))
            .with_context(|| format!("cannot take in `{}`", self.from.display()))?;
        if self.json {
            let added = received.added.iter().map(|(section, line)| json!({ "section": section, "entry": line }));
            let added: Vec<Value> = added.collect();
            return ui.json(&json!({ "added": added, "counted": received.counted, "known": received.known }));
        }
        received.added.iter().try_for_each(|(_, line)| ui.write_content(format!("added {line}\n")))?;
        received.counted.iter().try_for_each(|line| ui.write_content(format!("counted {line}\n")))?;
        let (added, counted, known) = (received.added.len(), received.counted.len(), received.known);
        ui.note(format!("{added} added, {counted} counts raised, {known} already there"));
        Ok(())
    }
}
