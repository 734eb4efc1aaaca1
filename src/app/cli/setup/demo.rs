//! `git trace demo`: the tool on one screen, with a real session in a temporary repository.

use std::env;
use std::fs;
use std::path::Path;

use crate::app::cli::{Context, ErrorContext as _, Result, bail};
use crate::base::process::Process;

/// Try the tool on a real session in a temporary repository
#[derive(clap::Args, Debug)]
pub(crate) struct DemoArgs {}

/// A Claude Code session, published under the MIT license (see the README in its folder).
const SESSION: &str = include_str!("../../../../tests/fixtures/transcripts/claude-code/small-thinking-tools.jsonl");

/// Explanations, each with the command that follows it.
const STEPS: [(&str, &str); 10] = [
    ("Import a real session of a coding agent into a trace, one commit per item.", "git trace init release-fix"),
    ("", "git trace import claude-code session.jsonl"),
    ("", "git trace log --oneline -n 4"),
    (
        "Pin what matters and skip what only fills the context, each with a reason.",
        "git trace pin '#2' --reason 'the task'",
    ),
    ("", "git trace skip '#7' '#11' --reason 'whole files; only one line mattered'"),
    (
        "Edit an item that is too long or wrong. Its id stays the same.",
        "git trace edit '#17' -m 'Done: the notarization timeout is 45m.'",
    ),
    ("", "git trace status"),
    ("Print the messages for a model, now and at an earlier state.", "git trace materialize | wc -c"),
    ("", "git trace materialize --as-of '#23' | wc -c"),
    ("Everything is plain git.", "git log --oneline -n 2 TRACE_HEAD"),
];

const NEXT: &str = "
Now in your own repository:

  git trace import claude-code     import the newest Claude Code session of this folder
  git trace commit -m 'TEXT'       or commit your own item
  git trace log                    show what happened, newest first
  git trace materialize            print the messages for a model
  git trace help                   list all commands
";

impl DemoArgs {
    #[expect(clippy::unused_self, reason = "the command has no arguments")]
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
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
    shell.current_dir(folder).env("PATH", path);
    for variable in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GITTRACE_NAME"]
    {
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
