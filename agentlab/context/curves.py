"""The calculator in arrays: ``curve(control, S, U, a, r, N)`` is ``control.forecast(S, U, a, r, N)``, only faster.

What `simulate` finds by going from request to request is written down here for all requests at once. Request k comes
after e = k - 1 steps. A control has dropped the first ``start`` of them and cleared the results before ``cleared``; a
summary of ``summary`` tokens may stand in front. With R(i) = the first i results together,

    I(k) = S + U + summary + (e - start) * a + (cleared - start) * placeholder + R(e) - R(cleared)

so that a control is known by its start, cleared and summary at each request:

* Trimming and clearing on every step: ``start = max(0, e - window // 2)`` and ``cleared = max(start, e - keep)``.
* Compaction, and clearing by a trigger or in batches, change them at a few requests. Between two of these all is the
  formula again, so the next one is found by a search in running sums, not by trying every step.

The tests hold all controls and their combinations against `simulate`, field for field.
"""

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Compact, Control, KeepAll, TrimTurns
from agentlab.context.forecast import Forecast, Results, SummaryCall, result_sizes
from agentlab.context.growth import MAX_STEPS, check_sizes
from agentlab.context.subagents import SubAgents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Row = NDArray[np.int64]

NEVER = 2 * MAX_STEPS + 2
"""More steps than any run has, loaded results included."""

_KNOWN = (KeepAll, CapResults, Handles, ClearToolResults, TrimTurns, Compact)

_BLOCK = 64
"""How far the search for a compaction looks at first, in requests; it doubles until one is found."""


class Removals(NamedTuple):
    """What a combination removes: on every step (``keep``, ``steps``), at some requests (``batch``), by a summary.

    The last ``keep`` results stay whole and the last ``steps`` steps stay, ``steps_behind`` of them once a summary
    takes a place in the window. They are `NEVER` where no control says so.
    """

    keep: int
    steps: int
    steps_behind: int
    placeholder: int
    batch: ClearToolResults | None
    compact: Compact | None

    @property
    def on_every_step(self) -> bool:
        """True where something goes on every step of a long run."""
        return min(self.keep, self.steps) < NEVER


class _Sizes(NamedTuple):
    """The sizes of a run in tokens: ``fixed`` = S + U, ``upto[i]`` = the first i results as they arrive."""

    fixed: int
    a: int
    upto: list[int]


def curve(control: Control | SubAgents, S: int, U: int, a: int, r: Results, N: int) -> Forecast:
    """The same as ``control.forecast(S, U, a, r, N)``, by formula where `has_curve` says that there is one.

    Where there is none it is that very call. Raises AgentlabError for sizes that are no sizes.
    """
    if isinstance(control, SubAgents):
        return control.forecast_by(curve, S, U, a, r, N)
    removals = removals_of(control)
    if removals is None:
        return control.forecast(S, U, a, r, N)
    check_sizes(S, U, a, 0, N)
    sizes = _Sizes(S + U, a, list(accumulate(control.arriving(result_sizes(r, N)), initial=0)))
    if removals.batch is not None or (removals.compact is not None and not removals.on_every_step):
        return _jumping(sizes, removals)
    if removals.compact is not None:
        return _searching(sizes, removals, removals.compact)
    if removals.on_every_step:
        return _at_once(sizes, removals)
    return _keeping(sizes)


def has_curve(control: Control | SubAgents) -> bool:
    """False where `curve` simulates: clearing at some requests only, together with trimming or more clearing."""
    return removals_of(control.inside if isinstance(control, SubAgents) else control) is not None


def removals_of(control: Control) -> Removals | None:
    """What `control` removes after results have arrived, or None where there is no formula for it."""
    parts = control.single()
    if not all(isinstance(part, _KNOWN) for part in parts):
        return None
    clears = [part for part in parts if isinstance(part, ClearToolResults)]
    batches = [part for part in clears if part.trigger or part.at_least]
    windows = [part.window for part in parts if isinstance(part, TrimTurns)]
    if batches and (len(clears) > 1 or windows):
        return None
    return Removals(
        keep=min((part.keep for part in clears if part not in batches), default=NEVER),
        steps=min((window // 2 for window in windows), default=NEVER),
        steps_behind=min(((window - 1) // 2 for window in windows), default=NEVER),
        placeholder=clears[0].placeholder if clears else 0,
        batch=batches[0] if batches else None,
        compact=next((part for part in parts if isinstance(part, Compact)), None),
    )


def _keeping(sizes: _Sizes) -> Forecast:
    requests = tuple(sizes.fixed + e * sizes.a + results for e, results in enumerate(sizes.upto))
    return Forecast(requests=requests, same=(0, *requests[:-1]), a=sizes.a)


def _at_once(sizes: _Sizes, removals: Removals) -> Forecast:
    """Clearing and trimming on every step."""
    import numpy as np

    e = np.arange(len(sizes.upto))
    start = np.maximum(0, e - removals.steps)
    return _forecast(sizes, removals, start, np.maximum(start, e - removals.keep), [])


def _searching(sizes: _Sizes, removals: Removals, compact: Compact) -> Forecast:
    """Compaction of what clearing and trimming leave: the request need not grow, so it is searched block by block."""
    import numpy as np

    upto = np.array(sizes.upto)
    start, cleared = np.zeros_like(upto), np.zeros_like(upto)
    fires: list[int] = []
    gone, summary, steps = 0, 0, removals.steps
    begin, block = 0, _BLOCK
    while begin < len(upto):
        e = np.arange(begin, min(begin + block, len(upto)))
        start[e] = np.maximum(gone, e - steps)
        cleared[e] = np.maximum(start[e], e - removals.keep)
        tokens = _tokens(sizes, removals, upto, e, start[e], cleared[e]) + summary
        over = np.flatnonzero((tokens > compact.trigger) & (e > start[e]))
        if len(over):
            gone = begin + int(over[0])
            fires.append(gone)
            summary, steps = compact.summary, removals.steps_behind
            begin, block = gone + 1, _BLOCK
        else:
            begin, block = begin + block, 2 * block
    return _forecast(sizes, removals, start, cleared, fires)


def _jumping(sizes: _Sizes, removals: Removals) -> Forecast:
    """Compaction, and clearing by a trigger or in batches: from one request at which they act to the next."""
    import numpy as np

    batch, compact = removals.batch, removals.compact
    last = len(sizes.upto) - 1
    sums = [e * sizes.a + results for e, results in enumerate(sizes.upto)]
    saved = _Saved(sizes.upto, removals.placeholder)
    cleared = np.zeros(last + 2, dtype=np.int64)
    fires: list[int] = []
    e, gone, done, front = 0, 0, 0, sizes.fixed
    while True:
        # What the next requests carry beside the sums up to them; it holds until a control acts.
        beside = front + (done - gone) * (sizes.a + removals.placeholder) - sums[done]
        fire = last + 1 if compact is None else bisect_right(sums, compact.trigger - beside, e + 1)
        clear = fire + 1
        if batch is not None:
            over = bisect_right(sums, batch.trigger - beside, e + 1) if batch.trigger else e + 1
            clear = batch.keep + saved.first(batch.at_least, done, max(over - batch.keep, done + 1), fire - batch.keep)
        e = min(fire, clear)
        if e > last:
            break
        if batch is not None and e == clear:
            done = cleared[e] = e - batch.keep
            kept = front + (done - gone) * (sizes.a + removals.placeholder) + sums[e] - sums[done]
            if compact is None or kept <= compact.trigger:
                continue
        if compact is not None:
            fires.append(e)
            gone = done = e
            front = sizes.fixed + compact.summary
    start = np.zeros(last + 1, dtype=np.int64)
    behind = [fire + 1 for fire in fires if fire < last]
    start[behind] = fires[: len(behind)]
    start = np.maximum.accumulate(start)
    return _forecast(sizes, removals, start, np.maximum.accumulate(np.maximum(start, cleared[: last + 1])), fires)


class _Saved:
    """What clearing results saves: ``sums[i]`` tokens for the first i of them."""

    def __init__(self, upto: list[int], placeholder: int) -> None:
        self.sums = [results - i * placeholder for i, results in enumerate(upto)]
        self.grows = all(one <= other for one, other in zip(self.sums, self.sums[1:], strict=False))

    def first(self, least: int, done: int, begin: int, end: int) -> int:
        """The first i of `begin` .. `end` where clearing results `done` .. i - 1 saves `least`, else a later one."""
        if not least or begin > end:
            return begin
        wanted = least + self.sums[done]
        if self.grows:
            return bisect_left(self.sums, wanted, begin)
        end = min(end, len(self.sums) - 1)
        return next((i for i in range(begin, end + 1) if self.sums[i] >= wanted), end + 1)


def _tokens(sizes: _Sizes, removals: Removals, upto: "Row", e: "Row", start: "Row", cleared: "Row") -> "Row":
    """I(k) without a summary, by the formula at the top."""
    whole: Row = upto[e] - upto[cleared]
    return sizes.fixed + (e - start) * sizes.a + (cleared - start) * removals.placeholder + whole


def _forecast(sizes: _Sizes, removals: Removals, start: "Row", cleared: "Row", fires: list[int]) -> Forecast:
    """All fields from the rows as they are before compaction, which then happens after the steps `fires`.

    What stays as it was in the request before ends at the first edit: right after S + U for a summary, right after the
    summary for dropped steps, at the first result that is cleared newly otherwise.
    """
    import numpy as np

    a, placeholder = sizes.a, removals.placeholder
    size = removals.compact.summary if removals.compact is not None else 0
    upto = np.array(sizes.upto)
    e = np.arange(len(upto))
    summary = np.zeros_like(e)
    if fires:
        summary[fires[0] + 1 :] = size
    pending = _tokens(sizes, removals, upto, e, start, cleared) + summary
    requests = pending.copy()
    requests[fires] = sizes.fixed + size
    start_after, cleared_after = start.copy(), cleared.copy()
    start_after[fires] = cleared_after[fires] = fires

    same = np.zeros_like(e)
    front = sizes.fixed + summary[1:]
    cleared_before = front + (cleared_after - start_after)[:-1] * (a + placeholder) + a
    same[1:] = requests[:-1]
    same[1:] = np.where(cleared[1:] > cleared_after[:-1], np.minimum(same[1:], cleared_before), same[1:])
    same[1:] = np.where(start[1:] > start_after[:-1], np.minimum(same[1:], front), same[1:])
    read = same[fires].tolist()
    same[fires] = np.minimum(same[fires], sizes.fixed)
    calls = zip(fires, pending[fires].tolist(), read, strict=True)
    return Forecast(
        requests=tuple(requests.tolist()),
        same=tuple(same.tolist()),
        a=a,
        summaries=tuple(SummaryCall(before=k + 1, input=tokens, same=held, output=size) for k, tokens, held in calls),
    )
