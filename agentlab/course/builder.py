"""Build the notebooks of a lesson from its one source, and tell where stored notebooks differ from it.

    lessons/NN_name.py  ->  notebooks/NN_name.ipynb   the lesson
                            solutions/NN_name.ipynb   its exercise, filled in
                            exercises/NN_name.ipynb   the same with each solution replaced by TODO

All three are executed and keep their outputs, so they read well where no kernel runs.
"""

from pathlib import Path
from typing import Any

from agentlab.course.clean import clean, to_text, without_outputs
from agentlab.course.run import execute, first_error
from agentlab.course.solutions import has_markers, make_stub, regions
from agentlab.course.source import Lesson, read_lesson, split
from agentlab.errors import AgentlabError
from agentlab.shapes import Finding

KINDS = ("notebooks", "exercises", "solutions")


def build(source: Path, root: Path) -> list[Path]:
    """Build, execute, clean and write the notebooks of one lesson below `root`; returns their paths.

    Building again writes the same bytes. Raises AgentlabError, and writes nothing, if the source
    breaks a rule or any cell fails.
    """
    made = _executed(read_lesson(source), root)
    paths = []
    for kind, notebook in made.items():
        path = root / kind / f"{source.stem}.ipynb"
        path.write_text(to_text(notebook), encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def compare(source: Path, root: Path, *, execute: bool = False) -> list[Finding]:
    """Where the stored notebooks of one lesson differ from its source; empty when they agree.

    B01 a notebook is missing, B02 one has no source, B03 a cell differs, B04 the file holds more or
    other than the builder writes, B05 (with ``execute``) an output differs from a new run.
    """
    lesson = read_lesson(source)
    expected = _executed(lesson, root) if execute else plan(lesson)
    findings = []
    for kind in KINDS:
        path = root / kind / f"{lesson.name}.ipynb"
        findings += _differences(path, f"{kind}/{path.name}", expected.get(kind), outputs=execute)
    return findings


def plan(lesson: Lesson) -> dict[str, Any]:
    """The clean notebooks of a lesson by kind, before any cell has run."""
    lesson_cells, solution_cells = split(lesson.text, lesson.file)
    marked = regions(lesson.text, lesson.file)
    if marked and any(has_markers(cell.source) for cell in lesson_cells if cell.cell_type == "code"):
        line = marked[0].begin
        raise AgentlabError(
            f"{lesson.file} line {line}: a solution outside the exercise; move it below the try-it cell"
        )
    if not solution_cells:
        return {"notebooks": clean(lesson_cells)}
    _, stub_cells = split(make_stub(lesson.text, lesson.file), lesson.file)
    parts = {"notebooks": lesson_cells, "exercises": stub_cells, "solutions": solution_cells}
    return {kind: clean(cells) for kind, cells in parts.items() if cells}


def _executed(lesson: Lesson, root: Path) -> dict[str, Any]:
    made = {}
    for kind, notebook in plan(lesson).items():
        folder = root / kind
        folder.mkdir(exist_ok=True)
        execute(notebook, folder)
        failed = first_error(notebook.cells)
        if failed:
            number, error = failed
            first_line = notebook.cells[number - 1].source.strip().split("\n")[0]
            raise AgentlabError(f"{lesson.file}, {kind} cell {number} ({first_line}): {error}; mend it in the lesson")
        made[kind] = clean(notebook.cells)
    return made


def _differences(path: Path, where: str, expected: Any, *, outputs: bool) -> list[Finding]:
    import nbformat

    def finding(rule: str, place: str, message: str) -> Finding:
        fix = "run `make lessons` and commit what it writes; notebooks are never edited by hand"
        return Finding(rule=rule, level="must", where=place, message=message, fix=fix)

    if expected is None:
        return [finding("B02", where, "no source makes this notebook; delete it")] if path.exists() else []
    if not path.exists():
        return [finding("B01", where, "the notebook is missing")]
    text = path.read_text(encoding="utf-8")
    try:
        stored = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call] # nbformat has no types
        tidy = clean(stored.cells)
    except Exception as error:  # noqa: BLE001 - nbformat raises many kinds, and each means: not what we wrote
        return [finding("B04", where, f"not a notebook of ours: {type(error).__name__}")]
    bare, wanted = without_outputs(tidy).cells, without_outputs(expected).cells
    for number, (one, other) in enumerate(zip(bare, wanted, strict=False), start=1):
        if one != other:
            return [finding("B03", f"{where} cell {number}", "the cell differs from the source")]
    if len(bare) != len(wanted):
        return [finding("B03", where, f"the notebook has {len(bare)} cells, the source makes {len(wanted)}")]
    if to_text(tidy) != text:
        return [finding("B04", where, "the file holds more than cells and outputs, or is formatted otherwise")]
    if outputs:
        pairs = enumerate(zip(tidy.cells, expected.cells, strict=True), start=1)
        changed = [number for number, (one, other) in pairs if one != other]
        return [finding("B05", f"{where} cell {number}", "the output differs from a new run") for number in changed]
    return []
