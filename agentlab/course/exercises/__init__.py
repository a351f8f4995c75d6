"""The registry of every exercise: one module a lesson, each with a tuple ``EXERCISES``.

A new lesson's module is imported here by name and its tuple is added to ``_LESSONS``.
"""

from collections.abc import Iterable

from agentlab.course.exercise import Exercise
from agentlab.course.exercises import lesson_01, lesson_02, lesson_04
from agentlab.errors import AgentlabError

_LESSONS: tuple[tuple[Exercise, ...], ...] = (lesson_01.EXERCISES, lesson_02.EXERCISES, lesson_04.EXERCISES)


def gather(lessons: Iterable[Iterable[Exercise]]) -> dict[str, Exercise]:
    """The exercises by id, in the order of the lessons. Raises AgentlabError for an id used twice."""
    found: dict[str, Exercise] = {}
    for exercise in (exercise for lesson in lessons for exercise in lesson):
        if exercise.id in found:
            raise AgentlabError(f"the exercise id {exercise.id} is used twice; give the second one its own id")
        found[exercise.id] = exercise
    return found


EXERCISES: dict[str, Exercise] = gather(_LESSONS)


def find(exercise: str | Exercise) -> Exercise:
    """The exercise with this id; an Exercise is returned as it is (a trainer's own need no registry)."""
    if isinstance(exercise, Exercise):
        return exercise
    if exercise not in EXERCISES:
        known = ", ".join(EXERCISES) or "none yet"
        raise AgentlabError(f"there is no exercise {exercise!r}; the exercises are: {known}")
    return EXERCISES[exercise]
