use super::*;

fn rendered(value: &Value) -> String {
    let kind = value["type"].as_str().unwrap().to_owned();
    match render(&kind, &RawValue::from_string(value.to_string()).unwrap()) {
        Rendered::Sent(text) => text,
        other => format!("{other:?}"),
    }
}

#[test]
fn attachments_become_the_texts_that_the_agent_sends() {
    let cases = [
        json!({"type": "skill_listing", "content": "- pdf: read", "skillCount": 1}),
        json!({"type": "skill_listing", "content": ""}),
        json!({"type": "agent_listing_delta", "isInitial": true, "addedLines": ["- a: x", "- b: y"], "removedTypes": []}),
        json!({"type": "agent_listing_delta", "addedLines": ["- c: z"], "removedTypes": ["a"]}),
        json!({"type": "mcp_instructions_delta", "addedNames": ["a", "b"], "addedBlocks": ["## a\nFirst", "## b\nSecond"]}),
        json!({"type": "mcp_instructions_delta", "addedBlocks": [], "removedNames": ["a"]}),
        json!({"type": "hook_success", "hookEvent": "UserPromptSubmit", "hookName": "lint", "content": "2 files"}),
        json!({"type": "hook_success", "hookEvent": "Stop", "hookName": "lint", "content": "2 files"}),
        json!({"type": "hook_additional_context", "hookName": "lint", "content": ["one", "two"]}),
        json!({"type": "hook_blocking_error", "hookName": "lint", "blockingError": {"command": "lint", "blockingError": "no"}}),
        json!({"type": "nested_memory", "content": {"path": "/a/CLAUDE.md", "content": "Use tabs."}}),
        json!({"type": "file", "filename": "/a/b", "content": {"type": "text", "file": {"content": "x\ny", "startLine": 3}}}),
        json!({"type": "directory", "path": "/a b", "content": "x\ny", "displayPath": "b"}),
        json!({"type": "todo_reminder", "content": [{"content": "build", "status": "pending"}]}),
        json!({"type": "novelty"}),
    ];
    let all: Vec<String> = cases.iter().map(rendered).collect();
    insta::assert_snapshot!(all.join("\n").replace("<system-reminder>\n", "<").replace("\n</system-reminder>", ">"), @r#"
    <The following skills are available for use with the Skill tool:

    - pdf: read>
    NotSent
    <Available agent types for the Agent tool:
    - a: x
    - b: y>
    <New agent types are now available for the Agent tool:
    - c: z

    The following agent types are no longer available:
    - a>
    <# MCP Server Instructions

    The following MCP servers have provided instructions for how to use their tools and resources:

    ## a
    First

    ## b
    Second>
    NotSent
    <lint hook success: 2 files>
    NotSent
    <lint hook additional context: one
    two>
    <lint hook blocking error from command: "lint": no>
    <Contents of /a/CLAUDE.md:

    Use tabs.>
    <Called the Read tool with the following input: {"file_path":"/a/b"}
    Result of calling the Read tool:
    3	x
    4	y>
    <Called the Bash tool with the following input: {"command":"ls '/a b'","description":"Lists files in /a b"}
    Result of calling the Bash tool:
    x
    y>
    NotSent
    UnknownKind
    "#);
}
