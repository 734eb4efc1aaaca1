//! The help of commands.

use super::*;

/// Calls `check` with each command that help shows.
fn for_each_command(command: &Command, check: &mut impl FnMut(&Command)) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        check(sub);
        for_each_command(sub, check);
    }
}

#[test]
fn every_command_has_an_example_that_is_shown_and_can_be_parsed() {
    let mut count = 0;
    for_each_command(&described(&[]), &mut |command| {
        let name = command.get_bin_name().unwrap();
        assert!(examples(name).next().is_some(), "no example of `{name}`");
        assert!(command.clone().render_help().to_string().contains("Examples:\n  git trace"), "{name}");
        count += 1;
    });
    assert!(count > 100, "{count}");
    for line in EXAMPLES.lines() {
        let command = line.split(' ').take_while(|word| !matches!(*word, "<" | ">")).collect::<Vec<_>>().join(" ");
        let mut words: Vec<OsString> = vec!["git-trace".into()];
        // Quoted words are every second part.
        for (number, part) in command.trim_start_matches("git trace ").split('\'').enumerate() {
            if number % 2 == 1 {
                words.push(part.into());
            } else {
                words.extend(part.split_whitespace().map(OsString::from));
            }
        }
        if let Err(error) = parse(&words) {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn each_command_is_in_one_group_and_help_lists_at_most_forty() {
    let command = described(&[]);
    let mut grouped: Vec<&str> =
        GROUPS.iter().flat_map(|group| group.commands.iter().chain(group.others)).copied().collect();
    grouped.sort_unstable();
    let visible: Vec<&Command> = command.get_subcommands().filter(|sub| !sub.is_hide_set()).collect();
    let mut names: Vec<&str> = visible.iter().map(|sub| sub.get_name()).collect();
    names.sort_unstable();
    assert_eq!(grouped, names);
    assert!(GROUPS.iter().map(|group| group.commands.len()).sum::<usize>() <= 40);
    for sub in visible {
        let line = format!("  {:<12}  {}", sub.get_name(), sub.get_about().unwrap());
        assert!(line.len() <= 80, "{line}");
    }
}
