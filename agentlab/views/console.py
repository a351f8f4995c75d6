"""The console of the gateway: choose a proposal, see who answers. The same `outcome`, on controls; needs a kernel.

Only HTML widgets change: no Output widget and no interact, which lose replies when a notebook runs without a browser.
The choices are buttons, not drop-down lists: in a notebook JupyterLab takes the arrow keys of a list for itself and
leaves its cell, while a button is reached with Tab and pressed with Space.
"""

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from agentlab.views.company import Who
from agentlab.views.dispatch import sentence, steps_table
from agentlab.views.records import receipt_table
from agentlab.views.situation import Approved, Earlier, Invoice, SentAs, Situation, ToolName, outcome
from agentlab.views.tables import Table

if TYPE_CHECKING:
    import ipywidgets as widgets

_LABEL = "150px"
_CLASS = "agentlab-console"
# In a dark theme the pressed button of a row is hardly brighter than the others; the theme's own accent tells it apart.
_PRESSED = (
    f"<style>.{_CLASS} .jupyter-button.mod-active {{ background-color: var(--jp-brand-color1); "
    "color: var(--jp-ui-inverse-font-color0); font-weight: bold; }</style>"
)
_CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "caller": ("caller", get_args(Who)),
    "tool": ("tool", get_args(ToolName)),
    "invoice": ("invoice", get_args(Invoice)),
    "sent_as": ("amount sent as", get_args(SentAs)),
    "approved": ("approved", get_args(Approved)),
    "earlier": ("posted before", get_args(Earlier)),
}
_NUMBERS = {
    "amount_cents": ("amount_cents", -1_000_000, 2_000_000, 10_000),
    "calls_before": ("calls in this minute", 0, 20, 1),
    "seconds_left": ("seconds left", 0, 3_600, 1),
}


class Panel(NamedTuple):
    """The widgets of one console: a control for each field of `Situation`, what they change, and the box of it all."""

    controls: dict[str, Any]
    sentence: "widgets.HTML"
    steps: "widgets.HTML"
    receipt: "widgets.HTML"
    box: "widgets.VBox"


def console(situation: Situation) -> "widgets.VBox":
    """Controls for every part of a situation, starting from this one."""
    return panel(situation).box


def panel(situation: Situation) -> Panel:
    """The widgets behind `console`, by name. A number beyond the usual reach of its box widens it."""
    import ipywidgets as widgets

    def choice(name: str) -> "widgets.ToggleButtons":
        label, options = _CHOICES[name]
        return widgets.ToggleButtons(
            options=options,
            value=getattr(situation, name),
            description=label,
            tooltips=[f"{label}: {option}" for option in options],
            style={"description_width": _LABEL, "button_width": "auto"},
        )

    def number(name: str) -> "widgets.BoundedIntText":
        label, least, most, step = _NUMBERS[name]
        value = getattr(situation, name)
        return widgets.BoundedIntText(
            value=value,
            min=min(least, value),
            max=max(most, value),
            step=step,
            description=label,
            style={"description_width": _LABEL},
            layout={"width": "280px"},
        )

    controls = {name: choice(name) if name in _CHOICES else number(name) for name in Situation._fields}
    said, listed, receipt = widgets.HTML(), widgets.HTML(), widgets.HTML()

    def show(_change: Any = None) -> None:
        seen = outcome(Situation(**{name: control.value for name, control in controls.items()}))
        said.value = f'<p aria-live="polite" style="line-height:1.4"><b>{escape(sentence(seen))}</b></p>'
        listed.value = _table(steps_table(seen))
        receipt.value = _table(receipt_table(seen.receipt))

    for control in controls.values():
        control.observe(show, names="value")
    show()
    numbers = widgets.HBox([controls[name] for name in _NUMBERS], layout={"flex_flow": "row wrap"})
    buttons = {name: controls[name] for name in _CHOICES}
    before = [buttons[name] for name in ("caller", "tool", "invoice", "sent_as")]
    after = [buttons[name] for name in ("approved", "earlier")]
    tables = widgets.HBox(
        [widgets.VBox([listed], layout={"flex": "1 1 480px"}), widgets.VBox([receipt], layout={"flex": "1 1 420px"})],
        layout={"flex_flow": "row wrap"},
    )
    box = widgets.VBox([widgets.HTML(_PRESSED, layout={"height": "0"}), *before, numbers, *after, said, tables])
    return Panel(controls, said, listed, receipt, box.add_class(_CLASS))


def _table(table: Table) -> str:
    # The class gives it the look of a table in a cell's output, in every theme.
    return f'<div class="jp-RenderedHTMLCommon" style="display:inline-block">{table.html}</div>'
