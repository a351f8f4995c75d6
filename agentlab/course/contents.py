"""The table of contents: every lesson of this clone with its title, its time and its exercises."""

import re
from collections.abc import Iterable
from pathlib import Path

from agentlab.course.exercises import EXERCISES
from agentlab.course.source import lesson_files, read_lesson
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

_TITLE = re.compile(r"^# # (?P<title>.+)$", re.MULTILINE)
_TIME = re.compile(r"^# \*\*Time:\*\* (?P<minutes>\d+) minutes", re.MULTILINE)


class Entry(Frozen):
    """One lesson: its notebook's name, its title, its minutes, and those of its exercise (0 without one)."""

    notebook: str
    title: str
    minutes: int
    exercise_minutes: int


def contents(root: Path) -> tuple[Entry, ...]:
    """The lessons below ``root/lessons``, in order. Raises AgentlabError for one without a title or a time."""
    return tuple(_entry(path) for path in lesson_files(root))


def contents_markdown(entries: Iterable[Entry]) -> str:
    """The lessons as a Markdown table with links, for a notebook that lies beside them."""
    lines = ["| lesson | minutes | exercise |", "|---|---|---|"]
    lines += [
        f"| [{entry.title}]({entry.notebook}) | {entry.minutes} | "
        + (
            f"[{entry.exercise_minutes} minutes](../exercises/{entry.notebook}) |"
            if entry.exercise_minutes
            else "none |"
        )
        for entry in entries
    ]
    return "\n".join(lines)


def _entry(path: Path) -> Entry:
    lesson = read_lesson(path)
    title, time = _TITLE.search(lesson.text), _TIME.search(lesson.text)
    if title is None or time is None:
        raise AgentlabError(f'{lesson.file} needs a title "# # ..." and a line "# **Time:** NN minutes" near its top')
    tasks = [exercise.minutes for exercise in EXERCISES.values() if exercise.lesson == lesson.number]
    return Entry(
        notebook=f"{lesson.name}.ipynb",
        title=title["title"],
        minutes=int(time["minutes"]),
        exercise_minutes=sum(tasks),
    )
