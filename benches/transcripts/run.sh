#!/bin/sh
# Measures the import of a generated rollout of 300 MiB, of all of 277 sessions with 361 MB, and a hook on a transcript of 10 MiB with ten new lines.
# Usage: benches/transcripts/run.sh [PROGRAM]    default: target/release/git-trace
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../../target/release/git-trace}
work=$(mktemp -d "${TMPDIR:-/tmp}/git-trace-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HOME="$work" GIT_CONFIG_NOSYSTEM=1
for who in AUTHOR COMMITTER; do export "GIT_${who}_NAME=bench" "GIT_${who}_EMAIL=bench@example.com"; done
cd "$work"
git init --quiet repo
cd repo
git config maintenance.auto false

python3 "$here/generate.py" codex 300 > ../rollout.jsonl
python3 "$here/corpus.py" "$HOME" "$PWD"
python3 - "$program" ../rollout.jsonl <<'PY'
import glob, os, subprocess, sys, time

def measure(files, *arguments):
    size = sum(map(os.path.getsize, files)) / 1e6
    start = time.monotonic()
    process = subprocess.Popen([sys.argv[1], "import", *arguments, "--json"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    assert status == 0
    print(f"import {arguments[0]}: {size:.0f} MB in {len(files)} files in {seconds:.1f} s, {size / seconds:.0f} MB/s, "
          f"{usage.ru_maxrss / 1000:.0f} MB of memory, {usage.ru_utime + usage.ru_stime:.1f} s of CPU time")

measure([sys.argv[2]], "codex", sys.argv[2])
measure(glob.glob("../.claude/projects/*/*"), "--all")
PY
rm -r ../rollout.jsonl ../.claude

python3 "$here/generate.py" claude-code 10 > ../whole.jsonl
python3 - "$program" <<'PY'
import json, os, statistics, subprocess, sys, time
lines = open("../whole.jsonl", "rb").read().splitlines(keepends=True)
call = json.dumps({"session_id": "s1", "transcript_path": os.path.abspath("../growing.jsonl"), "hook_event_name": "Stop"}).encode()
rounds = 20
size = len(lines) - 10 * rounds
times = []
for number in range(rounds + 1):
    with open("../growing.jsonl", "wb") as file:
        file.writelines(lines[:size + 10 * number])
    start = time.monotonic()
    subprocess.run([sys.argv[1], "hook", "claude-code", "--wait"], input=call, check=True)
    times.append((time.monotonic() - start) * 1000)
times = times[1:]
print(f"hook claude-code: {os.path.getsize('../growing.jsonl') / 1e6:.0f} MB, ten new lines: median {statistics.median(times):.1f} ms, "
      f"best {min(times):.1f} ms, worst {max(times):.1f} ms")
PY
test ! -e .git/trace/hook.log || cat .git/trace/hook.log
