"""Context growth seen: a pure result, and its sentence, formula, table and figure. No front end is needed for any."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentlab.context.controls import Control, KeepAll
from agentlab.context.curves import curve
from agentlab.context.forecast import Forecast, Results
from agentlab.context.subagents import SubAgents
from agentlab.views.formulas import of_control, of_keeping_all
from agentlab.views.tables import Table, counted

if TYPE_CHECKING:
    from agentlab.views.chart import Chart

# Plotly cannot follow the theme, and no colour of text has 4.5:1 (WCAG 1.4.3) on both white and JupyterLab's dark #111.
PAPER = "#ffffff"
TEXT_COLOUR = "#333333"
# Each has 3:1 at least on the paper (WCAG 1.4.11), and the dashes tell the lines apart without any colour.
LINE_COLOURS = ("#7f7f7f", "#2b7bd6", "#c2571a", "#2f8a4c", "#a055c8")
TRIGGER_COLOUR = "#d03f3f"
DASHES = ("dash", "solid", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class Growth:
    """One run as the calculator sees it: its sizes in tokens, its control, and what keeping all would have sent.

    ``forecast`` may have more requests than N, where a control adds steps, or fewer, where sub-agents make the calls.
    """

    S: int
    U: int
    a: int
    r: Results
    N: int
    trigger: int | None
    control: Control | SubAgents
    forecast: Forecast
    keep_all: Forecast

    @property
    def is_controlled(self) -> bool:
        """False where nothing is removed, so that there is nothing to compare."""
        return not isinstance(self.control, KeepAll)

    @property
    def share(self) -> float:
        """All input tokens, of summarising calls and sub-agents too, as a share of what keeping all would send."""
        return self.forecast.all_input / self.keep_all.total if self.keep_all.total else 1.0


def grow(
    S: int, U: int, a: int, r: Results, N: int, trigger: int | None = None, control: Control | SubAgents | None = None
) -> Growth:
    """Compute a run of N requests (sizes in tokens); `r` is one size or the sizes of the N - 1 results.

    Raises AgentlabError for sizes that are no sizes.
    """
    return grow_each(S, U, a, r, N, trigger, (control or KeepAll(),))[0]


def grow_each(
    S: int, U: int, a: int, r: Results, N: int, trigger: int | None, controls: Sequence[Control | SubAgents]
) -> list[Growth]:
    """The same run under each of `controls`. What keeping all would send is computed once for all of them."""
    keep_all = curve(KeepAll(), S, U, a, r, N)
    if trigger is not None:
        keep_all.first_over(trigger)  # refuses a trigger that is none
    return [
        Growth(S, U, a, r, N, trigger, control, keep_all, keep_all)
        if isinstance(control, KeepAll)
        else Growth(S, U, a, r, N, trigger, control, curve(control, S, U, a, r, N), keep_all)
        for control in controls
    ]


def sentence(growth: Growth) -> str:
    """The point of the figure, in words and numbers."""
    run = growth.forecast
    who = "The lead" if run.subruns else "The run"
    sends = f"{who} sends {run.total:,} input tokens in {counted(len(run.requests), 'request')}"
    if len(run.requests) == 1:
        said = [f"{sends}."]
    elif run.last == run.largest:
        said = [f"{sends}; the last is the largest, with {run.last:,}."]
    else:
        said = [f"{sends}; the largest has {run.largest:,} and the last {run.last:,}."]
    if run.compactions:
        read, write = ("reads", "writes") if run.compactions == 1 else ("read", "write")
        said.append(
            f"{counted(run.compactions, 'summarising call')} {read} {run.summary_input:,} tokens more "
            f"and {write} {run.summary_output:,}."
        )
    if run.subruns:
        said.append(_by_sub_agents(run))
    if growth.is_controlled:
        said.append(f"With '{growth.control.label}' the run reads {growth.share:.0%} of what keeping all would read.")
    elif growth.N > 1:
        half = growth.N // 2
        before = sum(run.requests[:half])
        if before:
            said.append(
                f"Going from {half:,} to {growth.N:,} requests multiplies the total by {run.total / before:.2f}."
            )
    if growth.trigger is not None:
        k = run.first_over(growth.trigger)
        first = f"Request {k:,} is the first over" if k else "No request is over"
        said.append(f"{first} the trigger of {growth.trigger:,}{_summaries_over(run, growth.trigger, bool(k))}.")
    return " ".join(said)


def formula(growth: Growth) -> list[str]:
    """The formula of keeping all with the numbers put in, then what the control changes, one line each."""
    sizes = growth.S, growth.U, growth.a, growth.r
    return [*of_keeping_all(*sizes, growth.N, growth.keep_all.total), *of_control(growth.control, *sizes)]


def landmarks(N: int) -> list[int]:
    """A few requests that show the shape of a run: the first, then N halved again and again."""
    found = {1, N}
    while len(found) < 6 and N > 2:
        N //= 2
        found.add(N)
    return sorted(found)


def table(growth: Growth) -> Table:
    """The size of a few requests and the totals; beside each number what keeping all would send."""
    run, plain = growth.forecast, growth.keep_all
    ks = [*landmarks(growth.N), *([len(run.requests)] if len(run.requests) > growth.N else [])]
    pairs = [(f"request {k:,}", _at(run, k), _at(plain, k)) for k in ks]
    pairs += [("largest", run.largest, plain.largest), ("all requests", run.total, plain.total)]
    if run.compactions:
        pairs += [("summaries read", run.summary_input, 0), ("summaries write", run.summary_output, 0)]
    if run.subruns:
        pairs.append(("sub-agents read", sum(each.all_input for each in run.subruns), 0))
    if run.all_input != run.total:
        pairs.append(("all input", run.all_input, plain.all_input))
    if not growth.is_controlled:
        return Table("Input tokens", ("tokens", "keep all"), tuple((name, _cell(size)) for name, size, _ in pairs))
    rows = tuple((name, _cell(size), _cell(other)) for name, size, other in pairs)
    return Table(f"Input tokens: {growth.control.label}", ("tokens", "controlled", "keep all"), rows)


def comparison(growths: Sequence[Growth]) -> Table:
    """One row for each control: its largest request, its total with the summarising calls, its share of keeping all."""
    rows = tuple(
        (
            growth.control.label,
            f"{growth.forecast.largest:,}",
            f"{growth.forecast.all_input:,}",
            f"{growth.share:.0%}",
            str(growth.forecast.compactions),
        )
        for growth in growths
    )
    return Table(
        "Input tokens of a run, by control",
        ("control", "largest request", "whole run", "of keep all", "summaries"),
        rows,
    )


def figure(growths: Growth | Sequence[Growth], title: str = "What each request sends") -> "Chart":
    """A line of I(k) for each control, and the trigger where there is one. All runs share S, U, a, r and N.

    Of sub-agents the lead's requests are drawn.

    640 pixels wide: that is what fits beside sliders. The paper is white in every theme, see `PAPER`.
    """
    from agentlab.views.chart import Chart

    runs = [growths] if isinstance(growths, Growth) else list(growths)
    named = lines(runs)
    drawn = Chart(layout=_layout(title, list(named)))
    for i, (name, sizes) in enumerate(named.items()):
        is_trigger = name == "trigger"
        drawn.add_scatter(
            x=list(range(1, len(sizes) + 1)),
            y=list(sizes),
            name=name,
            mode=mode(sizes),
            line={
                "color": TRIGGER_COLOUR if is_trigger else LINE_COLOURS[i % len(LINE_COLOURS)],
                "dash": "solid" if is_trigger else DASHES[i % len(DASHES)],
                "width": 1.5 if is_trigger else 2.5,
            },
            hovertemplate="request %{x}: %{y:,} tokens<extra>%{fullData.name}</extra>",
        )
    return drawn


def mode(sizes: Sequence[int]) -> str:
    """How plotly draws one line of the figure: a single request would be a line of no length, so it is a point."""
    return "lines" if len(sizes) > 1 else "markers"


def lines(growths: Sequence[Growth]) -> dict[str, tuple[int, ...]]:
    """What the figure draws: I(1) .. I(N) by name, keeping all first, the trigger last."""
    drawn = {KeepAll().label: growths[0].keep_all.requests}
    drawn.update({growth.control.label: growth.forecast.requests for growth in growths})
    trigger = growths[0].trigger
    if trigger is not None:
        drawn["trigger"] = (trigger,) * max(len(sizes) for sizes in drawn.values())
    return drawn


def _layout(title: str, names: Sequence[str]) -> dict[str, Any]:
    # Plotly lays out a flat legend in columns as wide as its longest name, and does not move the title for it.
    columns = max(1, 550 // (50 + 8 * max(len(name) for name in names)))
    top = 45 + 20 * -(-len(names) // columns)
    axis = {"gridcolor": "rgba(128,128,128,0.25)", "zeroline": False, "rangemode": "tozero", "linecolor": TEXT_COLOUR}
    return {
        "template": "none",
        "title": {"text": title, "x": 0, "xref": "paper", "y": 0.98, "yanchor": "top", "font": {"size": 16}},
        "width": 640,
        "height": 330 + top,
        "margin": {"l": 75, "r": 15, "t": top, "b": 65},
        "font": {"color": TEXT_COLOUR, "size": 13},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "xaxis": {**axis, "title": {"text": "request k"}},
        "yaxis": {**axis, "title": {"text": "input tokens, I(k)"}, "tickformat": ",d"},
        "legend": {"orientation": "h", "x": 0, "y": 1.01, "xanchor": "left", "yanchor": "bottom"},
        "showlegend": True,
    }


def _summaries_over(run: Forecast, trigger: int, requests_are: bool) -> str:
    """The summarising calls are requests too, though none of the N: they read what was too large to be sent."""
    if run.summary_largest <= trigger:
        return ""
    too = " too" if requests_are else ""
    if run.compactions == 1:
        return f"; the summarising call is{too}, with {run.summary_largest:,}"
    return f"; the summarising calls are{too}, with up to {run.summary_largest:,}"


def _by_sub_agents(run: Forecast) -> str:
    calls = sum(each.model_calls for each in run.subruns)
    reads = sum(each.all_input for each in run.subruns)
    write = sum(each.output for each in run.subruns)
    sub_agents = counted(len(run.subruns), "sub-agent")
    return f"{sub_agents} read {reads:,} tokens more, in {counted(calls, 'request')} of their own, and write {write:,}."


def _at(run: Forecast, k: int) -> int | None:
    return run.requests[k - 1] if k <= len(run.requests) else None


def _cell(size: int | None) -> str:
    return "" if size is None else f"{size:,}"
