//! Options mean the same in all commands.

use std::collections::BTreeMap;

use clap::{Arg, ArgAction, Command};

use super::*;
use crate::app::context::{CHANGING, CREATING, READING};

fn options<'c>(command: &'c Command, path: &str, found: &mut Vec<(String, &'c Arg)>) {
    let visible = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set());
    found.extend(visible.map(|arg| (path.to_owned(), arg)));
    for sub in command.get_subcommands() {
        options(sub, format!("{path} {}", sub.get_name()).trim(), found);
    }
}

/// Calls `check` with each option and the path of its command.
fn for_each_option(mut check: impl FnMut(&str, &Arg)) {
    let mut command = complete_command();
    command.build();
    let mut found = Vec::new();
    options(&command, "", &mut found);
    assert!(found.len() > 200);
    for (path, arg) in &found {
        check(path, arg);
    }
}

/// The name of the value; empty for a flag.
fn value(arg: &Arg) -> String {
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let names = arg.get_value_names().filter(|_| takes_value).unwrap_or_default();
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn a_short_option_has_one_meaning() {
    // As in git, or in the programs whose command lines these subcommands follow.
    const OWN: [(&str, char); 16] = [
        ("branch", 'm'),
        ("grep", 'F'),
        ("grep", 'l'),
        ("grep", 'c'),
        ("switch", 'c'),
        ("fetch", 'p'),
        ("log", 'p'),
        ("status", 's'),
        ("checkpoint new", 'a'),
        ("checkpoint new", 'c'),
        ("checkpoint new", 'i'),
        ("checkpoint new", 'p'),
        ("checkpoint archive", 'l'),
        ("checkpoint archive", 'o'),
        ("checkpoint list", 'a'),
        ("checkpoint tree", 's'),
    ];
    let mut meanings: BTreeMap<char, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for_each_option(|path, arg| {
        let Some(short) = arg.get_short() else { return };
        let long = arg.get_long().unwrap_or_default();
        if OWN.contains(&(path, short)) {
            return;
        }
        // A number of results, of entries, or of operations.
        let meaning = if short == 'n' { value(arg) } else { format!("--{long} {}", value(arg)) };
        meanings.entry(short).or_default().entry(meaning).or_default().push(path.to_owned());
    });
    meanings.retain(|_, meanings| meanings.len() > 1);
    assert!(meanings.is_empty(), "{meanings:#?}");
}

#[test]
fn n_is_a_number_and_a_dry_run_has_no_short_form() {
    for_each_option(|path, arg| {
        if arg.get_short() == Some('n') {
            assert_eq!(value(arg), "N", "-n of {path}");
        }
        if arg.get_long() == Some("dry-run") {
            assert_eq!(arg.get_short(), None, "--dry-run of {path}");
        }
    });
}

#[test]
fn a_long_option_takes_the_same_value_in_all_commands() {
    // The same words about other things: a filter or a switch instead of a value, or steps instead of items.
    const DIFFERENT: [&str; 14] = [
        "agent", "all", "budget", "delete", "force", "keep", "list", "meta", "parent", "prune", "role", "sort",
        "status", "to",
    ];
    let mut values: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for_each_option(|path, arg| {
        let long = arg.get_long().unwrap_or_default();
        let is_filter = path == "log" && long == "reason";
        if !is_filter && !DIFFERENT.contains(&long) {
            values.entry(long.to_owned()).or_default().entry(value(arg)).or_default().push(path.to_owned());
        }
    });
    values.retain(|_, values| values.len() > 1);
    assert!(values.is_empty(), "{values:#?}");
}

#[test]
fn content_is_m_and_a_reason_is_reason() {
    for_each_option(|path, arg| {
        if arg.get_short() == Some('m') && path != "branch" {
            assert_eq!(arg.get_long(), Some("message"), "{path}");
            assert!(["commit", "edit", "compress", "checkpoint delta"].contains(&path), "{path}");
        }
    });
}

#[test]
fn each_command_says_how_it_treats_an_unknown_name_of_a_trace() {
    let mut listed: Vec<&str> = [READING, CREATING, CHANGING].into_iter().flat_map(str::split_whitespace).collect();
    listed.sort_unstable();
    let command = complete_command();
    let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    names.sort_unstable();
    assert_eq!(listed, names);
}

/// The long help of a command, and of all commands below it.
fn helps(command: &Command) -> Vec<String> {
    let own = command.clone().render_long_help().to_string();
    [own].into_iter().chain(command.get_subcommands().flat_map(helps)).collect()
}

#[test]
fn a_command_that_is_built_alone_is_the_one_of_the_complete_command_line() {
    let mut complete = complete_command();
    complete.build();
    for command in complete.get_subcommands() {
        let mut alone = needed_command(&["git-trace".into(), command.get_name().into()]);
        alone.build();
        let [alone] = alone.get_subcommands().collect::<Vec<_>>()[..] else {
            panic!("{} is not alone", command.get_name())
        };
        assert_eq!(helps(alone), helps(command));
        assert_eq!(alone.get_all_aliases().collect::<Vec<_>>(), command.get_all_aliases().collect::<Vec<_>>());
    }
    assert_eq!(needed_command(&["git-trace".into(), "--version".into()]).render_version(), complete.render_version());
}

#[test]
fn lists_in_json_may_end_with_nul() {
    // These are no lists: they change items, or check files.
    const OTHERS: [&str; 8] = ["commit", "delete", "restore", "pin", "skip", "unpin", "import", "crumb validate"];
    let (mut json, mut nul) = (Vec::new(), Vec::new());
    for_each_option(|path, arg| {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        if arg.get_long() == Some("json") && help.contains("one JSON object per") {
            json.push(path.to_owned());
        }
        if arg.get_short() == Some('z') {
            nul.push(path.to_owned());
        }
    });
    json.retain(|path| !nul.contains(path) && !OTHERS.contains(&path.as_str()));
    assert!(json.is_empty(), "without -z: {json:?}");
}

#[test]
fn json_of_each_command_is_documented() {
    let page = include_str!("../../docs/json.md");
    let mut without = Vec::new();
    for_each_option(|path, arg| {
        if arg.get_long() == Some("json") && !page.contains(&format!("`git trace {path} --json`")) {
            without.push(path.to_owned());
        }
    });
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn commands_that_gits_scripts_silence_have_q() {
    // Those of `git help -a` with `--quiet`, as far as there is a command of the name.
    const QUIET: &str = "branch commit fetch gc grep init merge pull push rebase reset switch";
    let mut quiet = Vec::new();
    for_each_option(|path, arg| {
        if arg.get_short() == Some('q') && arg.get_long() == Some("quiet") && !path.contains(' ') {
            quiet.push(path.to_owned());
        }
    });
    quiet.sort();
    quiet.retain(|path| path != "check" && path != "fsck");
    assert_eq!(quiet, QUIET.split(' ').collect::<Vec<_>>());
}
