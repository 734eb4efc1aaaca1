//! `git trace count`: tokens of files.

use std::path::PathBuf;

use crate::app::cli::flags::content as input;
use crate::app::cli::{Context, Plain, Result, Value, json};
use crate::git::GitError;
use crate::tokens::image::{ImageRule, image_tokens};
use crate::tokens::{Counter, Encoding};

/// Count the tokens of files or stdin
///
/// Works outside of a repository too. The text of a special token counts as ordinary text. Invalid UTF-8 counts as one
/// U+FFFD per invalid sequence. Images count by width and height, as Anthropic documents.
#[derive(clap::Args, Debug)]
pub(crate) struct CountArgs {
    /// Files to count [default: `-`, which is stdin]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Counter [default: `trace.encoding`, or `o200k_base`]
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl CountArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let counter = match (self.encoding, context.repo()) {
            (Some(encoding), _) => encoding.into(),
            (None, Err(GitError::NotARepository)) => Counter::default(),
            (None, _) => context.counter()?,
        };
        let stdin = [PathBuf::from("-")];
        let files = if self.files.is_empty() { &stdin[..] } else { &self.files };
        let mut counts: Vec<(String, u64)> = Vec::new();
        for file in files {
            let bytes = input::read(file)?;
            let tokens = image_tokens(&bytes, ImageRule::Anthropic).unwrap_or_else(|| counter.count(&bytes));
            counts.push((file.display().to_string(), tokens));
        }
        let total: u64 = counts.iter().map(|(_, tokens)| tokens).sum();
        if self.json {
            let file = |(file, tokens): &(String, u64)| json!({ "file": file, "tokens": tokens });
            let files: Vec<Value> = counts.iter().map(file).collect();
            return ui.json(&json!({ "files": files, "total": total, "encoding": counter.id().to_string() }));
        }
        let width = total.to_string().len();
        for (file, tokens) in &counts {
            let file = if self.files.is_empty() { String::new() } else { format!(" {}", Plain(file)) };
            writeln!(ui, "{tokens:>width$}{file}")?;
        }
        if counts.len() > 1 {
            writeln!(ui, "{total:>width$} total")?;
        }
        Ok(())
    }
}
