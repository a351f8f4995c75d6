"""Sliders on top of the growth view: the same function, recomputed while a hand moves. Needs a running kernel.

The chart is a FigureWidget changed by ``batch_update``. No Output widget and no interact: a notebook
that is run without a browser loses some of their replies, and then waits for its time limit.
"""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from agentlab.context.arrivals import CapResults
from agentlab.context.controls import ClearToolResults, Compact, KeepAll, TrimTurns
from agentlab.context.cost import Cache
from agentlab.context.growth import check_sizes, whole_number
from agentlab.context.prices import price_of
from agentlab.views.costs import Priced, cheapest_sentence, costs_table, priced
from agentlab.views.growth import figure, grow_each, lines, mode, sentence
from agentlab.views.paired import Range, pair

if TYPE_CHECKING:
    import ipywidgets as widgets
    import plotly.graph_objects as go


_RANGES = {
    "S": Range("S: prompt and schemas", 0, 20_000, 100),
    "U": Range("U: the task", 0, 10_000, 50),
    "a": Range("a: written in a step", 0, 2_000, 10),
    "r": Range("r: one tool result", 0, 10_000, 50),
    "N": Range("N: requests", 1, 200, 1),
    "keep": Range("keep: results not cleared", 0, 50, 1),
    "window": Range("window: messages kept", 1, 200, 1),
    "trigger": Range("trigger: compact above it", 0, 200_000, 500),
    "summary": Range("summary: its tokens", 0, 10_000, 100),
    "cap": Range("cap: most tokens of a result", 50, 10_000, 50),
}
_SMALLEST = {"N": 1, "window": 1, "cap": 1}


class Panel(NamedTuple):
    """The widgets of one panel: sliders, number boxes and the choice of a cache; what they move; the box of all."""

    sliders: dict[str, "widgets.IntSlider"]
    numbers: dict[str, "widgets.BoundedIntText"]
    cache: "widgets.ToggleButtons"
    figure: "go.FigureWidget"
    sentence: "widgets.HTML"
    table: "widgets.HTML"
    box: "widgets.VBox"


def sliders(model: str, **values: int) -> "widgets.VBox":
    """Sliders for the sizes of a run (tokens) and its controls, ready to be shown. See `panel`."""
    return panel(model, **values).box


def panel(model: str, **values: int) -> Panel:
    """The widgets behind `sliders`, by name.

    `values` are S, U, a, r, N, keep, window, trigger, summary and cap; the bill is at the prices of `model`. Each
    slider follows a labelled number box and the other way round. A value beyond a slider's usual range widens it.
    Raises AgentlabError for values that are no sizes.
    """
    import ipywidgets as widgets

    from agentlab.views.chart import live

    check_sizes(*(values[name] for name in ("S", "U", "a", "r", "N")))
    started = {name: whole_number(name, values[name], at_least=_SMALLEST.get(name, 0)) for name in _RANGES}
    pairs = {name: pair(_RANGES[name], value) for name, value in started.items()}
    moving = {name: each.slider for name, each in pairs.items()}
    numbers = {name: each.number for name, each in pairs.items()}
    cache = widgets.ToggleButtons(
        options=_caches(model), value="5m", description="cache", style={"button_width": "92px"}
    )

    bills = bills_of(started, model, "5m")
    chart = live(figure([bill.run for bill in bills], title="What each request sends, by control"))
    said = widgets.HTML(_sentences(bills))
    listed = widgets.HTML(_table(bills))

    def recompute(_change: Any) -> None:
        bills = bills_of({name: number.value for name, number in numbers.items()}, model, cache.value)
        with chart.batch_update():
            drawn = lines([bill.run for bill in bills])
            for trace, (name, sizes) in zip(chart.data, drawn.items(), strict=True):
                trace.x, trace.y = list(range(1, len(sizes) + 1)), list(sizes)
                trace.name, trace.mode = name, mode(sizes)
        said.value = _sentences(bills)
        listed.value = _table(bills)

    for moved in (*numbers.values(), cache):
        moved.observe(recompute, names="value")

    rows = [widgets.VBox([each.number, each.slider]) for each in pairs.values()]
    left = widgets.VBox([widgets.HTML("<b>Sizes in tokens</b>"), *rows], layout={"flex": "0 0 350px"})
    right = widgets.VBox([chart, cache, listed], layout={"flex": "1 1 640px", "overflow": "auto"})
    top = widgets.HBox([left, right], layout={"flex_flow": "row wrap"})
    return Panel(moving, numbers, cache, chart, said, listed, widgets.VBox([top, said]))


def bills_of(values: Mapping[str, int], model: str, cache: Cache) -> list[Priced]:
    """Keeping all and each of the four controls, with their bills, in the order of the chart's lines."""
    S, U, a, r, N, keep, window, trigger, summary, cap = (values[name] for name in _RANGES)
    controls = (
        KeepAll(),
        ClearToolResults(keep=keep),
        TrimTurns(window=window),
        Compact(trigger=trigger, summary=summary),
        CapResults(cap),
    )
    return priced(grow_each(S, U, a, r, N, trigger, controls), model, cache)


def _caches(model: str) -> list[tuple[str, Cache]]:
    found: list[tuple[str, Cache]] = [("none", "none"), ("5 minutes", "5m")]
    return found if price_of(model).cache_write_1h is None else [*found, ("1 hour", "1h")]


def _table(bills: list[Priced]) -> str:
    # The class gives it the look of a table in a cell's output, in every theme.
    return f'<div class="jp-RenderedHTMLCommon" style="display:inline-block">{costs_table(bills).html}</div>'


def _sentences(bills: list[Priced]) -> str:
    plain = f"<p><b>{escape(bills[0].label)}.</b> {escape(sentence(bills[0].run))}</p>"
    paragraphs = f"{plain}<p>{escape(cheapest_sentence(bills))}</p>"
    return f'<div aria-live="polite" style="line-height:1.4;max-width:1000px">{paragraphs}</div>'
