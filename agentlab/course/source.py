"""A lesson's source: one jupytext percent file, a lesson and, from the cell tagged try-it on, its exercise."""

import re
from pathlib import Path
from typing import Any

from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

TRY_IT = "try-it"
_NAME = re.compile(r"\d\d_[a-z0-9_]+\.py")

# A cell is what nbformat makes of it: a dict with cell_type, source and metadata.
Cell = Any


class Lesson(Frozen):
    """The text of ``lessons/NN_name.py``; ``name`` is "NN_name", ``file`` is how messages call it."""

    name: str
    file: str
    text: str

    @property
    def number(self) -> str:
        """The two digits that an exercise id begins with."""
        return self.name[:2]


def lesson_files(root: Path) -> list[Path]:
    """Every lesson's source below ``root/lessons``, in order."""
    return sorted(path for path in (root / "lessons").glob("*.py") if _NAME.fullmatch(path.name))


def read_lesson(path: Path) -> Lesson:
    """Read one source. Raises AgentlabError for a file that is missing, misnamed or no text."""
    if not _NAME.fullmatch(path.name):
        raise AgentlabError(f"{path.name} is not a lesson's name; expected NN_name.py in small letters")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AgentlabError(f"lesson {path.name} cannot be read: {error}; give the path of a text file") from error
    return Lesson(name=path.stem, file=f"lessons/{path.name}", text=text)


def split(text: str, file: str) -> tuple[list[Cell], list[Cell]]:
    """The cells of the lesson, and the cells of the exercise (empty for a lesson without one).

    Raises AgentlabError for metadata that no notebook can hold, such as tags that are no list of texts, and for an
    exercise that does not begin with its own title: it is opened alone.
    """
    import jupytext

    try:
        cells = list(jupytext.reads(text, fmt="py:percent").cells)
    except Exception as error:  # jupytext fails in many ways on metadata that breaks the notebook's schema
        said = str(error).split("\n")[0]
        way_out = f'a tag is written tags=["{TRY_IT}"]'
        raise AgentlabError(f'{file}: what stands behind a "# %%" cannot be read ({said}); {way_out}') from error
    if not cells:
        raise AgentlabError(f'{file} has no cells; begin each with a line "# %%"')
    start = next((n for n, cell in enumerate(cells) if TRY_IT in cell.metadata.get("tags", [])), len(cells))
    lesson, exercise = cells[:start], cells[start:]
    if exercise and not (exercise[0].cell_type == "markdown" and exercise[0].source.startswith("# ")):
        raise AgentlabError(
            f"{file}: the first cell tagged {TRY_IT} opens the exercise; make it markdown with a # title"
        )
    return lesson, exercise
