"""Clearing by a trigger or in batches, in sums over its clearings instead of its requests.

After e steps with the results before c cleared, a request has ``F + e (a + r) - c (r - placeholder)`` tokens, with
F = S + U. Clearing happens at the first e that leaves ``b`` results to clear and whose request is over the trigger;
then c = e - keep. Here b = at_least / (r - placeholder), rounded up.

Each clearing frees less than the growth that led to it, so the clearings come closer. Once b results are enough to be
over the trigger again it stays so, and from there on every b-th step clears: the rest is one sum. Before that (seldom
more than a few dozen clearings) they are taken one by one, for all points at the same time.
"""

from typing import TYPE_CHECKING, NamedTuple

from agentlab.context.controls import ClearToolResults
from agentlab.context.phases import NO_STEP, first_above, triangle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.int64]


class Cleared(NamedTuple):
    """Sums over one run for each point, in tokens, named as in a forecast."""

    total: "Row"
    last: "Row"
    largest: "Row"
    same: "Row"


def clear_in_batches(control: ClearToolResults, fixed: "Row", a: "Row", r: "Row", N: "Row") -> Cleared:
    """The sums of runs of N requests under `control`; all rows have one length.

    A request that clears nothing carries the whole request before. One that clears keeps the placeholders before and
    the call behind them: of x = e - 1 - c steps before it loses ``x (a + r) - a`` tokens, none where x is 0.
    """
    import numpy as np

    m, grows, frees = N - 1, a + r, r - control.placeholder
    removed, lost, largest = np.zeros_like(fixed), np.zeros_like(fixed), np.zeros_like(fixed)
    cleared = np.zeros_like(fixed)
    batch = np.ones_like(fixed)
    if control.at_least:
        batch = np.where(frees > 0, -(-control.at_least // np.maximum(frees, 1)), NO_STEP)

    def next_over(done: "Row", at: "Row") -> "Row":
        if not control.trigger:
            return np.ones_like(at)
        return first_above(control.trigger - fixed[at] + done * frees[at], grows[at])

    everywhere = np.arange(len(fixed))
    e = np.maximum(control.keep + batch, next_over(cleared, everywhere))
    at = everywhere[e <= m]
    e = e[at]
    while len(at):
        before = e - 1 - cleared[at]
        lost[at] += np.maximum(before * grows[at] - a[at], 0)
        largest[at] = np.maximum(largest[at], fixed[at] + (e - 1) * grows[at] - cleared[at] * frees[at])
        done = e - control.keep
        over = next_over(done, at)
        following = np.maximum(e + batch[at], over)
        # Where clearing frees all that a step adds, the distance never changes, whatever it is.
        regular = (over <= e + batch[at]) | (frees[at] == grows[at])
        distance = np.where(regular, np.minimum(following - e, N[at]), 1)
        more = np.where(regular, (m[at] - e) // distance, 0)
        until = np.where(regular, N[at] - more * distance, np.minimum(following, N[at]))
        in_full = distance * (more * done + distance * triangle(more - 1))
        removed[at] += (in_full + (done + more * distance) * (until - e)) * frees[at]
        lost[at] += more * np.maximum((control.keep + distance - 1) * grows[at] - a[at], 0)
        cleared[at] = done + more * distance
        final = e + more * distance
        peak = fixed[at] + (final - 1) * grows[at] - (cleared[at] - distance) * frees[at]
        largest[at] = np.where(more > 0, np.maximum(largest[at], peak), largest[at])
        going = ~regular & (following <= m[at])
        at, e = at[going], following[going]

    total = N * fixed + triangle(m) * grows - removed
    last = fixed + m * grows - cleared * frees
    return Cleared(total=total, last=last, largest=np.maximum(largest, last), same=total - last - lost)
