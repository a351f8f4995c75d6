"""The proofs of agentlab.course.proofs, over every lesson of this clone that has an exercise."""

import functools
import importlib.util
from pathlib import Path

import nbformat
import pytest

from agentlab.course import proofs
from agentlab.course.exercises import EXERCISES
from agentlab.course.lint import lint
from agentlab.course.run import execute
from agentlab.course.source import lesson_files, read_lesson, split

ROOT = Path(__file__).parents[2]
LESSONS = [read_lesson(path) for path in lesson_files(ROOT)]
WITH_EXERCISE = [lesson for lesson in LESSONS if split(lesson.text, lesson.file)[1]]
BUILT = sorted(path for kind in ("notebooks", "exercises", "solutions") for path in (ROOT / kind).glob("*.ipynb"))

each_exercise_lesson = pytest.mark.parametrize("lesson", WITH_EXERCISE, ids=lambda lesson: lesson.name)


@functools.cache  # each notebook runs once, whichever proofs read it
def executed(kind, name):
    notebook = stored(kind, name)
    execute(notebook, ROOT / kind, go_on=True)
    return notebook


def stored(kind, name):
    return nbformat.read(ROOT / kind / f"{name}.ipynb", as_version=4)


def exercises_of(lesson):
    return [exercise for exercise in EXERCISES.values() if exercise.lesson == lesson.number]


def wrong_answers_of(lesson):
    path = Path(__file__).parent / "wrong_answers" / f"lesson_{lesson.number}.py"
    spec = importlib.util.spec_from_file_location(f"wrong_answers_{lesson.number}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WRONG


@each_exercise_lesson
def test_the_solution_runs_and_every_check_of_it_is_right(lesson):
    assert proofs.solution_is_right(executed("solutions", lesson.name), exercises_of(lesson)) == []


@each_exercise_lesson
def test_the_stub_does_not_pass(lesson):
    assert proofs.stub_is_not_attempted(executed("exercises", lesson.name), exercises_of(lesson)) == []


@each_exercise_lesson
def test_the_stub_runs_to_its_end(lesson):
    assert proofs.stub_runs_to_its_end(executed("exercises", lesson.name)) == []


@each_exercise_lesson
def test_the_stub_is_the_solution_less_the_marked_regions(lesson):
    found = proofs.stub_is_solution_less_regions(stored("exercises", lesson.name), stored("solutions", lesson.name))
    assert found == []


@each_exercise_lesson
def test_every_plausible_wrong_answer_is_called_wrong_for_its_own_reason(lesson):
    assert proofs.wrong_answers_are_wrong(exercises_of(lesson), wrong_answers_of(lesson)) == []


def test_every_exercise_belongs_to_a_lesson_that_has_one():
    assert {exercise.lesson for exercise in EXERCISES.values()} == {lesson.number for lesson in WITH_EXERCISE}


@pytest.mark.parametrize("path", BUILT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_built_notebook_is_fit_to_publish(path):
    assert lint(path) == []
