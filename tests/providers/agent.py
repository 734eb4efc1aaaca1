"""Simulates an agent that lets its trace compress itself: commits items within a budget, with a deterministic model for summaries.

Usage: agent.py GIT-TRACE ITEMS. After each item, the trace must be within its budget, and its context must be a valid request
for each provider. At the end, every item must be in history. Makes no request.
"""

import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

BUDGET = 4000
MARGIN = 10
WORDS = "parser limit cache worker index commit retry error test header branch merge token session".split()


def model():
    """Answers a prompt with as many words as it allows. Some answers are too long, and some of those stay so."""
    prompt = sys.stdin.read()
    allowed = int(re.search(r"at most (\d+) tokens", prompt)[1])
    rng = random.Random(zlib.crc32(prompt.encode()))
    count = allowed * (3 if rng.random() < 0.15 else 1)
    # A word with its space is one token, and a period another.
    words = [rng.choice(WORDS) for _ in range(max(1, count * 9 // 10))]
    print(" ".join(f"{word}." if index % 12 == 11 else word for index, word in enumerate(words)))


def text(rng, most):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, most)))


def items():
    """Turns of a user, an assistant that thinks and calls tools in parallel, and tools that sometimes fail."""
    rng = random.Random(1)
    yield {"type": "instruction", "text": "Work on the project. " + text(rng, 60)}
    step = 0
    while True:
        step += 1
        prompt = {"text": f"Task {step}: " + text(rng, 80)}
        yield {**prompt, "priority": "pinned"} if step % 100 == 1 and step < 500 else prompt
        for message in range(rng.randrange(1, 5)):
            turn = f"turn-{step}-{message}"
            if rng.random() < 0.4:
                yield {"type": "reasoning", "text": text(rng, 60), "signature": "c2ln", "turn": turn, "meta": {"provider": "anthropic"}}
            yield {"role": "assistant", "text": text(rng, 40), "turn": turn}
            calls = [f"call_{step}_{message}_{n}" for n in range(rng.randrange(0, 4))]
            for call in calls:
                arguments = json.dumps({"path": f"src/{rng.choice(WORDS)}.rs", "pattern": rng.choice(WORDS)})
                name = rng.choice(["grep", "read", "edit"])
                yield {"type": "tool_io", "direction": "call", "name": name, "call_id": call, "text": arguments, "turn": turn}
            for call in calls:
                status = "error" if rng.random() < 0.3 else "ok"
                long = 900 if rng.random() < 0.03 else 120
                yield {"type": "tool_io", "direction": "result", "call_id": call, "status": status, "text": text(rng, long)}
        if rng.random() < 0.1:
            yield {"type": "artifact", "path": f"notes/{step}.md", "text": text(rng, 100)}


def main():
    # Imports the SDKs, which take longer to load than the model may take to answer.
    from validate import FORMATS, Repository, validate

    binary, count = str(Path(sys.argv[1]).resolve()), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(binary, folder)
        compressor = shlex.join([sys.executable, __file__, "--model"])
        settings = {"budget": str(BUDGET), "budgetAction": f"compress --margin {MARGIN} --group task", "compressor": compressor}
        for key, value in settings.items():
            subprocess.run(["git", "-C", folder, "config", f"trace.{key}", value], check=True, env=repository.env)
        log = open(Path(folder) / "log", "w+")
        batch = subprocess.Popen(
            [binary, "commit", "--batch"], cwd=folder, env=repository.env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )
        ids, largest, checked = set(), 0, 0
        for number, item in zip(range(count), items()):
            batch.stdin.write(json.dumps(item) + "\n")
            batch.stdin.flush()
            answer = json.loads(batch.stdout.readline())
            assert "id" in answer, f"item {number}: {answer}"
            ids.add(answer["id"])
            total = json.loads(repository.run("status", "--json").stdout)["tokens"]["total"]
            assert total <= BUDGET, f"item {number}: {total} tokens"
            largest = max(largest, total)
            for form in FORMATS:
                validate(form, repository.run("materialize", "--format", form).stdout)
                checked += 1
        batch.stdin.close()
        assert batch.wait() == 0
        history = [json.loads(line) for line in repository.run("log", "--json").stdout.splitlines()]
        added = {commit["items"][0]["id"] for commit in history if commit["op"] == "append"}
        assert ids == added and len(ids) == count, "an item is lost"
        compressions = sum(commit["op"] == "compress" for commit in history)
        assert compressions > 0
        log.seek(0)
        cut = sum("was cut" in line for line in log)
        repository.run("fsck")
    print(
        f"{count} items, at most {largest} of {BUDGET} tokens, {compressions} compressions ({cut} summaries cut), "
        f"{checked} requests checked"
    )


if __name__ == "__main__":
    model() if sys.argv[1:] == ["--model"] else main()
