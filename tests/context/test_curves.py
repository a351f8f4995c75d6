"""The calculator in arrays and the simulation are one calculator."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.curves import curve, has_curve
from agentlab.context.forecast import History, Results
from agentlab.context.subagents import SubAgents
from agentlab.errors import AgentlabError

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
sizes = st.integers(0, 400)
# Beside ordinary numbers those at which a formula tends to break: nothing, one, and never.
keeps = st.integers(0, 12) | st.sampled_from([0, 1, 10**9])
windows = st.integers(1, 30) | st.sampled_from([1, 2, 3, 10**9])
triggers = st.integers(0, 6_000)
placeholders = st.integers(0, 60)
compactions = st.builds(Compact, triggers, sizes)
caps = st.builds(CapResults, st.integers(60, 400))
handles = st.builds(
    lambda over, handle, loads: Handles(over=over, handle=handle, loads=loads),
    st.integers(60, 400),
    st.integers(0, 60),
    st.integers(0, 5),
)


@st.composite
def controls(draw: Callable) -> Control:  # type: ignore[type-arg]
    """All controls in every order that is allowed, alone and together."""
    placeholder = draw(placeholders)
    plain = st.builds(lambda keep: ClearToolResults(keep=keep, placeholder=placeholder), keeps)
    batch = st.builds(
        lambda keep, trigger, least: ClearToolResults(keep, placeholder, trigger=trigger, at_least=least),
        keeps,
        st.just(0) | triggers,
        st.integers(0, 1_500),
    )
    trim = st.builds(TrimTurns, windows)
    removing = draw(
        st.lists(plain | trim | st.just(KeepAll()), max_size=3)
        | batch.map(lambda one: [one])
        | st.lists(plain | trim | batch, max_size=3)
    )
    arriving = draw(st.lists(caps | handles, max_size=2))
    last = draw(st.lists(compactions, max_size=1))
    parts = (*arriving, *removing, *last)
    return parts[0] if len(parts) == 1 else Combined(parts)


@st.composite
def runs(draw: Callable) -> tuple[int, int, int, Results, int]:  # type: ignore[type-arg]
    """S, U, a, r and N, with one size of result or with one for each."""
    N = draw(st.integers(1, 60) | st.integers(60, 160))
    # Few different sizes make runs of equal requests likely, and so what lies exactly on a trigger.
    several = st.lists(st.sampled_from([0, 1, 20, 60, 100, 399]) | sizes, min_size=N - 1, max_size=N - 1)
    return draw(sizes), draw(sizes), draw(sizes), draw(sizes | several.map(tuple)), N


@settings(max_examples=800)
@given(controls(), runs())
def test_a_curve_is_the_simulation_field_for_field(control: Control, run: tuple[int, int, int, Results, int]) -> None:
    assert curve(control, *run) == control.forecast(*run)


@settings(max_examples=200)
@given(controls(), st.integers(1, 40), sizes, runs())
def test_a_curve_with_sub_agents_is_their_forecast(
    inside: Control, calls: int, summary: int, run: tuple[int, int, int, Results, int]
) -> None:
    control = SubAgents(calls=calls, summary=summary, S=200, U=30, inside=inside)
    assert curve(control, *run) == control.forecast(*run)


@pytest.mark.parametrize(
    "control",
    [
        KeepAll(),
        ClearToolResults(keep=3, placeholder=20),
        ClearToolResults(keep=3, placeholder=20, trigger=9_000, at_least=5_000),
        TrimTurns(window=20),
        Compact(trigger=20_000, summary=1_500),
        Combined((ClearToolResults(keep=3, trigger=9_000, at_least=5_000), Compact(trigger=20_000))),
        Combined((CapResults(900), ClearToolResults(keep=3), TrimTurns(20), Compact(trigger=9_000))),
    ],
    ids=lambda control: control.label,
)
def test_a_long_run_is_the_simulation_too(control: Control) -> None:
    uneven = tuple(100 + (k * 7919) % 2_300 for k in range(2_999))
    for r in (1_200, uneven):
        assert has_curve(control)
        assert curve(control, 3_000, 500, 150, r, 3_000) == control.forecast(3_000, 500, 150, r, 3_000)


def test_the_largest_sizes_stay_whole_numbers() -> None:
    run = (10**9, 10**9, 10**9, 10**9, 1_000)
    for control in (KeepAll(), ClearToolResults(keep=0, placeholder=10**9), Compact(trigger=10**9, summary=10**9)):
        assert curve(control, *run) == control.forecast(*run)


class _OfAnother(Control):
    """A control that the formulas do not know."""

    @property
    def label(self) -> str:
        return "drop all"

    def shrink(self, history: History) -> History:
        return history.drop(history.end)

    def apply(self, messages, counter=None, summary=None):  # type: ignore[no-untyped-def]
        raise NotImplementedError


@pytest.mark.parametrize(
    "control",
    [
        _OfAnother(),
        Combined((ClearToolResults(trigger=9_000), TrimTurns(20))),
        Combined((ClearToolResults(keep=6), ClearToolResults(keep=2, trigger=9_000))),
    ],
    ids=lambda control: control.label,
)
def test_what_has_no_formula_says_so_and_is_simulated(control: Control) -> None:
    assert not has_curve(control)
    assert not has_curve(SubAgents(calls=3, summary=1, S=1, U=1, inside=control))
    assert curve(control, **COURSE, N=40) == control.forecast(**COURSE, N=40)


@pytest.mark.parametrize("control", [KeepAll(), Compact(9_000), SubAgents(calls=2, summary=9, S=1, U=1)])
def test_sizes_that_are_none_are_refused_as_the_simulation_refuses_them(control: Control | SubAgents) -> None:
    for r, N, said in [(-1, 4, "r is -1"), ((5, 5), 2, "r has 2 sizes"), (1, 0, "N is 0")]:
        with pytest.raises(AgentlabError, match=said):
            curve(control, 1, 1, 1, r, N)
