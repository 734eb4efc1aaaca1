"""Runs the commands of the README that record, clean, and resume a session, as tests/agents/run says.

The machine has git, git-trace, and Claude Code. The agent starts as those commands start it, with a prompt in place of a terminal.
"""
import json
import subprocess

from agents import AGENTS, AGENTS_LIST, CLAUDE_FLAGS, HERE, LOG, PROMPT, api, environment, new_home, run
from record import expect, materialized, said, sessions

README = (HERE.parent.parent / "README.md").read_text()


def commands():
    """The lines of the block that the README leaves to this script."""
    block = README.split("<!-- not run: tests/agents/run does, with the real agent -->\n```sh\n")[1].split("```")[0]
    return [line.split(" #")[0].strip() for line in block.splitlines()]


def fresh(agent):
    home = new_home(f"{agent.name}-fresh")
    bin = home / "bin"
    bin.mkdir()
    flags = " ".join(f"'{flag}'" for flag in ["-p", PROMPT, *CLAUDE_FLAGS])
    (bin / agent.program).write_text(f'#!/bin/sh\nexec {AGENTS / agent.program} "$@" {flags}\n')
    (bin / agent.program).chmod(0o755)
    variables = environment(home)
    variables["PATH"] = f"{bin}:{variables['PATH']}"

    def literally(command):
        done = subprocess.run(command, shell=True, cwd=home / "repo", env=variables, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=180)
        expect(agent, f"the status of `{command}`, which printed {done.stdout}{done.stderr}", done.returncode, 0)

    install, clean, resume = commands()
    literally(install)
    run(home, AGENTS / agent.program, *agent.start("USE_STEPS 13 seq 1 1500"))
    (trace,) = sessions(home)
    before = said(materialized(home, trace))
    literally(clean)
    cleaned = said(materialized(home, f"{trace}.clean"))
    expect(agent, "the cleaned session is shorter", len(cleaned) < len(before) * 0.9, True)
    LOG.write_text("")
    literally(resume)
    bodies = [json.loads(line).get("body") for line in LOG.read_text().splitlines()]
    sent = [messages for body in bodies if body and (messages := agent.messages(body))]
    expected = f"{cleaned} {PROMPT}"
    # After many steps, the agent adds a reminder.
    expect(agent, "the resumed session", said(sent[-1])[: len(expected)], expected)
    print(f"{agent.name}: the README's {len(commands())} commands recorded, cleaned, and resumed a session")


with api():
    (claude,) = [agent for agent in AGENTS_LIST if agent.name == "claude-code"]
    if claude.installed():
        fresh(claude)
