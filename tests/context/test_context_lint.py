"""Advice about parameters that are allowed and do not help, held against the forecast that it speaks of."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.lint import advise

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
