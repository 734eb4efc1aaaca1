//! `git trace count`: tokens of files.

use crate::base::error::Result;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::app::cli::flags::content as input;
use crate::app::context::Context;
use crate::app::ui::escaped;
use crate::git::{GitError, Repo};
use crate::tokens::Encoding;
use crate::trace::store::settings::encoding;

/// Count the tokens of files or stdin
///
/// Works outside of a repository too. The text of a special token counts as ordinary text. Invalid UTF-8 counts as one
/// U+FFFD per invalid sequence.
#[derive(clap::Args, Debug)]
pub(crate) struct CountArgs {
    /// Files to count [default: `-`, which is stdin]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Encoding [default: `trace.encoding`, or `o200k_base`]
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl CountArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let env = context.env.clone();
        let encoding = match self.encoding {
            Some(encoding) => encoding,
            None => match Repo::open_from_env(env) {
                Ok(repo) => encoding(&repo)?,
                Err(GitError::NotARepository) => Encoding::default(),
                Err(error) => return Err(error.into()),
            },
        };
        let stdin = [PathBuf::from("-")];
        let files = if self.files.is_empty() { &stdin[..] } else { &self.files };
        let mut counts: Vec<(String, u64)> = Vec::with_capacity(files.len());
        for file in files {
            counts.push((file.display().to_string(), encoding.count(&input::read(file)?)));
        }
        let total: u64 = counts.iter().map(|(_, tokens)| tokens).sum();
        if self.json {
            let files: Vec<Value> =
                counts.iter().map(|(file, tokens)| json!({ "file": file, "tokens": tokens })).collect();
            return ui.json(&json!({ "files": files, "total": total, "encoding": encoding.to_string() }));
        }
        let width = total.to_string().len();
        for (file, tokens) in &counts {
            if self.files.is_empty() {
                writeln!(ui, "{tokens}")?;
            } else {
                writeln!(ui, "{tokens:>width$} {}", escaped(file))?;
            }
        }
        if counts.len() > 1 {
            writeln!(ui, "{total:>width$} total")?;
        }
        Ok(())
    }
}
