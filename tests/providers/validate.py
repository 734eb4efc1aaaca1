"""Holds each provider's output against that provider's own types and rules of order.

Usage: validate.py GIT-TRACE TRACES. Sample transcripts, and random traces (the seeds are fixed) with edits, skips,
deletions, dangling calls and cuts; prints what failed and how to see it again. Makes no request.
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
    """Walks what was validated beside what was given: Iterable members are only judged when read, and a TypedDict drops
    the keys it does not know."""
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
    """Gemini's JSON as its SDK's dictionaries spell it."""
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
        # The models forbid unknown keys and read JSON as it is sent; the dictionaries are what the SDK takes.
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
    kind = rng.choice("user user assistant system call call result result thought artifact output freeform".split())
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
    if kind == "freeform":
        return {"type": "freeform", **rng.choice([{"text": text}, {"base64": "/w=="}])}
    return {"type": "output", "text": text, **turn}


class Repository:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        identity = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.env = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        subprocess.run(["git", "init", "-q", folder], check=True, env=self.env)

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
            change = rng.choice([["edit", f"#{seq}", "-m", "edited"], ["skip", f"#{seq}"], ["delete", f"#{seq}"]])
            # A call's arguments are not edited to a word.
            self.run("--trace", name, *change, statuses=(0, 2))
        return name


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


sys.exit(main())
