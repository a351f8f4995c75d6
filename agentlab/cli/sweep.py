"""``agentlab sweep``: every combination of some sizes and controls, and which control is the cheapest where.

``agentlab sweep --json`` prints one object with these keys:

- ``points``, ``rows``: how many points the grid has and how many rows came out
- ``cheapest``: for each control its ``control`` (as given), ``points`` (where it is the cheapest) and ``share`` of all
- ``out``: the file with the rows, null where none was asked for
"""

import os
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from agentlab.cli.files import written_whole
from agentlab.cli.numbers import whole
from agentlab.cli.output import print_json, print_line, print_table
from agentlab.cli.size import ASSUMED
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    from agentlab.context.sweep import Part, Sweep

CONTROLS = ("keep-all", "clear:keep=3,placeholder=20", "trim:window=20", "compact:trigger=20000,summary=1500")
"""What is compared if nothing else is said: the course's three controls with its numbers, and none."""


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.command("sweep")(sweep)


def _values(letter: str, what: str) -> Any:
    return typer.Option(f"--{letter}", metavar="VALUES", help=f"{what} ({ASSUMED[letter]:,}).")


def sweep(
    S: Annotated[str | None, _values("S", "System prompt and tool schemas")] = None,
    U: Annotated[str | None, _values("U", "The user's task")] = None,
    a: Annotated[str | None, _values("a", "What the model writes in one step")] = None,
    r: Annotated[str | None, _values("r", "One tool result")] = None,
    N: Annotated[str | None, _values("N", "Requests in the run")] = None,
    control: Annotated[
        list[str] | None,
        typer.Option(
            "--control",
            metavar="NAME:NUMBERS",
            help="Compare this control, like clear:keep=3 or cap:cap=900+compact:trigger=20000; repeatable.",
        ),
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="Write only the row of each point's cheapest control.")] = False,
    uncached: Annotated[
        bool, typer.Option("--uncached", help="The cheapest is by input that no prompt cache could serve.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the rows to FILE, as CSV.")] = None,
    workers: Annotated[
        int | None, whole("--workers", "W", "Processes that calculate (one for each processor).", least=1, most=256)
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Calculate on a dask scheduler that you trust: HOST:PORT."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Compare controls over all combinations of sizes in tokens.

    VALUES are a number, a list like 1000,2000,5000, or FROM:TO:COUNT like 1000:20000:20. The cheapest control is the
    one with the least input of a run, summarising calls and sub-agents counted.
    """
    from agentlab.context.sweep import plan
    from agentlab.views.tables import counted

    if scheduler is not None and workers is not None:
        raise AgentlabError("--workers are processes of this machine and --scheduler has its own; give one of the two")
    given = {"S": S, "U": U, "a": a, "r": r, "N": N}
    values = {letter: str(ASSUMED[letter]) if text is None else text for letter, text in given.items()}
    planned = plan(values, list(control or CONTROLS), best=best, uncached=uncached)

    cheapest = [0] * len(planned.controls)
    with _rows_in(out) as file, closing(_parts(planned, workers, scheduler)) as parts, _progress(planned) as done:
        for part in parts:
            if file is not None:
                file.write(part.text)
            cheapest = [so_far + more for so_far, more in zip(cheapest, part.cheapest, strict=True)]
            done(part.points)

    names = [name for name, _ in planned.controls]
    if as_json:
        found = zip(names, cheapest, strict=True)
        print_json(
            {
                "points": planned.points,
                "rows": planned.rows,
                "cheapest": [
                    {"control": name, "points": count, "share": count / planned.points} for name, count in found
                ],
                "out": None if out is None else str(out),
            }
        )
        return
    print_line(
        ", ".join(f"{letter} = {text}{' (assumed)' * (given[letter] is None)}" for letter, text in values.items())
    )
    print_line("")
    rows = [[name, f"{n:,}", f"{n / planned.points:.1%}"] for name, n in zip(names, cheapest, strict=True)]
    print_table(["control", "cheapest at", "of all points"], rows, right=["cheapest at", "of all points"])
    print_line("")
    least = "the least input that no cache could serve" if uncached else "the least input"
    print_line(f"{counted(planned.points, 'point')}; the cheapest control of a point is the one with {least}.")
    if out is not None:
        print_line(f"{out} has {counted(planned.rows, 'row')}.")


def _parts(planned: "Sweep", workers: int | None, scheduler: str | None) -> "Generator[Part, None, None]":
    from agentlab.context.workers import in_processes, in_this_process, on_scheduler

    if scheduler is not None:
        return on_scheduler(planned, scheduler)
    # A process takes longer to start than a few parts take to calculate.
    if workers is None:
        workers = min(os.cpu_count() or 1, 1 + planned.rows // 500_000)
    return in_this_process(planned) if workers == 1 else in_processes(planned, workers)


@contextmanager
def _rows_in(out: Path | None) -> Iterator[TextIO | None]:
    """The file for the rows, with its header, whole or not there; None where none is wanted."""
    from agentlab.context.sweep import header

    if out is None:
        yield None
        return
    target = out.resolve()
    if target.exists() and not target.is_file():
        raise AgentlabError(f"{out} is no file; name one that may be written, or a new one")
    with ExitStack() as stack:
        try:
            file = stack.enter_context(written_whole(target, newline=""))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise AgentlabError(f"{out} cannot be written: {reason}; name another file") from None
        file.write(header())
        yield file


@contextmanager
def _progress(planned: "Sweep") -> Iterator[Any]:
    """A bar on stderr, where that is a terminal; what it gives is called with the points that were done."""
    if not sys.stderr.isatty():
        yield lambda points: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), "points", TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sweep", total=planned.points)
        yield lambda points: bar.advance(task, points)
