//! `git trace complete-words`: completions of a command line, which the shells' scripts ask for.
//!
//! The answer has one candidate per line, with a tab and its description; a line `/` says that files are meant. Candidates with
//! control characters are left out, so that none can pass for two. The scripts quote.

use crate::base::error::Result;
use std::any::TypeId;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::sync::Arc;

use clap::builder::ArgExt;
use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, ValueCompleter, complete};

use crate::app::cli::complete_command;
use crate::app::context::Context;
use crate::app::install::client::Client;
use crate::app::install::completions::Shell;
use crate::app::ui::escaped;
use crate::git::Env;
use crate::memory::breadcrumb::Key;
use crate::memory::breadcrumb::query::Query;
use crate::trace::model::level::Level;
use crate::trace::model::name::{FORWARD_CRUMBS, REMOTES};
use crate::trace::model::types::Types;
use crate::trace::model::{trailers, tree};
use crate::trace::query::find::newest_named;
use crate::trace::store::head;
use crate::trace::store::total::Reading;
use crate::trace::store::trace_index::ListedTrace;
use crate::trace::{AgentName, ItemEntry, ItemType, Tip, TraceError, TraceName, View};
use crate::transcript::format::Format;
use crate::transcript::title::title;

/// Number of items that are offered: the newest.
const MAX_ITEMS: usize = 200;

/// The answer that says that files are meant.
const FILES: &str = "/";

/// How many traces are offered with their titles.
const MAX_DESCRIBED: usize = 100;

/// Print completions of a command line; the completion scripts of shells call this
#[derive(clap::Args, Debug)]
pub(crate) struct CompleteWordsArgs {
    /// The words after `git trace`, up to the one at the cursor, which may be empty
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl CompleteWordsArgs {
    pub(crate) fn run(&self, context: &Context) -> Result<()> {
        let (word, before) = self.words.split_last().map_or(("", &[][..]), |(word, before)| (word.as_str(), before));
        let mut words = vec!["git-trace"];
        let mut trace = None;
        let mut given = before.iter().map(String::as_str).peekable();
        while let Some(word) = given.next() {
            match word.strip_prefix("--trace") {
                Some("") if given.peek().is_some() => trace = given.next(),
                Some(name) if name.starts_with('=') => trace = Some(&name[1..]),
                _ => words.push(word),
            }
        }
        words.push(word);
        let mut command = complete_command();
        command.build();
        if words.get(1) == Some(&"help") && words.len() > 2 {
            // `help` takes the same names; clap's copies of the commands below it have no descriptions.
            words.remove(1);
        } else {
            let world = Arc::new((context.env.clone(), trace.map(str::to_owned)));
            command = with_completers(command, &Values::Files, &world);
        }
        let at = words.len() - 1;
        // An unknown command line has no completions.
        let found = complete(&mut command, words.into_iter().map(Into::into).collect(), at, None).unwrap_or_default();
        let mut candidates = Vec::new();
        for candidate in &found {
            let Some(value) = candidate.get_value().to_str() else { continue };
            // Options are offered for a hyphen only.
            let is_meant = value.starts_with(word) && value.starts_with('-') == word.starts_with('-');
            if !value.contains(char::is_control) && (is_meant || value == FILES) {
                candidates.push((value, candidate));
            }
        }
        // Commands and options have an id, and are sorted by name. Values keep their order, such as newest first.
        candidates.sort_by_key(|(value, candidate)| candidate.get_id().map(|_| *value));
        let mut seen = HashSet::new();
        for (value, candidate) in candidates.into_iter().filter(|(value, _)| seen.insert(*value)) {
            let description = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(context.ui, "{value}\t{}", escaped(description.lines().next().unwrap_or_default()))?;
        }
        Ok(())
    }
}

/// What the values of an argument are. An argument of type `String` declares it with `add`, others have it by their type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Values {
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
    OneOf(&'static [&'static str]),
}

impl ArgExt for Values {}

impl Values {
    fn of(arg: &Arg) -> Option<Self> {
        let by_type = [
            (TypeId::of::<TraceName>(), Self::Traces),
            (TypeId::of::<ItemType>(), Self::Types),
            (TypeId::of::<AgentName>(), Self::Agents),
            (TypeId::of::<Key>(), Self::Keys),
            (TypeId::of::<Level>(), Self::OneOf(&["skip", "normal", "pinned"])),
            (
                TypeId::of::<Format>(),
                Self::OneOf(&["claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "pi"]),
            ),
            (TypeId::of::<Client>(), Self::OneOf(&["claude-code", "cursor", "vscode", "codex", "gemini"])),
            (TypeId::of::<Shell>(), Self::OneOf(&["bash", "zsh", "fish"])),
        ];
        let type_id = arg.get_value_parser().type_id();
        arg.get::<Self>()
            .copied()
            .or_else(|| by_type.into_iter().find(|(id, _)| type_id == *id).map(|(_, values)| values))
    }
}

/// Gives each argument its completer; `files` is for those that are paths.
fn with_completers(command: Command, files: &Values, world: &Arc<(Env, Option<String>)>) -> Command {
    let files = if command.get_name() == "crumb" { &Values::CrumbFiles } else { files };
    let command = command.mut_args(|arg| {
        let path = (arg.get_value_hint() == ValueHint::AnyPath).then_some(*files);
        match Values::of(&arg).or(path) {
            Some(values) => arg.add(ArgValueCompleter::new(Completer { values, world: Arc::clone(world) })),
            None => arg,
        }
    });
    command.mut_subcommands(|sub| with_completers(sub, files, world))
}

/// Completes the values of an argument, in an environment and for the trace that `--trace` names.
struct Completer {
    values: Values,
    world: Arc<(Env, Option<String>)>,
}

impl ValueCompleter for Completer {
    fn complete(&self, word: &OsStr) -> Vec<CompletionCandidate> {
        // For completion, what cannot be read is as if it were missing.
        let found = word.to_str().and_then(|word| self.candidates(word).ok()).unwrap_or_default();
        found.into_iter().map(|(value, what)| CompletionCandidate::new(value).help(Some(what.into()))).collect()
    }
}

type Candidates = Vec<(String, String)>;

impl Completer {
    fn candidates(&self, word: &str) -> Result<Candidates> {
        let (env, trace) = &*self.world;
        let context = Context::new(env.clone(), trace.as_ref().map(|name| name.parse()).transpose()?);
        let described =
            |names: Vec<String>, what: &str| names.into_iter().map(|name| (name, what.to_owned())).collect();
        let refs = |prefix: &str| -> Result<Vec<String>> {
            let refs = context.repo()?.list_refs(prefix)?;
            Ok(refs.into_iter().filter_map(|(name, _)| name.strip_prefix(prefix).map(str::to_owned)).collect())
        };
        Ok(match self.values {
            Values::Files => described(vec![FILES.to_owned()], ""),
            Values::OneOf(words) => described(words.iter().map(|word| (*word).to_owned()).collect(), ""),
            Values::Traces => {
                let offered = newest_named(context.repo()?, word)?;
                let titled = |(number, trace): (usize, &ListedTrace)| {
                    let what = if number < MAX_DESCRIBED { description(&context, trace) } else { String::new() };
                    (trace.name.to_string(), what)
                };
                let mut traces: Candidates = offered.iter().enumerate().map(titled).collect();
                traces.extend::<Candidates>(described(refs(REMOTES)?, "trace of a remote"));
                traces
            }
            Values::Items => items(&context, word)?,
            Values::States => {
                let mut states = Self { values: Values::Traces, world: Arc::clone(&self.world) }.candidates(word)?;
                states.extend(items(&context, word)?);
                states
            }
            Values::Types => {
                described(Types::read(context.repo()?)?.all().map(|(name, _)| name.to_string()).collect(), "")
            }
            Values::Remotes => {
                let remotes = context.git()?.line(&["remote"])?;
                described(remotes.lines().map(str::to_owned).collect(), "remote")
            }
            Values::Agents => {
                let refs = context.repo()?.list_refs(FORWARD_CRUMBS)?;
                let agents = refs.iter().filter_map(|(refname, _)| AgentName::of_ref(refname));
                described(agents.map(|agent| agent.to_string()).collect(), "")
            }
            Values::Keys => {
                let store = context.breadcrumbs(&context.root()?)?;
                let listing = store.list(&Query { prefix: word.to_owned(), ..Query::default() }, context.now())?;
                described(listing.records.into_iter().map(|record| record.key.into_owned()).collect(), "")
            }
            Values::CrumbFiles => {
                let listed = context.git()?.run(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
                let paths = listed.split(|byte| *byte == 0).filter(|path| path.ends_with(b".crumb"));
                described(paths.filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect(), "crumb file")
            }
        })
    }
}

/// The title of a trace, or the subject of its last commit.
fn description(context: &Context, trace: &ListedTrace) -> String {
    let read = context.repo().ok().and_then(|repo| Tip::read(repo, trace.tip).ok());
    let (Some(tip), name) = (read, &trace.name) else { return "damaged trace".to_owned() };
    let subject = tip.commit.subject().to_owned();
    let title = || {
        let repo = context.repo().ok()?;
        title(repo, name, &View::at(repo, tip, None).ok()?)
    };
    title().unwrap_or(subject)
}

/// The live items whose ids, or positions behind a `#`, begin with the word, or with what follows `..` in it; newest first.
fn items(context: &Context, word: &str) -> Result<Candidates> {
    let repo = context.repo()?;
    let name = context.named_trace()?.map_or_else(|| head::current(repo), Ok)?;
    let Some(tip) = Tip::find(repo, &name)? else { return Ok(Candidates::new()) };
    let (before, prefix) = word.split_at(word.rfind("..").map_or(0, |at| at + 2));
    let mut entries = tree::list(repo, tip.commit.tree)?;
    let written = |entry: &ItemEntry| match prefix.strip_prefix('#') {
        Some(_) => format!("#{}", entry.seq),
        None => entry.id.to_string(),
    };
    entries.retain(|entry| written(entry).starts_with(prefix));
    let newest = entries.split_off(entries.len().saturating_sub(MAX_ITEMS));
    let mut candidates = Candidates::new();
    repo.for_each_blob(newest.iter().map(|entry| (entry, entry.blob)), |entry, _, bytes| {
        let preview = trailers::preview(&Reading::of(entry, bytes).item);
        let position = if prefix.starts_with('#') { String::new() } else { format!("#{} ", entry.seq) };
        candidates.push((format!("{before}{}", written(entry)), format!("{position}{preview}")));
        Ok::<(), TraceError>(())
    })?;
    candidates.reverse();
    Ok(candidates)
}
