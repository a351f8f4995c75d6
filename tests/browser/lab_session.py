"""A real JupyterLab and a real Chromium, set up so that nothing of this machine's user is read or written.

Used by the tests beside it and by screenshots.py.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, sync_playwright
from playwright.sync_api import TimeoutError as BrowserTimeoutError

from agentlab.cli.lab import lab_arguments

NO_BROWSER = "no browser here: install Chromium to run the browser tests"
SECONDS = 60
"""How long anything here may take before it counts as broken: a start on two busy cores takes ten."""

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM_FILES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
)
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",  # a container's only user is root, whom Chromium's sandbox refuses; only our own pages are opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# The command's promise is not waited for: on the second page of a session it never settles, though all cells run.
_RUN_ALL = "() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }"
_CLEAR_ALL = "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
_KERNEL_IS_IDLE = """() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    const session = panel?.sessionContext;
    return panel?.context?.isReady && session?.isReady && session.session?.kernel?.status === 'idle';
}"""
# Read from the model, not from the prompt in the page: a cell whose source is hidden shows no prompt.
_RUNS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === 'code' && cell.model.sharedModel.getSource().trim() !== '')
    .map(({model}) => ({counted: model.executionCount !== null, idle: model.executionState === 'idle'}))"""
_SOME_STARTED = f"() => ({_RUNS})().some(({{counted, idle}}) => counted || !idle)"
_ALL_DONE = f"() => ({_RUNS})().every(({{counted, idle}}) => counted && idle)"


def find_chromium() -> str | None:
    """Where this machine's Chromium or Chrome is, None where there is none."""
    found = [path for path in map(shutil.which, CHROMIUM_NAMES) if path]
    found += [path for path in CHROMIUM_FILES if Path(path).is_file()]
    return found[0] if found else None


def need_browser(found: str | None, required: bool) -> None:
    """Skip where no browser was `found`; where it is `required`, as in CI, fail: a skipped test proves nothing."""
    if found is None and required:
        pytest.fail(NO_BROWSER, pytrace=False)
    if found is None:
        pytest.skip(NO_BROWSER)


def private_environment(home: Path) -> dict[str, str]:
    """This process's environment, with everything that Jupyter reads and writes below `home`."""
    places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    return {
        **os.environ,
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        **{f"JUPYTER_{place}": str(home / place.lower()) for place in places},
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_it_answers(address: str) -> None:
    """Return once `address` answers. Jupyter prints it a moment before it listens, and says nothing when it does."""
    start = urlsplit(address)
    end = time.monotonic() + SECONDS
    while True:
        try:
            with socket.create_connection((start.hostname, start.port), timeout=SECONDS):
                return
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


@contextmanager
def jupyter_lab(folder: Path, home: Path, theme: str = "JupyterLab Light") -> Iterator[str]:
    """Serve `folder` with ``agentlab lab``'s own arguments; gives the address of its first page, token included.

    `home` takes all that Jupyter writes. The server and its kernels end with the context.
    """
    _write_settings(home / "settings", theme)
    environment = private_environment(home)
    command = [sys.executable, "-m", "jupyterlab", *lab_arguments(folder, free_port(), browser=False)]
    command.append("--expose-app-in-browser")
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as server:
        said: list[str] = []
        try:
            assert server.stderr is not None
            address = None
            for line in server.stderr:
                said.append(line)
                if match := re.search(r"http://127\.0\.0\.1:\S+token=\w+", line):
                    address = match[0]
                    break
            if address is None:
                raise RuntimeError("JupyterLab did not start:\n" + "".join(said))
            wait_until_it_answers(address)
            # Whatever it says later must be read, or it would stop once the pipe is full.
            reader = threading.Thread(target=said.extend, args=(server.stderr,), daemon=True)
            reader.start()
            yield address
        finally:
            server.terminate()
            server.wait(SECONDS)


@contextmanager
def chromium() -> Iterator[BrowserContext]:
    """A Chromium without a window, 1280 pixels wide."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        try:
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.set_default_timeout(SECONDS * 1000)
            yield context
        finally:
            browser.close()


@dataclass
class Watched:
    """What a page complained about, and which machines it asked for something, while it was open."""

    errors: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def note(self, url: str) -> None:
        """Note the host of `url`; a blob: or data: URL asks no machine for anything."""
        if host := urlsplit(url).hostname:
            self.hosts.add(host)


def watch(page: Page) -> Watched:
    """Note the console errors, the exceptions and the hosts of all requests of `page` from now on."""
    watched = Watched()
    page.on("console", lambda said: watched.errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on("request", lambda request: watched.note(request.url))
    page.on("websocket", lambda opened: watched.note(opened.url))
    return watched


def open_notebook(page: Page, address: str, notebook: str) -> None:
    """Open `notebook` (a path below the served folder) and wait until its kernel is idle."""
    start = urlsplit(address)
    # A workspace of its own: two pages that share one restore each other's notebooks, and then ask for a kernel.
    workspace = re.sub(r"\W", "-", notebook)
    page.goto(f"{start.scheme}://{start.netloc}/lab/workspaces/{workspace}/tree/{notebook}?{start.query}")
    page.wait_for_function(_KERNEL_IS_IDLE)


def run_all_cells(page: Page) -> None:
    """Clear the stored outputs, run every cell, and wait until each shows its number."""
    page.evaluate(_CLEAR_ALL)
    for _ in range(10):
        page.evaluate(_RUN_ALL)
        # JupyterLab ignores the first call now and then, so it is made until a cell shows that it runs.
        with suppress(BrowserTimeoutError):
            page.wait_for_function(_SOME_STARTED, timeout=2_000)
            break
    page.wait_for_function(_ALL_DONE)


def _write_settings(folder: Path, theme: str) -> None:
    settings = {
        # Every cell is in the page, not only those on the screen.
        "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
        "@jupyterlab/apputils-extension/themes": {"theme": theme},
    }
    for name, values in settings.items():
        file = folder / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")
