//! `git trace crumb validate`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::read;
use crate::app::cli::{Context, ExitStatus, Result, Ui, bail, json};
use crate::base::finding::Weight;
use crate::memory::crumb::{CrumbFile, TOKEN_LIMIT, check};
use crate::tokens::Counter;
use crate::trace::store::settings::counter;

/// Validate crumb files
///
/// Prints one line per finding: `path:line:column: rule: problem; remedy`. The exit status is 1 if there are errors. The
/// input can also be a request `{"action":"validate","content":"…"}`, whose content is then validated.
#[derive(clap::Args, Debug)]
pub(crate) struct ValidateArgs {
    /// Files [default: stdin]
    #[arg(default_value = "-", hide_default_value = true)]
    files: Vec<PathBuf>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct Request {
    action: String,
    content: String,
}

impl ValidateArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        // Files outside of a repository are validated too.
        let counter = context.repo().ok().and_then(|repo| counter(repo, None).ok()).unwrap_or_default();
        let mut are_valid = true;
        for path in &self.files {
            are_valid &= validate(path, self, counter, &context.ui)?;
        }
        Ok(ExitStatus::of(are_valid))
    }
}

fn validate(path: &Path, args: &ValidateArgs, counter: Counter, ui: &Ui) -> Result<bool> {
    let name = if path.as_os_str() == "-" { "stdin".to_owned() } else { path.display().to_string() };
    let mut bytes = read(path)?;
    if let Some(content) = requested(&bytes)? {
        bytes = content.into_bytes();
    }
    let findings = check(&bytes, counter);
    let count = |weight| findings.iter().filter(|finding| finding.weight == weight).count();
    let (errors, warnings) = (count(Weight::Error), count(Weight::Warning));
    let is_valid = errors == 0 && (warnings == 0 || !args.strict);
    if args.json {
        let crumb = CrumbFile::parse(&bytes).ok();
        let header = crumb.as_ref().and_then(CrumbFile::header);
        ui.json(&json!({
            "path": name, "valid": is_valid, "errors": errors, "warnings": warnings, "header": header,
            "tokens": counter.count(&bytes), "token_limit": TOKEN_LIMIT, "findings": findings,
        }))?;
        return Ok(is_valid);
    }
    findings
        .iter()
        .try_for_each(|finding| ui.write_content(format!("{}: {}\n", finding.weight, finding.in_file(&name))))?;
    let word = if is_valid { "valid" } else { "not valid" };
    ui.note(format!("{name}: {word}, errors: {errors}, warnings: {warnings}"));
    Ok(is_valid)
}

/// The content of a request, if it is one. A crumb file never starts with a brace.
fn requested(bytes: &[u8]) -> Result<Option<String>> {
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Ok(None);
    }
    match serde_json::from_slice::<Request>(bytes) {
        Ok(request) if request.action == "validate" => Ok(Some(request.content)),
        Ok(request) => bail!("unknown action `{}` in the request: expected validate", request.action),
        Err(_) => Ok(None),
    }
}
