"""What prompt caching makes of the price of schemas, which stand at the front of every request."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from agentlab.facts import cited, read_facts
from agentlab.views.tables import Table, counted
from agentlab.views.tokens import SchemaShare


class Caching(NamedTuple):
    """Prices of a cached token as multiples of an input token's, and for how many minutes after its use it is kept.

    A prefix shorter than `shortest` is not cached: the least and the most tokens that a model in the source demands.
    """

    write: Fraction
    read: Fraction
    minutes: int
    shortest: tuple[int, int]
    source: str

    def cost(self, tokens: int, requests: int) -> Fraction:
        """What `tokens` cost in `requests` (1 or more), of which the first writes them: in uncached input tokens."""
        return tokens * (self.write + (requests - 1) * self.read)

    @property
    def pays_from(self) -> int:
        """The number of requests from which on caching is cheaper than none."""
        return int((self.write - self.read) / (1 - self.read)) + 1


def caching() -> Caching:
    """Anthropic's documented prices for five minutes (data/facts/prompt_caching.csv); a model may depart from them."""
    (row,) = (row for row in read_facts("prompt_caching") if row["provider"] == "Anthropic")
    shortest = (int(row["minimum_prefix_low"]), int(row["minimum_prefix_high"]))
    return Caching(Fraction(row["write"]), Fraction(row["read"]), int(row["minutes"]), shortest, cited(row))


def cached_table(sizes: SchemaShare, requests: Sequence[int] = (1, 2, 5, 10, 20)) -> Table:
    """What the schemas of a run cost for several numbers of requests, uncached and cached."""
    prices = caching()
    rows = tuple(
        (f"{n:,}", f"{n * sizes.schemas:,}", f"{round(prices.cost(sizes.schemas, n)):,}", _part(prices, n))
        for n in requests
    )
    caption = f"What {sizes.schemas:,} tokens of schema cost in a run, counted in uncached input tokens"
    return Table(caption, ("requests", "uncached", "cached", "of uncached"), rows)


def cached_sentence(sizes: SchemaShare, requests: int) -> str:
    """The point of the table for a run of so many requests (1 or more), with its conditions and its source."""
    prices = caching()
    low, high = prices.shortest
    return (
        f"In {counted(requests, 'request')} the schemas cost {_part(prices, requests)} of what they cost uncached; "
        f"caching pays from {counted(prices.pays_from, 'request')} on. Writing costs {float(prices.write):g} times an "
        f"input token, reading {float(prices.read):g} times, as long as the last use is at most {prices.minutes} "
        f"minutes ago and the prefix has {low:,} to {high:,} tokens at least, by model. Source: {prices.source}."
    )


def _part(prices: Caching, requests: int) -> str:
    return f"{float(prices.cost(1, requests) / requests):.0%}"
