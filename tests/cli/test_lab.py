"""`agentlab lab`: what it hands to JupyterLab, and how it refuses. tests/browser starts the real server."""

from importlib import util
from pathlib import Path
from typing import Any

import pytest

from agentlab import cli
from agentlab.cli import lab


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with a first notebook."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / lab.START).write_text("{}")
    monkeypatch.setattr(lab, "clone_folder", lambda: tmp_path)
    return tmp_path


def test_the_server_listens_on_this_machine_alone_and_fetches_nothing(tmp_path: Path) -> None:
    arguments = lab.lab_arguments(tmp_path, 9000, browser=False)
    assert "--ServerApp.ip=127.0.0.1" in arguments
    assert "--ServerApp.port=9000" in arguments
    assert "--ServerApp.open_browser=False" in arguments
    assert {"--LabApp.news_url=None", "--LabApp.extension_manager=readonly"} <= set(arguments)
    assert not [argument for argument in arguments if "token" in argument.lower()]


def test_a_missing_notebook_is_one_line(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (clone / lab.START).unlink()
    assert cli.call(["lab"]) == 2
    assert capsys.readouterr().err == f"agentlab: {lab.START} is missing in {clone}; build it with make lessons\n"


@pytest.mark.usefixtures("clone")
def test_a_missing_jupyterlab_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    find_spec = util.find_spec

    def hide_jupyterlab(name: str, *rest: Any) -> Any:
        return None if name == "jupyterlab" else find_spec(name, *rest)

    monkeypatch.setattr(util, "find_spec", hide_jupyterlab)
    assert cli.call(["lab"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("agentlab: jupyterlab is not installed; ")
    assert error.count("\n") == 1


def test_an_install_without_a_clone_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("agentlab.paths._PACKAGE", tmp_path / "agentlab")
    assert cli.call(["lab"]) == 2
    assert capsys.readouterr().err.startswith("agentlab: this installation has no notebooks; clone ")


@pytest.mark.parametrize(
    ("platform", "environment", "shown"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ""}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("linux", {"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "a"}, True),
        ("darwin", {}, True),
        ("darwin", {"SSH_CONNECTION": "a"}, False),
        ("win32", {}, True),
    ],
)
def test_a_browser_opens_only_where_it_can_show_a_window(
    platform: str, environment: dict[str, str], shown: bool
) -> None:
    assert lab.has_display(platform, environment) is shown
