"""`.ci/install` and `.ci/stage`, with stand-ins for Python and uv that note how they were called."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentlab.paths import clone_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="make and sh are not for Windows")

SCRIPTS = clone_folder() / ".ci"
TOOLS = ("sh", "cat", "rm", "date", "dirname", "touch", "mkdir", "cp", "grep")

PYTHON = """#!/bin/sh
echo "python $*" >> "$CALLS"
case "$*" in
    *version_info*) exit "${TOO_OLD:-0}" ;;
    *ensurepip*) exit "${NO_VENV:-0}" ;;
    "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    "-m pip"*) exit "${PIP_STATUS:-0}" ;;
esac
"""
UV = """#!/bin/sh
echo "uv $*" >> "$CALLS"
case "$*" in venv*) mkdir -p .venv/bin && cp "${0%uv}python3.12" .venv/bin/python ;; esac
"""


class Machine:
    """A folder that holds a project, on a PATH with nothing but a shell's basics and what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "a clone"  # with a space, as on many a laptop
        self.folder.mkdir()
        (self.folder / "pyproject.toml").touch()
        shutil.copytree(SCRIPTS, self.folder / ".ci")
        self.tools = folder / "bin"
        self.tools.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found is not None
            (self.tools / tool).symlink_to(found)
        self.calls_file = folder / "calls"

    def add(self, name: str, program: str) -> None:
        (self.tools / name).write_text(program)
        (self.tools / name).chmod(0o755)

    def install(self, extra: str = "lab", **environment: str) -> tuple[int, str, list[str]]:
        """Exit status, stderr, and the calls of Python and uv that do something."""
        self.calls_file.write_text("")
        done = subprocess.run(
            ["sh", ".ci/install", extra],
            cwd=self.folder,
            env={"PATH": str(self.tools), "CALLS": str(self.calls_file), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        calls = self.calls_file.read_text().splitlines()
        return done.returncode, done.stderr, [call for call in calls if " -c " not in call]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def with_python(machine: Machine) -> Machine:
    machine.add("python3.12", PYTHON)
    return machine


MAKE_VENV = "python -m venv .venv"
PIP = "python -m pip install --disable-pip-version-check --editable .[lab]"


def test_the_first_time_makes_and_installs_and_the_second_time_does_nothing(with_python: Machine) -> None:
    assert with_python.install() == (0, "", [MAKE_VENV, PIP])
    assert with_python.install() == (0, "", [])


def test_dev_contains_lab(with_python: Machine) -> None:
    assert with_python.install("dev")[2] == [MAKE_VENV, PIP.replace("lab", "dev")]
    assert with_python.install("lab")[2] == []


def test_a_changed_pyproject_installs_again_into_the_same_environment(with_python: Machine) -> None:
    with_python.install()
    later = (with_python.folder / ".venv" / "lab.stamp").stat().st_mtime + 5
    os.utime(with_python.folder / "pyproject.toml", (later, later))
    assert with_python.install()[2] == [PIP.replace("--editable", "--quiet --editable")]


def test_uv_is_used_where_it_is(with_python: Machine) -> None:
    with_python.add("uv", UV)
    assert with_python.install()[2] == [
        "uv venv --quiet --seed --python python3.12 .venv",
        "uv pip install --python .venv/bin/python --compile-bytecode --editable .[lab]",
    ]


def test_an_install_that_was_killed_is_made_anew(with_python: Machine) -> None:
    killed = 128 + 9
    assert with_python.install(PIP_STATUS=str(killed))[0] == 2
    (with_python.folder / ".venv" / "half-written").touch()
    assert with_python.install() == (0, "", [MAKE_VENV, PIP])
    assert not (with_python.folder / ".venv" / "half-written").exists()


def test_an_install_without_a_network_keeps_the_environment_and_tries_again(with_python: Machine) -> None:
    status, error, _ = with_python.install(PIP_STATUS="1")
    assert (status, error) == (
        2,
        "agentlab: the install failed; the lines above say why, and the next make tries again\n",
    )
    assert with_python.install()[2] == [PIP]


def test_a_clone_that_was_moved_gets_a_new_environment(with_python: Machine) -> None:
    with_python.install()
    with_python.folder = with_python.folder.rename(with_python.folder.with_name("elsewhere"))
    assert with_python.install()[2] == [MAKE_VENV, PIP]


def test_an_interpreter_that_went_away_is_replaced(with_python: Machine) -> None:
    with_python.install()
    (with_python.folder / ".venv" / "bin" / "python").unlink()
    assert with_python.install()[2] == [MAKE_VENV, PIP]


@pytest.mark.parametrize("too_old", [True, False])
def test_no_python_that_is_new_enough_is_one_line(machine: Machine, too_old: bool) -> None:
    if too_old:
        machine.add("python3", PYTHON)
    status, error, calls = machine.install(TOO_OLD="1")
    assert (status, calls) == (2, [])
    assert error.startswith("agentlab: no Python 3.11 or newer is on the PATH; ")
    assert error.count("\n") == 1


def test_a_named_python_that_is_too_old_is_one_line(with_python: Machine) -> None:
    status, error, _ = with_python.install(TOO_OLD="1", PYTHON="python3.12")
    assert status == 2
    assert error.startswith("agentlab: python3.12 is not Python 3.11 or newer; ")
    assert error.count("\n") == 1


def test_a_python_without_venv_is_one_line_and_leaves_nothing(with_python: Machine) -> None:
    status, error, calls = with_python.install(NO_VENV="1")
    assert (status, calls) == (2, [])
    assert "apt-get install python3-venv" in error
    assert error.count("\n") == 1
    assert not (with_python.folder / ".venv").exists()


@pytest.mark.parametrize(("program", "status", "end"), [("exit 0", 0, "done in"), ("exit 3", 3, "FAILED after")])
def test_a_stage_says_how_it_ended_and_keeps_the_status(program: str, status: int, end: str) -> None:
    command = [str(SCRIPTS / "stage"), "a name, with a comma", "sh", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    first, last = done.stdout.splitlines()
    assert done.returncode == status
    assert first == "== a name, with a comma"
    assert last.startswith(f"== a name, with a comma: {end} ")
