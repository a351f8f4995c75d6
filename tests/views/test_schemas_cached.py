"""The price of cached schemas: the table adds up request by request, and the prices are the documented ones."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.facts import read_facts
from agentlab.views.schemas_cached import cached_sentence, cached_table, caching
from agentlab.views.tokens import schema_share

THIRTY = schema_share(30, 200, 4_000)


def test_the_prices_are_those_of_the_dated_row():
    (row,) = (row for row in read_facts("prompt_caching") if row["provider"] == "Anthropic")
    prices = caching()
    assert (prices.write, prices.read) == (Fraction(row["write"]), Fraction(row["read"]))
    assert row["source"] in prices.source
    assert row["date"] in prices.source


@given(tokens=st.integers(0, 10**6), requests=st.integers(1, 200))
def test_a_run_costs_one_write_and_then_a_read_for_each_request(tokens, requests):
    prices = caching()
    cost = tokens * prices.write
    for _ in range(requests - 1):
        cost += tokens * prices.read
    assert prices.cost(tokens, requests) == cost


@given(requests=st.integers(1, 50))
def test_caching_pays_from_the_number_of_requests_that_is_said_and_not_before(requests):
    prices = caching()
    assert (prices.cost(1, requests) < requests) == (requests >= prices.pays_from)


@pytest.mark.parametrize("requests", [1, 2, 10])
def test_a_row_and_the_sentence_say_the_same_share(requests):
    ((_, uncached, cached, part),) = cached_table(THIRTY, [requests]).rows
    assert uncached == f"{requests * THIRTY.schemas:,}"
    assert part == f"{int(cached.replace(',', '')) / int(uncached.replace(',', '')):.0%}"
    assert f" cost {part} of what they cost uncached" in cached_sentence(THIRTY, requests)
