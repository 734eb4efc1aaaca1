"""Shared by the benchmarks: a repository with any number of recorded sessions, written by one `git fast-import`."""

import hashlib
import json
import shutil
import subprocess
import time

START = 1_700_000_000
# Seconds from one session to the next.
PACE = 300
AGENTS = ["claude-code", "codex", "gemini-cli"]
FOLDER = b"40000"
FILE = b"100644"


def session_name(number):
    return f"{AGENTS[number % len(AGENTS)]}/{number:08}-0000-4000-8000-{number:012}"


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def tree(*entries):
    """The oid of a tree object: (mode, name, oid) in git's order."""
    body = b"".join(mode + b" " + name.encode() + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)
    return hashlib.sha1(b"tree %d\0" % len(body) + body).hexdigest()


def session(number, turns):
    """The names and texts of a session's items, alternately of the user and of the model."""
    for turn in range(turns):
        item = hashlib.sha1(f"{number} {turn}".encode()).hexdigest()[:16]
        role = "assistant" if turn % 2 else "user"
        at = stamp(START + PACE * number + turn)
        agent, source = session_name(number).split("/")
        text = f"text {turn} of a session that asks for something else"
        head = f"id: {item}\ntype: dialogue\nrole: {role}\nsource: {agent} {source} {turn}\ncreated: {at}\n"
        yield f"{turn:06}-dialogue-{item}", item, (head + "\n" + text).encode()


def record(number, turns, total):
    """One session as a stream for `git fast-import`: one commit with all of its items."""
    entries, lines = [], []
    for name, item, content in session(number, turns):
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        entries.append((FILE, name, oid))
        lines.append(b"M 100644 inline 00/00/%s\ndata %d\n%s\n" % (name.encode(), len(content), content))
    root = tree((FOLDER, "00", tree((FOLDER, "00", tree(*entries)))))
    name = session_name(number)
    at = START + PACE * number + turns
    message = (
        f"dialogue assistant: text {turns - 1} of session {number}\n\nTrace-Op: import\nTrace-Item: {item}\n"
        f"Trace-Time: {stamp(at)}\nTrace-Tree: {root}\n{total}Trace-Next: {turns}\nTrace-Family: {name}\n"
    ).encode()
    who = b"Ada <ada@example.com> %d +0000" % at
    head = b"commit refs/traces/%s\nauthor %s\ncommitter %s\ndata %d\n%s\n" % (name.encode(), who, who, len(message), message)
    return head + b"".join(lines) + b"\n"


def write(bench, repository, numbers, turns, total):
    command = ["git", "fast-import", "--quiet", "--date-format=raw"]
    with subprocess.Popen(command, cwd=repository, env=bench.env, stdin=subprocess.PIPE) as git:
        for number in numbers:
            git.stdin.write(record(number, turns, total))
    if git.returncode != 0:
        raise SystemExit("git fast-import failed")


def add_sessions(bench, repository, numbers, turns=2):
    """Writes sessions to a repository, in which every object has its own oid, as after an import, and packs their refs."""
    # The texts of all sessions have the same number of tokens. Without a total, it is counted.
    probe = bench.repository("probe")
    write(bench, probe, [0], turns, "")
    listed = bench.run([bench.binary, "branch", "--json"], probe)
    tokens = json.loads(listed)["tokens"]["total"]
    shutil.rmtree(probe)
    write(bench, repository, numbers, turns, f"Trace-Total: {tokens} o200k_base\n")
    bench.run(["git", "pack-refs", "--all"], repository)
