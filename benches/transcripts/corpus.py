#!/usr/bin/env python3
"""Writes 277 sessions of 351 MB for the folder FOLDER below HOME, as Claude Code stores them: `corpus.py HOME FOLDER`.

Each session repeats the sessions of the fixtures with other ids until it has its size. Sizes vary as in real ones: most are small, a few
are many megabytes.
"""

import hashlib
import json
import math
import pathlib
import random
import re
import sys

SESSIONS, BYTES = 277, 351_000_000
FIXTURES = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/fixtures/transcripts/claude-code"
NAMES = ("small-thinking-tools", "branching-parallel", "large-compacted", "compact-boundary")
UUID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def uuid(*parts):
    digest = hashlib.md5(repr(parts).encode()).hexdigest()
    return "-".join(digest[start:end] for start, end in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))).encode()


def sample(name, folder):
    """The records of a fixture that are of its main thread, without those of a second file."""
    records = [json.loads(line) for line in (FIXTURES / f"{name}.jsonl").read_bytes().splitlines()]
    for record in records:
        if "cwd" in record:
            record["cwd"] = folder
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records)


def main():
    home, folder = pathlib.Path(sys.argv[1]), sys.argv[2]
    rng = random.Random(1)
    samples = [sample(name, folder) for name in NAMES]
    sizes = [math.exp(rng.gauss(0, 1.6)) for _ in range(SESSIONS)]
    scale = BYTES / sum(sizes)
    store = home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", folder)
    store.mkdir(parents=True)
    written = 0
    for number, size in enumerate(sizes):
        session = uuid(number)
        with open(store / f"{session.decode()}.jsonl", "wb") as file:
            while file.tell() < size * scale:
                at = file.tell()
                text = samples[0] if size * scale - at < 1_000_000 and at else rng.choice(samples)
                ids = {}
                text = UUID.sub(lambda found: ids.setdefault(found[0], uuid(number, at, found[0])), text)
                text = re.sub(rb'"sessionId":"[^"]*"', b'"sessionId":"' + session + b'"', text)
                file.write(text[: text.rfind(b"\n", 0, max(int(size * scale - at), 1)) + 1] or text)
            written += file.tell()
    print(f"{SESSIONS} sessions, {written / 1e6:.0f} MB")


main()
