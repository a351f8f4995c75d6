"""Streams that are full, closed or gone, and what the operating system refuses: one line at most, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentlab import cli
from agentlab.cli.output import printable

AGENTLAB = f"{sys.executable} -m agentlab.cli"
ONE_DOCUMENT = "run invoices --database sqlite:// --only 0302-brandt-kessel"
posix = pytest.mark.skipif(sys.platform == "win32", reason="streams and shell of POSIX")


def shell(command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
        env={**os.environ},
    )


@posix
@pytest.mark.parametrize("arguments", ["size", "--help", ONE_DOCUMENT])
def test_output_that_cannot_be_written_is_one_line_and_status_2(arguments: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = shell(f"{AGENTLAB} {arguments} >/dev/full")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left" in done.stderr


@posix
@pytest.mark.parametrize("arguments", ["size", "--help", ONE_DOCUMENT])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_was_closed_before_the_start_loses_only_its_text(arguments: str, closed: str) -> None:
    done = shell(f"{AGENTLAB} {arguments} {closed}")
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (closed == "2>&-")


@posix
@pytest.mark.parametrize("arguments", ["size", ONE_DOCUMENT])
def test_a_table_in_a_closed_pipe_leaves_as_every_other_output(arguments: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "agentlab.cli", *arguments.split()]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (cli.PIPE_CLOSED, "")


@posix
def test_a_current_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    done = shell(f"mkdir gone; cd gone; rmdir ../gone; {AGENTLAB} run invoices", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "x" * 5000 + ".ipynb"],
        ["run", "invoices", "--data", "x" * 5000],
        ["run", "invoices", "--database", ""],
        ["run", "invoices", "--database", f"sqlite:///{'x' * 5000}/a.db"],
        ["run", "invoices", "--database", "sqlite:///x.db?timeout=abc"],
        ["run", "invoices", "--approve", "0" * 12, "--as", "bob\udcff"],
        ["\x1b[31m"],
        ["run", "invoices", "--only", "\x1b[31mred"],
        ["run", "invoices", "--data", "\x1b[31mred"],
    ],
)
def test_what_cannot_be_used_is_refused_in_one_printable_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.call(arguments) == 2
    out, err = capsys.readouterr()
    *progress, line = err.splitlines()
    assert (out, list(tmp_path.iterdir())) == ("", [])
    assert line.startswith("agentlab: ")
    assert all(one.isprintable() for one in [*progress, line])
    assert all(one.startswith("running ") for one in progress)


INTERRUPTED_WHILE_LOADING = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
import agentlab.cli
"""


def test_ctrl_c_while_the_command_loads_is_one_line_and_status_130() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_LOADING], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "agentlab: stopped\n")


def test_text_of_others_cannot_drive_the_terminal_or_forge_a_row() -> None:
    assert printable("a\x1b[2Jb\u202ec\nd") == "a\\x1b[2Jb\\u202ec d"
