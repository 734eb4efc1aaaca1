"""Sends lines that no client would send (invalid, huge, a million) and measures the server's memory."""

import json
import subprocess
import sys
import threading
from pathlib import Path

from place import Place

META = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                  "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
                  "io.modelcontextprotocol/clientCapabilities": {}}}


def request(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**META, **params}}).encode() + b"\n"


def resident(process):
    """Peak memory of a process, in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024


def lifecycles(place):
    """A client may call immediately and identify itself in each request, or begin with a handshake of any older revision."""
    place.trace("breadcrumb", "set", "a.b", "x")
    get = {"name": "get_breadcrumb", "arguments": {"key": "a.b"}}
    sessions = {"2026-07-28": [request(3, "tools/call", **get)]}
    for revision in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "lines", "version": "1"}}
        sessions[revision] = [json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n" for line in (
            {"id": 1, "method": "initialize", "params": hello}, {"method": "notifications/initialized"},
            {"id": 2, "method": "ping"}, {"id": 3, "method": "tools/call", "params": get})]
    for revision, lines in sessions.items():
        done = subprocess.run([place.binary, "mcp"], cwd=place.folder, env=place.env, input=b"".join(lines), capture_output=True)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0 and done.stderr == b"", done
        assert [answer["id"] for answer in answers] == ([1, 2, 3] if len(lines) > 1 else [3]), answers
        assert answers[0]["result"].get("protocolVersion") in (revision, None), answers
        assert answers[-1]["result"]["structuredContent"]["breadcrumb"]["value"] == "x", answers
    print(f"lifecycles: {', '.join(sessions)}")


def main(binary):
    place = Place(binary)
    lifecycles(place)
    process = subprocess.Popen([place.binary, "mcp"], cwd=place.folder, env=place.env,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def ask(line):
        process.stdin.write(line)
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    note = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    assert ask(note + b"\n" + b"not json\n")["error"]["code"] == -32700
    assert ask(b"\xff\xfe\n")["error"]["code"] == -32700
    assert ask(b"[" * 100_000 + b"\n")["error"]["code"] == -32700
    assert ask(b"[]\n")["error"]["code"] == -32600
    assert ask(b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}\n')["error"]["code"] == -32600
    discovered = ask(request(1, "server/discover"))["result"]
    assert discovered["capabilities"]["tools"] == {} and "2026-07-28" in discovered["supportedVersions"]
    assert ask(request(2, "tools/call", name="nope"))["error"]["code"] == -32602
    assert ask(request(3, "tools/call", arguments={}))["error"]["code"] == -32602
    assert ask(request(4, "tools/call", name="brief", arguments=[]))["error"]["code"] == -32602
    assert ask(request(5, "no/such"))["error"]["code"] == -32601
    before = resident(process)

    def flood():
        for _ in range(1000):
            process.stdin.write(note * 900 + b"not json\n" * 50 + request(9, "tools/call", name="nope") * 50)
        process.stdin.write(request("end", "tools/call", name="get_breadcrumb", arguments={"key": "a"}))
        process.stdin.flush()

    writer = threading.Thread(target=flood)
    writer.start()
    answered = 0
    for line in process.stdout:
        answered += 1
        if line.startswith(b'{"jsonrpc":"2.0","id":"end"'):
            break
    writer.join()
    assert answered == 100_001, answered
    grown = resident(process) - before
    assert grown < 64, grown
    large = "x" * (10 << 20)
    answer = ask(request(6, "tools/call", name="set_breadcrumb", arguments={"key": "a", "value": large}))
    assert answer["result"]["isError"], answer
    assert "`value`" in answer["result"]["content"][0]["text"], answer
    answer = ask(request(7, "tools/call", name="trace_commit", arguments={"text": "y" * (10 << 20)}))
    assert not answer["result"].get("isError"), answer["result"]["content"]
    answer = ask(b'{"jsonrpc":"2.0","id":8,"method":"' + b"z" * (80 << 20) + b'"}\n')
    assert answer["error"]["code"] == -32600, answer
    most = resident(process)
    assert most < 700, most
    process.stdin.close()
    assert process.wait(10) == 0
    assert process.stderr.read() == b"", "stderr is for errors"
    place.remove()
    print(f"a million lines: answered {answered}, memory {before} MiB before and {grown} more after; {most} with huge ones")


main(sys.argv[1])
