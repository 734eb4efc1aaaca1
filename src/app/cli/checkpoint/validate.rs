//! `git trace checkpoint validate`.

use std::path::PathBuf;

use super::CheckpointContext;
use crate::app::cli::{Context, Error, ExitStatus, Result, Ui, json};
use crate::base::finding::Weight;
use crate::memory::checkpoint::folder::File;
use crate::memory::checkpoint::pathspec::is_archived;
use crate::memory::checkpoint::validate::files::{ValidatedFile, validate_files};

/// Validate checkpoints and index files; the exit status is 1 if there are errors
///
/// Prints one line per finding: `weight: path:line:column: rule: problem; remedy`. Warnings do not count, and advice is
/// given only if there are no errors. A file whose name starts with INDEX is an index.
#[derive(clap::Args, Debug)]
pub(crate) struct ValidateArgs {
    /// Files [default: all checkpoints and index files of the working tree]
    pub(crate) files: Vec<PathBuf>,
    /// Print only errors
    #[arg(short, long)]
    quiet: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ValidateArgs {
    /// Checks the named files wherever they are, also outside of a repository.
    pub(super) fn run_files(&self, context: &Context) -> Result<ExitStatus> {
        let here = context.folder()?;
        let mut files = Vec::new();
        let mut unread = Vec::new();
        for path in &self.files {
            match File::read_named(&here.join(path), path.display().to_string()) {
                Ok(file) => files.push(file),
                // An unreadable file does not hide the others.
                Err(error) => unread.push(Error::from(error)),
            }
        }
        let archived = files.iter().filter(|file| is_archived(file.path.as_bytes())).count();
        let status = report(self, &validate_files(&files, context.now()), archived, &context.ui)?;
        match unread.into_iter().reduce(|first, next| {
            context.ui.note(format!("error: {next:#}"));
            first
        }) {
            Some(error) => {
                context.ui.finish()?;
                Err(error)
            }
            None => Ok(status),
        }
    }

    pub(crate) fn run(&self, context: &CheckpointContext<'_>) -> Result<ExitStatus> {
        let files = context.folder.files()?;
        let archived = files.iter().filter(|file| file.is_archived()).count();
        report(self, &validate_files(&files, context.now()), archived, &context.ui)
    }
}

fn report(args: &ValidateArgs, validated: &[ValidatedFile<'_>], archived: usize, ui: &Ui) -> Result<ExitStatus> {
    let count = |weight| validated.iter().flat_map(|one| &one.findings).filter(|one| one.weight == weight).count();
    let (errors, warnings, advice) = (count(Weight::Error), count(Weight::Warning), count(Weight::Advice));
    if args.json {
        let mut findings = Vec::new();
        for one in validated {
            for finding in one.findings.iter().filter(|one| !args.quiet || one.weight == Weight::Error) {
                findings.push(one.finding_to_json(finding)?);
            }
        }
        let file = |one: &ValidatedFile<'_>| json!({ "path": one.file.path, "kind": one.file.kind.as_str(), "valid": one.is_valid() });
        let files: Vec<_> = validated.iter().map(file).collect();
        ui.json(&json!({
            "files": files, "findings": findings, "errors": errors, "warnings": warnings, "advice": advice,
        }))?;
    } else {
        for one in validated {
            for finding in one.findings.iter().filter(|one| !args.quiet || one.weight == Weight::Error) {
                ui.write_content(format!("{}: {}\n", finding.weight, finding.in_file(&one.file.path)))?;
            }
        }
        let beside = if archived == 0 { String::new() } else { format!(" ({archived} archived)") };
        let files = validated.len();
        ui.note(format!("files: {files}{beside}, errors: {errors}, warnings: {warnings}, advice: {advice}"));
    }
    Ok(if errors == 0 { ExitStatus::Success } else { ExitStatus::No })
}
