use super::*;
use crate::trace::model::item::{Direction, Draft, Fields};
use crate::trace::{ItemId, ItemType};

#[test]
fn the_target_of_a_command_is_its_program_and_first_argument() {
    for (command, target) in [
        ("cargo test --all", "cargo test"),
        ("cd /work/app && cargo test", "cargo test"),
        ("  RUST_LOG=debug FOO= timeout 60 cargo build", "cargo build"),
        ("sudo env A=1 time make", "make"),
        ("cd somewhere", "cd somewhere"),
        ("a==b c", "c"),
        ("=x y z", "=x y"),
        ("/bin/zsh -lc 'cd /work/app && cargo test --all'", "cargo test"),
        ("bash -c \"ls -la src\"", "ls -la"),
        ("bash run.sh -c x", "bash run.sh"),
        ("", ""),
    ] {
        assert_eq!(program(command), target, "{command}");
    }
}

#[test]
fn a_read_covers_another_if_it_has_all_its_lines() {
    let range = |first, last| Range { first, last };
    for (one, other, covers) in [
        (Range::ALL, range(5, Some(9)), true),
        (Range::ALL, Range::ALL, true),
        (range(5, Some(9)), Range::ALL, false),
        (range(1, Some(100)), Range::ALL, false),
        (range(5, Some(9)), range(6, Some(9)), true),
        (range(5, Some(9)), range(4, Some(9)), false),
        (range(5, None), range(4, None), false),
    ] {
        assert_eq!(one.covers(other), covers, "{one:?} {other:?}");
    }
}

#[test]
fn a_patch_names_its_files() {
    let patch =
        r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b.txt\n*** End Patch"}"#;
    assert_eq!(patched(patch), ["src/a.rs", "b.txt"]);
}

/// A call as an agent records it, what it does, the files, and its target.
const CALLS: [(&str, &str, &str, &str); 34] = [
    ("codex-exec", "command_execution", r#"{"command":"/bin/zsh -lc 'cd /work && ls'"}"#, "shell  ls"),
    (
        "codex-exec",
        "file_change",
        r#"{"changes":[{"kind":"update","path":"src/a.py"},{"kind":"add","path":"b.md"}]}"#,
        "edit src/a.py,b.md src/a.py",
    ),
    ("codex-exec", "mcp__github__search_issues", r#"{"q":"exec"}"#, "other  mcp__github__search_issues"),
    ("openhands", "execute_bash", r#"{"command":"cargo test --all","timeout":120}"#, "shell  cargo test"),
    ("openhands", "terminal", r#"{"summary":"List","command":"ls src"}"#, "shell  ls src"),
    ("openhands", "str_replace_editor", r#"{"command":"view","path":"/w/a.html"}"#, "read /w/a.html /w/a.html"),
    ("openhands", "file_editor", r#"{"command":"view","path":"a","view_range":[5,9]}"#, "read a:5-9 a"),
    ("openhands", "file_editor", r#"{"command":"view","path":"a","view_range":[5,-1]}"#, "read a:5- a"),
    ("openhands", "file_editor", r#"{"command":"create","path":"a","file_text":"x"}"#, "write a a"),
    ("openhands", "file_editor", r#"{"command":"undo_edit","path":"a"}"#, "edit a a"),
    ("openhands", "finish", r#"{"message":"Done."}"#, "keep  finish"),
    ("cline", "read_file", r#"{"path":"src/a.rs","start_line":3,"end_line":7}"#, "read src/a.rs:3-7 src/a.rs"),
    ("cline", "read_files", r#"{"files":[{"path":"a","start_line":4,"end_line":8},{"path":"b"}]}"#, "read a:4-8,b a"),
    ("cline", "write_to_file", r#"{"path":"a","content":"x"}"#, "write a a"),
    ("cline", "replace_in_file", r#"{"path":"a","diff":"x"}"#, "edit a a"),
    ("cline", "editor", r#"{"path":"a","old_text":"x","new_text":"y"}"#, "edit a a"),
    ("cline", "execute_command", r#"{"command":"npm test"}"#, "shell  npm test"),
    ("cline", "run_commands", r#"{"commands":["grep -rn x src","ls"]}"#, "shell  grep -rn"),
    ("cline", "search_files", r#"{"path":"src","regex":"x"}"#, "other  search_files"),
    ("cline", "list_files", r#"{"path":"src"}"#, "other  list_files"),
    ("mini-swe-agent", "bash", r#"{"command":"echo hi"}"#, "shell  echo hi"),
    ("copilot-cli", "view", r#"{"path":"a.py"}"#, "read a.py a.py"),
    ("copilot-cli", "create", r#"{"path":"a.py","file_text":"x"}"#, "write a.py a.py"),
    ("vscode-copilot", "read_file", r#"{"filePath":"a","startLine":1,"endLine":20}"#, "read a:1-20 a"),
    ("vscode-copilot", "replace_string_in_file", r#"{"filePath":"a","oldString":"x"}"#, "edit a a"),
    ("vscode-copilot", "multi_replace_string_in_file", r#"{"replacements":[{"filePath":"a"}]}"#, "edit a a"),
    ("vscode-copilot", "run_in_terminal", r#"{"command":"make -j2"}"#, "shell  make -j2"),
    ("opencode", "read", r#"{"filePath":"a","offset":10,"limit":5}"#, "read a:10-14 a"),
    ("opencode", "todowrite", r#"{"todos":[]}"#, "keep  todowrite"),
    ("pi", "write", r#"{"path":"./a.ts","content":"x"}"#, "write a.ts a.ts"),
    ("droid", "ApplyPatch", r#"{"input":"*** Begin Patch\n*** Update File: a.ts\n@@\n"}"#, "edit a.ts a.ts"),
    ("qwen-code", "read_file", r#"{"path":"a"}"#, "read a a"),
    ("qwen-code", "todo_write", r#"{"todos":[]}"#, "keep  todo_write"),
    ("atif", "bash_command", r#"{"keystrokes":"printf x\n"}"#, "shell  printf x"),
];

#[test]
fn calls_of_all_agents_are_understood() {
    for (format, name, arguments, expected) in CALLS {
        let fields = Fields {
            name: Some(name.to_owned()),
            source: Some(Source::new(format, "record", 0)),
            ..Fields::new(ItemType::tool_io())
        };
        let id = ItemId::of_source(&Source::new(format, "record", 0));
        let call = Call::of(&Item::new(id, Draft { fields, body: arguments.into() }));
        let files = call.files.iter().map(|(path, range)| match (range.first, range.last) {
            (first, Some(last)) => format!("{path}:{first}-{last}"),
            (1, None) => path.clone(),
            (first, None) => format!("{path}:{first}-"),
        });
        let said = format!("{} {} {}", call.role, files.collect::<Vec<_>>().join(","), call.target);
        assert_eq!(said, expected, "{format} {name}");
    }
}

#[test]
fn the_path_of_a_call_is_found_by_each_of_its_names() {
    for name in PATHS {
        let fields = Fields { direction: Some(Direction::Call), ..Fields::new(ItemType::tool_io()) };
        let body = format!("{{\"{name}\":\"src/a.rs\"}}");
        let item = Item::new("0123456789abcdef".parse().unwrap(), Draft { fields, body: body.into() });
        assert_eq!(item.path_or_argument().as_deref(), Some("src/a.rs"), "{name}");
    }
}

#[test]
fn names_are_those_of_the_recording_agent() {
    assert_eq!(role(Some("claude-code"), "Read"), Role::Read);
    assert_eq!(role(Some("codex"), "Read"), Role::Other);
    assert_eq!(role(None, "read_file"), Role::Read);
    assert_eq!(role(Some("anthropic"), "Bash"), Role::Shell);
}
