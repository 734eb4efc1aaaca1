"""Clicks through pages of `git trace view` in a headless Chromium.

A page must load nothing, log nothing, obey its own policy, and open no dialog, and its controls must work. This must hold with
hostile text in every field and without the script.
"""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from playwright.sync_api import expect, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(sys.argv[1]).resolve()
SESSION = ROOT / "tests/fixtures/transcripts/claude-code/small-thinking-tools.jsonl"
HOSTILE = "</script></pre><script>document.title='got in'</script><!--<img src=x onerror=\"document.title='got in'\">\"onfocus='alert(1)' &lt;"
# Two pixels.
PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5ErkJggg==")
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
    repo.trace("skip", "#7", "#11", "-m", "complete files, one line mattered")
    repo.trace("branch", "try-another-way", "#9")
    repo.trace("edit", "#17", "-m", "Done.\nThe timeout of the notarization is 45 minutes.\nNothing else changed.", "--reason", "too long")
    repo.trace("edit", "#17", "-m", "Done.\nThe timeout of the notarization is 50 minutes.\nNothing else changed.", "--reason", "a slip")
    repo.trace("commit", "-t", "artifact", "--set", "media_type=image/png", "--set", "path=shot.png", "-", data=PICTURE)
    repo.trace("commit", "-m", "A remark that was taken back.")
    repo.trace("delete", "#26", "-m", "off topic")
    repo.trace("--trace", "try-another-way", "commit", "-m", "What if it is retried instead?")
    return repo


def calls(repo):
    """Hostile text in each place of each kind of card."""
    many = f"{HOSTILE}\n" * 40
    link = "[x](javascript:alert(1)) ![y](https://example.com/z.png) <javascript:alert(1)> | [z](data:text/html,a)"
    patch = f"*** Begin Patch\n*** Update File: {HOSTILE}\n@@ {HOSTILE}\n-{HOSTILE}\n+{HOSTILE}x\n*** End Patch"
    tools = {
        "Bash": {"command": many, "description": HOSTILE},
        "Read": {"file_path": HOSTILE, "offset": HOSTILE},
        "Edit": {"file_path": HOSTILE, "old_string": f"{HOSTILE} one", "new_string": f"{HOSTILE} two"},
        "Write": {"file_path": HOSTILE, "content": many},
        "apply_patch": {"input": patch},
        "Grep": {"pattern": HOSTILE, "path": HOSTILE},
        "TodoWrite": {"todos": [{"content": HOSTILE, "status": HOSTILE}]},
        HOSTILE: {HOSTILE: HOSTILE, "prompt": many},
    }
    lines = []
    for number, (name, arguments) in enumerate(tools.items()):
        item = {"type": "tool_io", "name": name, "call_id": f"call-{number}"}
        lines.append({**item, "direction": "call", "text": json.dumps(arguments)})
        lines.append({**item, "direction": "result", "text": f"\x1b[31m{many}", "status": "error"})
        lines.append({**item, "direction": "result", "text": json.dumps([{"text": f"{HOSTILE} {link}"}])})
    for text in (f"# {HOSTILE}\n\n{link}\n\n> {HOSTILE}\n\n| {HOSTILE} |\n| :-: |\n| {link} |\n\n```{HOSTILE}\n{HOSTILE}\n```\n", HOSTILE + UNSEEN[:-1]):
        for kind in ("reasoning", "dialogue", "instruction", "output"):
            lines.append({"type": kind, "text": text})
    repo.trace("commit", "--batch", data="".join(f"{json.dumps(line)}\n" for line in lines).encode())
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>{HOSTILE}</script></svg>'
    repo.trace("commit", "-t", "artifact", "--set", "media_type=image/svg+xml", "-", data=svg.encode())


def long(folder):
    """A session of 10,000 items as agents record them."""
    repo = Repo(folder)
    words = "the parser reads a line and returns its **count** unless `limit` is set, then an error names the file"
    tools = [
        ("Bash", {"command": "cargo test --lib parser", "description": "Run the tests"}),
        ("Read", {"file_path": "/src/lib.rs"}),
        ("Edit", {"file_path": "/src/lib.rs", "old_string": "let a = 1;\nlet b = 2;\n", "new_string": "let a = 1;\nlet b = 3;\n"}),
        ("Grep", {"pattern": "fn main", "path": "src"}),
    ]
    lines = []
    for number in range(10_000):
        role, content = "user", f"{number} {words}"
        name, arguments = tools[number // 4 % 4]
        call = f"toolu_{number // 4:024}"
        if number % 4 == 1:
            role, content = "assistant", [{"type": "thinking", "thinking": f"{words}, {words}", "signature": "c2ln"}]
        elif number % 4 == 2:
            role, content = "assistant", [{"type": "tool_use", "id": call, "name": name, "input": arguments}]
        elif number % 4 == 3:
            content = [{"type": "tool_result", "tool_use_id": call, "content": f"     1→{words}\n     2→{words}"}]
        elif number % 32:
            role, content = "assistant", [{"type": "text", "text": f"{words}\n\n- one\n- two `x`\n"}]
        if number == 5024:
            content += " needle in the middle"
        parent = f"{number - 1:032x}" if number else None
        time = f"2026-01-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
        record = {"type": role, "uuid": f"{number:032x}", "parentUuid": parent, "sessionId": "long", "timestamp": time}
        lines.append({**record, "message": {"role": role, "id": f"msg_{number}", "content": content}})
    session = folder / "long.jsonl"
    session.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    repo.trace("import", "claude-code", session)
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
    calls(repo)
    for name in ["a<b>", "x\"onclick=alert(1)", "y'&z"]:
        repo.run("git", "update-ref", f"refs/traces/{name}", "refs/traces/main")
    return repo


def site(repo):
    """A site of hostile traces, and of a session with hostile text in each figure."""
    usage = {"input_tokens": 1000, "output_tokens": 500}
    lines = [
        {"type": "user", "uuid": "1", "sessionId": "s", "timestamp": "2026-01-02T03:04:05Z", "message": {"role": "user", "content": f"Why? {UNSEEN[:-1]}{HOSTILE}"}},
        {"type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s", "timestamp": "2026-01-03T03:04:05Z",
         "message": {"role": "assistant", "id": "m", "model": f"m{HOSTILE}", "usage": usage, "content": [{"type": "tool_use", "id": "t", "name": HOSTILE, "input": {}}]}},
    ]
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    repo.trace("import", "claude-code", "-", "--trace", "claude-code/s", data=data)
    env = {"GIT_AUTHOR_DATE": "2026-01-02T12:00:00Z", "GIT_COMMITTER_DATE": "2026-01-02T12:00:00Z"}
    repo.run("env", *[f"{key}={value}" for key, value in env.items()], "git", "commit", "--quiet", "--allow-empty", "-m", HOSTILE)
    repo.run("git", "config", "trace.price", "**=5,25")
    folder = repo.folder / "site"
    repo.trace("view", "--all", "-o", folder)
    return folder / "index.html"


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


def settle(page):
    """Waits until the page has scrolled to its aim, which takes two frames."""
    page.wait_for_timeout(300)


def click_sample(context, file, shots):
    watch = Watch(context, file)
    page = watch.page
    assert page.title().endswith(" · trace")
    every = page.locator(".items article").count()
    assert every == 20, every
    if shots:
        page.screenshot(path=shots / "top.png")

    page.get_by_label("Tools").uncheck()
    assert shown(page, "article[data-type=tool_io]") == 0 and shown(page, "article") == every - 5
    expect(page.locator("#count")).to_have_text(f"{every - 5} of {every}")
    page.get_by_label("Tools").check()
    page.get_by_label("Only conversation").check()
    assert shown(page, "article") == page.locator("article[data-type=dialogue]").count() == shown(page, "article[data-type=dialogue]")
    page.get_by_label("Only conversation").uncheck()
    expect(page.locator("#count")).to_have_text(f"{every} of {every}")
    page.get_by_label("deleted").uncheck()
    assert shown(page, "article.deleted") == 0 and shown(page, "article") == every - page.locator("article.deleted").count()
    page.get_by_label("deleted").check()
    page.locator("#tool").select_option("Edit")
    assert shown(page, "article") == shown(page, "article[data-tool=Edit]") > 0
    page.locator("#tool").select_option("")
    page.locator("#size").select_option("100")
    assert 0 < shown(page, "article") < every
    page.locator("#size").select_option("0")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("50 minutes")
    expect(page.locator("#count")).to_have_text(f"1 of {every}")
    assert shown(page, "article") == 1
    # The words are marked, and the fold that has them is open. Enter goes from one card to the next and back.
    page.locator("#words").fill("timeout")
    expect(page.locator("#count")).not_to_have_text(re.compile("^1 of "))
    if page.evaluate("Boolean(window.Highlight)"):
        assert page.evaluate("CSS.highlights.get('hit').size") > 2
        hits = "[...CSS.highlights.get('hit')].map((hit) => hit.startContainer.data.slice(hit.startOffset, hit.endOffset).toLowerCase())"
        assert set(page.evaluate(hits)) == {"timeout"}
        visible = "(card) => [...CSS.highlights.get('hit')].some((hit) => card.contains(hit.startContainer) && hit.startContainer.parentElement.checkVisibility())"
        assert all(card.evaluate(visible) for card in page.locator("article:visible").all())
    steps = []
    for key in ("Enter", "Enter", "Shift+Enter"):
        page.locator("#words").press(key)
        steps.append(page.locator(".aimed").get_attribute("id"))
        settle(page)
    assert steps[0] == steps[2] != steps[1], steps
    page.locator("#words").fill("#9999")
    page.locator("#words").press("Enter")
    expect(page.locator("#count")).to_have_text("There is no item #9999")
    page.locator("#words").fill("no such words anywhere")
    expect(page.locator("#nothing")).to_be_visible()
    page.locator("#words").fill("")
    expect(page.locator("#count")).to_have_text(f"{every} of {every}")

    # An edited item shows its text and each difference.
    item = page.locator("article", has=page.locator("header .badge", has_text="revision 3"))
    assert "50 minutes" in item.locator(".md").text_content()
    diff = item.locator("details.diff").first
    assert not diff.locator(".del b").is_visible()
    diff.locator("summary").click()
    assert diff.locator(".del b").text_content() == "45" and diff.locator(".ins b").text_content() == "50"
    assert "because: a slip" in item.text_content()
    assert not item.locator(".meta pre").is_visible()
    item.locator(".meta summary").click()
    assert "id: " in item.locator(".meta pre").text_content()
    if shots:
        item.scroll_into_view_if_needed()
        page.screenshot(path=shots / "item.png")

    # A call has its result in its card.
    edit = page.locator("article[data-tool=Edit]").first
    assert edit.locator("pre.diff .ins").count() > 0 and edit.locator(".result").count() == 1
    skipped = page.locator("article[data-state~=skip], .result.skip", has_text="complete files").first
    assert "because: complete files, one line mattered" in skipped.text_content()
    picture = page.locator("article[data-type=artifact] img")
    assert picture.evaluate("(image) => image.complete && image.naturalWidth") == 2
    assert "A remark that was taken back" not in page.content()
    assert page.locator("article.deleted", has_text="off topic").count() == 1
    if page.evaluate("Boolean(window.Highlight)"):
        assert page.evaluate("[...CSS.highlights.values()].some((mark) => mark.size)"), "code has colors"

    # The index and the keys lead to prompts.
    prompts = page.locator(".turn")
    assert prompts.count() == 2 and prompts.first.locator("meter").count() == 1
    target = prompts.nth(1).get_attribute("href")
    prompts.nth(1).click()
    expect(page.locator(".aimed")).to_have_attribute("id", target.removeprefix("#"))
    settle(page)
    page.locator("h1").click()
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(page.locator(".aimed")).to_have_attribute("id", target.removeprefix("#"))
    settle(page)
    page.keyboard.press("p")
    expect(page.locator(".aimed")).to_have_attribute("id", prompts.first.get_attribute("href").removeprefix("#"))
    settle(page)

    page.locator("#tokens > summary").click()
    page.locator("#chart").scroll_into_view_if_needed()
    box = page.locator("#chart").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    early = page.locator("#readout").inner_text()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2)
    late = page.locator("#readout").inner_text()
    assert early != late and "tokens: " in late and "of the budget" in late, (early, late)
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    assert page.evaluate("/^#(\\d+|c-)/.test(location.hash)")
    page.locator("#chart").focus()
    page.keyboard.press("Home")
    first = page.locator("#readout").inner_text()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert page.locator("#readout").inner_text() != first

    page.locator("#changes > summary").click()
    link = page.locator(".step a").first
    target = link.get_attribute("href").removeprefix("#")
    link.click()
    expect(page.locator(f"[id='{target}']")).to_have_class(re.compile("aimed"))
    assert "try-another-way" in page.locator("#branches").text_content()
    page.locator("#open").click()
    assert page.locator(".items .fold:not([open])").count() == 0
    page.locator("#close").click()
    assert page.locator(".items .fold[open]").count() == 0
    if shots:
        page.evaluate("location.hash = ''")
        page.screenshot(path=shots / "full.png", full_page=True)
    watch.done(file)


def click_hostile(context, file, shots):
    watch = Watch(context, file)
    page = watch.page
    page.locator("#open").click()
    for name in ("onclick", "onfocus", "onerror", "style", "src"):
        # The script sets one style: the height of a part that is not built.
        assert page.locator(f"body [{name}]:not(.chunk)").count() == 0, name
    leads = page.locator("article a").evaluate_all("(links) => links.map((link) => link.getAttribute('href'))")
    assert all(link.startswith(("#", "https://", "http://", "mailto:")) for link in leads), leads
    assert page.locator("line.budget").count() == 1 and page.locator("path.band").count() > 0
    assert page.locator("script").count() == 2 and page.locator("img").count() == 0
    assert page.locator("article").count() == page.locator(".items > .chunk > *").count() > 8
    assert page.locator("article pre.term").count() > 0 and page.locator("article pre.diff").count() > 0
    assert "</script></pre><script>" in page.locator("article").first.text_content()
    assert "U+202E" in page.locator(".hid").all_text_contents()
    page.locator("#words").fill("<script>")
    expect(page.locator("#count")).to_contain_text(" of ")
    assert shown(page, "article") > 8
    if shots:
        page.screenshot(path=shots / "hostile.png")
    # Even injected script would not run, and nothing but the parts of the file becomes markup.
    page.evaluate("document.body.append(Object.assign(document.createElement('p'), { id: 'late' }))")
    for text in ("'<b>'", "document.body.textContent"):
        script = "() => { try { document.getElementById('late').innerHTML = TEXT; return false } catch { return true } }"
        assert page.evaluate(script.replace("TEXT", text)), "no text becomes markup in the page's own script either"
    again = "() => { try { trustedTypes.createPolicy('page', { createHTML: (text) => text }); return false } catch { return true } }"
    assert page.evaluate(again), "there is one policy"
    watch.faults.clear()
    watch.done(file)


def open_long(context, file, shots):
    """A page of 10,000 items opens quickly, stays light, and finds everything."""
    began = time.monotonic()
    watch = Watch(context, file)
    page = watch.page
    opened = time.monotonic() - began
    limit = float(os.environ.get("VIEW_SECONDS", "6"))
    nodes = "(() => { const walker = document.createTreeWalker(document, NodeFilter.SHOW_ALL); let n = 1; while (walker.nextNode()) n += 1; return n })()"
    counts = [page.evaluate(nodes)]
    assert opened < limit, opened
    for part in (0.25, 0.5, 0.75, 1):
        page.evaluate(f"scrollTo(0, document.documentElement.scrollHeight * {part})")
        page.wait_for_timeout(150)
        counts.append(page.evaluate(nodes))
    assert max(counts) < 20_000, counts
    page.evaluate("location.hash = '#4242'")
    expect(page.locator("[id='4242']")).to_be_in_viewport()
    page.locator("#words").fill("needle in the middle")
    expect(page.locator("#count")).to_have_text(re.compile("^1 of "))
    expect(page.locator("article:visible")).to_contain_text("needle in the middle")
    page.locator("#words").fill("")
    expect(page.locator("#count")).not_to_have_text(re.compile("^1 of "))
    assert page.evaluate(nodes) < 20_000
    watch.done(file)
    size = file.stat().st_size
    assert size < 6_000_000, size
    return f"opened in {opened:.2f} s, at most {max(counts):,} nodes, {size / 1e6:.1f} MB"


def click_site(context, file, shots):
    watch = Watch(context, file)
    page = watch.page
    assert page.locator("body [onclick], body [onfocus], body [onerror], body [style], body [src], script").count() == 0
    links = page.locator("a").evaluate_all("(links) => links.map((link) => link.getAttribute('href'))")
    assert links and all(re.fullmatch(r"sessions/[a-z0-9-]+\.html", link) for link in links), links
    assert page.locator("rect.band").count() > 1 and page.locator("meter").count() == 8
    assert "cost 0.02" in page.locator(".session", has_text="Why?").first.inner_text()
    assert "</script></pre><script>" in page.locator(".commits").first.text_content()
    assert "U+202E" in page.locator(".hid").all_text_contents()
    if shots:
        page.screenshot(path=shots / "site.png", full_page=True)
    page.get_by_role("link", name="Why?").click()
    assert "article" in page.content() and page.locator("h1").inner_text().startswith("Why?")
    page.get_by_role("link", name="All sessions").click()
    assert page.url == file.as_uri(), page.url
    watch.requests = [url for url in watch.requests if not url.startswith(file.parent.as_uri())]
    watch.done(file)


def read_without_script(browser, file):
    context = browser.new_context(java_script_enabled=False)
    watch = Watch(context, file)
    page = watch.page
    assert not page.locator("#filter").is_visible()
    assert page.locator("article").count() == 20 and page.locator(".turn").count() == 2
    assert page.locator("article.prompt").first.locator(".md").is_visible()
    fold = page.locator("article .fold").first
    fold.locator("> summary").click()
    assert fold.locator(".md").is_visible()
    watch.done(file)
    context.close()


def main():
    shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "there is no chromium"
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        home = pathlib.Path(home)
        pages = {
            "sample": sample(home / "sample").page(),
            "hostile": hostile(home / "hostile").page("--deleted"),
            "long": long(home / "long").page(),
        }
        index = site(hostile(home / "site"))
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
            click_site(context, index, folder)
            context.close()
        read_without_script(browser, pages["sample"])
        context = browser.new_context(viewport={"width": 1100, "height": 900})
        figures = open_long(context, pages["long"], shots)
        context.close()
        browser.close()
    print(f"view: the sample, the hostile page, and a hostile site, light and dark, with and without script; 10,000 items {figures}")


main()
