"""``agentlab lab``: JupyterLab on the first notebook, bound to this machine alone."""

import os
import sys
from collections.abc import Mapping
from importlib import util
from pathlib import Path
from typing import Annotated

import typer

from agentlab.cli.numbers import whole
from agentlab.cli.output import print_line
from agentlab.errors import AgentlabError
from agentlab.paths import clone_folder

START = "notebooks/00_start_here.ipynb"


def register(app: typer.Typer) -> None:
    """Put the command on `app`."""
    app.command("lab")(lab)


def lab(
    port: Annotated[
        int, whole("--port", "PORT", "The port, or the next free one after it.", least=1, most=65_535)
    ] = 8888,
    browser: Annotated[
        bool | None,
        typer.Option("--browser/--no-browser", help="Open a browser. By default: where there is a display."),
    ] = None,
) -> None:
    """Open JupyterLab on the first notebook. Ctrl-C stops it."""
    folder = clone_folder()
    if not (folder / START).is_file():
        raise AgentlabError(f"{START} is missing in {folder}; build it with make lessons")
    if util.find_spec("jupyterlab") is None:
        raise AgentlabError("jupyterlab is not installed; run pip install -e '.[lab]' in the clone, or make lab")
    from jupyterlab.labapp import LabApp

    if browser is None:
        browser = has_display(sys.platform, os.environ)
    print_line(f"JupyterLab starts in {folder}. Ctrl-C stops it.", err=True)
    if not browser:
        print_line("Open the last URL printed below in a browser on this machine.", err=True)
    LabApp.launch_instance(lab_arguments(folder, port, browser=browser))


def lab_arguments(folder: Path, port: int, *, browser: bool) -> list[str]:
    """The arguments of ``jupyter lab`` that open `folder` on the first notebook.

    They stand above every configuration file of the user and change none. The token that guards
    the server is left to Jupyter, since what stands in an argument can be read by other users.
    """
    return [
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{START}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        f"--ServerApp.open_browser={browser}",
        "--ServerApp.allow_root=True",  # a container's only user is root; the loopback address and the token guard it
        "--ServerApp.answer_yes=True",  # one Ctrl-C stops it, without a question
        "--Application.log_level=WARN",
        # Nothing may need a network after the install: no news, no update check, no list of extensions.
        # The settings beside this file keep JupyterLab from asking whether it may.
        f"--LabApp.app_settings_dir={Path(__file__).parent / 'lab_settings'}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]


def has_display(platform: str, environment: Mapping[str, str]) -> bool:
    """Whether a browser can show a window: always on Windows and macOS, elsewhere with an X or Wayland display.

    A session over SSH has none of its own, even where the machine has.
    """
    if "SSH_CONNECTION" in environment and "DISPLAY" not in environment:
        return False
    if platform in ("win32", "darwin"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
