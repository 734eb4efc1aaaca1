"""Resumes sessions in the real agents, as tests/agents/run says.

For each agent, a first session is recorded and copied: one copy is resumed natively, the other is imported, exported, and resumed
from the export. Both requests must hold the same messages. Sessions of the fixtures are exported and resumed too, and each text
that `git trace materialize` prints must be in the request.
"""
import json
import re
import sys

from agents import AGENTS_LIST, BINARY, FIXTURES, PROMPT, api, new_home, request, run, texts, without_repeats

def export(home, agent, source, trace):
    run(home, BINARY, "--trace", trace, "import", *source)
    return json.loads(run(home, BINARY, "export", agent.name, trace, "--json"))["session"]


def without_permissions(messages):
    """An export permits nothing, so Codex tells the model what its own configuration permits, in one more message."""
    start = "<permissions instructions>"
    is_one = lambda message: message.get("role") == "developer" and all(part["text"].startswith(start) for part in message["content"])
    return [message for message in messages if not is_one(message)]


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
    ours = without_permissions(request(home, agent, agent.resume(exported, PROMPT)))
    theirs = request(home, agent, agent.resume(native, PROMPT))
    if without_repeats(texts(ours)) != without_repeats(texts(theirs)) or len(ours) != len(theirs):
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


with api():
    for agent in AGENTS_LIST:
        if not agent.installed():
            print(f"{agent.name}: skipped, because it is not installed")
            continue
        own_session(agent)
        fixtures = {"claude-code": "claude-code/compact-boundary.jsonl", "gemini-cli": "gemini-cli/session-chat.json", "codex": "codex/rollout-small.jsonl"}
        if agent.name != "codex":  # A session of another provider, which Codex refuses.
            sample(agent, FIXTURES / fixtures[agent.name])
