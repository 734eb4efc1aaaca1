"""Resumes sessions in the real agents, as tests/agents/run says.

For each agent, a first session is recorded and copied: one copy is resumed natively, the other is imported, exported, and resumed
from the export. Both requests must hold the same messages. Sessions of the fixtures are exported and resumed too, and each text
that `git trace materialize` prints must be in the request.
"""
import json
import os
import pathlib
import re
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
    "general": {"enableAutoUpdate": False},
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
CODEX_FLAGS = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
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


def texts(value):
    """All texts, arguments, and results of messages, without ids."""
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    if isinstance(value, dict):
        keys = ("content", "parts", "text", "thinking", "input", "arguments", "output", "functionCall", "args", "functionResponse", "response")
        return [text for key in keys if key in value for text in texts(value[key])] or ([json.dumps(value, sort_keys=True)] if value else [])
    text = str(value)
    return [text] if text.strip() else []


def export(home, agent, source, trace):
    run(home, BINARY, "--trace", trace, "import", *source)
    return json.loads(run(home, BINARY, "export", agent.name, trace, "--json"))["session"]


def own_session(agent):
    """A session that the agent itself recorded: the export resumes like the original."""
    home = new_home(agent.name)
    request(home, agent, agent.start("USE_TOOL echo hi"))
    (session,) = [path for path in home.glob(agent.sessions) if "subagents" not in path.parts]
    before = session.read_bytes()
    exported = export(home, agent, [agent.name, session], "own")
    if session.read_bytes() != before:
        sys.exit(f"{agent.name}: the export changed the original")
    native = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", session.name)
    native = native[0] if native else json.loads(before.splitlines()[0])["sessionId"]
    ours = request(home, agent, agent.resume(exported, PROMPT))
    theirs = request(home, agent, agent.resume(native, PROMPT))
    if texts(ours) != texts(theirs) or len(ours) != len(theirs):
        sys.exit(f"{agent.name}: the export resumes differently:\n{json.dumps(ours, indent=1)}\n{json.dumps(theirs, indent=1)}")
    print(f"{agent.name}: an exported session resumes like the original, {len(ours)} messages")


def sample(agent, file):
    """A session of the fixtures: the request holds each text that is materialized."""
    home = new_home(f"{agent.name}-{file.stem}")
    exported = export(home, agent, [file], "sample")
    page = json.loads(run(home, BINARY, "materialize", "--json", "--aggregate", "none", "sample"))
    said = [message["content"] for message in page["messages"] if message["role"] in ("user", "assistant")]
    # Agents do not send all earlier reasoning again.
    blocks = [block for content in said for block in (content if isinstance(content, list) else [{"text": content}])]
    wanted = [text for block in blocks if block.get("type") != "reasoning" for text in texts(block)]
    sent = "\n".join(texts(request(home, agent, agent.resume(exported, PROMPT))))
    dialogue = [text for text in wanted if not text.startswith("{")]
    missing = [text for text in dialogue if text.strip() not in sent]
    if missing:
        sys.exit(f"{agent.name}: {file.name}: not in the request: {missing[0][:300]}")
    print(f"{agent.name}: {file.name} resumes with its {len(dialogue)} texts")


server = subprocess.Popen([sys.executable, HERE / "api.py", str(PORT), str(LOG)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for _ in range(100):
        try:
            urllib.request.urlopen(URL, timeout=1)
            break
        except OSError:
            time.sleep(0.1)
    for agent in AGENTS_LIST:
        if not agent.installed():
            print(f"{agent.name}: skipped, because it is not installed")
            continue
        own_session(agent)
        fixtures = {"claude-code": "claude-code/compact-boundary.jsonl", "gemini-cli": "gemini-cli/session-chat.json", "codex": "codex/rollout-small.jsonl"}
        if agent.name != "codex":  # A session of another provider, which Codex refuses.
            sample(agent, FIXTURES / fixtures[agent.name])
finally:
    server.terminate()
    shutil.rmtree(WORK, ignore_errors=True)
