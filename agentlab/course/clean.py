"""A built notebook holds its source, its outputs and its counts, and no trace of when or where it ran."""

from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# Stands where no kernel runs, instead of a widget's repr. tests/lessons/nbval_sanitize.cfg
# maps this line and the repr that a running kernel gives to one word.
WIDGET_TEXT = "An interactive control stands here: run this notebook to use it."

_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    # Less than a kernel reports: its version would differ from one machine to the next.
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
    },
}
# How a run, or jupytext's reading, marks a cell; none of it belongs to the lesson.
_TRACES = ("execution", "papermill", "lines_to_next_cell", "lines_to_end_of_cell_marker", "collapsed", "scrolled")


def clean(cells: list[Any]) -> Any:
    """A new notebook of these cells: fixed metadata, ids 0, 1, 2 ..., outputs without widget views.

    Cleaning a clean notebook's cells gives the same notebook again.
    """
    import nbformat

    made = []
    for number, cell in enumerate(cells):
        kept = {"cell_type": cell["cell_type"], "source": cell["source"], "id": str(number)}
        kept["metadata"] = {key: value for key, value in cell["metadata"].items() if key not in _TRACES}
        if cell["cell_type"] == "code":
            kept["execution_count"] = cell["execution_count"]
            kept["outputs"] = _merge_streams([_clean_output(output) for output in cell["outputs"]])
        made.append(kept)
    notebook = {"cells": made, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.from_dict(notebook)  # type: ignore[no-untyped-call] # nbformat has no types


def to_text(notebook: Any) -> str:
    """The file's text: sorted keys, one space of indent, a newline at the end."""
    import nbformat

    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call] # nbformat has no types
    return text.rstrip("\n") + "\n"


def without_outputs(notebook: Any) -> Any:
    """The same notebook as it was before any run."""
    bare = clean(notebook.cells)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.execution_count, cell.outputs = None, []
    return bare


def _clean_output(output: Any) -> dict[str, Any]:
    kept = {key: value for key, value in output.items() if key != "transient"}
    if WIDGET_VIEW in kept.get("data", {}):
        kept["data"] = {key: value for key, value in kept["data"].items() if key != WIDGET_VIEW}
        kept["data"]["text/plain"] = WIDGET_TEXT
    return kept


def _merge_streams(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # A kernel sends printed text in pieces whose borders depend on timing.
    merged: list[dict[str, Any]] = []
    for output in outputs:
        last = merged[-1] if merged else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            merged[-1] = {**last, "text": last["text"] + output["text"]}
        else:
            merged.append(output)
    return merged
