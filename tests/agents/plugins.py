"""Installs the plugins in the real agents as docs/install.md says, and uses them, as tests/agents/run says.

The agents accept the files. The hooks of each plugin record a session with a tool. Its request lists the tools of the MCP server and the
skill, and the commands reach the model with their arguments. Codex has no commands of plugins.
"""

from agents import AGENTS, AGENTS_LIST, HERE, LOG, api, new_home, request, run
from record import expect, said, turn

ROOT = HERE.parent.parent
COMMANDS = {
    "claude-code": [
        ["plugin", "validate", "--strict", ROOT],
        ["plugin", "validate", "--strict", ROOT / "plugins/claude-code"],
        ["plugin", "marketplace", "add", ROOT],
        ["plugin", "install", "git-trace@git-trace"],
    ],
    "codex": [["plugin", "marketplace", "add", ROOT], ["plugin", "add", "git-trace@git-trace"]],
    "gemini-cli": [
        ["extensions", "validate", ROOT / "plugins/gemini-cli"],
        ["extensions", "link", ROOT / "plugins/gemini-cli", "--consent"],
    ],
}


def plugin(agent):
    home = new_home(f"{agent.name}-plugin")
    for command in COMMANDS[agent.name]:
        run(home, AGENTS / agent.program, *command)
    turn(home, agent, "a turn recorded by the plugin", agent.start("USE_TOOL echo hi"))
    sent = LOG.read_text()
    for what, name in {"the skill": "when a note must outlive this session", "a tool of the MCP server": "trace_grep"}.items():
        expect(agent, f"{what} in the request", name in sent, True)
    if agent.name != "codex":
        for name, words in {"clean": "--yes --keep 2", "brief": "Run `git trace brief`"}.items():
            prompt = said(request(home, agent, agent.start(f"/git-trace:{name} --keep 2")))
            expect(agent, f"what `/git-trace:{name}` tells the model", words in prompt, True)
    print(f"{agent.name}: installed the plugin, recorded a session, listed its skill and tools, and ran its commands")


with api():
    for agent in AGENTS_LIST:
        if agent.installed():
            plugin(agent)
