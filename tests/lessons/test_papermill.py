"""Lessons take other parameters, as a trainer's batch gives them: papermill runs them in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from agentlab.context.growth import total
from agentlab.paths import clone_folder
from agentlab.views.tokens import schema_share, share_sentence

UNKNOWN = "Passed unknown parameter"  # papermill's log line; its exit status is 0 all the same


def run_papermill(notebook: Path, output: Path, **parameters: int) -> str:
    """Run `notebook` with `parameters`, write the executed copy to `output`, give what papermill logged."""
    command = [sys.executable, "-m", "papermill", str(notebook), str(output), "--execution-timeout", "60"]
    for name, value in parameters.items():
        command += ["-p", name, str(value)]
    done = subprocess.run(
        command, cwd=notebook.parent, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "parameters",
    [{"N": 100}, {"S": 9_000, "U": 1_000, "a": 300, "r": 4_000, "N": 7, "trigger": 12_000}, {"N": 1}],
)
def test_lesson_04_computes_with_the_parameters_it_is_given(parameters: dict[str, int], tmp_path: Path) -> None:
    lesson = clone_folder() / "notebooks" / "04_context_growth.ipynb"
    output = tmp_path / "out.ipynb"
    assert UNKNOWN not in run_papermill(lesson, output, **parameters)
    executed = json.loads(output.read_text(encoding="utf-8"))
    shown = json.dumps([cell.get("outputs", []) for cell in executed["cells"]])
    sizes = {"S": 3_000, "U": 500, "a": 150, "r": 1_200, "N": 40, **parameters}
    sizes.pop("trigger", None)
    assert f"{total(**sizes):,}" in shown


@pytest.mark.parametrize(
    "parameters",
    [{"tools": 5}, {"tools": 200, "schema_tokens": 90, "history_tokens": 700}, {"tools": 0, "history_tokens": 0}],
)
def test_lesson_01_computes_with_the_parameters_it_is_given(parameters: dict[str, int], tmp_path: Path) -> None:
    lesson = clone_folder() / "notebooks" / "01_function_calling.ipynb"
    output = tmp_path / "out.ipynb"
    assert UNKNOWN not in run_papermill(lesson, output, **parameters)
    sizes = {"tools": 30, "schema_tokens": 200, "history_tokens": 4_000, **parameters}
    assert share_sentence(schema_share(**sizes)) in output.read_text(encoding="utf-8")


def test_a_parameter_that_a_lesson_does_not_know_is_seen(tmp_path: Path) -> None:
    cell = nbformat.v4.new_code_cell("N = 1\nprint(N)", metadata={"tags": ["parameters"]})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = tmp_path / "small.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=kernel), notebook)
    assert UNKNOWN in run_papermill(notebook, tmp_path / "out.ipynb", M=2)
    assert UNKNOWN not in run_papermill(notebook, tmp_path / "out.ipynb", N=2)
