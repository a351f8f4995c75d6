"""The console of the dispatcher: choose a call, see who answers. The same `outcome`, on controls; needs a kernel.

Only HTML widgets change: no Output widget and no interact, which lose replies when a notebook runs without a browser.
The choices are buttons, not drop-down lists: in a notebook JupyterLab takes the arrow keys of a list for itself and
leaves its cell, while a button is reached with Tab and pressed with Space.
"""

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from pydantic import JsonValue

from agentlab.dispatch.contract import ApprovalRule, ToolContract
from agentlab.errors import AgentlabError
from agentlab.views.dispatch import (
    Approved,
    Arguments,
    Earlier,
    Seen,
    outcome,
    sentence,
    steps_table,
)
from agentlab.views.records import receipt_table

if TYPE_CHECKING:
    import ipywidgets as widgets

_KINDS = ("whole number", "text", "true")
_LABEL = "120px"
_CLASS = "agentlab-console"
# In a dark theme the pressed button of a row is hardly brighter than the others; the theme's own accent tells it apart.
_PRESSED = (
    f"<style>.{_CLASS} .jupyter-button.mod-active {{ background-color: var(--jp-brand-color1); "
    "color: var(--jp-ui-inverse-font-color0); font-weight: bold; }</style>"
)


class Panel(NamedTuple):
    """The widgets of one console: its controls by name, what they change, and the box that shows it all."""

    controls: dict[str, Any]
    sentence: "widgets.HTML"
    steps: "widgets.HTML"
    receipt: "widgets.HTML"
    box: "widgets.VBox"


def console(contract: ToolContract, arguments: Arguments) -> "widgets.VBox":
    """Controls for the caller's role, the amount, what a person approved and what was posted before."""
    return panel(contract, arguments).box


def panel(contract: ToolContract, arguments: Arguments) -> Panel:
    """The widgets behind `console`, by name. Raises AgentlabError for a contract without an approval rule.

    The amount has a slider and, linked to it, a labelled number box; `arguments` gives its first value.
    """
    import ipywidgets as widgets
    import traitlets

    if not isinstance(contract.approval, ApprovalRule):
        raise AgentlabError(f"{contract.name} has no approval rule; give a contract with one to show approvals")
    amount, limit = contract.approval.argument, contract.approval.above
    first = arguments.get(amount)
    start = first if type(first) is int else limit
    reach = {"min": min(-limit, start), "max": max(2 * limit, start)}

    def choice(label: str, options: tuple[str, ...]) -> "widgets.ToggleButtons":
        return widgets.ToggleButtons(
            options=options,
            description=label,
            tooltips=[f"{label}: {option}" for option in options],
            style={"description_width": _LABEL, "button_width": "auto"},
        )

    number = widgets.BoundedIntText(
        value=start,
        step=10_000,
        description=amount,
        style={"description_width": _LABEL},
        layout={"width": "250px"},
        **reach,
    )
    slider = widgets.IntSlider(
        value=start, step=10_000, readout=False, tooltip=amount, layout={"width": "330px"}, **reach
    )
    traitlets.link((slider, "value"), (number, "value"))
    controls = {
        "role": choice("caller's role", (*contract.roles, "viewer")),
        "kind": choice("amount sent as", _KINDS),
        "amount": number,
        "slider": slider,
        "approved": choice("approved", get_args(Approved)),
        "earlier": choice("posted before", get_args(Earlier)),
    }

    def see() -> Seen:
        sent: dict[str, JsonValue] = {"whole number": number.value, "text": str(number.value), "true": True}
        return outcome(
            contract,
            {**arguments, amount: sent[controls["kind"].value]},
            roles=(controls["role"].value,),
            approved=controls["approved"].value,
            earlier=controls["earlier"].value,
        )

    said, listed, receipt = widgets.HTML(), widgets.HTML(), widgets.HTML()

    def show(_change: Any = None) -> None:
        seen = see()
        said.value = f'<p aria-live="polite" style="line-height:1.4"><b>{escape(sentence(seen))}</b></p>'
        listed.value = steps_table(seen).html
        receipt.value = receipt_table(seen.receipt).html

    for name, control in controls.items():
        if name != "slider":  # the number box follows it, so one change is told once
            control.observe(show, names="value")
    show()
    amounts = widgets.HBox([number, slider], layout={"flex_flow": "row wrap"})
    rows = [controls["role"], amounts, *(controls[name] for name in ("kind", "approved", "earlier"))]
    left = widgets.VBox([listed], layout={"flex": "1 1 480px"})
    right = widgets.VBox([receipt], layout={"flex": "1 1 420px"})
    tables = widgets.HBox([left, right], layout={"flex_flow": "row wrap"})
    box = widgets.VBox([widgets.HTML(_PRESSED, layout={"height": "0"}), *rows, said, tables])
    return Panel(controls, said, listed, receipt, box.add_class(_CLASS))
