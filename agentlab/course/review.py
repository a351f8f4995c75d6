"""Run a learner's notebook as it stands and report on every exercise in it. Their file is not touched."""

import re
from importlib import util
from pathlib import Path
from typing import Any

from agentlab.course.results import CheckResult, collect
from agentlab.course.run import CELL_SECONDS, execute, first_error
from agentlab.course.todo import TodoUsedError
from agentlab.errors import AgentlabError

_CHECK = re.compile(r"""^\s*(?:\w+\s*=\s*)?check\(\s*["'](\d\d\.\d+)["']""", re.MULTILINE)


def review(path: Path, *, cell_seconds: int = CELL_SECONDS) -> list[CheckResult]:
    """The result of every check in the notebook, in order; of a check that ran twice, the last.

    A cell that fails does not end the run. A check that was never reached, because its cell or one
    before it failed, is a wrong result that names the first failed cell. Raises AgentlabError for
    a file that is missing or no notebook, and where no kernel can run.
    """
    if util.find_spec("nbclient") is None:
        raise AgentlabError("nbclient is not installed; run pip install -e '.[lab]' in the clone, or make lab")
    notebook = _read(path)
    execute(notebook, path.resolve().parent, go_on=True, cell_seconds=cell_seconds)
    results: dict[str, CheckResult] = {}
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code":
            continue
        found = {result.exercise: result for result in collect(cell.outputs)}
        missed = [exercise for exercise in _CHECK.findall(cell.source) if exercise not in found]
        results |= found | {exercise: _not_reached(exercise, notebook.cells[:number]) for exercise in missed}
    return list(results.values())


def _read(path: Path) -> Any:
    import nbformat

    if not path.is_file():
        raise AgentlabError(f"there is no notebook {path}; `agentlab lessons` lists them")
    try:
        return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # nbformat has no types
    except Exception as error:
        # nbformat raises its own kinds, jsonschema's, json's and KeyError, each for a file that is no notebook.
        raise AgentlabError(
            f"{path} is not a notebook ({type(error).__name__}); build it again with `make lessons`"
        ) from error


def _not_reached(exercise: str, cells: list[Any]) -> CheckResult:
    failed = first_error(cells)
    if failed and failed[1].startswith(TodoUsedError.__name__):
        # Only an answer that is still TODO kept the check from running: that is no attempt.
        return CheckResult(exercise=exercise, state="not attempted", note=f"cell {failed[0]} still needs your answer")
    place, error = (f"cell {failed[0]}", failed[1]) if failed else (f"cell {len(cells)}", "the check did not run")
    return CheckResult(
        exercise=exercise,
        state="wrong",
        called=place,
        came_back=error,
        expected="a cell that runs to its end",
        why="the check comes after it and could not run",
    )
