"""Each check of `agentlab doctor`, with an environment that passes it and with ones that do not."""

import gzip
import inspect
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import tiktoken_ext.openai_public

from agentlab import cli
from agentlab.cli import checks, doctor
from agentlab.cli.checks import Check

REQUIREMENTS = ["numpy>=2.0", "typer<1,>=0.16", "SQLAlchemy<3,>=2.0.40", "plotly<8,>=6.1; extra == 'lab'"]
INSTALLED = {"numpy": "2.1.0", "typer": "0.20.0", "sqlalchemy": "2.0.45", "plotly": "7.1.0"}
GOOD_WIDGETS = {"ipywidgets": "8.1.9", "jupyterlab-widgets": "3.0.17", "anywidget": "0.11.0"}


@pytest.mark.parametrize(
    ("version", "state"), [((3, 11, 0), "ok"), ((3, 14, 2), "ok"), ((3, 10, 14), "fail"), ((2, 7, 18), "fail")]
)
def test_python_is_held_against_what_the_distribution_asks_for(version: tuple[int, int, int], state: str) -> None:
    assert checks.check_python(version, ">=3.11").state == state


def test_packages_that_match_their_pins_are_one_line() -> None:
    assert checks.check_packages(REQUIREMENTS, INSTALLED, "lab") == [
        Check(name="packages", state="ok", found="4 packages match their pins")
    ]


@pytest.mark.parametrize(
    ("change", "found", "fix"),
    [
        ({"numpy": None}, "missing, wanted >=2.0", "pip install 'numpy>=2.0'"),
        ({"numpy": "1.26.4"}, "1.26.4 is too old, wanted >=2.0", "pip install 'numpy>=2.0'"),
        ({"typer": "1.0"}, "1.0 is too new, wanted <1,>=0.16", "pip install 'typer<1,>=0.16'"),
        ({"sqlalchemy": None}, "missing, wanted <3,>=2.0.40", "pip install 'SQLAlchemy<3,>=2.0.40'"),
        ({"plotly": "5.24.1"}, "5.24.1 is too old, wanted <8,>=6.1", "pip install 'plotly<8,>=6.1'"),
    ],
)
def test_a_package_off_its_pin_is_named_with_its_fix(change: dict[str, str | None], found: str, fix: str) -> None:
    installed = {name: version for name, version in {**INSTALLED, **change}.items() if version is not None}
    (problem,) = checks.check_packages(REQUIREMENTS, installed, "lab")
    (name,) = change
    assert (problem.name.lower(), problem.state) == (f"package {name}", "fail")
    assert (problem.found, problem.fix) == (found, fix)


def test_an_extra_that_nobody_asked_for_does_not_count() -> None:
    without_plotly = {name: version for name, version in INSTALLED.items() if name != "plotly"}
    (found,) = checks.check_packages(REQUIREMENTS, without_plotly, "")
    assert found.state == "ok"


@pytest.mark.parametrize(
    ("start_command", "state"),
    [
        (["python", "-m", "ipykernel_launcher"], "ok"),
        (["/env/bin/python3", "-m", "ipykernel_launcher"], "ok"),
        (["/other/bin/python", "-m", "ipykernel_launcher"], "fail"),
        ([], "fail"),
        (None, "fail"),
    ],
)
def test_the_kernel_must_start_this_interpreter(start_command: list[str] | None, state: str) -> None:
    assert checks.check_kernel(start_command, Path("/env/bin/python3.12")).state == state


@pytest.mark.parametrize("missing", GOOD_WIDGETS)
def test_a_missing_half_of_the_widgets_is_named(missing: str) -> None:
    extensions = list(checks.WIDGET_EXTENSIONS)
    assert checks.check_widgets(GOOD_WIDGETS, extensions).state == "ok"
    rest = {name: version for name, version in GOOD_WIDGETS.items() if name != missing}
    found = checks.check_widgets(rest, extensions)
    assert (found.state, found.found) == ("fail", f"missing: {missing}")


@pytest.mark.parametrize("missing", checks.WIDGET_EXTENSIONS)
def test_a_missing_lab_extension_is_named(missing: str) -> None:
    rest = [name for name in checks.WIDGET_EXTENSIONS if name != missing]
    assert checks.check_widgets(GOOD_WIDGETS, rest).found == f"missing: labextension {missing}"


@pytest.mark.parametrize("name", checks.VOCABULARIES)
def test_the_pinned_vocabularies_are_those_that_tiktoken_pins(name: str) -> None:
    source = inspect.getsource(getattr(tiktoken_ext.openai_public, name))
    assert f'expected_hash="{checks.VOCABULARIES[name]}"' in source


@pytest.mark.parametrize("name", checks.VOCABULARIES)
def test_a_damaged_vocabulary_is_found_out(name: str) -> None:
    (good,) = [check for check in doctor.examine({}) if check.name == f"vocabulary {name}"]
    assert good.state == "ok"
    damaged = [None, b"", b"no gzip", gzip.compress(b"IQ== 0\n"), gzip.compress(b"IQ== 0\n")[:-6]]
    for compressed in damaged:
        found = checks.check_vocabulary(name, compressed)
        assert (found.state, bool(found.fix)) == ("fail", True)


def test_a_database_that_does_not_exist_yet_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url in ("sqlite:///agentlab.db", f"sqlite:///{tmp_path}/other.db"):
        assert checks.check_database(url).state == "ok"
    assert list(tmp_path.iterdir()) == []


def test_an_existing_database_is_written_to_and_left_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE kept (id INTEGER)")
    connection.close()
    found = checks.check_database(f"sqlite:///{file}")
    assert (found.state, found.found) == ("ok", f"sqlite:///{file} opens, writes and rolls back")
    with sqlite3.connect(file) as connection:
        assert [name for (name,) in connection.execute("SELECT name FROM sqlite_master")] == ["kept"]
    connection.close()


def test_a_database_in_memory_passes() -> None:
    assert checks.check_database("sqlite://").state == "ok"


def test_a_database_that_somebody_else_is_writing_to_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentlab.store.BUSY_SECONDS", 0)
    file = tmp_path / "a.db"
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN EXCLUSIVE")
    found = checks.check_database(f"sqlite:///{file}")
    connection.close()
    assert found.state == "fail"
    assert "locked" in found.found


@pytest.mark.parametrize(
    "make_url",
    [
        lambda folder: f"sqlite:///{folder}/missing/agentlab.db",
        lambda folder: f"sqlite:///{folder}/text.db",
        lambda folder: "no url",
        lambda folder: f"sqlite:///{folder}/new.db?timeout=secret",
        lambda folder: f"sqlite:///{folder}/{'x' * 5000}/new.db",
        lambda folder: "postgresql://user:secret@host:abc/name",
        lambda folder: "nosuchdatabase://user:secret@host/name",
        lambda folder: "postgresql+nosuchdriver://user:secret@127.0.0.1:1/name",
    ],
)
def test_a_database_that_cannot_be_used_fails_without_its_password(
    make_url: Callable[[Path], str], tmp_path: Path
) -> None:
    (tmp_path / "text.db").write_text("this is a text, and long enough to be taken for a database " * 20)
    found = checks.check_database(make_url(tmp_path))
    assert (found.state, bool(found.fix)) == ("fail", True)
    assert "secret" not in found.found


def test_a_damaged_database_fails(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE t (x TEXT)")
    connection.executemany("INSERT INTO t VALUES (?)", [("y" * 500,)] * 200)
    connection.commit()
    connection.close()
    content = bytearray(file.read_bytes())
    content[4096 * 3 : 4096 * 5] = b"\xff" * 8192
    file.write_bytes(content)
    found = checks.check_database(f"sqlite:///{file}")
    assert found.state == "fail"
    assert "damaged" in found.found


def test_keys_are_told_as_yes_or_no_and_never_shown() -> None:
    found = checks.check_keys({"ANTHROPIC_API_KEY": "very-secret"})
    assert (found.state, found.found) == ("ok", "ANTHROPIC_API_KEY yes, OPENAI_API_KEY no; none is needed")


def test_this_environment_passes_every_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert {check.name: check.found for check in doctor.examine({}) if check.state != "ok"} == {}


def test_a_failure_is_printed_with_its_fix_and_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("AGENTLAB_DATABASE", f"sqlite:///{tmp_path}/missing/a.db")
    assert cli.call(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("fail  database: ")]
    assert lines[at + 1].startswith("      fix: ")
    assert lines[-1] == f"1 of {len(lines) - 2} checks failed"


def test_json_is_a_list_of_checks_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.call(["doctor", "--json"]) == 0
    found = [Check(**one) for one in json.loads(capsys.readouterr().out)]
    names = ["python", "packages", "kernel", "widgets", "vocabulary cl100k_base", "vocabulary o200k_base"]
    assert [check.name for check in found] == [*names, "database", "keys"]
