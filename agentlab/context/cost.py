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

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from agentlab.context.forecast import Forecast
from agentlab.context.prices import Price, tiers_of
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


class _Columns(NamedTuple):
    """Calls of a model, one column for each field of `ModelCall`."""

    inputs: list[int]
    sames: list[int]
    outputs: list[int]


class Edit(NamedTuple):
    """A control has changed what was sent before request ``k``; tokens.

    Of the request before, ``lost`` cannot be read from a cache any more. Request k reads ``read`` and writes
    ``written``: what it brings anew, and what stands behind the change once more.
    """

    k: int
    lost: int
    read: int
    written: int


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


def model_calls(forecast: Forecast) -> list[ModelCall]:
    """Every call of a model that the run makes: requests, summarising calls, and those of sub-agents."""
    return list(map(ModelCall, *_columns(forecast)))


def edits(forecast: Forecast) -> tuple[Edit, ...]:
    """The requests before which a control has changed what was sent, and what each change costs a cache.

    The minimum prefix of a model is left aside: below it nothing is read or written.
    """
    sent = zip(forecast.requests, forecast.requests[1:], forecast.same[1:], strict=False)
    changed = ((k, before, size, same) for k, (before, size, same) in enumerate(sent, start=2) if same < before)
    return tuple(Edit(k, lost=before - same, read=same, written=size - same) for k, before, size, same in changed)


def cost_of(forecast: Forecast, model: str, cache: Cache = "5m") -> Cost:
    """The bill of the run at the prices of `model`. Raises AgentlabError for a model without a price.

    A request of more tokens than a price is for is billed at the model's price for long requests, as a whole.
    """
    tiers = tiers_of(model)[::-1]  # the one for the longest requests first
    tokens, usd = [0] * 4, [Decimal()] * 4
    for price, calls in zip(tiers, _by_tier(_columns(forecast), tiers), strict=True):
        counts = _tokens(calls, price.minimum_prefix, cached=cache != "none")
        rates = (price.cache_read, _write_price(price, cache), price.input, price.output)
        for i, (count, rate) in enumerate(zip(counts, rates, strict=True)):
            tokens[i] += count
            usd[i] += count * rate / _MILLION
    read, written, uncached, output = tokens
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


def _columns(forecast: Forecast) -> _Columns:
    """The calls of a run as columns: a slider prices thousands of calls a move, and sums of columns are fast."""
    answer = forecast.a if forecast.answer is None else forecast.answer
    calls = _Columns(
        [*forecast.requests, *(call.input for call in forecast.summaries)],
        [*forecast.same, *(call.same for call in forecast.summaries)],
        [forecast.a] * (len(forecast.requests) - 1) + [answer] + [call.output for call in forecast.summaries],
    )
    for run in forecast.subruns:
        for column, more in zip(calls, _columns(run), strict=True):
            column.extend(more)
    return calls


def _by_tier(calls: _Columns, tiers: Sequence[Price]) -> list[_Columns]:
    """The calls that each price is for, in the order of `tiers`: a call is at the first price that it is above."""
    lowest = min(price.above for price in tiers[:-1]) if tiers[1:] else None
    if lowest is None or max(calls.inputs) <= lowest:
        return [*(_Columns([], [], []) for _ in tiers[1:]), calls]
    found = [_Columns([], [], []) for _ in tiers]
    for call in zip(*calls, strict=True):
        tier = next((i for i, price in enumerate(tiers) if call[0] > price.above), len(tiers) - 1)
        for column, value in zip(found[tier], call, strict=True):
            column.append(value)
    return found


def _tokens(calls: _Columns, minimum: int, *, cached: bool) -> tuple[int, int, int, int]:
    """Tokens read, written, uncached and output."""
    total, output = sum(calls.inputs), sum(calls.outputs)
    if not cached:
        return 0, 0, total, output
    read = sum(same for same in calls.sames if same >= minimum)
    uncached = sum(size for size in calls.inputs if size < minimum)
    return read, total - uncached - read, uncached, output


def _write_price(price: Price, cache: Cache) -> Decimal:
    if cache != "1h":
        return price.cache_write
    if price.cache_write_1h is None:
        raise AgentlabError(f"no price is known for keeping a prompt of {price.model} in the cache for an hour; use 5m")
    return price.cache_write_1h
