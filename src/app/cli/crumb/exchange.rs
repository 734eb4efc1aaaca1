//! `git trace crumb send` and `receive`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{ExitStatus, Ui, agent, parse, read};
use crate::app::secrets::refuse_secret_text;
use crate::base::error::{Context as _, Result};
use crate::memory::crumb::{self, CrumbError, CrumbFile};

/// Print a crumb file, or some of its sections, for another agent to receive
///
/// Every entry gets the letter of its agent.
#[derive(clap::Args, Debug)]
pub(crate) struct SendArgs {
    /// Crumb file (`-` is stdin)
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
    /// Crumb file that takes it in
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

pub(crate) fn run_send(args: &SendArgs, ui: &mut Ui) -> Result<ExitStatus> {
    let bytes = read(&args.file)?;
    let crumb = parse(&args.file, &bytes)?;
    let text = crumb::send(&crumb, &args.sections, args.agent)
        .with_context(|| format!("cannot send `{}`", args.file.display()))?;
    ui.write_content(text.as_bytes())?;
    Ok(ExitStatus::Success)
}

pub(crate) fn run_receive(args: &ReceiveArgs, ui: &mut Ui) -> Result<ExitStatus> {
    let bytes = read(&args.from)?;
    refuse_secret_text(&String::from_utf8_lossy(&bytes))?;
    let sent = CrumbFile::parse(&bytes).map_err(CrumbError::from);
    let sent = sent.with_context(|| format!("cannot take in `{}`", args.from.display()))?;
    let received = crumb::edit(&args.file, |crumb| crumb::receive(crumb, &sent, args.agent))
        .with_context(|| format!("cannot take in `{}`", args.from.display()))?;
    if args.json {
        let added = received.added.iter().map(|(section, line)| json!({ "section": section, "entry": line }));
        let added: Vec<Value> = added.collect();
        ui.json_line(&json!({ "added": added, "counted": received.counted, "known": received.known }))?;
        return Ok(ExitStatus::Success);
    }
    for (_, line) in &received.added {
        ui.write_content(format!("added {line}\n").as_bytes())?;
    }
    for line in &received.counted {
        ui.write_content(format!("counted {line}\n").as_bytes())?;
    }
    let (added, counted, known) = (received.added.len(), received.counted.len(), received.known);
    ui.note(&format!("{added} added, {counted} counted, {known} known"));
    Ok(ExitStatus::Success)
}
