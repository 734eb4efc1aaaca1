//! The text of a manual page, in the order of git's own pages.

use std::fmt::Write as _;
use std::io;

use clap::{Arg, ArgAction, Command};
use clap_mangen::Man;

use crate::app::cli::help;

/// The sections that `clap_mangen` writes, with a synopsis that names values, arguments before options,
/// commands in groups, and examples.
pub(super) fn text(command: &Command, name: &str) -> io::Result<String> {
    let man = Man::new(options_only(command));
    let mut bytes = Vec::new();
    man.render_title(&mut bytes)?;
    man.render_name_section(&mut bytes)?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    add_synopsis(&mut text, command);
    add_description(&mut text, command);
    let arguments = command.get_positionals().filter(|arg| !arg.is_hide_set());
    add_entries(&mut text, ".SH ARGUMENTS", arguments.map(|arg| (marked(&bracketed(&arg.to_string())), help_of(arg))));
    bytes.clear();
    man.render_options_section(&mut bytes)?;
    text.push_str(&String::from_utf8_lossy(&bytes));
    add_commands(&mut text, command, name);
    text.push_str(".SH EXAMPLES\n.EX\n");
    for example in help::examples(command.get_bin_name().unwrap_or_default()) {
        text.extend([&escaped(example), "\n"]);
    }
    text.push_str(".EE\n");
    Ok(tidied(&text, name))
}

/// The command without the arguments that have a separate section, and without `--help`, which git's pages do not name either.
fn options_only(command: &Command) -> Command {
    command.clone().mut_args(|arg| {
        let is_hidden = arg.is_hide_set() || arg.is_positional() || arg.get_id() == "help";
        arg.hide(is_hidden)
    })
}

/// One form of the command per line of clap's usage, in which the options take the place of `[OPTIONS]`.
fn add_synopsis(text: &mut String, command: &Command) {
    text.push_str(".SH SYNOPSIS\n");
    let name = command.get_bin_name().unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let forms = usage.trim_start_matches("Usage:").lines().map(str::trim).filter(|form| !form.is_empty());
    for form in forms {
        let _ = writeln!(text, ".SY \"{name}\"");
        for word in words(form.strip_prefix(name).unwrap_or(form)) {
            let options = if word == "[OPTIONS]" { synopsis_options(command, &usage) } else { vec![bracketed(word)] };
            for option in options {
                // Without `\&`, dots would end a sentence.
                let _ = writeln!(text, "{}\\&", marked(&option).replace(' ', "\\ "));
            }
        }
    }
    text.push_str(".YS\n");
}

/// The words of a usage; spaces in brackets do not end one.
fn words(usage: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    let ends = move |c: char| {
        match c {
            '[' | '<' | '(' => depth += 1,
            ']' | '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    };
    usage.split(ends).filter(|word| !word.is_empty())
}

/// The options that the usage does not name itself, such as `[-y | --yes]` and `[-m <TEXT>]`.
fn synopsis_options(command: &Command, usage: &str) -> Vec<String> {
    let is_root = command.get_name() == "git-trace";
    let is_named = |long: &str| words(usage).any(|word| word.contains(&format!("--{long}")));
    let is_meant = |arg: &&Arg| {
        let is_everywhere = (arg.is_global_set() && !is_root) || arg.get_id() == "help";
        !arg.is_hide_set() && !arg.is_positional() && !arg.get_long().is_some_and(is_named) && !is_everywhere
    };
    let written = |arg: &Arg| {
        // Clap writes one name, the long one if there is one, and the value.
        let long = arg.to_string();
        let repeated = if matches!(arg.get_action(), ArgAction::Append) { "..." } else { "" };
        match (arg.get_short(), arg.get_long(), long.split_once(' ')) {
            (Some(short), Some(_), Some((_, value))) => format!("[-{short} {value}]{repeated}"),
            (Some(short), Some(long), None) => format!("[-{short} | --{long}]"),
            _ => format!("[{long}]{repeated}"),
        }
    };
    command.get_arguments().filter(is_meant).map(written).collect()
}

/// Without the first line, which is the name's, if there is more.
fn add_description(text: &mut String, command: &Command) {
    let (about, long) = (command.get_about(), command.get_long_about());
    let (about, long) = (about.map(ToString::to_string), long.map(ToString::to_string));
    let rest = long.as_ref().and_then(|long| Some(long.split_once("\n\n")?.1));
    text.push_str(".SH DESCRIPTION\n");
    for line in rest.or(about.as_deref()).unwrap_or_default().lines() {
        let _ = match line.trim() {
            "" => writeln!(text, ".PP"),
            line => writeln!(text, "{}", escaped(line)),
        };
    }
}

/// The commands below this one; those of `git trace` in the groups of its help.
fn add_commands(text: &mut String, command: &Command, name: &str) {
    let page = |sub: &Command| {
        let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
        (format!("\\fB{}\\-{}\\fR(1)", escaped(name), escaped(sub.get_name())), about)
    };
    if name == "git-trace" {
        text.push_str(".SH COMMANDS\n");
        for (job, names) in help::jobs() {
            let subs = names.filter_map(|name| command.find_subcommand(name));
            add_entries(text, &format!(".SS \"{job}\""), subs.map(page));
        }
    } else {
        let subs = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        add_entries(text, ".SH COMMANDS", subs.map(page));
    }
}

/// A section of entries in roff, each with its explanation, if there are any.
fn add_entries(text: &mut String, section: &str, entries: impl Iterator<Item = (String, String)>) {
    for (index, (entry, explanation)) in entries.enumerate() {
        if index == 0 {
            text.extend([section, "\n"]);
        }
        let _ = writeln!(text, ".TP\n{entry}\n{}", escaped(&explanation));
    }
}

fn help_of(arg: &Arg) -> String {
    arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default()
}

/// An argument as git writes it: `[<NAME>...]` for clap's `[NAME]...`.
fn bracketed(word: &str) -> String {
    match word.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, dots)) if name.starts_with(|c: char| c.is_ascii_uppercase()) => format!("[<{name}>{dots}]"),
        _ => word.to_owned(),
    }
}

/// Text as roff: options bold, and the names of values italic.
fn marked(text: &str) -> String {
    let mut marked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['-', '<']) {
        let (before, found) = rest.split_at(at);
        let (font, end) = match found.strip_prefix('<').and_then(|name| name.find(['<', '>', '|'])) {
            Some(end) if found[end + 1..].starts_with('>') => ("I", end + 2),
            Some(_) => ("R", 1),
            None => ("B", found.find(|c: char| c != '-' && !c.is_ascii_alphanumeric()).unwrap_or(found.len())),
        };
        let _ = write!(marked, "{}\\f{font}{}\\fR", escaped(before), escaped(&found[..end]));
        rest = &found[end..];
    }
    marked + &escaped(rest)
}

/// Characters that roff would read or replace: commands are copied from these pages.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (index, c) in text.chars().enumerate() {
        match c {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            '.' if index == 0 => escaped.push_str("\\&."),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Date of the last review of the pages; `mandoc` requires one.
const DATE: &str = "2026-11-23";

/// The page without what `groff` and `mandoc` warn about: empty lines, breaks next to them, a title without quotes.
fn tidied(page: &str, name: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut lines = page.lines().peekable();
    let mut is_defined = false;
    while let Some(line) = lines.next() {
        if line.is_empty() || line == ".br" {
            let mut is_gap = line.is_empty();
            while let Some(next) = lines.next_if(|next| next.is_empty() || *next == ".br") {
                is_gap |= next.is_empty();
            }
            text.push_str(if is_gap { ".sp\n" } else { ".br\n" });
        } else if line.starts_with(".TH ") {
            let (title, version) = (name.to_uppercase(), env!("CARGO_PKG_VERSION"));
            let _ = writeln!(text, ".TH \"{title}\" \"1\" \"{DATE}\" \"git-trace {version}\" \"Git Trace Manual\"");
        } else if line.starts_with(".ie ") || line.starts_with(".el ") {
            // Each section defines the apostrophe anew.
            if !is_defined {
                text.extend([line, "\n"]);
            }
            is_defined |= line.starts_with(".el ");
        } else {
            text.extend([line.trim_end(), "\n"]);
        }
    }
    text
}

/// Bold type for the backquotes around what is typed. The name's line keeps them: `whatis` reads it as text.
pub(super) fn with_bold_code(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut is_name = false;
    for line in page.lines() {
        match line.split('`').collect::<Vec<_>>() {
            parts if parts.len() % 2 == 1 && !is_name => {
                for (index, part) in parts.iter().enumerate() {
                    let (begin, end) = if index % 2 == 1 { ("\\fB", "\\fR") } else { ("", "") };
                    text.extend([begin, part, end]);
                }
            }
            _ => text.push_str(line),
        }
        text.push('\n');
        is_name = line == ".SH NAME";
    }
    text
}
