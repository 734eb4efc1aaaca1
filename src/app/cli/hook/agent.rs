//! The hooks of agents: each event imports what is new in the session's transcript.

use std::env::{current_dir, current_exe};
use std::io;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use super::consent::{tell_asking, tell_recording};
use super::deadline;
use super::full::announce;
use crate::app::cli::{Context, Result, failure, json, one_line};
use crate::base::bounded;
use crate::base::process::{Process, change_folder};
use crate::base::terminal;
use crate::git::Repo;
use crate::memory::brief::{self, BriefRequest};
use crate::memory::crumb;
use crate::memory::forward::query_time;
use crate::trace::store::settings::{self, Recording};
use crate::trace::store::signature::Signature;
use crate::trace::{Tip, View};
use crate::transcript::continuation::recorded_by;
use crate::transcript::format::Format;
use crate::transcript::import::hook::{self, HookInput};
use crate::transcript::import::seen::SeenFiles;
use crate::transcript::import::{CompactionMode, ImportContext, catch_up};

/// More bytes than this are imported by a background process, so that the agent does not wait. They take a quarter of a second.
const MAX_WAIT: u64 = 2 * 1024 * 1024;

/// How long an agent takes to write the records of a turn that it writes late.
const LATE: Duration = Duration::from_secs(1);

/// At most this many sessions that grew without a hook are imported at once; the next hook continues.
const MAX_CAUGHT_UP: usize = 8;

#[derive(clap::Args, Debug)]
pub(crate) struct AgentArgs {
    /// Print the brief for a session that starts
    #[arg(long)]
    brief: bool,
    /// Finish the import before returning, however long it takes
    #[arg(long)]
    wait: bool,
    /// Finish the import without an agent that waits for it
    #[arg(long, hide = true)]
    background: bool,
}

impl AgentArgs {
    pub(crate) fn run(&self, context: &Context, format: Format) {
        // The agent may have changed to a folder of another repository, such as a submodule, since the session started. If the
        // folder is gone, the current one counts.
        for variable in ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "FACTORY_PROJECT_DIR"] {
            let _ = context.env.os(variable).map(|folder| change_folder(folder.as_ref()));
        }
        let input = bounded::read_all(io::stdin().lock()).map(Arc::<[u8]>::from);
        // Nobody watches: a program that asks for a password would take what the user types for the agent.
        terminal::leave();
        if let Ok(input) = &input
            && !self.wait
            && !self.background
        {
            let input = Arc::clone(input);
            // If it cannot be started, the next hook continues.
            deadline::start(move || drop(detach(format, &input)));
        }
        let call = input.as_deref().ok().map(HookInput::parse);
        // Cursor starts the hooks of the user in its own folder.
        if let Some(Ok(HookInput { workspace_roots, .. })) = &call {
            let _ = workspace_roots.first().map(|folder| change_folder(folder.as_ref()));
        }
        // Outside of a repository, nothing is recorded, and there is no log to write to.
        let Ok(repo) = context.repo() else { return };
        let done = match (call, input) {
            (Some(call), Ok(input)) => {
                call.map_err(Into::into).and_then(|call| self.act(context, format, &call, &input))
            }
            (_, input) => input.map(drop).map_err(Into::into),
        };
        if let Err(error) = done {
            // If the log cannot be written either, nobody can be told.
            let _ = hook::log(repo, context.now(), format.as_str(), &format!("{error:#}"));
        }
    }

    fn act(&self, context: &Context, format: Format, call: &HookInput, input: &[u8]) -> Result<()> {
        if call.hook_event_name == "SessionStart" {
            if !self.brief || !call.is_new_session() {
                return Ok(());
            }
            // A crumb file that cannot be changed does not keep the session from its brief.
            let started = start_crumb_session(context);
            return print_brief(context, format).and(started);
        }
        let mut messages = Vec::new();
        let done = self.record(context, format, call, input, &mut messages);
        deadline::meet();
        if let Err(error) = &done
            && call.ends_turn()
            && !self.background
        {
            messages.push(format!(
                "git-trace: a hook that records sessions failed: {}. `git trace doctor` shows the last failure.",
                one_line(&format!("{error:#}"), 500)
            ));
        }
        if !messages.is_empty() {
            // The field that all of these agents show to their user.
            context.ui.json(&json!({ "systemMessage": messages.join("\n") }))?;
        }
        done
    }

    /// Records what is new, unless the user does not want it. Adds what to tell the user to `messages`.
    fn record(
        &self,
        context: &Context,
        format: Format,
        call: &HookInput,
        input: &[u8],
        messages: &mut Vec<String>,
    ) -> Result<()> {
        if call.is_of_sub_agent() {
            return Ok(());
        }
        let repo = context.repo()?;
        let recording = settings::recording(repo)?;
        let is_shown = call.ends_turn() && !self.background;
        if matches!(recording, Recording::Unwanted | Recording::Ask) {
            // If the user changes the setting later, no catch-up reads what sessions wrote until then.
            for git_dir in repo.worktree_git_dirs()? {
                let is_off = || SeenFiles::is_on(&git_dir, format) && !settings::is_recorded_in(&git_dir);
                if git_dir == repo.git_dir() || is_off() {
                    SeenFiles::restart(&git_dir, format, true);
                }
            }
            if recording == Recording::Ask && is_shown {
                messages.extend(tell_asking(repo));
            }
            return Ok(());
        }
        SeenFiles::start(repo, format);
        let writes_late = format.agent().writes_late;
        if writes_late && self.background {
            sleep(LATE);
        }
        let is_early = writes_late && !self.background && !self.wait;
        let is_new = is_early || !hook::is_recorded(repo, format, call)?;
        if is_early || is_new && self.is_long(repo, format, call)? {
            detach(format, input)?;
            if recording == Recording::Unsaid && is_shown {
                messages.extend(tell_recording(repo));
            }
            return Ok(());
        }
        if is_new
            && let Some(imported) = importing(context, |importing| hook::import(importing, format, call))??
            && let Some((name, report)) = imported.traces.first()
            && report.recorded > 0
            && is_shown
        {
            if recording == Recording::Unsaid {
                messages.extend(tell_recording(repo));
            }
            messages.extend(announce(context, name, report)?);
        }
        let grown = catch_up::grown(repo, format, &context.session_folders()?, MAX_CAUGHT_UP)?;
        if !grown.is_empty() && !self.wait && !self.background {
            return Ok(detach(format, input)?);
        }
        // One that fails stops no other.
        let mut done = Ok(());
        for file in &grown {
            let imported = importing(context, |importing| catch_up::import(importing, format, file))?;
            done = done.and(imported.map(drop));
        }
        Ok(done?)
    }

    /// Whether the import takes longer than the agent should wait.
    fn is_long(&self, repo: &Repo, format: Format, call: &HookInput) -> Result<bool> {
        Ok(!self.wait && !self.background && hook::backlog(repo, format, call)? > MAX_WAIT)
    }
}

/// Lets `act` import as hooks do, which needs no identity.
pub(in crate::app::cli) fn importing<T>(context: &Context, act: impl FnOnce(ImportContext<'_>) -> T) -> Result<T> {
    let repo = context.repo()?;
    let signature = Signature::of_hook(repo, context.now())?;
    let compactions = CompactionMode::from_settings(repo)?;
    Ok(act(ImportContext::new(repo, &signature, compactions)?))
}

/// Does the same in a background process, so that the agent does not wait.
fn detach(format: Format, input: &[u8]) -> io::Result<()> {
    Process::new(current_exe()?).args(["hook", format.as_str(), "--background"]).input(input).detach()
}

/// Starts a session in the configured crumb file, if the user asked for it.
fn start_crumb_session(context: &Context) -> Result<()> {
    let repo = context.repo()?;
    let config = repo.config()?;
    if config.boolean("trace.crumbStart")? != Some(true) || config.text("trace.briefCrumb")?.is_none() {
        return Ok(());
    }
    let folder = repo.worktree().map_or_else(current_dir, Ok)?;
    if let Some(path) = BriefRequest::from_config(repo, None, &folder)?.crumb {
        let path = path.map_err(|cause| failure!("{cause}"))?;
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method itself is for one lifetime only")]
        crumb::edit(&path, |crumb| crumb.start_session())?;
    }
    Ok(())
}

/// Prints the brief in the form that all of these agents read. It quotes the current trace only if the same agent recorded it.
fn print_brief(context: &Context, format: Format) -> Result<()> {
    let repo = context.repo()?;
    let folder = repo.worktree().map_or_else(current_dir, Ok)?;
    let mut request = BriefRequest::from_config(repo, None, &folder)?;
    let mut is_own = false;
    if let Some(name) = &request.trace
        && let Some(tip) = Tip::find(repo, name)?
    {
        is_own = recorded_by(repo, name, &View::at(repo, tip, None)?)? == Some(format);
    }
    request.trace = request.trace.filter(|_| is_own);
    let brief = brief::compile(repo, &request, query_time(repo, context.now())?).text;
    if brief.trim().is_empty() {
        return Ok(());
    }
    deadline::meet();
    let output = json!({ "hookEventName": "SessionStart", "additionalContext": brief });
    context.ui.json(&json!({ "hookSpecificOutput": output }))
}
