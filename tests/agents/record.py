"""Records sessions of the real agents through their hooks, as tests/agents/run says.

After each turn, the trace must hold exactly the messages of the last request and the answer to it: after tool turns, a rewind, and a
compaction, as far as an agent offers them without a terminal. Then the session is cleaned and resumed, and the request must hold exactly
the materialized messages. Sessions in parallel, a sub-agent, images, and a session that was killed are recorded, too.
"""
import base64
import json
import os
import re
import signal
import subprocess
import sys
import time

from agents import AGENTS, AGENTS_LIST, BINARY, LOG, PROMPT, api, environment, new_home, request, run, without_repeats

# What an agent puts before the conversation of each request, and does not write into its file.
PREFIX = re.compile(r"^<system-reminder>\nAs you answer")

# Eight by eight pixels.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII="


def text_of(block):
    """A block of a request or of our messages, without ids and names."""
    if isinstance(block, str):
        return block
    if isinstance(block, list):
        return "\n".join(text_of(part) for part in block)
    for key in ("input", "arguments", "args"):
        if key in block:
            value = block[key]
            return json.dumps(json.loads(value) if isinstance(value, str) else value, sort_keys=True)
    for key in ("functionCall", "functionResponse", "response", "text", "content", "output", "error"):
        if key in block:
            return text_of(block[key])
    return json.dumps(block)


def said(messages):
    """All that messages say as one text: where one message ends, providers and agents decide."""
    texts = []
    for message in messages:
        if message.get("role") == "developer" or (message.get("role") == "system" and message.get("is_ours")):
            continue  # Codex writes its instructions again for each session.
        content = message.get("content", message.get("parts", message))
        blocks = content if isinstance(content, list) else [content]
        texts += [text for text in map(text_of, blocks) if not PREFIX.match(text)]
    plain = re.sub(r"</?system-reminder>", "", "\n".join(without_repeats(texts)))
    return re.sub(r"\s+", " ", plain).strip()


def materialized(home, trace):
    page = json.loads(run(home, BINARY, "materialize", "--json", "--aggregate", "none", trace))
    return [{**message, "is_ours": True} for message in page["messages"]]


def sessions(home):
    return [json.loads(line)["trace"] for line in run(home, BINARY, "sessions", "--json").splitlines()]


def expect(agent, what, found, expected):
    if found == expected:
        return
    if isinstance(found, str) and isinstance(expected, str):
        at = next((at for at, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
        found, expected = f"…{found[max(0, at - 60):at + 200]}", f"…{expected[max(0, at - 60):at + 200]}"
    sys.exit(f"{agent.name}: {what}:\n  found    {found}\n  expected {expected}")


def expect_recorded(home, agent, what, trace, expected, form=str):
    """Expects these messages and an answer, soon: an agent may end before its last hook, and a slow hook continues in the background."""
    for _ in range(100):
        messages = materialized(home, trace)
        found = form(said(messages[:-1]))
        if found == expected:
            break
        time.sleep(0.1)
    expect(agent, what, found, expected)
    expect(agent, what, messages[-1]["content"][:13], "Canned answer")


def turn(home, agent, what, arguments, trace=None, form=str):
    """A turn, after which the trace holds the request and its answer; `form` is applied to both texts."""
    sent = request(home, agent, arguments)
    trace = trace or sessions(home)[0]
    expect_recorded(home, agent, what, trace, form(said(sent)), form)
    return trace, sent


def prepared(agent, name):
    home = new_home(f"{agent.name}-{name}")
    with (home / ".codex/config.toml").open("a") as config:
        config.write(f'[projects."{home}/repo"]\ntrust_level = "trusted"\n')
    run(home, BINARY, "install", "--agent", agent.name)
    return home


def own_turns(agent):
    home = prepared(agent, "turns")
    trace, _ = turn(home, agent, "a tool turn", agent.start("USE_TOOL seq 1 3000"))
    session = trace.split("/")[1]
    turn(home, agent, "a second turn", agent.resume(session, "second thing"), trace)
    if agent.name == "claude-code":
        (file,) = [path for path in home.glob(agent.sessions) if "subagents" not in path.parts]
        first = [record for record in map(json.loads, file.read_text().splitlines()) if record["type"] == "assistant"][1]
        rewind = ["--resume-session-at", first["uuid"]]
        _, sent = turn(home, agent, "a rewind", [*agent.resume(session, "another second thing"), *rewind], trace)
        expect(agent, "the rewound turn", said(sent).count("second thing"), 1)
    copies = cleaned(home, agent, trace)
    before = len(materialized(home, trace))
    if agent.name == "codex":
        turn(home, agent, "a compaction", ["-c", "model_auto_compact_token_limit=1000", *agent.resume(session, "after compaction")], trace)
    else:
        run(home, AGENTS / agent.program, *agent.resume(session, "/compact" if agent.name == "claude-code" else "/compress"))
        # Claude Code moves its lists of agents and skills behind the user's messages.
        words = lambda text: " ".join(sorted(text.split()))
        turn(home, agent, "a compaction", agent.resume(session, "after compaction"), trace, form=words)
    if agent.name != "gemini-cli":  # Its list of messages after a compaction begins with a known one, as after a rewind.
        log = run(home, BINARY, "log", "--oneline", trace)
        expect(agent, "the compaction is one commit", len(re.findall(r" compress \d+ items", log)), 1)
    expect(agent, "the sessions", sorted(sessions(home)), sorted([trace, *copies]))
    print(f"{agent.name}: recorded a session with a tool, a compaction, and a cleaned copy, {before} messages")


def cleaned(home, agent, trace):
    """The cleaned session resumes with exactly the materialized messages."""
    run(home, BINARY, "clean", "--yes", "--keep", "1", trace)
    clean = f"{trace}.clean"
    resumed, again = (json.loads(run(home, BINARY, "resume", "--print", "--json", clean)) for _ in range(2))
    expect(agent, "the agent of the cleaned session", resumed["agent"], agent.name)
    expect(agent, "the id of a session that is exported again", resumed["session"] == again["session"], False)
    expected = f"{said(materialized(home, clean))} {PROMPT}"
    if "2999 3000" in expected:
        sys.exit(f"{agent.name}: nothing was cut")
    sent = request(home, agent, agent.resume(resumed["session"], PROMPT))
    expect(agent, "the cleaned session", said(sent), expected)
    expect_recorded(home, agent, "what follows it", clean, expected)
    if agent.name == "codex":
        expect(agent, "the first prompts in the list of sessions", set(first_prompts(home)), {"USE_TOOL seq 1 3000"})
    sent = request(home, agent, agent.resume(again["session"], PROMPT))
    expect(agent, "the session that was exported again", said(sent), expected)
    expect_recorded(home, agent, "what follows that one", f"{agent.name}/{again['session']}", expected)
    return [clean, f"{agent.name}/{again['session']}"]


def first_prompts(home):
    """The sessions as the picker of Codex shows them."""
    server = subprocess.Popen([str(AGENTS / "codex"), "app-server"], cwd=home / "repo", env=environment(home), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    client = {"clientInfo": {"name": "tests", "version": "1"}}
    calls = [{"id": 1, "method": "initialize", "params": client}, {"method": "initialized"}, {"id": 2, "method": "thread/list", "params": {}}]
    server.stdin.write("".join(f"{json.dumps(call)}\n" for call in calls))
    server.stdin.flush()
    answers = (json.loads(line) for line in server.stdout)
    found = next(answer for answer in answers if answer.get("id") == 2)
    server.kill()
    server.wait()
    return [thread["preview"] for thread in found["result"]["data"]]


def parallel(agent):
    home = prepared(agent, "parallel")
    # Gemini CLI deletes the file of a session without messages when another one starts.
    processes = [started(home, agent, f"USE_TOOL sleep 5; echo {word}") for word in ("one", "two")]
    for process in processes:
        expect(agent, "the status of a session in parallel", process.wait(timeout=120), 0)
    found = sorted(re.search(r"USE_TOOL sleep 5; echo (\w+)", said(materialized(home, trace)))[1] for trace in sessions(home))
    expect(agent, "the sessions in parallel", found, ["one", "two"])
    print(f"{agent.name}: recorded two sessions in parallel")


def images(messages):
    """The images in messages, in base64."""
    return set(re.findall(r"(?:iVBORw0KGgo|/9j/|UklGR)[A-Za-z0-9+/=]{20,}", json.dumps(messages)))


def image(agent):
    """An image that the model gets is in the trace as it was sent, also after the session was resumed."""
    home = prepared(agent, "image")
    picture = home / "repo/picture.png"
    picture.write_bytes(base64.b64decode(PICTURE))
    start = {
        "claude-code": lambda: agent.start(f'USE_NAMED Read {{"file_path": "{picture}"}}'),
        "codex": lambda: [*agent.start("look at it")[:-1], f"--image={picture}", "look at it"],
        "gemini-cli": lambda: agent.start("look at @picture.png"),
    }
    form = {"claude-code": "anthropic", "codex": "responses", "gemini-cli": "gemini"}[agent.name]
    sent = images(request(home, agent, start[agent.name]()))
    expect(agent, "the images that were sent", len(sent), 1)
    (trace,) = sessions(home)
    recorded = lambda: images(json.loads(run(home, BINARY, "materialize", "--format", form, trace)))
    expect(agent, "the recorded image", recorded(), sent)
    again = images(request(home, agent, agent.resume(trace.split("/")[1], "look again")))
    expect(agent, "the image after the session was resumed", (again, recorded()), (sent, sent))
    print(f"{agent.name}: recorded an image")


def sub_agent(agent):
    home = prepared(agent, "sub")
    trace, _ = turn(home, agent, "a turn with a sub-agent", agent.start("USE_AGENT look around"))
    traces = run(home, "git", "for-each-ref", "--format=%(refname)", "refs/traces").splitlines()
    expect(agent, "the trace of the sub-agent", [len(traces), traces[1].count(".agent-")], [2, 1])
    expect(agent, "what the sub-agent was told", "look around" in said(materialized(home, traces[1].removeprefix("refs/traces/"))), True)
    print(f"{agent.name}: recorded a sub-agent")


def started(home, agent, prompt):
    """A process whose session has written its prompt."""
    process = subprocess.Popen([str(AGENTS / agent.program), *agent.start(prompt)], cwd=home / "repo", env=environment(home),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(300):
        if any(prompt in path.read_text() for path in home.glob(agent.sessions)):
            break
        time.sleep(0.1)
    return process


def kill(home, agent, seconds):
    """Kills a session in its first turn."""
    process = started(home, agent, f"USE_TOOL sleep {seconds}")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def crash(agent):
    """A session that is killed in its first turn is imported, and later ones are recorded by the next hook."""
    home = prepared(agent, "crash")
    kill(home, agent, 100)
    run(home, BINARY, "import", agent.name)
    (trace,) = sessions(home)
    expect(agent, "the session that was killed", "USE_TOOL sleep 100" in said(materialized(home, trace)), True)
    request(home, agent, agent.start("hello"))
    kill(home, agent, 200)
    request(home, agent, agent.start("hello again"))
    for _ in range(200):  # In the background.
        traces = run(home, "git", "for-each-ref", "--format=%(refname:lstrip=2)", "refs/traces").split()
        if len(traces) == 4:
            break
        time.sleep(0.1)
    found = [trace for trace in traces if "USE_TOOL sleep 200" in said(materialized(home, trace))]
    expect(agent, "the recorded sessions, and those of them that were killed later", (len(traces), len(found)), (4, 1))
    print(f"{agent.name}: recorded sessions that were killed in their first turn")


if __name__ == "__main__":
    with api():
        for agent in AGENTS_LIST:
            if len(sys.argv) > 3 and agent.name != sys.argv[3]:
                continue
            if not agent.installed():
                print(f"{agent.name}: skipped, because it is not installed")
                continue
            own_turns(agent)
            parallel(agent)
            crash(agent)
            image(agent)
            if agent.name == "claude-code":
                sub_agent(agent)
