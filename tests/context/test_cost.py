"""What a run costs with and without a cache: the laws of the bill, and the findings it exists for."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.cost import Edit, ModelCall, cost_of, edits, model_calls
from agentlab.context.forecast import Forecast
from agentlab.context.presets import Preset, presets
from agentlab.context.prices import price_of, prices
from agentlab.context.subagents import SubAgents
from agentlab.errors import AgentlabError
from agentlab.facts import Row, read_facts

COURSE = {"S": 3_000, "U": 500, "a": 150, "r": 1_200}
MODEL = "claude-opus-5"

sizes = st.integers(0, 2_000)
controls = st.one_of(
    st.just(KeepAll()),
    st.builds(ClearToolResults, keep=st.integers(0, 5), trigger=st.integers(0, 9_000), at_least=st.integers(0, 9_000)),
    st.builds(TrimTurns, window=st.integers(1, 30)),
    st.builds(Compact, trigger=st.integers(0, 20_000), summary=sizes),
    st.builds(CapResults, cap=st.integers(1, 900)),
    st.builds(Handles, over=st.integers(60, 900), loads=st.integers(0, 4)),
    st.builds(SubAgents, calls=st.integers(1, 6), summary=sizes, S=sizes, U=sizes),
)
models = st.sampled_from(sorted({price.model for price in prices()}))
caches = st.sampled_from(["none", "5m"])


@st.composite
def forecasts(draw) -> Forecast:  # type: ignore[no-untyped-def]
    results = draw(st.lists(sizes, max_size=25))
    return draw(controls).forecast(draw(sizes), draw(sizes), draw(sizes), results, len(results) + 1)


@given(forecasts(), models, caches)
def test_every_token_is_billed_once(forecast: Forecast, model: str, cache) -> None:  # type: ignore[no-untyped-def]
    cost = cost_of(forecast, model, cache)
    assert cost.input == forecast.all_input
    assert cost.output == forecast.output
    assert cost.usd == cost.read_usd + cost.written_usd + cost.uncached_usd + cost.output_usd


@given(forecasts(), models)
def test_without_a_cache_a_run_costs_its_tokens_at_the_price_of_each_request(forecast: Forecast, model: str) -> None:
    cost = cost_of(forecast, model, "none")
    by_hand = sum(
        (
            (call.input * price_of(model, call.input).input + call.output * price_of(model, call.input).output) / 10**6
            for call in model_calls(forecast)
        ),
        Decimal(0),
    )
    assert cost.usd == by_hand
    assert (cost.read, cost.written) == (0, 0)


@given(forecasts(), models)
def test_a_cache_costs_at_most_the_premium_on_what_is_written(forecast: Forecast, model: str) -> None:
    cached, plain = cost_of(forecast, model, "5m"), cost_of(forecast, model, "none")
    dearest = max(price.cache_write - price.input for price in prices() if price.model == model)
    assert cached.usd <= plain.usd + cached.written * dearest / 10**6


@given(st.integers(max(price.minimum_prefix for price in prices()), 9_000), sizes, st.integers(0, 40), models)
def test_where_nothing_is_edited_only_what_is_new_is_written(S: int, r: int, steps: int, model: str) -> None:
    forecast = KeepAll().forecast(S, 0, 10, r, steps + 1)
    cost = cost_of(forecast, model)
    assert cost.written == forecast.last
    assert cost.read == forecast.total - forecast.last
    assert edits(forecast) == ()


def test_a_prefix_below_the_minimum_is_not_cached() -> None:
    short = price_of(MODEL).minimum_prefix - 1
    forecast = Forecast(requests=(short, short + 1, short + 2), same=(0, short, short + 1), a=1)
    cost = cost_of(forecast, MODEL)
    # The first request is too short; the second cannot read what was not written, and writes all; the third reads it.
    assert (cost.uncached, cost.written, cost.read) == (short, short + 2, short + 1)


def test_an_hour_costs_more_to_write_and_is_refused_where_no_price_is_known() -> None:
    forecast = KeepAll().forecast(**COURSE, N=10)
    longer, usual = cost_of(forecast, MODEL, "1h"), cost_of(forecast, MODEL)
    assert longer.written_usd * price_of(MODEL).cache_write == usual.written_usd * (price_of(MODEL).cache_write_1h or 0)
    with pytest.raises(AgentlabError, match="no price is known for keeping a prompt"):
        cost_of(forecast, "gpt-5.5", "1h")


def test_an_unknown_model_is_told_with_close_names() -> None:
    with pytest.raises(AgentlabError, match="claude-opus-5"):
        cost_of(KeepAll().forecast(**COURSE, N=2), "claude-opus5")


def test_a_long_request_is_billed_at_the_price_for_long_ones_as_a_whole() -> None:
    tier = next(price for price in prices() if price.above)
    short, long = (Forecast(requests=(tier.above + n,), same=(0,)) for n in (0, 1))
    assert cost_of(short, tier.model, "none").usd == tier.above * price_of(tier.model).input / 10**6
    assert cost_of(long, tier.model, "none").usd == (tier.above + 1) * tier.input / 10**6


def test_the_calls_of_a_run_are_requests_summaries_and_those_of_sub_agents() -> None:
    lead = SubAgents(calls=2, summary=7, S=1, U=1).forecast(10, 0, 3, (5, 5, 5), 4)
    calls = [ModelCall(10, 0, 3), ModelCall(20, 10, 3), ModelCall(30, 20, 3)]
    first = [ModelCall(2, 0, 3), ModelCall(10, 2, 3), ModelCall(18, 10, 7)]
    second = [ModelCall(2, 0, 3), ModelCall(10, 2, 7)]
    assert model_calls(lead) == calls + first + second
    assert len(model_calls(lead)) == lead.model_calls


def test_an_edit_is_where_a_request_does_not_begin_as_the_one_before() -> None:
    forecast = ClearToolResults(keep=1).forecast(100, 0, 10, 50, 4)
    # Request 3 holds two results; the first has become a placeholder, behind the prompt and the first call.
    assert forecast.requests == (100, 160, 190, 220)
    assert edits(forecast) == (Edit(3, 160 - 110, 110, 190 - 110), Edit(4, 190 - 140, 140, 220 - 140))


@given(forecasts(), models)
def test_what_edits_lose_is_what_a_cache_writes_beyond_the_growth_of_the_requests(
    forecast: Forecast, model: str
) -> None:
    # Long enough that every request is above every minimum prefix; the lead's requests alone.
    long = 100_000
    lead = Forecast(
        requests=tuple(size + long for size in forecast.requests),
        same=(0, *(same + long for same in forecast.same[1:])),
    )
    written = cost_of(lead, model).written
    assert written == lead.last + sum(edit.lost for edit in edits(lead))
    assert all(edit.read + edit.written == lead.requests[edit.k - 1] for edit in edits(lead))


# --- the findings -------------------------------------------------------------------------------


def ratio(control: Control, N: int, sizes: dict[str, int], cache) -> float:  # type: ignore[no-untyped-def]
    """The cost of the input as a share of resending everything uncached."""
    plain = cost_of(KeepAll().forecast(**sizes, N=N), MODEL, "none").input_usd
    return float(cost_of(control.forecast(**sizes, N=N), MODEL, cache).input_usd / plain)


def test_clearing_on_every_step_can_cost_more_than_the_cache_alone() -> None:
    every_step = ClearToolResults(keep=3, placeholder=20)
    in_batches = ClearToolResults(keep=3, placeholder=20, trigger=20_000, at_least=5_000)
    cache_alone = ratio(KeepAll(), 40, COURSE, "5m")
    # Without a cache it saves two thirds; with one it is dearer than doing nothing. In batches it pays.
    assert ratio(every_step, 40, COURSE, "none") < 0.36
    assert ratio(every_step, 40, COURSE, "5m") > cache_alone > ratio(in_batches, 40, COURSE, "5m")


@pytest.mark.parametrize("agent", presets(), ids=lambda agent: agent.name)
@pytest.mark.parametrize("row", read_facts("run_savings"), ids=lambda row: f"{row['N_low']} to {row['N_high']}")
def test_runs_of_measured_sizes_show_what_real_runs_replayed_have_shown(agent: Preset, row: Row) -> None:
    """Per number of requests: which control is dearer or cheaper than the cache alone, and what the cache leaves."""
    assert price_of(MODEL).departs == ()  # the replay read at 0.1 and wrote at 1.25 of the input price
    N = (int(row["N_low"]) + int(row["N_high"])) // 2 if row["N_high"] else 400
    real = {"S": agent.S, "U": agent.U, "a": agent.a, "r": agent.r}
    growth = N * (agent.a + agent.r)
    controls = {
        "clearing_cache": ClearToolResults(keep=3),
        "compaction_cache": Compact(trigger=agent.S + agent.U + growth // 2, summary=min(2_000, growth // 10)),
        "window_cache": TrimTurns(window=10),
    }
    alone = ratio(KeepAll(), N, real, "5m")
    assert alone == pytest.approx(float(row["cache"]), abs=0.04)
    for column, control in controls.items():
        replayed, found = float(row[column]) - float(row["cache"]), ratio(control, N, real, "5m") - alone
        # Equal to two places in the replay, or in the third here: there is no direction to compare.
        if abs(replayed) > 0.005 and abs(found) > 0.005:
            assert (found > 0) == (replayed > 0), (column, found)


def test_the_longer_the_run_the_more_a_compaction_saves_beside_a_cache() -> None:
    def saved(N: int) -> float:
        return ratio(Compact(trigger=30_000), N, COURSE, "5m") / ratio(KeepAll(), N, COURSE, "5m")

    assert saved(10) == 1
    assert 1 > saved(40) > saved(80) > saved(200)


def test_a_window_is_the_worst_partner_of_a_cache() -> None:
    window = ratio(TrimTurns(window=20), 40, COURSE, "5m")
    assert window > 2 * ratio(KeepAll(), 40, COURSE, "5m")


def test_a_cap_edits_nothing_so_a_cache_keeps_its_share_of_the_saving() -> None:
    capped = Combined((CapResults(500),))
    assert edits(capped.forecast(**COURSE, N=40)) == ()
    with_cache = ratio(capped, 40, COURSE, "5m") / ratio(KeepAll(), 40, COURSE, "5m")
    without = ratio(capped, 40, COURSE, "none")
    assert with_cache == pytest.approx(without, abs=0.1)
