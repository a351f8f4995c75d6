"""Sliders on top of the growth view: the same function, recomputed while a hand moves. Needs a running kernel.

The chart is a FigureWidget changed by ``batch_update``. No Output widget and no interact: a notebook
that is run without a browser loses some of their replies, and then waits for its time limit.
"""

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from agentlab.context.controls import Compact
from agentlab.context.growth import check_sizes, whole_number
from agentlab.views.growth import Growth, figure, grow, lines, mode, sentence, table
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
    "trigger": Range("trigger: compact above it", 0, 200_000, 500),
}


class Panel(NamedTuple):
    """The widgets of one panel: sliders and number boxes by name, what they move, and the box that shows it all."""

    sliders: dict[str, "widgets.IntSlider"]
    numbers: dict[str, "widgets.BoundedIntText"]
    figure: "go.FigureWidget"
    sentence: "widgets.HTML"
    table: "widgets.HTML"
    box: "widgets.VBox"


def sliders(S: int, U: int, a: int, r: int, N: int, trigger: int, summary: int = 1_500) -> "widgets.VBox":
    """Sliders for the sizes of a run (tokens), its requests and the trigger of a compaction, ready to be shown."""
    return panel(S, U, a, r, N, trigger, summary).box


def panel(S: int, U: int, a: int, r: int, N: int, trigger: int, summary: int = 1_500) -> Panel:
    """The widgets behind `sliders`, by name. Raises AgentlabError for values that are no sizes.

    Each slider follows a labelled number box and the other way round. A value beyond a slider's usual range widens it.
    """
    import ipywidgets as widgets

    from agentlab.views.chart import live

    check_sizes(S, U, a, r, N)
    values = {"S": S, "U": U, "a": a, "r": r, "N": N, "trigger": whole_number("trigger", trigger)}
    pairs = {name: pair(_RANGES[name], value) for name, value in values.items()}
    moving = {name: each.slider for name, each in pairs.items()}
    numbers = {name: each.number for name, each in pairs.items()}

    runs = _runs(values, summary)
    chart = live(figure(runs))
    said = widgets.HTML(_sentences(runs))
    listed = widgets.HTML(_table(runs))

    def recompute(_change: Any) -> None:
        runs = _runs({name: number.value for name, number in numbers.items()}, summary)
        with chart.batch_update():
            for trace, (name, sizes) in zip(chart.data, lines(runs).items(), strict=True):
                trace.x, trace.y = list(range(1, len(sizes) + 1)), list(sizes)
                trace.name, trace.mode = name, mode(sizes)
        said.value = _sentences(runs)
        listed.value = _table(runs)

    for number in numbers.values():
        number.observe(recompute, names="value")

    rows = [widgets.VBox([each.number, each.slider]) for each in pairs.values()]
    left = widgets.VBox([widgets.HTML("<b>Sizes in tokens</b>"), *rows], layout={"flex": "0 0 350px"})
    top = widgets.HBox([left, chart], layout={"flex_flow": "row wrap"})
    return Panel(moving, numbers, chart, said, listed, widgets.VBox([top, said, listed]))


def _runs(values: dict[str, int], summary: int) -> list[Growth]:
    """Keeping all and compaction at the trigger, in the order of the chart's lines."""
    S, U, a, r, N, trigger = (values[name] for name in _RANGES)
    control = Compact(trigger=trigger, summary=summary)
    return [grow(S, U, a, r, N, trigger), grow(S, U, a, r, N, trigger, control)]


def _table(runs: list[Growth]) -> str:
    # The class gives it the look of a table in a cell's output, in every theme.
    return f'<div class="jp-RenderedHTMLCommon" style="display:inline-block">{table(runs[-1]).html}</div>'


def _sentences(runs: list[Growth]) -> str:
    paragraphs = "".join(f"<p><b>{escape(run.control.label)}.</b> {escape(sentence(run))}</p>" for run in runs)
    return f'<div aria-live="polite" style="line-height:1.4;max-width:1000px">{paragraphs}</div>'
