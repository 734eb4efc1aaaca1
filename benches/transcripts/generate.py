#!/usr/bin/env python3
"""Writes a generated transcript to stdout: `generate.py codex MEBIBYTES` or `generate.py claude-code MEBIBYTES`.

The session has realistic proportions of user, model, and tools: most bytes are tool results of a few kilobytes, in text that does
not repeat exactly.
"""

import json
import random
import sys

WORDS = """the a of to and in is file line error function return value test build merge commit branch index tree
object reader import trace session context token message result call user model string buffer length offset digest
match struct impl pub fn let mut if else for while use mod crate self type where async await None Some Ok Err""".split()


def text(rng, length):
    parts, size = [], 0
    while size < length:
        word = rng.choice(WORDS)
        if rng.random() < 0.1:
            word += str(rng.randrange(10000))
        parts.append(word)
        size += len(word) + 1
    return " ".join(parts)


def time(number):
    minutes, seconds = divmod(number, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"2026-01-{1 + days % 28:02}T{hours:02}:{minutes:02}:{seconds:02}.000Z"


def codex(rng):
    def line(number, kind, payload):
        return {"timestamp": time(number), "type": kind, "payload": payload}

    def message(role, words):
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": words}]}

    yield line(0, "session_meta", {"id": "019b64e5-57fa-7463-b644-fba7e456f905", "cwd": "/x", "cli_version": "0.146.0"})
    number = 0
    while True:
        number += 1
        asked = text(rng, 300)
        yield line(number, "response_item", message("user", asked))
        yield line(number, "event_msg", {"type": "user_message", "message": asked, "images": []})
        for _ in range(8):
            number += 1
            call = f"call_{number}"
            arguments = json.dumps({"command": ["bash", "-lc", text(rng, 80)]})
            yield line(number, "response_item", {"type": "function_call", "name": "shell", "call_id": call, "arguments": arguments})
            output = text(rng, rng.choice([200, 2000, 12000]))
            yield line(number, "response_item", {"type": "function_call_output", "call_id": call, "output": output})
            yield line(number, "event_msg", {"type": "exec_command_end", "call_id": call, "stdout": output})
            yield line(number, "event_msg", {"type": "token_count", "info": {"total_token_usage": {"total_tokens": number}}})
        answer = text(rng, 600)
        yield line(number, "response_item", message("assistant", answer))
        yield line(number, "event_msg", {"type": "agent_message", "message": answer})


def claude_code(rng):
    parent, number = None, 0

    def line(kind, message):
        nonlocal parent, number
        number += 1
        uuid = f"{rng.getrandbits(32):08x}-0000-4000-a000-{number:012x}"
        record = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/x", "sessionId": "s1",
                  "version": "2.1.32", "gitBranch": "main", "type": kind, "message": message, "uuid": uuid,
                  "timestamp": time(number)}
        parent = uuid
        return record

    def assistant(block):
        usage = {"input_tokens": 3, "cache_read_input_tokens": 40000 + number, "output_tokens": 90}
        return line("assistant", {"model": "claude-opus-4-6", "id": f"msg_{number:08}", "type": "message",
                                  "role": "assistant", "content": [block], "stop_reason": None, "usage": usage})

    while True:
        yield line("user", {"role": "user", "content": text(rng, 300)})
        for _ in range(8):
            call = f"toolu_{number:08}"
            yield assistant({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text(rng, 80)}})
            output = text(rng, rng.choice([200, 2000, 12000]))
            yield line("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": output}]})
        yield assistant({"type": "text", "text": text(rng, 600)})


def main():
    kind, limit = sys.argv[1], int(sys.argv[2]) * 1024 * 1024
    records = {"codex": codex, "claude-code": claude_code}[kind](random.Random(7))
    size = 0
    while size < limit:
        line = json.dumps(next(records), separators=(",", ":")) + "\n"
        size += len(line)
        sys.stdout.write(line)


main()
