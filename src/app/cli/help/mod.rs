//! `git trace help`, and what the help of commands adds to their arguments: groups of commands, and examples.
//!
//! None of it is built unless help, a manual page, or an error needs it.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::Command;

use super::{Context, ExitStatus, Result, complete_command, error, parse};

/// A group of commands: the job, the commands for it, and those that only `--all` lists.
struct Group {
    job: &'static str,
    commands: &'static [&'static str],
    others: &'static [&'static str],
}

const GROUPS: [Group; 9] = [
    Group { job: "Start", commands: &["demo", "import", "sessions"], others: &["init"] },
    Group { job: "Record", commands: &["commit", "enable"], others: &["disable", "hook"] },
    Group {
        job: "Look",
        commands: &["status", "top", "log", "show", "diff", "grep", "why", "view"],
        others: &["blame", "priority", "types", "count", "op"],
    },
    Group {
        job: "Change",
        commands: &["clean", "edit", "delete", "restore", "pin", "skip", "unpin", "compress", "undo"],
        others: &["expand", "redo", "revert", "purge"],
    },
    Group { job: "Use", commands: &["resume", "materialize", "export"], others: &["attribute", "bisect"] },
    Group { job: "Branch", commands: &["branch", "switch", "merge", "reset"], others: &["cherry-pick", "rebase"] },
    Group { job: "Share", commands: &["push", "pull"], others: &["fetch", "remote", "archive"] },
    Group {
        job: "Memory",
        commands: &["brief", "recall", "breadcrumb", "crumb", "checkpoint", "forward"],
        others: &["check"],
    },
    Group {
        job: "Set-up",
        commands: &["install", "uninstall", "doctor"],
        others: &["fsck", "gc", "mcp", "merge-driver", "help"],
    },
];

/// Most examples in the help of a command.
const MAX_EXAMPLES: usize = 4;

/// One command line per line.
const EXAMPLES: &str = include_str!("examples.txt");

/// The jobs, each with all its commands.
pub(crate) fn jobs() -> impl Iterator<Item = (&'static str, impl Iterator<Item = &'static str>)> {
    GROUPS.iter().map(|group| (group.job, group.commands.iter().chain(group.others).copied()))
}

/// Print the help of a command, or list the commands
#[derive(clap::Args, Debug)]
pub(crate) struct HelpArgs {
    /// Command, such as `clean` or `crumb new`
    #[arg(value_name = "COMMAND")]
    words: Vec<OsString>,
    /// List all commands, also those that scripts and git call
    #[arg(short, long, conflicts_with = "words")]
    all: bool,
}

impl HelpArgs {
    #[expect(clippy::unnecessary_wraps, reason = "all commands return a result")]
    pub(crate) fn run(&self, _: &Context) -> Result<ExitStatus> {
        let flags: &[&str] = if self.all { &["-h", ALL] } else { &["--help"] };
        let words = self.words.iter().cloned().chain(flags.iter().map(Into::into));
        let args: Vec<OsString> = [OsString::from("git-trace")].into_iter().chain(words).collect();
        let Err(answer) = parse(&args) else { return Ok(ExitStatus::Success) };
        Ok(ExitStatus::Of(error::print_usage(&answer, &args)))
    }
}

const ALL: &str = "--all";

/// All commands with their arguments, groups, and examples, for a command line that asks for help or is wrong.
pub(crate) fn described(args: &[OsString]) -> Command {
    let mut command = complete_command();
    command.build();
    let groups = groups(&command, args.iter().any(|word| word == ALL));
    command.mut_subcommands(with_examples).help_template(
        "{about-with-newline}\n{usage-heading} {usage}\n".to_owned() + &groups + "\nOptions:\n{options}{after-help}",
    )
}

fn groups(command: &Command, all: bool) -> String {
    let style = command.get_styles().get_header();
    let mut text = String::new();
    for Group { job, commands, others } in &GROUPS {
        let _ = writeln!(text, "\n{style}{job}{style:#}");
        let others = if all { others } else { &[][..] };
        for name in commands.iter().chain(others) {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(text, "  {name:<12}  {}", about.unwrap_or_default());
        }
    }
    if !all {
        text.push_str("\n`git trace help COMMAND` explains a command; `git trace help --all` lists all commands.\n");
    }
    text
}

fn with_examples(command: Command) -> Command {
    let style = *command.get_styles().get_header();
    let mut text = format!("{style}Examples:{style:#}");
    for example in examples(command.get_bin_name().unwrap_or_default()) {
        let _ = write!(text, "\n  {example}");
    }
    command.after_help(text).mut_subcommands(with_examples)
}

/// A few examples of the command with this name, such as `git trace crumb`, or of its subcommands.
pub(crate) fn examples(name: &str) -> impl Iterator<Item = &'static str> {
    all_examples(name).take(MAX_EXAMPLES)
}

pub(crate) fn all_examples(name: &str) -> impl Iterator<Item = &'static str> {
    let is_of = move |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    EXAMPLES.lines().filter(is_of)
}

#[cfg(test)]
#[path = "../../../../tests/unit/help.rs"]
mod tests;
