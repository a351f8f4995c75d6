"""What `agentlab size` prints: for people, and as JSON for programs."""

import shutil
from decimal import Decimal
from typing import TYPE_CHECKING

from pydantic import JsonValue

from agentlab.cli.output import print_line, print_table

if TYPE_CHECKING:
    from agentlab.views.costs import Priced
    from agentlab.views.sheet import Size, Sizing
    from agentlab.views.tables import Table


def print_sizing(sizing: "Sizing", plot: bool) -> None:
    """Print formula, table, chart (with `plot`), sentence, bill and findings."""
    from agentlab.views import growth as view
    from agentlab.views.costs import CACHE_IS_IDEAL, bill_table, cheapest_sentence
    from agentlab.views.sheet import prices_told
    from agentlab.views.text_chart import text_chart

    run = sizing.run
    print_line(", ".join(_named(one) for one in sizing.sizes))
    for remark in sizing.extra:
        print_line(remark)
    print_line("")
    for line in view.formula(run):
        print_line(line)
    print_line("")
    _print_table(view.table(run))
    print_line("")
    if plot:
        print_line(text_chart(view.lines([run]), shutil.get_terminal_size().columns - 1))
        print_line("")
    print_line(view.sentence(run))
    if sizing.bill is not None:
        print_line("")
        _print_table(bill_table(sizing.bill[::-1] if run.is_controlled else sizing.bill[:1]))
        print_line("")
        if run.is_controlled:
            print_line(cheapest_sentence(sizing.bill))
        print_line(prices_told(sizing.bill))
    if sizing.caching:
        print_line(CACHE_IS_IDEAL if sizing.bill else _cacheable(sizing))
    for finding in sizing.findings:
        print_line(f"{finding.rule}, {finding.where}: {finding.message}. Fix: {finding.fix}.")


def sizing_as_json(sizing: "Sizing") -> JsonValue:
    """The object with the keys that `agentlab.cli.size` lists."""
    from agentlab.context.cost import model_calls

    run = sizing.run
    forecast = run.forecast
    return {
        "requests": list(forecast.requests),
        "last": forecast.last,
        "largest": forecast.largest,
        "total": forecast.total,
        "compactions": forecast.compactions,
        "summary_input": forecast.summary_input,
        "summary_output": forecast.summary_output,
        "first_over": None if run.trigger is None else forecast.first_over(run.trigger),
        "all_input": forecast.all_input,
        "output": forecast.output,
        "model_calls": forecast.model_calls,
        "keep_all": run.keep_all.all_input,
        "control": run.control.label,
        "sizes": {one.name: one._asdict() for one in sizing.sizes},
        "cacheable": sum(call.same for call in model_calls(forecast)),
        "cost": None if sizing.bill is None else _bill_as_json(*sizing.bill),
        "findings": [finding.model_dump() for finding in sizing.findings],
    }


def _bill_as_json(plain: "Priced", chosen: "Priced") -> dict[str, JsonValue]:
    from agentlab.context.prices import price_of

    cost = chosen.cached
    bill = {**cost.model_dump(), "usd": cost.usd, "keep_all_usd": plain.cached.usd}
    told: dict[str, JsonValue] = {
        name: f"{value:f}" if isinstance(value, Decimal) else value for name, value in bill.items()
    }
    return {**told, "price_source": price_of(cost.model).source}


def _named(one: "Size") -> str:
    return f"{one.name} = {one.value:,}" + ("" if one.origin == "given" else f" ({one.origin})")


def _print_table(shown: "Table") -> None:
    print_table(shown.columns, shown.rows, right=[title for title in shown.columns[1:] if title not in shown.words])


def _cacheable(sizing: "Sizing") -> str:
    from agentlab.context.cost import model_calls

    calls = model_calls(sizing.run.forecast)
    same, read = sum(call.same for call in calls), sum(call.input for call in calls)
    share = f"{same / read:.0%}" if read else "none"
    return (
        f"Of {read:,} input tokens {same:,} ({share}) stand at the beginning of a request as in the one before: the "
        "most that a cache can serve. Give --prices MODEL for the bill."
    )
