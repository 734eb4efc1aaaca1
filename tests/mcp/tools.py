"""Calls every tool with valid and invalid arguments in both lifecycles. The client validates each answer by the tool's schema."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from calls import BAD, SESSION, TOKEN, Run, answer, filled, judge
from place import Place

HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint")


def count(place, listed):
    text = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in listed], separators=(",", ":"))
    (place.base / "listed.json").write_text(text)
    return int(place.trace("count", str(place.base / "listed.json")).split()[0])


def server(place, *arguments):
    return StdioServerParameters(command=place.binary, args=["mcp", *arguments], env=place.env, cwd=place.folder)


async def good(client, name, /, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, (name, arguments, result.content)
    return answer([block.model_dump() for block in result.content], result.structured_content)


async def bad(client, name, argument, /, **arguments):
    result = await client.call_tool(name, arguments)
    text = result.content[0].text
    assert result.is_error and f"`{argument}`" in text, (name, argument, arguments, text)


async def session(client, place):
    """The session of all clients, and checks that only this client makes."""
    kept = {}
    for step in SESSION:
        if isinstance(step, Run):
            place.do(step.command)
        else:
            judge(step, await good(client, step.tool, **filled(step.arguments, kept)), kept)
    for form in ("messages", "openai", "responses", "anthropic", "gemini", "text"):
        made = await good(client, "trace_materialize", format=form)
        plain = place.trace("materialize", "--format", form)
        assert made["text"].startswith(plain.rstrip("\n")), (form, made)
    for tool, extra in (("trace_commit", {}), ("trace_edit", {"item": "#0"})):
        told = await client.call_tool(tool, {"text": TOKEN, **extra})
        warning = told.structured_content["warnings"][0]
        assert not told.is_error and "looks like a GitHub token" in warning and TOKEN not in warning, (tool, told)
    assert "Seen from the server" in (place.folder / "memory.crumb").read_text()


async def refusals(client, place):
    before = {path: path.read_bytes() for path in place.outside}
    for tool, argument, arguments in BAD:
        await bad(client, tool, argument, **arguments)
    assert before == {path: path.read_bytes() for path in place.outside}


async def reading(client, place):
    """Resources and prompts."""
    await good(client, "set_breadcrumb", key="db.host", value="localhost")
    item = await good(client, "trace_commit", text="Kept for a resource.")
    uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
    for uri in ("trace://main", "breadcrumb://db.host", "crumb://memory.crumb", "crumb://my%20notes%20%C3%A9.crumb",
                "checkpoint://checkpoints/chk-003-breadcrumbs.md"):
        assert uri in uris, (uri, uris)
        assert (await client.read_resource(uri)).contents[0].text
    branch = (await good(client, "trace_status"))["trace"]
    for name in (item["id"], f"%23{item['seq']}"):
        found = await client.read_resource(f"trace://{branch}/{name}")
        assert json.loads(found.contents[0].text)["text"] == "Kept for a resource."
    assert len((await client.list_resource_templates()).resource_templates) == 5
    for uri in ("trace://none", "crumb://%2e%2e/outside.crumb", "crumb://%FF.crumb", "breadcrumb://none", "crumb://../outside.crumb", "checkpoint://../outside.md",
                "checkpoint://.git/config", "file:///etc/passwd", "crumb://link.crumb"):
        try:
            await client.read_resource(uri)
            raise AssertionError(f"{uri} was read")
        except MCPError:
            pass
    assert {prompt.name for prompt in (await client.list_prompts()).prompts} == {"resume", "leave_crumb"}
    assert "azoth" in (await client.get_prompt("resume")).messages[1].content.text
    assert "forward_crumb_leave" in (await client.get_prompt("leave_crumb")).messages[0].content.text


async def drive(binary, mode):
    place = Place(binary)
    answered, refused = set(), set()
    async with Client(server(place, "--tools", "all"), mode=mode) as client:
        call = client.call_tool

        async def noted(name, arguments=None, **more):
            result = await call(name, arguments, **more)
            (refused if result.is_error else answered).add(name)
            return result

        client.call_tool = noted
        listed = (await client.list_tools()).tools
        for tool in listed:
            assert tool.description, tool
            assert any(getattr(tool.annotations, hint) is not None for hint in HINTS), tool
        tokens = count(place, listed)
        assert tokens < 5000, tokens
        for part in (session, refusals, reading):
            await part(client, place)
        names = {tool.name for tool in listed}
        assert len(names) == 31 and names == answered == refused, (names - answered, names - refused)
        try:
            await client.call_tool("nope", {})
            raise AssertionError("an unknown tool was called")
        except MCPError as error:
            assert "unknown tool" in str(error), error
    place.trace("commit", "--trace", "aside", "-m", "Only told aside.")
    async with Client(server(place, "--trace", "aside"), mode=mode) as client:
        assert "Only told aside." in (await client.get_prompt("resume")).messages[1].content.text
        assert (await good(client, "trace_status"))["trace"] == "aside"
    async with Client(server(place), mode=mode) as client:
        assert "Only told aside." not in (await client.get_prompt("resume")).messages[1].content.text
        few = (await client.list_tools()).tools
        assert count(place, few) <= 2000
        print(f"{mode}: {len(few)} tools in {count(place, few)} tokens, all {len(listed)} in {tokens}")
    place.run("git", "fsck", "--strict")
    beside = {path.name for path in place.base.iterdir()}
    assert beside == {"repository", "listed.json", "outside.crumb", "outside.md"}, beside
    place.remove()


async def many(binary, clients=8, each=25):
    """Eight clients, each with its own server, write to one repository concurrently; nothing is lost."""
    place = Place(binary)

    async def one(number):
        async with Client(server(place), mode="auto") as client:
            for turn in range(each):
                await good(client, "trace_commit", text=f"item {number}.{turn}")
                await good(client, "set_breadcrumb", key=f"k{number}.n{turn}", value=str(turn))

    await asyncio.gather(*(one(number) for number in range(clients)))
    status = json.loads(place.trace("status", "--json"))
    facts = json.loads(place.trace("breadcrumb", "list", "--json"))
    assert status["items"] == clients * each and len(facts) == clients * each, (status, len(facts))
    place.run("git", "fsck", "--strict")
    place.remove()
    print(f"{clients} clients at once: {status['items']} items and {len(facts)} breadcrumbs, none lost")


async def main(binary):
    await drive(binary, "auto")
    await drive(binary, "legacy")
    await many(binary)


asyncio.run(main(sys.argv[1]))
