//! Push and fetch, done by git itself with its transports, credentials, and hooks. The user sees its messages.

use std::borrow::Cow;
use std::collections::HashSet;
use std::process::Stdio;

use super::error::GitError;
use super::oid::Oid;
use super::open::Repo;
use super::process::Answer;
use super::pushed::{HIDDEN, answer_of_push};
use crate::base::effect;
use crate::base::process::Process;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PushedRef {
    pub(crate) refname: String,
    pub(crate) fate: PushFate,
    pub(crate) summary: String,
    /// The address that answered, as git shows it; `None` for the one that git fetches from.
    pub(crate) address: Option<String>,
}

impl PushedRef {
    pub(crate) fn new(refname: impl Into<String>, fate: PushFate, summary: impl Into<String>) -> Self {
        Self { refname: refname.into(), fate, summary: summary.into(), address: None }
    }

    pub(crate) fn is_accepted(&self) -> bool {
        matches!(self.fate, PushFate::Moved | PushFate::UpToDate)
    }
}

/// A ref of a remote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ListedRef {
    pub(crate) refname: String,
    /// Whether this is exactly its name.
    pub(crate) is_utf8: bool,
    pub(crate) oid: Oid,
}

/// A refspec to push.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Outgoing {
    pub(crate) refspec: String,
    /// `--force-with-lease=…`: what the remote must have, to replace it.
    pub(crate) lease: Option<String>,
}

impl Outgoing {
    pub(crate) fn plain(refspec: String) -> Self {
        Self { refspec, lease: None }
    }

    fn arguments(&self) -> impl Iterator<Item = &str> {
        [self.lease.as_deref(), Some(&*self.refspec)].into_iter().flatten()
    }
}

/// Where git pushes to or fetches from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Destination<'a> {
    pub(crate) remote: &'a str,
    /// One of [`Repo::addresses`], in place of all those of the remote.
    pub(crate) address: Option<&'a str>,
}

impl<'a, S: AsRef<str> + ?Sized> From<&'a S> for Destination<'a> {
    fn from(remote: &'a S) -> Self {
        Self { remote: remote.as_ref(), address: None }
    }
}

impl<'a> Destination<'a> {
    /// Git ignores names in settings that begin with `/`, as an address may.
    fn name(self) -> Cow<'a, str> {
        self.address.map_or(self.remote.into(), |url| format!("git-trace:{url}").into())
    }

    /// The settings that make an address a remote for one call. Of a remote without a name, git reads no settings, and fetches or prunes
    /// all tags if it prunes tags.
    fn settings(self, repo: &Repo) -> Result<Vec<(String, String)>, GitError> {
        let Some(url) = self.address else { return Ok(Vec::new()) };
        let (name, config) = (self.name(), repo.config()?);
        // The user's rules match the address, but never this name. Git replaces it once.
        let mut settings = vec![(format!("remote.{name}.url"), name.to_string())];
        settings.extend(["insteadOf", "pushInsteadOf"].map(|key| (format!("url.{url}.{key}"), name.to_string())));
        // Git checks this of the addresses to fetch from only.
        if !repo.addresses(self.remote, false)?.iter().any(|fetch| fetch == url) {
            settings.push(("transfer.credentialsInUrl".to_owned(), "allow".to_owned()));
        }
        for key in CONNECTION {
            let values = config.texts(&format!("remote.{}.{key}", self.remote))?;
            settings.extend(values.into_iter().map(|value| (format!("remote.{name}.{key}"), value)));
        }
        Ok(settings)
    }
}

/// The settings of a remote that say how git talks to it, and not what it pushes or fetches.
const CONNECTION: [&str; 6] = ["receivepack", "uploadpack", "proxy", "proxyAuthMethod", "vcs", "serverOption"];

/// How many bytes of refspecs one call of `git push` gets, which reads none from its stdin. Systems limit all arguments together with
/// the environment, macOS to 1 MiB, and Windows to 32 KiB.
const MAX_ARGUMENTS: usize = if cfg!(windows) { 16 << 10 } else { 512 << 10 };

/// Settings such as `push.followTags` must not push anything else.
const PUSH: [&str; 3] = ["--porcelain", "--no-follow-tags", "--recurse-submodules=no"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PushFate {
    Moved,
    UpToDate,
    /// The remote has commits that we do not have.
    Behind,
    /// Another push was updating it, or the remote could not lock it.
    Contended,
    Refused,
}

/// The setting for a remote that traces do not share with the code.
pub(crate) const CONTEXT_REMOTE: &str = "trace.contextRemote";

impl Repo {
    /// The refs of a remote that match patterns of `git ls-remote` (none: all), without peeled tags.
    pub(crate) fn list_remote<'a>(
        &self,
        remote: impl Into<Destination<'a>>,
        patterns: &[&str],
    ) -> Result<Vec<(String, Oid)>, GitError> {
        let listed = self.ls_remote(remote.into(), &["--refs"], patterns)?;
        Ok(listed.into_iter().map(|ListedRef { refname, oid, .. }| (refname, oid)).collect())
    }

    /// All refs of a remote. An annotated tag `NAME` is followed by its target as `NAME^{}`.
    pub(crate) fn list_remote_with_targets(&self, remote: Destination<'_>) -> Result<Vec<ListedRef>, GitError> {
        let mut listed = self.ls_remote(remote, &[], &[])?;
        listed.retain(|listed| listed.refname.starts_with("refs/"));
        Ok(listed)
    }

    fn ls_remote(
        &self,
        from: Destination<'_>,
        options: &[&str],
        patterns: &[&str],
    ) -> Result<Vec<ListedRef>, GitError> {
        let mut command = self.git("ls-remote");
        self.configure(&mut command, &from.settings(self)?);
        command.args(options).args(["--", &*from.name()]).args(patterns);
        let listed = Answer::of(command.stdin(Stdio::inherit()).show_stderr())?.into_stdout()?;
        let named = |line: &[u8]| {
            let (text, is_utf8) = (String::from_utf8_lossy(line), std::str::from_utf8(line).is_ok());
            let (oid, refname) = text.split_once('\t')?;
            Some(self.parse_oid(oid).map(|oid| ListedRef { refname: refname.to_owned(), is_utf8, oid }))
        };
        listed.split(|byte| *byte == b'\n').filter_map(named).collect()
    }

    /// Pushes any number of refspecs, in as many calls of git as their length needs.
    ///
    /// Git's progress and messages go to stderr. Each address of a remote answers, or there is an error.
    pub(crate) fn push<'a>(
        &self,
        to: impl Into<Destination<'a>>,
        outgoing: &[Outgoing],
    ) -> Result<(Vec<PushedRef>, Option<GitError>), GitError> {
        let (to, mut pushed, mut failed) = (to.into(), Vec::new(), None);
        for batch in batches(outgoing, MAX_ARGUMENTS) {
            let mut command = self.git_push(to)?;
            command.args(PUSH).args(batch.iter().filter_map(|one| one.lease.as_deref()));
            command.arg("--").arg(&*to.name()).args(batch.iter().map(|one| &one.refspec));
            let answer = answer_of_push(command.show_stderr())?;
            if !answer.is_success() {
                failed.get_or_insert(above("push"));
            }
            pushed.extend(self.pushed_refs(to, &answer));
        }
        Ok((pushed, failed))
    }

    /// As [`Self::push`] for one ref, which the caller pushes again if the remote rejects it.
    pub(crate) fn push_quietly(&self, to: Destination<'_>, outgoing: &Outgoing) -> Result<Vec<PushedRef>, GitError> {
        let mut command = self.git_push(to)?;
        command.args(PUSH).args(outgoing.lease.as_deref()).args(["--", &*to.name(), &outgoing.refspec]);
        let answer = answer_of_push(&mut command)?;
        let pushed = self.pushed_refs(to, &answer);
        // An address that cannot be reached gives no answer.
        let is_reached = answer.is_success() || !pushed.iter().all(PushedRef::is_accepted);
        let is_silent = answer.stderr.lines().all(|line| line.as_bytes().starts_with(HIDDEN));
        if is_reached { Ok(pushed) } else { Err(if is_silent { answer.into_error() } else { above("push") }) }
    }

    /// The addresses that git uses for a remote: all that it pushes to, or those that it fetches from. Git is asked only if settings
    /// replace addresses.
    pub(crate) fn addresses(&self, remote: &str, to_push: bool) -> Result<Vec<String>, GitError> {
        let config = self.config()?;
        let texts = |kind| config.texts(&format!("remote.{remote}.{kind}")).unwrap_or_else(|_| vec![String::new()]);
        let [urls, push] = ["url", "pushurl"].map(texts);
        // An empty value resets the list.
        let is_plain = !urls.is_empty() && !urls.iter().chain(&push).any(String::is_empty);
        if is_plain && config.section("url").next().is_none() {
            return Ok(if to_push && !push.is_empty() { push } else { urls });
        }
        let mut command = self.git("remote");
        command.args(["get-url", "--all"]).args(to_push.then_some("--push")).args(["--", remote]);
        let answer = Answer::of(&mut command)?;
        // Pushes and fetches report what is wrong with it.
        let listed = if answer.is_success() { String::from_utf8_lossy(&answer.stdout) } else { remote.into() };
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// A `git push` that moves no ref here: otherwise git moves the refs that the remote's configured refspecs map, such as the traces
    /// of a mirror, back to the pushed commits. It pushes refspecs, which git refuses for mirrors.
    fn git_push(&self, to: Destination<'_>) -> Result<Process, GitError> {
        // The caller says what to do if the remote rejects a ref.
        let mut command = self.git_with(&["advice.pushUpdateRejected=false"], "push");
        let mut settings = to.settings(self)?;
        // Git warns of a path in a key, and refuses line breaks.
        let is_named = to.address.is_none() && !to.remote.starts_with('/') && !to.remote.contains('\n');
        if is_named {
            settings.extend(self.unmapped(to.remote)?);
        }
        self.configure(&mut command, &settings);
        Ok(command)
    }

    /// The settings for a remote that is a mirror, or whose configured refspecs may map our refs. Other remotes need none, because the
    /// hooks of a push see them, and their fetches follow them.
    fn unmapped(&self, remote: &str) -> Result<Vec<(String, String)>, GitError> {
        let config = self.config()?;
        let values = |key: &str| config.texts(&format!("remote.{remote}.{key}"));
        let is_of_code = |refspec: &String| refspec.trim_start_matches('+').starts_with("refs/heads/");
        // Git knows remotes from files, too.
        let is_complete = values("url").is_ok_and(|urls| !urls.is_empty());
        let maps_ours = !is_complete || !values("fetch").is_ok_and(|fetch| fetch.iter().all(is_of_code));
        let is_mirror = !is_complete || !values("mirror").is_ok_and(|mirror| mirror.is_empty());
        let fetch = ["^refs/traces/*", "^refs/trace-*", "^refs/crumb*"].map(|refspec| ("fetch", refspec));
        let settings = maps_ours.then_some(fetch).into_iter().flatten().chain(is_mirror.then_some(("mirror", "false")));
        Ok(settings.map(|(key, value)| (format!("remote.{remote}.{key}"), value.to_owned())).collect())
    }

    /// Adds settings, which come after those of the user. `-c` would end a key at a `=` in a name.
    fn configure(&self, command: &mut Process, settings: &[(String, String)]) {
        const PARAMETERS: &str = "GIT_CONFIG_PARAMETERS";
        let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''").replace('!', r"'\!'"));
        let mut parameters = self.env.os(PARAMETERS).unwrap_or_default().to_owned();
        for (key, value) in settings {
            parameters.push(if parameters.is_empty() { "" } else { " " });
            parameters.push(format!("{}={}", quoted(key), quoted(value)));
        }
        if !settings.is_empty() {
            command.env(PARAMETERS, parameters);
        }
    }

    /// Git's progress and messages go to stderr. Fails with [`GitError::NotStored`] if only refs are the obstacle.
    pub(crate) fn fetch<'a>(
        &self,
        from: impl Into<Destination<'a>>,
        refspecs: &[String],
        options: &[&str],
    ) -> Result<(), GitError> {
        let from = from.into();
        self.remove_stale_git_locks();
        let mut command = self.git_with(self.beside_writers()?, "fetch");
        let mut settings = from.settings(self)?;
        // A bundle has objects that nobody asked for.
        settings.push(("fetch.bundleURI".to_owned(), String::new()));
        self.configure(&mut command, &settings);
        if from.address.is_some() && !self.env.is_set("GIT_REFLOG_ACTION") {
            // Git would store the name, which has any password of the address.
            command.env("GIT_REFLOG_ACTION", "fetch");
        }
        // An empty map: otherwise git also moves what the remote's configured refspecs map, such as the traces of a mirror.
        command
            .args(["--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=", "--stdin"])
            .args(options)
            .arg("--")
            .arg(&*from.name());
        let status = command.input(refspecs.join("\n") + "\n").stdout(Stdio::null()).status()?;
        match status.code() {
            Some(0) => {}
            Some(1) => return Err(GitError::NotStored),
            _ => return Err(above("fetch")),
        }
        effect::note_change();
        Ok(())
    }

    /// The host of a remote if many of its repositories are public. Asks git, which applies `url.<base>.insteadOf`.
    pub(crate) fn public_host(&self, remote: &str) -> Result<Option<&'static str>, GitError> {
        let answer = Answer::of(self.git("remote").args(["get-url", "--push", remote]))?;
        Ok(public_host(String::from_utf8_lossy(&answer.stdout).trim()))
    }

    /// The names of the remotes that settings give an address.
    pub(crate) fn remotes(&self) -> Result<HashSet<String>, GitError> {
        let name = |key: &str| Some(key.strip_prefix("remote.")?.strip_suffix(".url")?.to_owned());
        Ok(self.config()?.section("remote").filter_map(|(key, _)| name(key)).collect())
    }

    /// Whether a remote has this name. Git knows them from more places than settings.
    pub(crate) fn has_remote(&self, name: &str) -> Result<bool, GitError> {
        let addresses = ["url", "pushurl"].map(|key| format!("remote.{name}.{key}"));
        if self.config()?.section("remote").any(|(key, _)| addresses.iter().any(|address| address == key)) {
            return Ok(true);
        }
        Ok(Answer::of(self.git("remote").args(["get-url", "--push", "--", name]))?.is_success())
    }

    /// The default remote: `trace.contextRemote`, else where git pushes the checked-out branch, or fetches it from, else the only remote,
    /// else `origin`. A setting for pushes alone need not name a remote: some people refuse pushes by such a name.
    pub(crate) fn default_remote(&self, direction: Direction) -> Result<String, GitError> {
        let config = self.config()?;
        if let Some(chosen) = config.text(CONTEXT_REMOTE)? {
            return Ok(chosen);
        }
        let head = self.find_symbolic_ref("HEAD")?;
        let branch = head.as_deref().and_then(|name| name.strip_prefix("refs/heads/"));
        let of_branch = |key: &str| match branch {
            Some(branch) => config.text(&format!("branch.{branch}.{key}")),
            None => Ok(None),
        };
        if direction == Direction::Push
            && let Some(chosen) =
                of_branch("pushRemote")?.map_or_else(|| config.text("remote.pushDefault"), |set| Ok(Some(set)))?
            && chosen != "."
        {
            return Ok(chosen);
        }
        // A branch may track a local one, whose remote is `.`, or an address.
        match of_branch("remote")? {
            Some(remote) if self.has_remote(&remote)? => Ok(remote),
            _ => {
                let mut remotes = self.remotes()?.into_iter();
                let only = remotes.next().filter(|_| remotes.next().is_none());
                Ok(only.unwrap_or_else(|| "origin".to_owned()))
            }
        }
    }
}

/// The purpose for which a command uses a remote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Fetch,
    Push,
}

/// Hosts with many public repositories.
const PUBLIC_HOSTS: [&str; 6] = ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com", "git.sr.ht"];

/// The public host in an address such as `https://github.com/ada/engine` or `git@github.com:ada/engine`.
fn public_host(address: &str) -> Option<&'static str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split(['/', ':']).find(|part| part.rsplit('@').next().is_some_and(|host| host.contains('.')))?;
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    PUBLIC_HOSTS.into_iter().find(|known| host == *known || host.strip_suffix(known).is_some_and(|www| www == "www."))
}

/// Splits refspecs so that each part has at most `limit` bytes of arguments, or one refspec.
fn batches(outgoing: &[Outgoing], limit: usize) -> Vec<&[Outgoing]> {
    let (mut batches, mut rest) = (Vec::new(), outgoing);
    while !rest.is_empty() {
        let mut length = 0;
        let fits = |one: &&Outgoing| {
            // Each argument has an end and a pointer.
            length += one.arguments().map(|argument| argument.len() + 9).sum::<usize>();
            length <= limit
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (batch, others) = rest.split_at(count);
        batches.push(batch);
        rest = others;
    }
    batches
}

fn above(command: &str) -> GitError {
    GitError::Command { command: command.to_owned(), stderr: "see git's message above".to_owned() }
}

#[cfg(test)]
#[path = "../../tests/unit/git/network.rs"]
mod tests;
