"""What was added from one version of a function to the next: computed from the sources that run, shown line by line."""

import difflib
import inspect
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from agentlab.views.tables import counted

_LOOK = {
    # Half transparent, so that the theme's own text stays readable on them, light and dark.
    "+": "background:rgba(46,160,67,.22);font-weight:bold",
    "-": "background:rgba(248,81,73,.22)",
    " ": "",
}


class Diff(NamedTuple):
    """A function line by line; each line begins with + (new), - (gone) or a space (kept), and one more space."""

    caption: str
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([self.caption, *self.lines])

    def _repr_html_(self) -> str:
        # The + and - stand in the text as well: colour alone would tell nothing to some readers.
        lines = "".join(f'<span style="display:block;{_LOOK[line[0]]}">{escape(line)}</span>' for line in self.lines)
        return f"<p>{escape(self.caption)}</p><pre>{lines}</pre>"


def source_diff(before: Callable[..., Any], after: Callable[..., Any]) -> Diff:
    """The whole of `after`, with what is new against `before`. Both were typed, in a file or in a cell."""
    old, new = (inspect.getsource(function).splitlines() for function in (before, after))
    # With as much context as there are lines, the diff is the whole function; the first three lines are its header.
    lines = list(difflib.unified_diff(old, new, n=len(old) + len(new), lineterm=""))[3:]
    shown = tuple(f"{line[0]} {line[1:]}" for line in lines) or tuple(f"  {line}" for line in new)
    added, gone = (sum(line[0] == sign for line in shown) for sign in "+-")
    caption = f"{counted(added, 'line')} more" + (f", {gone} gone" if gone else "")
    return Diff(caption, shown)
