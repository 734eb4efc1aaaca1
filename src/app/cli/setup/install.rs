//! `git trace install`, `uninstall` and `doctor`.

use std::collections::BTreeMap;
use std::env::{current_exe, split_paths};
use std::path::{Path, PathBuf};

use super::complete::Values;
use super::{agents, man};
use crate::app::cli::checkpoint::checkpoint_folder;
use crate::app::cli::flags::agent;
use crate::app::cli::{Context, ErrorContext as _, ExitStatus, Plain, Result, Ui, bail, json};
use crate::app::install::agent::{AGENTS, Agent, AgentSetup, SettingsOwner};
use crate::app::install::client::{self, Client};
use crate::app::install::completions::Shell;
use crate::app::install::doctor::{self, Health};
use crate::app::install::{self, Action, InstallError, Mode, Scope, Setup, Step, owned};
use crate::base::escape::shell_word;
use crate::base::worktree_path::check_regular;
use crate::git::{Env, Git, GitError, Repo, worktree_root};
use crate::trace::model::name::TRACES;
use crate::transcript::format::Format;

/// Set up merges of memory files, and recording with --agent
///
/// Configures git to merge breadcrumbs, crumb files, and checkpoints by meaning, and to diff crumb files by entry. Adds the merge
/// driver to git's configuration and its paths to `.gitattributes`, which you should commit. With `--agent`, adds hooks to the agent's
/// settings in this project instead, which record its sessions; with `--agent` and `--global`, to your own settings, for every
/// repository in which `trace.record` is not false. You can run it repeatedly; settings made by others are not changed. `--man` and
/// `--completions` install files for the user, not the repository, in `$XDG_DATA_HOME`, by default ~/.local/share.
#[derive(clap::Args, Debug)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// With --agent: also give each new session the brief that `git trace brief` prints
    #[arg(long, requires = "agents")]
    brief: bool,
}

/// Remove what `install` added, and nothing else
#[derive(clap::Args, Debug)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    target: TargetArgs,
}

#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
struct TargetArgs {
    /// For this repository (the default)
    #[arg(long, conflicts_with_all = ["global", "worktree"])]
    local: bool,
    /// For all repositories of this user; with --agent, in the user's settings of the agent
    #[arg(long, conflicts_with_all = ["worktree", "private"])]
    global: bool,
    /// For this working tree only; needs `extensions.worktreeConfig` if there are several
    #[arg(long)]
    worktree: bool,
    /// Use `.git/info/attributes`, which is not committed, instead of `.gitattributes`
    #[arg(long)]
    private: bool,
    /// Only the hooks that record this agent: claude-code, codex, gemini-cli, qwen-code, opencode, copilot-cli, droid or cursor;
    /// can be repeated
    #[arg(long = "agent", value_name = "NAME", conflicts_with_all = ["worktree", "private"],
        value_parser = agent(Agent::NAMES), add = Values::OneOf(Agent::NAMES))]
    agents: Vec<Format>,
    /// Without git's hooks, because pre-commit, lefthook, husky or your own script calls `git trace hook pre-commit`
    #[arg(long)]
    no_hooks: bool,
    /// Only the entry of a client that starts `git trace mcp`: claude-code, cursor, vscode, codex or gemini
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["local", "global", "worktree", "private", "agents", "no_hooks"])]
    mcp: Option<Client>,
    /// Only the manual pages, one for each command, in a folder for MANPATH [default:
    /// share/man next to the bin folder of git-trace in your home, such as ~/.cargo, else ~/.local/share/man]
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["local", "global", "worktree", "private",
        "agents", "no_hooks", "mcp"])]
    #[expect(clippy::option_option, reason = "the flag may stand without a value")]
    man: Option<Option<PathBuf>>,
    /// Only the shell completions: bash, zsh or fish [default: your shell]
    #[arg(long, value_name = "SHELL", num_args = 0..=1, conflicts_with_all = ["local", "global",
        "worktree", "private", "agents", "no_hooks", "mcp", "man"])]
    #[expect(clippy::option_option, reason = "the flag may stand without a value")]
    completions: Option<Option<Shell>>,
    /// Print what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Check the setup of this repository
///
/// Checks the merge driver, its attributes, a trial merge, breadcrumb files, forward crumbs, and for each agent where its hooks are,
/// what they recorded last, and whether they failed since. `fsck` checks the stored traces,
/// `check` the memory files of a commit.
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl TargetArgs {
    fn mode(&self) -> Mode {
        if self.dry_run { Mode::DryRun } else { Mode::Write }
    }

    fn scope(&self) -> Scope {
        match (self.global, self.worktree) {
            (true, _) => Scope::Global,
            (_, true) => Scope::Worktree,
            _ => Scope::Local,
        }
    }

    fn setup(&self, context: &Context) -> Result<Setup> {
        let (git, env) = (context.git()?, &context.env);
        let scope = self.scope();
        let attributes = match scope {
            Scope::Global => global_attributes(&git, env)?,
            Scope::Local | Scope::Worktree => repository_attributes(&git, env, self.private)?,
        };
        Ok(Setup { hooks: !self.no_hooks, git, scope, attributes, program: program(env)?, mode: self.mode() })
    }

    fn agent_setup(&self, context: &Context, agent: &'static Agent, brief: bool) -> Result<AgentSetup> {
        let program = program(&context.env)?;
        let owner = if self.global { of_user(&context.env, agent)? } else { of_project(context)? };
        Ok(AgentSetup { agent, brief, owner, program, mode: self.mode() })
    }

    fn report(&self, scope: Scope, steps: &[Step], ui: &Ui) -> Result<()> {
        if self.json {
            let steps = steps.iter().map(|step| json!({ "action": step.action.as_str(), "what": step.what }));
            let (scope, steps) = (&scope.flag()[2..], steps.collect::<Vec<_>>());
            return ui.json(&json!({ "scope": scope, "dry_run": self.dry_run, "steps": steps }));
        }
        let mut pages: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for step in steps {
            let is_done = !self.dry_run || matches!(step.action, Action::Kept | Action::LeftAlone);
            let action = if is_done { step.action.as_str() } else { step.action.as_intended() };
            let folder = Path::new(&step.what).parent().and_then(Path::to_str);
            match folder.filter(|_| self.man.is_some() && step.action != Action::LeftAlone) {
                Some(folder) => pages.entry((action, folder)).or_default().push(&step.what),
                None => writeln!(ui, "{action} {}", Plain(&step.what))?,
            }
        }
        for ((action, folder), pages) in pages {
            match *pages {
                [page] => writeln!(ui, "{action} {}", Plain(page))?,
                _ => writeln!(ui, "{action} {} manual pages in {}", pages.len(), Plain(folder))?,
            }
        }
        for hint in steps.iter().filter_map(|step| step.hint.as_ref()) {
            ui.note(format!("hint: {hint}"));
        }
        Ok(())
    }

    fn run_agents(
        &self,
        context: &Context,
        brief: bool,
        act: impl Fn(&AgentSetup) -> Result<Vec<Step>, InstallError>,
    ) -> Result<ExitStatus> {
        let mut steps = Vec::new();
        for format in &self.agents {
            let Some(agent) = Agent::find(*format) else {
                bail!("{} has no hooks; `--agent` takes {}", format.agent().name, Agent::names());
            };
            if brief && agent.brief_event.is_none() {
                bail!("{} takes no brief from a hook; install it without `--brief`", format.agent().name);
            }
            steps.extend(act(&self.agent_setup(context, agent, brief)?)?);
        }
        self.report(self.scope(), &steps, &context.ui)?;
        let has_hooks = steps.iter().any(|step| matches!(step.action, Action::Added | Action::Updated));
        if has_hooks && self.agents.contains(&Format::Codex) {
            context.ui.note(
                "hint: Codex skips hooks without a message until you trust them: start `codex`, enter `/hooks`, and trust those of \
                 git-trace; `codex exec` cannot ask",
            );
        }
        if steps.is_empty() {
            context.ui.note("nothing to uninstall");
        }
        Ok(ExitStatus::of(steps.iter().all(|step| step.action != Action::LeftAlone)))
    }
}

impl InstallArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let (ui, env, target, mode) = (&context.ui, &context.env, &self.target, self.target.mode());
        if !target.agents.is_empty() {
            return target.run_agents(context, self.brief, AgentSetup::install);
        }
        let (scope, steps) = if let Some(folder) = &target.man {
            (Scope::Global, install_pages(folder.as_deref(), mode, env, ui)?)
        } else if let Some(shell) = target.completions {
            (Scope::Global, vec![install_script(shell, mode, env, ui)?])
        } else if let Some(client) = target.mcp {
            (Scope::Local, vec![client::install(&root(context)?, client, &program(env)?, mode)?])
        } else {
            let setup = target.setup(context)?;
            if setup.scope == Scope::Global && mode == Mode::Write {
                check_user_settings(env)?;
            }
            (setup.scope, install::install(&setup)?)
        };
        target.report(scope, &steps, ui)?;
        let mut foreign = steps.iter().filter(|step| step.action == Action::LeftAlone).peekable();
        let is_complete = foreign.peek().is_none();
        if foreign.any(|step| step.hint.is_none()) {
            ui.note("hint: git-trace did not write what was left alone; unset it and install again to replace it");
        }
        Ok(ExitStatus::of(is_complete))
    }
}

impl UninstallArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (ui, env, target, mode) = (&context.ui, &context.env, &self.target, self.target.mode());
        if !target.agents.is_empty() {
            return target.run_agents(context, false, AgentSetup::uninstall).map(drop);
        }
        let mut failed = Vec::new();
        let (scope, steps) = if let Some(folder) = &target.man {
            (Scope::Global, man::uninstall(&man_folder(folder.as_deref(), env)?, mode)?)
        } else if let Some(shell) = target.completions {
            (Scope::Global, uninstall_scripts(shell, mode, env)?)
        } else if let Some(client) = target.mcp {
            (Scope::Local, client::uninstall(&root(context)?, client, mode)?.into_iter().collect())
        } else {
            (target.scope(), uninstall(target, context, &mut failed)?)
        };
        target.report(scope, &steps, ui)?;
        if let Some(last) = failed.pop() {
            for error in failed {
                ui.note(format!("error: {error}"));
            }
            return Err(last.into());
        }
        if steps.is_empty() {
            ui.note("nothing to uninstall");
            let is_installed = |agent: &'static Agent| {
                let setup = |owner| AgentSetup { agent, brief: false, owner, program: String::new(), mode };
                of_user(env, agent).is_ok_and(|owner| setup(owner).is_installed())
            };
            if scope != Scope::Global && AGENTS.iter().any(is_installed) {
                ui.note("hint: `git trace uninstall --global` removes the hooks in your own settings of agents");
            }
        }
        Ok(())
    }
}

/// Removes the setup of git and the hooks of all agents. For a repository, also removes the entries of all clients; those whose
/// files cannot be changed do not keep the others, and their errors go to `failed`.
fn uninstall(target: &TargetArgs, context: &Context, failed: &mut Vec<InstallError>) -> Result<Vec<Step>> {
    let setup = target.setup(context)?;
    let mut steps = install::uninstall(&setup)?;
    // A bare repository has no settings of agents or clients.
    let root = root(context);
    if setup.scope == Scope::Worktree || (setup.scope == Scope::Local && root.is_err()) {
        return Ok(steps);
    }
    for agent in &AGENTS {
        let setup = target.agent_setup(context, agent, false)?;
        if setup.is_installed() {
            match setup.uninstall() {
                Ok(done) => steps.extend(done),
                Err(error) => failed.push(error),
            }
        } else if let Some(place) = setup.place().filter(|_| setup.calls_us()) {
            let hint = format!("`git trace uninstall --agent {}` removes our hooks there", agent.format);
            context.ui.note(format!("left alone: {place}, which no install from here changed; {hint}"));
        }
    }
    if setup.scope == Scope::Global {
        return Ok(steps);
    }
    let root = root?;
    for client in client::CLIENTS {
        match client::uninstall(&root, client, target.mode()) {
            Ok(step) => steps.extend(step),
            Err(error @ InstallError::Settings { .. }) => context.ui.note(format!("left alone: {error}")),
            Err(error) => failed.push(error),
        }
    }
    Ok(steps)
}

fn install_pages(folder: Option<&Path>, mode: Mode, env: &Env, ui: &Ui) -> Result<Vec<Step>> {
    let folder = man_folder(folder, env)?;
    let steps = man::install(&folder, mode)?;
    if mode == Mode::Write && !man::is_found(&folder) {
        ui.note(format!(
            "hint: man does not search this folder; run `export MANPATH={}:\"$MANPATH\"` for `git trace --help` to work",
            shell_word(folder.display())
        ));
    }
    Ok(steps)
}

/// By default next to the user's own `bin` folder with this program, such as `~/.cargo/bin`: man searches there without `MANPATH`.
fn man_folder(named: Option<&Path>, env: &Env) -> Result<PathBuf> {
    if let Some(folder) = named {
        return Ok(std::path::absolute(folder)?);
    }
    let program = current_exe().unwrap_or_default();
    let prefix = program.parent().filter(|folder| folder.ends_with("bin")).and_then(Path::parent);
    let own = prefix.filter(|prefix| env.os("HOME").is_some_and(|home| prefix.starts_with(home)));
    let share = own.map_or_else(|| data_folder(env), |prefix| Ok(prefix.join("share")))?;
    Ok(install::of_user(share.join("man"))?)
}

fn install_script(shell: Option<Shell>, mode: Mode, env: &Env, ui: &Ui) -> Result<Step> {
    let Some(shell) = shell.or_else(|| Shell::of_program(Path::new(env.os("SHELL")?))) else {
        bail!("cannot tell which shell is yours; name it: bash, zsh or fish");
    };
    let script = shell.script(&data_folder(env)?);
    install::of_user(script.path.clone())?;
    let step = script.install(mode)?;
    if let Some(needs) = shell.needs(&script.path) {
        ui.note(format!("hint: {needs}"));
    }
    Ok(step)
}

/// Removes the script of one shell, or of all.
fn uninstall_scripts(shell: Option<Shell>, mode: Mode, env: &Env) -> Result<Vec<Step>> {
    let data = data_folder(env)?;
    let mut steps = Vec::new();
    for known in Shell::ALL.into_iter().filter(|known| shell.is_none_or(|shell| shell == *known)) {
        let path = install::of_user(known.script(&data).path)?;
        steps.extend(owned::uninstall(&path, mode)?);
    }
    Ok(steps)
}

/// The folder for the user's data, by the XDG base directory specification, which says to ignore relative paths.
fn data_folder(env: &Env) -> Result<PathBuf> {
    let folder = env.os("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| env.os("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    folder.context("cannot tell where your data is: HOME is not set")
}

/// The root of the working tree, where agents and clients look for their settings.
fn root(context: &Context) -> Result<PathBuf> {
    Ok(worktree_root(&context.folder()?, context.repo())?)
}

fn of_project(context: &Context) -> Result<SettingsOwner> {
    let git = context.git()?;
    let common_dir = git.path(&["rev-parse", "--git-common-dir"])?;
    Ok(SettingsOwner::Project { root: root(context)?, common_dir })
}

fn of_user(env: &Env, agent: &Agent) -> Result<SettingsOwner> {
    let home = agent.home(env);
    let home = home.context("cannot tell where the agent's settings are: HOME is not set")?;
    Ok(SettingsOwner::User { home: std::path::absolute(home)?, data: data_folder(env)? })
}

fn repository_attributes(git: &Git, env: &Env, private: bool) -> Result<PathBuf> {
    match worktree_root(git.folder(), Repo::open_from_env(env.clone())) {
        Ok(root) if !private => Ok(root.join(".gitattributes")),
        Ok(_) | Err(GitError::NoWorktree) => Ok(git.path(&["rev-parse", "--git-path", "info/attributes"])?),
        Err(error) => Err(error.into()),
    }
}

/// Git would replace a device by a file of settings.
fn check_user_settings(env: &Env) -> Result<()> {
    let named = env.os("GIT_CONFIG_GLOBAL").map(PathBuf::from);
    let at_home = env.os("HOME").map(|home| Path::new(home).join(".gitconfig"));
    let usual =
        || [at_home, config_folder(env).map(|folder| folder.join("git/config"))].into_iter().flatten().collect();
    let paths: Vec<PathBuf> = named.map_or_else(usual, |path| vec![path]);
    paths.iter().try_for_each(|path| check_regular(path).with_context(|| format!("cannot write `{}`", path.display())))
}

/// The folder of the user's settings, below which those of git are in `git`.
fn config_folder(env: &Env) -> Option<PathBuf> {
    let named = env.os("XDG_CONFIG_HOME").map(PathBuf::from);
    named.or_else(|| env.os("HOME").map(|home| PathBuf::from(home).join(".config")))
}

fn global_attributes(git: &Git, env: &Env) -> Result<PathBuf> {
    if let Some(path) = git.path_of_user("core.attributesFile")? {
        return Ok(install::of_user(path)?);
    }
    let Some(folder) = config_folder(env) else { bail!("cannot tell where your configuration is: HOME is not set") };
    Ok(install::of_user(folder.join("git/attributes"))?)
}

/// How git should call this program: by its name if that is found on PATH, else by its path.
fn program(env: &Env) -> Result<String> {
    let this = current_exe().context("cannot tell where this program is")?;
    let name = format!("git-trace{}", std::env::consts::EXE_SUFFIX);
    let on_path = env.os("PATH").into_iter().flat_map(split_paths).map(|folder| folder.join(&name));
    let real = this.canonicalize().unwrap_or_else(|_| this.clone());
    let first = on_path.into_iter().find(|path| path.is_file());
    if first.and_then(|path| path.canonicalize().ok()).is_some_and(|path| path == real) {
        return Ok("git-trace".to_owned());
    }
    match this.into_os_string().into_string() {
        Ok(path) => Ok(path.replace('\\', "/")),
        Err(path) => bail!("the path of this program is not UTF-8: `{}`; put it on PATH", path.display()),
    }
}

impl DoctorArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let root = match worktree_root(&context.folder()?, context.repo()) {
            Ok(root) => Some(root),
            Err(GitError::NoWorktree) => None,
            Err(error) => return Err(error.into()),
        };
        // Without a repository, nothing is recorded.
        let recorded = context.repo().map_or_else(|_| Ok(Vec::new()), |_| agents::examine(context, root.as_deref()))?;
        let has_traces = context.repo().is_ok_and(|repo| repo.list_refs(TRACES).is_ok_and(|traces| !traces.is_empty()));
        let is_used = has_traces || !recorded.is_empty();
        let mut found = doctor::examine(&context.git()?, root.as_deref(), context.now(), is_used)?;
        found.extend(recorded);
        // Unusable settings are another finding.
        if let Some(folder) = root.and_then(|root| checkpoint_folder(context, root).ok()) {
            found.extend(doctor::examine_checkpoints(&folder, &context.git()?));
        }
        found.extend(doctor::forward_crumbs(context.repo(), context.now())?);
        if self.json {
            ui.json(&serde_json::to_value(&found)?)?;
        } else {
            for diagnosis in &found {
                let word = match diagnosis.health {
                    Health::Good => "ok",
                    Health::Warning => "warning",
                    Health::Error => "error",
                };
                ui.write_wrapped(9, &format!("{word:<8} {}: {}", diagnosis.code, Plain(&diagnosis.message)))?;
                if !diagnosis.remedy.is_empty() {
                    ui.write_wrapped(9, &format!("{:<8} {}", "", Plain(&diagnosis.remedy)))?;
                }
            }
        }
        Ok(ExitStatus::of(found.iter().all(|diagnosis| diagnosis.health != Health::Error)))
    }
}
