"""The bill of each control seen: the table adds up, and the sentence names the cheapest and says why."""

from agentlab.context.arrivals import CapResults
from agentlab.context.controls import ClearToolResults, Compact, KeepAll, TrimTurns
from agentlab.context.cost import cost_of
from agentlab.context.prices import price_of
from agentlab.context.subagents import SubAgents
from agentlab.views.costs import bill_table, cheapest_sentence, costs_table, priced, prices_sentence
from agentlab.views.growth import grow

MODEL = "claude-opus-5"
CONTROLS = (KeepAll(), ClearToolResults(), TrimTurns(), Compact(20_000), CapResults(500), SubAgents(5, 300, 2_000, 100))
RUNS = [grow(3_000, 500, 150, 1_200, 40, None, control) for control in CONTROLS]


def test_each_control_is_a_row_with_its_own_bill() -> None:
    table = costs_table(priced(RUNS, MODEL))
    assert [row[0] for row in table.rows] == [control.label for control in CONTROLS]
    for row, run in zip(table.rows, RUNS, strict=True):
        said = dict(zip(table.columns, row, strict=True))
        cached = cost_of(run.forecast, MODEL)
        assert said["USD, cache 5m"] == f"{cached.usd:.3f}"
        assert said["USD, no cache"] == f"{cost_of(run.forecast, MODEL, 'none').usd:.3f}"
        assert said["input tokens"] == f"{run.forecast.all_input:,}"
        assert said["model calls"] == f"{run.forecast.model_calls:,}"


def test_a_bill_on_its_side_has_the_same_cells() -> None:
    bills = priced(RUNS[:2], MODEL)
    upright, turned = costs_table(bills), bill_table(bills)
    assert turned.columns == ("bill", "keep all", "clear, keep 3")
    assert [row[0] for row in turned.rows] == list(upright.columns[1:])
    assert [tuple(row[i] for row in turned.rows) for i in (1, 2)] == [row[1:] for row in upright.rows]


def test_without_a_cache_there_is_nothing_to_read_or_write() -> None:
    table = costs_table(priced(RUNS, MODEL, "none"))
    assert table.columns == ("control", "largest request", "input tokens", "model calls", "USD")


def test_the_sentence_tells_tokens_from_money() -> None:
    said = cheapest_sentence(priced(RUNS[:5], MODEL))
    assert said.startswith("Fewest input tokens: 'clear, keep 3' with 407,120.")
    assert "Cheapest with the cache: 'cap results at 500'" in said
    assert "it never edits what was sent" in said
    assert "Dearer than keeping all and letting the cache work" in said
    assert "'clear, keep 3', 'trim to 20 messages'" in said


def test_a_dearer_control_without_edits_is_not_blamed_for_any() -> None:
    run = grow(3_000, 500, 150, 1_200, 40, None, SubAgents(8, 25_000, 3_000, 500))
    said = cheapest_sentence(priced([RUNS[0], run], MODEL))
    assert f"USD: it writes {cost_of(run.forecast, MODEL).written:,} tokens into the cache" in said
    assert "0 edits" not in said


def test_the_sentence_counts_the_edits_of_a_control_that_wins_in_spite_of_them() -> None:
    said = cheapest_sentence(priced([RUNS[0], RUNS[3]], MODEL))
    assert "Cheapest with the cache: 'compact over 20,000'" in said
    assert "it edits what was sent 3 times only" in said
    assert "Dearer" not in said


def test_without_a_cache_the_fewest_tokens_may_be_the_cheapest() -> None:
    said = cheapest_sentence(priced(RUNS[:5], MODEL, "none"))
    assert said.endswith("Cheapest without a cache: 'clear, keep 3', 2.19 USD.")


def test_prices_are_shown_with_their_source_and_date() -> None:
    said = prices_sentence(MODEL)
    price = price_of(MODEL)
    assert price.source in said
    assert price.date in said
    assert f"cache read {price.cache_read}" in said
    assert "A request of more than" not in said
    long = price_of("gpt-6.1-sol", 10**6)
    told = prices_sentence("gpt-6.1-sol")
    assert "unverified" in told
    assert f"A request of more than {long.above:,} tokens: input {long.input}, output {long.output}," in told
