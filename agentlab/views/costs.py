"""What runs cost seen: the bill of each control with and without a prompt cache, and which one is cheapest and why."""

from collections.abc import Sequence
from typing import NamedTuple

from agentlab.context.controls import KeepAll
from agentlab.context.cost import Cache, Cost, cost_of, edits
from agentlab.context.prices import UNIT, Price, price_of, tiers_of
from agentlab.views.growth import Growth
from agentlab.views.tables import Table, counted

CACHE_IS_IDEAL = (
    "The bill with a cache is an estimate, and the least it can be: every request finds the longest equal beginning of "
    "the one before. A real cache needs a breakpoint there, and an entry expires."
)


class Priced(NamedTuple):
    """A run with its bill: without a cache, and with one."""

    run: Growth
    plain: Cost
    cached: Cost

    @property
    def label(self) -> str:
        """The name of its control."""
        return self.run.control.label


def priced(runs: Sequence[Growth], model: str, cache: Cache = "5m") -> list[Priced]:
    """The bill of each run at the prices of `model`. Raises AgentlabError for a model without a price."""
    return [Priced(run, cost_of(run.forecast, model, "none"), cost_of(run.forecast, model, cache)) for run in runs]


def costs_table(bills: Sequence[Priced]) -> Table:
    """One row for each control: tokens by kind, and US dollars without and with the cache."""
    model, cache = bills[0].cached.model, bills[0].cached.cache
    with_cache = cache != "none"
    more = ("edits", "read", "written", "USD, no cache", f"USD, cache {cache}") if with_cache else ("USD",)
    columns = ("control", "largest request", "input tokens", "model calls", *more)
    return Table(f"A run at the prices of {model}", columns, tuple(_row(bill, with_cache) for bill in bills))


def bill_table(bills: Sequence[Priced]) -> Table:
    """The same on its side, a column for each control: it fits a narrow page where the controls are few."""
    table = costs_table(bills)
    columns = list(zip(table.columns, *table.rows, strict=True))
    _, *labels = columns[0]
    return Table(table.caption, ("bill", *labels), tuple(columns[1:]))


def prices_sentence(model: str) -> str:
    """The prices of a model, where they come from and when."""
    price, *above = tiers_of(model)
    dearer = "".join(
        f" A request of more than {each.above:,} tokens: input {each.input}, output {each.output}, "
        f"cache write {each.cache_write}, cache read {each.cache_read}."
        for each in above
    )
    return (
        f"{model}, {UNIT}: input {price.input}, output {price.output}, cache write {price.cache_write}, "
        f"cache read {price.cache_read}; nothing below {price.minimum_prefix:,} tokens is cached.{dearer} "
        f"Source: {price.source}."
    )


def cheapest_sentence(bills: Sequence[Priced]) -> str:
    """Which control sends least, which costs least, and why: from what is read, written and edited."""
    fewest = min(bills, key=lambda bill: bill.cached.input)
    cheapest = min(bills, key=lambda bill: bill.cached.usd)
    said = [f"Fewest input tokens: '{fewest.label}' with {fewest.cached.input:,}."]
    cache = cheapest.cached.cache
    if cache == "none":
        said.append(f"Cheapest without a cache: '{cheapest.label}', {_usd(cheapest.cached)}.")
        return " ".join(said)
    price = price_of(cheapest.cached.model)
    said.append(
        f"Cheapest with the cache: '{cheapest.label}', {_usd(cheapest.cached)}: {_why(cheapest, price)}"
        f" {_share(cheapest.cached.read, cheapest.cached.input)} of its input is read at "
        f"{price.cache_read / price.input:.0%} of the price."
    )
    alone = next((bill for bill in bills if isinstance(bill.run.control, KeepAll)), None)
    if alone is None:
        return " ".join(said)
    dearer = [bill for bill in bills if bill.cached.usd > alone.cached.usd]
    if dearer:
        worst = max(dearer, key=lambda bill: bill.cached.usd)
        said.append(
            f"Dearer than keeping all and letting the cache work ({_usd(alone.cached)}): "
            f"{', '.join(repr(bill.label) for bill in dearer)}. '{worst.label}' costs {_usd(worst.cached)}: "
            f"{_what_dearer_does(worst)}it writes "
            f"{worst.cached.written:,} tokens into the cache, where keeping all writes {alone.cached.written:,}."
        )
    return " ".join(said)


def _why(bill: Priced, price: Price) -> str:
    changed = len(edits(bill.run.forecast))
    if not changed:
        return "it never edits what was sent, so"
    return f"it edits what was sent {'once' if changed == 1 else f'{changed:,} times'} only, so"


def _what_dearer_does(bill: Priced) -> str:
    changed = len(edits(bill.run.forecast))
    return f"{counted(changed, 'edit')} of what was sent, so " if changed else ""


def _row(bill: Priced, with_cache: bool) -> tuple[str, ...]:
    run, cost = bill.run.forecast, bill.cached
    row = (bill.label, f"{run.largest:,}", f"{cost.input:,}", f"{run.model_calls:,}")
    if not with_cache:
        return (*row, f"{bill.plain.usd:,.3f}")
    changed = len(edits(run))
    return (*row, f"{changed:,}", f"{cost.read:,}", f"{cost.written:,}", f"{bill.plain.usd:,.3f}", f"{cost.usd:,.3f}")


def _usd(cost: Cost) -> str:
    return f"{cost.usd:,.2f} USD" if cost.usd >= 1 else f"{cost.usd:,.3f} USD"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "0%"
