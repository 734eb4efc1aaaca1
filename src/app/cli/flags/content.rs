//! Content from a flag, a file, stdin, or an editor, and the budget that it must fit.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use crate::app::cli::{Context, Error, ErrorContext as _, Result, Value, bail};
use crate::base::bounded;
use crate::base::process::Process;
use crate::base::worktree_path::check_regular_or_open;
use crate::git::Repo;
use crate::trace::store::budget_policy::BudgetPolicy;

/// Content on the command line.
#[derive(clap::Args, Debug)]
pub(crate) struct ContentArgs {
    #[command(flatten)]
    options: ContentOptions,
    /// `-` reads the content from stdin, unchanged
    #[arg(value_name = "-", value_parser = ["-"], conflicts_with_all = ["message", "file"])]
    stdin: Option<String>,
}

/// Content in an option.
#[derive(clap::Args, Debug)]
pub(crate) struct ContentOptions {
    /// Content
    #[arg(short = 'm', long, value_name = "TEXT", conflicts_with = "file", allow_hyphen_values = true)]
    message: Option<String>,
    /// Read the content from a file, unchanged (`-` is stdin)
    #[arg(short = 'F', long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl ContentOptions {
    pub(crate) fn is_given(&self) -> bool {
        self.message.is_some() || self.file.is_some()
    }

    /// The content that was given, or that of stdin if `from_stdin`.
    pub(crate) fn read(&self, from_stdin: bool) -> Result<Option<Vec<u8>>> {
        if let Some(text) = &self.message {
            return Ok(Some(text.clone().into_bytes()));
        }
        let path = self.file.as_deref().or(from_stdin.then(|| Path::new("-")));
        if path.is_some_and(|path| path.as_os_str() == "-") && is_stdin_null() {
            let hint = "use a pipe or -F FILE; `-m ''` makes an empty item";
            return Err(Error::with_hint("no content was given: stdin is closed, or /dev/null", hint));
        }
        path.map(read).transpose()
    }
}

impl ContentArgs {
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>> {
        self.options.read(self.stdin.is_some())
    }

    /// The content that was given, or `before` as the user edits it.
    pub(crate) fn read_or_edit(&self, context: &Context, before: &[u8]) -> Result<Vec<u8>> {
        if let Some(bytes) = self.read()? {
            return Ok(bytes);
        }
        if !io::stdin().is_terminal() {
            return Err(Error::with_hint("no content was given", "-m TEXT, -F FILE, or `-` for stdin"));
        }
        let edited = edit(context.repo()?, Editor::Message, before)?;
        if edited.trim_ascii().is_empty() {
            return Err(Error::with_hint("the text is empty, so nothing was recorded", "`-m ''` makes an empty item"));
        }
        Ok(edited)
    }
}

/// Reads a file, or stdin if it is `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        return bounded::read_all(io::stdin()).context("cannot read stdin");
    }
    check_regular_or_open(path).and_then(|()| bounded::read_file(path)).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        match error.kind() {
            io::ErrorKind::NotFound => Error::with_hint(message, "name a file that exists, or `-` for stdin"),
            _ => Error::msg(message),
        }
    })
}

/// Whether stdin is the null device. Rust's runtime opens it in place of a closed stdin.
fn is_stdin_null() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        use std::os::unix::fs::MetadataExt as _;
        let stdin = io::stdin().as_fd().try_clone_to_owned().and_then(|stdin| fs::File::from(stdin).metadata());
        if let (Ok(stdin), Ok(null)) = (stdin, fs::metadata("/dev/null")) {
            return (stdin.dev(), stdin.ino()) == (null.dev(), null.ino());
        }
    }
    false
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("KEY=VALUE is expected".to_owned()),
    }
}

/// The name of a field: as in JSON, or as in the item file, with `-` instead of `_`.
#[expect(clippy::unnecessary_wraps, reason = "clap takes a parser that may fail")]
pub(crate) fn field_name(text: &str) -> Result<String, String> {
    Ok(text.replace('-', "_"))
}

pub(crate) fn field_value(text: &str) -> Result<(String, String), String> {
    key_value(text).map(|(field, value)| (field.replace('-', "_"), value))
}

/// A value of `meta`: JSON if it is JSON, else a text.
pub(crate) fn meta_value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Which of git's editors to start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Editor {
    Message,
    /// For lists of things to do, as in `git rebase -i`.
    Sequence,
}

/// Stores a text where an editor finds it, and the next purge. Returns the path.
pub(crate) fn keep(repo: &Repo, editor: Editor, text: &[u8]) -> Result<PathBuf> {
    let is_sequence = editor == Editor::Sequence;
    let path = repo.git_dir().join(if is_sequence { "TRACE_CLEAN_LIST" } else { "TRACE_EDITMSG" });
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(path)
}

/// Lets the user change a text in their editor, as git finds it.
pub(crate) fn edit(repo: &Repo, kind: Editor, before: &[u8]) -> Result<Vec<u8>> {
    let (config, env) = (repo.config()?, repo.env());
    let is_sequence = kind == Editor::Sequence;
    let of_sequence = || match env.given("GIT_SEQUENCE_EDITOR") {
        Some(editor) => Ok(Some(editor.to_owned())),
        None => config.text("sequence.editor"),
    };
    let own = if is_sequence { of_sequence()? } else { None };
    let Some(editor) = own.map_or_else(|| repo.program("GIT_EDITOR"), |own| Ok(Some(own)))? else {
        return Err(Error::with_hint("the terminal is dumb, and no editor is set", "set `$EDITOR` or `core.editor`"));
    };
    let path = keep(repo, kind, before)?;
    // The editor is the user's own setting and may carry arguments; the path is passed apart from it.
    let status = repo.shell(&format!("{} \"$@\"", Process::on_terminal(&editor))).arg(&editor).arg(&path).interact();
    let status = status.with_context(|| format!("cannot start the editor `{editor}`"))?;
    if !status.success() {
        bail!("the editor `{editor}` failed, so nothing was committed");
    }
    let after = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let _ = fs::remove_file(&path);
    Ok(after)
}

/// The budget of this command.
#[derive(clap::Args, Debug)]
pub(crate) struct BudgetArgs {
    /// Token budget of the trace [default: `trace.budget`, or none]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// What to do if a commit exceeds the budget: warn, reject, clean (`--preset` and `--keep` may follow, as in `git trace clean`),
    /// compress (`--preset`, `--margin`, and `--group` may follow, as in `git trace compress`), or run a command that may free tokens
    /// [default: `trace.budgetAction`, or warn]
    #[arg(long, value_name = "ACTION")]
    budget_action: Option<String>,
}

impl BudgetArgs {
    pub(crate) fn policy(&self, context: &Context) -> Result<Option<BudgetPolicy>> {
        context.budget(self.budget, self.budget_action.as_deref())
    }
}
