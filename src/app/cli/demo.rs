//! `git trace demo`: the tool in one screen, on a real session, in a repository that is thrown away.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

use super::ExitStatus;
use crate::base::error::{Context as _, Result, bail};

/// See the tool at work on a real session, in a repository that is thrown away
#[derive(clap::Args, Debug)]
pub(crate) struct DemoArgs {}

/// A session of Claude Code, published under the MIT licence (see its folder's README).
const SESSION: &str = include_str!("../../../tests/fixtures/transcripts/claude-code/small-thinking-tools.jsonl");

/// What is shown, in order: a line of explanation, and the command that follows it.
const STEPS: [(&str, &str); 10] = [
    ("A real session of a coding agent becomes a trace: one commit an item.", "git trace init release-fix"),
    ("", "git trace import claude-code session.jsonl"),
    ("", "git trace log --oneline -n 4"),
    (
        "What matters is pinned, what only fills the context is skipped; both with a reason.",
        "git trace pin '#2' -m 'the task'",
    ),
    ("", "git trace skip '#7' '#11' -m 'whole files, of which one line mattered'"),
    (
        "What was said too long, or wrong, is edited. Its id stays.",
        "git trace edit '#17' -m 'Done: the notarization timeout is 45m.'",
    ),
    ("", "git trace status"),
    ("The messages for a model, now and as they were before: nothing is lost.", "git trace materialize | wc -c"),
    ("", "git trace materialize --as-of '#23' | wc -c"),
    ("It is all plain git.", "git log --oneline -n 2 TRACE_HEAD"),
];

const NEXT: &str = "
Now in your own repository:

  git trace import claude-code     the newest session of Claude Code in this folder
  git trace commit -m 'TEXT'       or an item of your own
  git trace log                    what happened, newest first
  git trace materialize            the messages for a model
  git trace help                   everything else
";

pub(crate) fn run(_args: &DemoArgs) -> Result<ExitStatus> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    fs::write(folder.path().join("session.jsonl"), SESSION).context("cannot write the session")?;
    shell(folder.path(), "git init --quiet")?;
    for (index, (words, command)) in STEPS.iter().enumerate() {
        let mut text = String::new();
        if !words.is_empty() {
            let gap = if index > 0 { "\n" } else { "" };
            text = format!("{gap}# {words}\n");
        }
        say(&format!("{text}$ {command}\n"))?;
        shell(folder.path(), command)?;
    }
    say(NEXT)?;
    Ok(ExitStatus::Success)
}

/// Writes at once, since the commands write to the same place.
fn say(text: &str) -> Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Runs a command of the demonstration, with this very program as `git trace` and nothing of the user's own settings.
fn shell(folder: &Path, command: &str) -> Result<()> {
    let program = env::current_exe().context("cannot find this program")?;
    let own_folder = program.parent().map(Path::to_path_buf);
    let search = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(own_folder.into_iter().chain(env::split_paths(&search)))?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("PATH", path);
    for variable in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GITTRACE_NAME"]
    {
        shell.env_remove(variable);
    }
    for who in ["AUTHOR", "COMMITTER"] {
        shell.env(format!("GIT_{who}_NAME"), "A U Thor").env(format!("GIT_{who}_EMAIL"), "author@example.com");
        // A date of its own makes every run of the demonstration print the same.
        shell.env(format!("GIT_{who}_DATE"), "1770714000 +0000");
    }
    shell.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_PAGER", "cat");
    let status = shell.status().context("cannot start a shell")?;
    if !status.success() {
        bail!("`{command}` failed");
    }
    Ok(())
}
