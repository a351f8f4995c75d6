"""Prices: every row of data/facts/prices.csv is dated, positive and honest about where it departs from the usual."""

import re
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from agentlab.context.prices import Price, price_of, prices
from agentlab.errors import AgentlabError
from agentlab.facts import read_facts

USUAL = {"cache_write": Decimal("1.25"), "cache_write_1h": Decimal(2), "cache_read": Decimal("0.1")}
"""Multiples of the input price that Anthropic's documentation of prompt caching gave on 2026-08-22."""

ROOT = Path(__file__).parents[2]


def named(price: Price) -> str:
    return f"{price.model}+{price.above}"


@pytest.mark.parametrize("price", prices(), ids=named)
def test_a_price_is_positive_dated_and_sourced(price):
    assert min(price.input, price.output, price.cache_write, price.cache_read) > 0
    assert price.minimum_prefix > 0
    assert price.max_input > max(price.above, price.minimum_prefix)
    assert date.fromisoformat(price.date) >= date(2026, 1, 1)
    assert price.date in price.source
    assert ("unverified" in price.source) is (not price.verified)


@pytest.mark.parametrize("price", prices(), ids=named)
def test_reading_is_cheaper_than_input_and_writing_is_not(price):
    assert price.cache_read < price.input <= price.cache_write < price.output
    assert price.cache_write_1h is None or price.cache_write_1h > price.cache_write


@pytest.mark.parametrize("price", prices(), ids=named)
def test_cache_prices_are_the_usual_multiples_of_input_or_the_row_says_which_is_not(price):
    found = {name: getattr(price, name) for name in USUAL}
    departs = {name for name, value in found.items() if value is not None and value != USUAL[name] * price.input}
    assert set(price.departs) == departs


def test_current_models_of_three_providers_are_there_and_some_cannot_be_trusted_blindly():
    models = {price.model for price in prices()}
    assert len(models) >= 15
    assert {price.provider for price in prices()} == {"Anthropic", "OpenAI", "Google"}
    for tier in ("opus", "sonnet", "haiku"):
        assert any(tier in model for model in models)
    assert {price.verified for price in prices()} == {True, False}


def test_each_model_has_one_usual_price_and_long_requests_cost_more():
    by_model: dict[str, list[Price]] = {}
    for price in prices():
        by_model.setdefault(price.model, []).append(price)
    for tiers in by_model.values():
        assert tiers[0].above == 0
        for usual, long in pairwise(tiers):
            assert usual.above < long.above
            assert usual.input < long.input
            assert usual.output < long.output
            assert usual.cache_read < long.cache_read
            assert usual.minimum_prefix == long.minimum_prefix


def test_the_size_of_the_request_chooses_among_a_models_prices():
    long = next(price for price in prices() if price.above)
    assert price_of(long.model).above == 0
    assert price_of(long.model, long.above).above == 0
    assert price_of(long.model, long.above + 1) == long
    flat = next(price for price in prices() if [other.model for other in prices()].count(price.model) == 1)
    assert price_of(flat.model, flat.max_input) == price_of(flat.model) == flat


def test_where_no_price_for_writing_is_listed_a_written_token_costs_what_an_input_token_does():
    rows = [row for row in read_facts("prices") if not row["cache_write"]]
    assert rows
    for row in rows:
        price = price_of(row["model"], int(row["above"]) + 1)
        assert price.cache_write == price.input
        assert "cache_write" in price.departs


def test_an_unknown_model_is_answered_in_one_line_with_close_names():
    with pytest.raises(AgentlabError, match=r"no price of the model 'claude-opus-5\.5'.*claude-opus-5-5") as error:
        price_of("claude-opus-5.5")
    assert "\n" not in str(error.value)


def test_where_no_name_is_close_all_known_names_are_given():
    with pytest.raises(AgentlabError, match="known are ") as error:
        price_of("a model\nof nobody")
    assert "\n" not in str(error.value)
    for price in prices():
        assert price.model in str(error.value)


def test_a_request_of_no_whole_number_of_tokens_has_no_price():
    with pytest.raises(AgentlabError, match="tokens is -1"):
        price_of(prices()[0].model, -1)


def test_no_price_is_written_into_the_code_or_a_lesson():
    # A price in a text is money with a unit: "$3", "3 USD", "Decimal("3.75")".
    money = re.compile(r"\$\s?\d|\d\s?USD|Decimal\(\"?\d")
    files = [*(ROOT / "agentlab").rglob("*.py"), *(ROOT / "lessons").glob("*.py")]
    assert files
    found = [(file.name, line) for file in files for line in file.read_text("utf-8").splitlines() if money.search(line)]
    assert found == []
