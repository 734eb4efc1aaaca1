"""For tests with several repositories: git over HTTP, `git http-backend` behind lighttpd, and the end of git's upkeep."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"no server at port {port}")


@contextlib.contextmanager
def http(home, served):
    """Serves the bare repositories in a folder, and yields the address of the folder."""
    program = shutil.which("lighttpd", path=f"{os.environ['PATH']}:/usr/sbin")
    if not program:
        sys.exit("lighttpd is needed")
    git_core = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
    port = free_port()
    settings = pathlib.Path(home) / "lighttpd.conf"
    settings.write_text(f"""
server.modules = ("mod_alias", "mod_cgi", "mod_setenv")
server.bind = "127.0.0.1"
server.port = {port}
server.document-root = "{served}"
server.errorlog = "{home}/lighttpd.log"
alias.url = ("/git" => "{git_core}/git-http-backend")
$HTTP["url"] =~ "^/git" {{
    cgi.assign = ("" => "")
    setenv.add-environment = ("GIT_PROJECT_ROOT" => "{served}", "GIT_HTTP_EXPORT_ALL" => "1")
}}
""")
    server = subprocess.Popen([program, "-D", "-f", str(settings)])
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}/git"
    finally:
        server.terminate()
        server.wait()


def await_upkeep(folder):
    """Waits until git's upkeep in the background is over: `git fsck` would report what it packs away meanwhile as missing."""
    git_dir = folder / ".git" if (folder / ".git").is_dir() else folder
    for _ in range(600):
        if not any((git_dir / lock).exists() for lock in ["objects/maintenance.lock", "gc.pid"]):
            return
        time.sleep(0.1)
