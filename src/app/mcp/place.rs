//! Where the server works: the repository it was started in, opened anew for each request.

use std::path::{Path, PathBuf};

use crate::base::error::{Context as _, Result, bail};
use crate::git::{Env, Git, GitError, Repo};
use crate::memory::breadcrumb::Store;
use crate::memory::brief::BriefRequest;
use crate::trace::store::head;
use crate::trace::store::signature::Signature;
use crate::trace::store::trace::Trace;
use crate::trace::{Time, TraceName};

/// The folder, environment and trace the server was started with.
pub(crate) struct Place {
    env: Env,
    folder: PathBuf,
    /// `None` in a bare repository.
    root: Option<PathBuf>,
    trace: Option<TraceName>,
}

impl Place {
    /// This process's. `trace` is the one that the command line names.
    pub(crate) fn here(env: Env, trace: Option<TraceName>) -> Result<Self> {
        let folder = std::env::current_dir().context("cannot tell which folder this is")?;
        let trace = match (trace, env.text("GITTRACE_NAME")) {
            (Some(trace), _) => Some(trace),
            (None, Some(name)) => Some(name.parse()?),
            (None, None) => None,
        };
        let root = Repo::open_from_env(env.clone())?.worktree();
        let root = root.map(|root| root.canonicalize().unwrap_or(root));
        Ok(Self { env, folder, root, trace })
    }

    /// The repository as it is now: what others changed since the last request is seen.
    pub(crate) fn repo(&self) -> Result<Repo> {
        Ok(Repo::open_from_env(self.env.clone())?)
    }

    /// The clock, read now.
    #[expect(clippy::unused_self, reason = "tools reach the clock through their place only")]
    pub(crate) fn now(&self) -> Time {
        Time::now()
    }

    /// The trace to work on: the one a tool was told, the one the server was started for, or the current one.
    pub(crate) fn trace(&self, repo: &Repo, named: Option<TraceName>) -> Result<TraceName> {
        match named.or_else(|| self.trace.clone()) {
            Some(name) => Ok(name),
            None => Ok(head::current(repo)?),
        }
    }

    /// A handle on a trace, signed as git would sign now.
    pub(crate) fn open<'r>(&self, repo: &'r Repo, name: TraceName) -> Result<Trace<'r>> {
        Ok(Trace::new(repo, name, Signature::take(repo, self.now())?))
    }

    /// The brief that the settings ask for, of the trace the server works on.
    pub(crate) fn brief(&self, repo: &Repo) -> Result<BriefRequest> {
        let mut request = BriefRequest::from_config(repo, None, &self.folder)?;
        request.trace = self.trace(repo, None)?;
        Ok(request)
    }

    /// The root of the working tree.
    pub(crate) fn root(&self) -> Result<&Path> {
        Ok(self.root.as_deref().ok_or(GitError::NoWorktree)?)
    }

    /// The breadcrumb store that serves the folder.
    pub(crate) fn store(&self) -> Result<Store> {
        Ok(Store::find(&self.folder, self.root()?))
    }

    /// Git, called in the folder.
    pub(crate) fn git(&self) -> Git {
        Git::in_folder(&self.folder)
    }

    /// A file of the working tree, named from its root; what leads out of it, also by a link, is refused.
    pub(crate) fn file(&self, argument: &str, path: &str) -> Result<PathBuf> {
        let root = self.root()?;
        let full = root.join(path);
        let real = full.canonicalize().with_context(|| format!("argument `{argument}`: cannot read `{path}`"))?;
        if !real.starts_with(root) || real.strip_prefix(root).is_ok_and(|path| path.starts_with(".git")) {
            bail!("argument `{argument}`: `{path}` is outside of the working tree");
        }
        Ok(real)
    }
}
