"""The calls that every client makes: a session with valid arguments, and invalid calls whose errors name the argument."""

import json
import re
from typing import NamedTuple

# A token that was never issued.
TOKEN = "ghp_" + "a1B2" * 9


class Call(NamedTuple):
    """A call that succeeds. `{name.field}` in an argument is a field of the answer kept under that name."""

    tool: str
    arguments: dict
    # Expected values by path: `a.0.b` is an element, `a#` a length, `a~` a text that contains the value. A tool whose answer is
    # text has the paths `text` and `lines`, an array.
    expected: dict = {}
    kept: str = ""


class Run(NamedTuple):
    """A command that another program runs in between."""

    command: list


def git_trace(*arguments):
    return Run(["git-trace", *arguments])


def code(message):
    return Run(["git", "commit", "--quiet", "--allow-empty", "-m", message])


BREADCRUMBS = [
    Call("set_breadcrumb", {"key": "auth.method", "value": "JWT", "task_id": 15}, {"created": True}),
    Call("set_breadcrumb", {"key": "auth.method", "value": "JWT RS256"}, {"created": False}),
    Call("get_breadcrumb", {"key": "auth.method"}, {"breadcrumb.value": "JWT RS256", "breadcrumb.task_id": 15}),
    Call("get_breadcrumb", {"key": "no.such"}, {"": {"found": False}}),
    git_trace("breadcrumb", "set", "auth.zone", "from the command line"),
    Call("list_breadcrumbs", {"prefix": "auth.", "limit": 1, "sort": "updated", "order": "desc"},
         {"total": 2, "breadcrumbs.0.key": "auth.zone"}),
    Call("list_breadcrumbs", {"task_id": 15}, {"total": 1}),
    Call("list_breadcrumbs", {"updated_before": "2025-11-21T00:00:00Z"}, {"total": 0}),
    Call("delete_breadcrumb", {"key": "auth.method"}, {"": {"success": True, "deleted": True}}),
    Call("delete_breadcrumb", {"key": "auth.method"}, {"": {"success": True, "deleted": False}}),
]

FORWARD = [
    Call("forward_crumb_leave",
         {"session_summary": "Split the parser.", "priority": "HIGH", "key_discoveries": '["spans lie within"]',
          "unfinished_business": ["Build the detector"], "emotional_state": '{"L": 2.1}',
          "references": {"thread_ids": ["parser_split"]}, "crumb_type": "task"},
         {"text~": "Build the detector", "metadata.agent_id": "azoth"}, "left"),
    Call("forward_crumb_leave", {"session_summary": "And on.", "parent_crumb": "{left.id}"}),
    Call("forward_crumbs_get", {"priority_filter": "HIGH", "crumb_type": "task", "limit": 5},
         {"unfinished_tasks": ["Build the detector"], "most_recent.id": "{left.id}",
          "key_references.thread_ids": ["parser_split"]}),
]

TRACE = [
    Call("trace_status", {}, {"items": 0}),
    code("first"),
    Call("trace_commit", {"text": "Be brief.", "type": "instruction", "name": "style"}),
    code("second"),
    Call("trace_commit", {"text": "Where is the limit set?", "fields": {"meta": {"k": 1}}}, {"seq": 1}, "asked"),
    git_trace("commit", "-r", "assistant", "-m", "In src/lib.rs."),
    Call("trace_status", {}, {"items": 3, "by_type": {"dialogue": 2, "instruction": 1}}),
    Call("trace_materialize", {}, {"text~": "Where is the limit set?"}),
    Call("trace_materialize", {"aggregate": "none", "format": "text", "as_of": "{asked.commit}"}, {"lines#": 6}),
    Call("trace_edit", {"item": "{asked.id}", "text": "Where is the budget set?", "reason": "clearer"},
         {"revision": 2, "op": "edit"}),
    Call("trace_show", {"item": "{asked.id}", "revision": 1}, {"text~": "Where is the limit set?"}),
    Call("trace_priority", {"item": "#1", "level": "skip", "reason": "settled"}, {"id": "{asked.id}", "seq": 1}),
    Call("trace_show", {"item": "{asked.id}"}, {"text~": "revision 2"}),
    Call("trace_delete", {"item": "{asked.id}", "reason": "told already"}, {"op": "delete"}),
    Call("trace_show", {"item": "{asked.id}"}, {"text~": "not in this trace any more"}),
    Call("trace_restore", {"item": "{asked.id}"}, {"op": "restore"}),
    Call("trace_log", {"item": "{asked.id}"}, {"lines#": 4, "lines.1~": "(told already)"}),
    Call("trace_log", {"budget": 100}, {"text~": "[more: call again with cursor"}),
    Call("trace_log", {"code": "HEAD~1..HEAD"}, {"lines#": 1, "text~": "Be brief."}),
    Call("trace_grep", {"pattern": "budget"}, {"lines#": 1}),
    Call("trace_grep", {"pattern": "limit"}, {"text": "nothing matches"}),
    Call("trace_grep", {"pattern": "limit", "history": True}, {"lines#": 1}),
    Call("trace_top", {"by": "type"}, {"lines#": 4}),
    Call("trace_commit", {"text": "By mistake."}),
    Call("trace_undo", {}, {"operations.0.command": "mcp trace_commit"}),
    Call("trace_branch", {"name": "idea"}, {"created": "idea"}),
    Call("trace_branch", {}, {"traces#": 2}),
    Call("trace_commit", {"text": "On the side.", "trace": "idea"}),
    Call("trace_diff", {"states": ["main", "idea"]}, {"lines.0~": "1 added"}),
    Call("trace_diff", {"states": ["{asked.id}"]}, {"text~": "+Where is the budget set?"}),
    Call("trace_merge", {"other": "idea"}, {"result": "fast_forward"}),
    Call("trace_edit", {"item": "{asked.id}", "text": "ours"}),
    Call("trace_edit", {"item": "{asked.id}", "text": "theirs", "trace": "idea"}),
    Call("trace_merge", {"other": "idea"}, {"result": "conflicts", "conflicts#": 1}),
    Call("trace_merge", {"other": "idea", "strategy": "theirs"}, {"result": "merge", "edited": 1}),
    Call("trace_switch", {"name": "idea"}, {"trace": "idea"}),
    Call("trace_status", {}, {"trace": "idea"}),
    Call("trace_compress", {"summary": "It was found.", "keep": 1}, {"items": 1}),
    Call("trace_clean", {"presets": ["safe"]}, {"items": 0, "trace": None}),
]

FILES = [
    Call("crumb_validate", {"file": "memory.crumb"}, {"valid": True}),
    Call("crumb_note", {"file": "memory.crumb", "text": "Seen from the server"}, {"line~": "Seen from the server"}),
    Call("crumb_fail", {"file": "memory.crumb", "key": "test:flaky", "text": "It hangs", "agent": "A"},
         {"line~": "It hangs"}),
    Call("checkpoint_validate", {}, {"valid": True}),
    Call("checkpoint_validate", {"file": "checkpoints/chk-003-breadcrumbs.md"}, {"errors": 0}),
    git_trace("checkpoint", "current", "chk-003"),
    Call("checkpoint_follow", {"breadcrumb": "src/services/gemini.ts"},
         {"found": "file", "type": "file", "text~": "generateImage", "hint~": "exponential backoff"}),
    Call("checkpoint_follow", {"breadcrumb": "#4", "checkpoint": "chk-003"},
         {"found": "function", "reference": "gemini.generateImage()", "definitions.0.source~": "return prompt"}),
    Call("checkpoint_follow", {"breadcrumb": "Phase 1, LAB color space"}, {"found": "decision"}),
    Call("checkpoint_follow", {"breadcrumb": "arxiv:2509.13313"}, {"found": "external"}),
    Call("checkpoint_follow", {"breadcrumb": "#2"}, {"found": None, "stale~": "colorQuantizer"}),
    Call("brief", {"breadcrumbs": ["auth."]}, {"text~": "azoth", "lines~": "auth.zone"}),
    Call("recall", {"query": "kind:crumb hanging", "limit": 1}, {"hits#": 1, "hits.0.key": "test:flaky"}),
]

SESSION = [*TRACE, *BREADCRUMBS, *FORWARD, *FILES]

# Paths outside the working tree, or of missing files.
OUTSIDE = ["../outside.crumb", "/etc/hostname", "link.crumb", ".git/config", "none.crumb"]

# Tool, the argument that the error names, and the arguments.
BAD = [
    ("set_breadcrumb", "key", {"value": "x"}),
    ("set_breadcrumb", "key", {"key": "a b", "value": "x"}),
    ("set_breadcrumb", "value", {"key": "a", "value": 3}),
    ("set_breadcrumb", "value", {"key": "a", "value": "x" * (10 << 20)}),
    ("set_breadcrumb", "value", {"key": "a", "value": TOKEN}),
    ("set_breadcrumb", "task_id", {"key": "a", "value": "x", "task_id": "15"}),
    ("get_breadcrumb", "kye", {"kye": "a"}),
    ("list_breadcrumbs", "limit", {"limit": 0}),
    ("list_breadcrumbs", "sort", {"sort": "size"}),
    ("list_breadcrumbs", "order", {"order": "up"}),
    ("list_breadcrumbs", "updated_before", {"updated_before": "soon"}),
    ("delete_breadcrumb", "key", {}),
    ("forward_crumb_leave", "session_summary", {}),
    ("forward_crumb_leave", "session_summary", {"session_summary": " "}),
    ("forward_crumb_leave", "key_discoveries", {"session_summary": "x", "key_discoveries": "no JSON"}),
    ("forward_crumb_leave", "references", {"session_summary": "x", "references": {"a": 3}}),
    ("forward_crumb_leave", "priority", {"session_summary": "x", "priority": "URGENT"}),
    ("forward_crumb_leave", "parent_crumb", {"session_summary": "x", "parent_crumb": "beef"}),
    ("forward_crumbs_get", "priority_filter", {"priority_filter": "URGENT"}),
    ("forward_crumbs_get", "lookback_hours", {"lookback_hours": -1}),
    ("trace_commit", "text", {}),
    ("trace_commit", "type", {"text": "x", "type": "No Type"}),
    ("trace_commit", "role", {"text": "x", "role": "nobody"}),
    ("trace_commit", "priority", {"text": "x", "priority": "high"}),
    ("trace_commit", "trace", {"text": "x", "trace": "a..b"}),
    ("trace_commit", "reason", {"text": "x", "reason": "why"}),
    ("trace_materialize", "format", {"format": "xml"}),
    ("trace_materialize", "aggregate", {"aggregate": "all"}),
    ("trace_materialize", "budget", {"budget": 0}),
    ("trace_status", "trace", {"trace": "a..b"}),
    ("trace_status", "trace", {"trace": 3}),
    ("trace_edit", "text", {"item": "#0"}),
    ("trace_edit", "item", {"item": "beefbeef", "text": "x"}),
    ("trace_delete", "item", {"item": "beefbeef"}),
    ("trace_restore", "item", {"item": "beefbeef"}),
    ("trace_priority", "level", {"item": "#0", "level": "high"}),
    ("trace_priority", "item", {"item": "beefbeef", "level": "skip"}),
    ("trace_show", "item", {"item": "beefbeef"}),
    ("trace_show", "revision", {"item": "#0", "revision": -1}),
    ("trace_show", "revision", {"item": "#0", "revision": 9}),
    ("trace_log", "grep", {"grep": "("}),
    ("trace_log", "code", {"code": "nope..HEAD"}),
    ("trace_log", "item", {"item": "beefbeef"}),
    ("trace_grep", "pattern", {"pattern": "("}),
    ("trace_diff", "states", {"states": ["nope"]}),
    ("trace_top", "by", {"by": "size"}),
    ("trace_undo", "operation", {"operation": "no-such"}),
    ("trace_branch", "start", {"name": "more", "start": "nope"}),
    ("trace_switch", "name", {"name": "nope"}),
    ("trace_merge", "other", {"other": "nope"}),
    ("trace_merge", "strategy", {"other": "idea", "strategy": "mine"}),
    ("trace_compress", "summary", {"summary": " "}),
    ("trace_compress", "range", {"summary": "x", "range": "beefbeef..#0"}),
    ("trace_clean", "presets", {"presets": ["harsh"]}),
    ("trace_clean", "keep", {"keep": -1}),
    *((tool, "item", {"level": "skip"} if tool == "trace_priority" else {})
      for tool in ("trace_edit", "trace_delete", "trace_restore", "trace_priority", "trace_show")),
    *(call for path in OUTSIDE for call in (
        ("crumb_validate", "file", {"file": path}),
        ("crumb_note", "file", {"file": path, "text": "x"}),
        ("crumb_fail", "file", {"file": path, "key": "a:b", "text": "x"}),
        ("checkpoint_validate", "file", {"file": path}))),
    ("crumb_note", "text", {"file": "memory.crumb"}),
    ("crumb_fail", "agent", {"file": "memory.crumb", "key": "k", "text": "t", "agent": "ab"}),
    ("checkpoint_follow", "breadcrumb", {}),
    ("checkpoint_follow", "breadcrumb", {"breadcrumb": "none such"}),
    ("checkpoint_follow", "checkpoint", {"breadcrumb": "#1", "checkpoint": "chk-404"}),
    ("brief", "budget", {"budget": 0}),
    ("brief", "budget", {"budget": "much"}),
    ("recall", "query", {"query": "?"}),
    ("recall", "since", {"query": "x", "since": "some day"}),
]


def filled(value, kept):
    """The value with the kept answers inserted."""
    text = json.dumps(value)
    return json.loads(re.sub(r"\{(\w+)\.(\w+)\}", lambda found: kept[found[1]][found[2]], text))


def answer(content, structured):
    """What a tool answered: its record, or its text."""
    text = "\n".join(block["text"] for block in content)
    if structured is None:
        return {"text": text, "lines": text.splitlines()}
    assert json.loads(text) == structured, "the two forms of a record differ"
    return structured


def judge(call, answer, kept):
    """Compares an answer with the expected values of the call, and keeps it if the call asks for that."""
    for path, wanted in filled(call.expected, kept).items():
        value = answer
        for step in filter(None, path.rstrip("#~").split(".")):
            value = value[int(step)] if step.isdigit() else value[step]
        if path.endswith("#"):
            assert len(value) == wanted, (call, path, value)
        elif path.endswith("~"):
            assert wanted in (value if isinstance(value, str) else json.dumps(value)), (call, path, value)
        else:
            assert value == wanted, (call, path, value)
    if call.kept:
        kept[call.kept] = answer
