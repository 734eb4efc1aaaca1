"""A repository for one test, with the samples and the environment for it."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


class Place:
    def __init__(self, binary):
        self.binary = str(Path(binary).resolve())
        self.base = Path(tempfile.mkdtemp(prefix="git-trace-mcp-"))
        self.folder = self.base / "repository"
        self.outside = [self.base / "outside.crumb", self.base / "outside.md"]
        self.env = {
            "HOME": str(self.base), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GITTRACE_AGENT": "azoth",
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b",
        }
        self.run("git", "init", "--quiet", str(self.folder), folder=self.base)
        for path in (self.folder / "memory.crumb", self.folder / "my notes \u00e9.crumb", *self.outside):
            shutil.copy(FIXTURES / "crumbs/complete-example.crumb", path)
        (self.folder / "link.crumb").symlink_to(self.outside[0])
        checkpoints = self.folder / "checkpoints"
        checkpoints.mkdir()
        shutil.copy(FIXTURES / "checkpoints/chk-003-breadcrumbs.md", checkpoints)
        # Some of the files that its breadcrumbs refer to.
        services = self.folder / "src/services"
        services.mkdir(parents=True)
        (services / "gemini.ts").write_text("export async function generateImage(prompt: string) {\n  return prompt;\n}\n")

    def run(self, *command, folder=None, check=True):
        done = subprocess.run(command, cwd=folder or self.folder, env=self.env, capture_output=True, text=True)
        assert not check or done.returncode == 0, (command, done)
        return done

    def do(self, command):
        """Runs a step of the calls; `git-trace` stands for the binary."""
        return self.run(*(self.binary if word == "git-trace" else word for word in command))

    def trace(self, *arguments):
        return self.run(self.binary, *arguments).stdout

    def remove(self):
        shutil.rmtree(self.base)
