"""A sweep: its grid, its controls as text, and its rows."""

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.closed import has_closed_form
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll
from agentlab.context.named import read_control
from agentlab.context.subagents import SubAgents
from agentlab.context.sweep import COLUMNS, LETTERS, Sweep, calculate, header, plan, read_values
from agentlab.errors import AgentlabError

VALUES = {"S": "3000", "U": "500", "a": "150", "r": "1200", "N": "40"}
CONTROLS = [
    "keep-all",
    "clear:keep=3,placeholder=20",
    "compact:trigger=20000",
    "sub-agents:calls=5,summary=300,S=2000,U=200",
    "clear:trigger=9000+trim:window=20",  # this one has a curve only
]


def rows_of(sweep: Sweep, start: int, stop: int) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(header() + calculate(sweep, start, stop).text)))


def small_sweep() -> Sweep:
    grid = {**VALUES, "S": "1000:3000:3", "r": "100,1200", "N": "1:60:4"}
    return plan(grid, CONTROLS)


# --- the grid -----------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(2, 50))
def test_evenly_spaced_values_include_both_ends_and_differ_by_one_at_most_in_their_distance(
    low: int, span: int, count: int
) -> None:
    high = low + max(span, count - 1)
    values = read_values("S", f"{low}:{high}:{count}")
    assert (len(values), values[0], values[-1]) == (count, low, high)
    distances = {later - earlier for earlier, later in pairwise(values)}
    assert max(distances) - min(distances) <= 1
    assert min(distances) >= 1


def test_values_may_be_one_number_or_a_list() -> None:
    assert read_values("S", "3000") == (3_000,)
    assert read_values("S", "5000,10") == (5_000, 10)
    assert read_values("S", "7:7:1") == (7,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "S is ''; expected a number like 3000, a list"),
        ("many", "S is 'many'"),
        ("1:2", "S is '1:2'"),
        ("1:2:3:4", "S is '1:2:3:4'"),
        ("-5", "S is '-5'"),
        ("1.5", "S is '1.5'"),
        ("1,,2", "S is '1,,2'"),
        ("1\n2", r"S is '1\\n2'"),
        ("٣", "S is '٣'"),
        ("20000:1000:10", "S goes from 20,000 down to 1,000"),
        ("1:9:0", "S asks for 0 values from 1 to 9; expected 2 to 9"),
        ("1:9:1", "S asks for 1 values from 1 to 9; expected 2 to 9"),
        ("1:9:10", "S asks for 10 values from 1 to 9; expected 2 to 9"),
        ("0:1000000:10001", "S asks for 10,001 values from 0 to 1,000,000; expected 2 to 10,000"),
        ("5,5", "S has a value twice"),
    ],
)
def test_values_that_make_no_sense_are_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(AgentlabError, match=f"^{said}") as refused:
        read_values("S", text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changed", "controls", "said"),
    [
        ({"N": "0:9:3"}, ["keep-all"], "N is 0"),
        ({"N": "1,200000"}, ["keep-all"], "N is 200000"),
        ({"r": "99999999999"}, ["keep-all"], "r is 99999999999"),
        ({"S": "1000000000", "a": "1000000000", "N": "100000"}, ["keep-all"], "S, U, a, r and N are so large"),
        (dict.fromkeys(("S", "U", "a", "r"), "1:9999:9999"), ["keep-all"], "the sweep has 9,996,000,5"),
        ({}, [], "a sweep compares controls"),
        ({}, ["trim", "keep-all", "trim"], "the control 'trim' is named twice"),
    ],
)
def test_a_sweep_that_cannot_be_calculated_is_refused_before_it_begins(
    changed: dict[str, str], controls: list[str], said: str
) -> None:
    with pytest.raises(AgentlabError, match=f"^{said}") as refused:
        plan({**VALUES, **changed}, controls)
    assert "\n" not in str(refused.value)


# --- controls as text ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("keep-all", KeepAll()),
        ("clear", ClearToolResults()),
        ("clear:keep=5, at_least=9", ClearToolResults(keep=5, at_least=9)),
        ("handles:over=900", Handles(over=900)),
        ("cap:cap=900 + compact:trigger=20000", Combined((CapResults(900), Compact(20_000)))),
        ("sub-agents:calls=5,summary=300,S=2000,U=200", SubAgents(5, 300, 2_000, 200)),
    ],
)
def test_a_control_can_be_named_in_text(text: str, control: Control | SubAgents) -> None:
    assert read_control(text) == control


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clera", "there is no control 'clera'; did you mean clear?"),
        ("", "there is no control ''; choose one of keep-all, clear"),
        ("clear:", None),
        ("clear:kept=3", "clear has no number 'kept'; it takes keep=..., placeholder=..., trigger=..., at_least=..."),
        ("clear:text=3", "clear has no number 'text'"),
        ("keep-all:x=1", "keep-all has no number 'x'; it takes none"),
        ("clear:keep=3,keep=4", "clear has keep twice"),
        ("clear:keep", "keep of clear is ''"),
        ("clear:keep=-1", "keep of clear is '-1'"),
        ("clear:keep=²", "keep of clear is '²'"),
        ("compact", "compact needs trigger; write compact:trigger=..."),
        ("sub-agents:calls=2,S=1", "sub-agents needs summary and U; write sub-agents:summary=...,U=..."),
        ("trim:window=0", "window is 0"),
        ("trim+sub-agents:calls=2,S=1,U=1,summary=1", "'trim.* combines sub-agents with another control"),
        ("compact:trigger=9+trim", "compaction must be the last control"),
    ],
)
def test_a_text_that_names_no_control_is_refused_in_one_line(text: str, said: str | None) -> None:
    if said is None:
        assert read_control(text) == ClearToolResults()
        return
    with pytest.raises(AgentlabError, match=f"^{said}") as refused:
        read_control(text)
    assert "\n" not in str(refused.value)


# --- the rows -----------------------------------------------------------------------------------


def test_each_row_is_the_forecast_of_its_point_and_control() -> None:
    sweep = small_sweep()
    rows = rows_of(sweep, 0, sweep.points)
    assert len(rows) == sweep.rows == 3 * 2 * 4 * len(CONTROLS)
    assert list(rows[0]) == list(COLUMNS)
    assert [row["control"] for row in rows[: len(CONTROLS)]] == CONTROLS
    assert not has_closed_form(read_control(CONTROLS[-1]))
    seen = set()
    for row in rows:
        point = {letter: int(row[letter]) for letter in LETTERS}
        run = read_control(row["control"]).forecast(**point)
        told = [int(row[name]) for name in ("all_input", "output", "model_calls", "largest", "compactions")]
        assert told == [run.all_input, run.output, run.model_calls, run.largest, run.compactions]
        own = sum(run.same) + sum(call.same for call in run.summaries)
        assert int(row["all_same"]) == own + sum(sum(inner.same) for inner in run.subruns)
        seen.add((*point.values(), row["control"]))
    assert len(seen) == len(rows)


@pytest.mark.parametrize("uncached", [False, True])
def test_the_best_row_of_a_point_is_the_first_with_the_least_input(uncached: bool) -> None:
    everything = small_sweep()
    best = Sweep(everything.values, everything.controls, best=True, uncached=uncached)
    kept = rows_of(best, 0, best.points)
    rows = rows_of(everything, 0, everything.points)
    expected = []
    for i in range(0, len(rows), len(CONTROLS)):
        expected.append(
            min(
                rows[i : i + len(CONTROLS)],
                key=lambda row: int(row["all_input"]) - (int(row["all_same"]) if uncached else 0),
            )
        )
    assert kept == expected
    counts = calculate(best, 0, best.points).cheapest
    assert list(counts) == [sum(row["control"] == name for row in kept) for name in CONTROLS]
    assert counts == calculate(Sweep(best.values, best.controls, uncached=uncached), 0, best.points).cheapest


@settings(max_examples=20)
@given(st.lists(st.integers(0, 24), max_size=5))
def test_a_sweep_in_parts_is_the_sweep(cuts: list[int]) -> None:
    sweep = small_sweep()
    edges = sorted({0, sweep.points, *cuts})
    parts = [calculate(sweep, start, stop) for start, stop in pairwise(edges)]
    whole = calculate(sweep, 0, sweep.points)
    assert "".join(part.text for part in parts) == whole.text
    assert tuple(map(sum, zip(*(part.cheapest for part in parts), strict=True))) == whole.cheapest


@given(st.integers(1, 10**6))
def test_the_parts_cover_every_point_once_and_stay_small(points: int) -> None:
    values = {**VALUES, "S": f"1:{points}:{points}" if 1 < points <= 10_000 else "1"}
    sweep = plan(values, ["keep-all", "trim"])
    parts = list(sweep.parts())
    assert parts[0][0] == 0
    assert parts[-1][1] == sweep.points
    assert all(earlier[1] == later[0] for earlier, later in pairwise(parts))
    assert max(stop - start for start, stop in parts) <= 10_000
