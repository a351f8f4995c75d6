"""What calculating costs: a sweep of a million points in closed form next to plain loops, and one move of a slider.

A plain loop is the simulation that ``control.forecast`` is; for three controls also the barest loop that one would
write by hand for nothing but the same sums, because the simulation does more than add up.

Run it with ``.venv/bin/python benchmarks/context.py``. It prints times and ratios of this machine; it is no test.
"""

import time
from collections.abc import Callable

import numpy as np

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.closed import totals
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.curves import curve
from agentlab.context.subagents import SubAgents

CONTROLS: tuple[Control | SubAgents, ...] = (
    KeepAll(),
    ClearToolResults(keep=3, placeholder=20),
    ClearToolResults(keep=3, placeholder=20, trigger=30_000, at_least=10_000),
    TrimTurns(window=20),
    Compact(trigger=30_000, summary=1_500),
    CapResults(cap=900),
    Handles(over=1_000, handle=60, loads=5),
    SubAgents(calls=5, summary=300, S=2_000, U=200),
    Combined((CapResults(cap=900), ClearToolResults(keep=3, placeholder=20))),
    Combined((ClearToolResults(keep=6, placeholder=20), Compact(trigger=30_000, summary=1_500))),
)
POINTS = 1_000_000
SAMPLE = 200
"""Points of each control that a plain loop takes; the time of all is scaled up from them."""

NEVER = 10**9
BARE = {  # keep, placeholder, trigger, summary
    KeepAll(): (NEVER, 0, NEVER, 0),
    ClearToolResults(keep=3, placeholder=20): (3, 20, NEVER, 0),
    Compact(trigger=30_000, summary=1_500): (NEVER, 0, 30_000, 1_500),
}

SLIDER = {"S": 3_000, "U": 500, "a": 150, "r": 1_200, "N": 1_000}


def bare_loop(
    S: int, U: int, a: int, r: int, N: int, keep: int, placeholder: int, trigger: int, summary: int
) -> tuple[int, ...]:
    """All input, its cacheable part, the largest request, and the input of the summarising calls."""
    fixed = base = S + U
    total = same = largest = read = read_same = steps = before = 0
    for k in range(N):
        if steps <= keep:
            request, held = base + steps * (a + r), before
        else:
            request = base + steps * a + keep * r + (steps - keep) * placeholder
            held = min(before, base + (steps - 1 - keep) * (a + placeholder) + a)
        if k and request > trigger:
            read += request
            read_same += held
            base = request = fixed + summary
            held, steps = fixed, 0
        total += request
        same += held
        largest = max(largest, request)
        before = request
        steps += 1
    return total + read, same + read_same, largest, read


def seconds(work: Callable[[], object], tries: int = 3) -> float:
    """Seconds that `work` takes, the best of some tries."""
    best = float("inf")
    for _ in range(tries):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def check(control: Control, sample: list[tuple[int, ...]]) -> None:
    """Both calculations must come to the same, or their times say nothing."""
    sums = totals(control, *zip(*sample, strict=True))
    columns = (sums.all_input, sums.all_same, sums.largest, sums.summary_input)
    by_loop = [bare_loop(*point, *BARE[control]) for point in sample]
    if by_loop != list(zip(*(column.tolist() for column in columns), strict=True)):
        raise SystemExit(f"the bare loop and the closed form of '{control.label}' disagree")


def main() -> None:
    """Print a line for each control, then both totals with their ratio, then the slider."""
    numbers = np.random.default_rng(seed=4)
    each = POINTS // len(CONTROLS)
    # The ranges in which real agents lie (data/facts/runs.csv), and runs of up to 200 requests.
    highest = {"S": 40_000, "U": 4_000, "a": 800, "r": 4_000, "N": 200}
    points = {name: numbers.integers(1, most, each, endpoint=True) for name, most in highest.items()}
    columns = list(points.values())
    sample = [tuple(int(column[i]) for column in columns) for i in range(SAMPLE)]

    print(f"{POINTS:,} points of S, U, a, r, N and control; a loop took {SAMPLE} of each control, scaled up")
    in_arrays = in_loops = 0.0
    totals(KeepAll(), *columns)  # the first use of numpy is slower
    for control in CONTROLS:
        fast = seconds(lambda control=control: totals(control, *columns))
        slow = seconds(lambda control=control: [control.forecast(*point).all_input for point in sample], 1)
        slow *= each / SAMPLE
        in_arrays, in_loops = in_arrays + fast, in_loops + slow
        print(f"  {control.label:45} {fast:8.3f} s   simulation {slow:8.1f} s   {slow / fast:8,.0f} times")
        if control in BARE:
            bare = seconds(lambda form=BARE[control]: [bare_loop(*point, *form) for point in sample]) * each / SAMPLE
            check(control, sample)
            print(f"  {'':45} {'':8}     bare loop  {bare:8.1f} s   {bare / fast:8,.0f} times")
    print(f"  {'all':45} {in_arrays:8.3f} s   simulation {in_loops:8.1f} s   {in_loops / in_arrays:8,.0f} times")

    moves = [seconds(lambda control=control: curve(control, **SLIDER), 20) for control in CONTROLS]
    print(f"one move of a slider, N = {SLIDER['N']:,}: all {len(CONTROLS)} curves in {sum(moves) * 1000:.1f} ms")
    for control, move in zip(CONTROLS, moves, strict=True):
        print(f"  {control.label:45} {move * 1000:8.2f} ms")


if __name__ == "__main__":
    main()
