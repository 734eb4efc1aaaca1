//! The demo runs, and prints what follows from the session in it.

use std::process::Command;

#[test]
fn the_demo_cleans_a_session() {
    let mut demo = Command::new("sh");
    demo.args(["-c", "\"$0\" demo 2>&1", env!("CARGO_BIN_EXE_git-trace")]);
    // It shows oids.
    let output = demo.env_remove("GIT_DEFAULT_HASH").output().unwrap();
    assert!(output.status.success());
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @r#"
    # Import a session of Claude Code into a trace, one commit per item.
    $ git trace import --trace work session.jsonl
    69 imported into trace `work`
    not messages, so not imported: 6 file-history-snapshot, 76 progress, 2 queue-operation, 3 system/stop_hook_summary, 2 system/turn_duration
    the current trace is now `work`

    # See what fills the context.
    $ git trace top work -n 4
    tokens      %  window  item
      3404   26.5     1.7  #27    c0131ade turn 2    tool_io result Bash  diff --git a/cmd/entire/cli/strategy/auto_commi…
      2623   20.4     1.3  #48    ef227081 turn 3    tool_io result Bash  diff --git a/cmd/entire/cli/integration_test/ma…
       977    7.6     0.5  #31    14c0c7e9 turn 2    tool_io result Bash  diff --git a/.gitignore b/.gitignore index 79d3…
       655    5.1     0.3  #65    689ffe6a turn 4    dialogue  Base directory for this skill: /Users/dev/.clau…
     12827  100.0          total; ≈ 26% of the window is full; 65 more rows: -n 69

    # Cut what the session no longer needs, on a new trace.
    $ git trace clean work --yes
     preset         items   tokens    saves
     thinking           8      832      832
     old-results        5    5,425    5,215
     oversize           1    2,623    1,610
     before 12,827 [≈ 26%]  after 5,170 [≈ 22%]  saved 7,657 (60%)   undo: git trace undo
    note: this drops the provider's prompt cache from turn 1 on; the cut pays off after 8 requests
    [work.clean] 4c142ad
    `work` is unchanged; `git trace diff work work.clean` shows what was cut
    `git trace resume work.clean` continues with the result

    # Print the messages for a model, before and after.
    $ git trace --trace work materialize | wc -c
    67176
    $ git trace --trace work.clean materialize | wc -c
    29813

    # Edit an item that is wrong. Its id stays the same.
    $ git trace --trace work.clean edit '#2' -m 'Review the stack of pull requests in order.'
    [work.clean #2] revision 2: dialogue assistant: Review the stack of pull requests in order. 771cabcdd760a03f

    # Undo any of this.
    $ git trace undo
    Undid `edit`
    [work.clean] is now at clean 14 items: 12827 → 5170 tokens 4c142ad
    `git trace redo` reverses this

    # Everything is plain git.
    $ git log --oneline -n 2 refs/traces/work.clean
    4c142ad clean 14 items: 12827 → 5170 tokens
    0fd3b0f tool_io call Task: Code review PR #89
    $ git ls-tree -r --name-only refs/traces/work.clean | head -n 2
    00/00/000000-dialogue-c0bbdde1e5658394
    00/00/000002-dialogue-771cabcdd760a03f

    Now in a repository where you use Claude Code:

      git trace import claude-code     import the newest session of this folder (or codex, gemini-cli)
      git trace top                    see what fills its context
      git trace clean                  choose what to cut, on a new trace
      git trace resume NAME.clean      continue with the result; `clean` prints the name
      git trace help                   list all commands
    "#);
}

#[test]
fn the_demo_prints_its_session() {
    let demo = Command::new(env!("CARGO_BIN_EXE_git-trace")).args(["demo", "--session"]).output().unwrap();
    let session = include_bytes!("../fixtures/transcripts/claude-code/dangling-tool-use.jsonl");
    assert!(demo.stdout == session);
}
