//! `git trace crumb send` and `receive`.

use crate::base::error::{Context as _, Result};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Context, ExitStatus, agent, parse, read};
use crate::app::secrets::refuse_secret_text;
use crate::memory::crumb::{self, CrumbError, CrumbFile};

/// Print a crumb file, or some of its sections, for another agent to receive
///
/// Every entry gets the letter of its agent.
#[derive(clap::Args, Debug)]
pub(crate) struct SendArgs {
    /// CrumbFile file (`-` is stdin)
    file: PathBuf,

    /// Section to send [default: all]
    #[arg(long = "section", value_name = "NAME")]
    sections: Vec<String>,

    /// Letter of the agent [default: the first of the identity]
    #[arg(long, value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,
}

/// Take in what another agent sent; receiving it again changes nothing
///
/// What comes in may be a whole crumb file, or sections without a header. Sessions that are still to come here become the
/// current one, and a tag keeps what was said: `nS @15 fixed it [FROM: @121]`.
#[derive(clap::Args, Debug)]
pub(crate) struct ReceiveArgs {
    /// CrumbFile file that takes it in
    file: PathBuf,

    /// What was sent [default: stdin]
    #[arg(default_value = "-", hide_default_value = true)]
    from: PathBuf,

    /// Letter of the sender, also where another one stands for it [default: the first of its identity]
    #[arg(long, value_name = "LETTER", value_parser = agent)]
    agent: Option<char>,

    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl SendArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let bytes = read(&self.file)?;
        let crumb = parse(&self.file, &bytes)?;
        let text = crumb::send(&crumb, &self.sections, self.agent)
            .with_context(|| format!("cannot send `{}`", self.file.display()))?;
        ui.write_content(text.as_bytes())?;
        Ok(ExitStatus::Success)
    }
}

impl ReceiveArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let bytes = read(&self.from)?;
        refuse_secret_text(&String::from_utf8_lossy(&bytes))?;
        let sent = CrumbFile::parse(&bytes).map_err(CrumbError::from);
        let sent = sent.with_context(|| format!("cannot take in `{}`", self.from.display()))?;
        let received = crumb::edit(&self.file, |crumb| crumb::receive(crumb, &sent, self.agent))
            .with_context(|| format!("cannot take in `{}`", self.from.display()))?;
        if self.json {
            let added = received.added.iter().map(|(section, line)| json!({ "section": section, "entry": line }));
            let added: Vec<Value> = added.collect();
            ui.json(&json!({ "added": added, "counted": received.counted, "known": received.known }))?;
            return Ok(ExitStatus::Success);
        }
        for (_, line) in &received.added {
            ui.write_content(format!("added {line}\n").as_bytes())?;
        }
        for line in &received.counted {
            ui.write_content(format!("counted {line}\n").as_bytes())?;
        }
        let (added, counted, known) = (received.added.len(), received.counted.len(), received.known);
        ui.note(format!("{added} added, {counted} counted, {known} known"));
        Ok(ExitStatus::Success)
    }
}
