//! Mistakes of a newcomer, and the answers: one line that names the mistake, one hint that helps.

use std::fmt::Write as _;

use crate::repo::TestRepo;

/// One command line per line. Words are separated by spaces.
const MISTAKES: &str = "\
comit -m hello
tarce
lgo
foo
st
ls
list
add notes.md
checkout idea
checkout -b new
stash
fork
find limit
save
remember this
sync
start
worktree add x
-v
tag v1
reflog
config trace.budget 8000
co idea
br idea
head
ls-tree HEAD
shortlog
submodule
cp
enable codex
disable codex
info
prime
setup
squash
crumb nwe
crumb list
breadcrumb add auth JWT
checkpoint show auth
bisect start
help comit
commit
commit hello
commit -m
commit -am hello
commit --amend
commit -n -m hello
commit -m a -m b
commit -t dialog -m hello
commit -t Dialogue -m hello
commit -r asistant -m hello
commit -F missing.txt
show 0
show 123456
show HEAD
show #9
show @9
show nope
edit
edit #0
delete #9
rm -rf #0
pin
pin 0
priority #0 high
restore #0
switch
switch ideas
switch -b new
switch --detach
switch -f idea
branch idea
branch -d nope
branch -a
branch --list idea*
branch --show-current
branch --merged
branch -u origin/main
merge
merge nope
merge idae
merge --abort
rebase nope
rebase -i
rebase --abort
cherry-pick nope #0
revert nope
revert HEAD
reset
reset --hard #0
reset HEAD~1
log nope
log HEAD~1
log main..nope
log --since soon
log -p skip
log --priority high
log --stat
log --author me
log --pretty=oneline
log --decorate
diff nope
diff HEAD~1
diff --cached
diff -w
show --stat #0
show -1
grep
grep one two
status --nope
status --porcelain
top --by weight
clean --preset all
clean nope
clean -n
clean -fd
materialize --format claude
materialize --budget lots
import
import missing.jsonl
resume
resume --agent gpt
resume --last
fsck --fix
top --sort tokens
push
push -u
push --all
push --delete idea
fetch --all
pull nowhere
remote add origin x
install --agent claud
install --agent
crumb show
breadcrumb set auth
breadcrumb set auth-method JWT
breadcrumb set auth.token -
checkpoint new
forward leave
redo
count missing.txt
log -C folder
why nope.rs:3
branch -z idea
export idea claude-code
import -
cherry-pick #0
pin idea #0
merge -X ours idea
forward list
checkpoint edit
push ../hub.git
purge hunter2
purge --text hunter2
archive idea
view --all -o notes.md
print
forget #0
web
crumb resolve a.crumb
crumb log a.crumb
breadcrumb ls
breadcrumb delete auth.x -f
checkpoint new Fix/the/login
clean --aggressive
doctor --fix
export --format markdown
grep --foo
grep -v x
grep [
import notes.md extra
import .
import /dev/null
resume --json
top -n -1
materialize --format nope
diff main main main
undo -z
purge
";

#[test]
fn the_answer_to_a_mistake_is_one_line_and_a_hint() {
    let repo = TestRepo::new();
    repo.say("Where is the limit set?");
    repo.text(&["branch", "idea"]);
    std::fs::write(repo.folder().join("notes.md"), "a note").unwrap();
    let before = repo.refs();
    let mut table = String::new();
    for line in MISTAKES.lines() {
        let output = repo.run(&line.split(' ').collect::<Vec<_>>(), b"");
        let answer = repo.snapshot(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {answer}");
        let answer = answer.trim_start_matches("--- stderr\n").trim_end_matches("\n[exit 2]");
        let lines: Vec<&str> = answer.lines().collect();
        let is_helpful = matches!(*lines, [error, hint] if error.starts_with("error: ") && hint.starts_with("hint: "));
        assert!(is_helpful, "{line}: {answer}");
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
    insta::assert_snapshot!(repo.trace(&["top", "-1"]), @"
    tokens      %  item
         4   26.7  #0     [SHORT] turn 1    dialogue  one
        15  100.0  total; 2 more rows: -n 3
    [exit 0]
    ");
    assert_eq!(repo.trace(&["branch", "-v"]), repo.trace(&["branch"]));
    assert_eq!(repo.trace(&["branch", "--list"]), repo.trace(&["branch"]));
    insta::assert_snapshot!(repo.trace(&["remote", "-v"]), @"
    --- stderr
    no trace of a remote is known here: `git trace fetch REMOTE` fetches them; `git remote -v` lists remotes
    [exit 0]
    ");
    insta::assert_snapshot!(repo.trace(&["sessions", "-5"]), @"
    --- stderr
    no session is recorded here: `git trace import claude-code` imports one; `git trace install --agent claude-code` records them
    [exit 0]
    ");
    assert!(repo.trace(&["status", "-s"]).starts_with("main: 3 items, "));
    repo.text(&["rm", "#1"]);
    repo.text(&["skip", "#0"]);
    repo.text(&["unskip", "#0"]);
    assert!(repo.trace(&["status", "-sb"]).starts_with("main: 2 items, "));
    assert_eq!(repo.trace(&["grep", "-n", "one"]), repo.trace(&["grep", "one"]));
    assert_eq!(repo.trace(&["grep", "-E", "one|two"]), repo.trace(&["grep", "one|two"]));
}

#[test]
fn quiet_commands_print_nothing() {
    let (repo, other) = (TestRepo::new(), TestRepo::new());
    repo.git(&["remote", "add", "origin", &other.folder().to_string_lossy()]);
    for command in
        [&["commit", "-q", "-m", "one"][..], &["push", "-q", "origin"], &["fetch", "-q"], &["switch", "-qc", "idea"]]
    {
        assert_eq!(repo.trace(command), "[exit 0]", "{command:?}");
    }
    assert_eq!(repo.text(&["status", "-s"]).split(':').next(), Some("idea"));
    repo.say("two");
    for command in [
        &["branch", "-q", "copy"][..],
        &["branch", "-qm", "copy", "other"],
        &["reset", "-q", "TRACE_HEAD~1"],
        &["merge", "-q", "other"],
        &["rebase", "-q", "other"],
        &["pull", "-q", "origin"],
        &["init", "-q", "new"],
    ] {
        assert_eq!(repo.text(command), "", "{command:?}");
    }
    repo.text(&["switch", "main"]);
    assert_eq!(repo.trace(&["diff", "--quiet", "other"]), "[exit 1]");
    assert_eq!(repo.trace(&["diff", "--quiet", "main"]), "[exit 0]");
}

#[test]
fn without_a_command_the_commands_are_listed_in_groups() {
    let repo = TestRepo::new();
    let output = repo.run(&[], b"");
    assert_eq!(output.status.code(), Some(2));
    let list = String::from_utf8(output.stderr).unwrap();
    assert_eq!(list.as_bytes(), repo.run(&["-h"], b"").stdout);
    let groups: Vec<&str> = list.lines().filter(|line| !line.is_empty() && !line.contains(' ')).collect();
    let jobs = ["Start", "Record", "Look", "Change", "Use", "Branch", "Share", "Memory", "Set-up"];
    assert_eq!(groups, [&jobs[..], &["Options:"]].concat());
}
