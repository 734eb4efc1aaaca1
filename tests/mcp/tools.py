"""Calls every tool with good and bad arguments in both lifecycles; the client judges each answer by the tool's schema."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from place import Place

# A token as none was ever given out.
TOKEN = "ghp_" + "a1B2" * 9
HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint")


def count(place, listed):
    text = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in listed], separators=(",", ":"))
    (place.base / "listed.json").write_text(text)
    return int(place.trace("count", str(place.base / "listed.json")).split()[0])


def server(place, tools="all"):
    return StdioServerParameters(command=place.binary, args=["mcp", "--tools", tools], env=place.env, cwd=place.folder)


async def good(client, name, /, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, (name, arguments, result.content)
    return result.structured_content


async def bad(client, name, argument, /, **arguments):
    result = await client.call_tool(name, arguments)
    text = result.content[0].text
    assert result.is_error and f"`{argument}`" in text, (name, argument, arguments, text)


async def breadcrumbs(client, place):
    assert (await good(client, "set_breadcrumb", key="auth.method", value="JWT", task_id=15))["created"]
    assert not (await good(client, "set_breadcrumb", key="auth.method", value="JWT RS256"))["created"]
    found = await good(client, "get_breadcrumb", key="auth.method")
    assert found["breadcrumb"]["value"] == "JWT RS256" and found["breadcrumb"]["task_id"] == 15, found
    assert await good(client, "get_breadcrumb", key="no.such") == {"found": False}
    place.trace("breadcrumb", "set", "auth.zone", "from the command line")
    listed = await good(client, "list_breadcrumbs", prefix="auth.", limit=1, sort="updated", order="desc")
    assert listed["total"] == 2 and listed["breadcrumbs"][0]["key"] == "auth.zone", listed
    assert (await good(client, "list_breadcrumbs", task_id=15))["total"] == 1
    assert (await good(client, "list_breadcrumbs", updated_before="2025-11-21T00:00:00Z"))["total"] == 0
    assert (await good(client, "delete_breadcrumb", key="auth.method")) == {"success": True, "deleted": True}
    assert (await good(client, "delete_breadcrumb", key="auth.method")) == {"success": True, "deleted": False}
    await bad(client, "set_breadcrumb", "key", value="x")
    await bad(client, "set_breadcrumb", "key", key="a b", value="x")
    await bad(client, "set_breadcrumb", "value", key="a", value=3)
    await bad(client, "set_breadcrumb", "value", key="a", value="x" * (10 << 20))
    await bad(client, "set_breadcrumb", "value", key="a", value=TOKEN)
    await bad(client, "set_breadcrumb", "task_id", key="a", value="x", task_id="15")
    await bad(client, "get_breadcrumb", "kye", kye="a")
    await bad(client, "list_breadcrumbs", "limit", limit=0)
    await bad(client, "list_breadcrumbs", "sort", sort="size")
    await bad(client, "list_breadcrumbs", "order", order="up")
    await bad(client, "list_breadcrumbs", "updated_before", updated_before="yesterday")
    await bad(client, "delete_breadcrumb", "key")


async def forward(client, place):
    left = await good(client, "forward_crumb_leave", session_summary="Split the parser.", priority="HIGH",
                      key_discoveries='["spans lie within"]', unfinished_business=["Build the detector"],
                      emotional_state='{"L": 2.1}', references={"thread_ids": ["parser_split"]}, crumb_type="task")
    assert "Build the detector" in left["text"] and left["metadata"]["agent_id"] == "azoth", left
    await good(client, "forward_crumb_leave", session_summary="And on.", parent_crumb=left["id"])
    got = await good(client, "forward_crumbs_get", priority_filter="HIGH", crumb_type="task", limit=5)
    assert got["unfinished_tasks"] == ["Build the detector"] and got["most_recent"]["id"] == left["id"], got
    assert got["key_references"]["thread_ids"] == ["parser_split"], got
    await bad(client, "forward_crumb_leave", "session_summary")
    await bad(client, "forward_crumb_leave", "session_summary", session_summary=" ")
    await bad(client, "forward_crumb_leave", "key_discoveries", session_summary="x", key_discoveries="no JSON")
    await bad(client, "forward_crumb_leave", "references", session_summary="x", references={"a": 3})
    await bad(client, "forward_crumb_leave", "priority", session_summary="x", priority="URGENT")
    await bad(client, "forward_crumb_leave", "parent_crumb", session_summary="x", parent_crumb="beef")
    await bad(client, "forward_crumbs_get", "priority_filter", priority_filter="URGENT")
    await bad(client, "forward_crumbs_get", "lookback_hours", lookback_hours=-1)


async def trace(client, place):
    assert (await good(client, "trace_status"))["items"] == 0
    await good(client, "trace_commit", text="Be brief.", type="instruction", name="style")
    asked = await good(client, "trace_commit", text="Where is the limit set?", fields={"meta": {"k": 1}})
    place.trace("commit", "-r", "assistant", "-m", "In src/lib.rs.")
    status = await good(client, "trace_status")
    assert status["items"] == 3 and status["by_type"] == {"dialogue": 2, "instruction": 1}, status
    for form in ("messages", "openai", "responses", "anthropic", "gemini", "text"):
        made = await good(client, "trace_materialize", format=form)
        plain = place.trace("materialize", "--format", form)
        assert made["messages"] == (plain if form == "text" else json.loads(plain)), (form, made)
    await good(client, "trace_materialize", aggregate="none", recent=1, as_of=asked["commit"])
    edited = await good(client, "trace_edit", item=asked["id"], text="Where is the budget set?", reason="clearer")
    assert edited["revision"] == 2, edited
    assert (await good(client, "trace_show", item=asked["id"], revision=1))["text"] == "Where is the limit set?"
    await good(client, "trace_priority", item="#1", level="skip", reason="settled")
    assert (await good(client, "trace_show", item=asked["id"]))["priority"] == "skip"
    await good(client, "trace_delete", item=asked["id"])
    assert not (await good(client, "trace_show", item=asked["id"]))["live"]
    await good(client, "trace_restore", item=asked["id"])
    assert len((await good(client, "trace_log", item=asked["id"]))["commits"]) == 4
    assert (await good(client, "trace_grep", pattern="budget"))["total"] == 1
    assert (await good(client, "trace_grep", pattern="limit"))["total"] == 0
    assert (await good(client, "trace_grep", pattern="limit", history=True))["total"] == 1
    assert (await good(client, "trace_branch", name="idea"))["created"] == "idea"
    assert len((await good(client, "trace_branch"))["traces"]) == 2
    await good(client, "trace_commit", text="On the side.", trace="idea")
    await good(client, "trace_diff", states=["main", "idea"])
    await good(client, "trace_diff", states=[asked["id"]])
    assert (await good(client, "trace_merge", other="idea"))["result"] == "fast_forward"
    await good(client, "trace_edit", item=asked["id"], text="ours")
    await good(client, "trace_edit", item=asked["id"], text="theirs", trace="idea")
    assert len((await good(client, "trace_merge", other="idea"))["conflicts"]) == 1
    assert (await good(client, "trace_merge", other="idea", strategy="theirs"))["result"] == "merge"
    await good(client, "trace_switch", name="idea")
    assert (await good(client, "trace_status"))["trace"] == "idea"
    assert (await good(client, "trace_compress", summary="It was found.", keep=1))["items"] == 1
    for tool, extra in (("trace_commit", {}), ("trace_edit", {"item": asked["id"]})):
        told = await client.call_tool(tool, {"text": TOKEN, **extra})
        warning = told.content[1].text
        assert not told.is_error and "looks like a GitHub token" in warning and TOKEN not in warning, (tool, told)
    await bad(client, "trace_commit", "text")
    await bad(client, "trace_commit", "type", text="x", type="No Type")
    await bad(client, "trace_commit", "role", text="x", role="nobody")
    await bad(client, "trace_commit", "priority", text="x", priority="high")
    await bad(client, "trace_commit", "trace", text="x", trace="a..b")
    await bad(client, "trace_commit", "reason", text="x", reason="why")
    await bad(client, "trace_materialize", "format", format="xml")
    await bad(client, "trace_materialize", "aggregate", aggregate="all")
    await bad(client, "trace_materialize", "budget", budget=0)
    await bad(client, "trace_status", "trace", trace=3)
    await bad(client, "trace_edit", "text", item="#0")
    await bad(client, "trace_priority", "level", item="#0", level="high")
    await bad(client, "trace_show", "revision", item="#0", revision=-1)
    await bad(client, "trace_log", "grep", grep="(")
    await bad(client, "trace_grep", "pattern", pattern="(")
    await bad(client, "trace_diff", "states", states=["nope"])
    await bad(client, "trace_branch", "start", name="more", start="nope")
    await bad(client, "trace_switch", "name", name="nope")
    await bad(client, "trace_merge", "other", other="nope")
    await bad(client, "trace_merge", "strategy", other="idea", strategy="mine")
    await bad(client, "trace_compress", "summary", summary=" ")
    for name in ("trace_edit", "trace_delete", "trace_restore", "trace_priority", "trace_show"):
        more = {"level": "skip"} if name == "trace_priority" else {}
        await bad(client, name, "item", **more)
        await bad(client, name, "item", item="beefbeef", text="x", **more) if name == "trace_edit" else \
            await bad(client, name, "item", item="beefbeef", **more)


async def files(client, place):
    assert "findings" in await good(client, "crumb_validate", file="memory.crumb")
    await good(client, "crumb_note", file="memory.crumb", text="Seen from the server")
    await good(client, "crumb_fail", file="memory.crumb", key="test:flaky", text="It hangs", agent="A")
    assert "Seen from the server" in (place.folder / "memory.crumb").read_text()
    assert "findings" in await good(client, "checkpoint_validate")
    await good(client, "checkpoint_validate", file="checkpoints/chk-003-breadcrumbs.md")
    (place.base / "outside.crumb").write_bytes((place.folder / "memory.crumb").read_bytes())
    (place.folder / "link.crumb").symlink_to(place.base / "outside.crumb")
    for path in ("../outside.crumb", str(place.base / "outside.crumb"), "link.crumb", ".git/config", "none.crumb"):
        await bad(client, "crumb_validate", "file", file=path)
        await bad(client, "crumb_note", "file", file=path, text="x")
        await bad(client, "checkpoint_validate", "file", file=path)
    await bad(client, "crumb_note", "text", file="memory.crumb")
    await bad(client, "crumb_fail", "agent", file="memory.crumb", key="k", text="t", agent="ab")
    await bad(client, "checkpoint_follow", "breadcrumb")
    brief = await good(client, "brief", breadcrumbs=["auth."])
    assert "azoth" in brief["text"] and brief["tokens"] <= 800, brief
    await bad(client, "brief", "budget", budget="much")


async def reading(client, place):
    """Resources and prompts."""
    await good(client, "set_breadcrumb", key="db.host", value="localhost")
    item = await good(client, "trace_commit", text="Kept for a resource.")
    uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
    for uri in ("trace://main", "breadcrumb://db.host", "crumb://memory.crumb",
                "checkpoint://checkpoints/chk-003-breadcrumbs.md"):
        assert uri in uris, (uri, uris)
        assert (await client.read_resource(uri)).contents[0].text
    branch = (await good(client, "trace_status"))["trace"]
    found = await client.read_resource(f"trace://{branch}/{item['id']}")
    assert json.loads(found.contents[0].text)["text"] == "Kept for a resource."
    assert len((await client.list_resource_templates()).resource_templates) == 5
    (place.base / "outside.md").write_text("outside")
    for uri in ("trace://none", "breadcrumb://none", "crumb://../outside.crumb", "checkpoint://../outside.md",
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
    called = set()
    async with Client(server(place), mode=mode) as client:
        call = client.call_tool

        async def noted(name, arguments=None, **more):
            called.add(name)
            return await call(name, arguments, **more)

        client.call_tool = noted
        listed = (await client.list_tools()).tools
        for tool in listed:
            assert tool.output_schema and tool.description, tool
            assert any(getattr(tool.annotations, hint) is not None for hint in HINTS), tool
        tokens = count(place, listed)
        assert tokens < 7000, tokens
        for part in (trace, breadcrumbs, forward, files, reading):
            await part(client, place)
        missed = {tool.name for tool in listed} - called
        assert not missed, missed
        try:
            await client.call_tool("nope", {})
            raise AssertionError("an unknown tool was called")
        except MCPError as error:
            assert "unknown tool" in str(error), error
    async with Client(server(place, "default"), mode=mode) as client:
        few = (await client.list_tools()).tools
        assert count(place, few) < 2500
        print(f"{mode}: {len(few)} tools in {count(place, few)} tokens, all {len(listed)} in {tokens}")
    place.run("git", "fsck", "--strict")
    place.remove()


async def many(binary, clients=8, each=25):
    """Eight clients with a server each write to one repository at the same time; nothing is lost."""
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
