"""How the real agents are called, against a stand-in for the APIs of their models. Used by resume.py and record.py."""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

BINARY, AGENTS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures/transcripts"
WORK = pathlib.Path(tempfile.mkdtemp(prefix="git-trace-agents-"))
PORT = 18000 + os.getpid() % 2000
LOG = WORK / "log"
URL = f"http://127.0.0.1:{PORT}"
PROMPT = "go on with the work"

CODEX = f"""model = "gpt-5"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{URL}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""
GEMINI = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    # It deletes a session that was resumed in a later minute than it started in, when another one starts.
    "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
}
QUIET = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC DISABLE_AUTOUPDATER DISABLE_TELEMETRY DISABLE_ERROR_REPORTING IS_SANDBOX"


class Agent:
    """How an agent is called, where it keeps sessions, and which part of a request holds the messages."""

    def __init__(self, name, program, start, resume, sessions, messages):
        self.name, self.program, self.start, self.resume = name, program, start, resume
        self.sessions, self.messages = sessions, messages

    def installed(self):
        return (AGENTS / self.program).exists()


CLAUDE_FLAGS = ["--dangerously-skip-permissions", "--output-format", "json"]
CODEX_FLAGS = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
AGENTS_LIST = [
    Agent("claude-code", "claude", lambda text: ["-p", text, *CLAUDE_FLAGS], lambda id, text: ["-p", text, "--resume", id, *CLAUDE_FLAGS],
          ".claude/projects/*/*.jsonl", lambda body: body.get("messages") if body.get("tools") else None),
    Agent("codex", "codex", lambda text: ["exec", *CODEX_FLAGS, text], lambda id, text: ["exec", *CODEX_FLAGS, "resume", id, text],
          ".codex/sessions/*/*/*/*.jsonl", lambda body: body.get("input")),
    Agent("gemini-cli", "gemini", lambda text: ["--yolo", "-p", text], lambda id, text: ["--yolo", "--resume", id, "-p", text],
          ".gemini/tmp/*/chats/session-*", lambda body: body.get("contents") if body.get("tools") else None),
]


def environment(home):
    kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "TMPDIR")}
    kept["PATH"] = f"{BINARY.parent}:{kept['PATH']}"  # Plugins call `git-trace`.
    kept |= {"HOME": str(home), "ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": "dummy", "OPENAI_API_KEY": "dummy",
             "GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": URL, "CLAUDE_CODE_MAX_RETRIES": "0"}
    return kept | dict.fromkeys(QUIET.split(), "1")


def run(home, *command):
    done = subprocess.run([str(part) for part in command], cwd=home / "repo", env=environment(home), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=180)
    if done.returncode:
        sys.exit(f"{command} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def new_home(name):
    home = WORK / name
    (home / "repo").mkdir(parents=True)
    for command in ("init -q", "config user.name somebody", "config user.email a@b.c", "commit -q --allow-empty -m start"):
        run(home, "git", *command.split())
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(CODEX)
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text(json.dumps(GEMINI))
    return home


def request(home, agent, arguments):
    """The messages of the last request that the agent sends."""
    LOG.write_text("")
    run(home, AGENTS / agent.program, *arguments)
    bodies = [json.loads(line).get("body") for line in LOG.read_text().splitlines()]
    found = [messages for body in bodies if body and (messages := agent.messages(body))]
    return found[-1] if found else sys.exit(f"{agent.name} sent no request")


def without_repeats(values):
    """Gemini CLI writes each result twice, and sends both when it resumes its own session."""
    return [value for at, value in enumerate(values) if at == 0 or values[at - 1] != value]


def texts(value):
    """All texts, arguments, and results of messages, without ids."""
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    if isinstance(value, dict):
        keys = ("content", "parts", "text", "thinking", "input", "arguments", "output", "functionCall", "args", "functionResponse", "response")
        return [text for key in keys if key in value for text in texts(value[key])] or ([json.dumps(value, sort_keys=True)] if value else [])
    text = str(value)
    return [text] if text.strip() else []


@contextlib.contextmanager
def api():
    """Serves the stand-in, and removes all homes at the end."""
    command = [sys.executable, HERE / "api.py", str(PORT), str(LOG)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(URL, timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        shutil.rmtree(WORK, ignore_errors=True)
