//! `git trace check`: what must not be committed, told by line.

use crate::app::cli::{Context, Error, ExitStatus, Result, Value, json};
use crate::base::finding::Weight;
use crate::base::merge::FileKind;
use crate::check::staged::{CheckError, Checked, Source, check};

/// Check the memory files of a commit, for CI, or of the index
///
/// Checks breadcrumbs, crumb files, and checkpoints. `fsck` checks the stored traces, `doctor` the setup; `crumb validate` and
/// `checkpoint validate` check single files of the working tree.
///
/// Prints one line per finding: `path:line:column: rule: problem; remedy`. The exit status is 1 if there are errors;
/// warnings do not count. The command reads the blobs of the commit or the index, not the files of the working tree.
#[derive(clap::Args, Debug)]
pub(crate) struct CheckArgs {
    /// Commit or tree to check
    #[arg(default_value = "HEAD")]
    rev: String,
    /// Check the index instead of a commit
    #[arg(long, conflicts_with = "rev")]
    staged: bool,
    /// Print only errors
    #[arg(short, long)]
    quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl CheckArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let source = if self.staged { Source::Staged } else { Source::Rev(self.rev.clone()) };
        let checked = match check(&context.git()?, context.env.clone(), &source, context.now()) {
            Err(error @ CheckError::NoSuchRev { .. }) if self.rev == "HEAD" => {
                let hint = "before the first commit, use `--staged` to check the index";
                return Err(Error::with_hint(error.to_string(), hint));
            }
            checked => checked?,
        };
        let count = |weight| checked.iter().flat_map(|file| &file.findings).filter(|f| f.weight == weight).count();
        let (errors, warnings) = (count(Weight::Error), count(Weight::Warning));
        if self.json {
            ui.json(&to_json(&checked, errors, warnings)?)?;
            return Ok(ExitStatus::of(errors == 0));
        }
        for file in &checked {
            for finding in file.findings.iter().filter(|finding| !self.quiet || finding.weight == Weight::Error) {
                ui.write_content(format!("{}\n", finding.in_file(&file.path)))?;
            }
        }
        ui.note(format!("files checked: {}, errors: {errors}, warnings: {warnings}", checked.len()));
        Ok(ExitStatus::of(errors == 0))
    }
}

fn to_json(checked: &[Checked], errors: usize, warnings: usize) -> Result<Value> {
    let mut findings = Vec::new();
    for file in checked {
        for finding in &file.findings {
            let mut value = serde_json::to_value(finding)?;
            value["path"] = Value::String(file.path.clone());
            findings.push(value);
        }
    }
    let kind = |file: &Checked| file.kind.map_or("other", FileKind::as_str);
    let files: Vec<_> = checked.iter().map(|file| json!({ "path": file.path, "kind": kind(file) })).collect();
    Ok(json!({ "files": files, "findings": findings, "errors": errors, "warnings": warnings }))
}
