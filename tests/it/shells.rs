//! `git trace install --man` and `--completions`, with the real `man` and bash where they are.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::playground::Playground;

/// Where git's completion for bash is, on the systems we know.
const GIT_COMPLETION: [&str; 3] = [
    "/usr/share/bash-completion/completions/git",
    "/usr/share/doc/git/contrib/completion/git-completion.bash",
    "/Library/Developer/CommandLineTools/usr/share/git-core/git-completion.bash",
];

fn pages(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_command_has_a_manual_page_and_uninstall_removes_only_ours() {
    let place = Playground::new();
    let man1 = place.root().join(".local/share/man/man1");
    fs::create_dir_all(&man1).unwrap();
    fs::write(man1.join("other.1"), "theirs").unwrap();
    fs::write(man1.join("git-trace-log.1"), "theirs").unwrap();
    assert!(place.trace(&["install", "--man", "--dry-run"]).contains("would add"));
    assert_eq!(pages(&man1), ["git-trace-log.1", "other.1"]);
    let first = place.trace(&["install", "--man"]);
    assert!(first.contains("left alone [ROOT]/.local/share/man/man1/git-trace-log.1\n"), "{first}");
    let names = pages(&man1);
    let added = format!("added {} manual pages in [ROOT]/.local/share/man/man1\n", names.len() - 2);
    assert!(first.contains(&added), "{first}");
    for page in ["git-trace.1", "git-trace-commit.1", "git-trace-crumb-expand.1", "git-trace-cherry-pick.1"] {
        assert!(names.iter().any(|name| name == page), "{page}");
    }
    assert!(names.iter().all(|name| !name.contains("complete-words")));
    let again = place.trace(&["install", "--man"]);
    assert!(again.contains(&added.replace("added", "kept")), "{again}");

    let page = fs::read_to_string(man1.join("git-trace-commit.1")).unwrap();
    let see_also = page.split_once(".SH \"SEE ALSO\"\n").unwrap().1;
    assert!(see_also.starts_with("\\fB\\%git\\fR(1), \\fB\\%git\\-trace\\fR(1), "), "{see_also}");
    // A file that somebody changed is no longer ours. A file that only an older version installed still is.
    fs::write(man1.join("git-trace-show.1"), page.replace("Append", "Attach")).unwrap();
    fs::copy(man1.join("git-trace-commit.1"), man1.join("git-trace-gone.1")).unwrap();
    assert!(place.trace(&["install", "--man"]).contains("removed [ROOT]/.local/share/man/man1/git-trace-gone.1\n"));
    place.trace(&["uninstall", "--man"]);
    assert_eq!(pages(&man1), ["git-trace-log.1", "git-trace-show.1", "other.1"]);
}

#[test]
fn a_manual_page_has_the_sections_of_gits_pages() {
    let place = Playground::new();
    place.trace(&["install", "--man", place.root().to_str().unwrap()]);
    let read = |name: &str| fs::read_to_string(place.root().join(format!("man1/{name}.1"))).unwrap();
    let section = |page: &str, name: &str| {
        let rest = page.split_once(&format!(".SH {name}\n")).unwrap().1;
        rest.split("\n.SH ").next().unwrap().to_owned()
    };
    let page = read("git-trace-restore");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
    assert_eq!(
        headings.join(", "),
        "NAME, SYNOPSIS, DESCRIPTION, ARGUMENTS, OPTIONS, \"FILTERS OF ITEMS (ALL MUST MATCH)\", EXAMPLES, \"SEE ALSO\""
    );
    insta::assert_snapshot!(section(&page, "SYNOPSIS"), @r#"
    .SY "git trace restore"
    [\fB\-t\fR\ \fI<TYPE>\fR]\&
    [\fB\-\-tool\fR\ \fI<NAME>\fR]\&
    [\fB\-\-path\fR\ \fI<GLOB>\fR]\&
    [\fB\-\-meta\fR\ \fI<KEY[=VALUE]>\fR]...\&
    [\fB\-\-grep\fR\ \fI<PATTERN>\fR]\&
    [\fB\-\-larger\-than\fR\ \fI<TOKENS>\fR]\&
    [\fB\-\-age\fR\ \fI<STEPS>\fR]\&
    [\fB\-\-older\-than\fR\ \fI<TIME>\fR]\&
    [\fB\-\-revision\fR\ \fI<N>\fR]\&
    [\fB\-\-reason\fR\ \fI<TEXT>\fR]\&
    [\fB\-\-json\fR]\&
    [\fI<ITEM>\fR\&...]\&
    .SY "git trace restore"
    \fI<ITEM>\fR\&
    \fI<REVISION>\fR\&
    .YS
    "#);
    insta::assert_snapshot!(section(&page, "EXAMPLES"), @r#"
    .EX
    git trace restore \(aq#3\(aq
    .EE
    "#);
    insta::assert_snapshot!(section(&read("git-trace-branch"), "SYNOPSIS"), @r#"
    .SY "git trace branch"
    [\fB\-\-json\fR]\&
    .SY "git trace branch"
    \fI<NAME>\fR\&
    [\fI<START>\fR]\&
    .SY "git trace branch"
    \fB\-m\fR\&
    [\fI<OLD>\fR]\&
    \fI<NEW>\fR\&
    .SY "git trace branch"
    (\fB\-d\fR\ |\ \fB\-D\fR)\&
    \fI<NAME>\fR\&...\&
    .YS
    "#);
    // A group that requires one of its options.
    let purge = section(&read("git-trace-purge"), "SYNOPSIS");
    assert!(
        purge.contains("\\fB\\-\\-pattern\\fR\\ \\fI<REGEX>\\fR|\\fB\\-\\-push\\fR\\ \\fI<REMOTE>\\fR>"),
        "{purge}"
    );
    let root = read("git-trace");
    assert!(section(&root, "COMMANDS").starts_with(".SS \"Start\"\n.TP\n\\fBgit\\-trace\\-demo\\fR(1)\n"), "{root}");
    for entry in fs::read_dir(place.root().join("man1")).unwrap() {
        let page = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(section(&page, "SYNOPSIS").starts_with(".SY \"git trace"), "{page}");
        assert!(section(&page, "EXAMPLES").starts_with(".EX\ngit trace"), "{page}");
        assert!(!page.contains("[OPTIONS]"), "{page}");
    }
}

#[test]
fn git_help_shows_the_manual_pages() {
    let place = Playground::new();
    let folder = place.root().join("pages");
    place.trace(&["install", "--man", folder.to_str().unwrap()]);
    if Command::new("man").arg("--version").output().is_err() {
        println!("skipped: there is no man");
        return;
    }
    for words in [&["trace", "--help"][..], &["help", "trace"], &["help", "git-trace-materialize"]] {
        let mut git = place.command("git");
        git.args(words).env("MANPATH", &folder).env("MANPAGER", "cat").env("MANWIDTH", "80");
        let output = git.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("SYNOPSIS"), "git {words:?}: {text}");
        assert!(String::from_utf8_lossy(&output.stderr).is_empty(), "git {words:?}");
    }
    for checker in ["mandoc -T lint -W warning", "groff -man -ww -z -K utf8"] {
        let mut words = checker.split(' ');
        let mut lint = Command::new(words.next().unwrap());
        lint.args(words).args(fs::read_dir(folder.join("man1")).unwrap().map(|entry| entry.unwrap().path()));
        // One that is not there has nothing to say.
        let Ok(output) = lint.output() else { continue };
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(said, "", "{checker}");
    }
}

/// What bash offers at the end of a line, through git's own completion, for a tab or (`?`) a list.
fn complete(place: &Playground, script: &str, line: &str, key: char) -> Vec<String> {
    let git_completion = GIT_COMPLETION.into_iter().find(|path| Path::new(path).exists()).unwrap();
    // Readline cuts at `=` and `:` too, so the words do.
    let program = r#"
        . "$1"; . "$2"
        COMP_LINE="$3"; COMP_POINT=${#COMP_LINE}
        COMP_WORDS=(); rest="$3"
        while [[ $rest =~ ^([^\ =:]+|[=:]+|\ +)(.*)$ ]]; do
            [[ ${BASH_REMATCH[1]} == \ * ]] || COMP_WORDS+=("${BASH_REMATCH[1]}")
            rest="${BASH_REMATCH[2]}"
        done
        [[ $COMP_LINE == *\  ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMP_TYPE="$4" COLUMNS=60 __git_wrap__git_main
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let mut bash = place.command("bash");
    bash.args(["--norc", "-c", program, "bash", git_completion, script, line, &(key as u32).to_string()]);
    let output = bash.output().unwrap();
    assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_through_gits_completion() {
    let place = Playground::new();
    if GIT_COMPLETION.iter().all(|path| !Path::new(path).exists()) {
        println!("skipped: git's completion for bash is not there");
        return;
    }
    insta::assert_snapshot!(place.trace(&["install", "--completions", "bash"]), @"
    added [ROOT]/.local/share/bash-completion/completions/git-trace
    --- stderr
    hint: bash-completion loads it; without bash-completion, add `. [ROOT]/.local/share/bash-completion/completions/git-trace` to ~/.bashrc, after git's completion
    ");
    let script = place.root().join(".local/share/bash-completion/completions/git-trace");
    let asked = |line: &str| complete(&place, script.to_str().unwrap(), line, '\t');
    place.ok(&["commit", "-m", "one"]);
    let id = place.trace(&["log", "--oneline"]).split(' ').nth(2).unwrap().to_owned();
    place.ok(&["branch", "idea/two"]);
    // A name that a shell would run if it were not quoted.
    place.git(&["update-ref", "refs/traces/$(touch${IFS}run);`touch${IFS}run`", "refs/traces/main"]);
    for line in ["git trace switch \"", "git trace switch '", "git trace switch \"$"] {
        assert!(
            asked(line).iter().all(|name| !name.contains("touch")),
            "the quotes of the line do not protect from such a name"
        );
    }
    place.ok(&["breadcrumb", "set", "auth.method", "JWT"]);
    place.ok(&["breadcrumb", "set", "auth.scope", "all"]);
    place.write("a b.crumb", "BEGIN CRUMB\n");
    place.write("$(touch run).crumb", "BEGIN CRUMB\n");

    assert_eq!(asked("git trace mat"), ["materialize "]);
    assert_eq!(asked("git trace materialize --form"), ["--format "]);
    assert_eq!(asked("git trace materialize --format=an"), ["anthropic "]);
    assert_eq!(asked("git trace materialize --format g"), ["gemini "]);
    assert_eq!(asked("git trace switch i"), ["idea/two "]);
    assert_eq!(asked("git -C . trace --trace idea/two log mai"), ["main "]);
    let quoted = "\\$\\(touch\\$\\{IFS\\}run\\)\\;\\`touch\\$\\{IFS\\}run\\` ";
    assert_eq!(asked("git trace switch "), [quoted, "idea/two ", "main "]);
    place.commit("a second later");
    place.ok(&["commit", "-m", "two words, and more than what fits on a line of the terminal"]);
    assert_eq!(asked("git trace switch "), ["main ", quoted, "idea/two "], "the newest comes first");
    assert_eq!(asked("git trace show #"), ["\\#1 ", "\\#0 "]);
    assert_eq!(asked("git trace show \\#1"), ["\\#1 "]);
    assert_eq!(asked("git trace show '#0..#"), ["#0..#1", "#0..#0"], "readline closes the quote");
    let listed = |line: &str| complete(&place, script.to_str().unwrap(), line, '?');
    let fitting = "\\#1  (dialogue user: two words, and more than what fits on";
    assert_eq!(listed("git trace show #"), [fitting, "\\#0  (dialogue user: one)"]);
    assert_eq!(listed("git trace show #1"), ["\\#1 "]);
    assert_eq!(asked(&format!("git trace show {}", &id[..4])).len(), 1);
    assert!(asked("git trace pin ").last().unwrap().starts_with(&id[..4]));
    assert_eq!(asked("git trace breadcrumb get auth."), ["auth.method ", "auth.scope "]);
    assert_eq!(asked("git trace crumb show a"), ["a\\ b.crumb "]);
    assert_eq!(asked("git trace commit -t fr"), ["freeform "]);
    assert_eq!(asked("git trace commit -F "), [] as [&str; 0], "files are left to readline");
    assert!(!place.at.join("run").exists());
    insta::assert_snapshot!(place.trace(&["uninstall", "--completions"]), @"removed [ROOT]/.local/share/bash-completion/completions/git-trace");
}

#[test]
fn zsh_and_fish_complete_items_and_traces_newest_first() {
    let place = Playground::new();
    place.ok(&["commit", "-m", "one"]);
    place.ok(&["branch", "idea"]);
    place.commit("a second later");
    place.ok(&["commit", "-m", "two"]);
    let asked = |shell: &str, words: &[&str]| {
        let output = place.command(shell).args(words).output().ok()?;
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    };
    for shell in ["zsh", "fish"] {
        place.ok(&["install", "--completions", shell]);
    }
    let data = place.root().join(".local/share").display().to_string();
    // The script of zsh is the body of a function that git's completion calls.
    let script = format!("{data}/zsh/site-functions/_git-trace");
    let zsh =
        "words=(trace \"${@[2,-1]}\"); CURRENT=$#words; PREFIX=$words[-1]; compadd() { print -rl -- $shown }; . $1";
    let zsh = |words: &[&str]| asked("zsh", &[&["-f", "-c", zsh, "zsh", &script], words].concat());
    if let Some(shown) = zsh(&["show", "\\#"]) {
        assert_eq!(shown, "#1  -- dialogue user: two\n#0  -- dialogue user: one\n");
        let shown = zsh(&["switch", ""]).unwrap();
        assert_eq!(shown, "main  -- dialogue user: two\nidea  -- dialogue user: one\n");
    }
    let script = format!("{data}/fish/vendor_conf.d/git-trace.fish");
    let fish = |line: &str| asked("fish", &["-N", "-c", "source $argv[1]; complete -C $argv[2]", &script, line]);
    if let Some(shown) = fish("git-trace show '#") {
        assert_eq!(shown, "#1\tdialogue user: two\n#0\tdialogue user: one\n");
        assert_eq!(fish("git-trace switch ").unwrap(), "main\tdialogue user: two\nidea\tdialogue user: one\n");
    }
}

#[test]
fn completions_come_from_the_repository() {
    let place = Playground::new();
    place.ok(&["commit", "-m", "a\tb\u{1b}[31m\nc"]);
    let asked = |words: &[&str]| place.trace(&[&["complete-words", "--"], words].concat());
    let item = asked(&["show", ""]);
    assert!(item.ends_with("\t#0 dialogue user: a b [31m c\n"), "{item:?}");
    assert_eq!(asked(&["--trace", "none", "show", ""]), "");
    assert_eq!(asked(&["commit", "-pmain", "-p", ""]), "skip\t\nnormal\t\npinned\t\n");
    assert_eq!(asked(&["crumb", "note", ""]), "", "there is no crumb file");
    assert_eq!(asked(&["count", ""]), "/\t\n", "a file name is possible");
    assert_eq!(asked(&["help", "cherry"]), "cherry-pick\tCopy single items of another trace into the current one\n");
    assert_eq!(asked(&["no-such-command", "--", "-"]), "");
    assert_eq!(asked(&["status", "--js"]), "--json\tPrint the result as JSON\n");
    // Outside of a repository there is only what the program knows itself.
    fs::rename(place.at.join(".git"), place.at.join("git")).unwrap();
    assert_eq!(asked(&["switch", ""]), "");
    assert_eq!(asked(&["switch", "--cr"]).lines().count(), 1);
}

#[test]
fn completion_scripts_exist_for_supported_shells() {
    let place = Playground::new();
    insta::assert_snapshot!(place.trace(&["install", "--completions", "zsh", "--dry-run"]), @"
    would add [ROOT]/.local/share/zsh/site-functions/_git-trace
    --- stderr
    hint: add `fpath=([ROOT]/.local/share/zsh/site-functions $fpath)` to ~/.zshrc, before compinit
    ");
    insta::assert_snapshot!(place.trace(&["install", "--completions"]), @"
    --- stderr
    error: cannot tell which shell is yours; name it: bash, zsh or fish
    [exit 2]
    ");
    insta::assert_snapshot!(place.trace(&["install", "--completions", "fish"]), @"added [ROOT]/.local/share/fish/vendor_conf.d/git-trace.fish");
    place.write("../.local/share/fish/vendor_conf.d/git-trace.fish", "mine\n");
    insta::assert_snapshot!(place.trace(&["uninstall", "--completions", "fish"]), @"left alone [ROOT]/.local/share/fish/vendor_conf.d/git-trace.fish");
    insta::assert_snapshot!(place.trace(&["install", "--completions", "tcsh"]), @"
    --- stderr
    error: `--completions [<SHELL>]`: `tcsh` is not one of bash, zsh, fish
    hint: for example `git trace install`; `git trace install -h` explains it
    [exit 2]
    ");
}
