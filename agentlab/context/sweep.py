"""A sweep: every combination of some S, U, a, r and N, under every control that is compared, as rows of a table.

The grid is never held as a whole. Its points are numbered, N running fastest, and a part of them is calculated from its
first and last number alone: in this process, in others, or on another machine (`agentlab.context.workers`).
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agentlab.context.closed import has_closed_form, totals
from agentlab.context.controls import Control
from agentlab.context.curves import curve
from agentlab.context.forecast import Forecast
from agentlab.context.growth import check_sizes, whole_number
from agentlab.context.named import read_control
from agentlab.context.subagents import SubAgents
from agentlab.errors import AgentlabError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.int64]

LETTERS = ("S", "U", "a", "r", "N")
SUMS = ("all_input", "all_same", "output", "model_calls", "largest", "compactions")
"""What is told of a run, as in `Totals`."""

COLUMNS = (*LETTERS, "control", *SUMS)

MAX_VALUES = 10_000
"""The most values of one letter."""

MAX_POINTS = 10**12
_ROWS = 20_000
"""Rows of a part in closed form: a moment's work, and small enough for every memory."""

_CURVES = 50
"""Points of a part where curves must be summed: less than a second, which Ctrl-C has to wait for."""


class Part(NamedTuple):
    """Some points, calculated: their rows as CSV, and for each control at how many of them it is the cheapest."""

    points: int
    cheapest: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """The grid of all ``values`` of S, U, a, r and N in this order, and the ``controls``, each with its name.

    ``best`` leaves of each point only the row of the cheapest control: the one with the least input in all or, with
    ``uncached``, the least input that no prompt cache could serve; the first one named where several are equal.
    """

    values: tuple[tuple[int, ...], ...]
    controls: tuple[tuple[str, Control | SubAgents], ...]
    best: bool = False
    uncached: bool = False

    @property
    def points(self) -> int:
        """How many points the grid has."""
        return math.prod(len(values) for values in self.values)

    @property
    def rows(self) -> int:
        """How many rows come out."""
        return self.points * (1 if self.best else len(self.controls))

    def parts(self) -> Iterator[tuple[int, int]]:
        """The numbers of the points, in parts from one (included) to another (not included)."""
        closed = all(has_closed_form(control) for _, control in self.controls)
        size = max(1, _ROWS // len(self.controls)) if closed else _CURVES
        return ((start, min(start + size, self.points)) for start in range(0, self.points, size))


def plan(values: dict[str, str], controls: list[str], *, best: bool = False, uncached: bool = False) -> Sweep:
    """The sweep that a person asked for, checked so far that none of its points will be refused.

    `values` has the text of each letter (see `read_values`), `controls` the text of each control. Raises AgentlabError.
    """
    if not controls:
        raise AgentlabError("a sweep compares controls; name one at least, keep-all for instance")
    twice = next((name for name in controls if controls.count(name) > 1), None)
    if twice is not None:
        raise AgentlabError(f"the control {twice[:60]!r} is named twice; name it once")
    numbers = tuple(read_values(letter, values[letter]) for letter in LETTERS)
    sweep = Sweep(numbers, tuple((name, read_control(name)) for name in controls), best, uncached)
    if sweep.points > MAX_POINTS:
        raise AgentlabError(
            f"the sweep has {sweep.points:,} points; expected {MAX_POINTS:,} at most, so give fewer values"
        )
    largest = [max(each) for each in numbers]
    for end in ([min(each) for each in numbers], largest):
        check_sizes(*end)
    for _, control in sweep.controls:
        if has_closed_form(control):
            totals(control, *largest)  # refuses what does not fit into 64 bits
    return sweep


def read_values(letter: str, text: str) -> tuple[int, ...]:
    """The values that `text` gives for `letter`: 3000, or 1000,2000,5000, or FROM:TO:COUNT.

    The last are COUNT whole numbers from FROM to TO, both included, as evenly spaced as whole numbers can be. Raises
    AgentlabError, in one line, for anything else.
    """
    found = re.fullmatch(r"(\d{1,12}):(\d{1,12}):(\d{1,12})", text.strip(), flags=re.ASCII)
    if found:
        low, high, count = (int(number) for number in found.groups())
        if low > high:
            raise AgentlabError(f"{letter} goes from {low:,} down to {high:,}; write the smaller number first")
        if not 1 <= count <= min(MAX_VALUES, high - low + 1) or (count == 1 and low != high):
            fits = min(MAX_VALUES, high - low + 1)
            raise AgentlabError(
                f"{letter} asks for {count:,} values from {low:,} to {high:,}; expected {min(2, fits)} to {fits:,}"
            )
        return tuple(low + (high - low) * i // max(count - 1, 1) for i in range(count))
    if not re.fullmatch(r"\d{1,12}(,\d{1,12})*", text.strip(), flags=re.ASCII):
        raise AgentlabError(
            f"{letter} is {text[:60]!r}; expected a number like 3000, a list like 1000,2000,5000 or FROM:TO:COUNT "
            "like 1000:20000:20"
        )
    numbers = [int(number) for number in text.split(",")]
    if len(set(numbers)) < len(numbers):
        raise AgentlabError(f"{letter} has a value twice; give each once")
    whole_number(f"the number of values of {letter}", len(numbers), at_most=MAX_VALUES)
    return tuple(numbers)


def header() -> str:
    """The first line of the table."""
    return ",".join(COLUMNS) + "\n"


def calculate(sweep: Sweep, start: int, stop: int) -> Part:
    """The points `start` to `stop` - 1: their rows, point by point and control by control."""
    import numpy as np

    shape = tuple(len(values) for values in sweep.values)
    places = np.unravel_index(np.arange(start, stop), shape)
    letters = [np.array(values)[place] for values, place in zip(sweep.values, places, strict=True)]
    # One row a point, one column a control.
    sums = [np.stack(rows, axis=1) for rows in zip(*(_sums(one, letters) for _, one in sweep.controls), strict=True)]
    named = dict(zip(SUMS, sums, strict=True))
    cost = named["all_input"] - named["all_same"] if sweep.uncached else named["all_input"]
    cheapest = cost.argmin(axis=1)
    chosen = cheapest[:, np.newaxis] if sweep.best else np.broadcast_to(np.arange(len(sweep.controls)), cost.shape)

    names = [name for name, _ in sweep.controls]
    columns = [
        *(np.repeat(letter, chosen.shape[1]).tolist() for letter in letters),
        [names[i] for i in chosen.ravel()],
        *(np.take_along_axis(each, chosen, axis=1).ravel().tolist() for each in sums),
    ]
    page = io.StringIO()
    csv.writer(page, lineterminator="\n").writerows(zip(*columns, strict=True))
    counts = np.bincount(cheapest, minlength=len(names))
    return Part(points=stop - start, cheapest=tuple(counts.tolist()), text=page.getvalue())


def _sums(control: Control | SubAgents, letters: list["Row"]) -> list["Row"]:
    """`SUMS` of one control at each point: in closed form, or else from the curve of each point."""
    import numpy as np

    if has_closed_form(control):
        sums = totals(control, *letters)
        return [getattr(sums, name) for name in SUMS]
    points = zip(*(letter.tolist() for letter in letters), strict=True)
    runs = (curve(control, *point) for point in points)
    rows = [(run.all_input, _all_same(run), run.output, run.model_calls, run.largest, run.compactions) for run in runs]
    return list(np.array(rows).T)


def _all_same(run: Forecast) -> int:
    own = sum(run.same) + sum(call.same for call in run.summaries)
    return own + sum(_all_same(each) for each in run.subruns)
