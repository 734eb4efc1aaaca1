"""Tests the server with the command line of the MCP inspector: one process per request, in both lifecycles."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from jsonschema import Draft202012Validator

from calls import BAD, SESSION, Run, answer, filled, judge
from place import Place

ERAS = ("modern", "legacy")
# The exit status and error code of the inspector if the server reports a failed call.
REFUSED, IS_ERROR = 5, "tool_is_error"


class Inspector:
    def __init__(self, place, node, script):
        # The inspector passes only these variables to the server.
        env = [word for name, value in place.env.items() for word in ("-e", f"{name}={value}")]
        self.place, self.command = place, [node, script, "--cli", "--format", "json", "--quiet", *env]
        self.requests = 0

    def run(self, method, *arguments, era="modern", tools="all"):
        """The exit status, the answer, and the error if there is one."""
        self.requests += 1
        command = [*self.command, "--method", method, "--protocol-era", era, *arguments,
                   "--", self.place.binary, "mcp", "--tools", tools]
        done = self.place.run(*command, check=False)
        errors = [json.loads(line)["error"] for line in done.stderr.splitlines() if line.startswith('{"error"')]
        return done.returncode, json.loads(done.stdout)["result"] if done.stdout else None, (errors or [None])[0]

    def ask(self, method, *arguments, **how):
        status, result, error = self.run(method, *arguments, **how)
        assert status == 0 and error is None, (method, arguments, status, result, error)
        return result

    def call(self, tool, arguments, era):
        return self.run("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments), era=era)


def lists(inspector):
    """The output schemas, by tool."""
    for era in ERAS:
        few = {tool["name"] for tool in inspector.ask("tools/list", era=era, tools="default")["tools"]}
        assert len(few) == 12 and "trace_commit" in few, few
        # Strict: a schema that some client may not understand is an error.
        tools = inspector.ask("tools/list", "--strict", era=era)["tools"]
        assert len(tools) == 31 and few < {tool["name"] for tool in tools}
        for tool in tools:
            Draft202012Validator.check_schema(tool["inputSchema"])
            Draft202012Validator.check_schema(tool.get("outputSchema", {}))
    return {tool["name"]: Draft202012Validator(tool.get("outputSchema", {})) for tool in tools}


def session(inspector, schemas):
    kept, answered = {}, set()
    for number, step in enumerate(SESSION):
        if isinstance(step, Run):
            inspector.place.do(step.command)
            continue
        status, result, error = inspector.call(step.tool, filled(step.arguments, kept), ERAS[number % 2])
        assert status == 0 and error is None and not result["isError"], (step, status, result, error)
        answered_with = answer(result["content"], result.get("structuredContent"))
        schemas[step.tool].validate(answered_with)
        judge(step, answered_with, kept)
        answered.add(step.tool)
    assert answered == set(schemas), set(schemas) - answered


def refusals(inspector, schemas):
    """The first invalid call of each tool."""
    first = {}
    for tool, argument, arguments in BAD:
        first.setdefault(tool, (argument, arguments))
    assert set(first) == set(schemas), set(schemas) - set(first)

    def refuse(tool):
        argument, arguments = first[tool]
        status, result, error = inspector.call(tool, arguments, "modern")
        assert status == REFUSED and error["code"] == IS_ERROR, (tool, arguments, status, result, error)
        assert result["isError"] and f"`{argument}`" in result["content"][0]["text"], (tool, arguments, result)

    with ThreadPoolExecutor(2) as two:
        list(two.map(refuse, first))


def reading(inspector):
    listed = [resource["uri"] for resource in inspector.ask("resources/list")["resources"]]
    for uri in ("trace://idea", "breadcrumb://auth.zone", "crumb://my%20notes%20%C3%A9.crumb",
                "checkpoint://checkpoints/chk-003-breadcrumbs.md"):
        assert uri in listed, (uri, listed)
        assert inspector.ask("resources/read", "--uri", uri)["contents"][0]["text"], uri
    status, _, error = inspector.run("resources/read", "--uri", "crumb://link.crumb")
    assert status != 0 and "which leaves the work tree" in error["message"], error
    assert len(inspector.ask("resources/templates/list")["resourceTemplates"]) == 5
    assert {prompt["name"] for prompt in inspector.ask("prompts/list")["prompts"]} == {"resume", "leave_crumb"}
    for name, told in (("resume", "azoth"), ("leave_crumb", "forward_crumb_leave")):
        assert told in inspector.ask("prompts/get", "--prompt-name", name)["messages"][-1]["content"]["text"]


def main(binary, node, script):
    place, start = Place(binary), time.monotonic()
    inspector = Inspector(place, node, script)
    schemas = lists(inspector)
    session(inspector, schemas)
    refusals(inspector, schemas)
    reading(inspector)
    place.run("git", "fsck", "--strict")
    place.remove()
    version = subprocess.run([node, script, "--cli", "--version"], capture_output=True, text=True).stdout.strip()
    print(f"inspector {version}: {inspector.requests} requests in {time.monotonic() - start:.0f} s")


main(*sys.argv[1:])
