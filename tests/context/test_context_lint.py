"""Advice about parameters that are allowed and do not help, held against the forecast that it speaks of."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.cost import cost_of
from agentlab.context.lint import RULES, advise
from agentlab.context.subagents import SubAgents

COURSE = (3_000, 500, 150, 1_200)


@pytest.mark.parametrize(
    ("control", "rules"),
    [
        (Compact(trigger=4_999, summary=1_500), ["G01"]),
        (Compact(trigger=5_000, summary=1_500), ["G02"]),
        (Compact(trigger=9_049, summary=1_500), ["G02"]),
        (Compact(trigger=9_050, summary=1_500), []),
        (ClearToolResults(placeholder=1_200), ["G03"]),
        (ClearToolResults(placeholder=1_199), []),
        (TrimTurns(window=1), ["G04"]),
        (TrimTurns(window=2), []),
        (KeepAll(), []),
        (Combined((ClearToolResults(placeholder=1_200), Compact(trigger=0))), ["G03", "G01"]),
    ],
)
def test_each_rule_speaks_at_its_limit(control: Control, rules: list[str]) -> None:
    findings = advise(control, *COURSE)
    assert [finding.rule for finding in findings] == rules
    assert all(finding.fix and "\n" not in finding.message for finding in findings)


def told(control: Control, **known: Any) -> list[str]:
    return [finding.rule for finding in advise(control, *COURSE, **known)]


@pytest.mark.parametrize(
    ("control", "known", "rules"),
    [
        (ClearToolResults(), {"caching": True}, ["G05"]),
        (ClearToolResults(at_least=3 * 1_180), {"caching": True}, ["G05"]),
        (ClearToolResults(at_least=3 * 1_180 + 1), {"caching": True}, []),
        (ClearToolResults(), {"caching": False}, []),
        (TrimTurns(window=20), {"caching": True}, ["G06"]),
        (TrimTurns(window=20), {"caching": True, "N": 12}, ["G06"]),
        (TrimTurns(window=20), {"caching": True, "N": 11}, ["G11"]),
        (KeepAll(), {"N": 24, "p95": 23}, ["G07"]),
        (KeepAll(), {"N": 23, "p95": 23}, []),
        (KeepAll(), {"max_input": 11_999}, ["G08"]),
        (KeepAll(), {"max_input": 12_000}, []),
        (CapResults(1_199), {"max_input": 11_999}, []),
        (Handles(over=1_000), {"max_input": 11_999}, []),
        (KeepAll(), {"N": 40, "max_input": 56_149}, ["G09"]),
        (KeepAll(), {"N": 40, "max_input": 56_150}, []),
        (Compact(trigger=20_000), {"N": 40, "max_input": 21_199}, ["G09"]),
        (Compact(trigger=20_000), {"N": 40, "max_input": 21_200}, []),
        (Compact(trigger=20_000), {"max_input": 20_000}, ["G10"]),
        (Compact(trigger=20_000), {"max_input": 20_001}, []),
        (ClearToolResults(trigger=20_000), {"max_input": 20_000}, ["G10"]),
        (Handles(over=2_000, handle=1_200), {}, ["G03"]),
        (Combined((TrimTurns(window=4), Compact(trigger=0))), {"caching": True}, ["G06", "G01"]),
        (Compact(trigger=56_150), {"N": 40}, ["G11"]),
        (Compact(trigger=56_149), {"N": 40}, []),
        (CapResults(1_200), {"N": 2}, ["G11"]),
        (CapResults(1_199), {"N": 2}, []),
        (KeepAll(), {"N": 2}, []),
    ],
)
def test_what_is_known_beyond_the_sizes_lets_more_be_said(
    control: Control, known: dict[str, Any], rules: list[str]
) -> None:
    assert told(control, **known) == rules


def test_every_rule_is_spoken_somewhere_above() -> None:
    cases = (
        told(Compact(trigger=0), caching=True, N=40, max_input=9_000, p95=30),
        told(Compact(trigger=5_000, summary=1_500)),
        told(ClearToolResults(placeholder=1_200)),
        told(TrimTurns(window=1)),
        told(ClearToolResults(), caching=True),
        told(TrimTurns(), caching=True),
        told(Compact(trigger=9_050), max_input=9_050),
        told(KeepAll(), N=40, max_input=9_050),
        told(Compact(trigger=56_150), N=40),
    )
    assert {rule for found in cases for rule in found} == set(RULES)


def test_what_g05_and_g06_advise_is_cheaper_under_a_cache() -> None:
    def cost(control: Control) -> float:
        return float(cost_of(control.forecast(*COURSE, N=40), "claude-opus-5").usd)

    (finding,) = advise(ClearToolResults(), *COURSE, caching=True)
    at_least = int(finding.fix.rpartition(" ")[2].replace(",", ""))
    assert cost(ClearToolResults(at_least=at_least)) < cost(KeepAll()) < cost(ClearToolResults())
    assert cost(Compact(trigger=20_000)) < cost(TrimTurns(window=20))


def sub_agents(inside: Control | None = None, summary: int = 300, S: int = 2_000) -> SubAgents:
    return SubAgents(calls=10, summary=summary, S=S, U=100, inside=inside or KeepAll())


@pytest.mark.parametrize(
    ("control", "known", "rules"),
    [
        # Its own S + U + s = 3,600 decides on a sub-agent's compaction, not the lead's 5,000.
        (sub_agents(Compact(trigger=3_599)), {}, ["G01"]),
        (sub_agents(Compact(trigger=7_650)), {}, []),
        (sub_agents(TrimTurns(window=19)), {"caching": True}, ["G06"]),
        (sub_agents(TrimTurns(window=20)), {"caching": True}, []),
        (sub_agents(), {"max_input": 11_999, "N": 2}, ["G08"]),
        (sub_agents(CapResults(1_000)), {"max_input": 11_999, "N": 2}, []),
        # A sub-agent ends at 2,100 + 10 x 1,350 tokens, the lead at 3,500 + 4 x (150 + s).
        (sub_agents(), {"max_input": 15_599, "N": 40}, ["G09"]),
        (sub_agents(), {"max_input": 15_600, "N": 40}, []),
        (sub_agents(summary=3_000), {"max_input": 16_099, "N": 40}, ["G09"]),
        (sub_agents(summary=3_000), {"max_input": 16_100, "N": 40}, []),
        (sub_agents(), {"N": 24, "p95": 23}, ["G07"]),
    ],
)
def test_of_sub_agents_their_own_control_and_every_window_is_looked_at(
    control: SubAgents, known: dict[str, Any], rules: list[str]
) -> None:
    assert [finding.rule for finding in advise(control, *COURSE, **known)] == rules


def test_a_sub_agent_that_outgrows_the_window_is_named_once() -> None:
    (finding,) = advise(sub_agents(), *COURSE, N=40, max_input=15_599)
    assert finding.where == "a sub-agent's request 11"


def test_the_mean_of_uneven_results_decides_on_triggers_and_the_largest_on_the_window() -> None:
    uneven = (0, 0, 3_600)  # their mean is the course's r
    above, below = Compact(trigger=9_050), Compact(trigger=9_049)
    assert [f.rule for f in advise(below, 3_000, 500, 150, uneven)] == ["G02"]
    assert advise(above, 3_000, 500, 150, uneven) == []
    assert "G08" in {f.rule for f in advise(above, 3_000, 500, 150, uneven, N=4, max_input=35_999)}
    assert "G08" not in {f.rule for f in advise(above, 3_000, 500, 150, uneven, N=4, max_input=36_000)}


@given(st.integers(3_500, 12_000))
def test_how_often_compaction_fires_is_said_as_the_forecast_counts_it(trigger: int) -> None:
    control = Compact(trigger=trigger, summary=1_500)
    requests = control.forecast(*COURSE, N=60).requests
    fired = [k for k, size in enumerate(requests) if k and size == 5_000]
    gaps = {later - earlier for earlier, later in pairwise(fired)}
    findings = advise(control, *COURSE)
    if gaps == {1}:
        assert "on every step" in findings[0].message
    elif findings:
        assert {f"every {gap} steps" for gap in gaps} == {findings[0].message.rpartition("fires ")[2]}
    else:
        assert min(gaps) > 3


def test_the_fix_of_a_trigger_is_a_trigger_without_findings() -> None:
    for trigger in (0, 5_000):
        (finding,) = advise(Compact(trigger=trigger), *COURSE)
        wanted = int(finding.fix.split()[4].replace(",", ""))
        assert advise(Compact(trigger=wanted), *COURSE) == []
