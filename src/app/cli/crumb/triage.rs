//! `git trace crumb triage`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{ExitStatus, Ui, parse, read};
use crate::base::error::Result;
use crate::base::finding::Plain;
use crate::memory::crumb;

/// Score the entries of a crumb file by how much they are worth keeping, and say why
#[derive(clap::Args, Debug)]
pub(crate) struct TriageArgs {
    /// Crumb file (`-` is stdin)
    file: PathBuf,

    /// One JSON object an entry
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &TriageArgs, ui: &mut Ui) -> Result<ExitStatus> {
    let bytes = read(&args.file)?;
    let crumb = parse(&args.file, &bytes)?;
    for score in crumb::triage(&crumb) {
        if args.json {
            let reasons = score.reasons.iter().map(|(points, why)| json!({ "points": points, "why": why }));
            ui.json_line(&json!({
                "score": score.points, "line": score.index + 1, "section": score.section, "entry": score.line,
                "reasons": reasons.collect::<Vec<Value>>(),
            }))?;
            continue;
        }
        let reasons: Vec<String> = score.reasons.iter().map(|(points, why)| format!("{why} {points}")).collect();
        let line = format!(
            "{:>3} {:>4} {}\n         {}\n",
            score.points,
            score.index + 1,
            Plain(&score.line),
            reasons.join(" + ")
        );
        ui.write_content(line.as_bytes())?;
    }
    Ok(ExitStatus::Success)
}
