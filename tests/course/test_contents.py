"""The table of contents, over small lessons and over the real ones."""

import pytest

from agentlab.course.contents import contents, contents_markdown
from agentlab.course.exercises import EXERCISES
from agentlab.errors import AgentlabError
from agentlab.paths import clone_folder

LESSON = "# %% [markdown]\n# # {title}\n#\n# **Time:** {minutes} minutes. No key.\n"


def write(root, name, text):
    folder = root / "lessons"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def test_lessons_are_listed_in_order_with_links_and_minutes(tmp_path):
    write(tmp_path, "98_b.py", LESSON.format(title="98 B", minutes=20))
    write(tmp_path, "97_a.py", LESSON.format(title="97 A", minutes=5))
    assert contents_markdown(contents(tmp_path)).splitlines()[2:] == [
        "| [97 A](97_a.ipynb) | 5 | none |",
        "| [98 B](98_b.ipynb) | 20 | none |",
    ]


def test_the_minutes_of_an_exercise_are_those_of_its_tasks():
    for entry in contents(clone_folder()):
        tasks = [task.minutes for task in EXERCISES.values() if task.lesson == entry.notebook[:2]]
        assert entry.exercise_minutes == sum(tasks)
        link = f"[{entry.exercise_minutes} minutes](../exercises/{entry.notebook})"
        assert (link in contents_markdown([entry])) == bool(tasks)


@pytest.mark.parametrize("text", ["# %% [markdown]\n# # 97 A\n", "# %% [markdown]\n# **Time:** 5 minutes\n"])
def test_a_lesson_without_a_title_or_a_time_is_refused_by_name(tmp_path, text):
    write(tmp_path, "97_a.py", text)
    with pytest.raises(AgentlabError, match=r"lessons/97_a.py needs a title .* and a line .*Time"):
        contents(tmp_path)
