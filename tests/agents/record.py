"""Records sessions of the real agents through their hooks, as tests/agents/run says.

After each turn, the trace must hold exactly the messages of the last request and the answer to it: after tool turns, rewinds, and a
compaction, as far as an agent offers them without a terminal. Then the session is cleaned and resumed, and the request must hold exactly
the materialized messages. Sessions in parallel, sub-agents and images, also after an export, what Claude Code adds to messages, forks of
Codex, and a session that was killed are recorded, too.
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
        messages = materialized(home, trace) if trace in sessions(home) or ".agent-" in trace else []
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


def attachments(agent):
    """What Claude Code adds to the user's messages is in the trace as it was sent. The agent orders it anew for each request."""
    home = prepared(agent, "attachments")
    repo = home / "repo"
    (repo / "sub").mkdir()
    for name, text in {"notes.txt": "one\ntwo\n", "CLAUDE.md": "Be brief.\n", "sub/CLAUDE.md": "Use tabs.\n", "sub/code.txt": "code\n"}.items():
        (repo / name).write_text(text)
    settings = json.loads((repo / ".claude/settings.json").read_text())
    hook = lambda command: [{"hooks": [{"type": "command", "command": command}]}]
    after_tool = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "after the tool"}}
    settings["hooks"] |= {"UserPromptSubmit": hook("echo with the prompt"), "SessionStart": hook("echo at the start"),
                          "PostToolUse": hook(f"echo '{json.dumps(after_tool)}'")}
    (repo / ".claude/settings.json").write_text(json.dumps(settings))
    words = lambda text: " ".join(sorted(text.split()))
    trace, _ = turn(home, agent, "a mentioned file", agent.start("look at @notes.txt"), form=words)
    resume = lambda text: agent.resume(trace.split("/")[1], text)
    read = {"file_path": str(repo / "sub/code.txt")}
    turn(home, agent, "the memory of a subfolder", resume(f"USE_NAMED Read {json.dumps(read)}"), trace, form=words)
    turn(home, agent, "a mentioned folder", resume("look at @sub/ now"), trace, form=words)
    records = [json.loads(line) for file in home.glob(agent.sessions) for line in file.read_text().splitlines()]
    kinds = {record["attachment"]["type"] for record in records if "attachment" in record}
    wanted = {"agent_listing_delta", "directory", "file", "hook_additional_context", "hook_success", "nested_memory", "skill_listing"}
    expect(agent, "kinds of attachments that were not compared", wanted - kinds, set())
    print(f"{agent.name}: recorded what the agent adds to messages: {len(kinds)} kinds")


class Codex:
    """Codex as editors and its own terminal interface drive it."""

    def __init__(self, home):
        command = [str(AGENTS / "codex"), "app-server"]
        self.server = subprocess.Popen(command, cwd=home / "repo", env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.count = 0
        self.call("initialize", {"clientInfo": {"name": "tests", "version": "1"}, "capabilities": {"experimentalApi": True}})
        self.send({"method": "initialized"})

    def send(self, message):
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()

    def await_message(self, is_it):
        return next(message for message in map(json.loads, self.server.stdout) if is_it(message))

    def call(self, method, params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        answer = self.await_message(lambda message: message.get("id") == self.count and "method" not in message)
        return answer["result"] if "result" in answer else sys.exit(f"codex: {method}: {answer}")

    def turn(self, thread, text):
        """Runs a turn; returns its id and the messages of its request."""
        LOG.write_text("")
        turn = self.call("turn/start", {"threadId": thread, "input": [{"type": "text", "text": text}]})["turn"]["id"]
        self.await_message(lambda message: message.get("method") == "turn/completed")
        return turn, [body["input"] for line in LOG.read_text().splitlines() if (body := json.loads(line).get("body")) and body.get("input")][-1]

    def trust_hooks(self, folder):
        """What the user does in `/hooks`."""
        (listed,) = self.call("hooks/list", {"cwds": [str(folder)]})["data"]
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in listed["hooks"]}
        self.call("config/value/write", {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"})

    def close(self):
        self.server.kill()
        self.server.wait()


def first_prompts(home):
    """The sessions as the picker of Codex shows them."""
    codex = Codex(home)
    found = codex.call("thread/list", {})
    codex.close()
    return [thread["preview"] for thread in found["data"]]


def reverts(agent):
    """The user of Codex returns to earlier turns, which starts another file each time, and forks the session."""
    home = prepared(agent, "reverts")
    codex = Codex(home)
    codex.trust_hooks(home / "repo")
    thread = codex.call("thread/start", {"cwd": str(home / "repo")})["thread"]["id"]

    def turn(what, text, thread=thread):
        turn, sent = codex.turn(thread, text)
        expect_recorded(home, agent, what, f"codex/{thread}", said(sent))
        return turn

    revert = lambda turn: codex.call("thread/revert", {"threadId": thread, "beforeTurnId": turn})
    first, second, _ = [turn("a turn", text) for text in ("first thing", "USE_TOOL echo second", "third thing")]
    revert(second)
    turn("after a revert", "fourth thing")
    fifth = turn("a turn", "fifth thing")
    revert(fifth)
    sixth = turn("after a second revert", "sixth thing")
    fork = codex.call("thread/fork", {"threadId": thread, "lastTurnId": sixth, "cwd": str(home / "repo")})["thread"]["id"]
    turn("a fork", "in the fork", fork)
    revert(first)
    turn("after a revert of everything", "seventh thing")
    codex.close()
    expect(agent, "the sessions", sorted(sessions(home)), sorted([f"codex/{thread}", f"codex/{fork}"]))
    print("codex: recorded four reverts and a fork")


def rewind(agent):
    """A rewind of Gemini CLI, which only its terminal interface offers, is a record in the file."""
    home = prepared(agent, "rewind")
    trace, _ = turn(home, agent, "a turn", agent.start("first thing"))
    session = trace.split("/")[1]
    turn(home, agent, "a second turn", agent.resume(session, "USE_TOOL echo second"), trace)
    file = max(home.glob(agent.sessions), key=lambda file: file.stat().st_mtime)
    records = [json.loads(line) for line in file.read_text().splitlines()]
    prompt = next(record for record in records if record.get("type") == "user" and "echo second" in json.dumps(record["content"]))
    with file.open("a") as log:
        log.write(json.dumps({"$rewindTo": prompt["id"]}) + "\n")
    _, sent = turn(home, agent, "after a rewind", agent.resume(session, "third thing"), trace)
    expect(agent, "what was rewound", "echo second" in said(sent), False)
    print(f"{agent.name}: recorded a rewind")


def parallel(agent):
    home = prepared(agent, "parallel")
    processes = [started(home, agent, f"USE_TOOL sleep 5; echo {word}") for word in ("one", "two")]
    for process in processes:
        expect(agent, "the status of a session in parallel", process.wait(timeout=120), 0)
    found = sorted(re.search(r"USE_TOOL sleep 5; echo (\w+)", said(materialized(home, trace)))[1] for trace in sessions(home))
    expect(agent, "the sessions in parallel", found, ["one", "two"])
    print(f"{agent.name}: recorded two sessions in parallel")


def resumed_export(home, agent, trace):
    """The messages that the agent sends when it resumes the session that `resume` writes."""
    session = json.loads(run(home, BINARY, "resume", "--print", "--json", trace))["session"]
    return request(home, agent, agent.resume(session, PROMPT))


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
    expect(agent, "the image after the session was exported", images(resumed_export(home, agent, trace)), sent)
    print(f"{agent.name}: recorded an image, and exported it")


def sub_agent(agent):
    home = prepared(agent, "sub")
    trace, _ = turn(home, agent, "a turn with a sub-agent", agent.start("USE_AGENT look around"))
    for _ in range(100):  # That of Codex is recorded in the background.
        traces = run(home, "git", "for-each-ref", "--format=%(refname)", "refs/traces").splitlines()
        if len(traces) > 1:
            break
        time.sleep(0.1)
    expect(agent, "the trace of the sub-agent", [len(traces), traces[1].count(".agent-")], [2, 1])
    expect(agent, "what the sub-agent was told", "look around" in said(materialized(home, traces[1].removeprefix("refs/traces/"))), True)
    expected = f"{said(materialized(home, trace))} {PROMPT}"
    expect(agent, "the exported session", said(resumed_export(home, agent, trace)), expected)
    print(f"{agent.name}: recorded a sub-agent, and resumed the exported session")


def started(home, agent, prompt):
    """A process whose session has written its prompt."""
    process = subprocess.Popen([str(AGENTS / agent.program), *agent.start(prompt)], cwd=home / "repo", env=environment(home),
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(900):  # A busy machine needs a minute.
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
            sub_agent(agent)
            if agent.name == "claude-code":
                attachments(agent)
            if agent.name == "codex":
                reverts(agent)
            if agent.name == "gemini-cli":
                rewind(agent)
