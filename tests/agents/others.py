"""Records a session of Qwen Code, opencode, and GitHub Copilot CLI through their hooks, as tests/agents/run says.

After a tool turn, a second turn, and one with a sub-agent, the trace must hold exactly the messages of the last request and the answer to it, without what the
agent puts before the conversation.
"""
import json
import re
import subprocess
import sys
import time

from agents import AGENTS, BINARY, LOG, URL, api, environment, new_home
from record import expect

OPENCODE = {
    "model": "fake/m", "small_model": "fake/m", "autoupdate": False, "share": "disabled",
    "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": f"{URL}/v1", "apiKey": "dummy"},
                          "models": {"m": {"name": "m", "limit": {"context": 100000, "output": 1000}}}}},
}


class Other:
    """How an agent is called; `id` is the session to continue, if any."""

    def __init__(self, name, program, command, variables, prefix):
        self.name, self.program, self.command, self.variables = name, program, command, variables
        self.prefix = prefix  # Roles of messages that the trace holds before the first prompt.


OTHERS = [
    Other("qwen-code", "qwen", lambda text, id: ["--auth-type", "openai", "--yolo", *(["--resume", id] if id else []), "-p", text],
          {"OPENAI_BASE_URL": f"{URL}/v1", "OPENAI_MODEL": "qwen3"}, ()),
    Other("opencode", "opencode", lambda text, id: ["run", *(["--session", id] if id else []), text],
          {"OPENCODE_CONFIG_CONTENT": json.dumps(OPENCODE), "OPENCODE_DISABLE_MODELS_FETCH": "1"}, ()),
    Other("copilot-cli", "copilot", lambda text, id: ["--allow-all-tools", *([f"--resume={id}"] if id else []), "-p", text],
          {"COPILOT_PROVIDER_BASE_URL": f"{URL}/v1", "COPILOT_PROVIDER_API_KEY": "dummy", "COPILOT_MODEL": "gpt-4", "COPILOT_OFFLINE": "true"},
          ("system",)),
]


def run(home, agent, *command):
    variables = environment(home) | agent.variables
    done = subprocess.run([str(part) for part in command], cwd=home / "repo", env=variables, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    if done.returncode:
        sys.exit(f"{command} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def said(messages):
    """The texts, arguments, and results of messages of the Chat Completions API."""
    texts = []
    for message in messages:
        content = message.get("content") or []
        texts += [content] if isinstance(content, str) else [block.get("text", json.dumps(block)) for block in content]
        texts += [json.dumps(json.loads(call["function"]["arguments"]), sort_keys=True) for call in message.get("tool_calls", [])]
    return re.sub(r"\s+", " ", " ".join(texts)).strip()


def traces(home, agent):
    return run(home, agent, "git", "for-each-ref", "--format=%(refname:lstrip=2)", "refs/traces").split()


def materialized(home, agent, trace):
    return json.loads(run(home, agent, BINARY, "materialize", "--format", "openai", "--aggregate", "none", trace))


def turn(home, agent, prompt, first, session):
    """A turn, after which the trace holds the request and its answer."""
    LOG.write_text("")
    run(home, agent, AGENTS / agent.program, *agent.command(prompt, session))
    bodies = [json.loads(line).get("body") or {} for line in LOG.read_text().splitlines()]
    asked = lambda body: [message for message in body.get("messages", []) if message["role"] == "user"][-1:]
    # The question for a title has no tools, and what Qwen Code asks to keep memories is another prompt.
    sent = [body["messages"] for body in bodies if body.get("tools") and prompt in json.dumps(asked(body))][-1]
    start = next(at for at, message in enumerate(sent) if message["role"] == "user" and first in json.dumps(message))
    expected = said(sent[start:])
    for _ in range(150):  # By the hooks alone: `sessions` would record what they missed.
        listed = [trace for trace in traces(home, agent) if ".agent-" not in trace]
        messages = materialized(home, agent, listed[0]) if listed else []
        messages = [message for message in messages if message["role"] not in agent.prefix]
        found = said(messages[:-1])
        if found == expected:
            break
        time.sleep(0.1)
    expect(agent, f"the turn `{prompt}`", found, expected)
    expect(agent, "the answer", messages[-1]["content"][:13], "Canned answer")
    expect(agent, "the number of sessions", len(listed), 1)
    return listed[0].split("/")[1]


def others(agent):
    home = new_home(agent.name)
    run(home, agent, BINARY, "install", "--agent", agent.name, "--global")
    first = "USE_TOOL echo"
    session = turn(home, agent, "USE_TOOL echo", first, None)
    turn(home, agent, "second thing", first, session)
    if agent.name != "qwen-code":  # It has no tool that starts one, and no file for it.
        turn(home, agent, "USE_AGENT look around", first, session)
        (side,) = [trace for trace in traces(home, agent) if ".agent-" in trace]
        expect(agent, "what the sub-agent was told", "look around" in said(materialized(home, agent, side)), True)
    settings = run(home, agent, BINARY, "doctor")
    expect(agent, "where `doctor` finds hooks", f"{agent.name}: hooks in" in settings, True)
    run(home, agent, BINARY, "uninstall", "--agent", agent.name, "--global")
    print(f"{agent.name}: recorded a session with a tool that was continued")


if __name__ == "__main__":
    with api():
        for agent in OTHERS:
            if (AGENTS / agent.program).exists():
                others(agent)
            else:
                print(f"{agent.name}: skipped, because it is not installed")
