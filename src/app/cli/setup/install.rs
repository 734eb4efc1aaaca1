//! `git trace install`, `uninstall` and `doctor`.

use crate::base::error::{Context as _, Result, bail};
use std::env::{current_dir, current_exe, split_paths};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::man;
use crate::app::cli::ExitStatus;
use crate::app::context::Context;
use crate::app::install::agent::{AGENTS, Agent, AgentSetup};
use crate::app::install::client::{self, Client};
use crate::app::install::completions::Shell;
use crate::app::install::doctor::{self, Health};
use crate::app::install::forward;
use crate::app::install::{self, Action, InstallError, Mode, Scope, Setup, Step, owned};
use crate::app::ui::{Ui, escaped};
use crate::git::{Env, Git, GitError, Repo, worktree_root};
use crate::trace::Time;
use crate::transcript::format::Format;

/// Configure git to merge breadcrumbs, crumb files and checkpoints by meaning, and to diff crumb files by entry
///
/// Adds the merge driver to git's configuration and its paths to `.gitattributes`, which you should commit. With
/// `--agent`, adds hooks to the agent's settings in this project instead, which record its sessions. You can run it
/// repeatedly; settings made by others are not changed. `--man` and `--completions` install files for the user, not the
/// repository, in `$XDG_DATA_HOME`, by default ~/.local/share.
#[derive(clap::Args, Debug)]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

/// Remove what `install` added, and nothing else
#[derive(clap::Args, Debug)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    place: PlaceArgs,
}

#[derive(clap::Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
struct PlaceArgs {
    /// Configure this repository (the default)
    #[arg(long, conflicts_with_all = ["global", "worktree"])]
    local: bool,

    /// Configure all repositories of this user
    #[arg(long, conflicts_with_all = ["worktree", "private"])]
    global: bool,

    /// Configure only this working tree; needs `extensions.worktreeConfig` if there are several
    #[arg(long)]
    worktree: bool,

    /// Use `.git/info/attributes`, which is not committed, instead of `.gitattributes`
    #[arg(long)]
    private: bool,

    /// Add hooks to this agent (claude-code, codex or gemini-cli) instead of configuring git; can be repeated
    #[arg(long = "agent", value_name = "AGENT", conflicts_with_all = ["global", "worktree", "private"])]
    agents: Vec<Format>,

    /// Do not install git hooks, because pre-commit, lefthook, husky or your own script calls `git trace hook pre-commit`
    #[arg(long)]
    no_hooks: bool,

    /// Instead, configure a client to start `git trace mcp`: claude-code, cursor, vscode, codex or gemini
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["local", "global", "worktree", "private", "agents", "no_hooks"])]
    mcp: Option<Client>,

    /// Instead, install a manual page for every command in a folder for MANPATH [default:
    /// ~/.local/share/man]
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["local", "global", "worktree", "private",
        "agents", "no_hooks", "mcp"])]
    #[expect(clippy::option_option, reason = "the flag may stand without a value")]
    man: Option<Option<PathBuf>>,

    /// Instead, install shell completions: bash, zsh or fish [default: your shell]
    #[arg(long, value_name = "SHELL", num_args = 0..=1, conflicts_with_all = ["local", "global",
        "worktree", "private", "agents", "no_hooks", "mcp", "man"])]
    #[expect(clippy::option_option, reason = "the flag may stand without a value")]
    completions: Option<Option<Shell>>,

    /// Print what would be done, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Check the setup: merge driver, attributes, a trial merge, breadcrumb files, forward crumbs
///
/// `git trace fsck` checks the stored data.
#[derive(clap::Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl InstallArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<ExitStatus> {
        let ui = &context.ui;
        let env = &context.env;
        if !self.place.agents.is_empty() {
            return run_agents(&self.place, env, ui, AgentSetup::install).map(ExitStatus::from);
        }
        let (scope, steps) = if let Some(folder) = &self.place.man {
            (Scope::Global, install_pages(folder.as_deref(), mode(&self.place), env, ui)?)
        } else if let Some(shell) = self.place.completions {
            (Scope::Global, vec![install_script(shell, mode(&self.place), env, ui)?])
        } else if let Some(client) = self.place.mcp {
            let step = client::install(&client_root(env)?, client, &program(env)?, mode(&self.place))?;
            (Scope::Local, vec![step])
        } else {
            let setup = setup(&self.place, env)?;
            (setup.scope, install::install(&setup)?)
        };
        report(&self.place, scope, &steps, ui)?;
        let foreign = steps.iter().any(|step| step.action == Action::LeftAlone);
        if foreign {
            ui.note("hint: what was left alone was not written by git-trace; unset it and install again to have ours");
        }
        Ok(if foreign { ExitStatus::No } else { ExitStatus::Success })
    }
}

impl UninstallArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let env = &context.env;
        if !self.place.agents.is_empty() {
            return run_agents(&self.place, env, ui, AgentSetup::uninstall);
        }
        let mut failed = Vec::new();
        let (scope, steps) = if let Some(folder) = &self.place.man {
            (Scope::Global, man::uninstall(&man_folder(folder.as_deref(), env)?, mode(&self.place))?)
        } else if let Some(shell) = self.place.completions {
            (Scope::Global, uninstall_scripts(shell, mode(&self.place), env)?)
        } else if let Some(client) = self.place.mcp {
            let step = client::uninstall(&client_root(env)?, client, mode(&self.place))?;
            (Scope::Local, step.into_iter().collect())
        } else {
            uninstall(&self.place, env, ui, &mut failed)?
        };
        report(&self.place, scope, &steps, ui)?;
        if let Some(last) = failed.pop() {
            for error in failed {
                ui.note(format!("error: {error}"));
            }
            return Err(last.into());
        }
        if steps.is_empty() {
            ui.note("nothing of ours was there");
        }
        Ok(())
    }
}

/// Writes the manual pages, and says so where `man` would not find them.
fn install_pages(folder: Option<&Path>, mode: Mode, env: &Env, ui: &Ui) -> Result<Vec<Step>> {
    let folder = man_folder(folder, env)?;
    let steps = man::install(&folder, mode)?;
    if mode == Mode::Write && !man::is_found(&folder) {
        ui.note(format!(
            "hint: man does not look there; `export MANPATH=\"{}:$MANPATH\"` makes it, and `git trace --help` then works",
            folder.display()
        ));
    }
    Ok(steps)
}

fn man_folder(named: Option<&Path>, env: &Env) -> Result<PathBuf> {
    named.map_or_else(|| Ok(data_folder(env)?.join("man")), |folder| Ok(std::path::absolute(folder)?))
}

/// Writes the script for a shell, and says what else the shell needs.
fn install_script(shell: Option<Shell>, mode: Mode, env: &Env, ui: &Ui) -> Result<Step> {
    let Some(shell) = shell.or_else(|| Shell::of_program(Path::new(env.os("SHELL")?))) else {
        bail!("cannot tell which shell is yours; name it: bash, zsh or fish");
    };
    let script = shell.script(&data_folder(env)?);
    let step = script.install(mode)?;
    if let Some(needs) = shell.needs(&script.path) {
        ui.note(format!("hint: {needs}"));
    }
    Ok(step)
}

/// Removes the script for a shell, or for all.
fn uninstall_scripts(shell: Option<Shell>, mode: Mode, env: &Env) -> Result<Vec<Step>> {
    let data = data_folder(env)?;
    let shells = shell.map_or(Shell::ALL.to_vec(), |shell| vec![shell]);
    let removed = shells.iter().map(|shell| owned::uninstall(&shell.script(&data).path, mode));
    Ok(removed.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Where programs keep what is the user's, by the XDG base directory specification.
fn data_folder(env: &Env) -> Result<PathBuf> {
    // A relative path is to be passed over, the specification says.
    let folder = env.os("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| env.os("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    folder.context("cannot tell where your data is: HOME is not set")
}

/// Takes back the set-up of git, and with that of a repository the hooks of all agents and the entries of all clients. A file
/// of theirs that cannot be put back does not keep the others from it, and is among those that `failed`.
fn uninstall(args: &PlaceArgs, env: &Env, ui: &Ui, failed: &mut Vec<InstallError>) -> Result<(Scope, Vec<Step>)> {
    let setup = setup(args, env)?;
    let mut steps = install::uninstall(&setup)?;
    if setup.scope == Scope::Local {
        for agent in &AGENTS {
            // A bare repository has none.
            let Ok(agent) = agent_setup(args, env, agent) else { break };
            if agent.is_installed() {
                match agent.uninstall() {
                    Ok(done) => steps.extend(done),
                    Err(error) => failed.push(error),
                }
            }
        }
        if let Ok(root) = client_root(env) {
            for client in client::CLIENTS {
                match client::uninstall(&root, client, mode(args)) {
                    Ok(step) => steps.extend(step),
                    Err(error @ InstallError::Settings { .. }) => ui.note(format!("left alone: {error}")),
                    Err(error) => failed.push(error),
                }
            }
        }
    }
    Ok((setup.scope, steps))
}

/// Installs or uninstalls the hooks of the agents that were named.
fn run_agents(
    args: &PlaceArgs,
    env: &Env,
    ui: &Ui,
    act: impl Fn(&AgentSetup) -> Result<Vec<Step>, InstallError>,
) -> Result<()> {
    let mut steps = Vec::new();
    for format in &args.agents {
        let Some(agent) = AGENTS.iter().find(|agent| agent.format == *format) else {
            bail!("{} has no hooks; claude-code, codex and gemini-cli have", format.agent().name);
        };
        steps.extend(act(&agent_setup(args, env, agent)?)?);
    }
    report(args, Scope::Local, &steps, ui)?;
    let added = steps.iter().any(|step| step.action == Action::Added);
    if added && args.agents.contains(&Format::Codex) {
        ui.note(
            "hint: Codex asks whether it may run these hooks; older versions need `codex_hooks = true` under `[features]`",
        );
    }
    if steps.is_empty() {
        ui.note("nothing of ours was there");
    }
    Ok(())
}

fn agent_setup(args: &PlaceArgs, env: &Env, agent: &'static Agent) -> Result<AgentSetup> {
    let folder = current_dir().context("cannot tell which folder this is")?;
    let root = worktree_root(&folder, env.clone())?;
    let git = Git::in_folder(&folder);
    let common_dir = folder.join(git.line(&["rev-parse", "--git-common-dir"])?);
    let program = install::config::shell_word(&program(env)?);
    Ok(AgentSetup { agent, root, common_dir, program, mode: mode(args) })
}

fn report(args: &PlaceArgs, scope: Scope, steps: &[Step], ui: &Ui) -> Result<()> {
    if args.json {
        let steps: Vec<_> =
            steps.iter().map(|step| json!({ "action": step.action.as_str(), "what": step.what })).collect();
        return ui.json(&json!({ "scope": &scope.flag()[2..], "dry_run": args.dry_run, "steps": steps }));
    }
    let prefix = if args.dry_run { "would have " } else { "" };
    for step in steps {
        let prefix = if matches!(step.action, Action::Kept | Action::LeftAlone) { "" } else { prefix };
        writeln!(ui, "{prefix}{} {}", step.action.as_str(), escaped(&step.what))?;
    }
    Ok(())
}

fn setup(args: &PlaceArgs, env: &Env) -> Result<Setup> {
    let folder = current_dir().context("cannot tell which folder this is")?;
    let git = Git::in_folder(folder);
    let scope = scope(args);
    let attributes = match scope {
        Scope::Global => global_attributes(&git, env)?,
        Scope::Local | Scope::Worktree => repository_attributes(&git, env, args.private)?,
    };
    Ok(Setup { hooks: !args.no_hooks, git, scope, attributes, program: program(env)?, mode: mode(args) })
}

fn scope(args: &PlaceArgs) -> Scope {
    match (args.global, args.worktree) {
        (true, _) => Scope::Global,
        (_, true) => Scope::Worktree,
        _ => Scope::Local,
    }
}

fn mode(args: &PlaceArgs) -> Mode {
    if args.dry_run { Mode::DryRun } else { Mode::Write }
}

/// The root of the working tree, where clients look for their settings.
fn client_root(env: &Env) -> Result<PathBuf> {
    Ok(worktree_root(&current_dir().context("cannot tell which folder this is")?, env.clone())?)
}

fn repository_attributes(git: &Git, env: &Env, private: bool) -> Result<PathBuf> {
    match worktree_root(git.folder(), env.clone()) {
        Ok(root) if !private => Ok(root.join(".gitattributes")),
        Ok(_) | Err(GitError::NoWorktree) => {
            let path = git.line(&["rev-parse", "--git-path", "info/attributes"])?;
            Ok(git.folder().join(path))
        }
        Err(error) => Err(error.into()),
    }
}

fn global_attributes(git: &Git, env: &Env) -> Result<PathBuf> {
    let configured = git.ask(&["config", "--global", "--type=path", "--get", "core.attributesFile"])?;
    if configured.code == Some(0) {
        let path = String::from_utf8_lossy(&configured.stdout).trim_end_matches('\n').to_owned();
        return Ok(PathBuf::from(path));
    }
    let folder = env.os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| env.os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let Some(folder) = folder else { bail!("cannot tell where your configuration is: HOME is not set") };
    Ok(folder.join("git/attributes"))
}

/// What the driver is to be called as: its name where the path leads to this very program, else where it is.
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
        let env = context.env.clone();
        let folder = current_dir().context("cannot tell which folder this is")?;
        let root = match worktree_root(&folder, env.clone()) {
            Ok(root) => Some(root),
            Err(GitError::NoWorktree) => None,
            Err(error) => return Err(error.into()),
        };
        let mut found = doctor::examine(&Git::in_folder(folder), root.as_deref(), Time::now())?;
        match Repo::open_from_env(env) {
            Ok(repo) => found.extend(forward::examine(&repo, Time::now())?),
            Err(error) => found.push(forward::unusable(&error)),
        }
        if self.json {
            ui.json(&serde_json::to_value(&found)?)?;
        } else {
            for diagnosis in &found {
                let word = match diagnosis.health {
                    Health::Good => "ok",
                    Health::Warning => "warning",
                    Health::Error => "error",
                };
                writeln!(ui, "{word:<8} {}: {}", diagnosis.code, escaped(&diagnosis.message))?;
                if !diagnosis.remedy.is_empty() {
                    writeln!(ui, "{:<8} {}", "", escaped(&diagnosis.remedy))?;
                }
            }
        }
        let is_well = found.iter().all(|diagnosis| diagnosis.health != Health::Error);
        Ok(if is_well { ExitStatus::Success } else { ExitStatus::No })
    }
}
