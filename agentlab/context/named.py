"""Controls as text, for a command line: ``clear:keep=3,placeholder=20`` or ``cap:cap=900+compact:trigger=20000``."""

from collections.abc import Callable
from dataclasses import MISSING, fields
from difflib import get_close_matches

from agentlab.context.arrivals import CapResults, Handles
from agentlab.context.controls import ClearToolResults, Combined, Compact, Control, KeepAll, TrimTurns
from agentlab.context.subagents import SubAgents
from agentlab.errors import AgentlabError

KINDS: dict[str, Callable[..., Control | SubAgents]] = {
    "keep-all": KeepAll,
    "clear": ClearToolResults,
    "trim": TrimTurns,
    "compact": Compact,
    "cap": CapResults,
    "handles": Handles,
    "sub-agents": SubAgents,
}


def read_control(text: str) -> Control | SubAgents:
    """The control that `text` names: a kind, its numbers behind a colon, and more of them behind a plus.

    The numbers have the names that they have in Python; those with a default may be left out. Sub-agents combine with
    nothing. Raises AgentlabError, in one line, for an unknown kind or number and for what the control refuses.
    """
    parts = [_read_one(part.strip()) for part in text.split("+")]
    if len(parts) == 1:
        return parts[0]
    controls = [part for part in parts if isinstance(part, Control)]
    if len(controls) < len(parts):
        raise AgentlabError(f"{text[:60]!r} combines sub-agents with another control; name them alone")
    return Combined(tuple(controls))


def _read_one(text: str) -> Control | SubAgents:
    kind, _, numbers = text.partition(":")
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1)
        known = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(KINDS)}"
        raise AgentlabError(f"there is no control {kind[:40]!r}; {known}")
    make = KINDS[kind]
    # What is no number (the text of a placeholder, what sub-agents do inside) stays as it is by default.
    allowed = {field.name: field.default for field in fields(make) if field.type is int}  # type: ignore[arg-type]
    given: dict[str, int] = {}
    for one in numbers.split(",") if numbers else []:
        name, _, value = (part.strip() for part in one.partition("="))
        if name not in allowed:
            expected = ", ".join(f"{each}=..." for each in allowed) or "none"
            raise AgentlabError(f"{kind} has no number {name[:40]!r}; it takes {expected}")
        if name in given:
            raise AgentlabError(f"{kind} has {name} twice; give it once")
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise AgentlabError(f"{name} of {kind} is {value[:40]!r}; write a whole number in digits, like {name}=20")
        given[name] = int(value)
    missing = [name for name, default in allowed.items() if default is MISSING and name not in given]
    if missing:
        raise AgentlabError(
            f"{kind} needs {' and '.join(missing)}; write {kind}:{','.join(f'{m}=...' for m in missing)}"
        )
    return make(**given)
