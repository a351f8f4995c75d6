"""The frame of the `agentlab` command, run as a person runs it: a process with arguments, streams and a status."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from agentlab import __version__, cli
from agentlab.cli.output import print_line, print_table
from agentlab.errors import AgentlabError

HEAVY = ("numpy", "sqlalchemy", "plotly", "jupyterlab", "jupyter_client", "IPython", "ipywidgets", "tiktoken", "rich")


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "agentlab.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "named", "page"),
    [
        (["nope"], "'nope'", "agentlab --help"),
        (["--bad"], "--bad", "agentlab --help"),
        (["doctor", "--bad"], "--bad", "agentlab doctor --help"),
        (["doctor", "extra"], "extra", "agentlab doctor --help"),
        (["lab", "--port"], "'--port'", "agentlab lab --help"),
        (["lab", "--port", "0"], "'--port'", "agentlab lab --help"),
        (["lab", "--port", "65536"], "'--port'", "agentlab lab --help"),
        (["lab", "--port", "eighty"], "'--port'", "agentlab lab --help"),
    ],
)
def test_bad_input_costs_one_line_and_status_2(arguments: list[str], named: str, page: str) -> None:
    done = start(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("agentlab: ")
    assert named in done.stderr
    assert done.stderr.endswith(f"; see {page}\n")


def test_no_arguments_show_the_help_and_succeed() -> None:
    done = start()
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == start("--help").stdout
    for command in ("doctor", "lab"):
        assert f"  {command} " in done.stdout


@pytest.mark.parametrize("command", [[], ["size"], ["doctor"], ["run"], ["run", "invoices"], ["hint"]])
def test_h_is_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.call([*command, "--help"]) == 0
    page = capsys.readouterr().out
    assert cli.call([*command, "-h"]) == 0
    assert capsys.readouterr().out == page
    assert page.startswith("Usage: ")


def test_version_is_the_version_of_the_package() -> None:
    assert start("--version").stdout == f"agentlab {__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from agentlab.cli import call; call(['--help'])\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "[]\n"


def test_help_holds_in_40_columns() -> None:
    lines = start("doctor", "--help", COLUMNS="40").stdout.splitlines()
    assert lines
    assert max(len(line) for line in lines) <= 40


def with_command(monkeypatch: pytest.MonkeyPatch, action: object) -> None:
    """Put a command named `act` beside the real ones; it does what `action` does."""

    class Module:
        @staticmethod
        def register(app: typer.Typer) -> None:
            app.command("act")(action)  # type: ignore[type-var]

    monkeypatch.setattr(cli, "COMMANDS", (*cli.COMMANDS, Module))


def test_an_agentlab_error_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def act() -> None:
        raise AgentlabError("the file x.json is no JSON:\n  line 3; mend it")

    with_command(monkeypatch, act)
    assert cli.call(["act"]) == 2
    assert capsys.readouterr() == ("", "agentlab: the file x.json is no JSON: line 3; mend it\n")


def test_a_bug_is_not_dressed_up_as_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def act() -> None:
        raise ValueError("a bug")

    with_command(monkeypatch, act)
    with pytest.raises(ValueError, match="a bug"):
        cli.call(["act"])


def test_a_command_chooses_its_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def act() -> None:
        raise typer.Exit(1)

    with_command(monkeypatch, act)
    assert cli.call(["act"]) == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt, typer.Abort])
def test_an_interrupt_is_one_line_and_status_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stop: type[BaseException]
) -> None:
    def act() -> None:
        raise stop

    with_command(monkeypatch, act)
    assert cli.call(["act"]) == 130
    assert capsys.readouterr() == ("", "agentlab: stopped\n")


PRINTS_WITHOUT_END = """
import signal
from agentlab import cli

# A shell that starts tests in the background has them ignore Ctrl-C, and their processes inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Talk:
    @staticmethod
    def register(app):
        @app.command("talk")
        def talk():
            while True:
                print("a line")
cli.COMMANDS = (*cli.COMMANDS, Talk)
cli.main(["talk"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
def test_ctrl_c_ends_a_real_process_with_one_line() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PRINTS_WITHOUT_END], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "a line\n"  # so it is inside the command
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, error) == (130, "agentlab: stopped\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes of POSIX")
@pytest.mark.parametrize("program", [PRINTS_WITHOUT_END, "from agentlab import cli; cli.main(['--help'])"])
def test_a_closed_pipe_is_silent(program: str) -> None:
    """Both where the reader leaves in the middle, and where it left before the first line was flushed."""
    reader, writer = os.pipe()
    with subprocess.Popen([sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True) as process:
        os.close(writer)
        os.close(reader)
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=60) == cli.PIPE_CLOSED


TABLE = """
from agentlab.cli import call
from agentlab.cli.output import print_line, print_table
call(["--version"])
print_table(["invoice", "why"], [["Zażółć gęślą", "5 € > limit [red]"]])
print_line("→ ok")
"""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("more", [{}, {"NO_COLOR": "1"}, {"COLUMNS": "40"}, {"LC_ALL": "C"}, {"TERM": "dumb"}])
def test_any_terminal_can_show_a_table(encoding: str, more: dict[str, str]) -> None:
    environment = {**os.environ, **more, "PYTHONIOENCODING": encoding}
    done = subprocess.run([sys.executable, "-c", TABLE], capture_output=True, timeout=60, env=environment, check=True)
    shown = done.stdout.decode(encoding)
    assert done.stderr == b""
    assert "limit [red]" in shown  # brackets are text, not markup
    assert "\x1b" not in shown


def test_a_table_in_a_pipe_keeps_each_row_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["name", "count"], [["x" * 60, "7"]], right=["count"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split() == ["x" * 60, "7"]


def test_a_note_goes_to_stderr_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("result")
    print_line("note", err=True)
    assert capsys.readouterr() == ("result\n", "note\n")


def test_main_leaves_the_process_with_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["agentlab", "nope"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2


def test_the_script_of_the_environment_is_this_command() -> None:
    script = Path(sys.executable).parent / "agentlab"
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"agentlab {__version__}\n"
