#!/usr/bin/env python3
"""A stand-in for the model APIs that coding agents call, so that real agents run without a network.

    api.py PORT LOG          serves 127.0.0.1:PORT until it is terminated; each request is one JSON line in LOG

It answers the Anthropic Messages API, the OpenAI Responses and Chat Completions APIs, and the Gemini API, streaming or not. The last user text
chooses the answer; anything else gets a canned sentence:

    USE_TOOL COMMAND             one call of the agent's shell tool with that command (up to the end of the line)
    USE_STEPS N COMMAND          N calls of it, one after another (Claude Code)
    USE_NAMED NAME {JSON}        one call of the tool NAME with these arguments (MCP tools too)
    USE_AGENT PROMPT             one call of the sub-agent tool
    USE_ERROR STATUS             an HTTP error
"""
import gzip, json, re, subprocess, sys, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHELLS = ("Bash", "exec_command", "shell_command", "run_shell_command", "shell", "bash")
USAGE = {"input_tokens": 17, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 200, "output_tokens": 30}


def order(text, tools):
    """The call that the user's text asks for, as (name, arguments), or None."""
    if found := re.search(r"USE_NAMED (\S+) (\{.*\})", text, re.S):
        return found[1], json.loads(found[2])
    if found := re.search(r"USE_TOOL ?(.*)", text):
        shell = next((name for name in SHELLS if name in tools), None)
        command = found[1].strip() or "echo hello"
        arguments = {"exec_command": {"cmd": command}, "shell": {"command": ["sh", "-c", command]}}
        return shell and (shell, arguments.get(shell, {"command": command, "description": "run it"}))
    if found := re.search(r"USE_AGENT (.*)", text):
        name = next((name for name in ("Task", "Agent", "spawn_agent", "invoke_agent", "task") if name in tools), None)
        arguments = {"spawn_agent": {"message": found[1]}, "invoke_agent": {"agent_name": "generalist", "prompt": found[1]}}
        task = {"description": "sub job", "prompt": found[1], "subagent_type": "general-purpose"}
        if name == "task":  # That of opencode takes the first type, that of GitHub Copilot CLI the rest.
            task |= {"subagent_type": "general", "agent_type": "general-purpose", "name": "sub", "mode": "sync"}
        return name and (name, arguments.get(name, task))
    if "complete_task" in tools:  # How a sub-agent of Gemini CLI ends.
        return "complete_task", {"result": {"response": "Canned answer of a sub-agent."}}
    return None


def next_step(messages, tools):
    """The next of the calls that USE_STEPS asks for, or None."""
    done = 0
    for message in reversed(messages):
        if message["role"] == "assistant":
            done += 1
        elif found := re.search(r"USE_STEPS (\d+) ([^\n\"]+)", texts(message.get("content"))):
            return order(f"USE_TOOL {found[2]}", tools) if done < int(found[1]) else None
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "") == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        coding = self.headers.get("Content-Encoding")
        if coding == "gzip":
            raw = gzip.decompress(raw)
        elif coding == "zstd":  # Codex compresses; needs the zstd program
            raw = subprocess.run(["zstd", "-dc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
        return json.loads(raw or b"{}")

    def answer(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events, named=True):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            head = f"event: {event['type']}\n" if named else ""
            self.wfile.write(f"{head}data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def do_GET(self):
        record({"method": "GET", "path": self.path})
        self.answer({"data": [], "models": [], "object": "list"})

    def do_POST(self):
        body = self.body()
        record({"method": "POST", "path": self.path, "body": body})
        path = self.path.split("?")[0]
        if found := re.search(r"USE_ERROR (\d+)", json.dumps(body)[-4000:]):
            return self.answer({"type": "error", "error": {"type": "api_error", "message": "asked for"}}, int(found[1]))
        if path.endswith("/v1/messages"):
            return self.anthropic(body)
        if path.endswith("/responses"):
            return self.openai(body)
        if path.endswith("/chat/completions"):
            return self.chat(body)
        if "enerateContent" in path:
            return self.gemini(body, "stream" in path)
        counts = {"count_tokens": {"input_tokens": 123}, "countTokens": {"totalTokens": 123}}
        self.answer(next((value for name, value in counts.items() if name in path), {}))

    def anthropic(self, body):
        since = []  # content since the assistant spoke last
        for message in reversed(body["messages"]):
            if message["role"] == "assistant":
                break
            content = message["content"]
            since += [{"type": "text", "text": content}] if isinstance(content, str) else content
        answered = any(block.get("type") == "tool_result" for block in since)
        call = None if answered else order(" ".join(b.get("text", "") for b in since), {t.get("name") for t in body.get("tools", [])})
        call = call or next_step(body["messages"], {t.get("name") for t in body.get("tools", [])})
        if call:
            blocks = [{"type": "tool_use", "id": "toolu_" + uuid.uuid4().hex[:20], "name": call[0], "input": call[1]}]
        else:
            blocks = [{"type": "text", "text": f"Canned answer to {len(body['messages'])} messages."}]
        stop = "tool_use" if call else "end_turn"
        message = {"id": "msg_" + uuid.uuid4().hex[:20], "type": "message", "role": "assistant", "model": body.get("model"),
                   "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": USAGE}
        if not body.get("stream"):
            return self.answer(message)
        events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
        for index, block in enumerate(blocks):
            text = block["type"] == "text"
            start = {"type": "text", "text": ""} if text else {**block, "input": {}}
            delta = {"type": "text_delta", "text": block["text"]} if text else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [{"type": "content_block_start", "index": index, "content_block": start},
                       {"type": "content_block_delta", "index": index, "delta": delta},
                       {"type": "content_block_stop", "index": index}]
        events += [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 30}},
                   {"type": "message_stop"}]
        self.stream(events)

    def openai(self, body):
        items = body["input"] if isinstance(body["input"], list) else [{"type": "message", "content": body["input"]}]
        last = items[-1] if items else {}
        spaces = {tool["name"]: tool for tool in body.get("tools", []) if tool.get("type") == "namespace"}
        space_of = {tool["name"]: name for name, space in spaces.items() for tool in space["tools"]}
        tools = {tool.get("name") for tool in body.get("tools", [])} | set(space_of)
        call = order(texts(last), tools) if last.get("type", "message") == "message" else None
        if spawned := re.search(r'"agent_id": *"([^"]+)"', str(last.get("output"))):
            call = "wait_agent", {"targets": [spawned[1]], "timeout_ms": 20000}
        if call:
            item = {"type": "function_call", "id": "fc_" + uuid.uuid4().hex, "call_id": "call_" + uuid.uuid4().hex[:20],
                    "name": call[0], "arguments": json.dumps(call[1]), "status": "completed"}
            item |= {"namespace": space_of[call[0]]} if call[0] in space_of else {}
        else:
            text = {"type": "output_text", "text": f"Canned answer to {len(items)} items.", "annotations": []}
            item = {"type": "message", "id": "msg_" + uuid.uuid4().hex, "role": "assistant", "status": "completed", "content": [text]}
        usage = {"input_tokens": 1500, "input_tokens_details": {"cached_tokens": 1000}, "output_tokens": 42,
                 "output_tokens_details": {"reasoning_tokens": 10}, "total_tokens": 1542}
        response = {"id": "resp_" + uuid.uuid4().hex, "object": "response", "status": "completed", "model": body.get("model"),
                    "output": [item], "usage": usage}
        if not body.get("stream"):
            return self.answer(response)
        self.stream([{"type": "response.created", "response": {**response, "status": "in_progress", "output": [], "usage": None}},
                     {"type": "response.output_item.done", "output_index": 0, "item": item},
                     {"type": "response.completed", "response": response}])

    def chat(self, body):
        last = body["messages"][-1]
        tools = {tool.get("function", tool).get("name") for tool in body.get("tools") or []}
        call = None if last["role"] == "tool" else order(texts(last), tools)
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            said = {"content": None, "tool_calls": [{"index": 0, "id": "call_" + uuid.uuid4().hex[:20], "type": "function", "function": function}]}
        else:
            said = {"content": f"Canned answer to {len(body['messages'])} messages."}
        finish = {"index": 0, "finish_reason": "tool_calls" if call else "stop"}
        message = {"role": "assistant", **said}
        usage = {"prompt_tokens": 1500, "completion_tokens": 42, "total_tokens": 1542, "prompt_tokens_details": {"cached_tokens": 1000}}
        value = {"id": "chatcmpl-" + uuid.uuid4().hex, "created": 1, "model": body.get("model"), "usage": usage}
        if not body.get("stream"):
            return self.answer({**value, "object": "chat.completion", "choices": [{**finish, "message": message}]})
        chunk = {**value, "object": "chat.completion.chunk", "usage": None}
        self.stream([{**chunk, "choices": [{"index": 0, "finish_reason": None, "delta": message}]},
                     {**chunk, "choices": [{**finish, "delta": {}}]}, {**chunk, "choices": [], "usage": usage}], named=False)

    def gemini(self, body, streaming):
        contents = body.get("contents", [])
        last = contents[-1] if contents else {}
        tools = {f["name"] for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])}
        call = None if "functionResponse" in json.dumps(last) else order(texts(last), tools)
        settings = body.get("generationConfig") or {}
        if settings.get("responseSchema") or settings.get("responseJsonSchema"):  # routing and turn-taking questions
            part = {"text": json.dumps({"reasoning": "x", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1})}
        elif call:
            part = {"functionCall": {"name": call[0], "args": call[1]}}
        else:
            part = {"text": f"Canned answer to {len(contents)} contents."}
        value = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 900, "candidatesTokenCount": 20, "totalTokenCount": 920}, "modelVersion": "gemini-x"}
        self.stream([value], named=False) if streaming else self.answer(value)


def texts(value):
    """All texts in a message or content, one after another."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(texts(part) for part in value)
    return " ".join(texts(value[key]) for key in ("content", "parts", "text") if key in value) if isinstance(value, dict) else ""


def record(entry):
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    LOG = sys.argv[2]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
