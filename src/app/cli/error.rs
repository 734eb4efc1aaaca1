//! Printing errors: one line that says what failed and why, and a hint if there is a next step.

mod reflexes;

use std::ffi::OsString;
use std::io::{self, Write as _};

use super::help;
use crate::base::changes::most_alike;
use crate::base::error::Error;
use crate::base::escape;
use crate::base::string_enum::UnknownVariant;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use reflexes::{OTHER_NAMES, OTHER_OPTIONS};

pub(crate) fn print(error: &Error) {
    print_lines(&format!("{error:#}"), error.hint());
}

fn print_lines(message: &str, hint: Option<&str>) {
    let mut text = format!("error: {}\n", escape::message(message));
    if let Some(hint) = hint {
        text.extend(["hint: ", &escape::message(hint), "\n"]);
    }
    // If stderr is closed, nobody can be told.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints clap's answer to the command line `args`, and returns the exit status. Help and version go to stdout.
pub(crate) fn print_usage(error: &clap::Error, args: &[OsString]) -> u8 {
    // What clap prints itself needs no definition of all commands.
    let usage = || Usage { error, command: command_of(args) };
    match error.kind() {
        // Without a command, clap answers with the help.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if command_of(args) != "git trace" => {
            let usage = usage();
            print_lines(&format!("`{}` needs a command", usage.command), Some(&usage.help()));
        }
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
        }
        _ => {
            let usage = usage();
            print_lines(&usage.message(), Some(&usage.hint()));
        }
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

/// A command as help describes it.
fn described(command: &str) -> Option<clap::Command> {
    let root = help::described(&[]);
    command.split(' ').skip(2).try_fold(&root, |command, word| command.find_subcommand(word)).cloned()
}

/// The short form of a long option of a command.
fn short_of(command: &str, option: &str) -> Option<String> {
    let command = described(command)?;
    let arg = command.get_arguments().find(|arg| arg.get_long() == Some(option.trim_start_matches('-')))?;
    Some(format!("-{}", arg.get_short()?))
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
        // Clap adds dots to an option that may be repeated.
        let word =
            |text: &String| text.strip_suffix("...").filter(|word| word.starts_with('-')).unwrap_or(text).to_owned();
        let quoted: Vec<String> = self.texts(kind).iter().map(|text| format!("`{}`", word(text))).collect();
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
            ErrorKind::TooManyValues => format!("unexpected argument `{value}` of `{command}`"),
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
        let typed = format!("{} {subcommand}", self.command.trim_start_matches("git trace"));
        let other_name = OTHER_NAMES.iter().find(|(names, _)| names.split('|').any(|name| name == typed.trim_start()));
        if let Some((_, hint)) = other_name {
            return (*hint).to_owned();
        }
        // An empty beginning is for arguments that the command does not take.
        let is_extra = self.error.kind() == ErrorKind::UnknownArgument;
        let fits = |option: &str| if option.is_empty() { is_extra } else { arg.starts_with(option) };
        let command = self.command.trim_start_matches("git trace").trim_start();
        let is_meant = |commands: &str, options: &str| {
            commands.split('|').any(|one| one == command) && options.split('|').any(fits)
        };
        if is_extra && arg == "-C" {
            return format!("it is an option of git: `git -C FOLDER trace {command}`");
        }
        if let Some((_, _, hint)) = OTHER_OPTIONS.iter().find(|(commands, options, _)| is_meant(commands, options)) {
            return hint.replace("OPTION", &arg);
        }
        // Clap also suggests words that share little with the one that was typed.
        if let Some(command) = described(&self.command).filter(|_| !subcommand.is_empty()) {
            let names = command.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name);
            if let Some(meant) = most_alike(&subcommand, names) {
                return format!("did you mean `{} {meant}`?", self.command);
            }
        }
        // The last is the most similar.
        if let Some(word) = self.texts(ContextKind::SuggestedArg).last() {
            return format!("did you mean `{word}`?");
        }
        if is_extra && arg.parse::<i64>().is_ok_and(|number| number < 0) {
            return "a number cannot be negative here".to_owned();
        }
        let (value, valid) = (self.text(ContextKind::InvalidValue), self.texts(ContextKind::ValidValue));
        if let Some(word) = most_alike(&value, valid.iter().map(String::as_str)) {
            return format!("did you mean `{word}`?");
        }
        let unknown = std::error::Error::source(self.error).and_then(|source| source.downcast_ref::<UnknownVariant>());
        let meant = unknown.and_then(|unknown| most_alike(&unknown.text, unknown.accepted.iter().copied()));
        meant.map_or_else(|| self.help(), |meant| format!("did you mean `{meant}`?"))
    }

    /// An example with the argument that the error is about, else of the command.
    fn help(&self) -> String {
        if self.command == "git trace" {
            return "`git trace help` lists the commands".to_owned();
        }
        let arg = self.text(ContextKind::InvalidArg);
        let option = arg.split([' ', '=']).next().filter(|word| word.starts_with('-'));
        let short = option.and_then(|option| short_of(&self.command, option));
        let is_it = |word: &str| Some(word) == option || Some(word) == short.as_deref();
        let shows = |example: &&str| example.split(' ').any(is_it);
        let example = if option.is_some() || arg.is_empty() {
            help::all_examples(&self.command).find(shows).or_else(|| help::all_examples(&self.command).next())
        } else {
            // The one with the most arguments is about this one too.
            help::all_examples(&self.command).max_by_key(|example| example.split(' ').count())
        };
        let example = example.map(|example| format!("for example `{example}`; ")).unwrap_or_default();
        format!("{example}`{} -h` explains it", self.command)
    }
}
