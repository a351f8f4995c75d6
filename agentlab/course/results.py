"""What a check says, and how it is shown: as text, as HTML, and as data that a command can collect."""

import html
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from pydantic import PrivateAttr, ValidationError, model_validator

from agentlab.errors import AgentlabError
from agentlab.shapes import Frozen

MIME = "application/vnd.agentlab.check+json"

State = Literal["right", "wrong", "not attempted"]
_SIGNS: dict[State, tuple[str, str]] = {
    # The sign and the word say it; the colour only repeats it.
    "right": ("✔", "#2e7d32"),
    "wrong": ("✘", "#c62828"),
    "not attempted": ("○", "#757575"),
}


class CheckResult(Frozen):
    """The outcome of one exercise's check.

    A wrong result always has all four: ``called`` (what the check called or read), ``came_back``,
    ``expected``, and ``why`` (why the difference matters). ``note`` is a sentence computed by the
    check to go with a right answer, or what to do next.
    """

    exercise: str
    state: State
    called: str = ""
    came_back: str = ""
    expected: str = ""
    why: str = ""
    note: str = ""

    # The cell that `check` has already shown this result in; see _ipython_display_.
    _shown_in: int | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _wrong_says_everything(self) -> Self:
        if self.state == "wrong" and not (self.called and self.came_back and self.expected and self.why):
            raise ValueError("a wrong result says what was called, what came back, what was expected, and why")
        return self

    def lines(self) -> list[tuple[str, str]]:
        """The result as (label, text), without the parts that are empty."""
        parts = [
            ("called", self.called),
            ("came back", self.came_back),
            ("expected", self.expected),
            ("why", self.why),
            ("", self.note),
        ]
        return [(label, text) for label, text in parts if text]

    def __repr__(self) -> str:
        head = f"{_SIGNS[self.state][0]} {self.exercise} {self.state}"
        return "\n".join([head, *(f"  {label + ': ' if label else ''}{text}" for label, text in self.lines())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        sign, colour = _SIGNS[self.state]
        rows = "".join(
            f"<div>{f'<b>{label}</b>: ' if label else ''}<span>{html.escape(text)}</span></div>"
            for label, text in self.lines()
        )
        return (
            f'<div role="status" style="border-left: 4px solid {colour}; padding-left: 10px">'
            f"<div><b>{sign} {html.escape(self.exercise)} {self.state}</b></div>{rows}</div>"
        )

    def mimebundle(self) -> dict[str, Any]:
        """Every form of the result, as one display message carries it."""
        return {"text/plain": repr(self), "text/html": self._repr_html_(), MIME: self.model_dump()}

    def show(self) -> None:
        """Display the result in the running notebook cell; does nothing where there is no notebook."""
        shell = _notebook_shell()
        if shell is not None:
            shell.display_pub.publish(self.mimebundle())
            self._shown_in = shell.execution_count

    def _ipython_display_(self) -> None:
        # `check(...)` shows its result at once, also in the middle of a cell. As the last expression
        # of that same cell the result must not appear a second time.
        shell = _notebook_shell()
        if shell is None or self._shown_in != shell.execution_count:
            self.show()


def _notebook_shell() -> Any:
    # Where IPython is not loaded, no notebook is running; importing it to find out would cost half a second.
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def collect(outputs: Iterable[Mapping[str, Any]]) -> list[CheckResult]:
    """The check results among the stored outputs of one notebook cell, in order.

    Raises AgentlabError for an output of this kind that no check has written.
    """
    bundles = (output.get("data", {}) for output in outputs)
    try:
        return [CheckResult.model_validate(bundle[MIME]) for bundle in bundles if MIME in bundle]
    except ValidationError:
        raise AgentlabError(
            f"an output of the type {MIME} is no result of a check; take out what displays it"
        ) from None
