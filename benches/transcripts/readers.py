#!/usr/bin/env python3
"""Measures the reader of each format: `readers.py PROGRAM [MEGABYTES [FORMAT…]]`, by default 20 MB and all formats.

Each file repeats the sample of its format in tests/fixtures with other ids. It is imported, and then read again after a change at its
start, which writes nothing: so the second figure is that of the reader. Figures are CPU time, and the most memory of the process.
A format whose files hold many conversations gets conversations of 100 KB, each of which becomes a trace.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/fixtures/transcripts"
# The sample, and the list of records if it is a document. That of COLLECTIONS is in each conversation.
SAMPLES = {
    "claude-code": ("claude-code/large-compacted.jsonl", None),
    "codex": ("codex/rollout-record-matrix.jsonl", None),
    "gemini-cli": ("gemini-cli/session-chat.json", "messages"),
    "opencode": ("opencode/export.json", "messages"),
    "copilot-cli": ("copilot-cli/events-tool.jsonl", None),
    "cursor": ("cursor/agent-transcript.jsonl", None),
    "pi": ("pi/session-v1.jsonl", None),
    "droid": ("droid/session.jsonl", None),
    "aider": ("aider/chat-history-2024.md", None),
    "qwen-code": ("qwen-code/session.jsonl", None),
    "atif": ("atif/openhands.trajectory.json", "steps"),
    "otel-genai": ("otel-genai/visual-studio-copilot-traces.jsonl", None),
    "swe-agent": ("swe-agent/function-calling.traj", "history"),
    "codex-exec": ("codex-exec/exec-json.jsonl", None),
    "gemini-stream-json": ("gemini-stream-json/headless.jsonl", None),
    "cline": ("cline/sdk-session.messages.json", "messages"),
    "openhands": ("openhands/events-v1.jsonl", None),
    "mini-swe-agent": ("mini-swe-agent/trajectory.json", "messages"),
    "vscode-copilot": ("vscode-copilot/chat-session.json", "requests"),
    "langsmith": ("langsmith/batch-openai-python.json", None),
    "langfuse": ("langfuse/langgraph-trace.json", "observations"),
    "inspect": ("inspect/security-guide.json", "messages"),
    "chatgpt": ("chatgpt/conversations.json", "mapping"),
    "claude-export": ("claude-export/bakery-chat.json", "chat_messages"),
    "sharegpt": ("sharegpt/reason-tool-use.jsonl", "messages"),
}
COLLECTIONS = {"inspect", "chatgpt", "claude-export", "sharegpt"}
CONVERSATION = 100_000
ID = re.compile(r"(?i)(?:^|_)(?:id|uuid)$|(?:Id|ID|Uuid)$")
SESSION = re.compile(r"(?i)session|trace|project|model|provider|hash")
HEADS = {"session", "session_meta", "session.start", "session_start", "system"}


def renamed(value, number, is_text=False):
    """The value with other ids, and other texts if the format has no ids of messages."""
    if isinstance(value, list):
        return [renamed(each, number, is_text) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for name, each in value.items():
        is_id = isinstance(each, str) and each and ID.search(name) and not SESSION.search(name)
        if is_text and name == "content" and isinstance(each, str):
            each = f"{each} {number}"
        changed[name] = f"{each[:-6]}{number:06x}" if is_id else renamed(each, number, is_text)
    return changed


def conversations(document, member, size):
    """As many conversations as fill a file, each with its messages repeated."""
    samples = document if isinstance(document, list) else [document]
    length, number = 0, 0
    while length < size:
        for sample in samples:
            messages = sample[member]
            count = max(1, CONVERSATION // len(json.dumps(messages)))
            if isinstance(messages, dict):
                more = {}
                for round in range(count):
                    # Each round continues below the node before it.
                    for node in messages.values():
                        parent = f"{node['parent']}-{round}" if node.get("parent") else next(reversed(more), None)
                        id = f"{node['id']}-{round}"
                        more[id] = {**node, "id": id, "parent": parent, "children": []}
                        if node["message"]:
                            more[id]["message"] = {**node["message"], "id": id}
            else:
                more = [renamed(message, round) for round in range(count) for message in messages]
            own = f"{number:06x}"
            ids = {name: own for name in ("id", "uuid", "conversation_id") if name in sample}
            conversation = {**sample, **ids, member: more}
            yield conversation
            length += len(json.dumps(conversation))
            number += 1


def write(path, format, size):
    name, member = SAMPLES[format]
    text = (FIXTURES / name).read_text()
    with open(path, "w") as file:
        if format == "aider":
            while file.tell() < size:
                file.write(text)
            return
        if format == "sharegpt":
            records = [json.loads(line) for line in text.splitlines()]
            file.writelines(json.dumps(record) + "\n" for record in conversations(records, member, size))
            return
        if format == "inspect":
            document = json.loads(text)
            document["samples"] = list(conversations(document["samples"], member, size))
            json.dump(document, file)
            return
        if format in COLLECTIONS:
            json.dump(list(conversations(json.loads(text), member, size)), file)
            return
        if member:
            document = json.loads(text)
            records = document[member]
            count = max(1, size // len(json.dumps(records)))
            document[member] = [renamed(record, number) for number in range(count) for record in records]
            json.dump(document, file)
            return
        is_batch = format == "langsmith"
        records = [json.loads(text)] if is_batch else [json.loads(line) for line in text.splitlines() if line.strip()]
        number = 0
        while file.tell() < size:
            for record in records:
                if number == 0 or record.get("type") not in HEADS:
                    file.write(json.dumps(renamed(record, number, is_batch)) + "\n")
            number += 1


def prepend_line(path):
    with open(path, "rb+") as file:
        rest = file.read()
        file.seek(0)
        file.write(b"\n" + rest)


def in_child(function, *arguments):
    """The memory that the system reports for a program is at least that of the process that started it, so this one stays small."""
    child = os.fork()
    if child == 0:
        function(*arguments)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("cannot write the sample")


def measure(program, format, path):
    split = ["--split"] if format in COLLECTIONS else []
    process = subprocess.Popen([program, "import", format, path, "--trace", "t", "--json", *split], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    answer = json.loads(process.stdout.read() or b"{}")
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) > 1:
        sys.exit(f"{format}: {said}")
    items = sum(trace["recorded"] for trace in answer["traces"])
    return items, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main():
    program = os.path.abspath(sys.argv[1])
    size = int(sys.argv[2] if len(sys.argv) > 2 else 20) * 1_000_000
    print("| format | items per MB | import | reading alone | memory |\n| --- | ---: | ---: | ---: | ---: |", flush=True)
    for format in sys.argv[3:] or SAMPLES:
        folder = tempfile.mkdtemp(prefix="git-trace-readers-")
        try:
            os.environ.update(HOME=folder, GIT_CONFIG_NOSYSTEM="1")
            for who in ("AUTHOR", "COMMITTER"):
                os.environ.update({f"GIT_{who}_NAME": "bench", f"GIT_{who}_EMAIL": "bench@example.com"})
            os.chdir(folder)
            subprocess.run(["git", "init", "--quiet", "repo"], check=True)
            os.chdir("repo")
            path = f"{folder}/session"
            in_child(write, path, format, size)
            length = os.path.getsize(path) / 1e6
            items, importing, memory = measure(program, format, path)
            in_child(prepend_line, path)
            again, reading, more = measure(program, format, path)
            note = "" if again == 0 else f" ({again} items again)"
            print(f"| `{format}` | {items / length:,.0f} | {length / importing:.0f} MB/s | {length / reading:.0f} MB/s{note} "
                  f"| {max(memory, more):.0f} MB |", flush=True)
        finally:
            os.chdir("/")
            shutil.rmtree(folder)


main()
