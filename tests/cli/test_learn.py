import json

import nbformat
import pytest

from agentlab.cli import call as run_command
from agentlab.cli import learn
from agentlab.course import exercises
from agentlab.course.exercise import Exercise

TASK = Exercise(id="02.1", lesson="02", title="Doubling", minutes=7, check=len, hints=("look", "go", "nearly"))
CHECKS = """\
from agentlab.course import TODO, Exercise, check
from agentlab.course.checks import expect_value
def six(n): expect_value('n', n, gives=6, why='twice three')
def task(id): return Exercise(id=id, lesson='02', title='t', minutes=1, check=six, hints=('a', 'b', 'c'))
"""


@pytest.fixture(autouse=True)
def one_exercise(monkeypatch):
    monkeypatch.setattr(exercises, "EXERCISES", {"02.1": TASK})


@pytest.fixture
def clone(tmp_path, monkeypatch):
    monkeypatch.setattr(learn, "clone_folder", lambda: tmp_path)
    return tmp_path


def write(folder, name, *sources):
    folder.mkdir(exist_ok=True)
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / name)
    return folder / name


def test_check_shows_every_exercise_and_fails_if_any_is_wrong(clone, capsys):
    write(clone / "exercises", "02_a.ipynb", CHECKS, "check(task('02.1'), 6)\ncheck(task('02.2'), TODO)")
    write(clone / "exercises", "04_b.ipynb", CHECKS, "check(task('04.1') if 0 else task('02.3'), 5)")
    assert run_command(["check"]) == 1
    shown = capsys.readouterr()
    rows = [line.rstrip().split(maxsplit=2) for line in shown.out.splitlines()[2:]]
    assert rows[0] == ["02.1", "right"]
    assert rows[1][:2] == ["02.2", "not"]
    assert rows[2] == ["02.3", "wrong", "n gave 5, expected 6: twice three"]
    assert shown.err.splitlines() == ["running 02_a.ipynb ...", "running 04_b.ipynb ..."]


def test_check_of_one_notebook_gives_json_and_not_attempted_alone_is_no_failure(tmp_path, capsys):
    path = write(tmp_path, "mine.ipynb", CHECKS, "check(task('02.1'), TODO)")
    assert run_command(["check", str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["notebook"], row["exercise"], row["state"]) == ("mine.ipynb", "02.1", "not attempted")


def test_a_terminal_is_told_the_command_that_gives_a_hint(tmp_path, capsys):
    assert run_command(["check", str(write(tmp_path, "mine.ipynb", CHECKS, "check(task('02.1'), TODO)"))]) == 0
    shown = capsys.readouterr().out
    assert "agentlab hint 02.1" in shown
    assert "hint(" not in shown


def test_a_notebook_without_checks_is_said_to_have_none(tmp_path, capsys):
    assert run_command(["check", str(write(tmp_path, "mine.ipynb", "1"))]) == 0
    assert capsys.readouterr().out.startswith("no exercise is checked in there")


@pytest.mark.parametrize("text", [None, "", "{}", "x"])
def test_a_missing_or_broken_notebook_is_one_line_and_status_2(tmp_path, capsys, text):
    path = tmp_path / "mine.ipynb"
    if text is not None:
        path.write_text(text)
    assert run_command(["check", str(path)]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("running")]
    assert len(lines) == 1
    assert "mine.ipynb" in lines[0]


def test_check_without_notebooks_says_how_to_build_them(clone, capsys):
    assert run_command(["check"]) == 2
    assert "run `make lessons`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["02.1"], "Hint 1 of 3 for 02.1, Doubling: look\nThe next one: agentlab hint 02.1 --step 2\n"),
        (["02.1", "--step", "2"], "Hint 2 of 3 for 02.1, Doubling: go\nThe next one: agentlab hint 02.1 --step 3\n"),
        (["02.1", "--step", "3"], "Hint 3 of 3 for 02.1, Doubling: nearly\n"),
    ],
)
def test_hint_shows_one_step_and_how_to_get_the_next(capsys, arguments, text):
    assert run_command(["hint", *arguments]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["02.9"], "the exercises are: 02.1"),
        (["02.1", "--step", "4"], "1, 2 or 3"),
        (["02.1", "--step", "x"], "--step"),
    ],
)
def test_a_hint_that_does_not_exist_is_one_line_and_status_2(capsys, arguments, problem):
    assert run_command(["hint", *arguments]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_lessons_lists_titles_exercises_and_minutes_and_no_number_twice(clone, capsys):
    (clone / "lessons").mkdir()
    (clone / "lessons" / "02_doubling.py").write_text(
        "# %% [markdown]\n# # 02 On doubling\n#\n# **Time:** 20 minutes.\n"
    )
    assert run_command(["lessons"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert rows == [["02", "On", "doubling", "20", "notebooks/02_doubling.ipynb"], ["02.1", "Doubling", "7"]]
    assert run_command(["lessons", "--json"]) == 0
    (lesson,) = json.loads(capsys.readouterr().out)
    assert (lesson["lesson"], lesson["title"], lesson["minutes"]) == ("02", "On doubling", 20)
    assert lesson["exercises"] == [{"id": "02.1", "title": "Doubling", "minutes": 7}]


def test_lessons_where_there_are_none_is_one_line(clone, capsys):
    assert run_command(["lessons"]) == 2
    assert "no lesson in lessons/" in capsys.readouterr().err
