//! Printing errors: one line that says what failed and why, and a hint if there is a next step.

use std::ffi::OsString;
use std::io::{self, Write as _};

use super::help;
use crate::app::ui::escaped;
use crate::base::error::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Words of git, shells, and other tools for something that has another name here.
const OTHER_NAMES: [(&str, &str); 29] = [
    ("add", "`git trace commit -F FILE` records a file"),
    ("amend", "`git trace edit ITEM -m TEXT` changes an item"),
    ("annotate", "`git trace blame ITEM` shows who wrote each line"),
    ("cat", "`git trace show ITEM` prints an item"),
    ("checkout", "`git trace switch NAME` changes the trace, `git trace restore ITEM` restores an item"),
    ("clone", "after `git clone`, `git trace pull` brings the traces"),
    ("compact", "`git trace compress` replaces items with a summary"),
    ("config", "`git config trace.NAME VALUE` changes a setting"),
    ("continue", "`git trace resume` continues a session in its agent"),
    ("create", "`git trace switch -c NAME` creates a trace"),
    ("disable", "`git trace uninstall --agent claude-code` stops recording; likewise codex and gemini-cli"),
    ("enable", "`git trace install --agent claude-code` records sessions; likewise codex and gemini-cli"),
    ("history", "`git trace log` lists commits"),
    ("list", "`git trace branch` lists traces, `git trace log --oneline` items, `git trace sessions` sessions"),
    ("ls", "`git trace branch` lists traces, `git trace log --oneline` items, `git trace sessions` sessions"),
    ("mv", "`git trace branch -m OLD NEW` renames a trace"),
    ("new", "`git trace switch -c NAME` creates a trace"),
    ("open", "`git trace view` opens a trace in the browser"),
    ("record", "`git trace install --agent claude-code` records sessions; `git trace commit -m TEXT` adds an item"),
    ("reflog", "`git trace op log` lists what commands did"),
    ("remove", "`git trace delete ITEM` deletes an item, `git trace branch -d NAME` a trace"),
    ("rename", "`git trace branch -m OLD NEW` renames a trace"),
    ("search", "`git trace grep PATTERN` searches items"),
    ("setup", "`git trace install` sets up merges, and recording with --agent"),
    ("squash", "`git trace compress` replaces items with a summary"),
    ("stash", "`git trace switch -c NAME` keeps a state as a trace of its own"),
    ("summarize", "`git trace compress` replaces items with a summary"),
    ("tag", "`git trace branch NAME` keeps a state under a name"),
    ("version", "`git trace --version` prints the version"),
];

/// What to use in place of an option of git. The first word is the command.
const OTHER_OPTIONS: [(&str, &str, &str); 10] = [
    ("commit", "-a", "an item is recorded at once: `git trace commit -m TEXT`"),
    ("commit", "--amend", "`git trace edit ITEM -m TEXT` changes an item"),
    ("diff", "--cached", "nothing is staged: `git trace diff STATE` compares with a state"),
    ("diff", "--staged", "nothing is staged: `git trace diff STATE` compares with a state"),
    ("log", "--graph", "`git trace view` draws the branches"),
    ("log", "--all", "`git trace branch` lists traces, `git trace log NAME` shows one"),
    ("pull", "--rebase", "after `git trace fetch`, `git trace rebase REMOTE/NAME` replays the trace"),
    ("push", "-u", "`git trace push REMOTE` needs no upstream"),
    ("reset", "--hard", "`git trace reset STATE` needs no option, and `git trace undo` takes it back"),
    ("switch", "-b", "`git trace switch -c NAME` creates a trace"),
];

pub(crate) fn print(error: &Error) {
    print_lines(&format!("{error:#}"), error.hint());
}

fn print_lines(message: &str, hint: Option<&str>) {
    let mut text = format!("error: {}\n", escaped(message));
    if let Some(hint) = hint {
        text.extend(["hint: ", &escaped(hint), "\n"]);
    }
    // If stderr is closed, nobody can be told.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints clap's answer to the command line `args`, and returns the exit status. Help and version go to stdout.
pub(crate) fn print_usage(error: &clap::Error, args: &[OsString]) -> u8 {
    let usage = Usage { error, command: command_of(args) };
    match error.kind() {
        // Without a command, clap answers with the help.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if usage.command != "git trace" => {
            print_lines(&format!("`{}` needs a command", usage.command), Some(&usage.help()));
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
        }
        _ => print_lines(&usage.message(), Some(&usage.hint())),
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// The command that a command line names, such as `git trace crumb new`.
fn command_of(args: &[OsString]) -> String {
    let root = help::described(args);
    let mut command = &root;
    for word in args.iter().skip(1) {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    command.get_bin_name().unwrap_or_default().to_owned()
}

struct Usage<'e> {
    error: &'e clap::Error,
    command: String,
}

impl Usage<'_> {
    /// The texts of one kind that clap's error carries; options without the names of their values.
    fn texts(&self, kind: ContextKind) -> Vec<String> {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
            Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    fn text(&self, kind: ContextKind) -> String {
        self.texts(kind).into_iter().next().unwrap_or_default()
    }

    fn quoted(&self, kind: ContextKind) -> String {
        let quoted: Vec<String> = self.texts(kind).iter().map(|text| format!("`{text}`")).collect();
        quoted.join(", ")
    }

    fn message(&self) -> String {
        let (command, arg) = (&self.command, self.quoted(ContextKind::InvalidArg));
        let value = self.text(ContextKind::InvalidValue);
        match self.error.kind() {
            ErrorKind::InvalidSubcommand => {
                format!("`{command}` has no command {}", self.quoted(ContextKind::InvalidSubcommand))
            }
            ErrorKind::MissingSubcommand => format!("`{command}` needs a command"),
            ErrorKind::UnknownArgument if arg.starts_with("`-") => format!("`{command}` has no option {arg}"),
            ErrorKind::UnknownArgument => format!("unexpected argument {arg} of `{command}`"),
            ErrorKind::MissingRequiredArgument => format!("`{command}` needs {arg}"),
            ErrorKind::InvalidValue if value.is_empty() => format!("{arg} needs a value"),
            // An argument that may be `-` only.
            ErrorKind::InvalidValue if arg == "`[-]`" => format!("unexpected argument `{value}` of `{command}`"),
            ErrorKind::InvalidValue => {
                let valid = self.texts(ContextKind::ValidValue).join(", ");
                format!("invalid value `{value}` of {arg}: expected {valid}")
            }
            ErrorKind::ValueValidation => {
                let source = std::error::Error::source(self.error).map(ToString::to_string).unwrap_or_default();
                match source.as_str() {
                    "invalid digit found in string" => format!("invalid value `{value}` of {arg}: expected a number"),
                    // It says which value it is about.
                    source if source.contains(&value) => format!("{arg}: {source}"),
                    source => format!("invalid value `{value}` of {arg}: {source}"),
                }
            }
            ErrorKind::ArgumentConflict => match self.quoted(ContextKind::PriorArg) {
                prior if prior == arg => format!("{arg} can be given only once"),
                prior => format!("{arg} cannot be used with {prior}"),
            },
            _ => {
                let rendered = self.error.render().to_string();
                let first = rendered.split("\n\n").next().unwrap_or_default();
                let words: Vec<&str> = first.trim_start_matches("error: ").split_whitespace().collect();
                words.join(" ")
            }
        }
    }

    /// The one step that helps now: the word that may be meant, or how the command is used.
    fn hint(&self) -> String {
        let (subcommand, arg) = (self.text(ContextKind::InvalidSubcommand), self.text(ContextKind::InvalidArg));
        let other_name = OTHER_NAMES.iter().find(|(name, _)| *name == subcommand && self.command == "git trace");
        if let Some((_, hint)) = other_name {
            return (*hint).to_owned();
        }
        let is_meant = |command: &str, option: &str| {
            self.command.strip_prefix("git trace ") == Some(command) && arg.starts_with(option)
        };
        if let Some((_, _, hint)) = OTHER_OPTIONS.iter().find(|(command, option, _)| is_meant(command, option)) {
            return (*hint).to_owned();
        }
        let suggested = [
            (ContextKind::SuggestedSubcommand, format!("{} ", self.command)),
            (ContextKind::SuggestedArg, String::new()),
            (ContextKind::SuggestedValue, String::new()),
        ];
        for (kind, before) in suggested {
            // The last is the most similar.
            if let Some(word) = self.texts(kind).last() {
                return format!("did you mean `{before}{word}`?");
            }
        }
        self.help()
    }

    fn help(&self) -> String {
        if self.command == "git trace" {
            return "`git trace help` lists the commands".to_owned();
        }
        let example = help::examples(&self.command).next();
        let example = example.map(|example| format!("for example `{example}`; ")).unwrap_or_default();
        format!("{example}`{} -h` explains it", self.command)
    }
}
