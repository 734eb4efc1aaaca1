//! Mistakes of a newcomer, and the answers: one line that names the mistake, one hint that helps.

use std::fmt::Write as _;

use crate::repo::TestRepo;

/// One command line per line. Words are separated by spaces.
const MISTAKES: &str = "\
comit -m hello
tarce
st
ls
list
add notes.md
checkout idea
stash
tag v1
reflog
config trace.budget 8000
enable
disable
setup
squash
crumb nwe
help comit
commit
commit hello
commit -m
commit -am hello
commit --amend
commit -t dialog -m hello
commit -t Dialogue -m hello
commit -r asistant -m hello
commit -F missing.txt
show
show #9
show @9
show nope
edit
edit #0
delete #9
pin
priority #0 high
restore #0
switch
switch ideas
switch -b new
branch idea
branch -d nope
merge
merge nope
rebase nope
reset
reset --hard #0
log nope
log --since soon
log -p high
log --graph
diff nope
diff --cached
grep
status --nope
top --by weight
clean --preset all
materialize --format claude
materialize --budget lots
import
import missing.jsonl
resume
resume --agent gpt
push
pull nowhere
install --agent claud
install --agent
crumb show
breadcrumb set auth
breadcrumb set auth-method JWT
checkpoint new
forward leave
redo
count missing.txt
purge
";

#[test]
fn the_answer_to_a_mistake_is_one_line_and_a_hint() {
    let repo = TestRepo::new();
    repo.say("Where is the limit set?");
    repo.text(&["branch", "idea"]);
    let before = repo.refs();
    let mut table = String::new();
    for line in MISTAKES.lines() {
        let output = repo.run(&line.split(' ').collect::<Vec<_>>(), b"");
        let answer = repo.snapshot(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {answer}");
        let answer = answer.trim_start_matches("--- stderr\n").trim_end_matches("\n[exit 2]");
        let lines: Vec<&str> = answer.lines().collect();
        assert!(lines[0].starts_with("error: ") && lines.len() <= 2, "{line}: {answer}");
        let _ = writeln!(table, "$ git trace {line}\n{answer}\n");
    }
    assert_eq!(repo.refs(), before);
    insta::assert_snapshot!(table);
}

#[test]
fn reflexes_of_git_work() {
    let repo = TestRepo::new();
    for text in ["one", "two", "three"] {
        repo.say(text);
    }
    insta::assert_snapshot!(repo.trace(&["log", "--oneline", "-2"]), @"
    [SHORT] #2 [SHORT] ([N] tokens) dialogue user: three
    [SHORT] #1 [SHORT] ([N] tokens) dialogue user: two
    [exit 0]
    ");
    assert_eq!(repo.trace(&["branch", "-v"]), repo.trace(&["branch"]));
    assert!(repo.trace(&["status", "-s"]).starts_with("main: 3 items, "));
    repo.text(&["rm", "#1"]);
    repo.text(&["skip", "#0"]);
    repo.text(&["unskip", "#0"]);
    assert!(repo.trace(&["status", "-s"]).starts_with("main: 2 items, "));
}
