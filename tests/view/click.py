"""Clicks through pages of `git trace view` in a headless Chromium.

A page must load nothing, log nothing, obey its own policy, and open no dialog, and its controls must work. This must hold with
hostile text in every field and without the script.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from playwright.sync_api import expect, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(sys.argv[1]).resolve()
SESSION = ROOT / "tests/fixtures/transcripts/claude-code/small-thinking-tools.jsonl"
HOSTILE = "</script></pre><script>document.title='got in'</script><!--<img src=x onerror=\"document.title='got in'\">\"onfocus='alert(1)' &lt;"
UNSEEN = "\x1b[31m\u202egnp.exe\u202c\u200b\U000e0041\U000e0042\x00"


class Repo:
    """A separate repository with its own settings."""

    def __init__(self, folder):
        self.folder = folder
        who = {f"GIT_{role}_{part}": "ada" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        self.env = {"PATH": f"{BINARY.parent}:{os.environ['PATH']}", "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **who}
        folder.mkdir()
        self.run("git", "init", "--quiet")

    def run(self, *args, data=None):
        done = subprocess.run(args, cwd=self.folder, env=self.env, input=data, capture_output=True)
        assert done.returncode == 0, (args, done.stderr.decode())
        return done.stdout.decode()

    def trace(self, *args, data=None):
        return self.run(BINARY, *args, data=data)

    def page(self, *args):
        file = self.folder / "page.html"
        self.trace("view", "-o", file, *args)
        return file


def sample(folder):
    repo = Repo(folder)
    repo.trace("init", "release-fix")
    repo.trace("import", "claude-code", SESSION)
    repo.run("git", "config", "trace.budget", "45000")
    repo.trace("commit", "-t", "instruction", "--name", "style", "-m", "Answer in one sentence.\nName files with their line.")
    repo.trace("pin", "#2", "-m", "the task")
    repo.trace("skip", "#7", "#11", "-m", "whole files, of which one line mattered")
    repo.trace("branch", "try-another-way", "#9")
    repo.trace("edit", "#17", "-m", "Done.\nThe timeout of the notarization is 45 minutes.\nNothing else changed.", "--reason", "too long")
    repo.trace("edit", "#17", "-m", "Done.\nThe timeout of the notarization is 50 minutes.\nNothing else changed.", "--reason", "a slip")
    repo.trace("commit", "-t", "artifact", "--set", "media_type=image/png", "--set", "path=shot.png", "-", data=bytes(range(256)))
    repo.trace("commit", "-m", "A remark that was taken back.")
    repo.trace("delete", "#26", "-m", "off topic")
    repo.trace("--trace", "try-another-way", "commit", "-m", "What if it is retried instead?")
    return repo


def hostile(folder):
    repo = Repo(folder)
    repo.run("git", "config", "trace.budget", "300")
    fields = ["name", "call_id", "kind", "path", "language", "media_type", "format", "turn", "own_field"]
    item = {"type": "freeform", "text": f"{HOSTILE}\n{HOSTILE}\n", "subject": HOSTILE, "meta": {HOSTILE: HOSTILE}}
    line = json.dumps({**item, **{field: HOSTILE for field in fields}})
    repo.trace("commit", "--batch", data=f"{line}\n".encode())
    repo.trace("edit", "#0", "-m", f"{HOSTILE}\n{UNSEEN[:-1]}\n", "--reason", HOSTILE)
    repo.trace("pin", "#0", "-m", HOSTILE)
    repo.trace("commit", "-", data=f"{HOSTILE}{UNSEEN}".encode())
    repo.trace("delete", "#1", "-m", HOSTILE)
    for name in ["a<b>", "x\"onclick=alert(1)", "y'&z"]:
        repo.run("git", "update-ref", f"refs/traces/{name}", "refs/traces/main")
    return repo


class Watch:
    """Opens a page and records everything that it must not do."""

    def __init__(self, context, file):
        self.faults, self.requests = [], []
        self.page = page = context.new_page()
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.add_init_script("addEventListener('securitypolicyviolation', (e) => console.log('policy:', e.violatedDirective))")
        page.goto(file.as_uri())
        self.title = page.title()

    def done(self, file):
        assert not self.faults, self.faults
        others = [url for url in self.requests if url not in (file.as_uri(), "data:,")]
        assert not others, others
        assert self.page.title() == self.title
        self.page.close()


def shown(page, selector):
    return page.locator(f"{selector}:visible").count()


def click_sample(context, file, shots):
    watch = Watch(context, file)
    page = watch.page
    assert page.title() == "release-fix · trace"
    every = page.locator(".item").count()
    assert every == 24, every
    steps = shown(page, ".step")
    if shots:
        page.screenshot(path=shots / "top.png")

    page.get_by_label("tool_io").uncheck()
    assert shown(page, ".item[data-type=tool_io]") == 0 and shown(page, ".item") == every - 10
    assert shown(page, ".step") < steps, "steps go with their items"
    assert page.locator("#count").inner_text() == f"{every - 10} of {every} items"
    page.get_by_label("tool_io").check()
    page.get_by_label("normal").uncheck()
    assert shown(page, ".item") == shown(page, ".item[data-state=pinned]") + shown(page, ".item[data-state=skip]") > 0
    page.get_by_label("normal").check()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("50 minutes")
    expect(page.locator("#count")).to_contain_text("1 of ")
    assert shown(page, ".item") == 1
    page.locator("#words").fill("")
    expect(page.locator("#count")).to_contain_text(f"{every} of ")

    item = page.locator(".item", has=page.locator("summary .badge", has_text="revision 3"))
    assert not item.locator(".body").is_visible()
    item.locator("> summary").click()
    assert "50 minutes" in item.locator(".body").text_content()
    assert item.locator("details.diff").count() == 2
    diff = item.locator("details.diff").first
    diff.locator("summary").click()
    assert diff.locator(".del b").inner_text() == "45" and diff.locator(".ins b").inner_text() == "50"
    assert "because: a slip" in item.text_content()
    if shots:
        item.scroll_into_view_if_needed()
        page.screenshot(path=shots / "item.png")
    item.locator("> summary").focus()
    page.keyboard.press("Enter")
    assert not item.locator(".body").is_visible(), "the keyboard folds it again"

    skipped = page.locator(".item[data-state=skip]", has_text="whole files").first
    skipped.locator("> summary").click()
    assert "because: whole files, of which one line mattered" in skipped.text_content()
    assert "image/png, 256 bytes" in page.locator(".item[data-type=artifact] > summary").text_content()
    assert "A remark that was taken back" not in page.content()

    page.locator("#chart").scroll_into_view_if_needed()
    box = page.locator("#chart").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    early = page.locator("#readout").inner_text()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    late = page.locator("#readout").inner_text()
    assert early != late and "tokens: " in late and "of the budget" in late, (early, late)
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    assert page.evaluate("document.querySelector(':target').className") == "step"
    page.locator("#chart").focus()
    page.keyboard.press("Home")
    first = page.locator("#readout").inner_text()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert page.locator("#readout").inner_text() != first

    link = page.locator(".step a").first
    target = link.get_attribute("href").removeprefix("#")
    link.click()
    expect(page.locator(f"[id={target}]")).to_have_attribute("open", "")
    branches = page.locator("section", has=page.locator("#branches")).inner_text()
    assert "try-another-way" in branches, branches
    page.locator("#open").click()
    assert page.locator(".item[open]").count() == every
    page.locator("#close").click()
    assert page.locator(".item[open]").count() == 0
    if shots:
        page.evaluate("location.hash = ''")
        page.screenshot(path=shots / "whole.png", full_page=True)
    watch.done(file)


def click_hostile(context, file, shots):
    watch = Watch(context, file)
    page = watch.page
    page.locator("#open").click()
    for diff in page.locator(".diff > summary").all():
        diff.click()
    for name in ("onclick", "onfocus", "onerror", "style", "src"):
        assert page.locator(f"body [{name}]").count() == 0, name
    assert page.locator("line.budget").count() == 1 and page.locator("path.band").count() > 0
    assert page.locator("script").count() == 2 and page.locator("img").count() == 0
    assert "</script></pre><script>" in page.locator(".item .body").first.text_content()
    assert "U+202E" in page.locator(".hid").all_text_contents()
    page.locator("#words").fill("<script>")
    expect(page.locator("#count")).to_contain_text("2 of 2 ")
    if shots:
        page.screenshot(path=shots / "hostile.png")
    # Even injected script would not run.
    page.evaluate("document.body.append(Object.assign(document.createElement('p'), { id: 'late' }))")
    blocked = page.evaluate("() => { try { document.getElementById('late').innerHTML = '<b>'; return false } catch { return true } }")
    assert blocked, "no text becomes markup in the page's own script either"
    watch.faults.clear()
    watch.done(file)


def read_without_script(browser, file):
    context = browser.new_context(java_script_enabled=False)
    watch = Watch(context, file)
    page = watch.page
    assert not page.locator("#filter").is_visible()
    item = page.locator(".item").nth(3)
    item.locator("> summary").click()
    assert item.locator(".fields").is_visible()
    watch.done(file)
    context.close()


def main():
    shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "there is no chromium"
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        home = pathlib.Path(home)
        pages = {"sample": sample(home / "sample").page(), "hostile": hostile(home / "hostile").page("--deleted")}
        if shots:
            shots.mkdir(parents=True, exist_ok=True)
            for name, file in pages.items():
                shutil.copy(file, shots / f"{name}.html")
        # The sandbox needs privileges that containers do not have.
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            context = browser.new_context(color_scheme=scheme, viewport={"width": 1100, "height": 900})
            folder = shots / scheme if shots else None
            click_sample(context, pages["sample"], folder)
            click_hostile(context, pages["hostile"], folder)
            context.close()
        read_without_script(browser, pages["sample"])
        browser.close()
    print("view: the sample and the hostile page, light and dark, with and without script")


main()
