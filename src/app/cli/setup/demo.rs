//! `git trace demo`: the tool on one screen, with a real session in a temporary repository.

use std::env;
use std::fs;
use std::path::Path;

use crate::app::cli::{Context, ErrorContext as _, Result, bail};
use crate::base::process::Process;

/// Try the tool on a real session in a temporary repository
#[derive(clap::Args, Debug)]
pub(crate) struct DemoArgs {
    /// Print the session instead, for trying commands in a repository of your own
    #[arg(long)]
    session: bool,
}

/// A Claude Code session, published under the MIT license (see the README in its folder).
const SESSION: &str = include_str!("../../../../tests/fixtures/transcripts/claude-code/dangling-tool-use.jsonl");

/// Explanations, each with the command that follows it.
const STEPS: [(&str, &str); 9] = [
    (
        "Import a session of Claude Code into a trace, one commit per item.",
        "git trace import --trace work session.jsonl",
    ),
    ("See what fills the context.", "git trace top work -n 4"),
    ("Cut what the session no longer needs, on a new trace.", "git trace clean work --yes"),
    ("Print the messages for a model, before and after.", "git trace --trace work materialize | wc -c"),
    ("", "git trace --trace work.clean materialize | wc -c"),
    (
        "Edit an item that is wrong. Its id stays the same.",
        "git trace --trace work.clean edit '#2' -m 'Review the stack of pull requests in order.'",
    ),
    ("Undo any of this.", "git trace undo"),
    ("Everything is plain git.", "git log --oneline -n 2 refs/traces/work.clean"),
    ("", "git ls-tree -r --name-only refs/traces/work.clean | head -n 2"),
];

const NEXT: &str = "
Now in a repository where you use Claude Code:

  git trace import claude-code     import the newest session of this folder (or codex, gemini-cli)
  git trace top                    see what fills its context
  git trace clean                  choose what to cut, on a new trace
  git trace resume NAME.clean      continue with the result; `clean` prints the name
  git trace help                   list all commands
";

impl DemoArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        if self.session {
            return context.ui.write_raw(SESSION.as_bytes());
        }
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        fs::write(folder.path().join("session.jsonl"), SESSION).context("cannot write the session")?;
        shell(folder.path(), "git init --quiet")?;
        for (index, (explanation, command)) in STEPS.iter().enumerate() {
            if !explanation.is_empty() {
                let gap = if index > 0 { "\n" } else { "" };
                writeln!(context.ui, "{gap}# {explanation}")?;
            }
            writeln!(context.ui, "$ {command}")?;
            // The commands write to the same place.
            context.ui.flush()?;
            shell(folder.path(), command)?;
        }
        context.ui.write_raw(NEXT.as_bytes())
    }
}

/// Runs a command of the demonstration with this program as `git trace` and without the user's settings.
fn shell(folder: &Path, command: &str) -> Result<()> {
    let program = env::current_exe().context("cannot find this program")?;
    let own_folder = program.parent().map(Path::to_path_buf);
    let search = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(own_folder.into_iter().chain(env::split_paths(&search)))?;
    let mut shell = Process::shell(command);
    shell.current_dir(folder).env("PATH", path).elsewhere();
    for variable in ["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GITTRACE_NAME"] {
        shell.env_remove(variable);
    }
    for who in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{who}_NAME"), "A U Thor").env(format!("GIT_{who}_EMAIL"), "author@example.com");
        // With a fixed date, every run of the demonstration prints the same.
        shell.env(format!("GIT_{who}_DATE"), "1770714000 +0000");
    }
    shell.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_PAGER", "cat");
    let status = shell.status().context("cannot start a shell")?;
    if !status.success() {
        bail!("`{command}` failed");
    }
    Ok(())
}
