"""Real agents seen: the tables say what data/facts says, and uneven results are compared with their mean."""

from agentlab.context.growth import total
from agentlab.context.presets import preset, presets
from agentlab.facts import read_facts
from agentlab.views.agents import agents_table, errors_table, savings_sentence, savings_table, uneven, uneven_sentence

CODING = preset("claude-code")


def test_each_preset_is_a_row_with_the_number_of_its_runs() -> None:
    rows = agents_table().rows
    assert [(row[0], row[1]) for row in rows] == [(each.label, str(each.runs)) for each in presets()]
    claude = dict(zip(agents_table().columns, rows[0], strict=True))
    assert claude["S + U"] == f"{CODING.S + CODING.U:,}"
    assert claude["N*"] == f"{2 * (CODING.S + CODING.U) / (CODING.a + CODING.r):.0f}"
    low, high = CODING.growth or (0, 0)
    fixed = 2 * (CODING.S + CODING.U)
    assert claude["N* by growth"] == f"{fixed / high:.0f} to {fixed / low:.0f}"


def test_every_measured_error_and_saving_is_shown() -> None:
    assert len(errors_table().rows) == len(read_facts("run_errors"))
    assert [row[1] for row in savings_table().rows] == [row["runs"] for row in read_facts("run_savings")]
    assert errors_table().rows[-1][-1].endswith("times")


def test_a_run_by_its_mean_is_the_run_of_the_formula() -> None:
    run = uneven(CODING, 40, seed=1)
    mean = round(sum(run.sizes) / 39)
    assert run.by_mean == total(CODING.S, CODING.U, CODING.a, mean, 40)


def test_large_results_at_the_start_cost_most_and_at_the_end_least() -> None:
    run = uneven(CODING, 40, seed=1)
    assert run.large_last < run.drawn < run.large_first
    assert run.large_last < run.by_mean < run.large_first


def test_the_sentence_names_mean_largest_and_both_orders() -> None:
    run = uneven(CODING, 40, seed=1)
    said = uneven_sentence(run)
    for number in (max(run.sizes), run.by_mean, run.drawn):
        assert f"{number:,}" in said
    assert f"{run.large_first / run.by_mean - 1:+.0%} (large ones first)" in said


def test_a_run_of_two_requests_has_one_result() -> None:
    assert uneven_sentence(uneven(CODING, 2, seed=3)).startswith("1 result drawn")


def test_the_savings_are_compared_with_the_cache_alone() -> None:
    said = savings_sentence()
    assert "clearing at every step was dearer than the cache alone in runs of 8 to 40 requests, cheaper in" in said
    assert "Compaction was never dearer than the cache alone" in said
    assert "cheaper in runs of 81 or more requests." in said
