//! The settings of a check, each read on first use.

use std::cell::OnceCell;

use crate::base::merge::FileKind;
use crate::base::time::Time;
use crate::base::when::When;
use crate::git::{Env, Git, GitError, Repo};
use crate::memory::checkpoint::Pathspec;
use crate::secrets::{Allowed, Policy};
use crate::trace::store::settings;

/// A setting that cannot be read is treated as not set, except for the one that says which files are checked.
pub(crate) struct Settings<'g> {
    git: &'g Git,
    env: Env,
    /// `None` if libgit2 cannot open the repository; then git is asked.
    repo: OnceCell<Option<Repo>>,
    checkpoints: OnceCell<Pathspec>,
}

impl<'g> Settings<'g> {
    pub(crate) fn new(git: &'g Git, env: Env) -> Self {
        Self { git, env, repo: OnceCell::new(), checkpoints: OnceCell::new() }
    }

    pub(crate) fn repo(&self) -> Option<&Repo> {
        self.repo.get_or_init(|| Repo::open_from_env(self.env.clone()).ok()).as_ref()
    }

    fn ask(&self, key: &str) -> Vec<String> {
        let answer = self.git.ask(&["config", "--get-all", key]).ok().filter(|answer| answer.code == Some(0));
        let text = answer.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// `trace.checkpoints` says where checkpoints are; other kinds are recognized by file name.
    pub(crate) fn kind(&self, path: &[u8]) -> Option<FileKind> {
        if !path.ends_with(b".md") {
            return FileKind::of_path(path);
        }
        let pathspec = self.checkpoints.get_or_init(|| {
            let setting = match self.repo() {
                Some(repo) => settings::text(repo, "trace.checkpoints").unwrap_or_default(),
                None => self.ask("trace.checkpoints").pop(),
            };
            Pathspec::new(setting.as_deref())
        });
        pathspec.kind(path)
    }

    /// Fails if [`Self::kind`] needed a setting that cannot be read, such as one in a `.traceconfig` with a conflict: files would not be checked.
    pub(crate) fn check_kinds(&self) -> Result<(), GitError> {
        match self.repo().filter(|_| self.checkpoints.get().is_some()) {
            Some(repo) => settings::text(repo, "trace.checkpoints").map(drop),
            None => Ok(()),
        }
    }

    /// Whether secrets are looked for in all staged text files. A value that is neither `memory` nor `all` counts as `all`: somebody
    /// wanted more than the default.
    pub(crate) fn searches_all(&self) -> bool {
        const KEY: &str = "trace.hookScope";
        let scope = match self.repo() {
            // One that cannot be read is neither.
            Some(repo) => settings::text(repo, KEY).unwrap_or_else(|_| Some(String::new())),
            None => self.ask(KEY).pop(),
        };
        scope.is_some_and(|scope| scope != "memory") && self.secrets_policy() != Some(Policy::Off)
    }

    /// From `trace.breadcrumbStale`, an age such as `90 days`.
    pub(crate) fn breadcrumbs_stale_before(&self) -> Option<Time> {
        const KEY: &str = "trace.breadcrumbStale";
        let age = match self.repo() {
            Some(repo) => settings::text(repo, KEY).unwrap_or_default(),
            None => self.ask(KEY).pop(),
        };
        age?.parse::<When>().ok()?.before(&self.env.clock()).ok()
    }

    pub(crate) fn secrets_policy(&self) -> Option<Policy> {
        match self.repo() {
            Some(repo) => settings::secrets_policy(repo).unwrap_or_default(),
            None => self.ask("trace.secrets").pop().and_then(|value| value.parse().ok()),
        }
    }

    pub(crate) fn allowed_secrets(&self) -> Allowed {
        match self.repo() {
            Some(repo) => settings::allowed_secrets(repo).unwrap_or_default(),
            None => Allowed::new(self.ask("trace.allowSecret")),
        }
    }
}
