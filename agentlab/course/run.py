"""Run a notebook's cells in a kernel of this very environment, each with a time limit."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from agentlab.errors import AgentlabError

CELL_SECONDS = 60


def execute(notebook: Any, folder: Path, *, go_on: bool = False, cell_seconds: int = CELL_SECONDS) -> None:
    """Run `notebook` in place, with `folder` as the kernel's working directory.

    The folder is the notebook's own, as in JupyterLab and nbval, so that a relative path means the
    same in all three. With ``go_on`` a cell that fails or runs out of time keeps its error output
    and the next cell runs; without it the run ends there, and `first_error` finds the cell.
    Raises AgentlabError where no kernel can be started, or it dies.
    """
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from traitlets.config import Config

    client = NotebookClient(
        notebook,
        # A kernel spec "python3" in the user's home may point to another Python: only this environment's counts.
        config=Config(KernelSpecManager={"kernel_dirs": [str(Path(sys.prefix, "share", "jupyter", "kernels"))]}),
        kernel_name="python3",
        timeout=cell_seconds,
        interrupt_on_timeout=True,
        allow_errors=go_on,
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    # What the kernel process itself complains about (not what its cells print) is no line for a
    # terminal: it is told only if the run breaks.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        try:
            client.execute(stderr=complaints)
        except CellExecutionError:
            return  # the error is an output of its cell
        except (CellTimeoutError, DeadKernelError, NoSuchKernel, RuntimeError, OSError) as error:
            complaints.seek(0)
            last = (complaints.read().strip().splitlines() or [""])[-1]
            reason = " ".join(f"{error} {last}".split())
            raise AgentlabError(f"the notebook did not run: {reason}; `agentlab doctor` checks the kernel") from error


def first_error(cells: list[Any]) -> tuple[int, str] | None:
    """The number (from 1) of the first cell that failed, and its error in one line; None if all ran well."""
    for number, cell in enumerate(cells, start=1):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                return number, _one_line(output)
    return None


def _one_line(output: Any) -> str:
    if output["ename"] == "KeyboardInterrupt":
        return f"stopped: the cell ran longer than its {CELL_SECONDS} s"
    message = output["evalue"].strip().split("\n")[0]
    return f"{output['ename']}: {message}" if message else str(output["ename"])
