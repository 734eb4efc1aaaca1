//! `git trace complete-words`: what may stand at the cursor; the shells' scripts ask it.
//!
//! The answer is a candidate a line, a tab, and what it is; a line `/` says that files may stand there. A candidate has no
//! control character in it, so that none can pose as two; quoting is up to the shell's script.

use crate::base::error::{Context as _, Result};
use std::collections::BTreeMap;

use clap::{Arg, Command, CommandFactory as _};

use crate::app::cli::Cli;
use crate::app::context::Context;
use crate::app::ui::escaped;
use crate::git::{Env, Git, Repo, worktree_root};
use crate::memory::breadcrumb::Store;
use crate::memory::breadcrumb::query::Query;
use crate::trace::model::name::{FORWARD_CRUMBS, TRACES};
use crate::trace::model::types::Types;
use crate::trace::model::{trailers, tree};
use crate::trace::store::head;
use crate::trace::store::total::Reading;
use crate::trace::{Time, Tip, TraceError, TraceName};

/// Most items that are offered: the newest.
const MAX_ITEMS: usize = 200;

/// Print completions of a command line; the completion scripts of shells call this
#[derive(clap::Args, Debug)]
pub(crate) struct CompleteWordsArgs {
    /// The words after `git trace`, up to the one at the cursor, which may be empty
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl CompleteWordsArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let ui = &context.ui;
        let env = context.env.clone();
        let (word, before) = self.words.split_last().map_or(("", &[][..]), |(word, before)| (word.as_str(), before));
        let mut root = Cli::command();
        root.build();
        let cursor = Cursor::find(&root, before);
        for (candidate, what) in cursor.candidates(word, env) {
            let is_plain = !candidate.chars().any(char::is_control);
            if is_plain && candidate.starts_with(word) || candidate == FILES {
                let what = what.lines().next().unwrap_or_default();
                writeln!(ui, "{candidate}\t{}", escaped(what))?;
            }
        }
        Ok(())
    }
}

/// The answer that says that files may stand there.
const FILES: &str = "/";

/// What may stand at the cursor, with what it is.
type Candidates = BTreeMap<String, String>;

/// What the words before the cursor came to.
struct Cursor<'c> {
    command: &'c Command,
    /// The names of the commands so far.
    path: Vec<&'c str>,
    /// The option whose value is due.
    pending: Option<&'c Arg>,
    /// How many arguments there were that are no options.
    positionals: usize,
    /// Whether `help` came by, which takes names of commands and nothing else.
    is_for_help: bool,
    /// Whether `--` came by.
    is_past_options: bool,
    /// The trace that `--trace` names.
    trace: Option<String>,
}

impl<'c> Cursor<'c> {
    fn find(root: &'c Command, words: &[String]) -> Self {
        let mut cursor = Self {
            command: root,
            path: Vec::new(),
            pending: None,
            positionals: 0,
            is_for_help: false,
            is_past_options: false,
            trace: None,
        };
        for word in words {
            cursor.pass(word);
        }
        cursor
    }

    fn pass(&mut self, word: &str) {
        if let Some(option) = self.pending.take() {
            if option.get_id() == "trace" {
                self.trace = Some(word.to_owned());
            }
        } else if self.is_past_options || !word.starts_with('-') || word == "-" {
            let sub = self.command.find_subcommand(word).filter(|_| self.positionals == 0 && !self.is_past_options);
            match sub {
                Some(sub) if sub.get_name() == "help" => self.is_for_help = true,
                Some(sub) => {
                    self.command = sub;
                    self.path.push(sub.get_name());
                }
                None => self.positionals += 1,
            }
        } else if word == "--" {
            self.is_past_options = true;
        } else if let Some(long) = word.strip_prefix("--") {
            match long.split_once('=') {
                Some(("trace", name)) => self.trace = Some(name.to_owned()),
                Some(_) => {}
                None => self.pending = self.long(long).filter(|option| takes_value(option)),
            }
        } else {
            // Of short ones that stand together, one that takes a value takes what is left of the word, or the next word.
            for (at, letter) in word.char_indices().skip(1) {
                let option = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter));
                if let Some(option) = option.filter(|option| takes_value(option)) {
                    self.pending = Some(option).filter(|_| at + letter.len_utf8() == word.len());
                    break;
                }
            }
        }
    }

    fn long(&self, name: &str) -> Option<&'c Arg> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some(name))
    }

    fn candidates(&self, word: &str, env: Env) -> Candidates {
        if let Some(option) = self.pending {
            return self.values(option, word, env);
        }
        let mut candidates = Candidates::new();
        if word.starts_with('-') && !self.is_past_options && !self.is_for_help {
            if let Some((option, value)) = word.split_once('=') {
                let values = option.strip_prefix("--").and_then(|name| self.long(name));
                let values = values.map(|arg| self.values(arg, value, env)).unwrap_or_default();
                return values.into_iter().map(|(value, what)| (format!("{option}={value}"), what)).collect();
            }
            for arg in self.command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let what = arg.get_help().map(ToString::to_string).unwrap_or_default();
                candidates.extend(arg.get_long().map(|name| (format!("--{name}"), what.clone())));
            }
            return candidates;
        }
        if self.positionals == 0 && !self.is_past_options {
            for sub in self.command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
                let what = sub.get_about().map(ToString::to_string).unwrap_or_default();
                candidates.insert(sub.get_name().to_owned(), what);
            }
        }
        if self.is_for_help {
            return candidates;
        }
        let positionals: Vec<_> = self.command.get_positionals().collect();
        let repeated = positionals.last().filter(|arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1));
        if let Some(arg) = positionals.get(self.positionals).or(repeated) {
            candidates.extend(self.values(arg, word, env));
        }
        candidates
    }

    /// What may be the value of an option or argument.
    fn values(&self, arg: &Arg, word: &str, env: Env) -> Candidates {
        let possible = arg.get_possible_values();
        if !possible.is_empty() {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            let told = |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string);
            return shown.map(|value| (value.get_name().to_owned(), told(value).unwrap_or_default())).collect();
        }
        let name = arg.get_value_names().and_then(<[_]>::first).map_or("", |name| name.as_str());
        let found = match Source::of(arg.get_id().as_str(), name, &self.path) {
            None => Ok(Candidates::new()),
            Some(Source::Files) => Ok(Candidates::from([(FILES.to_owned(), String::new())])),
            Some(Source::Is(words)) => Ok(words.iter().map(|word| ((*word).to_owned(), String::new())).collect()),
            Some(Source::Keys) => keys(word, env),
            Some(Source::CrumbFiles) => crumb_files(),
            Some(source) => Repo::open_from_env(env).map_err(Into::into).and_then(|repo| self.ask(&repo, source, word)),
        };
        // Who completes has no use for an error.
        found.unwrap_or_default()
    }

    /// What is in the repository.
    fn ask(&self, repo: &Repo, source: Source, word: &str) -> Result<Candidates> {
        let mut candidates = Candidates::new();
        if matches!(source, Source::Traces | Source::States) {
            let traces = repo.list_refs(TRACES)?;
            let traces = traces.iter().filter_map(|(refname, _)| TraceName::of_ref(refname));
            candidates.extend(traces.map(|name| (name.to_string(), "trace".to_owned())));
            let seen = repo.list_refs(REMOTE_TRACES)?;
            let seen = seen.iter().filter_map(|(refname, _)| refname.strip_prefix(REMOTE_TRACES));
            candidates.extend(seen.map(|name| (name.to_owned(), "trace of a remote".to_owned())));
        }
        match source {
            Source::Items | Source::States => candidates.extend(self.items(repo, word)?),
            Source::Types => {
                let types = Types::read(repo)?;
                candidates.extend(types.all().map(|(item_type, _)| (item_type.to_string(), String::new())));
            }
            Source::Remotes => {
                let git = Git::in_folder(repo.git_dir());
                let listed = git.line(&["remote"])?;
                candidates.extend(listed.lines().map(|name| (name.to_owned(), "remote".to_owned())));
            }
            Source::Agents => {
                let agents = repo.list_refs(FORWARD_CRUMBS)?;
                let agents = agents.iter().filter_map(|(refname, _)| refname.strip_prefix(FORWARD_CRUMBS));
                candidates.extend(agents.map(|name| (name.to_owned(), String::new())));
            }
            _ => {}
        }
        Ok(candidates)
    }

    /// The live items of the trace whose ids begin so, each behind what stands before `..` in the word.
    fn items(&self, repo: &Repo, word: &str) -> Result<Candidates> {
        let name = match &self.trace {
            Some(name) => name.parse()?,
            None => match repo.env().text("GITTRACE_NAME") {
                Some(name) => name.parse()?,
                None => head::current(repo)?,
            },
        };
        let Some(tip) = Tip::find(repo, &name)? else { return Ok(Candidates::new()) };
        let start = word.rfind("..").map_or(0, |at| at + 2);
        let (before, prefix) = word.split_at(start);
        let mut slots = tree::list(repo, tip.commit.tree)?;
        slots.retain(|slot| slot.id.to_string().starts_with(prefix));
        let newest = slots.split_off(slots.len().saturating_sub(MAX_ITEMS));
        let mut candidates = Candidates::new();
        repo.for_each_blob(newest.iter().map(|slot| (slot, slot.blob)), |slot, _, bytes| {
            let what = trailers::preview(&Reading::of(slot, bytes).item);
            candidates.insert(format!("{before}{}", slot.id), format!("#{} {what}", slot.seq));
            Ok::<(), TraceError>(())
        })?;
        Ok(candidates)
    }
}

fn takes_value(option: &Arg) -> bool {
    option.get_num_args().is_some_and(|range| range.min_values() > 0)
}

/// Where the traces of remotes stand as the last fetch saw them.
const REMOTE_TRACES: &str = "refs/trace-remotes/";

/// Where values come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Traces,
    Items,
    /// Traces and items.
    States,
    Types,
    Remotes,
    Agents,
    Keys,
    CrumbFiles,
    Files,
    Is(&'static [&'static str]),
}

impl Source {
    /// By the id of an argument, the name of its value, and the commands it belongs to.
    fn of(id: &str, name: &str, path: &[&str]) -> Option<Self> {
        let command = path.first().copied().unwrap_or_default();
        Some(match (name, command) {
            _ if id == "trace" => Self::Traces,
            ("FILE" | "FILES", "crumb") => Self::CrumbFiles,
            ("FILE" | "FILES" | "DIR", _) => Self::Files,
            ("KEY" | "FROM" | "PREFIX", "breadcrumb") | ("KEY", "brief") => Self::Keys,
            ("NAME", "forward" | "brief") => Self::Agents,
            (
                "NAME" | "TRACE",
                "switch" | "branch" | "log" | "status" | "materialize" | "export" | "merge" | "cherry-pick" | "view",
            )
            | ("TRACE", "rebase" | "push" | "fetch" | "pull" | "fsck")
                if id != "agent" =>
            {
                Self::Traces
            }
            (_, "crumb" | "checkpoint" | "forward" | "breadcrumb" | "brief" | "merge-driver") => return None,
            ("ITEM" | "A..B", "log") if id == "code" => return None,
            ("ITEM" | "A..B", _) => Self::Items,
            ("STATE" | "START" | "COMMIT", _) | ("WHEN", "materialize" | "view") => Self::States,
            ("NAME", "types") | ("TYPE", _) => Self::Types,
            ("LEVEL", _) => Self::Is(&["skip", "normal", "pinned"]),
            ("ROLE", _) => Self::Is(&["user", "assistant", "system", "tool"]),
            ("REMOTE", _) => Self::Remotes,
            ("AGENT", "install" | "uninstall") => Self::Is(&["claude-code", "codex", "gemini-cli"]),
            ("CLIENT", _) => Self::Is(&["claude-code", "cursor", "vscode", "codex", "gemini"]),
            ("SHELL", _) => Self::Is(&["bash", "zsh", "fish"]),
            _ => return None,
        })
    }
}

/// The keys of breadcrumbs that begin so.
fn keys(prefix: &str, env: Env) -> Result<Candidates> {
    let folder = std::env::current_dir().context("cannot tell which folder this is")?;
    let store = Store::find(&folder, &worktree_root(&folder, env)?);
    let listing = store.list(&Query { prefix: prefix.to_owned(), ..Query::default() }, Time::now())?;
    Ok(listing.records.into_iter().map(|record| (record.key.into_owned(), String::new())).collect())
}

/// The crumb files below this folder that git knows or would add.
fn crumb_files() -> Result<Candidates> {
    let git = Git::in_folder(std::env::current_dir().context("cannot tell which folder this is")?);
    let listed = git.run(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let paths = listed.split(|byte| *byte == 0).filter_map(|path| std::str::from_utf8(path).ok());
    let crumbs = paths.filter(|path| path.strip_suffix(".crumb").is_some_and(|name| !name.starts_with('-')));
    Ok(crumbs.map(|path| (path.to_owned(), "crumb file".to_owned())).collect())
}
