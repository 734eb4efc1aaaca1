//! `git trace crumb triage`.

use std::path::PathBuf;

use super::{parse, read};
use crate::app::cli::{Context, Result, Value, json};
use crate::base::finding::Plain;
use crate::memory::crumb;

/// Score how much each entry of a crumb file is worth keeping, with reasons
#[derive(clap::Args, Debug)]
pub(crate) struct TriageArgs {
    /// Crumb file (`-` is stdin)
    file: PathBuf,
    /// Print one JSON object per entry
    #[arg(long)]
    json: bool,
}

impl TriageArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let bytes = read(&self.file)?;
        let crumb = parse(&self.file, &bytes)?;
        for score in crumb::triage(&crumb) {
            if self.json {
                let reasons = score.reasons.iter().map(|(points, why)| json!({ "points": points, "why": why }));
                ui.json(&json!({
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
            ui.write_content(&line)?;
        }
        Ok(())
    }
}
