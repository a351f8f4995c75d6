"""The sizing sheet: every number on it is one that the calculator gives, and it says how the control fails."""

from typing import Any

import pytest

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.cost import Cache
from agentlab.context.lint import advise
from agentlab.context.prices import price_of
from agentlab.context.subagents import SubAgents
from agentlab.views.costs import priced, prices_sentence
from agentlab.views.growth import formula, grow
from agentlab.views.sheet import FAILURES, SHEET_BEGINS, Size, Sizing, failure, not_counted, prices_told, sheet

COURSE: dict[str, Any] = {"S": 3_000, "U": 500, "a": 150, "r": 1_200, "N": 40}
CONTROLS = (
    KeepAll(),
    ClearToolResults(),
    TrimTurns(),
    Compact(20_000),
    CapResults(500),
    Handles(),
    SubAgents(5, 300, 2_000, 100),
)


def sizing(control: Control | SubAgents | None = None, model: str | None = None, cache: Cache = "none") -> Sizing:
    run = grow(**COURSE, control=control)
    sizes = {name: Size(name, value, "assumed") for name, value in COURSE.items()}
    sizes |= {"S": Size("S", 3_000, "given"), "r": Size("r", 1_200, "measured", "the logs", 7)}
    findings = advise(run.control, *list(COURSE.values())[:4], N=40, caching=cache != "none")
    bill = None if model is None else tuple(priced([grow(**COURSE), run], model, cache))
    return Sizing(tuple(sizes.values()), ("A remark.",), run, tuple(findings), cache, bill)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.label)
def test_a_sheet_has_formula_figures_and_the_failure_of_its_control(control: Control | SubAgents) -> None:
    told = sizing(control)
    page = sheet(told)
    assert page.startswith(f"{SHEET_BEGINS}\n# Sizing sheet: {control.label}\n")
    assert all(f"    {line}\n" in page for line in formula(told.run))
    assert FAILURES[type(control)] in page
    assert f"| all requests | {told.run.forecast.total:,} |" in page
    assert "Money: no model was named." in page


def test_each_size_stands_with_its_origin() -> None:
    page = sheet(sizing())
    assert "| S: system prompt and tool schemas | 3,000 | given |" in page
    assert "| r: one tool result | 1,200 | measured in 7 runs |" in page
    assert "| N: requests in the run | 40 | assumed |" in page
    assert "\n\nA remark.\n\n" in page


def test_a_combination_fails_as_each_of_its_parts_does() -> None:
    both = Combined((ClearToolResults(), Combined((ClearToolResults(keep=1), Compact(9_000)))))
    assert failure(both) == f"{FAILURES[ClearToolResults]} {FAILURES[Compact]}"
    assert failure(Combined(())) == FAILURES[KeepAll]


def test_a_control_that_saves_tokens_and_costs_money_is_told_as_that() -> None:
    clearing, plain = (
        sheet(sizing(ClearToolResults(), "claude-opus-5", "5m")),
        sheet(sizing(ClearToolResults(), "claude-opus-5")),
    )
    assert "66% less" in clearing
    assert "66% less" in plain
    assert "It saves tokens and costs money." in clearing
    assert "It saves tokens and costs money." not in plain


def test_the_bill_has_both_runs_its_prices_and_their_date() -> None:
    told = sizing(Compact(20_000), "claude-opus-5", "5m")
    page = sheet(told)
    assert told.bill is not None
    for bill in told.bill:
        assert f"| {bill.plain.usd:.3f} | {bill.cached.usd:.3f} |" in page
    price = price_of("claude-opus-5")
    assert price.source in page
    assert price.date in page
    assert sheet(sizing(None, "claude-opus-5")).count("| keep all | 56,150 | 1,193,000 | 40 |") == 1


def test_the_price_of_an_hour_in_the_cache_is_told_where_it_was_asked_for() -> None:
    model, run = "claude-haiku-5-5", grow(**COURSE)
    usual, long = price_of(model), price_of(model, 10**6)
    assert prices_told(priced([run], model, "5m")) == prices_sentence(model)
    assert prices_told(priced([run], model, "1h")).removeprefix(prices_sentence(model)) == (
        f" Cache write for an hour: {usual.cache_write_1h}, {long.cache_write_1h} above {long.above:,} tokens."
    )


def test_findings_are_listed_or_their_absence_is_said() -> None:
    assert "- G05, at_least = 0: " in sheet(sizing(ClearToolResults(), None, "5m"))
    assert "None of the rules G01 to G11 has anything to say." in sheet(sizing(ClearToolResults()))


def test_what_is_not_counted_depends_on_what_was_asked() -> None:
    assert not any("cache" in line for line in not_counted(sizing()))
    assert any("an entry expires" in line for line in not_counted(sizing(None, None, "5m")))
    assert not any("no model" in line for line in not_counted(sizing(None, "claude-opus-5")))
    drawn = sizing()._replace(run=grow(3_000, 500, 150, (10, 20), 3))
    assert len(not_counted(drawn)) == len(not_counted(sizing())) - 1
