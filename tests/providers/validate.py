"""Validates each provider's output with that provider's types and rules of order.

Usage: validate.py GIT-TRACE TRACES. Uses sample transcripts and random traces (with fixed seeds) with edits, skips, pins,
deletions, dangling calls, cuts, and a custom type. Imports the output again and checks the rules of cuts. Prints each failure
and how to reproduce it. Makes no request.
"""

import base64
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import List

from anthropic.types import MessageParam, TextBlockParam
from google.genai import types as genai
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

import rules

FIXTURES = Path(__file__).parent.parent / "fixtures" / "transcripts"
CHAT = TypeAdapter(List[ChatCompletionMessageParam])
RESPONSES = TypeAdapter(List[ResponseInputItemParam])
ANTHROPIC_SYSTEM = TypeAdapter(List[TextBlockParam])
ANTHROPIC_MESSAGES = TypeAdapter(List[MessageParam])
GEMINI_SYSTEM = TypeAdapter(genai.ContentDict)
GEMINI_CONTENTS = TypeAdapter(List[genai.ContentDict])
FORMATS = ["openai", "responses", "anthropic", "gemini"]
OPTIONS = [[], ["--aggregate", "none"], ["--budget", "160"], ["--recent", "6"]]


def same(given, read):
    """Walks the validated value along with the original, because Iterable members are validated only when read, and a
    TypedDict drops unknown keys."""
    if isinstance(read, Mapping):
        assert set(given) <= set(read), f"keys that the type does not have: {set(given) - set(read)}"
        for key in given:
            same(given[key], read[key])
    elif isinstance(read, (list, tuple, Iterator)) or (hasattr(read, "__iter__") and not isinstance(read, (str, bytes))):
        read = list(read)
        assert len(given) == len(read)
        for one, other in zip(given, read):
            same(one, other)


def snake(value, parent=None):
    """Gemini's JSON in the spelling of its SDK's dictionaries."""
    if isinstance(value, list):
        return [snake(one) for one in value]
    if not isinstance(value, dict):
        return value
    if parent in ("args", "response"):
        return value
    renamed = {}
    for key, one in value.items():
        name = "".join("_" + c.lower() if c.isupper() else c for c in key)
        renamed[name] = snake(one, key)
    return renamed


def validate(form, text):
    value = json.loads(text)
    if form == "openai":
        same(value, CHAT.validate_python(value))
        rules.openai(value)
    elif form == "responses":
        same(value, RESPONSES.validate_python(value))
        rules.responses(value)
    elif form == "anthropic":
        assert set(value) <= {"system", "messages"}
        same(value.get("system", []), ANTHROPIC_SYSTEM.validate_python(value.get("system", [])))
        same(value["messages"], ANTHROPIC_MESSAGES.validate_python(value["messages"]))
        rules.anthropic(value)
    else:
        assert set(value) <= {"systemInstruction", "contents"}
        # The models forbid unknown keys and read JSON as sent; the SDK accepts the dictionaries.
        for content in [value.get("systemInstruction", {"parts": []}), *value["contents"]]:
            genai.Content.model_validate_json(json.dumps(content))
            same(snake(content), GEMINI_SYSTEM.validate_python(snake(content)))
        GEMINI_CONTENTS.validate_python(snake(value["contents"]))
        rules.gemini(value)


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(12)).decode()
TEXTS = ["a", "b\n", "  ", "Grüße 😀", "x " * 20, ""]


def random_item(rng, calls):
    turn = rng.choice([{}, {}, {"turn": f"t{rng.randrange(3)}"}])
    text = rng.choice(TEXTS)
    kind = rng.choice("user user assistant system call call result result thought artifact output freeform note".split())
    if kind in ("user", "assistant", "system"):
        name = rng.choice([{}, {}, {"name": rng.choice(["ann", "a b"])}])
        return {"type": "dialogue", "role": kind, "text": text, **name, **turn}
    if kind == "call":
        calls.append(rng.choice(["c1", "c2", "c3", "c 4", f"call_{rng.randrange(99)}", "l" * 80]))
        name = rng.choice(["grep", "mcp.x/y"])
        arguments = rng.choice(['{"a":1}', "{}", "[1]", '"x"', '{"b": {"c": [1.0, 1e3]}}'])
        return {"type": "tool_io", "direction": "call", "name": name, "call_id": calls[-1], "text": arguments, **turn}
    if kind == "result":
        call = rng.choice([*calls[-3:], "nobody"])
        status = rng.choice([{}, {"status": "ok"}, {"status": "error"}])
        return {"type": "tool_io", "direction": "result", "call_id": call, "text": text, **status}
    if kind == "thought":
        signed = rng.choice([{}, {"signature": "c2ln"}, {"signature": "c2ln", "meta": {"provider": rng.choice(FORMATS)}}])
        if signed and rng.random() < 0.2:
            signed = {"signature": "ZGF0YQ==", "meta": {"redacted": True, "provider": "anthropic"}}
        return {"type": "reasoning", "text": text, **signed, **turn}
    if kind == "artifact":
        body = rng.choice([{"text": text}, {"base64": PNG}, {"base64": "/w=="}, {"text": "%PDF-1.4"}])
        media = rng.choice([{}, {"media_type": "image/jpeg"}, {"media_type": "audio/wav"}, {"path": 'a "b".txt'}])
        role = rng.choice([{}, {"meta": {"role": "user"}}, {"meta": {"role": "system"}}])
        return {"type": "artifact", **body, **media, **role}
    if kind == "note":
        return {"type": "note", "text": text, **rng.choice([{}, {"meta": {"aggregate": False}}]), **turn}
    if kind == "freeform":
        return {"type": "freeform", **rng.choice([{"text": text}, {"base64": "/w=="}])}
    return {"type": "output", "text": text, **turn}


class Repository:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.env = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        subprocess.run(["git", "init", "-q", folder], check=True, env=self.env)
        # A custom type with role system that precedes the others.
        for rule, value in {"role": "system", "order": "-1"}.items():
            subprocess.run(["git", "-C", folder, "config", f"traceType.note.{rule}", value], check=True, env=self.env)

    def run(self, *words, stdin="", statuses=(0,)):
        done = subprocess.run([self.binary, *words], cwd=self.folder, env=self.env, input=stdin.encode(), capture_output=True)
        if done.returncode not in statuses:
            raise RuntimeError(f"git trace {' '.join(words)}: {done.stderr.decode()}")
        return done

    def random_trace(self, seed):
        rng = random.Random(seed)
        name, calls = f"random/{seed}", []
        begin = [{"type": "instruction", "text": "Be careful."}] if rng.random() < 0.7 else []
        items = begin + [random_item(rng, calls) for _ in range(rng.randrange(1, 36))]
        lines = "".join(json.dumps(item) + "\n" for item in items)
        self.run("--trace", name, "import", "jsonl", "-", stdin=lines)
        for seq in rng.sample(range(len(items)), min(len(items), 5)):
            what = rng.choice(["edit", "skip", "delete", "pin"])
            change = [what, f"#{seq}", *(["-m", "edited"] if what == "edit" else [])]
            # Editing a call to plain text is refused, because its arguments are JSON.
            self.run("--trace", name, *change, statuses=(0, 2))
        return name


def pairs(blocks):
    """Calls and their results, as item ids. A result answers the earliest open call with its id."""
    found, waiting = [], {}
    for block, item in blocks:
        if block.get("type") == "tool_call":
            waiting.setdefault(block["call_id"], []).append(item)
        elif block.get("type") == "tool_result" and waiting.get(block["call_id"]):
            found.append((waiting[block["call_id"]].pop(0), item))
    return found


def check_cuts(repository, name):
    """Pinned items are never cut, no call is cut from its result, and the same trace gives the same bytes."""
    words = ["materialize", name, "--format", "messages", "--aggregate", "none"]
    whole = json.loads(repository.run(*words, "--json").stdout)
    shown = [item for items in whole["items"] for item in items]
    listed = repository.run("--trace", name, "priority", "--list", "pinned", "--json").stdout.splitlines()
    pinned = {json.loads(line)["id"] for line in listed} & set(shown)
    blocks = [message["content"] for message in whole["messages"]]
    answered = pairs([(block[0] if isinstance(block, list) else {}, item) for block, item in zip(blocks, shown)])
    middle = shown[len(shown) // 2] if shown else None
    cuts = [["--budget", str(budget)] for budget in (20, 60, 120, 240)] + ([["--since-item", middle]] if middle else [])
    for cut in cuts:
        done = repository.run(*words, *cut, "--json", statuses=(0, 1))
        if done.returncode == 1:
            continue
        assert done.stdout == repository.run(*words, *cut, "--json").stdout, f"{cut}: other bytes the second time"
        kept = {item for items in json.loads(done.stdout)["items"] for item in items}
        assert pinned <= kept, f"{cut}: {pinned - kept} are pinned and cut"
        for call, result in answered:
            assert (call in kept) == (result in kept), f"{cut}: {call} and {result} are parted"
        if cut[0] == "--budget":
            used = json.loads(done.stdout)["tokens"]["request"]
            assert used <= int(cut[1]), f"{cut}: {used} tokens"
    recent = json.loads(repository.run(*words, "--recent", "3", "--json").stdout)
    short = {changed["id"] for changed in recent["changed"] if changed["fate"] == "shortened"}
    assert not pinned & short, f"{pinned & short} are pinned and shortened"
    for call, result in answered:
        assert (call in short) == (result in short), f"--recent: {call} and {result} are parted"


def apart(form, text):
    """The content, where one item per message splits the text and the calls of one message."""
    if form != "openai":
        return text
    said = []
    for message in json.loads(text):
        if "tool_calls" in message and "content" in message:
            said.append({"role": message["role"], "content": message["content"]})
            message = {"role": message["role"], "tool_calls": message["tool_calls"]}
        said.append(message)
    return said


def check_reading(repository, name, form):
    """Output that is imported and written again stays the same."""
    words = ["--format", form, "--aggregate", "none"]
    written = repository.run("materialize", name, *words).stdout
    other = f"back/{form}/{name}"
    repository.run("--trace", other, "import", form, "-", stdin=written.decode())
    again = repository.run("materialize", other, *words, statuses=(0, 2))
    if again.returncode == 2 and len(written) < 20:
        return  # Empty output creates no trace.
    same = apart(form, again.stdout) == apart(form, written)
    assert same, f"it reads back as\n{again.stdout.decode()}\nand was\n{written.decode()}"


def main():
    binary, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    failures = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(binary, folder)
        names = []
        for transcript in sorted(FIXTURES.glob("claude-code/*.jsonl")):
            names.append(f"sample/{transcript.stem}")
            repository.run("--trace", names[-1], "import", "claude-code", str(transcript))
        names += [repository.random_trace(seed) for seed in range(count)]
        for name in names:
            checks = [(check_cuts, (name,))] + [(check_reading, (name, form)) for form in FORMATS]
            for check, of in checks:
                checked += 1
                try:
                    check(repository, *of)
                except Exception as error:
                    failures += 1
                    print(f"{check.__name__} {of}: {error}", file=sys.stderr)
            for form in FORMATS:
                marks = [["--cache-marks", "4"]] if form == "anthropic" else []
                for options in OPTIONS + marks:
                    words = ["materialize", name, "--format", form, *options]
                    done = repository.run(*words, statuses=(0, 1) if "--budget" in options else (0,))
                    if done.returncode == 1:
                        continue
                    checked += 1
                    try:
                        validate(form, done.stdout)
                    except Exception as error:
                        failures += 1
                        print(f"git trace {' '.join(words)}: {error}", file=sys.stderr)
    print(f"{checked} outputs checked, {failures} refused")
    return 1 if failures or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
