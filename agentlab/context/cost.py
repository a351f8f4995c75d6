"""What a run costs, with and without a prompt cache: prices on top of a forecast.

A provider that caches reads the beginning of a request that it has read before at a lower price, and may charge more
for what it writes into the cache. With `same` tokens of a request standing as in the request before (`Forecast.same`)
and a price p for each kind of token:

    read     = same                 where same >= the model's minimum prefix, else 0
    written  = I(k) - read          where I(k) >= the minimum prefix, else 0
    uncached = I(k) - read - written
    cost     = read * p.cache_read + written * p.cache_write + uncached * p.input + output * p.output

This is the best that a cache can do. It assumes that every request comes before its entry expires, that the longest
equal beginning is found, in whole messages, and that everything behind it is written. Real caches fall short: Anthropic
reads only where a breakpoint was set (4 a request, found at most 20 blocks back), an entry lives 5 minutes or an hour,
and OpenAI routes by chance. Each summarising call and each run of a sub-agent is priced the same way; a sub-agent's
first request is taken as new. Source of the rules: Anthropic's documentation on prompt caching, August 2026.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Literal, NamedTuple

from agentlab.context.forecast import Forecast
from agentlab.context.prices import Price, price_of, prices
from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

Cache = Literal["none", "5m", "1h"]
"""Whether the run uses a prompt cache, and how long an entry lives. An hour costs more to write."""

_MILLION = 1_000_000


class ModelCall(NamedTuple):
    """One call of a model in a run: its input tokens, those that stand as in the request before, and its output."""

    input: int
    same: int
    output: int


class Edit(NamedTuple):
    """Request ``k`` does not begin as the one before: ``lost`` tokens of that one could not be read from a cache."""

    k: int
    lost: int


class Cost(Frozen):
    """The bill of a run. Tokens by kind, and US dollars by kind; the dollars are exact for exact tokens."""

    model: str
    cache: Cache
    read: int
    written: int
    uncached: int
    output: int
    read_usd: Decimal
    written_usd: Decimal
    uncached_usd: Decimal
    output_usd: Decimal

    @property
    def input(self) -> int:
        """All input tokens."""
        return self.read + self.written + self.uncached

    @property
    def input_usd(self) -> Decimal:
        """US dollars for all input tokens."""
        return self.read_usd + self.written_usd + self.uncached_usd

    @property
    def usd(self) -> Decimal:
        """US dollars for the whole run."""
        return self.input_usd + self.output_usd


def model_calls(forecast: Forecast) -> Iterator[ModelCall]:
    """Every call of a model that the run makes: requests, summarising calls, and those of sub-agents."""
    last = len(forecast.requests) - 1
    answer = forecast.a if forecast.answer is None else forecast.answer
    for i, (size, same) in enumerate(zip(forecast.requests, forecast.same, strict=True)):
        yield ModelCall(size, same, answer if i == last else forecast.a)
    for call in forecast.summaries:
        yield ModelCall(call.input, call.same, call.output)
    for run in forecast.subruns:
        yield from model_calls(run)


def edits(forecast: Forecast) -> tuple[Edit, ...]:
    """The requests before which a control has changed what was sent, so that a cache serves less than it could."""
    sent = zip(forecast.requests, forecast.requests[1:], forecast.same[1:], strict=False)
    return tuple(Edit(k, before - same) for k, (before, _, same) in enumerate(sent, start=2) if same < before)


def cost_of(forecast: Forecast, model: str, cache: Cache = "5m") -> Cost:
    """The bill of the run at the prices of `model`. Raises AgentlabError for a model without a price.

    A request of more tokens than a price is for is billed at the model's price for long requests, as a whole.
    """
    tokens: dict[int, list[int]] = {}
    tiers = _tiers(model)
    for call in model_calls(forecast):
        price = next(price for price in tiers if call.input > price.above or price.above == 0)
        read = written = 0
        if cache != "none":
            read = call.same if call.same >= price.minimum_prefix else 0
            written = call.input - read if call.input >= price.minimum_prefix else 0
        kinds = tokens.setdefault(price.above, [0, 0, 0, 0])
        kinds[0] += read
        kinds[1] += written
        kinds[2] += call.input - read - written
        kinds[3] += call.output
    usd = [Decimal(0)] * 4
    for price in tiers:
        rates = (price.cache_read, _write_price(price, cache), price.input, price.output)
        for i, (count, rate) in enumerate(zip(tokens.get(price.above, [0] * 4), rates, strict=True)):
            usd[i] += count * rate / _MILLION
    read, written, uncached, output = (sum(kinds[i] for kinds in tokens.values()) for i in range(4))
    return Cost(
        model=model,
        cache=cache,
        read=read,
        written=written,
        uncached=uncached,
        output=output,
        read_usd=usd[0],
        written_usd=usd[1],
        uncached_usd=usd[2],
        output_usd=usd[3],
    )


def _tiers(model: str) -> list[Price]:
    """The prices of the model, the one for the longest requests first."""
    price_of(model)  # says which names are close where there is none
    return sorted((price for price in prices() if price.model == model), key=lambda price: -price.above)


def _write_price(price: Price, cache: Cache) -> Decimal:
    if cache != "1h":
        return price.cache_write
    if price.cache_write_1h is None:
        raise AgentlabError(f"no price is known for keeping a prompt of {price.model} in the cache for an hour; use 5m")
    return price.cache_write_1h
