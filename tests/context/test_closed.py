"""The closed forms are the sums of the simulation, to the token."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentlab.context import growth
from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.closed import Totals, has_closed_form, totals
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.forecast import Forecast
from agentlab.context.subagents import SubAgents
from agentlab.errors import AgentlabError

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
sizes = st.integers(0, 400)
steps = st.integers(1, 90)
keeps = st.integers(0, 12) | st.sampled_from([0, 1, 10**9])
windows = st.integers(1, 30) | st.sampled_from([1, 2, 3, 10**9])
triggers = st.integers(0, 8_000)
placeholders = st.integers(0, 60)
caps = st.builds(CapResults, st.integers(60, 400))


def handles(loads: st.SearchStrategy[int]) -> st.SearchStrategy[Handles]:
    return st.builds(
        lambda over, handle, loads: Handles(over=over, handle=handle, loads=loads),
        st.integers(60, 400),
        st.integers(0, 60),
        loads,
    )


@st.composite
def controls(draw: Callable) -> Control:  # type: ignore[type-arg]
    """Every combination with a closed form."""
    placeholder = draw(placeholders)
    plain = st.builds(lambda keep: ClearToolResults(keep=keep, placeholder=placeholder), keeps)
    batch = st.builds(
        lambda keep, trigger, least: [ClearToolResults(keep, placeholder, trigger=trigger, at_least=least)],
        keeps,
        st.just(0) | triggers,
        st.integers(0, 1_500),
    )
    compact = st.lists(st.builds(Compact, triggers, sizes), max_size=1)
    every_step = st.lists(plain | st.builds(TrimTurns, windows) | st.just(KeepAll()), max_size=3)
    removing = draw(batch | st.builds(lambda some, last: some + last, every_step, compact))
    arriving = draw(st.lists(caps | handles(st.just(0)), max_size=2))
    loading = draw(st.lists(handles(st.integers(1, 60)), max_size=1)) if removing == [] else []
    parts = tuple(draw(st.permutations(arriving + loading))) + tuple(removing)
    return parts[0] if len(parts) == 1 else Combined(parts)


def summed(run: Forecast) -> dict[str, int]:
    """What the closed forms say, from a simulated run."""
    summary_same = sum(call.same for call in run.summaries)
    return {
        "total": run.total,
        "last": run.last,
        "largest": run.largest,
        "same": sum(run.same),
        "compactions": run.compactions,
        "summary_input": run.summary_input,
        "summary_same": summary_same,
        "summary_output": run.summary_output,
        "summary_largest": run.summary_largest,
        "all_input": run.all_input,
        "all_same": sum(run.same) + summary_same + sum(summed(inner)["all_same"] for inner in run.subruns),
        "output": run.output,
        "model_calls": run.model_calls,
    }


def of_one(sums: Totals) -> dict[str, int]:
    return {name: int(row) for name, row in sums._asdict().items()}


@settings(max_examples=800)
@given(controls(), sizes, sizes, sizes, sizes, steps)
def test_a_closed_form_is_the_sum_of_the_simulation(control: Control, S: int, U: int, a: int, r: int, N: int) -> None:
    assert of_one(totals(control, S, U, a, r, N)) == summed(control.forecast(S, U, a, r, N))


@settings(max_examples=300)
@given(controls(), st.integers(1, 40) | st.just(10**9), sizes, sizes, sizes, sizes, sizes, steps)
def test_the_closed_form_of_sub_agents_is_the_sum_of_all_their_runs(
    inside: Control, calls: int, summary: int, S: int, U: int, a: int, r: int, N: int
) -> None:
    control = SubAgents(calls=calls, summary=summary, S=S, U=30, inside=inside)
    assert of_one(totals(control, 300, U, a, r, N)) == summed(control.forecast(300, U, a, r, N))


@given(st.lists(st.tuples(sizes, sizes, sizes, sizes, steps), min_size=1, max_size=20), controls())
def test_a_point_comes_out_the_same_among_others_as_alone(
    points: list[tuple[int, int, int, int, int]], control: Control
) -> None:
    together = totals(control, *(list(column) for column in zip(*points, strict=True)))
    alone = [totals(control, *point) for point in points]
    for name in Totals._fields:
        assert getattr(together, name).tolist() == [int(getattr(one, name)) for one in alone]


@given(sizes, sizes, sizes, sizes, steps, st.integers(0, 50), st.integers(1, 90))
def test_the_short_formulas_of_growth_say_the_same(
    S: int, U: int, a: int, r: int, N: int, some: int, window: int
) -> None:
    assert totals(KeepAll(), S, U, a, r, N).total == growth.total(S, U, a, r, N)
    clearing = ClearToolResults(keep=some, placeholder=20)
    assert totals(clearing, S, U, a, r, N).total == growth.total_clearing(S, U, a, r, N, some, 20)
    assert totals(TrimTurns(window), S, U, a, r, N).total == growth.total_trimming(S, U, a, r, N, window)


def test_points_are_broadcast() -> None:
    sums = totals(KeepAll(), 3_000, 500, 150, np.array([[100], [1_200]]), np.array([5, 10, 20]))
    assert sums.total.shape == (2, 3)
    assert sums.total[1].tolist() == [31_000, 95_750, 326_500]
    assert totals(KeepAll(), [], [], [], [], []).total.tolist() == []


@pytest.mark.parametrize("at_least", [300, 1_000, 3_000])
@pytest.mark.parametrize("trigger", [0, 1_500, 3_000])
def test_a_run_that_ends_anywhere_between_two_clearings_is_summed(trigger: int, at_least: int) -> None:
    control = ClearToolResults(keep=2, placeholder=5, trigger=trigger, at_least=at_least)
    for N in range(1, 80):
        assert of_one(totals(control, 100, 10, 20, 100, N)) == summed(control.forecast(100, 10, 20, 100, N))


@pytest.mark.parametrize(
    "others", [(), (CapResults(800),), (Handles(over=500, handle=50),), (CapResults(500), Handles(over=400, handle=9))]
)
def test_what_is_loaded_is_a_result_too_for_the_controls_behind(others: tuple[Control, ...]) -> None:
    loading = Handles(over=1_000, handle=60, loads=4)
    for parts in ((loading, *others), (*others, loading)):
        for N in (1, 2, 4, 5, 40):
            run = Combined(parts).forecast(**COURSE, N=N)
            assert of_one(totals(Combined(parts), **COURSE, N=N)) == summed(run)


@pytest.mark.parametrize("trigger", [20_000, 100_000])
def test_clearing_that_begins_late_in_a_very_long_run_is_summed_too(trigger: int) -> None:
    control = ClearToolResults(keep=3, placeholder=20, trigger=trigger, at_least=7_000)
    assert of_one(totals(control, **COURSE, N=4_000)) == summed(control.forecast(**COURSE, N=4_000))


@pytest.mark.parametrize(
    "control",
    [
        Combined((ClearToolResults(trigger=9_000), TrimTurns(20))),
        Combined((ClearToolResults(trigger=9_000), Compact(20_000))),
        Combined((Handles(loads=2), TrimTurns(20))),
        Combined((Handles(over=900, loads=2), Handles(over=800, loads=1))),
        SubAgents(calls=3, summary=1, S=1, U=1, inside=Combined((Handles(loads=2), Compact(9_000)))),
    ],
    ids=lambda control: control.label,
)
def test_a_control_without_a_closed_form_is_refused_in_one_line(control: Control | SubAgents) -> None:
    assert not has_closed_form(control)
    with pytest.raises(
        AgentlabError, match=r"^'[^\n]*' has no closed form: [^\n]*; sum the curve of each point instead$"
    ):
        totals(control, **COURSE, N=40)


@settings(max_examples=100)
@given(controls(), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 30))
def test_sums_of_huge_sizes_are_exact_or_refused(control: Control, S: int, a: int, r: int, N: int) -> None:
    try:
        sums = totals(control, S, S, a, r, N)
    except AgentlabError as refused:
        assume("64 bits" not in str(refused))
        raise
    assert of_one(sums) == summed(control.forecast(S, S, a, r, N))


@pytest.mark.parametrize("control", [KeepAll(), Compact(10**9, summary=10**9), ClearToolResults(placeholder=10**9)])
def test_a_sum_that_does_not_fit_is_refused_in_one_line(control: Control) -> None:
    for run in (control, SubAgents(calls=10**5, summary=1, S=1, U=1, inside=control)):
        with pytest.raises(AgentlabError, match=r"^S, U, a, r and N are so large [^\n]* 64 bits; give smaller ones$"):
            totals(run, 10**9, 10**9, 10**9, 10**9, 10**5)


def test_many_sub_agents_whose_sums_do_not_fit_together_are_refused() -> None:
    with pytest.raises(AgentlabError, match="64 bits"):
        totals(SubAgents(calls=20_000, summary=1, S=10**9, U=1), 1, 1, 10**9, 10**9, 10**5)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"S": -1}, "S is -1"),
        ({"U": 1.5}, "U is 1.5"),
        ({"a": True}, "a is True"),
        ({"r": [5, 10**10]}, "r is 10000000000"),
        ({"r": 10**30}, "r is a number of more than 18 digits"),
        ({"N": [4, 0]}, "N is 0"),
        ({"N": growth.MAX_STEPS + 1}, "N is 100001"),
        ({"S": [0.5, 2.0]}, "S is"),
        ({"S": "many"}, "S is 'many'"),
        ({"S": [1, 2, 3], "N": [1, 2]}, "the shapes of S"),
    ],
)
def test_points_that_make_no_sense_are_refused_in_one_line(changed: dict[str, object], said: str) -> None:
    with pytest.raises(AgentlabError, match=f"^{said}") as refused:
        totals(KeepAll(), **{**COURSE, "N": 10, **changed})  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
