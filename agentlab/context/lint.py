"""Advice on a control's parameters: numbers that are allowed and do not do what they are set for."""

from collections.abc import Iterator
from typing import NamedTuple

from agentlab.context.arrivals import Handles
from agentlab.context.controls import ClearToolResults, Compact, Control, KeepAll, TrimTurns
from agentlab.context.forecast import Forecast, Results, result_sizes
from agentlab.context.growth import check_sizes, whole_number
from agentlab.context.subagents import SubAgents
from agentlab.shapes import Finding

LARGE_SHARE = 0.1
"""A result that fills more of the model's window than this. Ten such results fill it, whatever else is sent."""

_FEW = 3
"""Fewer steps than this between two edits, and what an edit costs comes again before it has paid."""

RULES = {
    "G01": "the trigger of a compaction is below what a request holds right after it: a summary on every step",
    "G02": "fewer than 3 steps fit between two compactions",
    "G03": "a placeholder, or a handle, is as large as what it stands for",
    "G04": "a window holds not even one step",
    "G05": "under a cache, results are cleared on every step, or nearly",
    "G06": "under a cache, a window moves on every step",
    "G07": "the run is longer than 95 of 100 runs of its kind",
    "G08": "one result takes a large share of the model's window",
    "G09": "a request, or a summarising call, is larger than the model's window",
    "G10": "the trigger is above the model's window",
    "G11": "the control changes nothing in this run",
}
"""What each finding says. All are advice: none is refused by anybody."""


class Run(NamedTuple):
    """What the advice is about: sizes in tokens, the number of requests, and what is known beyond them.

    ``N`` None: the advice is on the control alone. ``max_input``: the model's window in tokens. ``p95``: the number of
    requests that 95 of 100 runs of this kind do not exceed.
    """

    S: int
    U: int
    a: int
    r: Results
    N: int | None = None
    caching: bool = False
    max_input: int | None = None
    p95: int | None = None

    @property
    def largest_result(self) -> int:
        """Tokens of the largest result."""
        return self.r if isinstance(self.r, int) else max(self.r, default=0)

    @property
    def mean_result(self) -> int:
        """Tokens of a result on the average, rounded."""
        return self.r if isinstance(self.r, int) else round(sum(self.r) / max(1, len(self.r)))


def advise(
    control: Control | SubAgents,
    S: int,
    U: int,
    a: int,
    r: Results,
    *,
    N: int | None = None,
    caching: bool = False,
    max_input: int | None = None,
    p95: int | None = None,
) -> list[Finding]:
    """Findings about `control` for a run of these sizes (tokens); an empty list where nothing stands out.

    Each of `N`, `caching`, `max_input` (the model's window in tokens) and `p95` (requests) that is given allows more
    to be said, see `RULES`. Of sub-agents it is said about their own control, and about the windows of all agents.
    Raises AgentlabError for sizes that are no sizes.
    """
    check_sizes(S, U, a, 0, 1 if N is None else N)
    if N is not None:
        result_sizes(r, N)
    elif isinstance(r, int):
        whole_number("r", r)
    run = Run(S, U, a, r, N, caching, max_input, p95)
    if isinstance(control, SubAgents):
        own = run._replace(S=control.S, U=control.U, N=control.calls + 1)
        return [*_on_parts(control.inside, own), *_on_run(control, control.inside, run)]
    return [*_on_parts(control, run), *_on_run(control, control, run)]


def _on_parts(control: Control, run: Run) -> list[Finding]:
    return [finding for part in control.single() for finding in _on_control(part, run)]


def _on_control(control: Control, run: Run) -> Iterator[Finding]:
    if isinstance(control, Compact):
        yield from _compaction(control, run)
    if isinstance(control, ClearToolResults):
        yield from _clearing(control, run)
    if isinstance(control, Handles) and control.handle >= run.mean_result > 0:
        yield _stand_in("handle", control.handle, run)
    if isinstance(control, TrimTurns):
        yield from _trimming(control, run)
    trigger = getattr(control, "trigger", 0)
    if run.max_input is not None and trigger >= run.max_input:
        yield _finding(
            "G10",
            f"trigger = {trigger:,}",
            f"the model takes {run.max_input:,} tokens at most, so the request is refused before this control acts",
            f"lower the trigger well below {run.max_input:,}: the reply needs room too",
        )


def _compaction(control: Compact, run: Run) -> Iterator[Finding]:
    after, step = run.S + run.U + control.summary, run.a + run.mean_result
    where = f"trigger = {control.trigger:,}"
    fix = f"raise the trigger to {after + _FEW * step:,} or more, or make"
    if control.trigger < after:
        yield _finding(
            "G01",
            where,
            f"right after a summary a request holds S + U + s = {after:,} tokens: compaction fires on every step",
            f"{fix} S, U or the summary smaller",
        )
    elif control.trigger < after + _FEW * step:
        often = _often((control.trigger - after) // step + 1)
        yield _finding(
            "G02",
            where,
            f"after a summary less than {_FEW} steps fit: at a + r = {step:,} tokens a step, compaction fires {often}",
            f"{fix} the results (r) smaller",
        )


def _clearing(control: ClearToolResults, run: Run) -> Iterator[Finding]:
    if run.mean_result and control.placeholder >= run.mean_result:
        yield _stand_in("placeholder", control.placeholder, run)
    elif run.caching and run.mean_result and control.at_least <= _FEW * (run.mean_result - control.placeholder):
        often = _often(max(1, -(-control.at_least // (run.mean_result - control.placeholder))))
        yield _finding(
            "G05",
            f"at_least = {control.at_least:,}",
            f"results are cleared {often}, and each time what stands behind them is written into the cache again",
            f"clear rarely and much at a time: at_least of several results, such as {10 * run.mean_result:,}",
        )


def _trimming(control: TrimTurns, run: Run) -> Iterator[Finding]:
    where = f"window = {control.window:,}"
    if control.window < 2:
        yield _finding(
            "G04",
            where,
            "a step is two messages, so the model never sees a result of its calls",
            "take a window of at least 2 messages",
        )
    elif run.caching and (run.N is None or control.window < 2 * (run.N - 1)):
        yield _finding(
            "G06",
            where,
            "once it is full, each step drops the oldest one, and only prompt and task are read from the cache",
            "compact above a trigger instead: the history then grows, and is cached, between two summaries",
        )


def _on_run(control: Control | SubAgents, receives: Control, run: Run) -> Iterator[Finding]:
    """What concerns the run as a whole; `receives` is the control of the agent whose calls return the results."""
    if run.N is not None and run.p95 is not None and run.p95 < run.N:
        yield _finding(
            "G07",
            f"N = {run.N:,}",
            f"95 of 100 runs of this kind end within {run.p95:,} requests",
            "set the budget of model calls there, and look at the runs that need more",
        )
    sizes = run.S, run.U, run.a, run.r
    forecast = None if run.N is None else control.forecast(*sizes, run.N)
    if run.N is not None and not isinstance(control, KeepAll | SubAgents):
        plain = KeepAll().forecast(*sizes, run.N)
        if forecast == plain:
            yield _finding(
                "G11",
                control.label,
                f"in {run.N:,} requests of up to {plain.largest:,} tokens it never acts: the run sends what keeping "
                "all would send",
                "make its limit smaller than what the run reaches, or leave the control out",
            )
    if run.max_input is None:
        return
    arrived = receives.arriving((run.largest_result,))
    if arrived and max(arrived) > LARGE_SHARE * run.max_input:
        yield _finding(
            "G08",
            f"r = {max(arrived):,}",
            f"one result takes {max(arrived) / run.max_input:.0%} of the model's window of {run.max_input:,} tokens",
            "page, filter or cap it where it arises, or return a handle",
        )
    if forecast is not None:
        yield from _too_large(forecast, run.max_input)
        too_large = (list(_too_large(each, run.max_input, "a sub-agent's ")) for each in forecast.subruns)
        yield from next((found for found in too_large if found), [])


def _too_large(forecast: Forecast, max_input: int, whose: str = "") -> Iterator[Finding]:
    k = forecast.first_over(max_input)
    if k is not None:
        yield _finding(
            "G09",
            f"{whose}request {k:,}",
            f"it has {forecast.requests[k - 1]:,} tokens and the model takes {max_input:,} at most: the run ends there",
            "remove history before, or end the run earlier",
        )
    call = next((call for call in forecast.summaries if call.input > max_input), None)
    if call is not None:
        yield _finding(
            "G09",
            f"the summary before {whose}request {call.before:,}",
            f"it reads {call.input:,} tokens and the model takes {max_input:,} at most: no summary can be made",
            "lower the trigger by at least the size of one step",
        )


def _often(every: int) -> str:
    return "on every step" if every == 1 else f"every {every} steps"


def _stand_in(name: str, size: int, run: Run) -> Finding:
    saves = "clearing saves nothing" if name == "placeholder" else "it saves nothing"
    return _finding(
        "G03",
        f"{name} = {size:,}",
        f"the {name} is as large as a result (r = {run.mean_result:,}), so {saves}",
        f"take a shorter {name}, or leave such results alone",
    )


def _finding(rule: str, where: str, message: str, fix: str) -> Finding:
    return Finding(rule=rule, level="should", where=where, message=message, fix=fix)
