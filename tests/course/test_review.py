import nbformat
import pytest

from agentlab.course.results import MIME, collect
from agentlab.course.review import review
from agentlab.course.todo import TODO, TodoUsedError
from agentlab.errors import AgentlabError

SETUP = """\
from agentlab.course import TODO, Exercise, check
from agentlab.course.checks import expect, judge
from agentlab.course import exercises
def double_check(f): expect(f, 3, gives=6, why='w')
def task(id): return Exercise(id=id, lesson='02', title='t', minutes=1, check=double_check, hints=('a', 'b', 'c'))
exercises.EXERCISES |= {id: task(id) for id in ('02.91', '02.92', '02.93')}
"""


def write(tmp_path, *cells):
    path = tmp_path / "mine.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in (SETUP, *cells)])
    nbformat.write(notebook, path)
    return path


def test_every_check_of_a_notebook_is_reported_and_the_file_is_not_touched(tmp_path):
    path = write(
        tmp_path,
        "check('02.91', lambda n: 2 * n)\ncheck('02.92', TODO)",  # two in one cell, and neither is shown twice
        "result = check('02.93', lambda n: n / 0)",
        "from pathlib import Path; Path('here.txt').write_text('x')",
    )
    before = path.read_bytes()
    results = review(path)
    assert [(result.exercise, result.state) for result in results] == [
        ("02.91", "right"),
        ("02.92", "not attempted"),
        ("02.93", "wrong"),
    ]
    assert (
        results[2].came_back == "ZeroDivisionError: division by zero (line 1: result = check('02.93', lambda n: n / 0))"
    )
    assert path.read_bytes() == before
    assert (tmp_path / "here.txt").exists()  # the kernel works in the notebook's own folder


def test_a_cell_that_fails_or_never_ends_makes_its_checks_wrong_and_the_rest_runs(tmp_path):
    path = write(
        tmp_path,
        "def broken(:\n    pass",
        "check('02.91', broken)",
        "while True: pass\ncheck('02.92', broken)",
        "check('02.93', lambda n: n + n)",
    )
    first, second, third = review(path, cell_seconds=2)
    assert (first.state, first.called) == ("wrong", "cell 2")
    assert first.came_back.startswith("SyntaxError")
    assert second.state == "wrong"
    assert third.state == "right"


def test_a_check_that_only_a_todo_kept_from_running_is_not_attempted(tmp_path):
    (result,) = review(write(tmp_path, "total = TODO\nprint(total + 1)\ncheck('02.91', total)"))
    assert result.state == "not attempted"


def test_a_result_shown_again_in_a_later_cell_is_shown(tmp_path):
    path = write(tmp_path, "result = check('02.91', TODO)", "result")
    assert [result.exercise for result in review(path)] == ["02.91"]


def test_a_kernel_that_dies_is_told_in_one_line(tmp_path, capfd):
    with pytest.raises(AgentlabError, match="the notebook did not run") as caught:
        review(write(tmp_path, "import os; os._exit(3)", "check('02.91', TODO)"))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("text", ["", "{}", "no json", '{"cells": [], "nbformat": 4}'])
def test_a_file_that_is_no_notebook_is_told_in_one_line(tmp_path, text):
    path = tmp_path / "mine.ipynb"
    path.write_text(text)
    with pytest.raises(AgentlabError, match="is not a notebook"):
        review(path)
    with pytest.raises(AgentlabError, match="there is no notebook"):
        review(tmp_path / "none.ipynb")


@pytest.mark.parametrize("content", [5, {"state": "right"}, {"exercise": "02.1", "state": "wrong"}])
def test_an_output_that_calls_itself_a_check_and_is_none_is_told_in_one_line(content):
    with pytest.raises(AgentlabError, match="is no result of a check"):
        collect([{"data": {MIME: content}}])


def test_the_error_of_todo_is_told_by_its_name():
    with pytest.raises(TodoUsedError):
        TODO + 1
