//! `git trace resume`: an agent continues a trace.

use std::fs;
use std::path::{Path, PathBuf};

use super::export::{Written, full_command, new_session, quoted, write};
use crate::app::cli::flags::agent;
use crate::app::cli::trace::branch::pick;
use crate::app::cli::{Context, Error, ExitStatus, Result, Values, escaped, json};
use crate::app::ui::grouped;
use crate::base::escape::shell_word;
use crate::base::process::{Process, ProcessError};
use crate::clean::{WORTH, newest_branch};
use crate::git::Repo;
use crate::trace::query::size::ContextSize;
use crate::trace::store::head;
use crate::trace::{Op, Tip, TraceName, View};
use crate::transcript::continuation::{folder_of_session, last_open_call, newest_source, recorded_by};
use crate::transcript::export::{NewSession, RESUMED, import_command, resume_command};
use crate::transcript::format::Format;

/// How many hours a call may run. An older one without a result was interrupted.
const LONGEST_CALL: u64 = 24;

/// Continue a trace in an agent, as a new session
///
/// The agent is the one that recorded the session, unless --agent names another. It starts in the folder in which the session ran,
/// with this terminal, and its exit status is that of the command. Its recording continues the trace, as after `export`.
#[derive(clap::Args, Debug)]
pub(crate) struct ResumeArgs {
    /// Trace to continue [default: chosen from a list on a terminal, else the current trace, or what a newer `clean` made of it]
    name: Option<TraceName>,
    /// Agent to start: claude-code, codex, gemini-cli, opencode, copilot-cli, or pi [default: the one that recorded the session]
    #[arg(long, value_name = "NAME", value_parser = agent(RESUMED), add = Values::OneOf(RESUMED))]
    agent: Option<Format>,
    /// Folder to start the agent in [default: that of the session, if it is known and in this repository, else the root of the working
    /// tree]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Write the session, and print the command that resumes it instead of running it
    #[arg(long)]
    print: bool,
    /// Export even if the agent seems to be writing the session
    #[arg(short, long)]
    force: bool,
    /// With --print, print the result as JSON
    #[arg(long, requires = "print")]
    json: bool,
}

impl ResumeArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let repo = context.repo()?;
        let named = match &self.name {
            None => context.named_trace()?,
            named => named.clone(),
        };
        let (name, why) = match &named {
            Some(_) => (context.trace_name(named.as_ref())?, None),
            None => match choose(context)? {
                Some(choice) => choice,
                None => return Ok(ExitStatus::Success),
            },
        };
        let view = context.view(Some(&name), None)?.2;
        let session = new_session(context, self.start_in(context, &name, &view)?)?;
        let source = newest_source(repo.env(), &session.folder, &name);
        let before = source.as_deref().map(length);
        let recorded = recorded_by(repo, &name, &view)?;
        let Some(agent) = self.agent.or(recorded) else {
            let message = format!("no agent recorded trace `{name}`");
            return Err(Error::with_hint(
                message,
                format!("name one: git trace resume --agent claude-code {}", shell_word(&name)),
            ));
        };
        if let Some(why) = why {
            context.ui.note(why);
        }
        if let Some(recorder) = recorded.filter(|_| !self.force) {
            let since = context.now().hours_earlier(LONGEST_CALL).unwrap_or(context.now());
            if let Some(call) = last_open_call(repo, &view, since)? {
                return Err(is_writing(recorder, &format!("call {call} has no result yet")));
            }
            if let Some(file) = source.filter(|file| Some(length(file)) != before) {
                return Err(is_writing(recorder, &format!("`{}` is growing", escaped(&file.to_string_lossy()))));
            }
        }
        let Written { session, path, exported } = write(context, &name, agent, session, None)?;
        let command = full_command(agent, &session.id, &path);
        let size = ContextSize::of(repo, &view, context.counter()?, None)?;
        let full = size
            .percent_text(size.size.tokens)
            .map(|percent| format!(", {percent} of the context window{}", size.omission()));
        context.ui.note(format!(
            "{} items as session {}{}; its first request costs the full input, because no prompt cache has it",
            exported.items,
            session.id,
            full.unwrap_or_default()
        ));
        if let Some(saved) = saved_by_clean(context, &view.tip)?.filter(|saved| *saved < WORTH) {
            context.ui.note(format!("the last clean saved only {} tokens, which is hardly worth that", grouped(saved)));
        }
        if self.json {
            context.ui.json(&json!({ "trace": name.as_str(), "agent": agent.as_str(), "session": session.id,
                "file": path.to_string_lossy(), "items": exported.items, "notes": exported.notes,
                "folder": session.folder.to_string_lossy(), "command": command }))?;
        } else if self.print {
            writeln!(context.ui, "{}", shell_line(&session, &command))?;
        } else {
            return start(context, agent, &session, &path);
        }
        Ok(ExitStatus::Success)
    }

    /// The folder to start the agent in, which exists; `None`: the usual one.
    fn start_in(&self, context: &Context, name: &TraceName, view: &View) -> Result<Option<PathBuf>> {
        let (folder, what) = match &self.folder {
            Some(given) => (Some(context.folder()?.join(given)), "folder"),
            None => (folder_of_session(context.repo()?, &view.tip)?, "folder of the session"),
        };
        let Some(folder) = folder else { return Ok(None) };
        if let Ok(folder) = folder.canonicalize()
            && folder.is_dir()
        {
            if self.folder.is_none() && !is_in(context.repo()?, &folder) {
                let place = escaped(&folder.to_string_lossy()).into_owned();
                context.ui.note(format!("the session ran in `{place}`, outside of this repository; it continues here"));
                return Ok(None);
            }
            return Ok(Some(folder));
        }
        let message = format!("the {what}, `{}`, does not exist", escaped(&folder.to_string_lossy()));
        let hint = format!("start in another one: git trace resume --folder DIR {}", shell_word(name));
        Err(Error::with_hint(message, hint))
    }
}

/// Whether a folder is in a worktree of a repository, and not in another clone of it.
fn is_in(repo: &Repo, folder: &Path) -> bool {
    let place = |repo: &Repo| repo.common_dir().canonicalize().ok();
    Repo::containing(folder, repo.env().clone()).is_ok_and(|other| place(&other) == place(repo))
}

/// The trace to continue if none was named, and why if nobody picked it; `None` if the user chose none.
fn choose(context: &Context) -> Result<Option<(TraceName, Option<String>)>> {
    let repo = context.repo()?;
    if context.ui.can_ask() {
        // The list helps to choose another trace if the head is bad.
        let current = head::current(repo).ok();
        let cleaned = current.map(|current| newest_branch(repo, &current)).transpose()?.flatten();
        let picked = pick(context, cleaned.as_ref())?;
        return picked.map(|name| Ok((context.trace_name(Some(&name))?, None))).transpose();
    }
    let name = context.trace_name(None)?;
    if let Some(cleaned) = newest_branch(repo, &name)? {
        let original = shell_word(&name);
        let why =
            format!("`{cleaned}` is the cleaned copy of `{name}`; `git trace resume {original}` resumes the original");
        return Ok(Some((context.trace_name(Some(&cleaned))?, Some(why))));
    }
    let why = (head::current(repo)? == name).then(|| format!("`{name}` is the current trace"));
    Ok(Some((name, why)))
}

/// The tokens that the newest commit saved, if it is a clean.
fn saved_by_clean(context: &Context, tip: &Tip) -> Result<Option<u64>> {
    let Some(parent) = tip.commit.parents.first().filter(|_| tip.trailers.op == Some(Op::Clean)) else {
        return Ok(None);
    };
    let (repo, counter) = (context.repo()?, context.counter()?);
    let before = Tip::read(repo, *parent)?.counted(repo, counter)?;
    Ok(Some(before.saturating_sub(tip.counted(repo, counter)?)))
}

fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |file| file.len())
}

fn is_writing(agent: Format, cause: &str) -> Error {
    let message = format!("{} may be writing the session: {cause}", agent.agent().name);
    Error::with_hint(message, "wait until it is done, or use --force")
}

/// The command for a shell in any folder.
fn shell_line(session: &NewSession, command: &str) -> String {
    format!("cd {} && {command}", quoted(&session.folder))
}

fn start(context: &Context, agent: Format, session: &NewSession, file: &Path) -> Result<ExitStatus> {
    context.ui.finish()?;
    let process = |command: &str| {
        let mut words = command.split(' ');
        let mut process = Process::new(words.next().unwrap_or_default());
        process.args(words).current_dir(&session.folder);
        process
    };
    let failed = |error: ProcessError| {
        let command = full_command(agent, &session.id, file);
        let hint = format!("the session is written; where the agent is installed, `{command}` resumes it");
        Error::with_hint(Error::from(error).to_string(), hint)
    };
    if let Some(command) = import_command(agent) {
        process(command).arg(file).run().map_err(failed)?;
        // The agent has a copy.
        let _ = fs::remove_file(file);
    }
    let status = process(&resume_command(agent, &session.id)).replace_this().map_err(failed)?;
    Ok(ExitStatus::Of(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
