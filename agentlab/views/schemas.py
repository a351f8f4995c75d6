"""The share of a request that tool schemas take, as a figure and under sliders; `agentlab.views.tokens` computes it."""

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from agentlab.facts import cited, read_facts
from agentlab.views.growth import LINE_COLOURS, PAPER, TEXT_COLOUR
from agentlab.views.paired import Pair, Range, pair
from agentlab.views.tables import Table
from agentlab.views.tokens import SchemaShare, schema_share, share_sentence, share_table

if TYPE_CHECKING:
    import ipywidgets as widgets
    import plotly.graph_objects as go

    from agentlab.views.chart import Chart

_RANGES = {
    "tools": Range("tools", 0, 150, 1),
    "schema_tokens": Range("tokens of one schema", 0, 1_000, 10),
    "history_tokens": Range("everything else", 0, 50_000, 100),
}


class Panel(NamedTuple):
    """The widgets of one panel: slider and number box by name, what they move, and the box that shows it all."""

    pairs: dict[str, Pair]
    figure: "go.FigureWidget"
    sentence: "widgets.HTML"
    table: "widgets.HTML"
    box: "widgets.VBox"


def figure(sizes: SchemaShare) -> "Chart":
    """The share over the number of tools, a marker at this request. 640 pixels wide, so that sliders fit beside it."""
    import plotly.graph_objects as go

    from agentlab.views.chart import Chart

    tools, shares = _curve(sizes)
    chart = Chart(
        [
            go.Scatter(x=tools, y=shares, name="share of schemas", mode="lines", line={"color": LINE_COLOURS[1]}),
            go.Scatter(
                x=[sizes.tools],
                y=[sizes.share],
                name="this request",
                mode="markers",
                marker={"color": LINE_COLOURS[2], "size": 11, "symbol": "diamond"},
            ),
        ]
    )
    axis = {"gridcolor": "rgba(128,128,128,0.25)", "zeroline": False, "rangemode": "tozero", "linecolor": TEXT_COLOUR}
    chart.update_layout(
        template="none",
        title={"text": "Share of a request that is tool schema", "x": 0, "xref": "paper", "font": {"size": 16}},
        xaxis={**axis, "title": {"text": "tools in the request"}},
        yaxis={**axis, "tickformat": ".0%", "range": [0, 1]},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        font={"color": TEXT_COLOUR},
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        width=640,
        height=360,
        margin={"l": 60, "r": 20, "t": 75, "b": 65},
    )
    return chart


def tool_prompt_table() -> Table:
    """What Anthropic adds to a request as soon as it has tools, by model in use and by the request's tool_choice."""
    rows = tuple(
        (row["model"], row["auto_none"] or "not known", row["any_tool"] or "not known", cited(row))
        for row in read_facts("tool_prompt_tokens")
        if row["retired"] == "no"
    )
    columns = ("Claude", "tool_choice: auto, none", "tool_choice: any, tool", "source")
    return Table("Tokens added to a request with tools", columns, rows, words=("source",))


def schema_sliders(tools: int, schema_tokens: int, history_tokens: int) -> "widgets.VBox":
    """Sliders for the number of tools, the size of one schema and of everything else in the request (tokens)."""
    return panel(tools, schema_tokens, history_tokens).box


def panel(tools: int, schema_tokens: int, history_tokens: int) -> Panel:
    """The widgets behind `schema_sliders`, by name. Raises AgentlabError for values that are no sizes."""
    import ipywidgets as widgets

    from agentlab.views.chart import live

    first = schema_share(tools, schema_tokens, history_tokens)
    pairs = {name: pair(limits, getattr(first, name)) for name, limits in _RANGES.items()}
    chart = live(figure(first))
    said, listed = widgets.HTML(_sentence(first)), widgets.HTML(_table(first))

    def recompute(_change: Any) -> None:
        sizes = schema_share(**{name: each.number.value for name, each in pairs.items()})
        line, here = chart.data
        with chart.batch_update():
            line.x, line.y = _curve(sizes)
            here.x, here.y = [sizes.tools], [sizes.share]
        said.value, listed.value = _sentence(sizes), _table(sizes)

    for each in pairs.values():
        each.number.observe(recompute, names="value")

    rows = [widgets.VBox([each.number, each.slider]) for each in pairs.values()]
    title = widgets.HTML("<b>One request, sizes in tokens</b>")
    left = widgets.VBox([title, *rows, listed], layout={"flex": "0 0 350px"})
    top = widgets.HBox([left, chart], layout={"flex_flow": "row wrap"})
    return Panel(pairs, chart, said, listed, widgets.VBox([top, said]))


def _curve(sizes: SchemaShare) -> tuple[list[int], list[float]]:
    tools = list(range(max(_RANGES["tools"].high, sizes.tools) + 1))
    return tools, [round(sizes._replace(tools=number).share, 4) for number in tools]


def _sentence(sizes: SchemaShare) -> str:
    said = escape(share_sentence(sizes))
    return f'<div aria-live="polite" style="line-height:1.4;max-width:1000px"><p>{said}</p></div>'


def _table(sizes: SchemaShare) -> str:
    # The class gives it the look of a table in a cell's output, in every theme.
    html = share_table(sizes.schema_tokens, sizes.history_tokens).html
    return f'<div class="jp-RenderedHTMLCommon" style="display:inline-block">{html}</div>'
