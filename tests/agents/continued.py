"""Resumes exported sessions in opencode, GitHub Copilot CLI, and pi, as tests/agents/run says.

A session that the agent recorded is imported, exported, and resumed: the request must hold the same messages as that of a native resume.
So must that of a session of Claude Code hold the materialized messages. The trace records what follows.
"""
import json
import re
import sys
import time

from agents import AGENTS, BINARY, FIXTURES, LOG, PROMPT, URL, api, new_home
from others import OTHERS, Other, materialized, run, said, traces
from record import expect

PI = {"providers": {"fake": {"baseUrl": f"{URL}/v1", "api": "openai-completions", "apiKey": "dummy", "models": [{"id": "m"}]}}}
MODEL = ["--provider", "fake", "--model", "m"]
CONTINUED = [
    *(agent for agent in OTHERS if agent.name != "qwen-code"),
    Other("pi", "pi", lambda text, id: [*MODEL, *(["--session", id] if id else []), "-p", text], {"PI_OFFLINE": "1"}, ()),
]
# What GitHub Copilot CLI puts before a prompt, and what opencode puts around one.
ADDED = re.compile(r"<current_datetime>[^<]*</current_datetime>")


def prompt(agent):
    """opencode quotes an argument with spaces."""
    return {"role": "user", "content": f'"{PROMPT}"' if agent.name == "opencode" else PROMPT}


def messages(home, agent, arguments):
    """The messages of the last request of a turn, without the prompts of the agent."""
    LOG.write_text("")
    run(home, agent, AGENTS / agent.program, *arguments)
    bodies = [json.loads(line).get("body") or {} for line in LOG.read_text().splitlines()]
    sent = [body["messages"] for body in bodies if body.get("tools")][-1]
    return [message for message in sent if message["role"] not in ("system", "developer")]


def spoken(sent):
    return re.sub(r"\s+", " ", ADDED.sub("", said(sent))).strip()


def session_file(home, agent):
    """The session that the agent recorded, and its id."""
    if agent.name == "opencode":
        listed = run(home, agent, AGENTS / agent.program, "session", "list")
        session = re.search(r"ses_\w+", listed)[0]
        file = home / "session.json"
        file.write_text(run(home, agent, AGENTS / agent.program, "export", session))
        return session, file
    pattern = ".pi/agent/sessions/*/*.jsonl" if agent.name == "pi" else ".copilot/session-state/*/events.jsonl"
    (file,) = home.glob(pattern)
    return (file.stem.split("_")[1] if agent.name == "pi" else file.parent.name), file


def export(home, agent, trace):
    """Exports a trace, and lets the agent take it in."""
    report = json.loads(run(home, agent, BINARY, "export", agent.name, trace, "--json"))
    if agent.name == "opencode":
        run(home, agent, AGENTS / agent.program, "import", report["file"])
    return report["session"], report["file"]


def expect_recorded(home, agent, trace, file, before):
    """Expects the prompt and its answer in the trace. pi has no hooks."""
    if agent.name == "pi":
        run(home, agent, BINARY, "import", "pi", file)
    for _ in range(100):
        after = [message for message in materialized(home, agent, trace) if message["role"] not in ("system", "developer")]
        if len(after) == len(before) + 2:
            break
        time.sleep(0.1)
    expect(agent, "what was recorded", [spoken([message]) for message in after[:-1]], [spoken([message]) for message in [*before, prompt(agent)]])
    expect(agent, "the answer", after[-1]["content"][:13], "Canned answer")
    expect(agent, "the traces", [name for name in traces(home, agent) if "/" in name], [])


def continued(agent):
    home = new_home(f"{agent.name}-continued")
    if agent.name == "pi":
        (home / ".pi/agent").mkdir(parents=True)
        (home / ".pi/agent/models.json").write_text(json.dumps(PI))
    run(home, agent, AGENTS / agent.program, *agent.command("USE_TOOL echo", None))
    session, file = session_file(home, agent)
    run(home, agent, AGENTS / agent.program, *agent.command("second thing", session))
    _, file = session_file(home, agent)
    run(home, agent, BINARY, "--trace", "own", "import", agent.name, file)
    exported, own_file = export(home, agent, "own")
    native = messages(home, agent, agent.command(PROMPT, session))
    if agent.name != "pi":
        run(home, agent, BINARY, "install", "--agent", agent.name, "--global")
    before = [message for message in materialized(home, agent, "own") if message["role"] not in ("system", "developer")]
    ours = messages(home, agent, agent.command(PROMPT, exported))
    expect(agent, "the resumed session", [spoken([message]) for message in ours], [spoken([message]) for message in native])
    expect_recorded(home, agent, "own", own_file, before)
    for name in ("compact-boundary", "small-thinking-tools"):
        run(home, agent, BINARY, "--trace", name, "import", FIXTURES / f"claude-code/{name}.jsonl")
        exported, file = export(home, agent, name)
        before = [message for message in materialized(home, agent, name) if message["role"] not in ("system", "developer")]
        model = ["--model", "fake/m"] if agent.name == "opencode" else []
        ours = messages(home, agent, [*agent.command(PROMPT, exported), *model])
        expect(agent, f"the resumed session {name}", spoken(ours), spoken([*before, prompt(agent)]))
        expect_recorded(home, agent, name, file, before)
    print(f"{agent.name}: three exported sessions were resumed and recorded")


with api():
    for agent in (agent for agent in CONTINUED if agent.name in sys.argv[3:] or not sys.argv[3:]):
        if (AGENTS / agent.program).exists():
            continued(agent)
        else:
            print(f"{agent.name}: skipped, because it is not installed")
