//! Every command line in README.md and docs/ runs, and prints what the page shows.
//!
//! - A block ` ```sh ` holds commands; one ` ```console ` holds commands behind `$ ` and, after each, what it prints.
//!   `…` matches any text within a line and, alone on a line, any lines.
//! - `<!-- setup: WORD… -->` begins a new repository with these fixtures; a page begins with an empty one.
//! - `<!-- not run: REASON -->` is for the next block; [`NOT_RUN`] counts them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::repo::{TestRepo, run};

/// How many blocks of each page are not run.
const NOT_RUN: [(&str, usize); 8] = [
    ("README.md", 2),
    ("docs/install.md", 1),
    ("docs/cleaning.md", 1),
    ("docs/recipes.md", 1),
    ("docs/privacy.md", 1),
    ("docs/reliability.md", 1),
    ("docs/performance.md", 1),
    ("docs/secrets.md", 1),
];

/// When the first command of a repository is run.
const START: i64 = 1_770_714_000;

/// Commands that share a repository.
#[derive(Default)]
struct Section {
    setup: String,
    steps: Vec<Step>,
}

struct Step {
    /// Line in the page.
    line: usize,
    command: String,
    /// The output that the page shows, if any.
    shown: Option<String>,
}

#[test]
fn the_readme_runs() {
    check("README.md");
}

#[test]
fn the_guide_runs() {
    check("docs/guide.md");
}

#[test]
fn the_recipes_run() {
    check("docs/recipes.md");
}

#[test]
fn the_reference_pages_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    for entry in fs::read_dir(folder).unwrap() {
        let name = format!("docs/{}", entry.unwrap().file_name().to_str().unwrap());
        let is_page = Path::new(&name).extension().is_some_and(|ending| ending == "md");
        if is_page && !["docs/guide.md", "docs/recipes.md"].contains(&&*name) {
            check(&name);
        }
    }
}

/// The links of the pages lead somewhere.
#[test]
fn links_between_pages_resolve() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    pages.extend(fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    let link = regex::Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").unwrap();
    for page in pages.iter().filter(|page| page.extension().is_some_and(|ending| ending == "md")) {
        let text = fs::read_to_string(page).unwrap();
        for found in link.captures_iter(&text) {
            let target = page.parent().unwrap().join(&found[1]);
            assert!(target.exists(), "{} links to {}, which is not there", page.display(), &found[1]);
        }
    }
}

/// The book contains every page once, and its pages link only to each other.
#[test]
fn every_page_is_in_the_book() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if Path::new(&name).extension().is_none_or(|ending| ending != "md") || name == "SUMMARY.md" {
            continue;
        }
        assert_eq!(summary.matches(&format!("({name})")).count(), 1, "{name} in docs/SUMMARY.md");
        let text = fs::read_to_string(folder.join(&name)).unwrap();
        assert!(!text.contains("](../") && !text.contains("](SUMMARY.md"), "{name} links to a file outside the book");
    }
}

fn check(page: &str) {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let (sections, not_run) = parse(&text);
    let expected = NOT_RUN.iter().find(|(name, _)| *name == page).map_or(0, |(_, count)| *count);
    assert_eq!(not_run, expected, "blocks of {page} that are not run");
    let wrong: String = sections.iter().map(|section| differences(page, section)).collect();
    assert!(wrong.is_empty(), "{wrong}");
}

fn parse(page: &str) -> (Vec<Section>, usize) {
    let mut sections = vec![Section::default()];
    let (mut not_run, mut skips) = (0, false);
    let mut lines = page.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        if let Some(setup) = line.strip_prefix("<!-- setup:").and_then(|rest| rest.strip_suffix("-->")) {
            sections.push(Section { setup: setup.trim().to_owned(), steps: Vec::new() });
        } else if line.starts_with("<!-- not run: ") || line == "<!-- demo -->" {
            skips = true;
        } else if let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) {
            let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
            let is_run = matches!(language, "sh" | "console");
            if is_run && skips {
                not_run += 1;
            } else if is_run {
                let steps = if language == "sh" { commands(&block) } else { console(&block) };
                sections.last_mut().unwrap().steps.extend(steps);
            }
            skips = false;
        }
    }
    (sections, not_run)
}

/// The commands of a block without output: one a line, or as many lines as quotes, a `\`, a `|`, a loop or a here-document want.
fn commands(block: &[(usize, &str)]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut open: Option<Step> = None;
    for (line, text) in block {
        if open.is_none() && (text.trim().is_empty() || text.starts_with('#')) {
            continue;
        }
        let mut step = open.take().unwrap_or(Step { line: line + 1, command: String::new(), shown: None });
        step.command.push_str(text);
        step.command.push('\n');
        if is_whole(&step.command) { steps.push(step) } else { open = Some(step) }
    }
    assert!(open.is_none(), "a command does not end: {:?}", open.unwrap().command);
    steps
}

fn is_whole(command: &str) -> bool {
    if let Some((before, after)) = command.split_once("<<'") {
        let end = after.split('\'').next().unwrap();
        return before.contains('\n') || command.lines().any(|line| line == end);
    }
    if command.starts_with("while ") && !command.lines().any(|line| line.starts_with("done")) {
        return false;
    }
    let without_comments: String =
        command.lines().map(|line| line.split("  #").next().unwrap().to_owned() + "\n").collect();
    !command.ends_with("\\\n") && !command.ends_with("|\n") && without_comments.matches('\'').count().is_multiple_of(2)
}

fn console(block: &[(usize, &str)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (line, text) in block {
        if let Some(command) = text.strip_prefix("$ ") {
            steps.push(Step { line: line + 1, command: format!("{command}\n"), shown: Some(String::new()) });
        } else if let Some(step) = steps.last_mut() {
            match (text.strip_prefix("> "), &mut step.shown) {
                (Some(more), Some(shown)) if shown.is_empty() => step.command.extend([more, "\n"]),
                (_, Some(shown)) => shown.extend([*text, "\n"]),
                (_, None) => unreachable!("every step of such a block shows"),
            }
        }
    }
    // Comments and empty lines before the next command are words to the reader.
    for shown in steps.iter_mut().filter_map(|step| step.shown.as_mut()) {
        let mut lines: Vec<&str> = shown.lines().collect();
        while lines.last().is_some_and(|line| line.is_empty() || line.starts_with("# ")) {
            lines.pop();
        }
        *shown = lines.join("\n");
    }
    steps
}

/// Runs the commands of a section one after the other, in one shell; what did not go as the page says.
fn differences(page: &str, section: &Section) -> String {
    if section.steps.is_empty() {
        return String::new();
    }
    let repo = TestRepo::classic(&[]);
    for word in section.setup.split_whitespace() {
        set_up(&repo, word);
    }
    let mut script = String::from("exec 2>&1\n");
    for (step, second) in section.steps.iter().zip(START + 100..) {
        let _ = write!(
            script,
            "export GIT_AUTHOR_DATE='{second} +0000' GIT_COMMITTER_DATE='{second} +0000'\n{{\n{}}}\nprintf '\\036%d\\036' $?\n",
            step.command
        );
    }
    let mut shell = repo.command("sh");
    let output = run(shell.arg("-c").arg(&script).env("GIT_PAGER", "cat"), b"");
    let home = repo.home().to_str().unwrap();
    let output = String::from_utf8_lossy(&output.stdout).replace(home, "/home/you");
    let mut pieces = output.split('\u{1e}');
    let mut wrong = String::new();
    for Step { line, command, shown } in &section.steps {
        let (printed, status) = (pieces.next().unwrap_or_default(), pieces.next().unwrap_or("not run"));
        let matches = shown.as_ref().is_none_or(|shown| {
            matches(&shown.lines().collect::<Vec<_>>(), &printed.trim_end().lines().collect::<Vec<_>>())
        });
        if status != "0" || !matches {
            let _ = write!(wrong, "\n{page}:{line}: $ {command}exit status {status}, it printed:\n{printed}");
        }
    }
    wrong
}

/// Whether lines match those shown, where `…` matches anything.
fn matches(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"…", rest)) => (0..=printed.len()).any(|from| matches(rest, &printed[from..])),
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| line_matches(line, first.trim_end()) && matches(rest, others)),
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    match shown.split_once('…') {
        None => shown.trim_end() == printed,
        Some((before, after)) => printed.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

fn set_up(repo: &TestRepo, word: &str) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let session = fs::read(fixtures.join("transcripts/claude-code/small-thinking-tools.jsonl")).unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = repo.folder().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    match word {
        // A session of Claude Code as a file.
        "session" => write("session.jsonl", &session),
        // The same where Claude Code keeps the sessions of this folder.
        "claude" => {
            let folder = repo.folder().canonicalize().unwrap();
            let name = folder.to_str().unwrap().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
            let session = crate::recording::ran_in(&folder, &session);
            write(&format!("../.claude/projects/{name}/2b1d.jsonl"), session.as_bytes());
        }
        // Code, committed.
        "code" => {
            write("src/lib.rs", b"pub const LIMIT: u32 = 100;\n");
            repo.git(&["add", "src"]);
            repo.git(&["commit", "--quiet", "-m", "code"]);
        }
        // An empty remote `origin`.
        "remote" => {
            repo.git(&["init", "--quiet", "--bare", "../origin.git"]);
            repo.git(&["remote", "add", "origin", "../origin.git"]);
        }
        // A session that has much to clean, as a file.
        "long-session" => {
            let sample = fixtures.join("transcripts/claude-code/dangling-tool-use.jsonl");
            write("session.jsonl", &fs::read(sample).unwrap());
        }
        // Five items in `main`.
        "talk" => {
            repo.commit(&["-t", "instruction", "--name", "style", "-m", "Answer in one sentence."]);
            repo.say("Where is the limit set?");
            repo.commit(&["-r", "assistant", "-m", "In src/lib.rs."]);
            repo.say("Can it be raised?");
            repo.commit(&["-r", "assistant", "-m", "Yes, to 500."]);
        }
        // The files that the README's lines speak of.
        "files" => {
            write("result.txt", b"src/lib.rs:12: LIMIT\n");
            write("answer.txt", b"It is 100.\n");
            write("inbox.txt", b"- review the parser\n");
            write("response.json", br#"{"usage":{"prompt_tokens":120,"completion_tokens":5,"total_tokens":125}}"#);
            write("eval.sh", b"#!/bin/sh\n! grep -q rate\n");
            let eval = repo.folder().join("eval.sh");
            fs::set_permissions(eval, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        _ => panic!("no fixture is called `{word}`"),
    }
}
