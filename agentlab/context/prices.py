"""What tokens cost: dated prices of models, read from data/facts/prices.csv and never typed in.

Every price is in US dollars per million tokens (`UNIT`) and a Decimal: prices are decimal fractions, so a price has
no rounding error of its own, the ratio of two of them can be compared with ==, and a bill added up request by
request equals the bill of the sum. Arrays take float(price.input).
"""

from decimal import Decimal
from difflib import get_close_matches
from functools import cache

from agentlab.context.growth import whole_number
from agentlab.errors import AgentlabError
from agentlab.facts import Row, cited, read_facts
from agentlab.shapes import Frozen

UNIT = "USD per million tokens"
"""The unit of every price here, as the column `unit` writes it."""


class Price(Frozen):
    """The prices of one model for requests of more than ``above`` input tokens; all in USD per million tokens.

    ``input`` is the price of an input token that no cache has to do with, ``output`` of a token that the model writes.
    ``cache_write`` is what a token costs that is written into the prompt cache for five minutes, ``cache_write_1h``
    for an hour (None where none is published), ``cache_read`` what it costs to read it back. Where a provider lists no
    price for writing, a written token costs what an input token does.

    Above 0, ``above`` marks a model's higher prices for long requests: they apply to every token of a request with
    more input than that, cached tokens counted. A prefix shorter than ``minimum_prefix`` tokens is not cached, and no
    error says so. ``max_input`` is the most tokens that a request may carry, as the source has it.

    ``departs`` names the prices that are not the usual multiple of `input` (write 1.25, write for an hour 2, read
    0.1): arithmetic with those multiples would be wrong for this model. ``verified`` is True where the provider's own
    page was read and says the same; ``source`` is the source in words, with its date and a warning where it is not.
    """

    model: str
    provider: str
    above: int
    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_write_1h: Decimal | None
    cache_read: Decimal
    minimum_prefix: int
    max_input: int
    departs: tuple[str, ...]
    note: str
    source: str
    date: str
    verified: bool


@cache
def prices() -> tuple[Price, ...]:
    """All prices, a model's dearer ones for long requests right after its usual ones."""
    return tuple(_price(row) for row in read_facts("prices"))


def tiers_of(model: str) -> tuple[Price, ...]:
    """The prices of `model`, those for the shortest requests first.

    The name is the one that the provider's API takes. Raises AgentlabError with close names where it is not known.
    """
    tiers = sorted((price for price in prices() if price.model == model), key=lambda price: price.above)
    if not tiers:
        raise AgentlabError(_unknown(model))
    return tuple(tiers)


def price_of(model: str, tokens: int = 0) -> Price:
    """The price of `model` for a request of `tokens` input tokens, those read from a cache included.

    Raises AgentlabError as `tiers_of` does.
    """
    whole_number("tokens", tokens)
    usual, *dearer = tiers_of(model)
    return next((price for price in reversed(dearer) if tokens > price.above), usual)


def _price(row: Row) -> Price:
    if row["unit"] != UNIT:
        raise AgentlabError(f"data/facts/prices.csv has {row['model']} in {row['unit']}; expected {UNIT}")
    return Price(
        model=row["model"],
        provider=row["provider"],
        above=int(row["above"]),
        input=Decimal(row["input"]),
        output=Decimal(row["output"]),
        cache_write=Decimal(row["cache_write"] or row["input"]),
        cache_write_1h=Decimal(row["cache_write_1h"]) if row["cache_write_1h"] else None,
        cache_read=Decimal(row["cache_read"]),
        minimum_prefix=int(row["minimum_prefix"]),
        max_input=int(row["max_input"]),
        departs=tuple(row["departs"].split()),
        note=row["note"],
        source=cited(row),
        date=row["date"],
        verified=row["verified"] == "yes",
    )


def _unknown(model: str) -> str:
    known = list(dict.fromkeys(price.model for price in prices()))
    near = get_close_matches(model.lower(), known)
    names = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(known)}"
    return f"data/facts/prices.csv has no price of the model {model[:60]!r}; {names}"
