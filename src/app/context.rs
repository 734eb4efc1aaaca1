//! The environment of a command, a hook, or a tool: one value per command line or request.

use crate::base::error::{Context as _, Error, Result};
use crate::base::escape::shell_word;
use crate::base::when::{Clock, When};
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::ui::Ui;
use crate::clean;
use crate::git::{Env, Git, GitError, Ident, Recorded, Repo, short_oid, worktree_root};
use crate::memory::breadcrumb::Store;
use crate::tokens::Counter;
use crate::trace::model::name::BadTraceName;
use crate::trace::model::types::Types;
use crate::trace::query::find::{by_part, unknown};
use crate::trace::store::budget_policy::BudgetPolicy;
use crate::trace::store::replaced::replaced;
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::store::view::View;
use crate::trace::store::{head, resolve, settings};
use crate::trace::{Time, Tip, TraceError, TraceName};
use crate::transcript::import::sessions;

/// Commands that change no trace: for these, a unique part of a name is enough.
pub(crate) const READING: &str =
    "attribute bisect blame brief diff grep log materialize priority show status top view why";

/// Commands that mean the newest recorded session if there is no current trace: they change no item in it.
const OF_SESSIONS: &str = "clean export grep log materialize resume show status top view";

/// Commands that people run after a session, which may not be the current trace.
const OF_NEW_SESSIONS: &str = "clean resume";

/// Commands that change items, and so need a chosen trace.
const OF_ITEMS: &str = "compress delete edit expand pin rebase reset restore revert skip unpin";

/// Commands that may create the trace that they name, or bring it back.
pub(crate) const CREATING: &str = "cherry-pick commit fetch import init merge pull push redo undo";

/// All other commands, and the tools of the MCP server.
#[cfg(test)]
pub(crate) const CHANGING: &str = "archive branch breadcrumb check checkpoint clean complete-words compress count crumb delete demo disable \
    doctor edit enable expand export forward fsck gc help hook install mcp merge-driver op pin purge rebase recall remote reset restore resume \
    revert sessions skip switch types uninstall unpin";

/// Tools of the MCP server that may create the trace that they name, or bring it back.
const CREATING_TOOLS: &str = "trace_commit trace_merge trace_undo";

/// Whether a list of words contains a word.
fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Folder, environment, clock, output, and the repository, which is opened when it is first needed.
pub(crate) struct Context {
    pub(crate) env: Env,
    pub(crate) ui: Ui,
    trace: Option<TraceName>,
    repo: Rc<OnceCell<Repo>>,
    /// The last answer of [`Self::trace_name`].
    worked_on: RefCell<Option<TraceName>>,
}

impl Context {
    pub(crate) fn new(env: Env, trace: Option<TraceName>) -> Self {
        let (env, repo) = (env.with_now(Time::now()), Rc::new(OnceCell::new()));
        Self { ui: Ui::new(&env, Rc::clone(&repo)), env, trace, repo, worked_on: RefCell::default() }
    }

    /// A context whose output stays in memory.
    pub(crate) fn in_memory(env: Env, trace: Option<TraceName>) -> Self {
        Self { ui: Ui::in_memory(), ..Self::new(env, trace) }
    }

    /// The repository that the folder or `$GIT_DIR` is in.
    pub(crate) fn repo(&self) -> Result<&Repo, GitError> {
        if let Some(repo) = self.repo.get() {
            return Ok(repo);
        }
        let repo = Repo::open_from_env(self.env.clone())?;
        Ok(self.repo.get_or_init(|| repo))
    }

    /// What this command has recorded, if anything.
    pub(crate) fn recorded(&self) -> Option<Recorded> {
        self.repo.get()?.recorded()
    }

    #[expect(clippy::unused_self, reason = "commands reach the folder through their context only")]
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        std::env::current_dir().context("cannot find the current folder")
    }

    /// The folders whose sessions belong to this one: it, and the root of its working tree.
    pub(crate) fn session_folders(&self) -> Result<Vec<PathBuf>> {
        let folders = [Some(self.folder()?), self.repo()?.worktree()].into_iter().flatten();
        let mut folders: Vec<PathBuf> = folders.map(|folder| folder.components().collect()).collect();
        folders.dedup();
        Ok(folders)
    }

    /// The real path of the root of the working tree.
    pub(crate) fn root(&self) -> Result<PathBuf> {
        let root = worktree_root(&self.folder()?, self.repo())?;
        Ok(root.canonicalize().unwrap_or(root))
    }

    pub(crate) fn git(&self) -> Result<Git> {
        Ok(Git::in_folder(self.folder()?))
    }

    #[expect(clippy::unused_self, reason = "commands reach the clock through their context only")]
    pub(crate) fn now(&self) -> Time {
        Time::now()
    }

    /// What relative times refer to.
    pub(crate) fn clock(&self) -> Clock {
        self.env.clock()
    }

    /// The trace that `--trace` or `$GITTRACE_NAME` names.
    pub(crate) fn named_trace(&self) -> Result<Option<TraceName>> {
        match (&self.trace, self.env.text("GITTRACE_NAME")) {
            (Some(name), _) => Ok(Some(name.clone())),
            (None, Some(name)) if name.contains(char::REPLACEMENT_CHARACTER) => {
                Err(BadTraceName(name.to_owned()).into())
            }
            (None, Some(name)) => Ok(Some(name.parse()?)),
            (None, None) => Ok(None),
        }
    }

    /// The trace to work on: `named` by the command, else the one that `--trace` or the environment names, else the current one.
    pub(crate) fn trace_name(&self, named: Option<&TraceName>) -> Result<TraceName> {
        let repo = self.repo()?;
        let name = match named.cloned().map_or_else(|| self.named_trace(), |name| Ok(Some(name)))? {
            Some(name) => self.find_trace(name)?,
            None => self.current_or_newest()?,
        };
        // The tip is noted before anything slow, such as an editor, so that a trace deleted meanwhile is not created again.
        // An error is reported where the tip is needed.
        let _ = Tip::note(repo, &name);
        *self.worked_on.borrow_mut() = Some(name.clone());
        Ok(name)
    }

    /// The newest recorded session, if commands are about it because nobody chose a trace or committed to the default one.
    pub(crate) fn shown_session(&self) -> Result<Option<TraceName>> {
        let repo = self.repo()?;
        let is_chosen = head::chosen(repo)?.is_some() || repo.find_ref(&TraceName::default_name().refname())?.is_some();
        Ok(if is_chosen { None } else { sessions::newest(repo)? })
    }

    /// The current trace, or the newest recorded session if nobody chose a trace or committed to the default one.
    fn current_or_newest(&self) -> Result<TraceName> {
        let repo = self.repo()?;
        let command = self.env.command().split(' ').next().unwrap_or_default();
        if lists(OF_SESSIONS, command)
            && let Some(newest) = self.shown_session()?
        {
            self.ui.note(format!("no trace is chosen; the newest recorded session is `{newest}`"));
            return Ok(newest);
        }
        if lists(OF_ITEMS, command)
            && let Some(newest) = self.shown_session()?
        {
            let hint = format!("`git trace switch {}` chooses the newest recorded session", shell_word(newest));
            return Err(Error::with_hint("no trace is chosen", hint));
        }
        let current = head::current(repo)?;
        if lists(OF_NEW_SESSIONS, command)
            && let Some(newest) = sessions::newer_than(repo, &current)?
        {
            let hint = format!("`git trace {command} {}` is about the newest recorded session", shell_word(newest));
            self.ui.note(format!("the current trace is `{current}`; {hint}"));
        }
        Ok(current)
    }

    /// The trace that a name means. Where a person asks, or nothing is changed, a unique part of a name is enough: what a script
    /// changes must not depend on which sessions were recorded.
    pub(crate) fn find_trace(&self, name: TraceName) -> Result<TraceName> {
        let repo = self.repo()?;
        let mut words = self.env.command().split(' ');
        let (command, tool) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let creates = lists(CREATING, command) || (command == "mcp" && lists(CREATING_TOOLS, tool));
        if creates || repo.find_ref(&name.refname())?.is_some() || head::current(repo)? == name {
            return Ok(name);
        }
        if (lists(READING, command) || self.ui.can_ask())
            && let Some(found) = by_part(repo, name.as_str())?
        {
            self.ui.note(format!("trace `{found}`"));
            return Ok(found);
        }
        Err(unknown(repo, &name)?.into())
    }

    /// The repository, the trace to work on, and its tip.
    pub(crate) fn current(&self, named: Option<&TraceName>) -> Result<(&Repo, TraceName, Tip)> {
        let (repo, name) = (self.repo()?, self.trace_name(named)?);
        let tip = Tip::of_trace(repo, &name)?;
        Ok((repo, name, tip))
    }

    /// The repository, the trace to work on, and its items, now or at the state `as_of`.
    pub(crate) fn view(&self, named: Option<&TraceName>, as_of: Option<&str>) -> Result<(&Repo, TraceName, View)> {
        let (repo, name) = (self.repo()?, self.trace_name(named)?);
        let view = View::open(repo, &name, as_of)?;
        self.warn_of(view.types());
        Ok((repo, name, view))
    }

    /// The items of a trace, now or at the state `as_of`; `None` if it had no commit then, or is the current trace and has none yet.
    pub(crate) fn find_view(&self, name: &TraceName, as_of: Option<&str>) -> Result<Option<View>> {
        let repo = self.repo()?;
        match View::open(repo, name, as_of) {
            Err(TraceError::BeforeTheFirst { .. }) => Ok(None),
            Err(TraceError::NoSuchTrace { .. } | TraceError::Unborn { .. })
                if head::current(repo)? == *name && as_of.is_none_or(|spec| spec.parse::<When>().is_ok()) =>
            {
                Ok(None)
            }
            view => {
                let view = view?;
                self.warn_of(view.types());
                Ok(Some(view))
            }
        }
    }

    fn warn_of(&self, types: &Types) {
        types.warnings().iter().for_each(|warning| self.ui.note(warning));
    }

    /// Tells the user where git shows other content than ours.
    pub(crate) fn warn_of_replacements(&self) -> Result<()> {
        let replaced = replaced(self.repo()?)?;
        if let Some(first) = replaced.first() {
            let others = if replaced.len() > 1 { " and other objects" } else { "" };
            let first = short_oid(*first);
            self.ui.note(format!("warning: git-trace ignores `git replace`, which replaces {first}{others} in git"));
        }
        Ok(())
    }

    /// A handle on a trace, signed as git would sign now.
    pub(crate) fn open(&self, name: &TraceName) -> Result<Trace<'_>> {
        Ok(Trace::new(self.repo()?, name.clone(), self.signature()?))
    }

    /// The commit that `spec` names: a trace, a remote's trace, or a state of the trace `name`.
    pub(crate) fn tip(&self, name: &TraceName, spec: &str) -> Result<Tip> {
        Ok(resolve::state(self.repo()?, name, spec)?.tip)
    }

    /// The budget of the traces, and what to do above it. Without a figure or an action, the settings say them.
    pub(crate) fn budget(&self, max_tokens: Option<u64>, action: Option<&str>) -> Result<Option<BudgetPolicy>> {
        Ok(BudgetPolicy::new(self.repo()?, max_tokens, action, clean::make_room)?)
    }

    pub(crate) fn signature(&self) -> Result<Signature> {
        Ok(Signature::take(self.repo()?, self.now())?)
    }

    /// Who moves a ref that needs no commit, which git permits without an identity.
    pub(crate) fn mover(&self) -> Ident {
        self.signature().map_or_else(|_| Ident::of("", self.now().as_second()), |signature| signature.committer)
    }

    /// The counter of the trace that the command works on.
    pub(crate) fn counter(&self) -> Result<Counter> {
        let repo = self.repo()?;
        let name = match &*self.worked_on.borrow() {
            Some(name) => Some(name.clone()),
            None => self.named_trace()?.or_else(|| head::current(repo).ok()),
        };
        Ok(settings::counter(repo, name.as_ref())?)
    }

    /// The breadcrumb store that serves the folder, in a working tree with this root.
    pub(crate) fn breadcrumbs(&self, root: &Path) -> Result<Store> {
        let (folder, repo) = (self.folder()?, self.repo().ok());
        let store = Store::find(&folder, root);
        store.check_checked_out(repo, &folder)?;
        let notes = repo.map(|repo| repo.common_dir().join("trace").join("cache"));
        Ok(match notes {
            Some(notes) => store.with_notes(notes),
            None => store,
        })
    }
}
