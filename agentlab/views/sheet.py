"""A sizing sheet: one page in Markdown on what a run will send, what it costs, and what its control may lose."""

from collections.abc import Sequence
from typing import NamedTuple

from agentlab import __version__
from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Compact, Control, KeepAll, TrimTurns
from agentlab.context.cost import Cache
from agentlab.context.lint import RULES
from agentlab.context.prices import tiers_of
from agentlab.context.subagents import SubAgents
from agentlab.shapes import Finding
from agentlab.views.costs import CACHE_IS_IDEAL, Priced, cheapest_sentence, costs_table, prices_sentence
from agentlab.views.growth import Growth, formula, sentence, table
from agentlab.views.tables import Table, counted

SHEET_BEGINS = "<!-- sizing sheet of agentlab -->"
"""The first line of every sheet: a file that begins otherwise is none, and is not overwritten."""

MEANING = {
    "S": "system prompt and tool schemas",
    "U": "the user's task",
    "a": "what the model writes in one step",
    "r": "one tool result",
    "N": "requests in the run",
}

FAILURES: dict[type, str] = {
    KeepAll: "Nothing is lost, and nothing bounds a request: the first one above the model's window ends the run.",
    ClearToolResults: "An early detail that is needed late is gone: the model calls the tool again, or invents it.",
    TrimTurns: "Old steps go with their calls: the model does not know what it has done, and may do it again.",
    Compact: "What a summary leaves out is gone and what it got wrong stays. A summary is one more model call: it may "
    "fail, and then something else has to make room.",
    CapResults: "What stands behind the cut is not seen: the model may answer from half of a result.",
    Handles: "A handle that says too little is never loaded, and the model answers without the content.",
    SubAgents: "Only summaries come back: what a sub-agent does not report, the lead cannot know.",
}
"""How each control fails. None shows in a count of tokens: test it on cases where an early detail matters late."""


class Size(NamedTuple):
    """One number of a run: a size in tokens, or N in requests.

    ``origin`` is given, measured or assumed; ``source`` and ``runs`` say where and in how many runs it was measured.
    """

    name: str
    value: int
    origin: str
    source: str = ""
    runs: int | None = None


class Sizing(NamedTuple):
    """What a sheet tells. ``extra`` are sentences on what was put into the sizes.

    ``bill`` has keeping all and the run, in this order; None where no model was named.
    """

    sizes: tuple[Size, ...]
    extra: tuple[str, ...]
    run: Growth
    findings: tuple[Finding, ...]
    cache: Cache
    bill: tuple[Priced, ...] | None

    @property
    def caching(self) -> bool:
        """True where the run has a prompt cache."""
        return self.cache != "none"


def sheet(sizing: Sizing) -> str:
    """The page as Markdown. Its first line is `SHEET_BEGINS`."""
    run = sizing.run
    parts = [
        f"{SHEET_BEGINS}\n# Sizing sheet: {run.control.label}",
        f"Computed by agentlab {__version__} before any run: tokens by the formula, not counted in a real request.",
        "## The numbers",
        _sizes(sizing.sizes),
        *sizing.extra,
        "## What the run sends",
        "\n".join(f"    {line}" for line in formula(run)),
        sentence(run),
        markdown(table(run)),
        f"## The control: {run.control.label}",
        f"**What it saves.** {_saves(sizing)}",
        f"**How it fails.** {failure(run.control)}",
        "## What it costs",
        *_costs(sizing),
        "## Findings",
        _findings(sizing.findings),
        "## Not counted",
        "\n".join(f"- {line}" for line in not_counted(sizing)),
    ]
    return "\n\n".join(parts) + "\n"


def failure(control: Control | SubAgents) -> str:
    """How a control fails, in words; of a combination each of its controls."""
    parts = [control] if isinstance(control, SubAgents) else control.single()
    return " ".join(dict.fromkeys(FAILURES[type(part)] for part in parts)) or FAILURES[KeepAll]


def not_counted(sizing: Sizing) -> list[str]:
    """What stands in none of the numbers above."""
    lines = [
        "What a provider adds to a request, and thinking that is billed as output, unless they are in S and a.",
        "Retries, failed calls, fees of tools, discounts for batches, the time a person waits.",
        "What the model no longer knows because of the control, and what that costs.",
    ]
    if isinstance(sizing.run.r, int):
        lines.append("Uneven results: each has r tokens here. In a real run a few hold most, and early ones cost most.")
    if sizing.caching:
        lines.append(CACHE_IS_IDEAL)
    if sizing.bill is None:
        lines.append("Money: no model was named.")
    return lines


def prices_told(bill: Sequence[Priced]) -> str:
    """The prices of a bill with their source; those of an hour in the cache where that was asked for."""
    cost = bill[0].cached
    said = prices_sentence(cost.model)
    if cost.cache != "1h":
        return said
    hour = ", ".join(
        f"{price.cache_write_1h}" + (f" above {price.above:,} tokens" if price.above else "")
        for price in tiers_of(cost.model)
    )
    return f"{said} Cache write for an hour: {hour}."


def markdown(shown: Table) -> str:
    """A table in Markdown; numbers lie to the right."""
    sides = ["---" if i == 0 or title in shown.words else "---:" for i, title in enumerate(shown.columns)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (shown.columns, sides, *shown.rows))


def _sizes(sizes: Sequence[Size]) -> str:
    rows = tuple((f"{one.name}: {MEANING[one.name]}", f"{one.value:,}", _origin(one)) for one in sizes)
    return markdown(Table("", ("number", "value", "origin"), rows, words=("origin",)))


def _origin(one: Size) -> str:
    return one.origin if one.runs is None else f"{one.origin} in {counted(one.runs, 'run')}"


def _saves(sizing: Sizing) -> str:
    run = sizing.run
    if not run.is_controlled:
        return "Nothing: this run keeps all."
    change = 1 - run.share
    said = (
        f"The run reads {run.forecast.all_input:,} input tokens, summaries and sub-agents included, where keeping all "
        f"would read {run.keep_all.total:,}: {abs(change):.0%} {'less' if change >= 0 else 'more'}. "
        f"Its largest request has {run.forecast.largest:,} tokens instead of {run.keep_all.largest:,}."
    )
    if sizing.bill is None:
        return said
    alone, chosen = (bill.cached.usd for bill in sizing.bill)
    cached = ", both with the cache" if sizing.caching else ""
    dearer = " It saves tokens and costs money." if chosen > alone and change > 0 else ""
    return f"{said} It costs {chosen:,.3f} USD, where keeping all would cost {alone:,.3f}{cached}.{dearer}"


def _costs(sizing: Sizing) -> list[str]:
    if sizing.bill is None:
        return ["Not asked for: name a model to have the bill."]
    if not sizing.run.is_controlled:
        return [markdown(costs_table(sizing.bill[:1])), prices_told(sizing.bill)]
    return [markdown(costs_table(sizing.bill)), cheapest_sentence(sizing.bill), prices_told(sizing.bill)]


def _findings(findings: Sequence[Finding]) -> str:
    if not findings:
        rules = list(RULES)
        return f"None of the rules {rules[0]} to {rules[-1]} has anything to say."
    return "\n".join(f"- {one.rule}, {one.where}: {one.message}. The way out: {one.fix}." for one in findings)
