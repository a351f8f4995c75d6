"""Presets: what was measured in public logs comes from the facts, with its count and its doubts."""

import pytest

from agentlab.context.growth import total
from agentlab.context.presets import Preset, preset, presets
from agentlab.errors import AgentlabError
from agentlab.facts import cited, read_facts


@pytest.mark.parametrize("each", presets(), ids=lambda each: each.name)
def test_a_preset_says_where_and_in_how_many_runs_it_was_measured(each):
    row = next(row for row in read_facts("runs") if row["name"] == each.name)
    assert each.runs == int(row["runs"]) >= 1
    assert each.source.startswith(cited(row))
    assert each.source.endswith(f", {each.runs} run" + ("s" if each.runs > 1 else ""))


@pytest.mark.parametrize("each", presets(), ids=lambda each: each.name)
def test_a_preset_can_be_put_into_the_growth_formula(each):
    assert each.N_median <= each.N_p95 <= each.N_max
    assert total(each.S, each.U, each.a, each.r, each.N_max) > each.N_max * (each.S + each.U)


@pytest.mark.parametrize("each", presets(), ids=lambda each: each.name)
def test_results_are_heavy_tailed_in_every_log_that_has_a_median(each):
    assert each.r_median is None or each.r_median < each.r / 3


def test_coding_agents_and_a_support_agent_are_among_the_presets():
    kinds = {each.label.partition(":")[0] for each in presets()}
    assert kinds == {"coding agent", "support agent", "security exercise"}
    assert len({each.name for each in presets()}) == len(presets()) >= 8


def test_a_session_that_inherited_its_history_is_a_fact_and_no_preset():
    left_out = {row["name"] for row in read_facts("runs")} - {each.name for each in presets()}
    assert left_out == {"claude-code-resumed"}


def test_where_a_range_was_measured_the_preset_takes_its_middle():
    row = next(row for row in read_facts("runs") if row["r_low"] != row["r_high"])
    taken = preset(row["name"]).r
    assert taken - int(row["r_low"]) <= int(row["r_high"]) - taken <= taken - int(row["r_low"]) + 1


def test_growth_that_was_not_measured_is_not_zero():
    assert preset("tau-bench-airline").growth is None
    assert preset("claude-code").growth == (670, 1690)


def test_an_unknown_preset_is_answered_with_the_names_there_are():
    with pytest.raises(AgentlabError, match="no preset 'nobody'; choose one of claude-code, ") as error:
        preset("nobody")
    assert all(each.name in str(error.value) for each in presets())


def test_presets_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        preset("pi").S = 0
    assert isinstance(preset("pi"), Preset)


def test_the_errors_of_the_constant_formula_come_with_their_counts():
    rows = read_facts("run_errors")
    assert {int(row["runs"]) for row in rows} == {21, 177}
    for row in rows:
        assert 0 < float(row["median"]) < float(row["p90"]) < float(row["largest"])


def test_the_replayed_savings_cover_each_run_once_and_no_length_twice():
    rows = read_facts("run_savings")
    assert sum(int(row["runs"]) for row in rows) == max(int(row["runs"]) for row in read_facts("run_errors"))
    ends = [(int(row["N_low"]), row["N_high"]) for row in rows]
    assert [low for low, _ in ends[1:]] == [int(high) + 1 for _, high in ends[:-1]]
    assert ends[-1][1] == ""


def test_in_the_replay_clearing_on_every_step_costs_more_than_the_cache_alone_up_to_forty_requests():
    for row in read_facts("run_savings"):
        cache, both = float(row["cache"]), float(row["clearing_cache"])
        assert (both > cache) is (int(row["N_low"]) <= 40)
        assert both < float(row["clearing"]) < 1
