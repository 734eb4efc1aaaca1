"""See `run`."""

import datetime
import http.server
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import yaml

ROOT, BINARY = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
TOKEN = "the-token-of-the-job"
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"
PROMPT = f"Add a limit @everyone <img src=x onerror=alert(1)> `a` [b](https://evil.example) {SECRET}"
NOW = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)


class Host(http.server.BaseHTTPRequestHandler):
    """The comments of a pull request of GitHub and of a merge request of GitLab, after 120 comments of people."""

    comments = {}
    # Those of the job. Somebody else wrote the marker in number 7.
    own = set()
    may_write = True

    @classmethod
    def reset(cls):
        cls.comments = {number: f"comment {number}" for number in range(1, 121)}
        cls.comments[7] = "<!-- git-trace review -->\nnot ours"
        cls.own = set()

    @classmethod
    def ours(cls):
        return [body for number, body in cls.comments.items() if number > 120]

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_request(self):
        authorized = self.headers.get("Authorization") == f"Bearer {TOKEN}" or self.headers.get("PRIVATE-TOKEN") == TOKEN
        if not authorized or (self.command != "GET" and not self.may_write):
            return self.answer(403, {"message": "Resource not accessible by integration"})
        path, _, query = self.path.partition("?")
        if path == "/user":
            return self.answer(403, {"message": "Resource not accessible by integration"})
        if path == "/api/v4/user":
            return self.answer(200, {"username": "project_7_bot"})
        if path not in LISTS and not any(path.startswith(f"{edit}/") for edit in EDITS):
            return self.answer(404, {"message": "Not Found"})
        if self.command == "GET":
            page = int(re.search(r"(?<![a-z_])page=(\d+)", query).group(1))
            member, login, bot = ("author", "username", "project_7_bot") if path == GITLAB else ("user", "login", "github-actions[bot]")
            author = lambda number: {member: {login: bot if number in self.own else "somebody"}}
            found = [{"id": number, "body": body} | author(number) for number, body in sorted(self.comments.items())]
            return self.answer(200, found[100 * (page - 1) : 100 * page])
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        number = len(self.comments) + 1 if path in LISTS else int(path.rsplit("/", 1)[1])
        self.comments[number] = body
        self.own.add(number)
        return self.answer(201 if path in LISTS else 200, {"id": number})

    do_GET = do_POST = do_PATCH = do_PUT = handle_request

    def log_message(self, *_):
        pass


GITLAB = "/api/v4/projects/7/merge_requests/3/notes"
LISTS = ["/repos/team/tool/issues/5/comments", GITLAB]
EDITS = ["/repos/team/tool/issues/comments", GITLAB]


def run(*command, folder, env, **options):
    done = subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def make_archives(work):
    """The archives of a release, one for each libc, because this machine's decides which one is installed."""
    run("strip", "-o", work / "git-trace", BINARY, folder=ROOT, env=os.environ)
    run("packaging/stage", work / "git-trace", work / "staged", folder=ROOT, env=os.environ)
    for libc in ["gnu", "musl"]:
        target = f"{platform.machine()}-unknown-linux-{libc}"
        run("packaging/archive", work / "staged", target, work / "archives", folder=ROOT, env=os.environ | {"XZ_OPT": "-0"})
    return f"file://{work / 'archives'}"


def at(minute):
    """A time before now, as git and agents write it."""
    return (NOW - datetime.timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")


def session(folder):
    """Two prompts of Claude Code, a failed attempt, and an edit."""
    path = str(folder / "limit.rs")
    call = lambda name, **given: [{"type": "tool_use", "id": f"call-{name}", "name": name, "input": given}]
    result = lambda name: [{"type": "tool_result", "tool_use_id": f"call-{name}", "content": "done"}]
    said = [
        ("user", PROMPT),
        ("assistant", call("Write", file_path=path, content="pub fn limit() -> usize {\n    five()\n}\n")),
        ("user", result("Write")),
        ("user", "Make it six"),
        ("assistant", call("Edit", file_path=path, old_string="five()", new_string="number_six()")),
        ("user", result("Edit")),
    ]
    parent, lines = None, []
    for number, (role, content) in enumerate(said):
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"model": "claude-opus-4-6", "id": f"msg_{number}"}
        uuid = f"00000000-0000-4000-a000-0000000000{number:02}"
        lines.append(json.dumps({"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "cwd": str(folder),
            "timestamp": at(50 - number), "isSidechain": False, "message": message}))
        parent = uuid
    return "\n".join(lines) + "\n"


class World:
    """A remote whose branch `feature` an agent wrote, with the trace of its session."""

    def __init__(self, work):
        self.work = work
        self.env = {"HOME": str(work / "home"), "PATH": f"{work / 'bin'}:{os.environ['PATH']}", "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com"}
        for folder in ["home", "bin", "author"]:
            (work / folder).mkdir()
        (work / "bin/git-trace").symlink_to(BINARY.resolve())
        self.author = (work / "author").resolve()
        self.git("init", "--quiet", "-b", "main")
        self.git("init", "--quiet", "--bare", "-b", "main", work / "remote.git")
        self.git("remote", "add", "origin", work / "remote.git")
        (self.author / "main.rs").write_text("fn main() {}\n")
        self.commit(60)
        self.git("switch", "--quiet", "-c", "feature")
        (self.author / "limit.rs").write_text("pub fn limit() -> usize {\n    number_six()\n}\n")
        (self.author / "by-hand.txt").write_text("a line that no agent wrote\n")
        self.git("push", "--quiet", "origin", "main")
        self.record()
        self.commit(30)
        self.git("push", "--quiet", "origin", "feature")
        self.base, self.head = (self.git("rev-parse", name) for name in ["main", "feature"])

    def git(self, *arguments, **extra):
        return run("git", *arguments, folder=self.author, env=self.env | extra)

    def commit(self, minute):
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "work", GIT_AUTHOR_DATE=at(minute), GIT_COMMITTER_DATE=at(minute))

    def record(self):
        """Imports the session, and shortens the result of its first call."""
        (self.work / "s1.jsonl").write_text(session(self.author))
        self.git("trace", "import", "claude-code", self.work / "s1.jsonl")
        self.git("trace", "--trace", "claude-code/s1", "edit", "#2", "-m", "shorter", "--reason", "it said @everyone too much")

    def checkout(self, name, *options):
        """A clone, as a job has it."""
        folder = self.work / name
        run("git", "clone", "--quiet", *options, f"file://{self.work / 'remote.git'}", folder, folder=self.work, env=self.env)
        run("git", "checkout", "--quiet", "--detach", "origin/feature", folder=folder, env=self.env)
        return folder


def run_action(world, folder, source, address, run_number):
    """Runs the steps of action.yml; returns the summary of the job and the folder of the artifact."""
    runner = world.work / f"runner-{folder.name}-{run_number}"
    runner.mkdir()
    values = {"inputs.version": "", "inputs.source": source, "inputs.remote": "origin", "inputs.token": TOKEN,
        "github.event.pull_request.base.sha": world.base, "github.event.pull_request.head.sha": world.head,
        "github.event.pull_request.number": "5", "runner.temp": str(runner)}
    expand = lambda text: re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda match: values[match[1]], text)
    env = {name: value for name, value in world.env.items() if not name.startswith("GIT_")} | {
        "PATH": os.environ["PATH"], "RUNNER_TEMP": str(runner), "GITHUB_ACTION_PATH": str(ROOT / "packaging/review"),
        "GITHUB_API_URL": address, "GITHUB_REPOSITORY": "team/tool", "GITHUB_STEP_SUMMARY": str(runner / "summary.md")}
    for step in yaml.safe_load((ROOT / "packaging/review/action.yml").read_text())["runs"]["steps"]:
        if "run" in step:
            assert "${{" not in step["run"], "names reach commands through the environment only"
            given = {name: expand(value) for name, value in step.get("env", {}).items()}
            run("bash", "-e", "-o", "pipefail", "-c", step["run"], folder=folder, env=env | given)
        else:
            path = pathlib.Path(expand(step["with"]["path"]))
            shutil.copytree(path, runner / "artifact")
            values[f"steps.{step['id']}.outputs.artifact-url"] = f"https://example.com/artifacts/{run_number}"
    summary = runner / "summary.md"
    return summary.read_text() if summary.exists() else "", runner / "artifact"


def run_gitlab(world, folder, source, address, token):
    job = yaml.safe_load((ROOT / "packaging/review/gitlab.yml").read_text())["git-trace-review"]
    builds = world.work / "builds"
    builds.mkdir(exist_ok=True)
    env = {name: value for name, value in world.env.items() if not name.startswith("GIT_")} | {
        name: str(value) for name, value in job["variables"].items()
    } | {"PATH": os.environ["PATH"], "GIT_TRACE_FILES": f"file://{ROOT / 'packaging'}", "GIT_TRACE_SOURCE": source,
        "CI_BUILDS_DIR": str(builds), "CI_API_V4_URL": f"{address}/api/v4", "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_IID": "3", "CI_MERGE_REQUEST_DIFF_BASE_SHA": world.base, "CI_COMMIT_SHA": world.head,
        "CI_JOB_URL": "https://example.com/jobs/1", "GIT_TRACE_TOKEN": token}
    return run("bash", "-e", "-o", "pipefail", "-c", "\n".join(job["before_script"] + job["script"]), folder=folder, env=env)


def check_comment(comment):
    """The comment says what is behind the lines, and nothing of it is a mention, a link, or HTML."""
    assert comment.startswith("<!-- git-trace review -->\n"), comment
    for wanted in ["3 of 4 added lines are from 1 session", "`claude-code/s1`", "`claude-opus-4-6`", "`#0`", "`#3` `Make it six`",
        "`limit.rs`", "- `edit` `#2`: `it said @everyone too much`", "[The pages of the sessions](https://example.com/"]:
        assert wanted in comment, f"{wanted} is missing:\n{comment}"
    assert SECRET not in comment
    bare = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", comment.split("[The pages")[0].removeprefix("<!-- git-trace review -->"))
    assert not re.search(r"[<@\[]|http", bare), bare


def main(work):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    source = make_archives(work)
    world = World(work)

    Host.reset()
    summary, _ = run_action(world, world.checkout("before"), source, address, 1)
    assert [summary, len(Host.ours())] == ["", 1], Host.ours()
    assert "0 of 4 added lines are from a recorded session" in Host.ours()[0], Host.ours()
    print("a pull request without a trace gets a comment that says so")

    world.git("trace", "push", "origin")
    for number in [2, 3]:
        summary, artifact = run_action(world, world.checkout(f"job-{number}"), source, address, number)
        assert [summary, len(Host.ours())] == ["", 1], Host.ours()
        check_comment(Host.ours()[0])
        assert f"artifacts/{number})" in Host.ours()[0]
        pages = list(artifact.iterdir())
        assert [page.name for page in pages] == ["1-claude-code-s1.html"], pages
        assert "Make it six" in pages[0].read_text() and SECRET not in pages[0].read_text()
    print("later runs update that comment")

    Host.may_write = False
    summary, _ = run_action(world, world.checkout("fork"), source, address, 4)
    check_comment(summary)
    assert "artifacts/4" not in Host.ours()[0]
    print("without the right to comment, it is in the summary of the job")
    Host.may_write = True

    shallow = world.checkout("shallow", "--depth", "1", "--no-single-branch")
    env = world.env | {"BASE": world.base.replace(world.base[:4], "0000", 1), "HEAD": world.head}
    refused = subprocess.run([ROOT / "packaging/review/review", "write", work / "refused"], cwd=shallow, env=env, text=True, capture_output=True)
    assert refused.returncode == 1 and "fetch-depth: 0" in refused.stderr, refused
    print("a clone that lacks the commits is refused")

    Host.reset()
    for name in ["gitlab-1", "gitlab-2"]:
        folder, outside = world.checkout(name), work / f"outside-{name}"
        # As the merge request may have it.
        outside.mkdir()
        (folder / "git-trace-review").symlink_to(outside)
        run_gitlab(world, folder, source, address, TOKEN)
        assert not list(outside.iterdir())
        assert len(Host.ours()) == 1, Host.ours()
        check_comment(Host.ours()[0])
        assert (folder / "git-trace-review/pages/1-claude-code-s1.html").exists()
    assert "Make it six" in run_gitlab(world, world.checkout("gitlab-3"), source, address, "")
    print("the job of GitLab posts a note, updates it, and prints it without a token")


with tempfile.TemporaryDirectory() as folder:
    main(pathlib.Path(folder))
