"""Shared by the benchmarks: isolated repositories, generated items, and measurement of complete processes."""

import fcntl
import json
import os
import pty
import random
import select
import shutil
import statistics
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHARS = 200
MIB = 1 << 20


def release_binary(given=None):
    """The given binary, or a new release build."""
    if given is None:
        subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT, check=True)
        given = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "git-trace"
    return given.resolve()


class Bench:
    """A temporary folder, and the commands measured in it."""

    def __init__(self, folder, binary, quick):
        self.folder = folder
        self.binary = str(binary)
        self.quick = quick
        home = folder / "home"
        home.mkdir()
        # Not a filtered os.environ: no GIT_*, GITTRACE_*, or locale setting of the user may matter.
        self.env = {
            "PATH": f"{Path(binary).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C",
            "TZ": "UTC",
        }

    def run(self, args, cwd):
        """Runs a setup command and returns its stdout."""
        return subprocess.run(args, cwd=cwd, env=self.env, stdout=subprocess.PIPE, check=True).stdout

    def measure(self, args, cwd, stdin=os.devnull, any_status=False):
        """Runs a command and returns its wall time, its CPU time (both in seconds), and its peak memory in bytes."""
        program = shutil.which(args[0], path=self.env["PATH"])
        open_in = (os.POSIX_SPAWN_OPEN, 0, str(stdin), os.O_RDONLY, 0)
        open_out = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
        os.chdir(cwd)
        start = time.perf_counter()
        pid = os.posix_spawn(program, args, self.env, file_actions=[open_in, open_out])
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - start
        os.chdir(ROOT)
        if status != 0 and not any_status:
            sys.exit(f"failed: {' '.join(args)} in {cwd}")
        unit = 1 if sys.platform == "darwin" else 1024
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit

    def on_terminal(self, args, cwd, shown, keys):
        """Runs a full-screen command on a pseudo-terminal. Returns the seconds until it has written `shown`, and until it has
        written something after the last byte of each of `keys`, the last of which must end it."""
        start = time.perf_counter()
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(cwd)
            os.execvpe(args[0], args, {**self.env, "TERM": "xterm"})
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        output = b""
        while shown not in output:
            output += os.read(terminal, 1 << 16)
        seconds = [time.perf_counter() - start]
        for key in keys:
            for byte in key[:-1]:
                os.write(terminal, bytes([byte]))
            self.rest_of_frame(terminal)
            start = time.perf_counter()
            os.write(terminal, key[-1:])
            os.read(terminal, 1 << 16)
            seconds.append(time.perf_counter() - start)
        self.rest_of_frame(terminal)
        os.waitpid(pid, 0)
        os.close(terminal)
        return seconds

    def rest_of_frame(self, terminal):
        while select.select([terminal], [], [], 0.2)[0]:
            try:
                os.read(terminal, 1 << 16)
            except OSError:  # The command has ended.
                return

    def compare(self, what, ours, theirs, rounds, goal_ratio=None, goal_ms=None, before_each=None):
        """Runs both sides in turn and adds a row. A side is (arguments, folder[, stdin])."""
        rounds = max(3, rounds // 4) if self.quick else rounds
        sides = [ours, theirs]
        for side in sides:
            if not before_each:
                self.measure(*side)  # Warm the caches for both sides.
        floor = max(self.measure(["true"], self.folder)[2] for _ in range(3))
        results = [[] for _ in sides]
        for _ in range(rounds):
            for index, side in enumerate(sides):
                if before_each:
                    before_each()
                results[index].append(self.measure(*side))
        middle = [statistics.median(seconds for seconds, _, _ in result) for result in results]
        cpu = [statistics.median(cpu for _, cpu, _ in result) for result in results]
        peaks = [max(memory for _, _, memory in result) for result in results]
        memory = ["small" if peak <= floor * 1.02 else f"{peak / MIB:.0f} MiB" for peak in peaks]
        cells = [
            f"{middle[index] * 1000:,.1f} ms, {cpu[index] * 1000:,.1f} cpu, {memory[index]}"
            for index in range(len(sides))
        ]
        ratio = middle[0] / middle[1]
        goals = []
        met = True
        if goal_ratio is not None:
            goals.append(f"≤ {goal_ratio:.2f}")
            met &= cpu[0] / cpu[1] <= goal_ratio
        if goal_ms is not None:
            goals.append(f"< {goal_ms} ms")
            met &= middle[0] * 1000 < goal_ms
        verdict = ("yes" if met else "**no**") if goals else ""
        self.last_cpu = cpu[0]
        self.row(what, *cells, f"{ratio:.2f}", f"{cpu[0] / cpu[1]:.2f}", ", ".join(goals), verdict)
        return middle[0]

    def row(self, *cells):
        print("| " + " | ".join(cells) + " |", flush=True)

    def repository(self, name):
        """An empty repository with its own identity and without automatic maintenance."""
        path = self.folder / name
        self.run(["git", "init", "--quiet", "--initial-branch=main", str(path)], self.folder)
        settings = {"user.name": "Bench", "user.email": "bench@example.com", "maintenance.auto": "false"}
        for key, value in settings.items():
            self.run(["git", "config", key, value], path)
        self.run(["git", "commit", "--quiet", "--allow-empty", "-m", "start"], path)
        return path

    def record(self, repository, count):
        """Imports items into a repository and returns their file."""
        lines = self.folder / f"items-{count}.jsonl"
        with lines.open("w") as out:
            out.writelines(items(count))
        self.run([self.binary, "import", "jsonl", str(lines)], repository)
        return lines


def items(count, seed=1):
    """Items of CHARS characters as JSON Lines: dialogue of users and models, tool calls and results."""
    rng = random.Random(seed)
    syllables = ["ka", "lo", "mi", "tren", "sur", "pa", "vel", "to", "ri", "gam", "e", "no"]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(4000)]
    for index in range(count):
        text = ""
        while len(text) < CHARS:
            text += rng.choice(words) + " "
        text = text[:CHARS]
        kind = index % 4
        if kind == 0:
            item = {"type": "dialogue", "role": "user", "text": text}
        elif kind == 1:
            item = {"type": "dialogue", "role": "assistant", "text": text}
        elif kind == 2:
            arguments = json.dumps({"pattern": text[: CHARS - 14]})
            item = {"type": "tool_io", "direction": "call", "name": "grep", "call_id": f"c{index}", "text": arguments}
        else:
            call = f"c{index - 1}"
            item = {"type": "tool_io", "direction": "result", "name": "grep", "call_id": call, "text": text}
        yield json.dumps(item) + "\n"


def session(count, seed=1):
    """The lines of a Claude Code session with this many items: files that are read and edited again and again, and commands."""
    rng = random.Random(seed)
    texts = [json.loads(line)["text"] for line in items(1000, seed)]
    parent = None
    for index in range(count):
        step = index % 20
        if step == 0:
            role, content = "user", rng.choice(texts)
        elif step == 1:
            role, content = "assistant", [{"type": "text", "text": rng.choice(texts)}]
        elif step % 2 == 0:
            name = rng.choice(["Read", "Bash", "Edit"])
            arguments = {"command": rng.choice(texts)} if name == "Bash" else {"file_path": f"src/{rng.randint(0, 200)}.rs"}
            role, content = "assistant", [{"type": "tool_use", "id": f"c{index}", "name": name, "input": arguments}]
        else:
            text = " ".join(rng.choices(texts, k=rng.choice([1, 4, 15])))
            role, content = "user", [{"type": "tool_result", "tool_use_id": f"c{index - 1}", "content": text}]
        record = {"type": role, "uuid": f"00000000-0000-4000-a000-{index:012}", "parentUuid": parent, "sessionId": "bench",
                  "isSidechain": False, "cwd": "/", "timestamp": f"2026-03-{index // 43200 + 1:02}T00:00:00Z",
                  "message": {"role": role, "id": f"m{index}", "content": content}}
        parent = record["uuid"]
        yield json.dumps(record) + "\n"


def size_of(repository):
    objects = repository / ".git" / "objects"
    return sum(file.stat().st_size for file in objects.rglob("*") if file.is_file())
