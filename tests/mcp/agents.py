"""Measures what the tools put before a model: runs Claude Code, Codex, and Gemini CLI with a stand-in for their model.

Usage: tests/mcp/agents.py GIT-TRACE PREFIX

PREFIX is a folder into which npm has installed the agents, `npm install --prefix PREFIX @anthropic-ai/claude-code @openai/codex
@google/gemini-cli`; those that are missing are skipped with a message. The stand-in answers the first request with one call of a
tool. Printed for each call: the growth of the request's body in bytes, and the tokens of the part that holds the tool's answer.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "agents"))
from api import Handler

BUDGET = 2000
CALLS = [
    ("trace_materialize", {"budget": BUDGET}),
    ("trace_show", {"item": "#150", "budget": BUDGET}),
    ("trace_grep", {"pattern": "parser", "budget": BUDGET}),
    ("brief", {}),
    ("trace_status", {}),
    ("trace_commit", {"text": "The parser is done."}),
    ("list_breadcrumbs", {"prefix": "auth."}),
]


class Model(Handler):
    """Answers in the three APIs, always as a stream. `order` is the call to make; `bodies` are the requests."""

    order, bodies = None, []

    def do_GET(self):
        self.reply(b"{}", "application/json")

    def do_POST(self):
        body = self.body()
        for marker, answer in (("/v1/messages", self.anthropic), ("/responses", self.openai), ("enerateContent", self.gemini)):
            if marker in self.path and "count_tokens" not in self.path:
                return answer(body)
        self.reply(b'{"input_tokens": 1, "totalTokens": 1}', "application/json")

    def reply(self, data, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events):
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" if "type" in event else f"data: {json.dumps(event)}\n\n"
                 for event in events)
        self.reply("".join(lines).encode(), "text/event-stream")

    def call(self, body, tools, is_main):
        """The call to answer with, or none: the agent has made it, or asks something else."""
        if not is_main:
            return None
        Model.bodies.append(body)
        if len(Model.bodies) > 1:
            return None
        name, arguments = Model.order
        found = [tool for tool in tools if tool[-1].endswith(name)]
        assert found, (name, tools)
        return found[0], arguments

    def anthropic(self, body):
        tools = [(tool.get("name", ""),) for tool in body.get("tools", [])]
        call = self.call(body, tools, any(name.startswith("mcp__") for name, in tools))
        if call:
            block, delta = {"type": "tool_use", "id": "toolu_1", "name": call[0][0], "input": {}}, {
                "type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": usage}
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        if not body.get("stream"):
            text = {**message, **stop, "content": [{"type": "text", "text": "Done."}]}
            return self.reply(json.dumps(text).encode(), "application/json")
        self.stream([{"type": "message_start", "message": message},
                     {"type": "content_block_start", "index": 0, "content_block": block},
                     {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
                     {"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}])

    def openai(self, body):
        tools = []
        for tool in body.get("tools", []):
            inner = [(tool.get("name", ""), part.get("name", "")) for part in tool.get("tools", [])]
            tools += inner or [(tool.get("name", ""),)]
        call = self.call(body, tools, bool(tools))
        if call:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call[0][-1],
                    "arguments": json.dumps(call[1]), "status": "completed"}
            if len(call[0]) > 1:
                item["namespace"] = call[0][0]
        else:
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}
        done = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        self.stream([{"type": "response.created", "response": {**done, "status": "in_progress", "output": [], "usage": None}},
                     {"type": "response.output_item.done", "output_index": 0, "item": item},
                     {"type": "response.completed", "response": done}])

    def gemini(self, body):
        tools = [(part["name"],) for tool in body.get("tools", []) for part in tool.get("functionDeclarations", [])]
        settings = body.get("generationConfig") or {}
        if settings.get("responseSchema") or settings.get("responseJsonSchema"):
            part = {"text": json.dumps({"reasoning": "x", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1})}
        elif call := self.call(body, tools, bool(tools)):
            part = {"functionCall": {"name": call[0][0], "args": call[1]}}
        else:
            part = {"text": "Done."}
        value = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        if "stream" in self.path:
            self.stream([value])
        else:
            self.reply(json.dumps(value).encode(), "application/json")


def received(body):
    """The parts of a request that hold answers of tools."""
    if "messages" in body:
        content = [block for message in body["messages"] if isinstance(message["content"], list) for block in message["content"]]
        return [block["content"] for block in content if block.get("type") == "tool_result"]
    if "input" in body:
        return [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    return [part["functionResponse"]["response"] for content in body["contents"] for part in content["parts"]
            if "functionResponse" in part]


def text_of(value):
    """The text that a model reads: the texts of blocks, or else the JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all("text" in block for block in value):
        return "\n".join(block["text"] for block in value)
    if isinstance(value, dict) and set(value) == {"output"}:
        return text_of(value["output"])
    return json.dumps(value, ensure_ascii=False)


def claude(home, port, server):
    config = {"mcpServers": {"git-trace": server}}
    return ["-p", "Call it.", "--dangerously-skip-permissions", "--strict-mcp-config", "--mcp-config", json.dumps(config)], {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}", "ANTHROPIC_API_KEY": "dummy", "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_MAX_RETRIES": "0",
        "ENABLE_TOOL_SEARCH": "false"}


def codex(home, port, server):
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").write_text(f"""model = "gpt-5"
model_provider = "stand-in"
[model_providers.stand-in]
name = "stand-in"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[mcp_servers.git-trace]
command = {json.dumps(server["command"])}
args = ["mcp"]
""")
    return ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Call it."], {"OPENAI_API_KEY": "dummy"}


def gemini(home, port, server):
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text(json.dumps({
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False}, "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False}, "mcpServers": {"git-trace": {**server, "trust": True}}}))
    return ["-p", "Call it.", "--yolo"], {"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}", "GEMINI_API_KEY": "dummy"}


AGENTS = {"claude": ("Claude Code", claude), "codex": ("Codex", codex), "gemini": ("Gemini CLI", gemini)}


def repository(home, binary):
    """300 items in a trace, and 50 breadcrumbs."""
    place = home / "repository"
    place.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n")
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def run(*command, text=""):
        subprocess.run(command, cwd=place, env=env, input=text, text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    run("git", "init", "-q")
    sizes = [2000 if number == 150 else 1 + number * 7 % 40 for number in range(300)]
    items = ({"type": "dialogue", "role": ("user", "assistant")[number % 2], "text": f"Step {number} of the \"parser\".\n" * size}
             for number, size in enumerate(sizes))
    run(binary, "import", "jsonl", "-", text="".join(json.dumps(item) + "\n" for item in items))
    for number in range(50):
        run(binary, "breadcrumb", "set", f"auth.k{number}", "a fact about the parser " * 12)
    return place, env


def count(binary, text):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        return int(subprocess.run([binary, "count", file.name], capture_output=True, text=True, check=True).stdout.split()[0])


def measure(binary, program, setup, call):
    home = Path(tempfile.mkdtemp())
    place, env = repository(home, binary)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    Model.order, Model.bodies = call, []
    arguments, more = setup(home, httpd.server_port, {"command": binary, "args": ["mcp"]})
    done = subprocess.run([program, *arguments], cwd=place, env={**env, **more}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=180)
    httpd.shutdown()
    shutil.rmtree(home, ignore_errors=True)
    assert len(Model.bodies) >= 2, (program, call, done.stdout[-1500:], done.stderr[-1500:])
    before, after = Model.bodies[0], Model.bodies[1]
    growth = len(json.dumps(after, ensure_ascii=False).encode()) - len(json.dumps(before, ensure_ascii=False).encode())
    return growth, count(binary, "\n".join(text_of(part) for part in received(after)))


def main(binary, prefix):
    rows = {}
    for program, (name, setup) in AGENTS.items():
        path = Path(prefix) / "node_modules/.bin" / program
        if not path.exists():
            print(f"skipped {name}: {path} is not installed")
            continue
        version = subprocess.run([path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
        number = re.search(r"\d+\.\d+\.\d+", version)
        rows[f"{name} {number[0] if number else ''}"] = [measure(binary, str(path), setup, call) for call in CALLS]
    if not rows:
        return
    print("| Call | " + " | ".join(rows) + " |\n| --- |" + " --- |" * len(rows))
    for index, (tool, arguments) in enumerate(CALLS):
        shown = ", ".join(f"{key}: {value}" for key, value in arguments.items())
        cells = [f"{growth:,} bytes, {tokens:,} tokens" for growth, tokens in (row[index] for row in rows.values())]
        print(f"| `{tool}` {{{shown}}} | " + " | ".join(cells) + " |")
        # Agents add a few words of their own.
        assert all(row[index][1] <= arguments.get("budget", 8000) + 40 for row in rows.values()), tool


main(os.path.abspath(sys.argv[1]), sys.argv[2])
